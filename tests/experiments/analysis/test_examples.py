"""Which agents the figures show, where few were met and none of them is what an example should be."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import random_encounters

from tomnet.agents.planner import PlannerSpecies
from tomnet.episodes.episode import NONE
from tomnet.episodes.predictions import Predictions
from tomnet.experiments import goal_inference, goal_snapshots, greedy_agents
from tomnet.experiments.analysis.comparison import Observed
from tomnet.experiments.analysis.examples import first_of
from tomnet.ideal.inverse_planning import InversePlanner
from tomnet.world.gridworld import World


def test_an_example_is_the_first_agent_that_has_what_it_should_show():
    nobody, some, better = np.zeros(4, bool), np.array([False, True, True, False]), np.arange(4) == 3
    assert first_of(better, some) == 3
    assert first_of(nobody, some) == 1
    assert first_of(nobody, nobody) is None


@pytest.fixture(scope="module")
def nobody_eats():
    """Three agents on short ways, one past episode each; they eat nothing, now as then."""
    made = random_encounters(past_counts=(1, 1, 1))
    return eqx.tree_at(lambda e: e.targets.consumption, made, jnp.zeros_like(made.targets.consumption))


@pytest.fixture(scope="module")
def observed(nobody_eats):
    return Observed.of(
        Predictions(jnp.full((3, 5), -jnp.log(5.0)), jnp.zeros((3, 2)), jnp.full((3, 3, 5, 5), -jnp.log(25.0))),
        nobody_eats,
    )


def test_an_agent_that_eats_nothing_is_shown_as_such(nobody_eats, observed):
    assert goal_inference._example(nobody_eats, observed, observed).eaten is None


def test_an_agent_that_eats_is_preferred_however_short_its_way(nobody_eats, observed):
    one_eats = eqx.tree_at(lambda e: e.targets.consumption, nobody_eats, jnp.zeros((3, 2)).at[2, 1].set(1.0))
    example = goal_inference._example(one_eats, observed, observed)
    assert example.eaten == 1
    assert example.query.agent_cell == int(nobody_eats.query.agent_cell[2])


def test_no_trip_is_shown_where_no_agent_made_one(nobody_eats, observed):
    assert (np.asarray(nobody_eats.past.consumed) == NONE).all()
    species, world = PlannerSpecies(objects=2), World(size=5, objects=2, max_walls=1)
    ideal = InversePlanner.for_species(jax.random.key(0), species, world, particles=4)
    table, shown = greedy_agents._trips(ideal, nobody_eats, observed, observed)
    assert shown == {"far": None, "near": None}
    assert table["far"].episodes == table["near"].episodes == 0


def test_snapshots_are_shown_of_an_agent_who_becomes_known_with_them():
    after = np.zeros((11, 3))  # agent 0 stays in doubt, agent 1 is known at once, agent 2 becomes known
    after[:, 1], after[5:, 2] = 1.0, 0.95
    everywhere = np.ones((3, 4), bool)
    assert goal_snapshots._telling(after, everywhere) == 2
    assert goal_snapshots._telling(after[:, :2], everywhere[:2]) == 1
    assert goal_snapshots._telling(after[:, :1], everywhere[:1]) == 0
