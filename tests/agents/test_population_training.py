"""Bringing up a population: stopped and resumed bit for bit, networks that diverge left behind, nothing overwritten."""

import dataclasses
import json
import os
import re
import signal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import NETWORK, SMALL, WORLD, made_up_networks
from helpers import contents

from tomnet import zoo
from tomnet.agents import experience, population_training
from tomnet.agents.actor_critic import Rewards
from tomnet.agents.population import CONDITIONS, load_population, senses_of
from tomnet.agents.population_config import POPULATION_PRESETS
from tomnet.agents.population_training import train_population
from tomnet.agents.population_update import first_learners, own_keys, returns_on, update_all, update_key, update_pool
from tomnet.agents.reinforcement import UpdateReport
from tomnet.support.array_files import load_arrays
from tomnet.support.errors import BadFile, BadSetting, TomnetError
from tomnet.support.interrupts import Interrupted
from tomnet.support.json_files import read_jsonl
from tomnet.support.named_arrays import named_arrays
from tomnet.support.run_folder import CHECKPOINT, METRICS, read_run
from tomnet.support.run_lock import RunLock
from tomnet.support.streams import BIRTH, CHOOSING, HELD_OUT, TRAINING, WEIGHTS, agent_stream, stream
from tomnet.world.gridworld import World
from tomnet.world.levels import draw_levels

ABOUT = {"command": "tomnet agents train"}


class Killed(BaseException):
    """What a kill looks like from inside: nothing more is written."""


def run(folder, plan=SMALL, seed=0, resume=False, about=ABOUT):
    return train_population(plan, folder, seed=seed, about=about, resume=resume)


def metrics(folder) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in read_jsonl(folder / METRICS)]


def trained(folder, chunk: int) -> dict[str, np.ndarray]:
    """Every network of a chunk in full precision, the chosen ones and the others."""
    return load_arrays(
        folder / f"chunk-{chunk}.safetensors", population_training.CHUNK_FORMAT, population_training.VERSION
    )[0]


def same_run(one, other) -> bool:
    assert metrics(one) == metrics(other)
    for chunk in range(2):
        mine, theirs = trained(one, chunk), trained(other, chunk)
        assert mine.keys() == theirs.keys()
        assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    for name in SMALL.conditions:
        mine, theirs = (load_population(folder / f"{name}.safetensors") for folder in (one, other))
        assert eqx.tree_equal(mine.networks, theirs.networks)
        assert (mine.returns, mine.training, mine.held_out) == (theirs.returns, theirs.training, theirs.held_out)
    return True


def after_row(monkeypatch, chunk: int, updates: int, then) -> None:
    """Has something happen right after that row was logged."""
    log = population_training.append_jsonl

    def log_and_then(path, row):
        log(path, row)
        if (row["chunk"], row["updates"]) == (chunk, updates):
            then()

    monkeypatch.setattr(population_training, "append_jsonl", log_and_then)


def kill():
    raise Killed


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "finished"
    return folder, run(folder)


# --- A run


def test_every_few_updates_are_logged(finished):
    rows = read_jsonl(finished[0] / METRICS)
    assert [(row["chunk"], row["updates"], row["steps"]) for row in rows] == [
        (chunk, updates, 16 * updates) for chunk in (0, 1) for updates in (2, 4, 6)
    ]
    assert all(list(row["returns"]) == ["blind", "3x3"] and len(row["each"]) == 2 for row in rows)
    assert all(row["diverged"] == [] and row["losses"]["first_ratio"] < 1e-4 for row in rows)


def test_the_best_network_of_each_condition_is_kept(finished):
    folder, populations = finished
    returns = [
        load_arrays(
            folder / f"chunk-{chunk}.safetensors", population_training.CHUNK_FORMAT, population_training.VERSION
        )[1]["returns"]
        for chunk in (0, 1)
    ]
    for place, name in enumerate(SMALL.conditions):
        population = populations[name]
        best = int(returns[1][place] > returns[0][place])
        assert population.returns == (returns[best][place],)
        assert population.about["indices"] == [2 * best + place]
        weights = jnp.asarray(trained(folder, best)["policy.weight"][place])
        assert np.array_equal(population.networks.policy.weight[0], weights.astype(jnp.bfloat16))
        assert population.condition == CONDITIONS[name]


