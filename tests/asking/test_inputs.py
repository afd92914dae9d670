"""What people have at hand becomes what observers read, or a line that says why it does not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from asking.small import CONFIGS, ELSEWHERE, LEVEL

import tomnet
from tomnet.asking.inputs import past_from, state_from
from tomnet.recordings.episodes import to_episodes
from tomnet.recordings.text import parse_text
from tomnet.world.gridworld import reset_to_level

NAMES = ("A", "B", "*")
CONFIG = CONFIGS["mental"]
WORLD = tomnet.World(size=5, objects=2, subgoal=True, max_walls=1)


def read(state) -> list:
    found = state_from(state, CONFIG, NAMES)
    return [int(found.agent_cell), found.object_cells.tolist(), np.argwhere(found.walls).tolist()]


def test_a_state_in_whatever_form():
    level = tomnet.parse_level(LEVEL, WORLD)
    walls = np.zeros((5, 5), bool)
    walls[1, 1] = True
    scene = tomnet.Scene(walls=walls, cell=(0, 0), objects=(("*", (3, 3)), ("A", (0, 4)), ("B", (4, 0))))
    query = tomnet.QueryState(level.walls, level.start_cell, level.object_cells)
    for state in (LEVEL, "\n" + LEVEL, level, reset_to_level(level), scene, query):
        assert read(state) == [0, [4, 20, 18], [[1, 1]]]
    assert read("@....\n" + ".....\n" * 3 + "....B") == [0, [-1, 24, -1], []]


EMPTY, WALLED = np.zeros((5, 5), bool), np.eye(5, dtype=bool)


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("@..\n...\n..A", "state.walls = 3×3: this observer knows grids of 5×5"),
        (LEVEL.replace("B", "C"), "state.objects = 'C': this observer knows A, B, *"),
        (LEVEL.replace("B", "A"), "state.objects = A twice: this observer knows one of each"),
        (LEVEL.replace("@", "."), "level: expected one @, where the agent starts, found 0"),
        ("", "level: expected the picture of a maze, found none"),
        ("heading: up\n\n" + LEVEL, "state.heading = up: this observer sees no headings"),
        (LEVEL + "\n\nright\nright", "state = 2 steps: should be a picture, without steps after it"),
        (tomnet.Scene(walls=EMPTY, cell=(0, 0), heading="up"), "state.heading = up: this observer sees no headings"),
        (tomnet.Scene(walls=WALLED, cell=(1, 1)), "state.cell = 1 1: there is a wall"),
        (
            tomnet.Scene(walls=WALLED, cell=(0, 1), objects=[("A", (2, 2))]),
            "state.objects = A at 2 2: there is a wall",
        ),
        (
            tomnet.Scene(walls=EMPTY, cell=(0, 0), objects=[("B", (3, 1)), ("A", (3, 1))]),
            "state.objects = B and A at 3 1: at most one is in a cell",
        ),
    ],
)
def test_states_that_are_none(state, why):
    with pytest.raises(tomnet.TomnetError) as refused:
        state_from(state, CONFIG, NAMES)
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("level", "why"),
    [
        (
            lambda level: jax.tree.map(lambda leaf: leaf[None], level),
            "state.agent_cell has shape (1,); expected no axis",
        ),
        (
            lambda level: tomnet.Level(level.walls, level.object_cells, jnp.int16(99)),
            "state.agent_cell must lie between",
        ),
    ],
)
def test_levels_that_cannot_be_asked_about(level, why, observer_of, walks):
    with pytest.raises(tomnet.TomnetError) as refused:
        tomnet.meet(observer_of("mental"), walks).ask(level(tomnet.parse_level(LEVEL, WORLD)))
    assert why in str(refused.value)


# --- The past


def test_episodes_of_different_lengths_are_padded_to_the_longest(walks):
    each = [jax.tree.map(lambda leaf: leaf[0], to_episodes([walk], 5, NAMES)) for walk in walks]
    stacked = past_from(each, CONFIG, NAMES)
    assert stacked.length.tolist() == [4, 2]
    assert stacked.actions.tolist() == [[3, 3, 3, 3], [0, 0, -1, -1]]


def test_a_step_of_a_recording_is_a_snapshot(walks):
    snapshots = past_from([walks[0].step(2), walks[1].step(1)], CONFIGS["snapshots"], NAMES)
    assert isinstance(snapshots, tomnet.Snapshot)
    assert snapshots.agent_cell.tolist() == [2, 5]
    assert snapshots.action.tolist() == [3, 0]


def one(episodes):
    return jax.tree.map(lambda leaf: leaf[0], episodes)


WALKS = [
    parse_text(LEVEL + "\nright\nright\nright\nright\n", "ann", "1"),
    parse_text(ELSEWHERE + "\nup\nup\n", "ann", "2"),
]
EPISODES = to_episodes(WALKS, 5, NAMES)


@pytest.mark.parametrize(
    ("kind", "past", "why"),
    [
        ("mental", [WALKS[0], WALKS[1].of("bob", "2")], "past = recordings of ann, bob: one agent is met at a time"),
        ("snapshots", WALKS, "ann/1: steps: expected one step, because this observer reads snapshots"),
        ("mental", [WALKS[0].step(0)], "ann/1-0: steps: expected whole episodes, because this observer reads them"),
        ("character", [WALKS[0], WALKS[1].step(1).of("ann", "3")], "ann/3: steps: expected whole episodes"),
        ("snapshots", EPISODES, "past = episodes: this observer reads snapshots of them"),
        ("mental", EPISODES.first_pair(), "past = snapshots: this observer reads whole episodes"),
        ("mental", [one(EPISODES), WALKS[0]], "past = Episode and Recording: should be all recordings, all episodes"),
        ("mental", [EPISODES], "past[0].walls = 3 axes: each is a single one"),
        ("mental", one(EPISODES), "past = Episodes with 0 leading axes: one agent is met at a time"),
        ("mental", [one(to_episodes(WALKS, 5, "AB*C")), one(EPISODES)], "past: all of them must have one size"),
        ("mental", to_episodes(WALKS, 5, "AB*C"), "past.object_cells = 4 in its last axis: this observer knows 3"),
    ],
)
def test_pasts_that_are_none(kind, past, why, observer_of):
    with pytest.raises(tomnet.TomnetError) as refused:
        tomnet.meet(observer_of(kind), past)
    assert why in str(refused.value)


@pytest.mark.parametrize("objects", ["AB", "AAB", ["A", "B", "*", "C"]])
def test_names_that_are_too_few_too_many_or_twice_the_same(objects, observer_of):
    with pytest.raises(tomnet.TomnetError, match="this observer knows 3, each with a name"):
        tomnet.meet(observer_of("mental"), WALKS, objects=objects)
