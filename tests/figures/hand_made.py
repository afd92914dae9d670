"""Results made by hand, small and plausible: what figures and the report are tested with.

The claims come from the experiments' own rules, so a table that lacks what they need fails here first.
"""

import copy
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from figures import hand_made_deep, hand_made_minds

from tomnet.experiments.experiment import Result
from tomnet.experiments.random_agents import ALPHAS

SIZE = 11
WALLS = [[int(row == 4 and 2 <= col <= 7) for col in range(SIZE)] for row in range(SIZE)]
QUERY = {"walls": WALLS, "agent_cell": 60, "object_cells": [0, 10, 110, 120]}
TRIP = {
    "walls": WALLS,
    "object_cells": [12, 40, 90, 5],
    "agent_cells": [15, 14, 13],
    "actions": [2, 2, 2],
    "final_cell": 12,
}
SNAPSHOT = {**TRIP, "agent_cells": [15], "actions": [2], "final_cell": 14}
ENVIRONMENT = {"tomnet": "0.1.0", "python": "3.11", "device": "CPU", "cores": 2, "commit": "abc", "agents": 7}


def around(value: float, by: float = 0.01) -> tuple[float, float]:
    return value - by, value + by


def heads(captured: float) -> dict[str, dict[str, Any]]:
    """No past costs 2 nats, the ideal observer 1: the captured share follows."""
    table = {
        head: {
            "network": 2 - captured,
            "network_interval": around(2 - captured),
            "ideal": 1.0,
            "no_past": 2.0,
            "captured": captured,
            "captured_interval": around(captured),
            "goal": goal,
        }
        for head, goal in {"action": 0.8, "consumption": 0.9, "successor": 0.8}.items()
    }
    for head in ("action", "consumption"):
        for who, accuracy in {"network": 0.7, "ideal": 0.8, "no_past": 0.4}.items():
            table[head] |= {f"{who}_accuracy": accuracy, f"{who}_accuracy_interval": around(accuracy, 0.04)}
    return table


