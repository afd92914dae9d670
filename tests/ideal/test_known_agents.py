"""The posterior over known agents against plain products of their policies; mixtures against their parts."""

from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import NETWORK, WORLD, made_up_networks

from tomnet.agents.actor_critic import DeepAgent
from tomnet.agents.population import CONDITIONS, senses_of
from tomnet.episodes.encounter import Encounter, EncounterSpec
from tomnet.episodes.episode import Episode
from tomnet.episodes.history import History
from tomnet.episodes.rollout import play
from tomnet.episodes.sampling import draw_encounters
from tomnet.ideal import KnownAgents
from tomnet.support.errors import BadSetting
from tomnet.support.trees import pick
from tomnet.world.gridworld import ACTIONS, Outcome, State, World, nothing_yet

KINDS = ("blind", "3x3", "stateless-5x5")
SPECIES = np.array([0, 0, 1, 1, 1, 2])  # two, three, one
PAST = 3


@lru_cache
def known(negligible: float = 0.0) -> KnownAgents:
    senses = senses_of([CONDITIONS[KINDS[kind]] for kind in SPECIES])
    agents = DeepAgent(made_up_networks(len(SPECIES)), senses, jnp.arange(len(SPECIES), dtype=jnp.int32) % 3)
    return KnownAgents(agents, SPECIES, WORLD, negligible)


@lru_cache
def met(currents: int = 1, at_start: bool = False, queries: int = 1) -> Encounter:
    """One encounter with each, or several that share its episodes."""
    spec = EncounterSpec(PAST, PAST, query_at_start=at_start)
    draw = eqx.filter_jit(
        lambda key, agents: draw_encounters(
            key, agents, play(WORLD), spec, past=PAST, currents=currents, queries=queries
        ).one_by_one()
    )
    return draw(jax.random.key(0), known().agents)


@eqx.filter_jit
def policy(agent: DeepAgent, memory, state: State, last: Outcome):
    return agent.policy(memory, state, last, WORLD)


def state_of(episode: Episode, time: int) -> State:
    cells = jnp.asarray(episode.object_cells[time], jnp.int32), jnp.asarray(episode.agent_cells[time], jnp.int32)
    return State(jnp.asarray(episode.walls), *cells, jnp.int32(time))


def along(agent: DeepAgent, episode: Episode):
    """Step by step, in plain Python: the probability of each action taken, memory and outcome at the end."""
    episode = jax.tree.map(np.asarray, episode)
    memory, last, chosen = agent.network.blank_memory(), nothing_yet(), []
    for time in range(int(episode.length)):
        probabilities, memory = policy(agent, memory, state_of(episode, time), last)
        action = int(episode.actions[time])
        chosen.append(float(probabilities[action]))
        later = time + 1 < episode.length
        after = int(episode.agent_cells[time + 1] if later else episode.final_cell)
        bumped = action != ACTIONS.index("stay") and after == int(episode.agent_cells[time])
        no = jnp.bool_(False)
        last = Outcome(
            jnp.int32(action),
            jnp.int32(episode.consumed[time]),
            jnp.bool_(bumped),
            swapped=no,
            terminated=no,
            truncated=no,
        )
    return np.array(chosen), memory, last


def by_hand(history: History) -> np.ndarray:
    """Prior times the product of all probabilities, divided by the sum."""
    pool, rows = known(), []
    for query in range(len(history)):
        row = []
        for number in range(len(pool)):
            agent = pick(pool.agents, number)
            prior = 1 / 3 / (SPECIES[number] == SPECIES).sum()
            seen = [pick(history.past, (query, which)) for which in np.flatnonzero(history.past_real[query])]
            seen += [] if history.recent is None else [pick(history.recent, query)]
            row.append(prior * np.prod([along(agent, episode)[0].prod() for episode in seen]))
        rows.append(np.array(row) / np.sum(row))
    return np.array(rows)


def test_the_posterior_is_the_product_of_all_that_was_done():
    history = pick(met().history, slice(2))
    np.testing.assert_allclose(np.exp(known().posterior(history)), by_hand(history), rtol=1e-3, atol=1e-7)


