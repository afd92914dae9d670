"""Tables about deep RL agents made by hand: a 5×5 world, three objects and a subgoal, episodes of a few steps."""

import copy
from typing import Any

SIZE, KINDS = 5, 4
WALLS = [[int(row == 2 and 1 <= col <= 2) for col in range(SIZE)] for row in range(SIZE)]
CONDITIONS = ("blind", "3x3", "5x5", "stateless-5x5")


def metrics() -> list[dict[str, Any]]:
    """Two chunks of four networks; the second network of the second chunk diverged, and nothing had ended at first."""
    rows = []
    for chunk in (0, 1):
        for step in range(1, 7):
            each: list[float | None] = [step / 10 + place for place in range(4)]
            if step == 1:
                each = [None] * 4
            rows.append(
                {
                    "chunk": chunk,
                    "updates": step,
                    "steps": 1000 * step,
                    "seconds": 1.0,
                    "returns": dict(zip(CONDITIONS, each)),
                    "each": each,
                    "losses": {"value": 0.1},
                    "diverged": [1] if chunk == 1 and step > 3 else [],
                }
            )
    return rows


def performance(base: float, networks: int) -> dict[str, Any]:
    def measured(value: float) -> dict[str, Any]:
        each = [value + 0.01 * i for i in range(networks)]
        return {"mean": value, "interval": (value - 0.05, value + 0.05), "each": each}

    shares = ("subgoal_first", "preferred", "preferred_if_reachable", "both", "time_out")
    table = {"networks": networks, "interval_over": "networks", "return": measured(base), "steps": measured(20.0)}
    return table | {name: measured(0.5) for name in shares}


def example(distance: int, change: float) -> dict[str, Any]:
    def future(cells: list[int], policy: list[float]) -> dict[str, Any]:
        maps = [[[(row + col) / 100 + sum(cells) / 1e4 for col in range(SIZE)] for row in range(SIZE)]] * 3
        state = {"walls": WALLS, "agent_cell": 3, "object_cells": cells}
        return {"state": state, "policy": policy, "belief": [[1 / 26] * 26] * KINDS, "successor": maps}

    same = [0.2] * 5
    return {
        "rule": "the first",
        "network": 0,
        "level": 2,
        "preferred": 0,
        "field_of_view": 3,
        "distance": distance,
        "policy_change": change,
        "belief_change": change,
        "episode": {
            "walls": WALLS,
            "agent_cells": [0, 1, 2],
            "object_cells": [4, 20, 24, 3],
            "actions": [3, 3, 3],
            "final_cell": 3,
        },
        "visibility": [[2 if row < 2 < col else 1 if row < 2 else 0 for col in range(SIZE)] for row in range(SIZE)],
        "rollouts": 200,
        "gammas": [0.5, 0.9, 0.99],
        "no_swap": future([4, 20, 24, -1], same),
        "swap": future([20, 4, 24, -1], [0.6, 0.1, 0.1, 0.1, 0.1] if change else same),
    }


def tables() -> dict[str, Any]:
    species = {name: performance(0.2 * i, 3) for i, name in enumerate(CONDITIONS)}
    nothing = {"mean": float("nan"), "interval": (float("nan"), float("nan"))}  # the blind have nothing in view
    beliefs, swaps = {}, {}
    for name in CONDITIONS:
        sees = name != "blind"
        beliefs[name] = {"seen": {"cross_entropy": 0.0625} if sees else None, "unseen": {"cross_entropy": 4.25}}
        change = {"mean": 0.3125, "interval": (0.25, 0.375)} if sees else nothing
        unmoved = {"mean": 0.0, "interval": (0.0, 0.0)}
        swaps[name] = {"in_view": {"policy": change}, "out_of_view": {"policy": unmoved}}
    acting, past, hands = {}, {}, {}
    for name in CONDITIONS:
        remembers = name in ("3x3", "5x5")
        there = {"mean": 0.8125, "interval": (0.75, 0.875), "each": [0.75, 0.8125, 0.875]}
        never = {"mean": 0.25, "interval": (0.1875, 0.3125), "each": [0.1875, 0.25, 0.3125]}
        acting[name] = {"scenarios": 16, "beyond_view": there if remembers else never, "never_there": never}
        past[name] = {"largest_change": 0.0 if name.startswith("stateless") else 0.4375}
        hands[name] = {
            "mean_size": 0.6875,
            "size_interval": (0.625, 0.75),
            "hands": {"training": {"left": 1, "right": 1}, "held out": {"left": 0, "right": 1}},
        }
    made = {
        "acts_on_memory": acting,
        "depends_on_past": past,
        "handedness": {"oracle": {"mean_size": 0.1, "size_interval": (0.0, 0.2)}, **hands},
        "beliefs": beliefs,
        "swaps": swaps,
        "levels": 64,
        "swap_levels": 128,
        "seed": 1,
        "performance": {"oracle": performance(1.6, 1), "random": performance(-0.9, 1), **species},
        "examples": {"in_view": example(1, 0.345), "out_of_view": example(4, 0.0)},
    }
    return copy.deepcopy(made)


def recorded(condition: str = "3x3", steps: int = 6) -> dict[str, Any]:
    """Along the first row, the subgoal in the fourth cell; object A, the preferred one, in the last."""
    entries = []
    for time in range(steps):
        cell = min(time, 3)
        seen = [[2 if row < 2 and abs(col - cell) < 2 else 0 for col in range(SIZE)] for row in range(SIZE)]
        entries.append(
            {
                "agent_cell": cell,
                "object_cells": [4, 20, 24, 3 if time < 3 else -1],
                "visibility": seen,
                "belief": [0.0] * 4 + [0.75] + [0.0] * 20 + [0.25],
                "action": 3,
                "consumed": 3 if time == 2 else 0 if time == steps - 1 else -1,
            }
        )
    return {
        "condition": condition,
        "field_of_view": 3,
        "remembers": True,
        "network": 0,
        "preferred": 0,
        "walls": WALLS,
        "steps": entries,
        "final_cell": 4,
    }
