"""Validation: what is wrong is named in one line, what is unlike the training is said, and nothing gives NaN."""

import warnings
from dataclasses import fields, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from asking.small import CONFIGS, DOMAIN, LEVEL
from helpers import made_up
from hypothesis import given
from hypothesis import strategies as st

import tomnet
from tomnet.asking.validation import check
from tomnet.observer.frames import Capacity
from tomnet.recordings.episodes import to_episodes
from tomnet.recordings.text import parse_text
from tomnet.support.warn import overheard

NAMES = ("A", "B", "*")
OBSERVER = made_up(CONFIGS["mental"], domain=DOMAIN)
WALK = parse_text(LEVEL + "\nright\nright\nright\nright\n", "ann", "1")


def met(agents: int = 2, past: int = 2) -> tuple[tomnet.History, tomnet.QueryState]:
    """The same walk, again and again: histories `[agent, past]`, the current episode after two of its steps."""
    walk = to_episodes([WALK], 5, NAMES)
    repeated = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (agents, past, *leaf.shape[1:])), walk)
    recent = jax.vmap(lambda episode: episode.until(jnp.int32(2)))(walk)
    recent = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (agents, *leaf.shape[1:])), recent)
    here = walk.first_state()
    query = jax.tree.map(lambda leaf: np.broadcast_to(leaf, (agents, *leaf.shape[1:])), here)
    return jax.tree.map(jnp.asarray, (tomnet.History(repeated, jnp.ones((agents, past), bool), recent), query))


HISTORY, QUERY = met()


def changed(where, value, thing=None):
    """What was met, with one array replaced, or one number in it."""
    return eqx.tree_at(where, thing or (HISTORY, QUERY), value, is_leaf=lambda leaf: leaf is None)


def with_one(array, value):
    other = np.array(array, np.int64 if array.dtype != bool else bool)
    other.reshape(-1)[0] = value
    return other


def test_what_is_right_is_answered_without_a_word():
    said = tomnet.observe(OBSERVER, HISTORY, QUERY)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(said))


def past(met):
    return met[0].past


def recent(met):
    return met[0].recent


WRONG = {
    "past.agent_cells must lie between 0 and 24, and 500 does not": (
        lambda m: past(m).agent_cells,
        with_one(HISTORY.past.agent_cells, 500),
    ),
    "past.actions must lie between 0 and 4, and 9 does not": (
        lambda m: past(m).actions,
        with_one(HISTORY.past.actions, 9),
    ),
    "past.length must lie between 1 and 4, and 99 does not": (
        lambda m: past(m).length,
        with_one(HISTORY.past.length, 99),
    ),
    "past.length must lie between 1 and 4, and 0 does not": (
        lambda m: past(m).length,
        with_one(HISTORY.past.length, 0),
    ),
    "past.object_cells must lie between -1 and 24, and -2 does not": (
        lambda m: past(m).object_cells,
        with_one(HISTORY.past.object_cells, -2),
    ),
    "past.agent_cells holds the cell in row 1, col 1, which is a wall": (
        lambda m: past(m).agent_cells,
        with_one(HISTORY.past.agent_cells, 6),
    ),
    "past.object_cells holds the cell in row 1, col 1, which is a wall": (
        lambda m: past(m).object_cells,
        with_one(HISTORY.past.object_cells, 6),
    ),
    "past.actions holds float64, not whole numbers": (
        lambda m: past(m).actions,
        np.asarray(HISTORY.past.actions, float),
    ),
    "past.walls holds int64, not true or false": (lambda m: past(m).walls, np.asarray(HISTORY.past.walls, int)),
    "past.actions has shape (2, 2, 3), where the other arrays ask for (2, 2, 4)": (
        lambda m: past(m).actions,
        HISTORY.past.actions[..., :3],
    ),
    "past.length has shape (2,); expected [agent, past]": (
        lambda m: m[0].past,
        jax.tree.map(lambda leaf: leaf[0], HISTORY.past),
    ),
    "past_real has shape (2, 3) and holds bool; expected true or false for each agent and each of 2": (
        lambda m: m[0].past_real,
        np.ones((2, 3), bool),
    ),
    "past_real has shape (2, 2) and holds float64": (lambda m: m[0].past_real, np.ones((2, 2))),
    "past = of 2 agents: there are 3 in past_real": (lambda m: m[0].past_real, np.ones((3, 2), bool)),
    "past = snapshots: this observer reads whole episodes": (lambda m: m[0].past, HISTORY.past.first_pair()),
    "past = QueryState: should be of the type Episode or Snapshot": (lambda m: m[0].past, QUERY),
    "recent.length must lie between 0 and 4, and -1 does not": (
        lambda m: recent(m).length,
        with_one(HISTORY.recent.length, -1),
    ),
    "recent.actions must lie between 0 and 4, and 7 does not": (
        lambda m: recent(m).actions,
        with_one(HISTORY.recent.actions, 7),
    ),
    "recent = 1 of them: expected 2": (lambda m: m[0].recent, jax.tree.map(lambda leaf: leaf[:1], HISTORY.recent)),
    "this observer reads the current episode, and there is none": (lambda m: m[0].recent, None),
    "query_times must lie between 0 and the length": (lambda m: m[0].query_times, np.array([[2], [3]])),
    "query_times has shape (2,); expected numbers [agent, query]": (lambda m: m[0].query_times, np.array([2, 2])),
    "query.agent_cell must lie between 0 and 24, and 25 does not": (
        lambda m: m[1].agent_cell,
        with_one(QUERY.agent_cell, 25),
    ),
    "query.agent_cell has shape (); expected [agent]": (lambda m: m[1], jax.tree.map(lambda leaf: leaf[0], QUERY)),
    "query = 1 of them: expected 2": (lambda m: m[1], jax.tree.map(lambda leaf: leaf[:1], QUERY)),
    "query.object_cells = 2 in its last axis: this observer knows 3 objects": (
        lambda m: m[1].object_cells,
        QUERY.object_cells[:, :2],
    ),
    "query.object_cells holds two objects in row 4, col 0; expected one in a cell": (
        lambda m: m[1].object_cells,
        QUERY.object_cells.at[1, 0].set(QUERY.object_cells[1, 1]),
    ),
    "query.walls = 4 in its last axis: this observer knows grids of 5×5": (
        lambda m: m[1].walls,
        QUERY.walls[:, :4, :4],
    ),
}


