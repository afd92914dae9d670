"""Learning: what was recorded while acting is what learning sees, and advantages are what a pencil says they are."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import BLIND, NETWORK, SIGHTED, STATELESS, WORLD, made_up_network
from helpers import pick, sample_levels

from tomnet.agents import experience, reinforcement
from tomnet.agents.actor_critic import Memory, Rewards
from tomnet.agents.experience import Unroll
from tomnet.agents.reinforcement import LearnerConfig, advantages, belief_loss, new_learner, optimiser, reward_loss
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import ABSENT
from tomnet.world.levels import parse_level

CONFIG = LearnerConfig(steps=10_000, worlds=4, unroll=8, minibatches=2, pool=8)
EYES = {"sighted": SIGHTED, "blind": BLIND, "stateless": STATELESS}


@eqx.filter_jit
def act(key, learner, senses, pool):
    """The learner after a while, and what happened."""
    lived, *rest = experience.act(key, learner.network, learner.ongoing, senses, WORLD, Rewards(), pool, CONFIG.unroll)
    return eqx.tree_at(lambda one: one.ongoing, learner, lived), *rest


@eqx.filter_jit
def update(key, learner, senses, pool):
    return reinforcement.update(key, learner, senses, WORLD, Rewards(), pool, CONFIG)


relive = eqx.filter_jit(reinforcement.relive)


@pytest.fixture(scope="module")
def pool():
    return sample_levels(jax.random.key(0), WORLD, CONFIG.pool)


@pytest.fixture(scope="module")
def fresh(pool):
    """A learner whose weights are far from the quiet ones of birth."""
    learner = eqx.filter_jit(new_learner)(jax.random.key(1), NETWORK, CONFIG, pool)
    return eqx.tree_at(lambda one: one.network, learner, made_up_network())


@pytest.fixture(scope="module")
def acted(fresh, pool):
    """By species: the learner when an unroll began, in the middle of episodes, and what then happened."""
    found = {}
    for name, senses in EYES.items():
        learner = act(jax.random.key(2), fresh, senses, pool)[0]
        found[name] = (learner, *act(jax.random.key(3), learner, senses, pool))
    return found


def taken(log_policy, actions) -> np.ndarray:
    return np.take_along_axis(np.asarray(log_policy), np.asarray(actions)[..., None], -1)[..., 0]


# --- Acting and learning see the same


@pytest.mark.parametrize("species", EYES)
def test_an_unroll_lived_again_gives_what_was_recorded(species, acted):
    before, _, unroll, _, _ = acted[species]
    assert np.asarray(before.ongoing.moment.state.time).any()  # episodes were under way
    assert np.asarray(unroll.done)[:-1].any(0).all()  # and each world began another one within the unroll
    again, _ = relive(before.network, unroll.moment, before.ongoing.memory, EYES[species])
    assert np.allclose(taken(again.log_policy, unroll.action), unroll.log_probability, atol=1e-5)
    assert np.allclose(again.value, unroll.value, atol=1e-5)


@pytest.mark.parametrize("species", EYES)
def test_the_first_minibatch_of_an_update_sees_the_policy_that_acted(species, fresh, pool):
    learner = fresh
    for number in range(2):  # the second begins in the middle of episodes
        learner, told = update(jax.random.key(number), learner, EYES[species], pool)
        assert float(told.losses["first_ratio"]) < 1e-4
    assert float(told.episodes) > 0


def test_memory_never_crosses_an_episode(acted):
    before, _, unroll, _, _ = acted["sighted"]
    plain, hidden = relive(before.network, unroll.moment, before.ongoing.memory, SIGHTED)
    spoilt_memory = jax.tree.map(lambda leaf: leaf + 1, before.ongoing.memory)
    random = np.random.default_rng(0)
    for world in range(CONFIG.worlds):
        end = int(np.flatnonzero(np.asarray(unroll.done)[:, world])[0])  # the last step of the first episode
        earlier = jnp.asarray(np.arange(CONFIG.unroll) <= end)

        def spoil(leaf, earlier=earlier):
            """Anything else that could have happened in the earlier episode, but not its clock."""
            rubbish = jnp.asarray(random.integers(0, 2, leaf.shape)).astype(leaf.dtype)
            return jnp.where(earlier.reshape(-1, *[1] * (leaf.ndim - 1)), rubbish, leaf)

        moments = jax.tree.map(spoil, unroll.moment)
        moments = eqx.tree_at(lambda moment: moment.state.time, moments, unroll.moment.state.time)
        other, other_hidden = relive(before.network, moments, spoilt_memory, SIGHTED)
        assert not np.allclose(other.log_policy[: end + 1, world], plain.log_policy[: end + 1, world], atol=1e-3)
        assert eqx.tree_equal(*(pick(outputs, (slice(end + 1, None), world)) for outputs in (other, plain)))
        assert np.array_equal(other_hidden[end + 1 :, world], hidden[end + 1 :, world])


def test_what_an_agent_is_told_at_the_start_of_an_episode_is_nothing(acted):
    _, _, unroll, _, _ = acted["sighted"]
    first = np.asarray(unroll.moment.state.time) == 0
    assert first.any()
    assert (np.asarray(unroll.moment.action)[first] == ABSENT).all()
    assert (np.asarray(unroll.moment.reward)[first] == 0).all()
    later = ~first[1:]
    assert np.array_equal(np.asarray(unroll.moment.action)[1:][later], np.asarray(unroll.action)[:-1][later])
    assert np.array_equal(np.asarray(unroll.moment.reward)[1:][later], np.asarray(unroll.reward)[:-1][later])


def test_the_return_is_that_of_whole_episodes(acted):
    before, after, unroll, _, (earned, episodes) = acted["sighted"]
    total, count, running = 0.0, 0, np.asarray(before.ongoing.earned).copy()
    for reward, done in zip(np.asarray(unroll.reward), np.asarray(unroll.done), strict=True):
        running += reward
        total, count = total + running[done].sum(), count + done.sum()
        running[done] = 0
    assert float(earned) == pytest.approx(total, abs=1e-5)
    assert int(episodes) == count
    assert np.allclose(after.ongoing.earned, running, atol=1e-6)


# --- Learning


def test_advantages_worked_by_hand(fresh):
    """One world: two steps, the end of an episode, one step of the next. gamma = 0.5, lambda = 0.5."""
    column = lambda *values: jnp.asarray(values)[:, None]  # noqa: E731
    unroll = Unroll(
        moment=fresh.ongoing.moment,  # which advantages do not depend on
        action=column(0, 0, 0),
        log_probability=column(0.0, 0.0, 0.0),
        value=column(1.0, 2.0, 4.0),
        reward=column(0.5, 3.0, 1.0),
        done=column(False, True, False),
    )
    found = eqx.filter_jit(advantages)(unroll, jnp.asarray([8.0]), jnp.float32(0.5), 0.5)
    third = 1.0 + 0.5 * 8 - 4  # what comes after the unroll counts
    second = 3.0 - 2  # nothing is hoped for beyond the end
    first = (0.5 + 0.5 * 2 - 1) + 0.25 * second
    assert np.asarray(found)[:, 0].tolist() == [first, second, third]


def test_the_blind_are_more_patient():
    config = dataclasses.replace(CONFIG, gamma=0.5, blind_gamma=0.75)
    assert [float(config.discount(senses)) for senses in (SIGHTED, STATELESS, BLIND)] == [0.5, 0.5, 0.75]


class Answers(eqx.Module):
    """Outputs that are given, in place of those of a network."""

    log_policy: jax.Array
    value: jax.Array

    def loss(self, monkeypatch, unroll: Unroll, advantage: jax.Array, config: LearnerConfig):
        now = experience.Outputs(self.log_policy, self.value, jnp.zeros((*self.value.shape, 3)))
        monkeypatch.setattr(reinforcement, "relive", lambda *_: (now, None))
        nothing = jnp.zeros((1, 1, 1))
        learning_batch = reinforcement.LearningBatch(unroll, Memory(nothing, nothing), advantage, None)
        total, losses = reinforcement.loss(made_up_network(), learning_batch, SIGHTED, config, jnp.arange(1))
        return float(total), {name: float(value) for name, value in losses.items()}


def test_the_loss_worked_by_hand(fresh, monkeypatch):
    """Four worlds, one step, two actions. Advantages ±1 have mean 0 and deviation 1: each is its own gain.

    A gain of 1 with the action 1.5 times as likely as it was counts 1.2, and with half as likely 0.5; a gain of -1
    counts -1.5 and -0.8: only what an update has overdone already is left out of the gradient.
    """
    config = dataclasses.replace(CONFIG, clip=0.2, value=0.5, entropy=0.1, belief=0.0)
    now, ratio = jnp.asarray([0.75, 0.25, 0.75, 0.25]), jnp.asarray([1.5, 0.5, 1.5, 0.5])
    advantage = jnp.asarray([[1.0, 1.0, -1.0, -1.0]])
    unroll = Unroll(
        moment=fresh.ongoing.moment,  # which no one looks at here
        action=jnp.zeros((1, 4), jnp.int32),
        log_probability=jnp.log(now / ratio)[None],
        value=jnp.asarray([[2.0, 3.0, 4.0, 5.0]]),
        reward=jnp.zeros((1, 4)),
        done=jnp.zeros((1, 4), bool),
    )
    answers = Answers(jnp.log(jnp.stack([now, 1 - now], -1))[None], jnp.asarray([[3.0, 4.0, 4.0, 8.0]]))
    total, losses = answers.loss(monkeypatch, unroll, advantage, config)
    policy = -(1.2 + 0.5 - 1.5 - 0.8) / 4
    value = (0 + 0 + 1 + 16) / 4  # from 3, 4, 3, 4: what was thought, and what came of it beyond that
    entropy = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert losses["policy"] == pytest.approx(policy, abs=1e-3)  # the deviation has a little added to it
    assert losses["value"] == pytest.approx(value)
    assert losses["entropy"] == pytest.approx(entropy, rel=1e-5)
    assert losses["ratio"] == pytest.approx(0.5)
    assert total == pytest.approx(losses["policy"] + 0.5 * value - 0.1 * entropy, rel=1e-5)


def test_what_comes_after_the_unroll_counts(acted):
    before, after, unroll, last_value, _ = acted["sighted"]
    learn = eqx.filter_jit(reinforcement.learn)
    losses = [
        learn(jax.random.key(0), after, unroll, before.ongoing.memory, value, SIGHTED, CONFIG)[1]
        for value in (last_value, 0 * last_value)
    ]
    assert abs(float(losses[0]["value"]) - float(losses[1]["value"])) > 1e-3


def test_an_update_hands_on_what_comes_after_the_unroll(acted, pool, monkeypatch):
    def learn_nothing(key, learner, unroll, memory, last_value, senses, config):
        return learner, {"last": last_value.sum()}

    monkeypatch.setattr(reinforcement, "learn", learn_nothing)
    before = acted["sighted"][0]
    told = eqx.filter_jit(reinforcement.update)(jax.random.key(9), before, SIGHTED, WORLD, Rewards(), pool, CONFIG)[1]
    expected = act(jax.random.split(jax.random.key(9))[0], before, SIGHTED, pool)[2].sum()
    assert abs(float(expected)) > 1e-2
    assert float(told.losses["last"]) == pytest.approx(float(expected), abs=1e-4)


def test_a_network_learns_to_earn_more():
    """The subgoal is one step away and the preferred object two, which is worth nearly 2."""
    easy = parse_level(".....\n.B...\n.@*A.\n.....\n....C", WORLD)
    pool = jax.tree.map(lambda leaf: jnp.stack([leaf] * CONFIG.pool), easy)
    learner = eqx.filter_jit(new_learner)(jax.random.key(1), NETWORK, CONFIG, pool)
    returns = []
    for number in range(120):
        learner, told = update(jax.random.key(number), learner, SIGHTED, pool)
        returns.append(float(told.returns))
    assert np.mean(returns[:20]) < 1
    assert np.mean(returns[-20:]) > 1.5


def test_an_update_moves_every_weight(fresh, pool):
    after, told = update(jax.random.key(7), fresh, SIGHTED, pool)
    untrained = {"reward.weight", "reward.bias"}  # no reward prediction in this configuration
    leaves = jax.tree_util.tree_leaves_with_path(fresh.network)
    for (path, before), new in zip(leaves, jax.tree.leaves(after.network), strict=True):
        name = jax.tree_util.keystr(path).lstrip(".")
        assert np.array_equal(before, new) == (name in untrained), name
    assert bool(after.healthy)
    assert set(told.losses) == {"policy", "value", "entropy", "belief", "first_ratio"}
    assert all(np.isfinite(loss) for loss in told.losses.values())


def test_a_network_that_is_not_finite_is_flagged_and_left_as_it_was(fresh, pool):
    spoilt = eqx.tree_at(lambda one: one.network.value.bias, fresh, jnp.nan * fresh.network.value.bias)
    after, told = update(jax.random.key(7), spoilt, SIGHTED, pool)
    assert not bool(after.healthy)
    for before, new in zip(jax.tree.leaves(spoilt), jax.tree.leaves(after), strict=True):
        if before.dtype != bool or before.shape:  # all but the flag
            assert np.array_equal(before, new, equal_nan=True)
    # once a number was not finite, it stays out, even where the next update would be
    mended = eqx.tree_at(lambda one: one.network, after, fresh.network)
    assert not bool(update(jax.random.key(8), mended, SIGHTED, pool)[0].healthy)


def test_side_tasks_take_part_when_asked_for(fresh, pool):
    config = dataclasses.replace(CONFIG, reward_prediction=1.0, value_replay=1.0)
    learner = eqx.filter_jit(new_learner)(jax.random.key(1), NETWORK, config, pool)
    learn = eqx.filter_jit(reinforcement.update)
    after, told = learn(jax.random.key(2), learner, SIGHTED, WORLD, Rewards(), pool, config)
    assert {"reward", "replay"} <= set(told.losses)
    assert not np.array_equal(after.network.reward.weight, learner.network.reward.weight)
    replay = after.replay  # the unroll just lived, for the next update
    assert np.array_equal(replay.memory.hidden, learner.ongoing.memory.hidden)
    assert np.asarray(replay.value).any()


def test_the_belief_loss_of_an_object_that_is_nowhere():
    """Worked from the report itself: mean over kinds of the log-probability of the true place."""
    network = made_up_network()
    hidden = jnp.asarray(np.random.default_rng(0).normal(size=(1, 1, 5, 5, NETWORK.memory_channels)), jnp.float32)
    log_belief = np.asarray(network.ready().report_belief(hidden[0, 0]))
    cells = jnp.asarray([[[3, 24, 0, ABSENT]]], jnp.int16)
    expected = -np.mean([log_belief[0, 3], log_belief[1, 24], log_belief[2, 0], log_belief[3, 25]])
    assert float(belief_loss(network, hidden, cells)) == pytest.approx(expected, rel=1e-5)


def test_rare_rewards_weigh_as_much_as_the_many_steps_without():
    reward = jnp.asarray([1.0, *[0.0] * 9])
    sure = 20 * jax.nn.one_hot(jnp.ones(10, int), 3)  # "nothing will happen", said with certainty
    assert float(reward_loss(sure, reward)) == pytest.approx(0.5 * 20, rel=1e-3)
    even = jnp.zeros((10, 3))
    assert float(reward_loss(even, reward)) == pytest.approx(np.log(3), rel=1e-5)


def test_the_learning_rate_falls_to_its_last_share():
    config = LearnerConfig(steps=20, worlds=2, unroll=1, minibatches=1, learning_rate=0.1, last_rate=0.5)
    adam = optimiser(config)

    @jax.jit
    def moves():
        def move(state, _):
            update, state = adam.update(jnp.float32(1.0), state)
            return state, -update

        return jax.lax.scan(move, adam.init(jnp.float32(0.0)), length=11)[1]

    rate = np.asarray(moves())
    assert rate[0] == pytest.approx(0.1, rel=1e-3)
    assert rate[-1] == pytest.approx(0.05, rel=1e-3)  # ten updates in all
    assert (np.diff(rate) < 0).all()


# --- Refused


@pytest.mark.parametrize("name", ["steps", "worlds", "unroll", "epochs", "minibatches", "learning_rate", "pool"])
def test_settings_that_cannot_work_are_refused_by_name(name):
    nothing = type(getattr(CONFIG, name))(0)
    with pytest.raises(BadSetting, match=f"LearnerConfig.{name} = {nothing}: must be above 0"):
        dataclasses.replace(CONFIG, **{name: nothing})


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"minibatches": 3}, "minibatches = 3: does not divide 4 worlds"),
        ({"belief_share": 0.0}, "belief_share = 0.0: a share is above 0"),
        ({"belief_share": 1.5}, "belief_share = 1.5: a share is above 0"),
        ({"learning_rate": float("nan")}, "learning_rate = nan"),
    ],
)
def test_settings_that_do_not_fit_are_refused_with_both_values(changed, why):
    with pytest.raises(BadSetting, match=why):
        dataclasses.replace(CONFIG, **changed)
