"""Whether agents act on what they remember: levels that differ in one thing alone, agents whose answer is known."""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import NETWORK, WORLD, made_up_population

from tomnet.agents.actor_critic import DeepAgent
from tomnet.episodes.rollout import continue_rollout, start_rollout
from tomnet.experiments.analysis.population_evaluation import canonical_agents
from tomnet.experiments.sally_anne.acts_on_memory import (
    DependsOnPast,
    acts_on_memory,
    depends_on_past,
    never_there,
    other_pasts,
    turning_back,
)
from tomnet.experiments.sally_anne.scenarios import PREFERRED, Scenario, all_scenarios, lead, scenario, stacked
from tomnet.experiments.sally_anne.swap_effects import without_swaps
from tomnet.experiments.sally_anne.visibility import distance, objects_in_view
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import ACTIONS, SUBGOAL_MAZE, Level
from tomnet.world.levels import draw_levels, format_level, parse_level
from tomnet.world.views import field

PASSING = """
@....
A.*..
..#..
.....
...BC
"""
NINE_BY_NINE = 4  # how far such agents see


@pytest.fixture(scope="module")
def drawn() -> list[Scenario]:
    return all_scenarios(SUBGOAL_MAZE)


@pytest.fixture(scope="module")
def passing() -> Scenario:
    return scenario(PASSING, "rrd", WORLD)


def agents_of(condition: str, count: int = 2) -> list[DeepAgent]:
    return canonical_agents(made_up_population(condition, count))


# --- Levels


def test_where_it_never_was_a_lies_far_on_the_other_side(drawn):
    four = next(each for each in drawn if each.distance == 4)
    before, after = (
        format_level(each.level, SUBGOAL_MAZE).splitlines() for each in (four, never_there(four, 4, SUBGOAL_MAZE))
    )
    assert before[3] == ".A...*....."
    assert after[3] == ".....*....."
    assert after[9] == "..........A"
    assert [row for row in range(11) if before[row] != after[row]] == [3, 9]


def test_no_agent_sees_it_on_any_walk_and_the_walks_are_the_same(drawn):
    agent = canonical_agents(made_up_population("9x9", 1, dataclasses.replace(NETWORK, size=11, kinds=5)))[0]
    controls = [never_there(each, NINE_BY_NINE, SUBGOAL_MAZE) for each in drawn]
    ways, ends = zip(
        *(lead(agent, *stacked(each, PREFERRED), without_swaps(SUBGOAL_MAZE)) for each in (drawn, controls))
    )
    for what in ("agent_cells", "actions", "final_cell", "consumed"):
        assert eqx.tree_equal(*(getattr(way, what) for way in ways))
    seen = [objects_in_view(way, NINE_BY_NINE)[..., PREFERRED] for way in ways]
    assert seen[0].any(1).all()
    assert not seen[1].any()
    assert all((np.asarray(end.last.consumed) == SUBGOAL_MAZE.objects).all() for end in ends)
    state = jax.tree.map(np.asarray, ends[1].state)  # nor is it in view at the subgoal
    assert (distance(state.agent_cell, state.object_cells[:, PREFERRED], 11) > NINE_BY_NINE + 1).all()


def test_the_step_back_does_not_lead_there(drawn):
    for each in drawn:
        control = never_there(each, NINE_BY_NINE, SUBGOAL_MAZE)
        there, subgoal = (divmod(int(control.level.object_cells[kind]), 11) for kind in (PREFERRED, 4))
        axis, sign = {"up": (0, -1), "down": (0, 1), "left": (1, -1), "right": (1, 1)}[ACTIONS[each.back]]
        assert sign * (there[axis] - subgoal[axis]) < 0


def test_a_level_without_a_cell_to_hide_in_is_refused_in_one_line(passing):
    crowded = parse_level("@..##\nA.*##\n..###\n#####\n###BC", WORLD)
    with pytest.raises(BadSetting) as refused:
        never_there(dataclasses.replace(passing, level=crowded), 1, WORLD)
    why = "level = 'A': is in view on the walk even in the free cell furthest from its place"
    assert str(refused.value) == why


def test_a_step_that_leads_to_it_in_both_levels_is_refused(passing):
    walled = dataclasses.replace(passing, back=ACTIONS.index("right"))
    with pytest.raises(BadSetting, match="level = right: leads to A where it was never seen as well"):
        never_there(walled, 1, WORLD)


# --- Acting


class Homesick(DeepAgent):
    """Steps back, to the left, as often as it is told to if it has ever seen A; else it stays."""

    likely: float = 1.0

    def start(self, state, world):
        return jnp.bool_(False)

    def policy(self, memory: Any, state, last, world):
        sees = field(state.agent_cell, self.senses.reach, world.size).reshape(-1)[state.object_cells[PREFERRED]]
        left = jnp.where(memory | sees, self.likely, 0.0)
        return jnp.array([0, 0, 1, 0, 0]) * left + jnp.array([0, 0, 0, 0, 1]) * (1 - left), memory | sees

    def belief(self, memory, world):
        return jnp.zeros((world.kinds, world.cells + 1))