def test_histories_may_share_their_past():
    shared = met(currents=2).history
    apart = History(pick(shared.past, np.repeat(np.arange(len(SPECIES)), 2)), shared.past_real, shared.recent)
    np.testing.assert_allclose(known().posterior(shared), known().posterior(apart), atol=1e-4)


def test_an_episode_seen_twice_counts_twice():
    past = pick(met().past, (slice(2), slice(1)))
    once, twice = (jax.tree.map(lambda leaf, n=n: jnp.concatenate([leaf] * n, 1), past) for n in (1, 2))
    evidence = known().posterior(History.of(once)) - known().log_prior
    again = known().posterior(History.of(twice)) - known().log_prior
    np.testing.assert_allclose(again - again[:, :1], 2 * (evidence - evidence[:, :1]), rtol=1e-4, atol=1e-4)


def test_without_a_past_it_is_the_prior_every_condition_equally_likely():
    past = met(at_start=True).past
    nothing = History(past, jnp.zeros(past.length.shape, bool))
    weights = np.exp(known().posterior(nothing))
    np.testing.assert_allclose(weights, np.tile([1 / 6, 1 / 6, 1 / 9, 1 / 9, 1 / 9, 1 / 3], (6, 1)), atol=1e-6)
    np.testing.assert_allclose(known().species_probability(known().posterior(nothing)), 1 / 3, atol=1e-6)


def test_an_agent_of_the_pool_is_found():
    play_some = eqx.filter_jit(lambda key, agent: play(WORLD)(key, agent, 48))
    for number in (2, 5):
        past = jax.tree.map(lambda leaf: leaf[None], play_some(jax.random.key(1), pick(known().agents, number)))
        log_weights = known().posterior(History.of(past))
        assert np.exp(log_weights)[0, number] > 0.95
        assert known().species_probability(log_weights)[0].argmax() == SPECIES[number]
        assert known().preferred_object(log_weights)[0].argmax() == number % 3


def test_the_order_of_the_pool_does_not_matter():
    order = np.array([3, 0, 5, 1, 4, 2])
    other = KnownAgents(pick(known().agents, order), SPECIES[order], WORLD)
    np.testing.assert_allclose(other.posterior(met().history), known().posterior(met().history)[:, order], atol=1e-4)


def test_the_mixture_of_policies_and_beliefs_is_exact():
    encounters = pick(met(), slice(2))
    log_weights = known().posterior(encounters.history)
    told = known().predict(jax.random.key(0), log_weights, encounters.query, encounters.recent, rollouts=0)
    assert told.consumption is None
    assert told.successor is None
    for query in range(2):
        action, belief = 0.0, 0.0
        for number, weight in enumerate(np.exp(log_weights[query])):
            agent = pick(known().agents, number)
            _, memory, last = along(agent, pick(encounters.recent, query))
            cells = [jnp.asarray(leaf, jnp.int32) for leaf in (encounters.query.object_cells[query],)]
            here, time = (jnp.int32(leaf[query]) for leaf in (encounters.query.agent_cell, encounters.recent.length))
            state = State(encounters.query.walls[query], *cells, here, time)
            probabilities, memory = policy(agent, memory, state, last)
            action = action + weight * np.asarray(probabilities)
            belief = belief + weight * np.asarray(agent.belief(memory, WORLD))
        np.testing.assert_allclose(np.exp(told.action[query]), action, rtol=1e-3, atol=1e-6)
        np.testing.assert_allclose(np.exp(told.belief[query]), belief, rtol=1e-3, atol=1e-6)


def test_rollouts_agree_with_the_policies_and_are_probabilities():
    encounters = pick(met(), slice(2))
    log_weights = known().posterior(encounters.history)
    asked = (jax.random.key(0), log_weights, encounters.query, encounters.recent)
    exact = known().predict(*asked, rollouts=0)
    told = known().predict(*asked, rollouts=8)
    again = known().predict(*asked, rollouts=8)
    np.testing.assert_allclose(told.action, exact.action, atol=1e-5)
    np.testing.assert_allclose(told.belief, exact.belief, atol=1e-4)
    np.testing.assert_allclose(np.exp(told.successor).sum((-2, -1)), 1, atol=1e-4)
    np.testing.assert_array_equal(told.successor, again.successor)  # the same key, the same rollouts
    gone = np.asarray(encounters.query.object_cells) < 0
    eaten = np.asarray(told.probabilities().consumption)
    assert (eaten[gone] < 1e-6).all()
    assert (eaten[~gone] > 0).all()