def test_the_files_hold_what_was_returned_and_say_where_it_comes_from(finished):
    folder, populations = finished
    for name, population in populations.items():
        loaded = load_population(folder / f"{name}.safetensors", expected=NETWORK)
        assert eqx.tree_equal(loaded.networks, population.networks)
        about = loaded.about
        assert about["command"] == ABOUT["command"]
        assert (about["seed"], about["steps"], about["trained"], about["diverged"]) == (0, 96, 2, [])
        assert about["seconds"] > 0
    begun = read_run(folder, "population")
    assert begun is not None
    assert begun.settings["learner"]["steps"] == 96
    assert begun.about == ABOUT


def test_networks_are_chosen_by_what_their_files_earn(finished):
    folder, _ = finished
    levels = draw_levels(agent_stream(0, HELD_OUT), SMALL.levels, SMALL.world)
    for name in SMALL.conditions:
        population = load_population(folder / f"{name}.safetensors")
        keys = own_keys(agent_stream(0, CHOOSING), jnp.asarray(population.about["indices"]))
        earned = returns_on(keys, population.networks, senses_of([population.condition]), levels, SMALL)
        assert population.returns == pytest.approx(np.asarray(earned).tolist(), abs=1e-6)


def test_what_is_chosen_by_was_rounded(finished, tmp_path, monkeypatch):
    """A file's weights are in bf16, and so are those whose returns are counted: no bit of them is lost."""
    seen = []
    measure = population_training.returns_on

    def returns_on(keys, networks, *others):
        seen.append(networks)
        return measure(keys, networks, *others)

    monkeypatch.setattr(population_training, "returns_on", returns_on)
    run(tmp_path)
    for chunk, networks in enumerate(seen):
        for name, weights in named_arrays(networks).items():
            assert np.array_equal(weights, trained(tmp_path, chunk)[name].astype(jnp.bfloat16).astype(np.float32)), name


def test_networks_are_born_different_whatever_their_chunk(finished):
    """Each depends on the seed and its own number alone."""
    first = first_learners
    two, others = first(0, jnp.arange(2), SMALL), first(0, jnp.arange(1, 3), SMALL)
    assert np.array_equal(two.network.policy.weight[1], others.network.policy.weight[0])
    assert not np.array_equal(two.network.policy.weight[0], two.network.policy.weight[1])


def test_a_condition_trained_alone_is_what_it_is_among_all(finished, tmp_path):
    alone = dataclasses.replace(SMALL, only=("3x3",))
    (name,) = populations = run(tmp_path, alone)
    among_all = finished[1][name]
    assert populations[name].about["indices"] == among_all.about["indices"]
    assert populations[name].returns == pytest.approx(among_all.returns, abs=1e-5)
    for mine, theirs in zip(jax.tree.leaves(populations[name].networks), jax.tree.leaves(among_all.networks)):
        assert np.allclose(mine, theirs, atol=1e-3)
    assert [*zoo.populations(tmp_path)] == ["3x3"]


def test_another_seed_gives_another_population(finished, tmp_path):
    run(tmp_path, seed=1)
    assert metrics(tmp_path) != metrics(finished[0])


# --- Random streams


def test_the_size_of_a_chunk_changes_no_draw(finished, tmp_path):
    """Two chunks of two networks, or one of four: the same up to the order in which sums are taken."""
    run(tmp_path, dataclasses.replace(SMALL, chunk=4))
    together, apart = trained(tmp_path, 0), [trained(finished[0], chunk) for chunk in (0, 1)]
    for name, weights in together.items():
        assert np.allclose(weights, np.concatenate([part[name] for part in apart]), atol=1e-5), name


def levels_seen(levels) -> set[bytes]:
    """One entry for each level."""
    leaves = [np.asarray(leaf).reshape(len(levels.start_cell), -1).astype(int) for leaf in jax.tree.leaves(levels)]
    return {row.tobytes() for row in np.concatenate(leaves, axis=1)}


