"""How well an observer foretells what agents say they believe (claim B1), beside two ways to do without watching them.

An agent's own entropy is the least that any forecast can cost. A forecast that takes every agent to believe the truth
is what an observer without a theory of mind would offer.
"""

import dataclasses

import numpy as np

from ...episodes.encounter import Encounter
from ...episodes.episode import NONE
from ...episodes.predictions import Predictions
from ...observer.tomnet import ToMnet
from ...support.errors import BadSetting
from .evaluation_set import EvaluationSet, losses_of, read_everything
from .statistics import Estimate, bootstrap, captured, mean_interval


@dataclasses.dataclass(frozen=True)
class BeliefForecast:
    """Cross-entropies with what agents say they believe, in nats, all objects together; intervals over networks."""

    condition: str
    share: Estimate  # of the way from the truth's cost to the agents' own entropy
    observer: Estimate
    entropy: Estimate
    truth: Estimate


def forecast_table(observer: ToMnet, met: EvaluationSet, conditions: tuple[str, ...]) -> list[BeliefForecast]:
    return forecast_rows(forecast_costs(observer, met.encounters), met, conditions)


def forecast_rows(
    costs: dict[str, np.ndarray], met: EvaluationSet, conditions: tuple[str, ...]
) -> list[BeliefForecast]:
    """For each condition, and last for all of them."""
    each = {name: met.network_means(cost) for name, cost in costs.items()}
    kind = met.network_species
    rows = [_row(name, each, kind == number) for number, name in enumerate(conditions) if (kind == number).any()]
    return [*rows, _row("all", each, np.ones(len(kind), bool))]


def _row(name: str, each: dict[str, np.ndarray], chosen: np.ndarray) -> BeliefForecast:
    mine = {cost: values[chosen] for cost, values in each.items()}
    share = bootstrap(captured, mine["truth"], mine["observer"], mine["entropy"])
    return BeliefForecast(name, share, **{cost: mean_interval(values) for cost, values in mine.items()})


def forecast_costs(observer: ToMnet, encounters: Encounter) -> dict[str, np.ndarray]:
    """The cross-entropy of each forecast with what was said, for every encounter."""
    if "belief" not in observer.config.heads:
        raise BadSetting(
            "heads", ", ".join(observer.config.heads), "this observer was never taught to predict 'belief'"
        )
    return costs_of(read_everything(observer, encounters).predictions, encounters)


def costs_of(predictions: Predictions, encounters: Encounter) -> dict[str, np.ndarray]:
    """The same, whoever made the predictions."""
    if encounters.targets.belief is None:
        raise BadSetting("beliefs", None, "these agents were not asked what they believe")
    said = np.asarray(encounters.targets.belief, np.float64)
    return {
        "observer": losses_of(predictions, encounters.targets)["belief"],
        "entropy": -(said * np.log(np.maximum(said, 1e-12))).sum((-2, -1)),
        "truth": truth_costs(said, np.asarray(encounters.query.object_cells)),
    }


def truth_costs(said: np.ndarray, object_cells: np.ndarray) -> np.ndarray:
    """Of a forecast that each object is believed to be where it is, and the rest shared equally by all other places.

    How sure it is comes from the very beliefs it is judged by, object by object: no such forecast could do better.
    """
    places = said.shape[-1]
    place = np.where(object_cells == NONE, places - 1, object_cells).astype(int)
    right = np.take_along_axis(said, place[..., None], -1)[..., 0]
    sure = np.clip(right.mean(0), 1e-6, 1 - 1e-6)
    total = said.sum(-1)
    return -(right * np.log(sure) + (total - right) * np.log((1 - sure) / (places - 1))).sum(-1)