def test_queries_at_any_time_count_short_futures_more():
    encounters = pick(met(), slice(2))
    log_weights = known().posterior(encounters.history)
    plain = known().predict(jax.random.key(0), log_weights, encounters.query, encounters.recent, rollouts=8)
    weighted = known().observe(jax.random.key(0), encounters, rollouts=8)
    np.testing.assert_allclose(np.exp(weighted.action).sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(np.exp(weighted.successor).sum((-2, -1)), 1, atol=1e-4)
    # whoever eats early ends early: where anything terminal may be eaten, it becomes more likely
    eaten = [np.asarray(told.probabilities().consumption)[:, : WORLD.objects].sum() for told in (plain, weighted)]
    assert eaten[1] > eaten[0]


def test_at_the_start_there_is_no_current_episode():
    encounters = pick(met(at_start=True), slice(2))
    told = known().observe(jax.random.key(0), encounters, rollouts=0)
    assert told.action.shape == (2, len(ACTIONS))
    np.testing.assert_allclose(np.exp(told.belief).sum(-1), 1, atol=1e-4)


def test_a_condition_of_which_nobody_is_known_has_no_chance_and_keeps_its_number():
    without = KnownAgents(pick(known().agents, SPECIES != 1), SPECIES[SPECIES != 1], WORLD)
    told = without.species_probability(np.log([[0.1, 0.2, 0.7]]))
    np.testing.assert_allclose(told, [[0.3, 0.0, 0.7]])
    np.testing.assert_allclose(np.exp(without.log_prior), [1 / 4, 1 / 4, 1 / 2])


def test_what_is_negligible_is_left_out():
    encounters = pick(met(), slice(2))
    log_weights = np.log(np.array([[0.9, 0.1 - 1e-6, 1e-6 / 4, 1e-6 / 4, 1e-6 / 4, 1e-6 / 4]] * 2))
    asked = (jax.random.key(0), log_weights, encounters.query, encounters.recent)
    whole, most = (known(negligible).predict(*asked, rollouts=0) for negligible in (0.0, 1e-3))
    np.testing.assert_allclose(np.exp(whole.action), np.exp(most.action), atol=1e-5)


# --- What cannot work


def test_a_pool_of_nobody():
    with pytest.raises(BadSetting, match="agents = 0: someone must be known"):
        KnownAgents(pick(known().agents, slice(0)), np.zeros(0, int), WORLD)


def test_species_that_do_not_fit():
    with pytest.raises(BadSetting, match="species = 2: each of the 6 agents has one"):
        KnownAgents(known().agents, np.zeros(2, int), WORLD)


def test_a_world_that_the_networks_do_not_know():
    with pytest.raises(BadSetting, match=f"size = 6: these agents were trained on grids of {NETWORK.size}"):
        KnownAgents(known().agents, SPECIES, World(size=6, objects=3, subgoal=True, max_walls=1))


def test_several_queries_about_one_episode():
    history = met(queries=2).history
    with pytest.raises(BadSetting, match="queries = 2: known agents are asked about once in an episode, after all of"):
        known().posterior(history)


@pytest.mark.parametrize(
    ("where", "why"),
    [
        (lambda past: (past.walls, jnp.zeros((6, PAST, 6, 6), bool)), "size = 6: the known agents act on grids of 5"),
        (
            lambda past: (past.object_cells, past.object_cells[..., :2]),
            "objects = 2: the known agents' world has 4, the subgoal included",
        ),
        (
            lambda past: (past.length, jnp.zeros_like(past.length)),
            "length = 0: a past episode has at least one step; mark it as not seen, or leave it out",
        ),
    ],
    ids=["size", "objects", "length"],
)
def test_episodes_of_another_kind(where, why):
    history = met().history
    field, changed = where(history.past)
    past = jax.tree.map(lambda leaf: changed if leaf is field else leaf, history.past)
    with pytest.raises(BadSetting) as error:
        known().posterior(History(past, history.past_real))
    assert str(error.value) == why
