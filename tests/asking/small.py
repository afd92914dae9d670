"""Small observers of every kind, what they met in training, and two levels."""

from tomnet.observer.config import HEADS, ObserverConfig
from tomnet.observer.domain import Domain

SMALL = {
    "size": 5,
    "objects": 3,
    "channels": 4,
    "character_channels": 4,
    "character_depth": 1,
    "torso_depth": 1,
    "mental_channels": 4,
    "mental_depth": 1,
    "embedding": 3,
    "heads": HEADS,
}
CONFIGS = {
    "mental": ObserverConfig(**SMALL, mental=True),
    "bottleneck": ObserverConfig(**SMALL, mental=True, bottleneck=True),
    "mental-only": ObserverConfig(**SMALL, mental=True, character="none"),
    "character": ObserverConfig(**SMALL),
    "snapshots": ObserverConfig(**SMALL, character="snapshots"),
}
DOMAIN = Domain(
    min_past=1, max_past=3, objects=2, subgoal=True, swaps=True, most_walls=10, step_limit=20, sees_all=True
)
LEVEL = """\
@...A
.#...
.....
...*.
B....
"""
ELSEWHERE = """\
A....
..#..
@...*
..#..
....B
"""
