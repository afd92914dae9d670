"""Encounters, with players whose episodes are numbered so that a reader can see who went where."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import within
from jaxtyping import Array, Int

from tomnet.episodes.encounter import Encounter, EncounterSpec
from tomnet.episodes.episode import NONE, Episode, Snapshot
from tomnet.episodes.observer_view import NearObjectsOnly, NoisyActions, OfThePast
from tomnet.episodes.sampling import Oversampled, draw_encounters
from tomnet.support.errors import BadSetting

AGENTS, LENGTH, TIME = 3000, 7, 9

compiled = eqx.filter_jit(draw_encounters)


class Numbered(eqx.Module):
    number: Int[Array, "*population"]


def numbered_episodes(key: Array, agent: Numbered, count: int) -> Episode:
    """Object cells are labels: the agent, then the episode. The agent stands in the cell of the time."""
    episodes, times = jnp.arange(count), jnp.arange(TIME)
    real = times < LENGTH
    labels = jnp.stack([jnp.broadcast_to(agent.number, count), episodes], -1)
    return Episode(
        walls=jnp.zeros((count, 5, 5), bool),
        agent_cells=jnp.broadcast_to(times, (count, TIME)),
        object_cells=jnp.broadcast_to(labels[:, None], (count, TIME, 2)),
        actions=jnp.where(real, (episodes[:, None] + times) % 5, NONE),
        consumed=jnp.where(times == LENGTH - 1, episodes[:, None] % 2, NONE),
        final_cell=jnp.full(count, 24),
        length=jnp.full(count, LENGTH),
    )


def encounters(encounter_spec: EncounterSpec, agents: int = AGENTS, seed: int = 0, **how) -> Encounter:
    population = Numbered(jnp.arange(agents))
    return jax.tree.map(
        np.asarray, compiled(jax.random.key(seed), population, numbered_episodes, encounter_spec, **how)
    )


def agent_of(state) -> np.ndarray:
    return state.object_cells[..., 0]


def episode_of(state) -> np.ndarray:
    return state.object_cells[..., 1]


@pytest.fixture(scope="module")
def whole():
    return encounters(EncounterSpec(0, 3))


@pytest.fixture(scope="module")
def reused():
    return encounters(EncounterSpec(0, 3), agents=200, reuse=4)


@pytest.fixture(scope="module")
def snapshots():
    return encounters(EncounterSpec(0, 3, snapshots=True), past=3)


@pytest.fixture(scope="module")
def in_the_middle():
    return encounters(EncounterSpec(1, 2, query_at_start=False))


@pytest.fixture(scope="module")
def asked_often():
    return encounters(EncounterSpec(2, 3, query_at_start=False), agents=200, currents=4)


@pytest.fixture(scope="module")
def asked_at_many_times():
    return encounters(EncounterSpec(2, 3, query_at_start=False), agents=1000, currents=2, queries=3)


def later_episodes(key: Array, agent: Numbered, count: int) -> Episode:
    """Numbered from 100 on: current ones that were never among the past."""
    episodes = numbered_episodes(key, agent, count)
    return eqx.tree_at(lambda e: e.object_cells, episodes, episodes.object_cells + jnp.array([0, 100]))


@pytest.fixture(scope="module")
def played_apart():
    """Each query counts as much as its time."""
    oversampled = Oversampled(later_episodes, lambda episode, time: time.astype(jnp.float32))
    spec = EncounterSpec(2, 3, query_at_start=False)
    return encounters(spec, agents=200, currents=6, queries=2, oversampled=oversampled)


# --- Several current episodes that share an agent's past


def test_shared_episodes_are_each_asked_about_after_some_of_the_others(asked_often):
    assert asked_often.past_real.shape == (200, 4, 4)
    assert asked_often.query.agent_cell.shape == asked_often.recent.length.shape == (200, 4)
    assert (agent_of(asked_often.query) == agent_of(asked_often.past)[:, :1, 0]).all()
    assert (episode_of(asked_often.query) == np.arange(4)).all()
    assert (episode_of(asked_often.past)[..., 0] == np.arange(4)).all()
    assert not asked_often.past_real[:, np.arange(4), np.arange(4)].any()  # nobody knows how the current one goes on
    counts = asked_often.past_real.sum(-1)
    assert set(counts.ravel().tolist()) == {2, 3}
    assert asked_often.past_real[:, 3, :2].all()  # the first ones, where not all are seen
    assert asked_often.past_real[:, 0, 1:3].all()
    times = asked_often.query.agent_cell
    assert (times == asked_often.recent.length).all()
    assert (times.std(1) > 0).mean() > 0.9  # each is asked at a time of its own
    assert (asked_often.targets.action == (np.arange(4) + times) % 5).all()


def test_one_by_one_keeps_what_shares_episodes_together(asked_often):
    flat = asked_often.one_by_one()
    assert flat.past.length.shape == (200, 4)
    assert flat.past_real.shape == (800, 4)
    assert (agent_of(flat.query) == np.repeat(agent_of(asked_often.past)[:, 0, 0], 4)).all()
    batches = jax.tree.map(lambda leaf: leaf.reshape(20, 10, *leaf.shape[1:]), asked_often).one_by_one()
    assert batches.past_real.shape == (20, 40, 4)
    assert (batches.targets.action.ravel() == flat.targets.action).all()
    assert flat.one_by_one() is flat


def test_an_episode_is_shown_if_any_query_comes_after_it(asked_often, whole):
    few = eqx.tree_at(lambda e: e.past_real, asked_often, asked_often.past_real & (np.arange(4) == 2))
    for encounters in (few, few.one_by_one()):
        assert encounters.history.shown.shape == (200, 4)
        assert (encounters.history.shown == (np.arange(4) == 2)).all()
    assert (whole.history.shown == whole.past_real).all()


# --- Several queries about each current episode


def test_queries_about_an_episode_are_asked_at_times_of_their_own(asked_at_many_times):
    met = asked_at_many_times
    times = met.query.agent_cell  # the agent stands in the cell of the time
    assert times.shape == met.targets.action.shape == (1000, 2, 3)
    assert (times == met.history.query_times).all()
    assert met.past_real.shape == (1000, 2, 4)
    assert (episode_of(met.query) == np.arange(2)[:, None]).all()
    assert (met.targets.action == (np.arange(2)[:, None] + times) % 5).all()


def test_queries_come_evenly_over_the_episode_each_from_a_part_of_its_own(asked_at_many_times):
    times = asked_at_many_times.query.agent_cell
    shares = np.bincount(times.ravel()) / times.size
    assert len(shares) == LENGTH
    assert all(within(share, 1 / LENGTH, 1 / LENGTH, times.size) for share in shares)
    assert (times.min((0, 1)) == [0, 2, 4]).all()  # thirds of seven steps
    assert (times.max((0, 1)) == [2, 4, 6]).all()


def test_the_current_episode_is_seen_up_to_the_last_query(asked_at_many_times):
    recent, times = asked_at_many_times.recent, asked_at_many_times.query.agent_cell
    assert (recent.length == times[..., -1]).all()
    hidden = np.arange(TIME) >= times[..., -1:]
    assert (recent.actions[hidden] == NONE).all()
    assert (recent.actions[~hidden] != NONE).all()


def test_one_by_one_keeps_queries_about_an_episode_together(asked_at_many_times):
    flat = asked_at_many_times.one_by_one()
    assert flat.past.length.shape == (1000, 4)
    assert flat.past_real.shape == (2000, 4)
    assert flat.recent.length.shape == (2000,)
    assert flat.history.query_times.shape == (2000, 3)
    assert (flat.query.agent_cell == flat.history.query_times.ravel()).all()
    assert (agent_of(flat.query) == np.repeat(np.arange(1000), 6)).all()
    assert flat.one_by_one() is flat


def test_more_queries_than_steps_ask_about_some_twice():
    met = encounters(EncounterSpec(0, 0, query_at_start=False), agents=50, queries=2 * LENGTH)
    assert (np.sort(met.query.agent_cell, -1) == np.repeat(np.arange(LENGTH), 2)).all()


# --- Current episodes played apart


def test_episodes_played_apart_are_never_among_the_past(played_apart):
    assert played_apart.past.length.shape == (200, 3)
    assert played_apart.past_real.shape == (200, 6, 3)
    assert (episode_of(played_apart.past) < 3).all()
    assert (episode_of(played_apart.query) == 100 + np.arange(6)[:, None]).all()
    assert (agent_of(played_apart.query) == np.arange(200)[:, None, None]).all()
    assert set(played_apart.past_real.sum(-1).ravel().tolist()) == {2, 3}
    assert played_apart.past_real[..., :2].all()


def test_each_query_about_them_has_a_weight(played_apart, asked_often):
    assert (played_apart.weight == played_apart.query.agent_cell).all()
    assert (played_apart.one_by_one().weight == played_apart.weight.ravel()).all()
    assert asked_often.weight is None


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ({"currents": 0}, "currents = 0: of an agent's 4 episodes"),
        ({"currents": 5}, "currents = 5: of an agent's 4 episodes"),
        ({"queries": 0}, "queries = 0: one at the start"),
        ({"queries": 2}, "queries = 2: one at the start of an episode, or several at any time of it"),
        ({"currents": 2, "reuse": 2}, "reuse = 2: must be 1 where current episodes share a past"),
    ],
)
def test_numbers_of_episodes_and_queries_that_make_no_sense_are_refused(how, why):
    with pytest.raises(BadSetting, match=why):
        draw_encounters(jax.random.key(0), Numbered(jnp.arange(2)), numbered_episodes, EncounterSpec(0, 3), **how)


# --- The past


def test_every_number_of_past_episodes_is_equally_likely_none_and_all_included(whole):
    counts = np.bincount(whole.past_real.sum(1), minlength=4) / AGENTS
    assert len(counts) == 4
    assert all(within(share, 1 / 4, 3 / 16, AGENTS) for share in counts)


def test_real_past_episodes_come_first(whole):
    assert (np.diff(whole.past_real.astype(int), axis=1) <= 0).all()


def test_a_range_that_does_not_start_at_none_is_kept(in_the_middle):
    assert set(in_the_middle.past_real.sum(1).tolist()) == {1, 2}


def test_a_fixed_number_of_past_episodes(snapshots):
    assert snapshots.past_real.all()
    assert not encounters(EncounterSpec(0, 3), agents=200, past=0).past_real.any()


def test_past_and_current_episode_are_the_same_agents(whole):
    assert agent_of(whole.query).tolist() == list(range(AGENTS))
    assert (agent_of(whole.past) == np.arange(AGENTS)[:, None, None]).all()


def test_the_current_episode_is_never_among_its_own_past(whole, reused):
    for met in (whole, reused):
        assert (episode_of(met.past)[:, :, 0] != episode_of(met.query)[:, None]).all()
        together = np.column_stack([episode_of(met.query), episode_of(met.past)[:, :, 0]])
        assert (np.sort(together, 1) == np.arange(4)).all()


def test_reused_episodes_take_turns_as_the_current_one(reused):
    by_agent = [set(episode_of(reused.query)[agent_of(reused.query) == agent].tolist()) for agent in range(200)]
    assert by_agent == [{0, 1, 2, 3}] * 200


def test_encounters_with_the_same_agent_are_spread_out(reused):
    """One after another, they would fill a batch with the same few agents."""
    assert agent_of(reused.query).tolist() == list(range(200)) * 4


def test_which_episode_comes_first_is_drawn_at_random(whole):
    shares = np.bincount(episode_of(whole.query)) / AGENTS
    assert all(within(share, 1 / 4, 3 / 16, AGENTS) for share in shares)


def test_snapshots_are_single_steps_drawn_evenly_over_the_episode(snapshots):
    assert isinstance(snapshots.past, Snapshot)
    assert snapshots.past.action.shape == (AGENTS, 3)
    times = snapshots.past.agent_cell
    shares = np.bincount(times.reshape(-1)) / times.size
    assert len(shares) == LENGTH  # never in the padding
    assert all(within(share, 1 / LENGTH, 1 / LENGTH, times.size) for share in shares)


def test_a_snapshot_shows_the_action_taken_in_that_state(snapshots):
    times, episodes = snapshots.past.agent_cell, episode_of(snapshots.past)
    assert np.array_equal(snapshots.past.action, (episodes + times) % 5)


# --- The query


def test_a_query_at_the_start_shows_the_first_state_and_asks_about_the_whole_episode(whole):
    assert whole.recent is None
    assert (whole.query.agent_cell == 0).all()
    assert np.array_equal(whole.targets.action, episode_of(whole.query) % 5)
    assert np.array_equal(whole.targets.consumption.argmax(-1), episode_of(whole.query) % 2)
    assert (whole.targets.consumption.sum(-1) == 1).all()


def test_a_query_reveals_no_action(whole):
    assert set(vars(whole.query)) == {"walls", "agent_cell", "object_cells"}


def test_a_query_in_the_middle_comes_at_any_time_of_the_episode(in_the_middle):
    times = in_the_middle.query.agent_cell
    shares = np.bincount(times) / AGENTS
    assert len(shares) == LENGTH
    assert all(within(share, 1 / LENGTH, 1 / LENGTH, AGENTS) for share in shares)


def test_the_recent_trajectory_ends_where_the_query_begins(in_the_middle):
    times = in_the_middle.query.agent_cell
    assert np.array_equal(in_the_middle.recent.length, times)
    assert np.array_equal(in_the_middle.recent.final_cell, times)
    seen = times > 0
    assert np.array_equal(episode_of(in_the_middle.recent)[seen, 0], episode_of(in_the_middle.query)[seen])
    assert np.array_equal(in_the_middle.targets.action, (episode_of(in_the_middle.query) + times) % 5)


def test_the_recent_trajectory_reveals_nothing_from_the_query_on(in_the_middle):
    hidden = np.arange(TIME) >= in_the_middle.query.agent_cell[:, None]
    for steps in ("agent_cells", "object_cells", "actions"):
        assert (getattr(in_the_middle.recent, steps)[hidden] == NONE).all()
        assert (getattr(in_the_middle.recent, steps)[~hidden] != NONE).all()


def test_successor_targets_of_a_later_query_start_where_the_agent_stands(in_the_middle):
    heaviest = in_the_middle.targets.successor[:, 0].reshape(AGENTS, -1).argmax(1)
    assert np.array_equal(heaviest, in_the_middle.query.agent_cell)


# --- Views


@pytest.fixture(scope="module")
def half_seen():
    """Only what is in the agent's own cell, and actions that mean nothing."""

    def view(key: Array, episode: Episode) -> Episode:
        return NearObjectsOnly(0)(key, NoisyActions(1.0)(key, episode))

    return encounters(EncounterSpec(0, 3, view=view))


