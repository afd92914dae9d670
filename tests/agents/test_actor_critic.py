"""A deep RL agent: what its actions may depend on, and what a preference is."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import BLIND, NETWORK, SIGHTED, STATELESS, WORLD, made_up_network
from helpers import pick, sample_levels

from tomnet.agents.actor_critic import DeepAgent, Memory, NetworkConfig, Rewards, exchange
from tomnet.agents.agent import Agent
from tomnet.episodes.rollout import rollout
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import ABSENT, Outcome, World, nothing_yet, reset_to_level
from tomnet.world.levels import parse_level

NETWORK_WEIGHTS = made_up_network()
COUNT = 12


def agent(senses, preferred: int = 0) -> DeepAgent:
    return DeepAgent(NETWORK_WEIGHTS, senses, jnp.int32(preferred))


@eqx.filter_jit
def policies(agent: DeepAgent, memories: Memory, states, last: Outcome):
    """What one agent would do in many states, each with a memory of its own, all after the same action."""
    return jax.vmap(lambda memory, state: agent.policy(memory, state, last, WORLD))(memories, states)


@eqx.filter_jit
def beliefs(agent: DeepAgent, memories: Memory):
    return jax.vmap(lambda memory: agent.belief(memory, WORLD))(memories)


def memories(seed: int, alike: bool = False) -> Memory:
    shape = (COUNT, NETWORK.size, NETWORK.size, NETWORK.memory_channels)
    both = np.random.default_rng(seed).normal(size=(2, *shape)).astype(np.float32)
    if alike:
        both[:] = both[:, :1]
    return Memory(jnp.asarray(both[0]), jnp.asarray(both[1]))


def outcome(action: int = 3, consumed: int = ABSENT, bumped: bool = False) -> Outcome:
    changed = (jnp.int32(action), jnp.int32(consumed), jnp.bool_(bumped))
    return eqx.tree_at(lambda one: (one.action, one.consumed, one.bumped), nothing_yet(), changed)


@pytest.fixture(scope="module")
def states():
    """Different walls, objects and cells, all in the middle of an episode."""
    states = reset_to_level(sample_levels(jax.random.key(0), WORLD, COUNT))
    return eqx.tree_at(lambda state: state.time, states, jnp.full_like(states.time, 2))


def all_alike(values) -> bool:
    values = np.asarray(values)
    return bool((values == values[:1]).all())


def test_it_meets_the_contract_of_agents():
    assert isinstance(agent(SIGHTED), Agent)


# --- What an action may depend on


def test_a_blind_agent_knows_neither_the_maze_nor_where_it_stands(states):
    probabilities, after = policies(agent(BLIND), memories(1, alike=True), states, outcome())
    assert all_alike(probabilities)
    assert all_alike(after.hidden)
    assert not all_alike(policies(agent(SIGHTED), memories(1, alike=True), states, outcome())[0])


def test_a_blind_agent_feels_that_it_bumped(states):
    """It is told its own action and reward, as everyone is."""
    free, bumped = (
        policies(agent(BLIND), memories(1, alike=True), states, outcome(bumped=bump))[0] for bump in (False, True)
    )
    assert not np.array_equal(free, bumped)


def test_what_lies_outside_the_field_of_view_changes_nothing():
    """One step around the agent is seen; the rest is another maze with other objects in other places."""
    pictures = (
        "#..AB\n#@*..\n#....\n.....\n....C",
        "#..#.\n#@*..\n#..#A\nB...#\n.C.##",
        "#....\n#@*..\n#....\n..C..\nAB...",
    )
    levels = [reset_to_level(parse_level(picture, WORLD)) for picture in pictures]
    seen = jax.tree.map(lambda *leaves: jnp.stack([leaves[i % 3] for i in range(COUNT)]), *levels)
    seen = eqx.tree_at(lambda state: state.time, seen, jnp.full_like(seen.time, 2))
    probabilities, after = policies(agent(SIGHTED), memories(1, alike=True), seen, outcome())
    assert all_alike(probabilities)
    assert all_alike(after.cell)


def test_a_stateless_agent_acts_on_what_it_sees_now_alone(states):
    mine, theirs = (policies(agent(STATELESS), memories(seed), states, outcome())[0] for seed in (1, 2))
    assert np.array_equal(mine, theirs)
    for before in (outcome(action=0), outcome(bumped=True), outcome(consumed=3), nothing_yet()):
        assert np.array_equal(mine, policies(agent(STATELESS), memories(1), states, before)[0])
        assert not np.array_equal(
            *(policies(agent(SIGHTED), memories(1), states, told)[0] for told in (outcome(), before))
        )
    mine, theirs = (policies(agent(SIGHTED), memories(seed), states, outcome())[0] for seed in (1, 2))
    assert np.isclose(mine, theirs, atol=1e-4).all(-1).mean() < 0.2  # a few are certain either way


def test_nobody_remembers_an_earlier_episode(states):
    fresh = eqx.tree_at(lambda state: state.time, states, jnp.zeros_like(states.time))
    blank = agent(SIGHTED).start(pick(fresh, 0), WORLD)
    blank = jax.tree.map(lambda leaf: jnp.broadcast_to(leaf, (COUNT, *leaf.shape)), blank)
    expected = policies(agent(SIGHTED), blank, fresh, nothing_yet())
    assert eqx.tree_equal(policies(agent(SIGHTED), memories(1), fresh, nothing_yet()), expected)
    # nor an earlier reward: the last outcome of another episode is not its own
    after_eating = eqx.tree_at(lambda one: one.consumed, nothing_yet(), jnp.int32(0))
    assert eqx.tree_equal(policies(agent(SIGHTED), blank, fresh, after_eating), expected)


def test_the_policy_reads_which_way_a_thing_lies():
    """What is read of the whole map alone would count the same wherever it lies."""
    own = jnp.zeros((5, 5), bool).at[2, 2].set(True)
    here, there = (jnp.zeros((5, 5, 4)).at[cell].set(1.0) for cell in ((0, 2), (2, 4)))
    both = (made_up_network().read_out(seen, seen, own) for seen in (here, there))
    assert not np.allclose(*both, atol=1e-3)


# --- Preferences


@pytest.mark.parametrize("preferred", [0, 1, 2])
def test_a_preference_is_the_same_agent_in_a_world_with_two_objects_exchanged(preferred, states):
    order = jnp.asarray([{0: preferred, preferred: 0}.get(kind, kind) for kind in range(WORLD.kinds)])
    exchanged = jax.vmap(exchange, in_axes=(0, None))(states, order)
    for eaten, as_eaten in ((ABSENT, ABSENT), (preferred, 0), (0, preferred), (3, 3)):
        mine = policies(agent(SIGHTED, preferred), memories(1), states, outcome(consumed=eaten))
        theirs = policies(agent(SIGHTED), memories(1), exchanged, outcome(consumed=int(as_eaten)))
        assert eqx.tree_equal(mine, theirs)
        of_all, canonical = beliefs(agent(SIGHTED, preferred), mine[1]), beliefs(agent(SIGHTED), theirs[1])
        assert np.array_equal(of_all[:, preferred], canonical[:, 0])
        assert np.array_equal(of_all[:, order], canonical)


def test_a_whole_episode_is_the_same_with_two_objects_exchanged():
    levels = sample_levels(jax.random.key(3), WORLD, 16)
    order = jnp.asarray([2, 1, 0, 3])
    exchanged = eqx.tree_at(lambda level: level.object_cells, levels, levels.object_cells[:, order])
    play = eqx.filter_jit(jax.vmap(rollout, in_axes=(0, None, 0, None)))
    keys = jax.random.split(jax.random.key(5), 16)
    mine, theirs = (
        play(keys, agent(SIGHTED, preferred), maze, WORLD) for preferred, maze in ((2, levels), (0, exchanged))
    )
    assert np.array_equal(mine.actions, theirs.actions)
    assert np.array_equal(mine.object_cells[..., order], theirs.object_cells)
    eaten = np.asarray(mine.consumed)
    assert (eaten >= 0).any()  # otherwise there was nothing to compare
    assert np.array_equal(np.where(eaten >= 0, np.asarray(order)[eaten], eaten), theirs.consumed)


def test_beliefs_are_distributions_over_cells_and_nowhere():
    believed = np.asarray(beliefs(agent(SIGHTED, 1), memories(1)))
    assert believed.shape == (COUNT, WORLD.kinds, WORLD.cells + 1)
    assert np.allclose(believed.sum(-1), 1, atol=1e-5)
    assert (believed >= 0).all()


def test_what_an_outcome_is_worth():
    def worth(**changed) -> float:
        fields = {name: jnp.asarray(value) for name, value in changed.items()}
        return float(Rewards().of(dataclasses.replace(nothing_yet(), **fields), WORLD))

    assert worth() == pytest.approx(-0.005)
    assert worth(bumped=True) == pytest.approx(-0.055)
    assert worth(consumed=0) == pytest.approx(0.995)
    assert worth(consumed=1) == pytest.approx(-0.005)
    assert worth(consumed=3) == pytest.approx(0.995)  # the subgoal comes last
    assert worth(truncated=True) == pytest.approx(-1.005)


# --- Refused


@pytest.mark.parametrize(
    ("world", "why"),
    [
        (World(size=6, objects=3, subgoal=True, max_walls=1), "size = 6: these agents were trained on grids of 5"),
        (World(size=5, objects=2, subgoal=True, max_walls=1), "objects = 3: these agents know 4 kinds"),
        (World(size=5, objects=4, max_walls=1), "subgoal = False: these agents were trained where there is one"),
    ],
    ids=["size", "objects", "subgoal"],
)
def test_a_world_that_it_was_not_trained_for_is_refused(world, why):
    state = reset_to_level(pick(sample_levels(jax.random.key(0), world, 1), 0))
    with pytest.raises(BadSetting, match=why):
        agent(SIGHTED).start(state, world)


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(NetworkConfig) if field.type is int])
def test_a_network_without_layers_or_channels_is_refused(name):
    with pytest.raises(BadSetting, match=f"NetworkConfig.{name} = 0: must be above 0"):
        dataclasses.replace(NETWORK, **{name: 0})


def test_more_kinds_than_planes_are_refused():
    with pytest.raises(BadSetting, match="kinds = 13: an agent tells at most 12 kinds of objects apart"):
        dataclasses.replace(NETWORK, kinds=13)
