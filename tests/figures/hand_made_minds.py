"""Hand-made tables of sections 3.4 and 3.5: agents that see as far as they do, and an observer that nearly knows it."""

from typing import Any

from figures.hand_made_agents import example

from tomnet.experiments.false_belief.specs import MIXED

SIZE = 11
WALLS = [[int(row == 1 and col < 4) for col in range(SIZE)] for row in range(SIZE)]
REACH = {"blind": -1, "3x3": 1, "5x5": 2, "7x7": 3, "9x9": 4}
MEASURED = ("policy", "belief", "successor 0.5", "successor 0.9", "successor 0.99")


def around(value: float, by: float = 0.005) -> dict[str, Any]:
    return {"mean": value, "interval": (value - by, value + by), "networks": 10, "pairs": 40, "largest": value}


def exactly(value: float) -> dict[str, Any]:
    return around(value, 0.0)


def effects(seen: bool, far: int = 2) -> dict[str, Any]:
    """Agents change only where they see; the observer is a little less sure of where that ends."""
    agents = {name: exactly(0.0) if name in ("policy", "belief") and not seen else around(0.3) for name in MEASURED}
    observer = {
        name: around(0.2 - 0.01 * far if seen else 0.02 - 0.001 * far) if name in ("policy", "belief") else around(0.25)
        for name in MEASURED
    }
    return {"pairs": 40, "agents": agents, "observer": observer}


def curves(condition: str) -> dict[str, Any]:
    reach = REACH[condition]
    return {
        "reach": reach,
        "pairs": 400,
        "networks": 10,
        "in_view": effects(True),
        "out_of_view": effects(False),
        "by_distance": [
            {"distance": far, "in_view": far <= reach} | effects(far <= reach, far) for far in range(1, SIZE)
        ],
        "ratio": {name: around(8.0, 1.0) for name in MEASURED},
        "beyond_policy": around(0.23),
        "by_network": {
            what: 2 * [[effects(far <= reach, far)["observer"][what]["mean"] for far in range(1, SIZE)]]
            for what in ("policy", "belief")
        },
    }


def agents_own(condition: str) -> dict[str, Any]:
    """As `swap_table` has it; those with the narrowest view change most."""
    reach, near = REACH[condition], {"3x3": 0.5}.get(condition, 0.3)

    def row(seen: bool, far: int) -> dict[str, Any]:
        value = near if far == 1 else 0.2
        return {what: around(value) if seen else exactly(0.0) for what in ("policy", "belief")} | {"pairs": 40}

    return {
        "reach": reach,
        "in_view": row(True, 1),
        "out_of_view": row(False, 9),
        "by_distance": [{"distance": far, "in_view": far <= reach} | row(far <= reach, far) for far in range(1, SIZE)],
    }


def turning_back() -> dict[str, Any]:
    def row(seen: bool) -> dict[str, Any]:
        def own(drop: float, sure: float) -> dict[str, Any]:
            return {"no_swap": around(sure), "swap": around(sure * (1 - drop)), "drop": around(drop)}

        return {
            "pairs": 40,
            "agents": own(0.9, 0.8) if seen else own(0.9, 0.8) | {"drop": exactly(0.0)},
            "observer": own(0.7 if seen else 0.05, 0.7),
        }

    return {
        "reach": 2,
        "networks": 10,
        "in_view": row(True),
        "out_of_view": row(False),
        "gap": {"agents": around(0.9), "observer": around(0.65)},
        "by_distance": [{"distance": far, "in_view": far <= 2} | row(far <= 2) for far in range(1, 7)],
    }


STATE = {"walls": WALLS, "agent_cell": 4, "object_cells": [0, 88, 98, 114, -1]}
SWAPPED = STATE | {"object_cells": [88, 0, 98, 114, -1]}
WAY = {
    "walls": WALLS,
    "object_cells": [0, 88, 98, 114, 4],
    "agent_cells": [1, 2, 3],
    "actions": [3, 3, 3],
    "final_cell": 4,
}
PICTURE = {"distance": 4, "back": 2, "preferred": 0, "episode": WAY, "no_swap": STATE, "swap": SWAPPED}


def false_beliefs_tables() -> dict[str, Any]:
    near = PICTURE | {"distance": 2}
    return {"turning_back": turning_back(), "pictures": [near, PICTURE], "natural": {"5x5": curves("5x5")}}


def false_beliefs_mixed_tables() -> dict[str, Any]:
    return {
        "examples": {"in_view": example(2, 0.3), "out_of_view": example(5, 0.0)},
        "agents": {name: agents_own(name) for name in MIXED},
        "natural": {name: curves(name) for name in MIXED},
    }


def unseen_swaps_tables() -> dict[str, Any]:
    return {"natural": {name: curves(name) for name in MIXED[1:]}}


def explicit_beliefs_tables() -> dict[str, Any]:
    belief = [[1 / 122] * 122 for _ in range(5)]
    told = {"policy": [0.2] * 5, "belief": belief, "predicted_belief": belief}
    example = {"preferred": 0, "no_swap": {"state": STATE, **told}, "swap": {"state": SWAPPED, **told}}

    def cost(name: str) -> dict[str, Any]:
        row = {"condition": name, "networks": 10, "share": 0.8, "share_interval": (0.75, 0.85)}
        for what, value in {"observer": 11.0, "entropy": 9.0, "truth": 19.0}.items():
            row |= {what: value, f"{what}_interval": (value - 0.2, value + 0.2)}
        return row

    return {
        "forecast": [cost(name) for name in (*MIXED, "all")],
        "natural": {name: curves(name) for name in MIXED[1:]},
        "examples": {"in_view": example, "out_of_view": example},
    }


def belief_embeddings_tables() -> dict[str, Any]:
    def cloud(x: float, y: float, dimensions: int) -> dict[str, Any]:
        mean = [x, y, x - y][:dimensions]
        spread = [[0.1 * (i == j) for j in range(dimensions)] for i in range(dimensions)]
        return {"points": [mean, [value + 0.1 for value in mean]], "mean": mean, "covariance": spread}

    corners = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    return {
        "fields": {
            "conditions": list(MIXED),
            "confusion": [[0.8 if i == j else 0.05 for j in range(5)] for i in range(5)],
            "accuracy": 0.8,
            "hard": around(0.3, 0.05) | {"pair": ["7x7", "9x9"]},
            "easy": around(0.02, 0.01) | {"pair": ["blind", "3x3"]},
            "along": [0.0, 1.0, 2.0, 3.0, 4.0],
            "order": 1.0,
        },
        "objects": {
            "accuracy": 0.9,
            "accuracy_interval": (0.88, 0.92),
            "edges": [1.0, 1.1, 1.2, 1.0, 1.1, 1.2],
            "unevenness": 1.2,
            "unevenness_interval": (1.1, 1.3),
            "dimensions": [],
            "carrying": [2, 3, 5],
            "blind_nats": 0.04,
            "sighted_nats": 1.3,
        },
        "clouds": {
            "fields": [cloud(far, far / 2, 2) for far in range(5)],
            "sighted": [cloud(x, y, 3) for x, y in corners],
            "blind": [cloud(0, 0, 3) for _ in corners],
        },
    }