def test_what_is_seen_may_be_wrong_but_what_is_asked_is_true(half_seen, whole):
    """The same draws otherwise: the view has a key of its own."""
    assert eqx.tree_equal(half_seen.targets, whole.targets)
    assert (half_seen.past.actions != whole.past.actions).any()


def test_the_view_holds_for_past_and_query(half_seen):
    assert set(agent_of(half_seen.query)[1:].tolist()) == {NONE}  # the agent stands in cell 0
    assert (agent_of(half_seen.past)[10:] == NONE).all()  # and later in the cells up to 9


def test_a_view_of_the_past_leaves_what_is_asked_about_in_plain_sight(half_seen, whole):
    seen = encounters(EncounterSpec(0, 3, view=OfThePast(NearObjectsOnly(0))))
    assert eqx.tree_equal(seen.query, whole.query)
    assert eqx.tree_equal(seen.past.object_cells, half_seen.past.object_cells)


# --- Keys and numbers


def test_the_same_key_gives_the_same_encounters_and_another_key_others(whole):
    assert eqx.tree_equal(encounters(EncounterSpec(0, 3)), whole)
    assert not np.array_equal(encounters(EncounterSpec(0, 3), seed=1).query.object_cells, whole.query.object_cells)


def test_an_observer_may_meet_agents_with_no_past_at_all():
    met = encounters(EncounterSpec(0, 0), agents=5)
    assert met.past_real.shape == (5, 0)
    assert met.query.agent_cell.shape == (5,)


# --- Bad settings


@pytest.mark.parametrize(("least", "most"), [(-1, 3), (2, 1)])
def test_an_empty_or_negative_range_of_past_episodes_is_refused(least, most):
    with pytest.raises(BadSetting, match="N_past"):
        EncounterSpec(least, most)


@pytest.mark.parametrize("past", [-1, 4])
def test_a_number_of_past_episodes_out_of_range_is_refused(past):
    with pytest.raises(BadSetting, match=f"N_past = {past}: .* 0 to 3"):
        draw_encounters(jax.random.key(0), Numbered(jnp.arange(2)), numbered_episodes, EncounterSpec(0, 3), past=past)


@pytest.mark.parametrize("reuse", [0, 5])
def test_more_encounters_than_episodes_are_refused(reuse):
    with pytest.raises(BadSetting, match=f"reuse = {reuse}: an agent's 4 episodes"):
        draw_encounters(jax.random.key(0), Numbered(jnp.arange(2)), numbered_episodes, EncounterSpec(0, 3), reuse=reuse)
