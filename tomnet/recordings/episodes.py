"""Recordings as episodes of our own, for observers of our own worlds: where size, objects and actions allow it."""

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from ..episodes.episode import NONE, Episode
from ..world.gridworld import ACTIONS
from .bad_recording import BadRecording, said
from .recording import UNKNOWN, Recording


def to_episodes(recordings: Sequence[Recording], size: int, objects: Sequence[str], *, least_time: int = 1) -> Episode:
    """The episodes, stacked, with time for the longest; or a `BadRecording` that says what does not fit.

    `objects`: a letter for each kind of object that there is space for. Those that are not drawn are absent.
    """
    time, kinds = max([least_time, *(len(recording) for recording in recordings)]), len(objects)
    blank = {
        "walls": np.zeros((len(recordings), size, size), bool),
        "agent_cells": np.full((len(recordings), time), NONE, np.int16),
        "object_cells": np.full((len(recordings), time, kinds), NONE, np.int16),
        "actions": np.full((len(recordings), time), NONE, np.int8),
        "consumed": np.full((len(recordings), time), NONE, np.int8),
        "final_cell": np.zeros(len(recordings), np.int16),
        "length": np.zeros(len(recordings), np.int16),
    }
    for number, recording in enumerate(recordings):
        try:
            check_fits(recording, size, objects)
        except BadRecording as fault:
            raise fault.at(f"{recording.agent}/{recording.episode}") from None
        steps, place = len(recording), [objects.index(letter) for letter in recording.objects]
        numbers = [ACTIONS.index(name) if name in ACTIONS else NONE for name in recording.action_names]
        blank["walls"][number] = recording.walls
        blank["agent_cells"][number, :steps] = recording.cells[:-1]
        blank["object_cells"][number, :steps, place] = recording.object_cells[:-1].T
        blank["actions"][number, :steps] = np.array(numbers, np.int8)[recording.actions]
        blank["consumed"][number, :steps] = np.array([*place, NONE], np.int8)[recording.taken]  # NOTHING is -1
        blank["final_cell"][number], blank["length"][number] = recording.cells[-1], steps
    return Episode(**{name: jnp.asarray(array) for name, array in blank.items()})


def check_fits(recording: Recording, size: int, objects: Sequence[str]) -> None:
    """Whether an observer of this size and these objects can read it."""
    if recording.size != (size, size):
        rows, cols = recording.size
        raise BadRecording("walls", f"{size}×{size}, the grid that this observer knows", said(f"{rows}×{cols}"))
    if recording.headings is not None:
        raise BadRecording("headings", "none, because this observer sees no headings", said("some"))
    for letter in recording.objects:
        if letter not in objects:
            expected = f"only {', '.join(objects)}, the objects that this observer knows"
            raise BadRecording("objects", expected, letter)
        if recording.objects.count(letter) > 1:
            found = said(f"{letter} {recording.objects.count(letter)} times")
            raise BadRecording("objects", "every object once, as this observer knows them", found)
    for step, action in enumerate(recording.actions.tolist()):
        name = said("an unknown one") if action == UNKNOWN else recording.action_names[action]
        if name not in ACTIONS:
            expected = f"one of {', '.join(ACTIONS)}, the actions that this observer knows"
            raise BadRecording(f"action {step + 1}", expected, name)


def with_some_action(recording: Recording) -> Recording:
    """With some action in the place of those unknown: where they are is kept apart."""
    some = next((number for number, name in enumerate(recording.action_names) if name in ACTIONS), 0)
    return dataclasses.replace(recording, actions=np.where(recording.actions == UNKNOWN, some, recording.actions))