def random_agents_tables() -> dict[str, Any]:
    specs = [*(f"alpha-{alpha:g}" for alpha in ALPHAS), "mixture", "alpha-1-2d"]

    def cross(trained: list[str], past: int) -> list[dict]:
        return [
            {
                "trained": spec,
                "tested": alpha,
                "past": past,
                "kl": 0.1 + abs(i - j),
                "interval": around(0.1 + abs(i - j)),
                "bayes": 0.09 + abs(i - j),
                "excess": 0.01,
                "excess_interval": around(0.01),
            }
            for i, spec in enumerate(trained)
            for j, alpha in enumerate(ALPHAS)
        ]

    likelihood = [
        {"alpha": alpha, "past": past, "probability": bayes, "interval": around(bayes), "bayes": bayes}
        for alpha in ALPHAS
        for past in (0, 1, 5)
        for bayes in [(alpha + past) / (5 * alpha + past)]
    ]
    return {
        "bayes_divergence": [
            {"observer": spec, "past": past, "kl": 0.004, "interval": around(0.004, 0.001)}
            for spec in specs
            for past in (0, 1, 5, 10)
        ],
        "likelihood": likelihood,
        "cross_species": cross(specs[:6], 1),
        "specialists": {"species": 6.0, "interval": (5.0, 6.0)},
        "mixture": cross([specs[0], specs[5], "mixture"], 5),
        "embedding": {
            "observer": "alpha-1-2d",
            "alpha": 1.0,
            "points": [[float(i % 5), float(i // 5)] for i in range(10)],
            "counts": [[10 if kind == i % 5 else 0 for kind in range(5)] for i in range(10)],
            "count_r2": 0.5,
            "tied": 0.05,
            "most_seen": 0.9,
            "most_seen_interval": around(0.9),
        },
        "example": {
            "past": SNAPSHOT,
            "query": QUERY,
            "predictions": {
                "alpha-0.01": [0.01, 0.01, 0.96, 0.01, 0.01],
                "alpha-3": [0.19, 0.19, 0.24, 0.19, 0.19],
            },
        },
    }


def goal_inference_tables() -> dict[str, Any]:
    even = [[1 / SIZE**2] * SIZE for _ in range(SIZE)]
    seen = {"action": [0.1, 0.6, 0.1, 0.1, 0.1], "consumption": [0.7, 0.1, 0.1, 0.1], "successor": [even] * 3}
    return {
        "2d": heads(0.85),
        "8d": heads(0.87),
        "apart": {
            head: {"difference": -0.02, "interval": around(-0.02)} for head in ("action", "consumption", "successor")
        },
        "example": {
            "past": TRIP,
            "query": QUERY,
            "action_taken": 1,
            "eaten": 0,
            "successor_taken": [even] * 3,
            "network": seen,
            "ideal": seen,
        },
    }


def goal_snapshots_tables() -> dict[str, Any]:
    past = list(range(11))
    arrows = [[1.0, 0.0]] * SIZE**2
    embedding = [
        {"past": n, "accuracy": 0.5 + 0.04 * n, "interval": around(0.5), "ideal": 0.6 + 0.04 * n} for n in past
    ]
    embedding[0] |= {"accuracy": None, "interval": (None, None)}  # nothing was seen of anyone
    points = {
        "preferred": [0, 1, 2, 3],
        "past": past,
        "character": [[[n, n], [-n, n], [-n, -n], [n, -n]] for n in past],
    }
    return {
        "curve": [
            {
                "past": n,
                "probability": 0.4 + 0.02 * n,
                "interval": around(0.4 + 0.02 * n),
                "ideal": 0.45 + 0.02 * n,
                "ideal_interval": around(0.45 + 0.02 * n),
            }
            for n in past
        ],
        "embedding": {"all-heads": embedding, "action-only": copy.deepcopy(embedding)},
        "comparison": [{"past": n, "heads": heads(0.8 + 0.01 * n)} for n in past[1:]],
        "gain": {"mean": 0.2, "interval": around(0.2)},
        "points": {"all-heads": points, "action-only": points},
        "trapped": {
            "levels": 9,
            "probability": 0.95,
            "interval": around(0.95),
            "ideal": 0.99,
            "first_choice": 1.0,
            "if_preferred": None,  # none of these agents had what it likes best in reach
            "if_not_preferred": 0.95,
            "if_near": 0.97,
            "if_far": None,
        },
        "field": {
            "query": QUERY,
            "snapshots": [SNAPSHOT],
            "preferred": 1,
            "fields": [{"past": n, "network": arrows, "ideal": arrows} for n in (0, 1, 5)],
        },
    }


def greedy_agents_tables() -> dict[str, Any]:
    expected = [[0.7, 0.1, 0.1, 0.05]] * SIZE**2
    example = {"past": TRIP, "query": QUERY, "network": expected, "ideal": expected}
    curve: list[dict[str, Any]] = [
        {
            "past": n,
            "action_probability": 0.5,
            "action_interval": around(0.5),
            "ideal_action_probability": 0.6,
        }
        for n in range(6)
    ]
    for row in curve[1:]:
        row |= {"heads": heads(0.9), "auc": 0.75, "auc_interval": around(0.75), "ideal_auc": 0.8}

    def trip(sure: float) -> dict[str, Any]:
        own = {
            "network": sure,
            "network_interval": around(sure),
            "ideal": sure,
            "ideal_interval": around(sure),
        }
        return {"episodes": 30, **own, "happened": sure}

    return {
        "curve": curve,
        "trips": {"far": trip(0.82), "near": trip(0.53)},
        "examples": {"far": example, "near": example},
    }


def hand_made(experiment: str) -> Result:
    """A fresh one each time, for a test to change as it likes."""
    name = experiment.replace("-", "_")
    tables = copy.deepcopy(_maker(f"{name}_tables")())
    claims = import_module(f"tomnet.experiments.{name}")._claims(tables)
    return Result(experiment, "smoke", 3, tables, claims, 1.5, dict(ENVIRONMENT))


def _maker(name: str) -> Callable[[], dict[str, Any]]:
    """By its name, so that the registry stays the only list of experiments."""
    for module in (sys.modules[__name__], hand_made_deep, hand_made_minds):
        if hasattr(module, name):
            return getattr(module, name)
    raise LookupError(f"tests/figures/hand_made*.py have no {name}(): every experiment needs tables made by hand")
