"""Tables of section 3.3, made by hand: plausible, and such that every claim is reproduced."""

from typing import Any

from tomnet.experiments.deep_rl_agents import HEADS, OBSERVERS, PAPER, PARTS, SPECIES

SIZE = 11
WALLS = [[int(row == 4 and 2 <= col <= 7) for col in range(SIZE)] for row in range(SIZE)]
QUERY = {"walls": WALLS, "agent_cell": 60, "object_cells": [0, 10, 110, 120, 64]}
TRIP = {
    "walls": WALLS,
    "object_cells": [12, 40, 90, 5, 100],
    "agent_cells": [15, 14, 13],
    "actions": [2, 2, 2],
    "final_cell": 12,
}


def around(value: float, by: float = 0.01) -> tuple[float, float]:
    return value - by, value + by


def measured(value: float, by: float = 0.01) -> dict[str, Any]:
    return {"mean": value, "interval": around(value, by)}


def loss_rows() -> list[dict[str, Any]]:
    """The paper's own losses, a little better where the paper is at the threshold."""
    rows = []
    for part in PARTS:
        for (observer, shuffled), by_head in PAPER.items():
            for head in HEADS:
                loss = by_head[head][PARTS.index(part)]
                row = {"part": part, "observer": observer, "shuffled": list(shuffled), "head": head, "loss": loss}
                row |= {"interval": around(loss), "paper": loss}
                if shuffled:
                    rise = loss - PAPER[observer, ()][head][PARTS.index(part)]
                    row |= {"rise": rise, "rise_interval": around(rise, 0.05)}
                rows.append(row)
    return rows


def deep_rl_agents_tables() -> dict[str, Any]:
    cuts = {
        head: {
            name: {
                "cut": 0.001 + 1 - PAPER[name, ()][head][1] / PAPER["none", ()][head][1],
                "interval": around(1 - PAPER[name, ()][head][1] / PAPER["none", ()][head][1]),
                "paper": 1 - PAPER[name, ()][head][1] / PAPER["none", ()][head][1],
                "lead": PAPER[name, ()][head][1] - PAPER["both", ()][head][1],
                "lead_interval": around(PAPER[name, ()][head][1] - PAPER["both", ()][head][1]),
            }
            for name in OBSERVERS
        }
        for head in HEADS
    }
    cuts["action"]["both"]["cut"] = 0.352
    even = [[[1 / SIZE**2] * SIZE for _ in range(SIZE)]] * 3
    told = {"accuracy": 0.97, "interval": around(0.97), "confusion": [[1.0, 0, 0], [0, 0.95, 0.05], [0, 0.04, 0.96]]}
    return {
        "met": {part: {"agents": 120, "encounters": 600} for part in PARTS},
        "losses": loss_rows(),
        "cuts": cuts,
        "generalisation": {
            head: {
                "training": PAPER["both", ()][head][0],
                "held_out": PAPER["both", ()][head][1],
                "gap": 0.01,
                "interval": around(0.01, 0.03),
                "paper": PAPER["both", ()][head][1] / PAPER["both", ()][head][0] - 1,
            }
            for head in HEADS
        },
        "floor": {
            "encounters": 240,
            "rollouts": 32,
            "heads": {
                head: {
                    "floor": 0.6 * PAPER["both", ()][head][1],
                    "interval": around(0.6 * PAPER["both", ()][head][1]),
                    "excess": 0.4 * PAPER["both", ()][head][1],
                    "excess_interval": around(0.4 * PAPER["both", ()][head][1]),
                    "none": PAPER["none", ()][head][1],
                    "both": PAPER["both", ()][head][1],
                }
                for head in HEADS
            },
            "policy": {"loss": 0.47, "interval": around(0.47)},
        },
        "species": {"species": list(SPECIES), "neighbours": told, "linear": told},
        "maps": {
            "rule": "the first",
            "query": QUERY,
            "preferred": 0,
            "past": 4,
            "rollouts": 64,
            "gammas": [0.5, 0.9, 0.99],
            "species": [{"name": name, "past": TRIP, "expected": even, "happened": even} for name in SPECIES],
            "apart": [[0.1, 0.4, 0.4], [0.4, 0.1, 0.3], [0.4, 0.3, 0.1]],
            "nearest_is_own": 0.92,
        },
    }


