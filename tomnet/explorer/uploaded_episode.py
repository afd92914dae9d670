"""Somebody's own episode, read by the reader of recordings and laid out state by state for the page to step through."""

from typing import Any

from ..recordings.bad_recording import BadRecording
from ..recordings.episodes import check_fits
from ..recordings.recording import NOTHING, UNKNOWN, Recording
from ..recordings.text import format_text, parse_text
from ..world.gridworld import MAZE, SUBGOAL_MAZE
from ..world.levels import symbols


def read_episode(text: str) -> dict[str, Any]:
    recording = parse_text(text, "somebody", "own")
    return {"text": format_text(recording), "world": _fitting_world(recording), "frames": _frames(recording)}


def _fitting_world(recording: Recording) -> str | None:
    """The kind of world whose observers can read it, if any can."""
    for name, world in (("maze", MAZE), ("subgoal", SUBGOAL_MAZE)):
        try:
            check_fits(recording, world.size, symbols(world))
        except BadRecording:
            continue
        if len(recording) <= world.step_limit:
            return name
    return None


def _frames(recording: Recording) -> dict[str, Any]:
    names = [*recording.action_names, None]
    return {
        "walls": recording.walls.astype(int).tolist(),
        "objects": list(recording.objects),
        "actions": [names[-1 if action == UNKNOWN else action] for action in recording.actions.tolist()],
        "cells": recording.cells.tolist(),
        "object_cells": recording.object_cells.tolist(),
        "taken": [None if kind == NOTHING else recording.objects[kind] for kind in recording.taken.tolist()],
    }
