"""`tomnet fit`: recordings in, and in a run folder an observer of them, beside its baselines."""

import dataclasses
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from ..recordings.recording import Recording
from ..support.checks import check_between, check_seed
from ..support.identity import plain
from ..support.interrupts import stop_requests
from ..support.json_files import write_json
from ..support.progress import narrated, stage
from ..support.provenance import provenance
from ..support.run_folder import Run, enter_run
from ..support.run_lock import RunLock
from .baselines import Favourite, Nearest
from .dataset import QUERIES, Dataset, make_dataset
from .domain import FitDomain
from .features import table_of
from .fitted_observer import NAMES, OBSERVER, FittedObserver, save_fitted
from .inverse_planner import InversePlanner, fit_inverse_planner
from .mixture import Mixture, mixed_without
from .network import NetworkConfig
from .network_observer import NetworkObserver
from .observer_protocol import Asked, NeuralObserver, Observer, ask_all, together
from .remarks import remarks_after, remarks_before
from .result import RESULT, AgentPoint, FitResult, load_fit
from .scores import (
    FEWEST_AGENTS,
    MOST_ASKED,
    Said,
    action_scores,
    advantages,
    agent_scores,
    judged,
    levels_for,
    mean_loss,
    outcome_scores,
    reliability,
    say,
    successor_scores,
)
from .split import FOLDS, Split, make_split
from .start_comparison import STARTED, compare_starts
from .training import FitTraining, Trained, train_network
from .warm_start import Start, check_start


def fit(
    recordings: Sequence[Recording],
    folder: Path,
    *,
    seed: int = 0,
    fold: int = 0,
    resume: bool = False,
    training: FitTraining | None = None,
    start: Start | None = None,
) -> FitResult:
    """Fits everything, measures it on the test part and saves the observer; `resume` goes on where a run broke off.

    With a `start` a second network is trained from there, and the one that does better on the validation part is kept.
    """
    check_seed(seed)
    check_between("fold", fold, 0, FOLDS - 1)
    if start is not None:
        check_start(start, recordings)
    data = make_dataset(recordings)
    split = make_split(data.recordings, seed=seed, fold=fold)
    training = training or FitTraining.for_episodes(int(split.train.sum()))
    config = NetworkConfig.of(table_of(data), len(data.schema.action_names))
    settings = {
        "training": plain(training),
        "network": plain(config),
        "recordings": _identity(recordings),
        "seed": seed,
        "fold": fold,
    }
    if start is not None:
        settings["start"] = start.digest
    about = provenance()
    with RunLock(folder), stop_requests() as stopped:
        finished = (folder / RESULT).exists()
        run = enter_run(folder, Run("fitted", settings, about), resume=resume, finished=finished)
        if finished:
            return load_fit(folder)
        with narrated("fit"):
            stage("inverse planning: the population prior")
            planner = fit_inverse_planner(data, split.train)
        parts = (data, split.train, split.validation)
        network, told = train_network(*parts, config, training, folder, seed=seed, stopped=stopped.is_set)
        neural, started = NetworkObserver(network), None
        if start is not None:
            how = (data, split, training, folder / STARTED)
            other = start.observer.trained_on(*how, seed=seed, stopped=stopped.is_set)
            with narrated("fit"):
                stage(f"with and without {start.name}")
                started = compare_starts(start.name, data, split, other, neural)
            neural = other if started.kept else neural
        with narrated("fit"):
            stage("baselines and the mixture")
            mixture = _mixture(data, split, neural, planner)
            named = {"inverse planner": planner, "network": neural, "mixture": mixture}
            observers = _baselines(data, split, planner) | named
            stage("asking about the validation part")
            losses = _validation_losses(data, say(observers, data, split.validation))
            recommended = min(NAMES, key=losses.__getitem__)
            fitted = FittedObserver(
                *(data.schema, neural, planner, mixture.outcome_weights, mixture.action_weights, recommended),
                about=run.origin | {"settings": settings},
                domain=FitDomain.of(_chosen(data, split.train), neural.most_past(training)),
            )
            save_fitted(folder / OBSERVER, fitted)
            result = _measured(data, split, observers, fitted, losses, told, (seed, fold, about))
            result = dataclasses.replace(result, started=started)
        write_json(folder / RESULT, result)
    return result


def _baselines(data: Dataset, split: Split, planner: InversePlanner) -> dict[str, Observer]:
    train = _some(ask_all(data, split.train, 10))
    return {
        "nearest": Nearest.fitted(data, train, planner.steps),
        "favourite so far": Favourite.fitted(data, train, planner.steps),
    }


