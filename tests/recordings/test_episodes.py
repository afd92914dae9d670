"""Recordings as episodes of our own: the same episode, or a line that says what does not fit."""

import jax
import numpy as np
import pytest

import tomnet
from tomnet.recordings import recording
from tomnet.recordings.episodes import to_episodes
from tomnet.recordings.text import parse_text
from tomnet.recordings.worlds import to_recording
from tomnet.world import gridworld

LEVEL = "@.A\n.#.\nB.."
WALK = LEVEL + "\n\nright\nright\n"


def test_our_worlds_and_recordings_name_the_same_actions():
    assert recording.ACTIONS == gridworld.ACTIONS


def test_there_and_back_is_the_same_recording():
    walks = [parse_text(WALK, "ann", "1"), parse_text(LEVEL + "\n\ndown\nstay\ndown\n", "ann", "2")]
    episodes = to_episodes(walks, 3, "AB")
    assert episodes.length.tolist() == [2, 3]
    for number, walk in enumerate(walks):
        episode = jax.tree.map(lambda leaf, number=number: np.asarray(leaf[number]), episodes)
        assert to_recording(episode, walk.agent, walk.episode) == walk


def test_actions_and_objects_go_by_name():
    renamed = parse_text("actions: right down\n\n" + WALK, "ann", "1")
    assert renamed.actions.tolist() == [0, 0]
    episode = to_episodes([renamed], 3, "CBA")
    assert episode.actions.tolist() == [[3, 3]]
    assert episode.object_cells[0, 0].tolist() == [-1, 6, 2]
    assert episode.consumed.tolist() == [[-1, 2]]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@.A\n\nright\n", "walls: expected 3×3, the grid that this observer knows, found 1×3"),
        (WALK.replace("B", "K"), "objects: expected only A, B, the objects that this observer knows, found 'K'"),
        (WALK.replace("B", "A"), "objects: expected every object once, as this observer knows them, found A 2 times"),
        (LEVEL + "\n\n1 0\n1 0\n", "action 2: expected one of up, down, left, right, stay, the actions that"),
        ("actions: hop\n\n" + LEVEL + "\n\nhop 1 0\n", "action 1: expected one of up, down, left, right, stay"),
        (
            "actions: forward\nheading: right\n\n" + LEVEL + "\n\nforward\n",
            "headings: expected none, because this observer sees no headings, found some",
        ),
    ],
)
def test_what_does_not_fit_is_named(text, why):
    with pytest.raises(tomnet.TomnetError) as refused:
        to_episodes([parse_text(text, "ann", "monday")], 3, "AB")
    assert str(refused.value).startswith(f"ann/monday: {why}")


def test_a_step_by_itself():
    walk = parse_text(WALK, "ann", "1")
    last = walk.step(1)
    assert (len(last), last.cells.tolist(), last.took, last.episode) == (1, [1, 2], ("A",), "1-1")
    with pytest.raises(tomnet.TomnetError, match="time: expected 0 to 1, the steps of 1, found 2"):
        walk.step(2)
