"""Swaps: which are in view, and that those out of view change nothing at all."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import BLIND, NETWORK, SIGHTED, STATELESS, made_up_network
from helpers import DOWN, RIGHT, sample_levels

from tomnet.agents.actor_critic import DeepAgent, Memory
from tomnet.episodes.futures import empirical_successors
from tomnet.episodes.rollout import RolloutState
from tomnet.experiments.analysis.divergence import jensen_shannon
from tomnet.experiments.sally_anne.swap_claims import swap_claims
from tomnet.experiments.sally_anne.swap_effects import (
    SWAPS,
    Pairs,
    after_swap,
    draw_swaps,
    look_around,
    qualifies,
    swap_distance,
    swap_pairs,
    swap_table,
    until_subgoal,
)
from tomnet.experiments.sally_anne.swap_examples import _good_to_see, swap_examples
from tomnet.world.gridworld import World, nothing_yet, reset_to_level
from tomnet.world.levels import parse_level

WORLD = World(size=5, objects=3, subgoal=True, max_walls=1, step_limit=8)
# The agent has just eaten the subgoal in the corner. It sees one cell far: A, but neither B nor C.
CORNER = "@....\n.A...\n.....\n....B\n...C."
A, B, C = 6, 19, 23


def agent(senses, preferred: int = 1, seed: int = 0) -> DeepAgent:
    return DeepAgent(made_up_network(seed), senses, jnp.int32(preferred))


def rollout_state(seed: int = 0, picture: str = CORNER) -> RolloutState:
    """Some state and any memory, with a leading axis of one level."""
    state = eqx.tree_at(lambda s: s.time, reset_to_level(parse_level(picture, WORLD)), jnp.int16(4))
    random = np.random.default_rng(seed)
    hidden, cell = (jnp.asarray(random.normal(0, 1, (5, 5, NETWORK.memory_channels)), jnp.float32) for _ in range(2))
    last = eqx.tree_at(lambda o: o.consumed, nothing_yet(), jnp.int32(WORLD.objects))
    return jax.tree.map(lambda leaf: leaf[None], RolloutState(state, Memory(hidden, cell), last, jnp.bool_(False)))


def change(senses, object_cells: list[int], seed: int) -> tuple[float, float]:
    """How much the policy and the beliefs of one agent change."""
    one, now = agent(senses, seed=seed), rollout_state(seed)
    cells = jnp.asarray([[*object_cells, -1]], jnp.int16)
    before, after = look_around(one, now, WORLD), look_around(one, after_swap(now, cells), WORLD)
    policy, belief = (jensen_shannon(*pair) for pair in zip(before, after))
    return float(policy[0]), float(belief.max())


@pytest.mark.parametrize("senses", [SIGHTED, STATELESS], ids=["stateful", "stateless"])
def test_a_swap_out_of_view_changes_neither_policy_nor_beliefs_by_a_single_bit(senses):
    for seed in range(3):
        assert change(senses, [A, C, B], seed) == (0.0, 0.0)


@pytest.mark.parametrize("senses", [SIGHTED, STATELESS], ids=["stateful", "stateless"])
def test_a_swap_in_view_changes_both(senses):
    for seed in range(3):
        policy, belief = change(senses, [B, A, C], seed)
        assert policy > 0
        assert belief > 0


def test_nothing_that_happens_changes_the_blind():
    for seed in range(3):
        for cells in ([A, C, B], [B, A, C], [C, B, A], [B, C, A]):
            assert change(BLIND, cells, seed) == (0.0, 0.0)


# --- Swaps


def test_a_swap_moves_the_preferred_object_and_leaves_the_subgoal_out_of_it():
    cells = np.tile([3, 7, 11, -1], (200, 1))
    swapped = draw_swaps(jax.random.key(0), cells, 1, WORLD)
    assert swapped.shape == (SWAPS, 200, 4)
    assert (swapped[..., 1] != 7).all()
    assert (swapped[..., 3] == -1).all()
    assert (np.sort(swapped[..., :3], -1) == [3, 7, 11]).all()
    orders, counts = np.unique(swapped.reshape(-1, 4), axis=0, return_counts=True)
    assert len(orders) == 4  # of the six orders of three objects, two leave the second where it is
    assert counts.min() > 0.8 * SWAPS * 200 / 4


def test_the_distance_of_a_swap_is_to_the_nearest_thing_that_changed():
    before = np.array([A, B, C, -1])
    corner = np.array(0)
    assert swap_distance(corner, before, np.array([B, A, C, -1]), 5) == 1
    assert swap_distance(corner, before, np.array([A, C, B, -1]), 5) == 4  # A is nearer and stays where it is
    assert swap_distance(np.array(12), before, np.array([A, C, B, -1]), 5) == 2


class Scripted(eqx.Module):
    """Takes one step down and then goes right; it sees one cell far and is after the first object."""

    senses: object = SIGHTED

    def ready(self):
        return self

    def start(self, state, world):
        return jnp.int32(0)

    def policy(self, memory, state, last, world):
        return jax.nn.one_hot(jnp.where(memory == 0, DOWN, RIGHT), 5), memory + 1


LEVELS = {
    "seen on the way": "@....\n..*..\n.A...\n.....\n.B..C",
    "never seen": "@....\n..*..\n.....\n.....\nAB..C",
    "seen only from the subgoal": "@....\n..*..\n...A.\n.....\n.B..C",
    "no subgoal on the way": "@....\n.....\n.A...\n.....\n.B.*C",
    "eaten before": "@....\n.A*..\n.....\n.....\n.B..C",
    "eaten with the last step": "@....\n....*\n....A\n.....\n.B..C",
}


def test_episodes_count_that_eat_the_subgoal_after_seeing_the_preferred_object():
    drawn = [parse_level(picture, WORLD) for picture in LEVELS.values()]
    levels = jax.tree.map(lambda *leaves: jnp.stack(leaves), *drawn)
    world = dataclasses.replace(WORLD, step_limit=5)
    episodes, end = until_subgoal(jax.random.key(0), Scripted(), levels, world)
    kept = qualifies(episodes, end, 1, 0, world)
    assert [name for name, mine in zip(LEVELS, kept) if mine] == ["seen on the way"]
    blind = qualifies(episodes, end, -1, 0, world)
    assert [name for name, mine in zip(LEVELS, blind) if mine] == list(LEVELS)[:3]
    assert np.asarray(episodes.length)[:3].tolist() == [3, 3, 3]
    assert np.asarray(end.memory)[0] == 3


@pytest.fixture(scope="module")
def measured():
    levels = sample_levels(jax.random.key(0), WORLD, 160)
    pairs = {
        name: [swap_pairs(jax.random.key(1), agent(senses, 0, seed), levels, WORLD) for seed in (1, 4)]
        for name, senses in {"3x3": SIGHTED, "blind": BLIND}.items()
    }
    return levels, pairs


def test_over_random_levels_only_what_is_in_view_has_an_effect(measured):
    _, pairs = measured
    for one in pairs["3x3"]:
        assert (one.policy[~one.in_view] == 0).all()
        assert (one.belief[~one.in_view] == 0).all()
        assert (one.policy[one.in_view] > 0).mean() > 0.9
        assert 0 < one.kept.sum() < len(one.kept)
    for one in pairs["blind"]:
        assert not one.in_view.any()
        assert (one.policy == 0).all()
        assert (one.belief == 0).all()


def test_a_table_holds_the_kept_pairs_by_distance(measured):
    _, pairs = measured
    table = swap_table(pairs["3x3"])
    assert table.reach == 1
    assert [row.distance for row in table.by_distance] == [1, 2, 3, 4]
    assert sum(row.pairs for row in table.by_distance) == SWAPS * table.episodes
    assert table.in_view.pairs == table.by_distance[0].pairs
    means = [one.policy[one.in_view & one.kept].mean() for one in pairs["3x3"] if (one.in_view & one.kept).any()]
    assert table.in_view.policy.mean == pytest.approx(np.mean(means))
    assert table.out_of_view.policy.largest == 0


def test_the_examples_are_of_the_kind_that_they_are_shown_for(measured):
    _, pairs = measured
    agents = [agent(SIGHTED, 0, seed) for seed in range(2)]
    examples = swap_examples(jax.random.key(2), agents, pairs["3x3"], WORLD, rollouts=20)
    seen, unseen = examples["in_view"], examples["out_of_view"]
    assert seen.distance == 1
    assert seen.policy_change > 0
    assert seen.swap.state.object_cells != seen.no_swap.state.object_cells
    assert unseen.distance > 1
    assert unseen.policy_change == 0
    assert unseen.swap.policy == unseen.no_swap.policy
    assert np.array_equal(unseen.swap.belief, unseen.no_swap.belief)
    for example in (seen, unseen):
        assert pairs["3x3"][example.network].kept[example.level]
        assert np.allclose(np.sum(example.swap.successor, axis=(-1, -2)), 1, atol=1e-5)
        assert np.asarray(example.visibility)[divmod(example.episode.final_cell, 5)] == 2


def test_ways_are_shown_that_are_long_and_lead_over_no_cell_twice(measured):
    _, pairs = measured
    episodes = jax.tree.map(lambda leaf: np.asarray(leaf)[:3], pairs["3x3"][0].episodes)
    cells = np.zeros_like(episodes.agent_cells)
    cells[:, :6] = [[0, 1, 2, 3, 4, 9], [0, 1, 2, 1, 0, 5], [0, 1, 2, 3, 0, 0]]
    lengths = np.array([6, 6, 4], episodes.length.dtype)
    ways = eqx.tree_at(lambda e: (e.agent_cells, e.length), episodes, (cells, lengths))
    assert _good_to_see(ways).tolist() == [True, False, False]


def test_there_is_no_example_where_there_is_no_such_pair(measured):
    _, pairs = measured
    agents = [agent(BLIND, 0, seed) for seed in range(2)]
    nothing = [dataclasses.replace(one, kept=np.zeros_like(one.kept)) for one in pairs["blind"]]
    assert swap_examples(jax.random.key(2), agents, nothing, WORLD, rollouts=2) == {
        "in_view": None,
        "out_of_view": None,
    }


def test_successor_maps_begin_where_the_agent_stands_and_go_on_until_the_end():
    """To the right along the wall of its cell: half the weight of gamma = 0.5 stays where it stands."""
    now = jax.tree.map(lambda leaf: leaf[0], rollout_state(picture="@A...\n.....\n.....\n.....\n.B..C"))
    now = dataclasses.replace(now, memory=jnp.int32(1))  # it goes right
    maps = np.asarray(empirical_successors(jax.random.key(0), Scripted(), now, WORLD, 3))
    assert maps[0, 0, :2] == pytest.approx([2 / 3, 1 / 3])  # 1 and ½, and there it ends


def test_one_network_or_no_pairs_make_no_claims(measured):
    _, pairs = measured
    one = swap_table(pairs["3x3"][:1])
    none = swap_table([dataclasses.replace(each, kept=np.zeros_like(each.kept)) for each in pairs["3x3"]])
    assert swap_claims({"3x3": one}) == swap_claims({"3x3": none}) == []
    assert [claim.id for claim in swap_claims({"3x3": swap_table(pairs["3x3"])})] == ["F1"]


def test_pairs_know_which_swaps_are_in_view(measured):
    _, pairs = measured
    one: Pairs = pairs["3x3"][0]
    assert np.array_equal(one.in_view, one.distance <= 1)