def _mixture(data: Dataset, split: Split, neural: NeuralObserver, planner: InversePlanner) -> Mixture:
    levels = levels_for(data, split.validation)

    def asked(queries) -> Asked:
        every = [ask_all(data, split.validation, past, least=past, queries=queries) for past in levels]
        return _some(together(every))

    return Mixture.fitted(neural, planner, data, asked((0,)), asked(range(QUERIES)))


def _validation_losses(data: Dataset, said: Sequence[Said]) -> dict[str, float]:
    """Mean losses over every N_past together. The mixture, which is fitted to this part, is judged agent by agent by
    weights that are fitted to the others: otherwise it could not but look better than its parts."""
    network, planner = (np.concatenate([one.outcomes[name] for one in said]) for name in ("network", "inverse planner"))
    asked = together([one.asked for one in said])
    group = data.agent[asked.episode]
    group = group if len(np.unique(group)) >= FEWEST_AGENTS else asked.episode
    happened = data.outcome[asked.place]
    mixture = mixed_without(group, network, planner, happened, asked.count)
    losses = {name: mean_loss(data, said, name) for name in NAMES}
    return losses | {"mixture": float(judged(mixture, happened)[0].mean())}


def _chosen(data: Dataset, wanted: Bool[np.ndarray, "episode"]) -> list[Recording]:
    return [data.recordings[number] for number in np.flatnonzero(wanted)]


def _some(asked: Asked) -> Asked:
    return asked.part(np.random.default_rng(0).permutation(len(asked.episode))[:MOST_ASKED])


def _measured(
    data: Dataset,
    split: Split,
    observers: dict[str, Observer],
    fitted: FittedObserver,
    losses: dict[str, float],
    told: Trained,
    origin: tuple[int, int, dict[str, Any]],
) -> FitResult:
    stage("asking about the test part")
    said = say(observers, data, split.test)
    scores = outcome_scores(data, said)
    stage("next actions and successor maps")
    scores += action_scores(observers, data, split.test)
    scores += successor_scores("network", fitted.neural, data, split.test)
    prior = fitted.planner.prior
    return FitResult(
        agents=len(data.agents),
        episodes=len(data),
        kinds=list(data.schema.kinds),
        actions=list(data.schema.action_names),
        split_by=split.by,
        split=split.told(),
        remarks=[*remarks_before(data), *remarks_after(scores, fitted.recommended, len(data.agents))],
        recommended=fitted.recommended,
        validation=losses,
        network_weight={
            head: {str(past): weight for past, weight in weights.items()}
            for head, weights in (("outcome", fitted.outcome_weights), ("action", fitted.action_weights))
        },
        prior={name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(prior).items()},
        training=told,
        scores=scores,
        agent_scores=agent_scores(data, said[-1]),
        advantages=advantages(data, said[-1], fitted.recommended),
        reliability=[reliability(data, said, name) for name in NAMES],
        points=_points(data, split, fitted.neural),
        seed=origin[0],
        fold=origin[1],
        environment=origin[2],
    )


def _points(data: Dataset, split: Split, neural: NeuralObserver) -> list[AgentPoint]:
    """Where agents that are split by episode are in all parts, they are told as trained on."""
    pasts = [_past(data, before_last) for before_last in range(STEADY)]
    embeddings = np.mean([neural.embeddings(data, past) for past in pasts], axis=0)
    characters = np.mean([neural.characters(data, past) for past in pasts], axis=0)
    centred = characters - characters.mean(0)
    axes = np.linalg.svd(centred, full_matrices=False)[2][:2]
    places = centred @ axes.T
    found = []
    for number, own in enumerate(data.sequences):
        part = next((name for name, rows in split.parts() if rows[own].any()), "left out")
        found.append(AgentPoint(data.agents[number], part, embeddings[number].tolist(), places[number].tolist()))
    return found


LAST = 32  # episodes that an agent is placed by
# Whoever takes turns is in another state after every episode. Who it is, is what stays: the mean over the last of them
STEADY = 16


def _past(data: Dataset, before_last: int) -> Int[np.ndarray, "agent past"]:
    """The last episodes of each agent, but for these; at least one."""
    rows = np.full((len(data.agents), LAST), -1)
    for number, own in enumerate(data.sequences):
        past = own[: max(len(own) - before_last, 1)][-LAST:]
        rows[number, : len(past)] = past
    return rows


def _identity(recordings: Sequence[Recording]) -> str:
    """Of the episodes, in their order: a run goes on with the same ones or not at all."""
    said = hashlib.sha256()
    for each in recordings:
        said.update(repr((each.agent, each.episode, each.size, each.objects, each.action_names)).encode())
        for array in (each.walls, each.actions, each.cells, each.object_cells, each.taken, each.headings):
            said.update(b"" if array is None else array.tobytes())
    return said.hexdigest()[:16]
