"""Seeing badly and knowing it: against a list of everything that can happen in a world of nine cells."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.agents.planner import Planner, PlannerSpecies, action_values, best_actions
from tomnet.episodes.encounter import EncounterSpec
from tomnet.episodes.episode import NONE, Episode
from tomnet.episodes.observer_view import MissedSteps, NearObjectsOnly, NoisyActions, ObserverView, sees_all
from tomnet.episodes.rollout import play, rollout
from tomnet.episodes.sampling import draw_encounters
from tomnet.ideal.behind_view import BehindView, complete
from tomnet.ideal.inverse_planning import InversePlanner
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import MOVES, World
from tomnet.world.levels import parse_level

NINE_CELLS = World(size=3, objects=2, max_walls=0, step_limit=3)
LAPSE = 0.05
REWARDS = [[1.0, 0.0], [0.0, 1.0], [0.52, 0.48], [0.5, 0.5]]
AGENTS = Planner(jnp.array(REWARDS), jnp.array([0.01, 0.01, 0.01, 0.5]), jnp.full(4, 0.05))
EQUALLY_LIKELY = jnp.full(len(REWARDS), -np.log(len(REWARDS)), jnp.float32)
IDEAL = InversePlanner(AGENTS, EQUALLY_LIKELY, jnp.zeros(len(REWARDS), bool), NINE_CELLS, LAPSE)


@cache
def everything_that_can_happen() -> tuple[np.ndarray, ...]:
    """All levels, starts and trajectories: objects, cells, actions, lengths, and their probability for each agent."""
    free = range(9)
    levels = np.array([(one, other) for one in free for other in free if one != other])
    values = jax.vmap(jax.vmap(action_values, (None, 0, None, None)), (None, None, 0, None))
    plans = best_actions(jax.jit(values, static_argnums=3)(jnp.zeros((3, 3), bool), jnp.array(levels), AGENTS, 3))
    plans = (1 - LAPSE) * np.asarray(plans).reshape(4, len(levels), 9, 5) + LAPSE / 5
    told = []

    def go_on(level: int, cells: list[int], actions: list[int], probability: np.ndarray) -> None:
        for action, move in enumerate(MOVES):
            row, col = np.array(divmod(cells[-1], 3)) + move
            after = row * 3 + col if 0 <= row < 3 and 0 <= col < 3 else cells[-1]
            taken, chance = [*actions, action], probability * plans[:, level, cells[-1], action]
            if after in levels[level] or len(taken) == 3:
                padding = [NONE] * (3 - len(taken))
                told.append((levels[level], [*cells, *padding], [*taken, *padding], len(taken), chance))
            else:
                go_on(level, [*cells, int(after)], taken, chance)

    for level in range(len(levels)):
        for start in set(free) - set(levels[level].tolist()):
            go_on(level, [start], [], np.ones(4))
    return tuple(map(np.array, zip(*told)))


def enumerated_posterior(view: ObserverView, seen: Episode) -> np.ndarray:
    """By Bayes' rule over that list; `seen` is one episode that came through the view."""
    objects, cells, actions, lengths, probability = everything_that_can_happen()
    mistaken = view.probability if isinstance(view, NoisyActions) else 0.0
    reach = view.reach if isinstance(view, NearObjectsOnly) else 3
    likelihood = np.where(lengths == seen.length, 1.0, 0.0)
    for time in range(int(seen.length)):
        if seen.agent_cells[time] != NONE:
            here = cells[:, time, None]
            far = np.maximum(abs(objects // 3 - here // 3), abs(objects % 3 - here % 3)) > reach
            likelihood *= (np.where(far, NONE, objects) == seen.object_cells[time]).all(1)
            likelihood *= cells[:, time] == seen.agent_cells[time]
            likelihood *= np.where(actions[:, time] == seen.actions[time], 1 - mistaken, mistaken / 4)
    weights = likelihood @ probability
    return weights / weights.sum()


@pytest.fixture(scope="module")
def past() -> Episode:
    """Forty episodes, one of each agent in turn."""
    agents = jax.tree.map(lambda leaf: jnp.tile(leaf, (10,) + (1,) * (leaf.ndim - 1)), AGENTS)
    spec = EncounterSpec(1, 1)
    return eqx.filter_jit(draw_encounters)(jax.random.key(0), agents, play(NINE_CELLS), spec).past


def through(view: ObserverView, past: Episode) -> Episode:
    keys = jax.random.split(jax.random.key(1), past.length.shape)
    return eqx.filter_jit(jax.vmap(jax.vmap(lambda key, episode: view(key, episode))))(keys, past)


@pytest.mark.parametrize(
    ("view", "error"),
    [
        (sees_all, 1e-4),
        (NoisyActions(0.3), 1e-4),
        (MissedSteps(0.5), 0.02),  # where all steps were missed, so were the objects
        (NearObjectsOnly(1), 0.02),
    ],
)
def test_the_posterior_is_that_of_summing_over_everything_that_can_happen(view, error, past):
    seen = through(view, past)
    ideal = BehindView(IDEAL, view, completions=2000)
    posterior = np.exp(ideal.posterior(jax.random.key(2), seen, jnp.ones((40, 1), bool)))
    episodes = [jax.tree.map(lambda leaf: np.asarray(leaf)[agent, 0], seen) for agent in range(40)]  # noqa: B023
    expected = np.array([enumerated_posterior(view, episode) for episode in episodes])
    assert expected.std(0).max() > 0.05  # they do differ
    np.testing.assert_allclose(posterior, expected, atol=error)


WORLD = World(size=6, objects=3, max_walls=2, step_limit=10)
SPECIES = PlannerSpecies(objects=3)


@pytest.fixture(scope="module")
def ideal() -> InversePlanner:
    return InversePlanner.for_species(jax.random.key(0), SPECIES, WORLD, particles=81)


def walk(picture: str, rewards: list[float]) -> Episode:
    agent = Planner(jnp.array(rewards), jnp.array(0.01), jnp.array(0.05))
    episode = eqx.filter_jit(rollout)(jax.random.key(0), agent, parse_level(picture, WORLD), WORLD)
    return jax.tree.map(lambda leaf: leaf[None, None], episode)


CORRIDOR = """
    .A####
    @....B
    .#####
    .#####
    .#####
    C#####
"""


def test_where_an_agent_went_tells_what_it_did_however_often_actions_are_mistaken(ideal):
    past, real = walk(CORRIDOR, [0.0, 1.0, 0.0]), jnp.ones((1, 1), bool)
    view = NoisyActions(0.8)
    mistaken = through(view, past)
    assert (mistaken.actions != past.actions)[past.real].any()
    weights = BehindView(ideal, view).posterior(jax.random.key(2), mistaken, real)
    np.testing.assert_allclose(jnp.exp(weights), jnp.exp(ideal.posterior(past, real)), atol=1e-3)


def test_one_step_of_the_way_tells_where_it_leads(ideal):
    """It was seen once, with no end in sight: only B lies that way."""
    past = walk(CORRIDOR, [0.0, 1.0, 0.0])
    all_but_one = jnp.arange(10) != 1
    hidden = jnp.where(all_but_one, NONE, past.agent_cells), jnp.where(all_but_one, NONE, past.actions)
    seen = eqx.tree_at(lambda past: (past.agent_cells, past.actions), past, hidden)
    weights = BehindView(ideal, MissedSteps(0.9)).posterior(jax.random.key(2), seen, jnp.ones((1, 1), bool))
    assert ideal.preferred_object(weights)[0, 1] > 0.98


def test_unseen_objects_are_put_where_nobody_looked():
    """C is behind the last wall but one; from the corridor only A and B come near."""
    episode = jax.tree.map(lambda leaf: leaf[0, 0], through(NearObjectsOnly(1), walk(CORRIDOR, [0.0, 1.0, 0.0])))
    drawn = np.asarray(complete(jax.random.key(3), episode, jnp.int32(1), 6))
    assert set(map(tuple, drawn[:, :2].tolist())) == {(1, 11)}
    assert sorted(drawn[:, 2].tolist()) == [18, 18, 24, 24, 30, 30]  # free, and further than a cell from its way


def test_two_unseen_objects_never_share_a_cell(past):
    """All steps missed: the two may lie anywhere, in every order."""
    episode = jax.tree.map(lambda leaf: leaf[0, 0], through(MissedSteps(1.0), past))
    drawn = np.asarray(complete(jax.random.key(3), episode, jnp.int32(3), 900))
    assert (drawn[:, 0] != drawn[:, 1]).all()
    assert len(np.unique(drawn, axis=0)) == 72
    assert np.bincount(drawn[:, 0]).tolist() == np.bincount(drawn[:, 1]).tolist() == [100] * 9


def test_where_no_object_was_seen_none_looks_more_wanted_than_another(past):
    episode = jax.tree.map(lambda leaf: leaf[0, 0], through(MissedSteps(1.0), past))
    first, second, *swapped = np.asarray(complete(jax.random.key(3), episode, jnp.int32(3), 4)).tolist()
    assert swapped == [first[::-1], second[::-1]]


def test_who_never_sees_an_object_is_not_asked(ideal):
    with pytest.raises(BadSetting, match="reach = 0: no object is ever in sight"):
        BehindView(ideal, NearObjectsOnly(0))
