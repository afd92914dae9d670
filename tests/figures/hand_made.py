"""Results made by hand, small and plausible: what figures and the report are tested with.

The claims come from the experiments' own rules, so a table that lacks what they need fails here first.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from figures import hand_made_deep, hand_made_minds

from tomnet.experiments import goal_inference, goal_snapshots, greedy_agents, partial_observers, random_agents
from tomnet.experiments.analysis import random_policies
from tomnet.experiments.analysis.comparison import GOALS, Comparison
from tomnet.experiments.analysis.examples import PlainEpisode, PlainState
from tomnet.experiments.analysis.random_policies import ALPHAS
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.analysis.trapped_agents import Trapped
from tomnet.experiments.experiment import Result

SIZE = 11
WALLS = np.array([[int(row == 4 and 2 <= col <= 7) for col in range(SIZE)] for row in range(SIZE)])
QUERY = PlainState(WALLS, agent_cell=60, object_cells=[0, 10, 110, 120])
TRIP = PlainEpisode(WALLS, agent_cells=[15, 14, 13], object_cells=[12, 40, 90, 5], actions=[2, 2, 2], final_cell=12)
SNAPSHOT = replace(TRIP, agent_cells=[15], actions=[2], final_cell=14)
ENVIRONMENT = {"tomnet": "0.1.0", "python": "3.11", "device": "CPU", "cores": 2, "commit": "abc", "agents": 7}


def around(value: float, by: float = 0.01) -> Estimate:
    return Estimate(value, value - by, value + by, 7)


def heads(captured: float) -> dict[str, Comparison]:
    """No past costs 2 nats, the ideal observer 1: the captured share follows."""

    def comparison(head: str, goal: float) -> Comparison:
        accuracies = [around(each, 0.04) if head != "successor" else None for each in (0.7, 0.8, 0.4)]
        return Comparison(around(2 - captured), 1.0, 2.0, around(captured), goal, *accuracies)

    return {head: comparison(head, goal) for head, goal in GOALS.items()}


def random_agents_tables() -> random_agents.Tables:
    observers = [*(f"alpha-{alpha:g}" for alpha in ALPHAS), "mixture", "alpha-1-2d"]

    def cross(trained: list[str], past: int) -> list[random_policies.CrossSpecies]:
        return [
            random_policies.CrossSpecies(
                trained=observer,
                tested=alpha,
                past=past,
                kl=around(0.1 + abs(i - j)),
                bayes=0.09 + abs(i - j),
                excess=around(0.01),
            )
            for i, observer in enumerate(trained)
            for j, alpha in enumerate(ALPHAS)
        ]

    return random_agents.Tables(
        bayes_divergence=[
            random_policies.BayesDivergence(observer, past, around(0.004, 0.001))
            for observer in observers
            for past in (0, 1, 5, 10)
        ],
        likelihood=[
            random_policies.Likelihood(alpha, past, around(bayes), bayes)
            for alpha in ALPHAS
            for past in (0, 1, 5)
            for bayes in [(alpha + past) / (5 * alpha + past)]
        ],
        cross_species=cross(observers[:6], 1),
        specialists=Estimate(6.0, 5.0, 6.0, 7),
        mixture=cross([observers[0], observers[5], "mixture"], 5),
        embedding=random_policies.Embedding(
            observer="alpha-1-2d",
            alpha=1.0,
            points=np.array([[i % 5, i // 5] for i in range(10)], float),
            counts=np.array([[10 if kind == i % 5 else 0 for kind in range(5)] for i in range(10)], float),
            count_r2=0.5,
            tied=0.05,
            most_seen=around(0.9),
        ),
        example=random_policies.Example(
            SNAPSHOT,
            QUERY,
            {"alpha-0.01": [0.01, 0.01, 0.96, 0.01, 0.01], "alpha-3": [0.19, 0.19, 0.24, 0.19, 0.19]},
        ),
    )


def goal_inference_tables() -> goal_inference.Tables:
    even = np.full((3, SIZE, SIZE), 1 / SIZE**2)
    seen = goal_inference.ExamplePredictions([0.1, 0.6, 0.1, 0.1, 0.1], [0.7, 0.1, 0.1, 0.1], even)
    return goal_inference.Tables(
        comparison={"2d": heads(0.85), "8d": heads(0.87)},
        apart={head: around(-0.02) for head in GOALS},
        example=goal_inference.Example(
            past=TRIP, query=QUERY, action_taken=1, eaten=0, successor_taken=even, observer=seen, ideal=seen
        ),
    )


def partial_observers_tables() -> partial_observers.Tables:
    def score(loss: float) -> partial_observers.Score:
        return partial_observers.Score(around(loss), around(1 - loss / 3), around(loss - 0.4))

    def scores(worse: float) -> partial_observers.Scores:
        return partial_observers.Scores(observer=score(0.5 + worse), ideal=score(0.4 + worse / 2))

    return partial_observers.Tables(
        all_seen=scores(0.0),
        curves={
            kind: [partial_observers.Point(severity, scores(0.2 * step)) for step, severity in enumerate(views, 1)]
            for kind, views in partial_observers.VIEWS.items()
        },
        nothing_seen=score(2.0),
    )


def goal_snapshots_tables() -> goal_snapshots.Tables:
    past = list(range(11))
    arrows = np.tile([1.0, 0.0], (SIZE**2, 1))
    embedding = [
        # nothing was seen of anyone at first
        goal_snapshots.PreferenceReadOut(n, around(0.5 + 0.04 * n) if n else None, 0.6 + 0.04 * n)
        for n in past
    ]
    corners = np.array([[[n, n], [-n, n], [-n, -n], [n, -n]] for n in past], float)
    points = goal_snapshots.Embeddings([0, 1, 2, 3], past, corners)
    return goal_snapshots.Tables(
        curve=[
            goal_snapshots.CurvePoint(
                n, heads(0.8 + 0.01 * n) if n else {}, around(0.4 + 0.02 * n), around(0.45 + 0.02 * n)
            )
            for n in past
        ],
        gain=around(0.2),
        embedding={"all-heads": embedding, "action-only": list(embedding)},
        points={"all-heads": points, "action-only": points},
        trapped=Trapped(
            levels=9,
            probability=around(0.95),
            ideal=0.99,
            first_choice=1.0,
            if_preferred=None,  # none of these agents had what it likes best in reach
            if_not_preferred=0.95,
            if_near=0.97,
            if_far=None,
        ),
        field=goal_snapshots.Field(
            QUERY, [SNAPSHOT], 1, [goal_snapshots.PolicyField(n, arrows, arrows) for n in (0, 1, 5)]
        ),
    )


def greedy_agents_tables() -> greedy_agents.Tables:
    expected = np.tile([0.7, 0.1, 0.1, 0.05], (SIZE**2, 1))
    example = greedy_agents.Example(TRIP, QUERY, expected, expected)
    told = greedy_agents.SubspeciesReadOut(around(0.75), 0.8)

    def trip(sure: float) -> greedy_agents.Trip:
        return greedy_agents.Trip(30, around(sure), around(sure), sure)

    return greedy_agents.Tables(
        curve=[
            greedy_agents.CurvePoint(n, heads(0.9) if n else {}, told if n else None, around(0.5 + n / 50), 0.6)
            for n in range(6)
        ],
        trips={"far": trip(0.82), "near": trip(0.53)},
        examples={"far": example, "near": example},
    )


def hand_made(experiment: str) -> Result:
    name = experiment.replace("-", "_")
    tables = _maker(f"{name}_tables")()
    module = import_module(f"tomnet.experiments.{name}")
    claims = [] if module.EXPERIMENT.beyond_paper else module._claims(tables)
    return Result(experiment, "smoke", 3, tables, claims, 1.5, dict(ENVIRONMENT))


def with_changed(thing: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The same with another value at a place deep within: attributes, keys and numbers of items lead there."""
    if not path:
        return value
    step, *rest = path
    if isinstance(thing, dict):
        return {**thing, step: with_changed(thing[step], tuple(rest), value)}
    if isinstance(thing, list):
        return [with_changed(item, tuple(rest), value) if item is thing[step] else item for item in thing]
    return replace(thing, **{step: with_changed(getattr(thing, step), tuple(rest), value)})


def _maker(name: str) -> Callable[[], Any]:
    """By its name, so that the registry stays the only list of experiments."""
    for module in (sys.modules[__name__], hand_made_deep, hand_made_minds):
        if hasattr(module, name):
            return getattr(module, name)
    raise LookupError(f"tests/figures/hand_made*.py have no {name}(): every experiment needs tables made by hand")
