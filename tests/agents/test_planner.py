"""Goal-driven agents, against breadth-first distances and on levels whose best move a reader can see."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import DOWN, LEFT, RIGHT, STAY, UP, around, distances_to, sample_levels, within

from tomnet.agents.planner import Planner, PlannerSpecies, action_values, best_actions, is_greedy
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import World, nothing_yet, reset_to_level
from tomnet.world.levels import parse_level

WORLD = World(size=7, objects=4, max_walls=4)
ROOM = World(size=5, objects=2, max_walls=1, step_limit=12)
MOVE_COST, GREEDY_COST, WALL_COST = 0.01, 0.5, 0.05
LEVELS = 60


@eqx.filter_jit
def plan_in(agent: Planner, level, world: World):
    return agent.start(reset_to_level(level), world)


def goal_driven(*rewards: float, cost: float = MOVE_COST) -> Planner:
    return Planner(jnp.array(rewards, float), jnp.array(cost), jnp.array(WALL_COST))


def first_moves(picture: str, agent: Planner, world: World = ROOM) -> dict[int, float]:
    """The actions that the agent may take at the start of a drawn level, with their probabilities."""
    level = parse_level(picture, world)
    policy = np.asarray(plan_in(agent, level, world))[int(level.start_cell)]
    return {action: float(probability) for action, probability in enumerate(policy) if probability > 0}


# --- Against breadth-first distances


def expected_policy(walls, object_cells, rewards, cost: float, limit: int) -> dict[int, set[int]]:
    """The best actions in each free cell, from distances alone; cells with a near tie are left out."""
    objects = {int(cell): k for k, cell in enumerate(object_cells)}
    paths = [distances_to(cell, walls, avoid=objects.keys() - {cell}) for cell in objects]

    def worth(cell: int) -> float:
        reached = [rewards[k] - cost * found[cell] for k, found in enumerate(paths) if cell in found]
        return max(reached, default=-cost * (limit - 1))

    policy = {}
    for cell in range(walls.size):
        if walls.reshape(-1)[cell] or cell in objects:
            continue
        values = []
        for there in around(walls.shape[0], cell):
            if there is None or walls.reshape(-1)[there]:
                values.append(worth(cell) - cost - WALL_COST)
            else:
                values.append((rewards[objects[there]] if there in objects else worth(there)) - cost)
        behind = max(values) - np.array(values)
        if not ((behind > 1e-5) & (behind < 1e-3)).any():
            policy[cell] = set(np.flatnonzero(behind <= 1e-5).tolist())
    return policy


@pytest.fixture(scope="module")
def planned():
    """Three kinds of agents on the same random levels: the levels, the agents and their whole plans."""
    levels = sample_levels(jax.random.key(0), WORLD, LEVELS)
    random = np.random.default_rng(0)
    one_hot = np.eye(4)[random.integers(0, 4, LEVELS)]
    mixed = random.dirichlet(np.ones(4), LEVELS)
    rewards = jnp.asarray(np.stack([one_hot, mixed, mixed]), jnp.float32)
    costs = jnp.broadcast_to(jnp.array([[MOVE_COST], [MOVE_COST], [GREEDY_COST]]), (3, LEVELS))
    agents = Planner(rewards, costs, jnp.full((3, LEVELS), WALL_COST))
    on_its_level = jax.vmap(plan_in, in_axes=(0, 0, None))
    plans = eqx.filter_jit(jax.vmap(on_its_level, in_axes=(0, None, None)))(agents, levels, WORLD)
    return jax.tree.map(np.asarray, (levels, agents, plans))


@pytest.mark.parametrize("kind", range(3), ids=["one-object", "mixed-rewards", "greedy"])
def test_agents_take_the_moves_that_breadth_first_distances_call_best(planned, kind):
    levels, agents, plans = planned
    checked = 0
    for i in range(LEVELS):
        rewards, cost = agents.object_rewards[kind, i], float(agents.move_cost[kind, i])
        policy = expected_policy(levels.walls[i], levels.object_cells[i], rewards, cost, WORLD.step_limit)
        for cell, best in policy.items():
            equal = np.isin(np.arange(5), list(best)) / len(best)
            assert np.allclose(plans[kind, i, cell], equal, atol=1e-6), (i, cell)
            checked += 1
    assert checked > 30 * LEVELS


def test_an_agent_that_wants_one_object_walks_a_shortest_path_around_the_others(planned):
    levels, agents, plans = planned
    arrived = 0
    for i in range(LEVELS):
        wanted = int(agents.object_rewards[0, i].argmax())
        goal, cell = int(levels.object_cells[i, wanted]), int(levels.start_cell[i])
        found = distances_to(goal, levels.walls[i], avoid=set(levels.object_cells[i].tolist()) - {goal})
        for left in range(found.get(cell, 0), 0, -1):
            assert found[cell] == left
            cell = around(7, cell)[int(plans[0, i, cell].argmax())]
        arrived += cell == goal
    assert arrived > LEVELS / 2


def test_no_plan_ever_bumps_into_a_wall(planned):
    levels, _, plans = planned
    for i in range(LEVELS):
        for cell in np.flatnonzero(~levels.walls[i].reshape(-1)):
            targets = around(7, int(cell))
            blocked = [there is None or levels.walls[i].reshape(-1)[there] for there in targets]
            assert (plans[:, i, cell][:, blocked] == 0).all()


def test_plans_are_probabilities_everywhere(planned):
    _, _, plans = planned
    assert np.allclose(plans.sum(-1), 1, atol=1e-6)
    assert (plans >= 0).all()


# --- Drawn levels


def test_equally_good_moves_are_equally_likely():
    assert first_moves("A....\n.....\n..@..\n.....\n....B", goal_driven(1, 0)) == {UP: 0.5, LEFT: 0.5}
    assert first_moves(".....\n..A..\n.....\n..@B.\n.....", goal_driven(1, 0)) == {UP: 1.0}


def test_two_equally_wanted_objects_at_the_same_distance_are_equally_likely():
    assert first_moves(".....\n.....\nA.@.B\n.....\n.....", goal_driven(0.5, 0.5)) == {LEFT: 0.5, RIGHT: 0.5}


def test_an_object_in_the_way_is_walked_around():
    """Straight on would be two steps, but B ends the episode."""
    assert first_moves("#####\n#####\n@BA##\n...##\n#####", goal_driven(1, 0)) == {DOWN: 1.0}


def test_rows_and_cols_are_not_confused():
    picture = ".....\n.....\n.@..A\n.....\n....."
    assert first_moves(picture, goal_driven(1, 0)) == {RIGHT: 1.0}
    transposed = "\n".join(map("".join, zip(*picture.splitlines())))
    assert first_moves(transposed, goal_driven(1, 0)) == {DOWN: 1.0}


def test_a_trapped_agent_eats_the_only_object_in_reach():
    """Even a worthless one: every further step would cost."""
    picture = "@.B#A\n...#.\n####.\n.....\n....."
    assert first_moves(picture, goal_driven(1, 0)) == {RIGHT: 1.0}


def test_an_agent_whose_object_is_out_of_reach_takes_the_nearest_other():
    world = World(size=5, objects=3, max_walls=1, step_limit=12)
    picture = "...#A\nB.@#.\n...#.\n...#.\nC..#."
    assert first_moves(picture, goal_driven(1, 0, 0), world) == {LEFT: 1.0}
    assert first_moves(picture, goal_driven(0.9, 0, 0.1), world) == {LEFT: 0.5, DOWN: 0.5}


def test_an_absent_object_is_not_sought():
    assert first_moves("..@..\n.....\n.....\n.....\n..B..", goal_driven(1, 0)) == {DOWN: 1.0}


def test_with_nothing_in_reach_values_are_finite_and_no_wall_is_touched():
    picture = "..#.A\n.@#..\n###..\n....B\n....."
    level = parse_level(picture, ROOM)
    values = np.asarray(action_values(level.walls, level.object_cells, goal_driven(1, 0), ROOM.step_limit))
    assert np.isfinite(values).all()
    assert np.allclose(values[1, 1].max(), -MOVE_COST * ROOM.step_limit)  # it pays for every step it has
    assert np.allclose(values[1, 1, RIGHT], -MOVE_COST * ROOM.step_limit - WALL_COST)
    third = pytest.approx(1 / 3)
    assert first_moves(picture, goal_driven(1, 0)) == {UP: third, LEFT: third, STAY: third}


def test_an_agent_walled_in_on_all_sides_stays():
    assert first_moves("A.#..\n.#@#.\n..#..\n.....\n....B", goal_driven(1, 0)) == {STAY: 1.0}


def test_an_object_further_than_the_step_limit_is_out_of_reach():
    short = World(size=5, objects=2, max_walls=1, step_limit=3)
    three, four = "@..A.\n#####\n.....\n.....\n.....", "@...A\n#####\n.....\n.....\n....."
    assert first_moves(three, goal_driven(1, 0), short) == {RIGHT: 1.0}
    assert first_moves(four, goal_driven(1, 0), short) == {RIGHT: 0.5, STAY: 0.5}


def test_values_are_rewards_less_the_cost_of_every_step():
    level = parse_level("@..A.\n#####\n.....\n.....\n.....", ROOM)
    values = np.asarray(action_values(level.walls, level.object_cells, goal_driven(0.8, 0.2), ROOM.step_limit))
    bump, ahead, stay = 0.8 - 0.04 - 0.05, 0.8 - 0.03, 0.8 - 0.04
    assert np.allclose(values[0, 0], [bump, bump, bump, ahead, stay], atol=1e-6)


GREEDY_LEVEL = ".....\n.....\nB@..A\n.....\n....."


def test_a_greedy_agent_takes_the_nearest_object_where_a_goal_driven_one_goes_far():
    assert first_moves(GREEDY_LEVEL, goal_driven(1, 0)) == {RIGHT: 1.0}
    assert first_moves(GREEDY_LEVEL, goal_driven(1, 0, cost=GREEDY_COST)) == {
        RIGHT: 0.5,
        LEFT: 0.5,
    }  # 1 − 3·½ = 0 − ½
    assert first_moves(GREEDY_LEVEL, goal_driven(0.9, 0.1, cost=GREEDY_COST)) == {LEFT: 1.0}


def test_the_policy_is_the_plan_for_the_cell_where_the_agent_stands():
    level = parse_level(GREEDY_LEVEL, ROOM)
    agent, state = goal_driven(1, 0), reset_to_level(level)
    plan = jnp.asarray(np.random.default_rng(0).dirichlet(np.ones(5), 25), jnp.float32)
    policy, memory = agent.policy(plan, state, nothing_yet(), ROOM)
    assert np.array_equal(policy, plan[2 * 5 + 1])
    assert memory is plan


def test_best_actions_share_probability_within_the_tolerance_only():
    values = jnp.array([[1.0, 1.0 - 5e-5, 1.0 - 5e-4, 0.0, -jnp.inf], [0.0, 0.0, 0.0, 0.0, 0.0]])
    assert np.allclose(best_actions(values), [[0.5, 0.5, 0, 0, 0], [0.2] * 5])


@pytest.mark.parametrize("rewards", [1, 3])
def test_an_agent_with_rewards_for_another_number_of_objects_is_refused(rewards):
    """JAX would clip the index, and value an object by another one's reward."""
    with pytest.raises(BadSetting, match="object"):
        first_moves(GREEDY_LEVEL, goal_driven(*np.eye(rewards)[0]))


