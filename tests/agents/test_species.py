"""The contracts of species and agents, one test for all of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import made_up_population

from tomnet.agents.agent import Agent
from tomnet.agents.oracle import Oracle
from tomnet.agents.planner import PlannerSpecies
from tomnet.agents.population import save_population
from tomnet.agents.random_policy import RandomSpecies
from tomnet.agents.teacher_forcing import TeacherForced
from tomnet.experiments.agent_pool import AgentPool


@pytest.fixture(scope="module")
def pool(tmp_path_factory):
    folder = tmp_path_factory.mktemp("agents")
    for condition in ("3x3", "5x5"):
        save_population(folder / f"{condition}.safetensors", made_up_population(condition))
    return AgentPool(("3x3", "5x5"), folder=folder)


@pytest.fixture(scope="module")
def every(pool):
    return {"random": RandomSpecies((0.1, 3.0)), "planners": PlannerSpecies(), "deep RL agents": pool}


def test_every_species_draws_as_many_agents_as_asked(every):
    for kind, species in every.items():
        agents = species.sample(jax.random.key(0), 3)
        assert species.kind == kind
        assert {len(leaf) for leaf in jax.tree.leaves(agents)} == {3}
        one = jax.tree.map(lambda leaf: leaf[0], agents)
        assert isinstance(one, Agent)
        assert isinstance(one.ready(), Agent)


def test_every_species_says_who_its_agents_are_and_where_they_come_from(every, pool):
    assert [species.words().split()[0] for species in every.values()] == ["random", "goal-driven", "deep"]
    assert [len(species.populations()) for species in every.values()] == [0, 0, 2]
    assert all(species.available() for species in every.values())
    assert not AgentPool(("blind",), folder=pool.folder).available()


def test_of_a_company_there_are_no_more_than_all(pool):
    everyone, few = pool.agents(), pool.sample(jax.random.key(0), 3)
    count = len(everyone.preferred)
    assert len(pool.sample(jax.random.key(0), count + 5).preferred) == count
    known = {row.tobytes() for row in np.asarray(everyone.network.hidden.weight)}
    assert {row.tobytes() for row in np.asarray(few.network.hidden.weight)} <= known
    other = pool.sample(jax.random.key(1), 3)
    assert (few.preferred != other.preferred).any() or (few.senses.reach != other.senses.reach).any()


def test_whoever_has_nothing_to_make_ready_is_itself():
    oracle = Oracle(jnp.int32(0))
    assert oracle.ready() is oracle
    assert TeacherForced(oracle, jnp.arange(3)).ready().agent is oracle
