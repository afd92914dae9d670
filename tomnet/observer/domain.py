"""The domain of an observer: what it met in training. Beyond that, what it says is extrapolation."""

import dataclasses
from collections.abc import Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class Domain:
    """How much of the past was seen in training, and in what kind of world."""

    min_past: int
    max_past: int
    objects: int  # those whose taking ends an episode
    subgoal: bool  # one more object, which comes last and ends nothing
    swaps: bool  # whether objects may change places when the subgoal is taken
    most_walls: int  # cells of a level
    step_limit: int
    sees_all: bool  # whether every object was in view

    @staticmethod
    def of(about: Mapping[str, Any]) -> "Domain | None":
        """From what an observer's file says of its training; None where it does not say."""
        try:
            met = about["met"]
            encounters, world, steps = met["encounters"], met["world"], met["steps"]
            return Domain(
                min_past=int(encounters["min_past"]),
                max_past=int(encounters["max_past"]),
                objects=int(world["objects"]),
                subgoal=bool(world["subgoal"]),
                swaps=world["swap_probability"] > 0,
                most_walls=world["max_walls"] * world["size"],  # lines, each as long as the grid at most
                step_limit=int(steps or world["step_limit"]),
                sees_all=encounters["view"] == {"kind": "all"},
            )
        except (KeyError, TypeError, ValueError):
            return None
