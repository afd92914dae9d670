"""Section 3.2, third experiment: greedy agents among goal-driven ones, told apart from a single trajectory.

    tomnet run greedy-agents --preset laptop     9 min on two cores: a held-out consumption loss of 0.99 nats
    tomnet run greedy-agents --preset full       4 min on an H200 that three runs shared; area under the curve 0.82

Goal: after a far trip the observer expects the same object again, after a short one it is more cautious; and the
subspecies can be read out of the embedding nearly as well as exact inference allows.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..agents.planner import PlannerSpecies, is_greedy
from ..episodes.encounter import Encounter, EncounterSpec
from ..ideal.inverse_planning import InversePlanner
from ..observer.tomnet import ObserverConfig, ToMnet
from ..observer.training import TrainingConfig
from ..support.streams import EVALUATION_STREAM, stream
from ..support.trees import pick
from ..world.gridworld import MAZE
from .analysis.comparison import comparison_table, eats, exact, network, seen_only, without_past
from .analysis.examples import first_of, plain_episode, plain_snapshot
from .analysis.query_fields import every_cell
from .analysis.read_out import area_under_curve, logistic_scores
from .claims.claim import Claim, verdict
from .claims.statements import STATEMENTS
from .claims.statistics import bootstrap, mean_interval
from .experiment import Experiment, ObserverSpec, Preset
from .goal_inference import OBSERVER

SPECIES = PlannerSpecies(objects=MAZE.objects, greedy_share=0.2)
ENCOUNTERS = EncounterSpec(min_past=0, max_past=5)
N_PAST = (0, 1, 2, 3, 4, 5)
TRAINING = {
    "smoke": TrainingConfig(steps=4, batch=16, chunk=2, held_out=16, evaluate_every=1),
    "laptop": TrainingConfig(steps=2_500, batch=48, learning_rate=3e-3, chunk=20),
    "full": TrainingConfig(steps=8_000, batch=512, learning_rate=2e-3, chunk=100, held_out=2048, evaluate_every=10),
}


def specs(preset: Preset) -> tuple[ObserverSpec, ...]:
    observer: ObserverConfig = dataclasses.replace(OBSERVER[preset], embedding=8)
    return (ObserverSpec("greedy", SPECIES, MAZE, ENCOUNTERS, observer, TRAINING[preset], reuse=6),)


def evaluate(observers: dict[str, ToMnet], agents: int, seed: int) -> tuple[dict[str, Any], list[Claim]]:
    agent_key, encounter_key, ideal_key = jax.random.split(stream(seed, EVALUATION_STREAM), 3)
    observer = observers["greedy"]
    population = SPECIES.sample(agent_key, agents)
    greedy = np.asarray(is_greedy(population, SPECIES))
    ideal = InversePlanner.for_species(ideal_key, SPECIES, MAZE)
    everything = eqx.filter_jit(specs("smoke")[0].draw_encounters)(encounter_key, population, past=max(N_PAST))
    no_past = without_past(ideal, everything)
    tables: dict[str, Any] = {"curve": []}
    for past in N_PAST:
        encounters = seen_only(everything, past)
        weights, best = exact(ideal, encounters, snapshots=False)
        character, net = network(observer, encounters)
        row: dict[str, Any] = {"past": past}
        if past:
            row["heads"] = comparison_table(net, best, no_past)
            row |= _subspecies(character, np.asarray(ideal.greedy_probability(weights)), greedy)
        row["action_probability"], row["action_interval"] = mean_interval(net.action_probability)
        row["ideal_action_probability"] = float(best.action_probability.mean())
        tables["curve"].append(row)
        if past == 1:
            tables["trips"], shown = _trips(ideal, encounters, net, best)
            tables["examples"] = {
                trip: None if agent is None else _example(observer, ideal, encounters, agent)
                for trip, agent in shown.items()
            }
    return tables, _claims(tables)


def _subspecies(character: np.ndarray, posterior: np.ndarray, greedy: np.ndarray) -> dict[str, Any]:
    """How well the greedy share can be told: from the embedding (read-out fitted on half the agents), and at best."""
    half = len(greedy) // 2
    scores = logistic_scores(character[:half], greedy[:half], character[half:])
    area, interval = bootstrap(area_under_curve, scores, greedy[half:], resamples=500)
    return {
        "auc": area,
        "auc_interval": interval,
        "ideal_auc": area_under_curve(posterior[half:], greedy[half:]),
    }


def _trips(ideal: InversePlanner, encounters: Encounter, net, best) -> tuple[dict[str, Any], dict[str, int | None]]:
    """After a trip to the nearest object, and after one that passed a nearer object by: how surely the same object is
    expected on the next level, where it is in reach but not the nearest; and an agent who made such a trip, if any."""
    first = jax.tree.map(lambda leaf: leaf[:, 0], encounters.past)
    eaten = np.asarray(first.consumed.max(-1))
    distances = np.asarray(ideal.distances(first.first_state()))
    ahead = np.asarray(ideal.distances(encounters.query))
    rows = np.arange(len(eaten))
    took = distances[rows, eaten]
    nearest_then, nearest_now = distances.min(-1), ahead.min(-1)
    fair = (eaten >= 0) & np.isfinite(ahead[rows, eaten]) & (ahead[rows, eaten] > nearest_now + 2)
    far, near = fair & (took > nearest_then + 2), fair & (took == nearest_then)
    table = {}
    for name, chosen in {"far": far, "near": near}.items():
        table[name] = {"episodes": int(chosen.sum())}
        for who, observed in {"network": net, "ideal": best}.items():
            expected = eats(observed.predictions)[rows, eaten][chosen]
            if len(expected) > 1:
                table[name][who], table[name][f"{who}_interval"] = mean_interval(expected)
        table[name]["happened"] = (
            float(np.asarray(encounters.targets.consumption)[rows, eaten][chosen].mean())
            if chosen.any()
            else float("nan")
        )
    long_enough = np.asarray(first.length) >= 4
    return table, {"far": first_of(far & (took >= 8), far), "near": first_of(near & long_enough, near)}


def _example(observer: ToMnet, ideal: InversePlanner, encounters: Encounter, chosen: int) -> dict[str, Any]:
    """Fig. 6: one past trajectory, and the object expected from every cell of the next level."""
    one = pick(encounters, slice(chosen, chosen + 1))
    query = pick(one.query, 0)
    character, _ = network(observer, one)
    predictions = observer.predict(jnp.repeat(jnp.asarray(character), MAZE.cells, 0), every_cell(query))
    weights = ideal.posterior(one.past, one.past_real, snapshots=False)
    return {
        "past": plain_episode(pick(one.past, (0, 0))),
        "query": plain_snapshot(query),
        "network": eats(predictions).tolist(),
        "ideal": np.asarray(ideal.consumption_field(weights, one.query))[0].reshape(MAZE.cells, -1).tolist(),
    }


def _claims(tables: dict[str, Any]) -> list[Claim]:
    one = tables["curve"][1]
    share = (one["auc"] - 0.5) / (one["ideal_auc"] - 0.5)
    trips = tables["trips"]
    surer_after_far = trips["far"].get("network", np.nan) - trips["near"].get("network", np.nan)
    return [
        Claim(
            "G8",
            STATEMENTS["G8"],
            verdict(share >= 0.8 and surer_after_far > 0.05, share >= 0.5),
            one["auc"],
            one["auc_interval"],
            "area under the curve for the subspecies, read out of the embedding after one trajectory",
            "reproduced: at least 0.8 of the ideal observer's lead over chance, and an object gone far for is "
            "expected again more surely (by 0.05) than a near one; partly: 0.5 of the lead",
            paper="Fig. 6, two examples; no number",
            ideal=one["ideal_auc"],
            detail={"more_sure_after_a_far_trip": surer_after_far, "share_of_lead": share},
        )
    ]


EXPERIMENT = Experiment(
    name="greedy-agents",
    title="Greedy agents",
    section="3.2",
    figures=("6",),
    claims=("G8",),
    specs=specs,
    evaluate=evaluate,
    minutes={"smoke": "≤ 2", "laptop": "9", "full": "4"},
)