def test_levels_that_networks_are_chosen_by_are_in_no_pool(tmp_path, monkeypatch):
    chosen_by = []
    measure = population_training.returns_on

    def returns_on(keys, networks, senses, levels, plan):
        chosen_by.append(levels)
        return measure(keys, networks, senses, levels, plan)

    monkeypatch.setattr(population_training, "returns_on", returns_on)
    run(tmp_path)
    first, second = chosen_by
    assert eqx.tree_equal(first, second)  # every chunk is chosen by the same
    held_out = draw_levels(agent_stream(0, HELD_OUT), SMALL.levels, SMALL.world)
    assert levels_seen(first) == levels_seen(held_out)
    updates = [update_pool(update_key(0, i), SMALL)[0] for i in range(SMALL.learner.updates)]
    birth = draw_levels(agent_stream(0, BIRTH), SMALL.learner.pool, SMALL.world)
    pools = [levels_seen(pool) for pool in (birth, *updates)]
    assert len(set().union(*pools)) == sum(map(len, pools)) == 8 * 7  # every pool is a fresh one
    assert not levels_seen(first) & set().union(*pools)


def test_no_two_keys_of_a_population_and_of_observers_are_the_same():
    """The first keys of every stream; `split` and `fold_in` of one key would meet."""
    streams = range(5)
    assert {WEIGHTS, BIRTH, TRAINING, HELD_OUT, CHOOSING} == set(streams)
    keys = [agent_stream(0, which) for which in streams]
    keys += [own_keys(key, jnp.arange(4))[i] for key in list(keys) for i in range(4)]
    keys += [update_pool(update_key(0, i), SMALL)[1] for i in range(4)]
    theirs = [stream(0, which) for which in range(4)]
    keys += theirs + [jax.random.fold_in(key, i) for key in theirs for i in range(4)]
    assert len({jax.random.key_data(key).tobytes() for key in keys}) == len(keys)


def test_returns_are_those_of_the_first_episode_on_each_level():
    """Against what was recorded while acting, world by world; worlds begin another episode when one has ended."""
    networks, senses = made_up_networks(2), senses_of([CONDITIONS["3x3"]] * 2)
    levels = draw_levels(jax.random.key(0), 16, WORLD)
    keys = jax.random.split(jax.random.key(1), 2)
    found = returns_on(keys, networks, senses, levels, SMALL)
    for i in range(2):
        network, mine = (jax.tree.map(lambda leaf, i=i: leaf[i], tree) for tree in (networks, senses))
        ongoing = experience.start_episodes(network, levels)
        record = eqx.filter_jit(experience.act)
        unroll = record(keys[i], network, ongoing, mine, WORLD, Rewards(), levels, WORLD.step_limit)[1]
        rewards, done = np.asarray(unroll.reward), np.asarray(unroll.done)
        ends = done.argmax(0)
        assert done.any(0).all()
        assert (ends < WORLD.step_limit - 1).any()
        whole = [rewards[: end + 1, world].sum() for world, end in enumerate(ends)]
        assert float(found[i]) == pytest.approx(np.mean(whole), abs=1e-5)
        assert np.mean(whole) != pytest.approx(rewards.sum(0).mean(), abs=1e-3)


def test_two_equal_networks_of_a_chunk_act_differently():
    learners = first_learners(0, jnp.arange(2), SMALL)
    twins = jax.tree.map(lambda leaf: jnp.stack([leaf[0]] * 2) if eqx.is_array(leaf) else leaf, learners)
    senses = senses_of([CONDITIONS["3x3"]] * 2)
    after, _ = update_all((update_key(0, 0), jnp.arange(2), senses), twins, SMALL)
    one, other = (jax.tree.map(lambda leaf, i=i: leaf[i], after.ongoing.moment.state.agent_cell) for i in range(2))
    assert not np.array_equal(one, other)
    assert not np.array_equal(after.network.policy.weight[0], after.network.policy.weight[1])


# --- Stopped and resumed


def test_an_interrupted_run_resumes_bit_for_bit(finished, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        after_row(patch, 0, 4, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(Interrupted, match="interrupted at update 4 of 6; --resume goes on from there"):
            run(tmp_path)
    assert [row["updates"] for row in metrics(tmp_path)] == [2, 4]
    assert not list(tmp_path.glob("chunk-*"))
    run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])