def test_a_world_where_eating_does_not_end_the_episode_is_refused():
    """Even with a reward for each object: the plan would end at the subgoal, and the episode would not."""
    world = World(size=5, objects=1, subgoal=True, max_walls=1, step_limit=12)
    with pytest.raises(BadSetting, match="subgoal = True: planners"):
        first_moves("@.*.A\n.....\n.....\n.....\n.....", goal_driven(1, 0), world)


# --- Species


@pytest.fixture(scope="module")
def population():
    species = PlannerSpecies(objects=4, alpha=0.3, greedy_share=0.2)
    agents = species.sample(jax.random.key(0), 5000)
    return np.asarray(is_greedy(agents, species)), jax.tree.map(np.asarray, agents)


def test_a_population_is_one_stacked_agent(population):
    _, agents = population
    assert isinstance(agents, Planner)
    assert agents.object_rewards.shape == (5000, 4)
    assert agents.move_cost.shape == agents.wall_cost.shape == (5000,)


def test_rewards_are_drawn_from_the_dirichlet(population):
    _, agents = population
    assert np.allclose(agents.object_rewards.sum(-1), 1, atol=1e-5)
    assert (agents.object_rewards >= 0).all()
    variance = (1 / 4) * (3 / 4) / (4 * 0.3 + 1)
    assert all(within(mean, 1 / 4, variance, 5000) for mean in agents.object_rewards.mean(0))
    assert np.allclose(agents.object_rewards.var(0), variance, rtol=0.08)


