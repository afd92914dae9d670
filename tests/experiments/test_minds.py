"""Observers and small agents together: who is met, and what must come out whatever the weights are."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from experiments.minds_small import WORLD, save_populations
from helpers import made_up, pick, says

from tomnet import zoo
from tomnet.agents import population as populations
from tomnet.episodes.episode import QueryState
from tomnet.episodes.history import History
from tomnet.experiments import explicit_beliefs, false_beliefs, false_beliefs_mixed, unseen_swaps
from tomnet.experiments.agent_pool import AgentPool
from tomnet.experiments.experiment import ObserverSpec
from tomnet.experiments.sally_anne import specs
from tomnet.experiments.sally_anne.counterfactuals import check_observer, predict_counterfactuals
from tomnet.experiments.sally_anne.natural_swaps import (
    agents_futures,
    asked_after,
    effects_of,
    predictions,
    rollouts_for,
)
from tomnet.experiments.sally_anne.scenarios import all_scenarios
from tomnet.experiments.sally_anne.swap_curves import curves
from tomnet.experiments.sally_anne.swap_effects import pairs_by_network, swap_table
from tomnet.experiments.sally_anne.turning_back import Turns, pictures, run_scenarios, turning_table
from tomnet.experiments.sally_anne.walks import take_walks, watch
from tomnet.observer.checkpoint import save_observer
from tomnet.observer.config import ObserverConfig
from tomnet.observer.tomnet import read
from tomnet.support.errors import BadSetting, TomnetError
from tomnet.world.gridworld import MAZE, SUBGOAL_MAZE, World

TINY = ObserverConfig(
    objects=5,
    embedding=3,
    channels=4,
    character_channels=4,
    mental_channels=4,
    character_depth=1,
    mental_depth=1,
    torso_depth=3,
    mental=True,
    heads=("action", "consumption", "successor", "belief"),
)
QUERY_ONLY = dataclasses.replace(TINY, character="none", mental=False)
TINY_BEHAVIOUR = dataclasses.replace(TINY, heads=("action", "consumption", "successor"))
SMALL_TRAINING, SWAPS_OFTEN = specs.DEEP_TRAINING["smoke"], specs.SWAP_TRAINING["smoke"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_populations(tmp_path_factory.mktemp("agents"), ("3x3", "5x5"), count=4)


@pytest.fixture(scope="module")
def pool(folder):
    return AgentPool(("5x5",), part="held out", folder=folder)


@pytest.fixture(scope="module")
def observer():
    return made_up(TINY)


# --- Whom they meet


def test_populations_are_those_of_the_paper():
    for preset in ("smoke", "laptop", "full"):
        five, mixed, still = (module.specs(preset)[0] for module in (false_beliefs, explicit_beliefs, unseen_swaps))
        assert five.species == AgentPool(("5x5",))
        assert mixed.species == still.species == AgentPool(("blind", "3x3", "5x5", "7x7", "9x9"), beliefs=True)
        assert (mixed.world.swap_probability, still.world.swap_probability) == (0.1, 0.0)
        assert dataclasses.replace(still.world, swap_probability=0.1) == mixed.world == SUBGOAL_MAZE
        for spec in (five, mixed, still):
            assert (spec.encounter_spec.min_past, spec.encounter_spec.max_past) == (4, 4)
            assert (spec.observer.embedding, spec.observer.mental, spec.observer.objects) == (8, True, 5)
    assert five.observer.heads == ("action", "consumption", "successor")
    met = [one.training.met_after(one.training.steps) for one in (five, mixed, still)]
    assert [one["encounters"] for one in met] == [10_240_000, 10_240_000, 4_096_000]
    assert all(one["queries"] == 8 * one["encounters"] for one in met)
    assert [one.training.swap_probability for one in (five, mixed, still)] == [0.5, 0.5, None]


def test_the_control_is_the_mixed_observer_without_anything_to_read():
    """Nor with swaps more often than there are: who cannot see one must not be told wrong how often there is."""
    mixed, control = explicit_beliefs.specs("full")
    assert (control.observer.character, control.observer.mental) == ("none", False)
    assert dataclasses.replace(control.observer, character="episodes", mental=True) == mixed.observer
    assert control.training == dataclasses.replace(mixed.training, swap_probability=None)
    assert (control.met, control.name) == (mixed.met, "control")
    for module in (false_beliefs, unseen_swaps):
        assert module.specs("full")[1] == dataclasses.replace(control, home="explicit-beliefs")


def test_one_observer_serves_two_experiments(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    borrowed, own = false_beliefs_mixed.specs("full")[0], explicit_beliefs.specs("full")[0]
    assert dataclasses.replace(borrowed, home=None) == own
    assert not zoo.available("false-beliefs-mixed")
    path = tmp_path / "explicit-beliefs" / "mixed.safetensors"
    save_observer(path, made_up(TINY), says("explicit-beliefs", "mixed"))
    assert zoo.available("false-beliefs-mixed")
    assert not zoo.available("explicit-beliefs")
    save_observer(path.with_name("control.safetensors"), made_up(QUERY_ONLY), says("explicit-beliefs", "control"))
    assert zoo.available("explicit-beliefs")
    assert eqx.tree_equal(zoo.load("false-beliefs-mixed")["mixed"], zoo.load("explicit-beliefs")["mixed"])


def test_an_observer_of_beliefs_needs_agents_that_tell_theirs():
    spec = explicit_beliefs.specs("smoke")[0]
    with pytest.raises(BadSetting, match="beliefs = False: the observer 'mixed' learns beliefs, and nobody tells"):
        dataclasses.replace(spec, species=dataclasses.replace(spec.species, beliefs=False))


def test_few_encounters_ask_few_agents(folder):
    """Eight agents are in the pool; for seven encounters, two of which share a past, four of them play. Where none is
    shared, two of them do, and their episodes change roles; and so they do where encounters are held out."""
    spec = ObserverSpec(
        "few", AgentPool(("3x3",), folder=folder), WORLD, specs.ENCOUNTERS, TINY_BEHAVIOUR, SWAPS_OFTEN, reuse=5
    )
    plain = dataclasses.replace(SMALL_TRAINING, currents=1, queries=1)
    alone = dataclasses.replace(spec, training=plain)
    played = []

    class Counting(ObserverSpec):
        def draw_encounters(self, key, agents, **how):
            played.append(agents.preferred.shape[0])
            return super().draw_encounters(key, agents, **how)

    changing = dataclasses.replace(spec, training=SMALL_TRAINING)
    expected = (
        (spec, False, 4, (4, 2, 4), (4, 2, 3)),
        (changing, False, 4, (4, 2, 5), (4, 2, 3)),
        (spec, True, 2, (2, 5, 5), (2, 5)),
        (alone, False, 2, (7, 4), (7,)),
        (alone, True, 2, (7, 4), (7,)),
    )
    for asked, held_out, count, real, queries in expected:
        sampler = Counting(**vars(asked)).sampler(held_out=held_out)
        shapes = eqx.filter_eval_shape(sampler, jax.random.key(0), 7)
        assert played.pop() == count
        assert shapes.past_real.shape == real
        assert shapes.query.agent_cell.shape == queries
        assert (shapes.weight is not None) == (asked is spec and not held_out)


def moved(episodes) -> np.ndarray:
    """In which episodes an object other than the subgoal changed its place."""
    cells, lengths = np.asarray(episodes.object_cells)[..., :4], np.asarray(episodes.length)
    real = np.arange(1, cells.shape[-2]) < lengths[..., None]
    return ((cells[..., 1:, :] != cells[..., :-1, :]).any(-1) & real).any(-1)


def test_swaps_are_drawn_more_often_in_current_episodes_alone_and_never_where_there_are_none(folder):
    """With random weights agents wander, and some come by the subgoal. That there are none takes fewer to see."""
    shares = []
    for module, count in ((false_beliefs, 400), (unseen_swaps, 80)):
        spec = module.specs("smoke")[0]
        spec = dataclasses.replace(spec, species=AgentPool(("3x3",), folder=folder), observer=TINY_BEHAVIOUR)
        met = eqx.filter_jit(spec.sampler())(jax.random.key(0), count)
        eaten = (np.asarray(met.past.consumed) == 4).any(-1)
        assert eaten.mean() > 0.05
        shares += [moved(met.past)[eaten].mean(), moved(met.recent).mean() / eaten.mean()]
    assert 0 < shares[0] < 0.2 < shares[1] < 0.6
    assert shares[2:] == [0, 0]


def test_a_zoo_without_agents_says_so_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(populations, "PRETRAINED", tmp_path)
    with pytest.raises(TomnetError, match="the zoo holds no agents of the condition 5x5; `tomnet agents train`"):
        false_beliefs.specs("smoke")[0].sampler()


# --- What an observer can be asked


@pytest.mark.parametrize(
    ("config", "world", "heads", "why"),
    [
        (TINY, dataclasses.replace(SUBGOAL_MAZE, size=9), (), "size = 9: this observer knows grids of 11"),
        (TINY, MAZE, (), "objects = 4: this observer knows 5, the subgoal included"),
        (TINY_BEHAVIOUR, SUBGOAL_MAZE, ("belief",), "heads = action, consumption, successor: .* predict 'belief'"),
        (dataclasses.replace(TINY, mental=False), SUBGOAL_MAZE, (), "mental = False"),
    ],
)
def test_what_an_observer_cannot_be_asked(config, world: World, heads, why):
    with pytest.raises(BadSetting, match=why):
        check_observer(made_up(config), world, heads)


def test_asking_about_many_worlds_gives_what_asking_about_each_does(observer, pool):
    spec = ObserverSpec("one", pool, WORLD, specs.ENCOUNTERS, TINY_BEHAVIOUR, SMALL_TRAINING)
    encounters = eqx.filter_jit(spec.draw_encounters)(jax.random.key(3), pool.agents(), past=4)
    assert encounters.recent is not None
    history = encounters.history
    other = eqx.tree_at(lambda q: q.agent_cell, encounters.query, (encounters.query.agent_cell + 1) % 121)
    told = predict_counterfactuals(
        observer, history, jax.tree.map(lambda *leaves: jnp.stack(leaves), encounters.query, other)
    )
    for world, query in enumerate((encounters.query, other)):
        expected = read(observer, eqx.tree_at(lambda e: e.query, encounters, query)).predictions
        assert np.allclose(told.action[world], np.exp(expected.action), atol=1e-5)
        assert np.allclose(told.belief[world], np.exp(expected.belief), atol=1e-5)
        assert np.allclose(told.successor[world], np.exp(expected.successor), atol=1e-5)


# --- Natural swaps


@pytest.fixture(scope="module")
def walks(pool):
    # eight times as many: they see 5×5. With this key some come by what they like, in view of a swap and out of view
    return take_walks(jax.random.key(16), pool, 16, 4, WORLD)


def test_who_sees_the_query_only_does_not_ask_whose_it_is(walks):
    """What the agent has done makes no difference to it; what lies where does."""
    unread = made_up(QUERY_ONLY)
    check_observer(unread, WORLD, ("action", "successor", "belief"))
    where, told = predictions(unread, walks)
    history, queries = asked_after(walks, where)
    other = eqx.tree_at(lambda history: history.past.actions, history, 4 - np.asarray(history.past.actions))
    others = predict_counterfactuals(
        unread, eqx.tree_at(lambda e: e.recent.actions, other, 0 * other.recent.actions), queries
    )
    assert (told.action == others.action).all()
    assert (told.belief == others.belief).all()
    assert (told.action[0] != told.action[1:]).any()
    read = made_up(TINY)
    assert (predictions(read, walks)[1].action != predict_counterfactuals(read, other, queries).action).any()


def test_walks_are_of_every_agent_with_a_past_of_its_own(walks):
    assert len(walks.agents) == 8
    assert walks.networks.tolist() == [0] * 4 + [1] * 4
    most = walks.kept.shape[1]
    assert walks.past.actions.shape[:3] == (8, most, 4)
    assert 0 < walks.kept.sum(1).max() == most < 8
    assert (np.diff(walks.kept.astype(int)) <= 0).all()  # those that are kept come first


def test_past_episodes_are_shared_by_neighbours_and_never_twice_in_one_history(walks):
    seen = watch(jax.random.key(5), walks.agents[0], 6, 4, WORLD)
    starts = np.concatenate([seen.agent_cells[..., 0:1], seen.object_cells[..., 0, :]], -1)
    assert (starts[0, 1:] == starts[1, :-1]).all()
    for history in starts:
        assert len(np.unique(history, axis=0)) == 4


def test_what_is_out_of_view_changes_no_agent_and_what_is_in_view_does(walks, observer):
    found = effects_of(walks, observer)
    assert len(found.distance) == 4 * walks.kept.sum()
    assert (found.agents["policy"][~found.in_view] == 0).all()
    assert (found.agents["belief"][~found.in_view] == 0).all()
    assert (found.agents["policy"][found.in_view] > 0).any()
    assert np.isnan(found.agents["successor"]).all()
    assert found.observer["policy"].shape == found.distance.shape
    assert found.observer["successor"].shape == (*found.distance.shape, 3)
    for what in ("policy", "belief", "successor"):
        assert ((found.observer[what] >= 0) & (found.observer[what] <= np.log(2) + 1e-6)).all()
    table = curves(found, WORLD.size)
    assert table.out_of_view.agents["policy"].mean == 0
    assert table.in_view.agents["policy"].mean > 0


def test_each_prediction_is_about_the_world_it_was_asked_about(walks, observer):
    """The first kept walk again, by itself: the same predictions, swap by swap."""
    where, told = predictions(observer, walks)
    agent, level = where[0]
    pairs = walks.pairs[agent]
    state = pick(pairs.rollout_state.state, level)
    before, way = (
        pick(walks.past, (np.array([agent]), np.array([level]))),
        pick(pairs.episodes, slice(level, level + 1)),
    )
    history = History.of(before, way)
    for swap in range(4):
        query = QueryState(state.walls, state.agent_cell, jnp.asarray(pairs.object_cells[swap, level]))
        alone = predict_counterfactuals(observer, history, jax.tree.map(lambda leaf: leaf[None, None], query))
        assert np.allclose(alone.action[0, 0], told.action[1 + swap, 0], atol=1e-5)


def test_networks_are_counted_once_whatever_they_prefer(walks):
    merged = pairs_by_network(walks.pairs, walks.networks)
    assert len(merged) == 2
    assert merged[0].kept.tolist() == np.concatenate([pairs.kept for pairs in walks.pairs[:4]]).tolist()
    table = swap_table(merged)
    assert table.levels == 8 * 16
    assert table.out_of_view.policy.largest == 0


def test_futures_are_rolled_out_for_some_pairs_at_each_distance(walks):
    apart = agents_futures(jax.random.key(1), walks, each=3, rollouts=2)
    measured = np.isfinite(apart).all(1)
    found = effects_of(walks, made_up(TINY), apart)
    for far in np.unique(found.distance):
        assert 1 <= measured[found.distance == far].sum() <= 3
    assert (apart[measured] >= 0).all()
    assert rollouts_for(40) == 4
    assert rollouts_for(500) == rollouts_for(1000) == 50


# --- The hand-made test


def test_agents_do_not_turn_back_less_for_what_they_cannot_see(pool, observer):
    scenarios = all_scenarios(SUBGOAL_MAZE, (1, 3, 5))
    turns = run_scenarios(jax.random.key(0), pool, scenarios, 2, observer, WORLD)
    assert turns.agents.shape == turns.observer.shape == (8, 12, 4)
    table = turning_table(turns)
    assert [row.distance for row in table.by_distance] == [1, 3, 5]
    unmoved, moved = table.out_of_view.agents["drop"], table.in_view.agents["drop"]
    assert (unmoved.mean, unmoved.interval) == (0.0, (0.0, 0.0))
    assert moved.mean != 0
    assert (table.gap["agents"].mean, table.gap["agents"].interval) == (moved.mean, moved.interval)
    seen, unseen = (side.observer["drop"].mean for side in (table.in_view, table.out_of_view))
    assert table.gap["observer"].mean == pytest.approx(seen - unseen)
    assert table.by_distance[0].pairs == 4 * 8 * 3


def test_what_a_swap_in_view_takes_more_is_counted_network_by_network():
    """Networks that differ much, and all in the same way: what they have in common is known exactly."""
    without = np.array([0.9, 0.9, 0.2, 0.2])  # two agents of each of two networks
    worlds = np.stack([np.stack([without, without * (1 - drop)], 1) for drop in (0.8, 0.3)], 1)
    table = turning_table(Turns(worlds, worlds, np.array([0, 0, 1, 1]), np.array([1, 3]), reach=2))
    for who in ("agents", "observer"):
        assert table.gap[who].mean == pytest.approx(0.5)
        assert table.gap[who].interval == pytest.approx((0.5, 0.5))
        assert table.in_view.of(who)["swap"].mean == pytest.approx(0.2 * 0.55)


def test_pictures_show_the_way_and_the_swap(pool):
    agent = pick(pool.agents(), 1)
    near, far = pictures(all_scenarios(SUBGOAL_MAZE), agent, WORLD)
    assert (near.distance, far.distance) == (2, 4)
    assert far.episode.actions == [3, 3, 3, 3, 1]
    assert far.preferred == 1
    assert far.no_swap.object_cells[1] == 3 * 11 + 1
    assert far.swap.object_cells[1] != 3 * 11 + 1
    assert far.swap.object_cells[4] == -1