def test_an_agent_that_goes_where_it_remembers_something(passing):
    (agent,) = agents_of("3x3", 1)
    agents: list[DeepAgent] = [Homesick(**vars(agent), likely=likely) for likely in (0.9, 0.7)]
    table = acts_on_memory(agents, [passing], WORLD)
    assert table.beyond_view.each == pytest.approx([0.9, 0.7])
    assert table.beyond_view.mean == pytest.approx(0.8)
    assert table.never_there.each == [0, 0]
    assert (table.reach, table.beyond_view.count, table.scenarios) == (1, 2, 1)
    (row,) = table.by_distance
    assert (row.distance, row.in_view) == (2, False)
    assert row.turning_back == table.beyond_view


def test_what_is_in_view_needs_no_memory_and_does_not_count(passing):
    table = acts_on_memory(agents_of("5x5"), [passing], WORLD)
    assert table.scenarios == 0
    assert np.isnan(table.beyond_view.mean)
    assert np.isnan(table.never_there.each).all()
    (row,) = table.by_distance
    assert row.in_view
    assert row.turning_back.mean != row.never_there.mean


def test_who_sees_nothing_or_keeps_nothing_cannot_tell_the_two_apart(passing):
    for agents in (
        agents_of("blind"),
        [eqx.tree_at(lambda a: a.senses.remembers, each, jnp.bool_(False)) for each in agents_of("3x3")],
    ):
        table = acts_on_memory(agents, [passing], WORLD)
        assert table.scenarios == 1
        assert table.beyond_view == table.never_there
    remembering = acts_on_memory(agents_of("3x3"), [passing], WORLD)
    assert remembering.beyond_view.each != remembering.never_there.each


def test_the_probability_is_that_of_the_step_back(passing):
    (agent,) = agents_of("3x3", 1)
    every = [turning_back(agent, [dataclasses.replace(passing, back=action)], WORLD)[0] for action in range(5)]
    assert sum(every) == pytest.approx(1)
    assert len({round(each, 4) for each in every}) == 5


# --- The past


@pytest.fixture(scope="module")
def rollout_state():
    """States along a few walks to the right, three steps into each."""
    levels = draw_levels(jax.random.key(0), 8, WORLD)
    (agent,) = agents_of("3x3", 1)

    @eqx.filter_jit
    def walk(key, level: Level):
        return continue_rollout(key, agent, start_rollout(agent, level, WORLD), WORLD, 3).end

    return jax.vmap(walk)(jax.random.split(jax.random.key(1), 8), levels)


def test_pasts_differ_in_memory_previous_action_and_reward_and_states_do_not(rollout_state):
    pasts = other_pasts(rollout_state, WORLD)
    assert [int(past.last.action[0]) for past in pasts] == [0, 1, 2, 3, 4]
    assert all(eqx.tree_equal(past.state, rollout_state.state) for past in pasts)
    assert len({np.asarray(past.memory.cell[0]).tobytes() for past in pasts}) == 5
    (agent,) = agents_of("3x3", 1)
    worth = {float(agent.rewards.of(jax.tree.map(lambda leaf: leaf[0], past.last), WORLD)) for past in pasts}
    assert len(worth) == 2


def test_the_policy_of_the_stateless_does_not_depend_on_the_past_at_all(rollout_state):
    agents = agents_of("3x3")
    stateless = [eqx.tree_at(lambda agent: agent.senses.remembers, each, jnp.bool_(False)) for each in agents]
    table = depends_on_past(stateless, [rollout_state, rollout_state], WORLD)
    assert table == DependsOnPast(largest_change=0.0, each=[0.0, 0.0], states=16, pasts=5)
    remembering = depends_on_past(agents, [rollout_state, rollout_state], WORLD)
    assert remembering.largest_change == max(remembering.each) > 0.01


@pytest.mark.parametrize("part", ["memory", "last"])
def test_a_leak_of_any_part_of_the_past_would_be_seen(rollout_state, part, monkeypatch):
    """Pasts that differ in their memories alone, and in what was done alone."""

    def some(rollout_state, world):
        return [
            dataclasses.replace(rollout_state, **{part: getattr(past, part)})
            for past in other_pasts(rollout_state, world)
        ]

    monkeypatch.setattr("tomnet.experiments.sally_anne.acts_on_memory.other_pasts", some)
    assert depends_on_past(agents_of("3x3", 1), [rollout_state], WORLD).largest_change > 0.001
