"""The type: what it is, what it refuses, and that nobody can change it."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from recordings.made_up import recordings, simple

from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.recording import LARGEST_SIDE, MOST_STEPS, Recording


def test_what_it_says_of_itself():
    recording = simple()
    assert len(recording) == 2
    assert recording.size == (2, 3)
    assert recording.took == ("A",)
    assert recording.action_names[recording.actions[0]] == "right"


def test_nobody_can_change_it():
    cells = np.array([0, 1, 2])
    recording = simple(cells=cells)
    cells[0] = 2  # the caller's own array
    assert recording.cells.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        recording.cells[0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        recording.agent = "bob"


def test_equal_episodes_are_equal_in_whatever_order_their_objects_are_told():
    swapped = simple(objects=("B", "A"), object_cells=np.array([[5, 2], [5, 2], [5, -1]]), taken=np.array([-1, 1]))
    assert swapped == simple()
    assert swapped.objects == ("A", "B")
    assert simple() != simple(agent="bob")
    assert simple() != "something else"


def test_objects_that_are_never_there_are_none():
    cells = np.array([[2, -1, 5], [2, -1, 5], [-1, -1, 5]])
    assert simple(objects=("A", "C", "B"), object_cells=cells) == simple()


@given(recordings())
def test_another_name_changes_nothing_else(recording):
    assert recording.of("someone", "sometime").of(recording.agent, recording.episode) == recording


FLOATS = np.array([0.0, np.nan, 2.0])
BAD = [
    ({"agent": ""}, "agent: expected a name"),
    ({"agent": "../bob"}, "agent: expected a name"),
    ({"agent": ".hidden"}, "agent: expected a name"),
    ({"agent": "a\\b"}, "agent: expected a name"),
    ({"agent": "a\nb"}, "agent: expected a name"),
    ({"agent": "\udcff"}, "agent: expected a name"),
    ({"agent": "é" * 101}, "agent: expected a name"),
    ({"agent": 3}, "agent: expected a name"),
    ({"episode": "a/b"}, "episode: expected a name"),
    ({"walls": np.zeros((2, 3))}, "walls: expected true or false, found float64"),
    ({"walls": np.zeros(6, bool)}, "walls: expected a grid of 1 to 32 rows and cols, found shape (6,)"),
    ({"walls": np.zeros((LARGEST_SIDE + 1, 3), bool)}, "found shape (33, 3)"),
    ({"walls": np.zeros((0, 3), bool)}, "walls: expected a grid"),
    ({"cells": FLOATS}, "cells: expected whole numbers, found float64"),
    ({"cells": [0, 1, 2]}, "cells: expected a numpy array, found list"),
    ({"cells": np.array([0, 1])}, "cells: expected shape (3,)"),
    ({"cells": np.array([0, 1, 500])}, "cells after step 2: expected numbers between 0 and 5, found 500"),
    ({"cells": np.array([-1, 1, 2])}, "cells: expected numbers between 0 and 5, found -1"),
    ({"cells": np.array([0, 1, 2**40])}, "expected numbers between 0 and 5"),
    ({"cells": np.array([0, 4, 2])}, "cells after step 1: expected a free cell, found the wall at 1 1"),
    ({"actions": np.array([3, 9])}, "actions after step 2: expected numbers between -1 and 4, found 9"),
    ({"actions": np.array([-2, 3])}, "actions after step 1: expected numbers between -1 and 4, found -2"),
    ({"actions": np.zeros(0, int)}, f"actions: expected 1 to {MOST_STEPS} steps, found shape (0,)"),
    ({"actions": np.zeros(MOST_STEPS + 1, int)}, f"actions: expected 1 to {MOST_STEPS} steps"),
    ({"action_names": ()}, "actions: expected 1 to 127 names, found 0"),
    ({"action_names": ("up", "up")}, "actions: expected every action once, found up 2 times"),
    ({"action_names": ("up", "to go")}, "actions: expected a word"),
    ({"action_names": ("took",) * 1}, "actions: expected a word"),
    ({"action_names": ("3",)}, "actions: expected a word"),
    ({"objects": ("A", "BB")}, "objects: expected a single letter, or * for a subgoal, found 'BB'"),
    ({"objects": ("A", "#")}, "objects: expected a single letter"),
    ({"objects": ("A", "B", "C")}, "object_cells: expected shape (3, 3)"),
    ({"object_cells": np.array([[2, 6], [2, 5], [-1, 5]])}, "object_cells: expected numbers between -1 and 5, found 6"),
    ({"object_cells": np.array([[2, 5], [2, 4], [-1, 5]])}, "expected free cells, found B in the wall at 1 1"),
    ({"object_cells": np.array([[2, 2], [2, 5], [-1, 5]])}, "found A and B at 0 2"),
    ({"object_cells": np.array([[2, 0], [2, 5], [-1, 5]])}, "found B and the agent at 0 0"),
    ({"objects": ("A", "A"), "object_cells": np.array([[2, 2]] * 3)}, "found A and A at 0 2"),
    ({"taken": np.array([0, 2])}, "taken after step 2: expected numbers between -1 and 1, found 2"),
    ({"taken": np.array([1, -1])}, "taken after step 1: expected an object at 0 1, where the agent is"),
    ({"headings": np.array([0, 1])}, "headings: expected shape (3,)"),
    ({"headings": np.array([0, 1, 4])}, "headings after step 2: expected numbers between 0 and 3, found 4"),
]


@pytest.mark.parametrize(("changes", "why"), BAD, ids=[why[:40] for _, why in BAD])
def test_what_cannot_be_is_refused_in_one_line_that_names_the_field(changes, why):
    fields = {field.name: getattr(simple(), field.name) for field in dataclasses.fields(Recording)}
    with pytest.raises(BadRecording) as refused:
        Recording(**(fields | changes))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("time", [-1, 2, True])
def test_there_is_no_step_but_those_that_were_recorded(time):
    assert simple().step(1).cells.tolist() == simple().cells[1:3].tolist()
    with pytest.raises(BadRecording, match="time: expected 0 to 1, the steps of 1"):
        simple().step(time)


def test_a_fault_says_where_it_was_found():
    fault = BadRecording("action", "one of up, down", "jump").at("ann/1.txt", 7)
    assert str(fault) == "ann/1.txt, line 7: action: expected one of up, down, found 'jump'"
    assert (fault.path, fault.line, fault.field) == ("ann/1.txt", 7, "action")
    assert str(fault.at("elsewhere", 1)) == str(fault)  # the first to know is right
