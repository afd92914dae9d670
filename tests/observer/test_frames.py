"""Feature planes, and real frames packed side by side."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import pick, random_encounters
from hypothesis import given
from hypothesis import strategies as st

from tomnet.episodes.episode import ACTION_COUNT, NONE, QueryState, Snapshot
from tomnet.episodes.history import History
from tomnet.observer.frames import (
    Capacity,
    channels,
    deal,
    frame_count,
    pack,
    pair_planes,
    rounded_up,
    spatialise,
    state_planes,
    usual_capacity,
)

PICTURE = """
    #....A.
    .......
    ...@...
    .#.....
    C......
    ......B
    .......
"""


@pytest.fixture(scope="module")
def state() -> QueryState:
    """The picture: size 7, four objects of which the last is absent, so six planes."""
    grid = np.array([list(line.strip()) for line in PICTURE.strip().splitlines()])

    def cell(symbol: str) -> int:
        return int(np.flatnonzero(grid.reshape(-1) == symbol)[0])

    objects = [cell("A"), cell("B"), cell("C"), NONE]
    return QueryState(jnp.asarray(grid == "#"), jnp.int16(cell("@")), jnp.asarray(objects, jnp.int16))


def marked(planes, channel: int) -> list[list[int]]:
    return np.argwhere(np.asarray(planes)[..., channel] == 1).tolist()


# --- Planes


def test_planes_are_the_walls_then_each_object_then_the_agent(state):
    planes = state_planes(state)
    assert planes.shape == (7, 7, 6) == (7, 7, channels(4))
    assert marked(planes, 0) == [[0, 0], [3, 1]]
    assert marked(planes, 1) == [[0, 5]]
    assert marked(planes, 2) == [[5, 6]]
    assert marked(planes, 3) == [[4, 0]]
    assert marked(planes, 5) == [[2, 3]]


def test_an_absent_object_has_an_empty_plane(state):
    assert not np.asarray(state_planes(state))[..., 4].any()


def test_planes_hold_ones_and_zeros_only(state):
    planes = np.asarray(state_planes(state))
    assert set(np.unique(planes)) == {0.0, 1.0}
    assert planes.sum() == 2 + 3 + 1


def with_action(state: QueryState, action: int) -> Snapshot:
    return Snapshot(state.walls, state.agent_cell, state.object_cells, jnp.int8(action))


@pytest.mark.parametrize("action", range(ACTION_COUNT))
def test_the_action_is_tiled_over_the_map_beside_the_state(action, state):
    planes = np.asarray(pair_planes(with_action(state, action)))
    assert planes.shape == (7, 7, 6 + ACTION_COUNT)
    assert np.array_equal(planes[..., :6], np.asarray(state_planes(state)))
    assert (planes[..., 6:] == np.eye(ACTION_COUNT)[action]).all()


def test_a_vector_is_tiled_over_the_map(state):
    tiled = np.asarray(spatialise(state_planes(state), jnp.array([0.5, -2.0])))
    assert tiled.shape == (7, 7, 8)
    assert (tiled[..., 6:] == [0.5, -2.0]).all()


def test_planes_come_in_the_type_that_is_asked_for(state):
    assert state_planes(state, jnp.bfloat16).dtype == jnp.bfloat16
    assert pair_planes(with_action(state, 0), jnp.bfloat16).dtype == jnp.bfloat16


# --- Packing


@pytest.fixture(scope="module")
def episodes():
    """Fifteen episodes of up to four steps, nine of them real."""
    encounters = random_encounters()
    past = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), encounters.past)
    return past, encounters.past_real.reshape(-1)


@pytest.fixture(scope="module")
def packed(episodes):
    return eqx.filter_jit(pack)(*episodes, 64)


def real_steps(episodes) -> list[tuple[int, int]]:
    past, real = episodes
    return [(i, t) for i in range(15) if real[i] for t in range(int(past.length[i]))]


def test_real_frames_come_first_in_the_order_of_episodes_and_steps(episodes, packed):
    past, steps = episodes[0], real_steps(episodes)
    draw = eqx.filter_jit(pair_planes)
    for place, (episode, time) in enumerate(steps):
        here = past.agent_cells[episode, time], past.object_cells[episode, time], past.actions[episode, time]
        assert np.array_equal(packed.planes[place], draw(Snapshot(past.walls[episode], *here)))
        assert int(packed.episode[place]) == episode


def test_the_room_left_over_is_not_real(episodes, packed):
    count = len(real_steps(episodes))
    assert 0 < count < 60
    assert packed.planes.shape[0] == 64
    assert np.asarray(packed.real).tolist() == [True] * count + [False] * (64 - count)


def test_unpacking_gives_each_real_step_its_own_features(episodes, packed):
    features = jnp.arange(64.0)[:, None] * jnp.array([1.0, -1.0])
    unpacked = np.asarray(packed.unpack(features))
    assert unpacked.shape == (15, 4, 2)
    for place, (episode, time) in enumerate(real_steps(episodes)):
        assert unpacked[episode, time].tolist() == [place, -place]


def test_which_steps_are_real_is_kept(episodes, packed):
    assert np.argwhere(np.asarray(packed.step_real)).tolist() == [list(step) for step in real_steps(episodes)]


def test_frames_that_just_fit_are_all_kept(episodes, packed):
    count = len(real_steps(episodes))
    tight = eqx.filter_jit(pack)(*episodes, count)
    assert np.asarray(tight.real).all()
    assert np.array_equal(tight.planes, packed.planes[:count])


# --- Counting and dealing


def test_frames_are_counted_over_real_episodes_only():
    encounters = random_encounters()
    counts = frame_count(encounters.past, encounters.past_real)
    lengths, real = np.asarray(encounters.past.length), np.asarray(encounters.past_real)
    assert np.asarray(counts).tolist() == [int(lengths[i][real[i]].sum()) for i in range(5)]
    assert int(counts[0]) == 0


def test_counts_of_many_long_episodes_do_not_overflow():
    """Lengths are 16-bit numbers; their sum need not be."""
    past = pick(random_encounters().past, 0)
    long = eqx.tree_at(lambda e: e.length, past, jnp.full(3, 30_000, jnp.int16))
    assert int(frame_count(long, jnp.ones(3, bool))) == 90_000


@given(st.integers(0, 200_000))
def test_there_is_room_for_every_frame_and_not_much_more(count):
    capacity = rounded_up(count)
    assert capacity >= count
    assert capacity <= max(16, count + 8, 1.06 * count + 8)


def test_few_sizes_serve_all_counts():
    """Each size is a program to compile."""
    sizes = {rounded_up(count) for count in range(1, 20_000, 3)}
    assert len(sizes) < 120
    assert all(size % 8 == 0 for size in sizes)


@pytest.mark.parametrize(("encounters", "batches"), [(12, 3), (40, 8), (7, 7), (6, 1)])
def test_every_encounter_is_dealt_once(encounters, batches):
    counts = jnp.asarray(np.random.default_rng(0).integers(0, 100, encounters))
    dealt = np.asarray(deal(counts, batches))
    assert dealt.shape == (batches, encounters // batches)
    assert sorted(dealt.reshape(-1).tolist()) == list(range(encounters))


def test_batches_are_dealt_about_the_same_number_of_frames():
    counts = np.random.default_rng(0).integers(0, 100, 160)
    dealt = np.asarray(deal(jnp.asarray(counts), 8))
    sums = counts[dealt].sum(1)
    assert np.ptp(sums) < 0.03 * sums.mean()
    assert np.ptp(counts.reshape(8, 20).sum(1)) > 0.2 * sums.mean()  # left as they come, they would differ more


def test_the_usual_room_counts_shared_episodes_once():
    """Six queries about two agents need room for the episodes of two."""
    some = random_encounters(past_counts=(3, 1, 2, 3, 0, 1))
    past = jax.tree.map(lambda leaf: leaf[:2], some.past)
    real = jnp.ones((6, 3), bool)
    shared = History(past, real)
    frames = int(past.length.sum())
    assert usual_capacity(shared, 6) == Capacity(int(1.1 * frames))
    assert usual_capacity(shared, 12) == Capacity(int(1.1 * 2 * frames))