def agent_embeddings_tables() -> dict[str, Any]:
    """Two dimensions for the species, two for the object, four collapsed, as in the paper."""
    nats = [1.6, 1.2, 0.9, 0.8, 0.01, 0.01, 0.0, 0.0]
    carries = ["species", "species", "object", "object", None, None, None, None]
    dimensions = [
        {
            "dimension": number,
            "nats": held,
            "used": held > 0.1,
            "collapsed": held < 0.05,
            "species_share": 0.9 if factor == "species" else 0.05,
            "object_share": 0.9 if factor == "object" else 0.05,
            "carries": factor,
        }
        for number, (held, factor) in enumerate(zip(nats, carries))
    ]

    def told(accuracy: float, chosen: list[int]) -> dict[str, Any]:
        return {"dimensions": chosen, "accuracy": accuracy, "interval": around(accuracy), "confusion": None}

    def read_out(accuracy: float, chosen: list[int], kinds: int) -> dict[str, Any]:
        everything = list(range(len(nats)))
        rows = {f"own_{how}": told(accuracy, chosen) for how in ("neighbours", "linear")}
        rows |= {f"all_{how}": told(accuracy + 0.01, everything) for how in ("neighbours", "linear")}
        return {"chance": 1 / kinds, **rows}

    species = [name for name in SPECIES for _ in range(4)]
    places = {"blind": (-1.5, 0.0), "stateless-5x5": (1.0, 1.0), "5x5": (1.0, -1.2)}
    corners = [(1.2, 1.2), (-1.2, 1.2), (-1.2, -1.2), (1.2, -1.2)]
    preferred = [number % 4 for number in range(len(species))]
    networks = [
        {
            "network": 10 + number,
            "index": hand,
            "interval": around(hand, 0.1),
            "moves": 300,
            "cluster": int(hand < 0),
            "along": -hand,
            "preferred": 0,
            "mean": [[1.0 + 0.1 * number, 1.0 - hand + 0.1 * trace] for trace in range(5)],
            "deviation": [[0.2, 0.3]] * 5,
        }
        for number, hand in enumerate([0.6, 0.5, 0.55, -0.6, -0.45, -0.5])
    ]
    field = {
        "query": QUERY,
        "one": [[0.0, 0.5]] * SIZE**2,
        "other": [[0.0, -0.5]] * SIZE**2,
        "divergence": [cell / SIZE**2 * 0.6 for cell in range(SIZE**2)],
    }
    return {
        "met": {part: {"agents": 120, "encounters": 600} for part in PARTS},
        "dimensions": dimensions,
        "divergence": {
            "all": [measured(held, 0.001) for held in nats],
            "species": {
                name: [measured(0.03 if name == "blind" and f == "object" else n) for n, f in zip(nats, carries)]
                for name in SPECIES
            },
            "blind_in_object": measured(0.03),
        },
        "read_outs": {"species": read_out(0.97, [0, 1], 3), "object": read_out(0.92, [2, 3], 4)},
        "posteriors": {
            "species": species,
            "preferred": preferred,
            "pairs": {
                "species": {
                    "dimensions": [0, 1],
                    "carrying": 2,
                    "mean": [list(places[name]) for name in species],
                    "deviation": [[0.3, 0.4]] * len(species),
                },
                "object": {
                    "dimensions": [2, 3],
                    "carrying": 2,
                    "mean": [
                        [0.0, 0.0] if name == "blind" else list(corners[kind]) for name, kind in zip(species, preferred)
                    ],
                    "deviation": [[1.0, 1.0] if name == "blind" else [0.3, 0.3] for name in species],
                },
            },
        },
        "subspecies": {
            "networks": len(networks),
            "dimensions": [0, 1],
            "gain": 12.5,
            "silhouette": 0.8,
            "pair": [0, 1],
            "agreement": {
                "accuracy": 1.0,
                "accuracy_interval": (1.0, 1.0),
                "correlation": 0.97,
                "correlation_interval": (0.9, 0.99),
                "turned": -1.0,
                "positive": 3,
                "negative": 3,
            },
            "centres": [[1.1, 0.6], [1.4, 1.7]],
            "each": networks,
        },
        "fields": {
            "shown": [field, field],
            "rule": "the first",
            "levels": 16,
            "anticlockwise": [measured(-0.12), measured(0.14)],
            "difference": measured(-0.26),
        },
    }