@pytest.mark.parametrize("why", WRONG)
def test_what_cannot_be_read_is_refused_in_one_line(why):
    with pytest.raises(tomnet.TomnetError) as refused:
        tomnet.observe(OBSERVER, *changed(*WRONG[why]))
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_was_not_seen_may_hold_anything():
    rubbish = changed(lambda m: past(m).agent_cells, with_one(HISTORY.past.agent_cells, 500))
    unseen = changed(lambda m: m[0].past_real, np.array([[False, True], [True, True]]), rubbish)
    assert np.isfinite(tomnet.observe(OBSERVER, *unseen).action).all()


ARRAYS = [("past", field.name) for field in fields(HISTORY.past)] + [("query", field.name) for field in fields(QUERY)]


@given(st.sampled_from(ARRAYS), st.integers(-(2**15), 2**15 - 1), st.integers(0, 1000))
def test_whatever_number_stands_anywhere_the_answer_is_finite_or_an_error(where, value, place):
    def find(m):
        return getattr(m[0].past if where[0] == "past" else m[1], where[1])

    array = np.array(find((HISTORY, QUERY)))
    array = array if array.dtype == bool else array.astype(np.int32)
    array.reshape(-1)[place % array.size] = value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tomnet.BeyondTraining)
        try:
            said = tomnet.observe(OBSERVER, *changed(find, jnp.asarray(array)))
        except tomnet.TomnetError as error:
            refused = str(error)
        else:
            refused = None
            assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(said))
    assert refused is None or refused.startswith((f"{where[0]}.", "past."))


def test_inside_a_traced_function_nothing_is_checked():
    @jax.jit
    def asked(history, query):
        check(OBSERVER, history, query)  # has no values to look at
        return OBSERVER.read(history, query, Capacity(16, 16, (2,)))[0].predictions.action

    beyond = changed(lambda m: past(m).length, with_one(HISTORY.past.length, 99))
    assert asked(*beyond).shape == (2, 5)


# --- Beyond the training


UNLIKE = {
    "N_past is 4, at most 3 there": met(past=4),
    "N_past is 0, at least 1 there": changed(lambda m: m[0].past_real, np.array([[False, False], [True, True]])),
    "an object is missing": changed(lambda m: m[1].object_cells, with_one(QUERY.object_cells, -1)),
    "the agent stands on an object": changed(lambda m: m[1].agent_cell, QUERY.object_cells[:, 0]),
    "an action leads elsewhere than it says": changed(lambda m: past(m).actions, with_one(HISTORY.past.actions, 1)),
    "objects change though no subgoal was taken": changed(
        lambda m: past(m).object_cells, HISTORY.past.object_cells.at[0, 1, 2:, 1].set(21)
    ),
    "an episode begins without the subgoal": changed(
        lambda m: past(m).object_cells, np.where(np.arange(3) == 2, -1, HISTORY.past.object_cells)
    ),
}