def test_the_papers_species_wants_one_object_and_almost_nothing_else():
    rewards = np.asarray(PlannerSpecies().sample(jax.random.key(1), 5000).object_rewards)
    assert np.isfinite(rewards).all()
    assert np.allclose(rewards.sum(-1), 1, atol=1e-5)
    assert (rewards.max(-1) > 0.9).mean() > 0.9
    assert all(within(share, 1 / 4, 3 / 16, 5000) for share in np.bincount(rewards.argmax(-1)) / 5000)


def test_the_greedy_share_pays_more_for_moving_and_all_pay_the_same_for_walls(population):
    greedy, agents = population
    assert within(greedy.mean(), 0.2, 0.2 * 0.8, 5000)
    assert set(agents.move_cost[greedy].tolist()) == {np.float32(0.5)}
    assert set(agents.move_cost[~greedy].tolist()) == {np.float32(0.01)}
    assert set(agents.wall_cost.tolist()) == {np.float32(0.05)}


def test_greed_and_preference_are_independent(population):
    greedy, agents = population
    assert abs(np.corrcoef(greedy, agents.object_rewards[:, 0])[0, 1]) < 4 / 5000**0.5


def test_without_a_greedy_share_no_one_is_greedy():
    species = PlannerSpecies(objects=4, alpha=0.3, greedy_share=0.0)
    assert not is_greedy(species.sample(jax.random.key(0), 5000), species).any()


@pytest.mark.parametrize(
    ("setting", "field"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": -1.0}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"alpha": float("inf")}, "alpha"),
        ({"greedy_share": -0.1}, "greedy_share"),
        ({"greedy_share": 1.5}, "greedy_share"),
        ({"move_cost": -0.01}, "move_cost"),
        ({"wall_cost": -0.01}, "wall_cost"),
        ({"greedy_move_cost": -0.5}, "greedy_move_cost"),
        ({"move_cost": float("nan")}, "move_cost"),
        ({"objects": 0}, "objects"),
    ],
)
def test_a_species_that_cannot_be_drawn_is_refused_by_name(setting, field):
    with pytest.raises(BadSetting) as refused:
        PlannerSpecies(**setting)
    assert refused.value.field == field