def test_a_run_killed_in_its_second_chunk_resumes_bit_for_bit(finished, tmp_path, monkeypatch):
    """Killed after a row was logged and before its checkpoint: the row is written again."""
    with monkeypatch.context() as patch:
        after_row(patch, 1, 4, kill)
        with pytest.raises(Killed):
            run(tmp_path)
    assert (
        load_arrays(tmp_path / CHECKPOINT, population_training.STATE_FORMAT, population_training.VERSION)[1]["updates"]
        == 2
    )
    run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])


def test_a_run_killed_between_two_chunks_goes_on_with_the_second(finished, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        after_row(patch, 1, 2, kill)  # the checkpoint is still that of the first chunk
        with pytest.raises(Killed):
            run(tmp_path)
    run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])


def test_a_resumed_run_still_says_who_began_it(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        after_row(patch, 0, 4, kill)
        with pytest.raises(Killed):
            run(tmp_path)
    later, last = {"command": "tomnet agents train --resume"}, {"command": "on another device"}
    populations = run(tmp_path, resume=True, about=later)
    run(tmp_path, resume=True, about=last)  # trains nothing, and so has no part in it
    begun = read_run(tmp_path, "population")
    assert begun is not None
    assert begun.about == ABOUT
    assert begun.resumed == [later]
    for about in (populations["3x3"].about, load_population(tmp_path / "3x3.safetensors").about):
        assert about["command"] == ABOUT["command"]
        assert about["resumed"] == [later]


def test_a_finished_run_resumed_trains_nothing(finished, monkeypatch):
    folder, populations = finished
    before = contents(folder)
    monkeypatch.setattr(population_training, "update_all", None)  # calling it would be an error
    again = run(folder, resume=True)
    assert all(eqx.tree_equal(again[name].networks, populations[name].networks) for name in populations)
    assert contents(folder) == before


# --- Networks that diverge


def spoil(monkeypatch, *indices: int) -> None:
    """Has networks of these numbers born with a weight that is not finite."""
    born = population_training.first_learners

    def first_learners(seed, numbers, plan):
        learners = born(seed, numbers, plan)
        bad = jnp.isin(numbers, jnp.asarray(indices))
        bias = jnp.where(bad[:, None], jnp.nan, learners.network.value.bias)
        return eqx.tree_at(lambda one: one.network.value.bias, learners, bias)

    monkeypatch.setattr(population_training, "first_learners", first_learners)


def test_a_network_that_diverged_is_named_and_left_out_while_the_rest_train_on(finished, tmp_path, monkeypatch):
    spoil(monkeypatch, 1)  # a 3x3 one, in the first chunk
    populations = run(tmp_path)
    rows = read_jsonl(tmp_path / METRICS)
    assert [row["diverged"] for row in rows] == [[1]] * 3 + [[]] * 3
    assert rows[0]["returns"]["3x3"] is None  # nobody is left to speak for them
    assert populations["3x3"].about["indices"] == [3]
    assert populations["3x3"].about["diverged"] == [1]
    assert populations["blind"].about["diverged"] == []
    # its neighbours do not notice
    mine, theirs = trained(tmp_path, 0), trained(finished[0], 0)
    assert all(np.array_equal(mine[name][0], theirs[name][0]) for name in mine)
    mine, theirs = trained(tmp_path, 1), trained(finished[0], 1)
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    everything = (tmp_path / METRICS).read_text().splitlines()
    assert all(json.loads(line, parse_constant=pytest.fail) for line in everything)


def test_a_condition_whose_networks_all_diverged_is_named(tmp_path, monkeypatch):
    spoil(monkeypatch, 0, 1, 3)
    with pytest.raises(TomnetError, match="all 2 networks of 3x3 diverged"):
        run(tmp_path)
    assert (tmp_path / "chunk-1.safetensors").exists()
    assert read_jsonl(tmp_path / METRICS)[0]["losses"]["value"] is None


def test_metrics_before_any_episode_ended_hold_no_nan(tmp_path):
    losses = {"value": jnp.asarray([1.0, jnp.nan])}
    told = UpdateReport(episodes=jnp.zeros(2), returns=jnp.zeros(2), losses=losses)
    row = population_training._summary([told], [CONDITIONS["3x3"]] * 2, jnp.asarray([True, False]))
    population_training.append_jsonl(tmp_path / METRICS, row)
    row = json.loads((tmp_path / METRICS).read_text(), parse_constant=pytest.fail)
    assert row == {"returns": {"3x3": None}, "each": [None, None], "losses": {"value": 1.0}, "diverged": [1]}


def test_losses_and_returns_are_of_all_updates_since_the_last_row():
    def told(episodes, returns, loss):
        return UpdateReport(jnp.asarray(episodes), jnp.asarray(returns), {"value": jnp.asarray(loss)})

    seen = [told([1.0, 3.0], [2.0, 1.0], [1.0, 10.0]), told([3.0, 1.0], [6.0, 5.0], [3.0, jnp.nan])]
    row = population_training._summary(seen, [CONDITIONS["3x3"]] * 2, jnp.asarray([True, False]))
    assert row["each"] == [5.0, 2.0]
    assert row["losses"] == {"value": 2.0}  # of those that did not diverge


# --- Refused


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"seed": 3}, "seed is 0, not 3"),
        ({"plan": dataclasses.replace(SMALL, chunk=4)}, "chunk is 2, not 4"),
        ({"plan": dataclasses.replace(SMALL, keep=2)}, "keep is 1, not 2"),
        (
            {"plan": dataclasses.replace(SMALL, conditions=("blind", "5x5"))},
            "conditions is ['blind', '3x3'], not ['blind', '5x5']",
        ),
        (
            {"plan": dataclasses.replace(SMALL, learner=dataclasses.replace(SMALL.learner, steps=200))},
            "learner.steps is 96, not 200",
        ),
        (
            {"plan": dataclasses.replace(SMALL, network=dataclasses.replace(NETWORK, hidden=9))},
            "network.hidden is 8, not 9",
        ),
        (
            {"plan": dataclasses.replace(SMALL, world=World(5, 3, True, max_walls=1, step_limit=6))},
            "world.step_limit is 5, not 6",
        ),
    ],
    ids=["seed", "chunk", "keep", "conditions", "steps", "hidden", "step_limit"],
)
def test_resuming_with_other_settings_is_refused_with_both_values(changed, why, finished):
    before = contents(finished[0])
    with pytest.raises(BadFile, match=f"holds another run: {re.escape(why)}; --out names another folder"):
        run(finished[0], resume=True, **changed)
    assert contents(finished[0]) == before