@pytest.mark.parametrize("why", UNLIKE)
def test_what_is_unlike_the_training_is_said_and_answered(why):
    with pytest.warns(tomnet.BeyondTraining) as said:
        answers = tomnet.observe(OBSERVER, *UNLIKE[why])
    assert [str(warning.message) for warning in said] == [f"unlike what this observer met in training: {why}"]
    assert said[0].filename == __file__  # whose line it is
    assert np.isfinite(answers.action).all()


@pytest.mark.parametrize(
    ("domain", "why"),
    [
        (replace(DOMAIN, most_walls=0), "walls fill 1 cells, at most 0 there"),
        (replace(DOMAIN, step_limit=3), "an episode of 4 steps, at most 3 there"),
    ],
)
def test_more_walls_or_steps_than_there_were(domain, why):
    with pytest.warns(tomnet.BeyondTraining, match=why):
        tomnet.meet(made_up(CONFIGS["mental"], domain=domain), [WALK])


SWAPPED = LEVEL.replace("A", "?").replace("B", "A").replace("?", "B")


@pytest.mark.parametrize(
    ("after", "why"),
    [
        (LEVEL.replace("@", ".").replace("*.", "*@"), "an action leads elsewhere than it says"),
        (SWAPPED.replace("@...B", ".@..B"), "objects change though no subgoal was taken"),
        (LEVEL.replace("@...", ".@..").replace("*", "."), "objects change though no subgoal was taken"),
        (LEVEL.replace("@...", ".@.."), None),
    ],
)
def test_what_does_not_follow_from_a_step_is_said(after, why):
    episode = tomnet.meet(OBSERVER, [WALK]).begin(LEVEL)
    with overheard() as said:
        episode.step("right", after)
    assert said == ([] if why is None else [f"unlike what this observer met in training: {why}"])


def test_what_follows_by_the_rules_of_the_training_is_not_remarked():
    near = LEVEL.replace("@...", ".@..").replace("*", ".").replace("....A", "..*.A").replace(".@..A", ".@*.A")
    swapped = near.replace("@*", ".@").replace("A", "?").replace("B", "A").replace("?", "B")
    gone = near.replace("@*", ".@")
    for after in (swapped, gone):
        tomnet.meet(OBSERVER, [WALK]).begin(near).step("right", after)
    no_swaps = made_up(CONFIGS["mental"], domain=replace(DOMAIN, swaps=False))
    tomnet.meet(no_swaps, [WALK]).begin(near).step("right", gone)
    with pytest.warns(tomnet.BeyondTraining, match="objects change that the agent did not reach"):
        tomnet.meet(no_swaps, [WALK]).begin(near).step("right", swapped)
    # what is out of view is not gone, and what comes into view was there
    partly = made_up(CONFIGS["mental"], domain=replace(DOMAIN, sees_all=False))
    hidden = LEVEL.replace("A", ".")
    tomnet.meet(partly, [WALK]).begin(LEVEL).step("right", hidden.replace("@...", ".@..")).step("left", LEVEL)


def test_an_episode_that_goes_on_for_longer_than_any():
    observer = made_up(CONFIGS["mental"], domain=replace(DOMAIN, step_limit=4))
    episode = tomnet.meet(observer, [WALK]).begin(LEVEL)
    for _ in range(3):
        episode = episode.step("stay")
    with pytest.warns(tomnet.BeyondTraining, match="the episode goes on after 4 steps"):
        episode.step("stay")


def test_of_an_observer_of_unknown_training_nothing_is_said():
    tomnet.observe(made_up(CONFIGS["mental"]), *met(past=4))


def test_a_past_that_tells_an_observer_nothing():
    with pytest.warns(tomnet.BeyondTraining, match="no character net, and past episodes tell it nothing"):
        tomnet.meet(made_up(CONFIGS["mental-only"], domain=DOMAIN), [WALK])


def test_a_warning_is_given_once_for_a_line():
    observer = made_up(CONFIGS["mental"], domain=DOMAIN)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        for _ in range(3):
            tomnet.meet(observer, [])
    assert len(said) == 1


def test_a_reason_is_given_once_for_a_line_whatever_else_is_said_there():
    observer = made_up(CONFIGS["mental"], domain=replace(DOMAIN, min_past=2, most_walls=0))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        tomnet.meet(observer, [WALK]).ask(LEVEL)
        tomnet.meet(observer, [WALK] * 2).ask(LEVEL.replace("B", "."))
    walls, missing = "walls fill 1 cells, at most 0 there", "an object is missing"
    start = "unlike what this observer met in training: "
    told = [f"{start}N_past is 1, at least 2 there; {walls}", f"{start}{walls}", f"{start}{missing}"]
    assert [str(warning.message) for warning in said] == told
