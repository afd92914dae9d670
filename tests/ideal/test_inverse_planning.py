"""Inverse planning against rollouts of the agents it imagines, and on levels whose answer can be seen."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.agents.planner import Planner, PlannerSpecies
from tomnet.episodes.encounter import Encounter, EncounterSpec
from tomnet.episodes.episode import Episode, QueryState
from tomnet.episodes.rollout import play, rollout
from tomnet.episodes.sampling import draw_encounters
from tomnet.episodes.targets import targets_from
from tomnet.ideal import InversePlanner
from tomnet.ideal.distinct_plans import ONE_BY_ONE
from tomnet.ideal.markov_chain import chain_of, snapshot_probability
from tomnet.ideal.paths import choices, find_paths, policy
from tomnet.observer.losses import losses_each
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import SUBGOAL_MAZE, Level, World
from tomnet.world.levels import parse_level

WORLD = World(size=6, objects=3, max_walls=2, step_limit=10)
SPECIES = PlannerSpecies(objects=3, greedy_share=0.3)
MANY = 20_000
CORRIDOR = """
    .A....
    @....B
    ......
    ......
    ......
    C.....
"""


@pytest.fixture(scope="module")
def ideal():
    return InversePlanner.for_species(jax.random.key(0), SPECIES, WORLD, particles=200)


@pytest.fixture(scope="module")
def encounters():
    """A thousand encounters with whole episodes, and the same with a snapshot of each."""
    agent_key, encounter_key, time_key = jax.random.split(jax.random.key(1), 3)

    @jax.jit
    def met() -> tuple[Encounter, Encounter]:
        whole = draw_encounters(encounter_key, SPECIES.sample(agent_key, 1000), play(WORLD), EncounterSpec(0, 3))
        times = (jax.random.uniform(time_key, (1000, 3)) * whole.past.length).astype(jnp.int32)
        snapshots = jax.vmap(jax.vmap(Episode.at))(whole.past, times).first_pair()
        return whole, eqx.tree_at(lambda encounter: encounter.past, whole, snapshots)

    return dict(zip((False, True), met()))


def some(encounters: Encounter, first: int = 0) -> Encounter:
    return jax.tree.map(lambda leaf: leaf[first : first + 8], encounters)


@eqx.filter_jit
def many_episodes(key, agents: Planner, level: Level):
    """One episode for each agent and each start cell of a batch, on the same walls and objects."""

    def one(key, agent, start_cell):
        return rollout(key, agent, eqx.tree_at(lambda level: level.start_cell, level, start_cell), WORLD)

    return jax.vmap(one)(jax.random.split(key, level.start_cell.shape[0]), agents, level.start_cell)


def one_agent(rewards, move_cost=0.01) -> Planner:
    return Planner(jnp.array([rewards]), jnp.array([move_cost]), jnp.array([0.05]))


def query(level: Level) -> QueryState:
    return jax.tree.map(lambda leaf: leaf[None], QueryState(level.walls, level.start_cell, level.object_cells))


def within_sampling_error(samples, expected):
    error = samples.std(0) / samples.shape[0] ** 0.5
    np.testing.assert_array_less(jnp.abs(samples.mean(0) - expected), 5 * error + 5 / samples.shape[0])


def watch(ideal: InversePlanner, agents: Planner, level: Level):
    """The posterior after one episode of an agent on a level."""
    starts = eqx.tree_at(lambda level: level.start_cell, level, level.start_cell[None])
    past = jax.tree.map(lambda leaf: leaf[:, None], many_episodes(jax.random.key(0), agents, starts))
    return past, ideal.posterior(past, jnp.ones((1, 1), bool))


def test_predictions_are_the_mean_over_rollouts(ideal):
    """With uneven weights, walls, and greedy agents whose ties lie between objects at different distances."""
    ideal = replace(ideal, lapse=1e-9)
    level = parse_level(
        """
        ..A...
        ......
        ..@.##
        ..#...
        B.#...
        ..#..C
        """,
        WORLD,
    )
    log_weights = jax.nn.log_softmax(ideal.log_prior + ideal.agents.object_rewards[:, 1] * 1.5)
    who_key, play_key = jax.random.split(jax.random.key(1))
    who = jax.random.categorical(who_key, log_weights, shape=(MANY,))
    starts = eqx.tree_at(lambda level: level.start_cell, level, jnp.full(MANY, level.start_cell))
    episodes = many_episodes(play_key, jax.tree.map(lambda leaf: leaf[who], ideal.agents), starts)
    targets = jax.jit(jax.vmap(lambda episode: targets_from(episode, jnp.int32(0))))(episodes)
    predictions = ideal.predict(log_weights[None], query(level))
    within_sampling_error(jax.nn.one_hot(targets.action, 5), jnp.exp(predictions.action[0]))
    within_sampling_error(targets.consumption, jax.nn.sigmoid(predictions.consumption[0]))
    within_sampling_error(targets.successor, jnp.exp(predictions.successor[0]))


@pytest.mark.parametrize(
    ("rewards", "move_cost"),
    [([1.0, 0.0, 0.0], 0.5), ([0.52, 0.48, 0.0], 0.01), ([0.0, 0.0, 1.0], 0.01)],
    ids=["greedy, with ties of different lengths", "two close rivals", "timing out behind a wall"],
)
def test_snapshot_probability_is_the_frequency_over_rollouts(rewards, move_cost):
    level = parse_level(
        """
        A.....
        ......
        .@.B..
        #####.
        ....##
        .C..#.
        """,
        WORLD,
    )
    agent = one_agent(rewards, move_cost)
    start_key, play_key, time_key = jax.random.split(jax.random.key(0), 3)
    free = np.setdiff1d(np.flatnonzero(~np.asarray(level.walls)), np.asarray(level.object_cells))
    starts = jax.random.choice(start_key, jnp.asarray(free, jnp.int16), (MANY,))
    agents = jax.tree.map(lambda leaf: jnp.repeat(leaf, MANY, 0), agent)
    episodes = many_episodes(play_key, agents, eqx.tree_at(lambda level: level.start_cell, level, starts))
    times = (jax.random.uniform(time_key, (MANY,)) * episodes.length).astype(jnp.int32)[:, None]
    cells = np.take_along_axis(np.asarray(episodes.agent_cells), np.asarray(times), 1)[:, 0]
    actions = np.take_along_axis(np.asarray(episodes.actions), np.asarray(times), 1)[:, 0]
    counts = np.zeros((5, WORLD.cells))
    np.add.at(counts, (actions, cells), 1)

    @jax.jit
    def probabilities(agent, every_action, every_cell):
        paths = find_paths(level.walls, level.object_cells, WORLD)
        plan = policy(choices(paths), agent, WORLD)
        of_pair = lambda action, cell: snapshot_probability(  # noqa: E731
            chain_of(paths, plan), paths, plan, cell, action, WORLD
        )
        return jax.vmap(jax.vmap(of_pair, (None, 0)), (0, None))(every_action, every_cell)

    first = jax.tree.map(lambda leaf: leaf[0], agent)
    expected = np.asarray(probabilities(first, jnp.arange(5), jnp.arange(WORLD.cells)), np.float64)
    assert expected.sum() == pytest.approx(1, abs=1e-5)
    error = np.sqrt(expected * (1 - expected) / MANY)
    np.testing.assert_array_less(np.abs(counts / MANY - expected), 5 * error + 1e-9)


@pytest.mark.parametrize("snapshots", [False, True])
def test_no_past_leaves_the_prior(ideal, encounters, snapshots):
    met = some(encounters[snapshots])
    log_weights = ideal.posterior(met.past, jnp.zeros_like(met.past_real))
    np.testing.assert_allclose(log_weights, jnp.tile(ideal.log_prior, (8, 1)), atol=1e-5)
    np.testing.assert_allclose(ideal.preferred_object(log_weights), 1 / 3, rtol=1e-4)
    np.testing.assert_allclose(ideal.greedy_probability(log_weights), SPECIES.greedy_share, rtol=1e-4)


@pytest.mark.parametrize("snapshots", [False, True])
def test_padding_changes_nothing(ideal, encounters, snapshots):
    met, other = some(encounters[snapshots]), some(encounters[snapshots], first=8)
    real = jnp.array([[True, False, False], [False, True, True]] * 4)

    def swap_padding(mine, theirs):
        return jnp.where(real.reshape(real.shape + (1,) * (mine.ndim - 2)), mine, theirs)

    padded = jax.tree.map(swap_padding, met.past, other.past)
    if not snapshots:  # steps after the end are padding as well
        padded = eqx.tree_at(
            lambda past: (past.actions, past.agent_cells),
            padded,
            (jnp.where(padded.real, padded.actions, 2), jnp.where(padded.real, padded.agent_cells, 5)),
        )
    np.testing.assert_array_equal(ideal.posterior(met.past, real), ideal.posterior(padded, real))


def test_order_and_company_do_not_matter(ideal, encounters):
    met = some(encounters[False])
    together = ideal.posterior(met.past, met.past_real)
    past, past_real = jax.tree.map(lambda leaf: leaf[::-1, ::-1], (met.past, met.past_real))
    np.testing.assert_allclose(ideal.posterior(past, past_real)[::-1], together, atol=1e-4)
    predictions = ideal.predict(together, met.query)
    alone = ideal.predict(together[3:4], jax.tree.map(lambda leaf: leaf[3:4], met.query))
    for all_of_them, one in zip(jax.tree.leaves(predictions), jax.tree.leaves(alone)):
        np.testing.assert_allclose(all_of_them[3:4], one, atol=1e-4)


def test_one_far_trip_shows_the_preferred_object(ideal):
    """It passes right under A on its way to B, so it wants B, and does not mind the way."""
    level = parse_level(CORRIDOR, WORLD)
    past, log_weights = watch(ideal, one_agent([0.0, 1.0, 0.0]), level)
    assert past.consumed[0, 0, past.length[0, 0] - 1] == 1
    assert ideal.preferred_object(log_weights)[0, 1] > 0.99
    np.testing.assert_array_equal(ideal.distances(query(level))[0], [2, 5, 4])
    assert ideal.greedy_probability(log_weights)[0] < 0.01


def test_a_trip_to_the_nearest_object_leaves_room_for_greed(ideal):
    level = parse_level(CORRIDOR, WORLD)
    _, log_weights = watch(ideal, one_agent([0.0, 1.0, 0.0], move_cost=0.5), level)
    assert ideal.greedy_probability(log_weights)[0] > 0.5


def test_a_trapped_agent_eats_the_only_object_in_reach(ideal):
    level = parse_level(
        """
        @.#...
        .A#..B
        ###...
        ......
        ......
        C.....
        """,
        WORLD,
    )
    np.testing.assert_array_equal(ideal.reachable(query(level))[0], [True, False, False])
    predictions = ideal.predict(ideal.log_prior[None], query(level))
    np.testing.assert_allclose(jax.nn.sigmoid(predictions.consumption[0]), [1, 0, 0], atol=1e-4)
    np.testing.assert_allclose(jnp.exp(predictions.action[0]), [0, 0.5, 0, 0.5, 0], atol=1e-4)
    field = ideal.consumption_field(ideal.log_prior[None], query(level))[0]
    np.testing.assert_allclose(field[:2, :2, 0], [[1, 1], [1, 0]], atol=1e-4)  # no one stands on A itself
    assert field[:2, :2, 1:].max() < 1e-4
    assert field[:, 2:, 0].max() < 1e-4


def test_fields_agree_with_predictions(ideal, encounters):
    met = some(encounters[False])
    log_weights = ideal.posterior(met.past, met.past_real)
    predictions = ideal.predict(log_weights, met.query)
    who, rows, cols = jnp.arange(8), met.query.agent_cell // WORLD.size, met.query.agent_cell % WORLD.size
    policies = ideal.policy_field(log_weights, met.query)
    eaten = ideal.consumption_field(log_weights, met.query)
    np.testing.assert_allclose(policies[who, rows, cols], jnp.exp(predictions.action), atol=2e-4)
    np.testing.assert_allclose(eaten[who, rows, cols], jax.nn.sigmoid(predictions.consumption), atol=2e-4)
    np.testing.assert_allclose(policies.sum(-1).max((1, 2)), 1, rtol=1e-5)


@pytest.mark.parametrize("snapshots", [False, True])
def test_losses_are_what_the_observer_itself_expects(ideal, encounters, snapshots):
    """Calibration over agents drawn from the prior; no observer of another species would pass."""
    met = encounters[snapshots]
    predictions = ideal.observe(met)
    losses = losses_each(predictions, met.targets)
    surprise = {
        "action": -(jnp.exp(predictions.action) * predictions.action).sum(-1),
        "consumption": binary_entropy(jax.nn.sigmoid(predictions.consumption)).sum(-1),
        "successor": -(jnp.exp(predictions.successor) * predictions.successor).sum((-3, -2, -1)),
    }
    for name, expected in surprise.items():
        gap = losses[name] - expected
        assert abs(gap.mean()) < 4 * gap.std() / 1000**0.5, name
    assert losses["action"].mean() < 0.9  # and it has learnt something: chance is log 5 = 1.6


def binary_entropy(probability):
    return -(probability * jnp.log(probability) + (1 - probability) * jnp.log1p(-probability))


def test_an_inexplicable_action_leaves_everything_finite(ideal, encounters):
    met = some(encounters[False])
    bumping = eqx.tree_at(lambda past: past.actions, met.past, jnp.zeros_like(met.past.actions))
    predictions = ideal.predict(ideal.posterior(bumping, met.past_real), met.query)
    assert all(jnp.isfinite(leaf).all() for leaf in jax.tree.leaves(predictions))


def test_worlds_it_does_not_know():
    with pytest.raises(BadSetting, match="subgoal"):
        InversePlanner.for_species(jax.random.key(0), PlannerSpecies(), SUBGOAL_MAZE, particles=108)
    with pytest.raises(BadSetting, match="objects"):
        InversePlanner.for_species(jax.random.key(0), SPECIES, World(), particles=108)


@pytest.mark.parametrize("snapshots", [False, True])
def test_a_few_at_a_time_or_many_makes_no_difference(ideal, encounters, snapshots):
    few = replace(ideal, at_once=ONE_BY_ONE)
    asked = some(encounters[snapshots])
    for one, other in zip(jax.tree.leaves(few.observe(asked)), jax.tree.leaves(ideal.observe(asked))):
        assert np.allclose(one, other, atol=1e-5)