def test_a_folder_in_use_is_refused(tmp_path):
    with RunLock(tmp_path), pytest.raises(TomnetError, match=f"in use by process {os.getpid()}"):
        run(tmp_path)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"chunk": 3}, "chunk = 3: does not divide the population of 4 networks"),
        ({"chunk": 0}, "chunk = 0: must be above 0"),
        ({"keep": 3}, "keep = 3: of 2 networks of each condition"),
        ({"keep": 0}, "keep = 0: of 2 networks"),
        ({"conditions": ("blind", "3x4")}, "unknown condition '3x4'; did you mean '3x3'"),
        ({"conditions": ("7x7", "9x9"), "world": World(4, 2, True, max_walls=0)}, "size = 4: .* grids of 5"),
        ({"world": World(5, 2, True, max_walls=1)}, "objects = 3: these agents know 4 kinds"),
        ({"levels": 0}, "levels = 0: must be above 0"),
        ({"only": ("5x5",)}, "unknown condition '5x5'; known: 3x3, blind"),
        ({"conditions": ("5x",)}, "unknown condition '5x'; did you mean '5x5'"),
        ({"report_every": 0}, "report_every = 0: must be above 0"),
    ],
)
def test_an_upbringing_that_cannot_work_is_refused_with_both_values(changed, why):
    with pytest.raises(TomnetError, match=why):
        dataclasses.replace(SMALL, **changed)


def test_a_field_of_view_wider_than_the_world_shows_is_refused():
    world, network = World(4, 3, True, max_walls=0), dataclasses.replace(NETWORK, size=4)
    with pytest.raises(BadSetting, match="field of view = 9: must be odd and at most 7"):
        dataclasses.replace(SMALL, world=world, network=network, conditions=("3x3", "9x9"))


def test_every_preset_can_be_built():
    assert set(POPULATION_PRESETS) == {"smoke", "laptop", "full"}
    assert POPULATION_PRESETS["full"].total == 144
