"""The training engine: it learns, it can be stopped and resumed bit for bit, and it never loses good weights.

The agents here always take the same action, so one look at the past tells everything.
"""

import errno
import os
import shutil
import signal
import threading
from contextlib import suppress
from dataclasses import asdict, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import contents

from tomnet.episodes.encounter import Encounter
from tomnet.episodes.episode import QueryState, Snapshot
from tomnet.episodes.history import History
from tomnet.episodes.targets import Targets
from tomnet.observer import training
from tomnet.observer.checkpoint import STATE_FORMAT, VERSION, load_observer, load_state
from tomnet.observer.config import ObserverConfig, TrainingConfig
from tomnet.observer.frames import Capacity
from tomnet.observer.training import OBSERVER, Diverged, train
from tomnet.observer.training_step import first_state, many_steps, one_step, optimiser
from tomnet.support import files, interrupts
from tomnet.support.array_files import load_arrays
from tomnet.support.errors import BadFile, BadSetting, TomnetError
from tomnet.support.interrupts import Interrupted, stop_requests
from tomnet.support.json_files import read_jsonl
from tomnet.support.run_folder import CHECKPOINT, METRICS, read_run
from tomnet.support.run_lock import RunLock
from tomnet.support.streams import EVALUATION_STREAM, HELD_OUT_STREAM, NOISE_STREAM, TRAIN_STREAM, WEIGHT_STREAM, stream
from tomnet.support.trees import pick

OBSERVER_CONFIG = ObserverConfig(
    size=5,
    objects=1,
    character="snapshots",
    channels=8,
    character_channels=8,
    character_depth=1,
    torso_depth=1,
    heads=("action",),
)
# ten steps in chunks of four, so the last is a short one; a checkpoint after every chunk
TRAINING = TrainingConfig(
    steps=10, batch=4, learning_rate=1e-2, chunk=4, held_out=8, evaluate_every=2, checkpoint_seconds=0.0
)
ABOUT = {"observer": "favourites"}
IDENTITY = {"met": {"version": 1, "species": {"kind": "fans", "share": 0.5}, "steps": 1}}


class Killed(BaseException):
    """What a kill looks like from inside: nothing more is written."""


def favourites(key, count: int, least: int = 0) -> Encounter:
    """Encounters with agents that have one favourite action: up to two snapshots of the past, then a query."""
    numbers = jax.random.randint(key, (count, 8), 0, 150)  # one draw, for speed; 25, 5, 3 and 2 divide 150
    favourite, cells = numbers[:, 6] % 5, (numbers[:, :6] % 25).astype(jnp.int16)
    history = History(
        past=Snapshot(
            walls=jnp.zeros((count, 2, 5, 5), bool),
            agent_cell=cells[:, :2],
            object_cells=cells[:, 2:4, None],
            action=jnp.broadcast_to(favourite[:, None], (count, 2)).astype(jnp.int8),
        ),
        past_real=jnp.arange(2) < least + numbers[:, 7:] % (3 - least),
    )
    return Encounter(
        history,
        query=QueryState(jnp.zeros((count, 5, 5), bool), cells[:, 4], cells[:, 5:]),
        targets=Targets(favourite.astype(jnp.int32), jnp.zeros((count, 1)), jnp.full((count, 3, 5, 5), 1 / 25)),
    )


def run(folder, config=OBSERVER_CONFIG, plan=TRAINING, seed=0, resume=False, sample=favourites, identity=IDENTITY):
    return train(config, plan, sample, folder, seed=seed, identity=identity, about=ABOUT, resume=resume)


def state_on_disk(folder) -> dict[str, np.ndarray]:
    return load_arrays(folder / CHECKPOINT, STATE_FORMAT, VERSION)[0]


def metrics(folder) -> list[dict]:
    return [{name: value for name, value in row.items() if name != "seconds"} for row in read_jsonl(folder / METRICS)]


def same_run(one, other) -> bool:
    """Weights, running moments, optimiser and metrics: all of them, bit for bit."""
    first, second = state_on_disk(one), state_on_disk(other)
    assert first.keys() == second.keys()
    assert any(name.startswith("optimiser") for name in first)
    assert any("running_variance" in name for name in first)
    return metrics(one) == metrics(other) and all(np.array_equal(first[name], second[name]) for name in first)


def after_row(monkeypatch, step: int, then) -> None:
    """Has something happen right after the row of `step` was logged."""
    log = training.append_jsonl

    def log_and_then(path, row):
        log(path, row)
        if row["step"] == step:
            then()

    monkeypatch.setattr(training, "append_jsonl", log_and_then)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """One run, from start to end: its folder and the observer."""
    folder = tmp_path_factory.mktemp("runs") / "finished"
    return folder, run(folder)


# --- A run


def test_the_loss_falls_on_an_easy_task(tmp_path):
    plan = replace(TRAINING, steps=160, batch=32, learning_rate=2e-2, evaluate_every=40, checkpoint_seconds=600.0)

    def always_seen(key, count):
        return favourites(key, count, least=1)

    run(tmp_path, plan=plan, sample=always_seen)
    rows = metrics(tmp_path)
    assert rows[0]["action"] > 0.6  # chance is 1.61
    assert rows[-1]["action"] < 0.1
    assert rows[-1]["held_out"]["action"] < 0.1  # in inference mode, on agents it was not trained on


def test_every_chunk_is_logged(finished):
    rows = read_jsonl(finished[0] / METRICS)
    assert [row["step"] for row in rows] == [4, 8, 10]
    assert [row["encounters"] for row in rows] == [row["queries"] for row in rows] == [16, 32, 40]
    assert [sorted(row) for row in rows] == [
        ["action", "encounters", "queries", "seconds", "step"],
        ["action", "encounters", "held_out", "queries", "seconds", "step"],  # every second chunk
        ["action", "encounters", "held_out", "queries", "seconds", "step"],  # and the last
    ]
    assert all(np.isfinite(row["action"]) for row in rows)
    assert [row["seconds"] for row in rows] == sorted(row["seconds"] for row in rows)


def test_the_settings_are_written_beside_the_weights(finished):
    begun = read_run(finished[0], "observer")
    assert begun is not None
    assert begun.settings["training"] == asdict(TRAINING)
    assert begun.settings["observer"]["character"] == "snapshots"
    assert begun.settings["seed"] == 0
    assert begun.settings["met"] == IDENTITY["met"]
    assert begun.about == ABOUT


def test_the_observer_on_disk_is_the_one_returned(finished):
    folder, observer = finished
    loaded, about = load_observer(folder / OBSERVER)
    assert loaded.config == observer.config == OBSERVER_CONFIG
    assert eqx.tree_equal(loaded, observer)
    assert about["observer"] == "favourites"
    assert about["seed"] == 0
    assert about["met"] == IDENTITY["met"]
    assert about["training"] == asdict(TRAINING)


def test_training_moves_every_weight(finished):
    """All but the scales and biases of what is never used."""
    fresh = first_state(OBSERVER_CONFIG, TRAINING, 0).observer
    for before, after in zip(jax.tree.leaves(fresh), jax.tree.leaves(finished[1]), strict=True):
        assert not np.array_equal(before, after)


def test_the_same_seed_gives_the_same_run_and_another_seed_another(finished, tmp_path):
    run(tmp_path / "again")
    assert same_run(finished[0], tmp_path / "again")
    run(tmp_path / "other", seed=1)
    assert metrics(tmp_path / "other") != metrics(finished[0])


def test_steps_in_one_program_are_the_same_as_one_by_one():
    """On a GPU a chunk is one program; on the CPU it goes step by step."""
    state = first_state(OBSERVER_CONFIG, TRAINING, 0)
    batches = jax.tree.map(lambda leaf: leaf.reshape(2, 4, *leaf.shape[1:]), favourites(jax.random.key(0), 8))
    together, losses = many_steps(jax.random.key(0), state, batches, TRAINING, Capacity(16))
    for i in range(2):
        state, row = one_step(jax.random.key(0), state, pick(batches, i), TRAINING, Capacity(16))
        assert np.isclose(row["action"], losses["action"][i], atol=1e-5)
    for one, other in zip(jax.tree.leaves(together), jax.tree.leaves(state), strict=True):
        assert np.allclose(one, other, atol=1e-5)


def test_the_learning_rate_rises_and_falls():
    """Adam moves by the rate itself when the gradient never changes."""
    adam = optimiser(TrainingConfig(steps=100, learning_rate=0.5))

    @jax.jit
    def moves():
        def move(state, _):
            update, state = adam.update(jnp.float32(1.0), state)
            return state, -update

        return jax.lax.scan(move, adam.init(jnp.float32(0.0)), length=101)[1]

    rate = np.asarray(moves())
    assert rate[0] == 0
    assert np.isclose(rate[2], 0.5, atol=1e-3)
    assert np.isclose(rate[100], 0.005, atol=1e-4)
    assert (np.diff(rate[2:]) <= 1e-6).all()


# --- Stopped and resumed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_resumes_bit_for_bit(number, finished, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        after_row(patch, 4, lambda: os.kill(os.getpid(), number))
        with pytest.raises(Interrupted, match="interrupted at step 4 of 10; --resume goes on from there"):
            run(tmp_path)
    assert int(state_on_disk(tmp_path)["step"]) == 4
    assert not (tmp_path / OBSERVER).exists()
    resumed = run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])
    assert eqx.tree_equal(resumed, finished[1])


def test_a_killed_run_resumes_from_its_last_checkpoint_bit_for_bit(finished, tmp_path, monkeypatch):
    """Killed after the second row was logged and before its checkpoint: the row is written again."""

    def kill():
        raise Killed

    with monkeypatch.context() as patch:
        after_row(patch, 8, kill)
        with pytest.raises(Killed):
            run(tmp_path)
    assert int(state_on_disk(tmp_path)["step"]) == 4
    assert [row["step"] for row in metrics(tmp_path)] == [4, 8]
    run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])


def pairs(key, count: int) -> Encounter:
    """Two current episodes of each agent: one after all that was seen of it, one after the first snapshot at most."""
    one = favourites(key, count // 2)
    fewer = one.past_real & (jnp.arange(2) < 1)
    both = jax.tree.map(lambda leaf: jnp.stack([leaf, leaf], 1), (one.query, one.targets))
    return Encounter(History(one.past, jnp.stack([one.past_real, fewer], 1)), *both)


def test_a_run_whose_current_episodes_share_a_past_resumes_bit_for_bit(tmp_path, monkeypatch):
    plan = replace(TRAINING, currents=2)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    run(whole, plan=plan, sample=pairs)
    with monkeypatch.context() as patch:
        after_row(patch, 4, lambda: os.kill(os.getpid(), signal.SIGINT))
        with pytest.raises(Interrupted):
            run(broken, plan=plan, sample=pairs)
    run(broken, plan=plan, sample=pairs, resume=True)
    assert same_run(whole, broken)
    assert metrics(whole)[-1]["encounters"] == 10 * 4  # each current episode is one


def test_queries_and_current_episodes_are_counted_apart():
    assert replace(TRAINING, queries=3).met_after(5) == {"encounters": 20, "queries": 60}


@pytest.mark.parametrize("currents", [3, 0])
def test_current_episodes_that_do_not_divide_a_batch_are_refused(currents):
    with pytest.raises(BadSetting, match=f"currents = {currents}: must divide batch=4"):
        replace(TRAINING, currents=currents)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"queries": 0}, "queries = 0: must be above 0"),
        ({"swap_probability": 0.0}, "swap_probability = 0.0: must lie between 0 and 1"),
        ({"swap_probability": 1.0}, "swap_probability = 1.0: must lie between 0 and 1"),
    ],
)
def test_settings_without_a_meaning_are_refused(changed, why):
    with pytest.raises(BadSetting, match=f"TrainingConfig.{why}"):
        replace(TRAINING, **changed)


def test_an_unknown_reduction_is_refused():
    """By hand, because the types that are checked in tests alone would refuse it before."""
    plan = replace(TRAINING)
    object.__setattr__(plan, "reduction", "max")
    with pytest.raises(BadSetting, match="TrainingConfig.reduction = 'max': must be 'sum' or 'mean'"):
        plan.__post_init__()


def weighted(key, count: int) -> Encounter:
    """Every query counts for nothing."""
    return eqx.tree_at(lambda e: e.weight, favourites(key, count), jnp.zeros(count), is_leaf=lambda leaf: leaf is None)


def test_weights_count_in_training_and_held_out_losses_are_plain(tmp_path):
    observer = train(OBSERVER_CONFIG, TRAINING, weighted, tmp_path, seed=0, about={}, sample_held_out=favourites)
    last = metrics(tmp_path)[-1]
    assert last["action"] == 0
    assert last["held_out"]["action"] > 0.5
    fresh = first_state(OBSERVER_CONFIG, TRAINING, 0).observer
    kernels = [one.prediction_net.action.dense.weight for one in (fresh, observer)]
    np.testing.assert_array_equal(*kernels)  # nothing was learned


def test_a_loss_taken_as_a_mean_over_objects_and_discounts_is_smaller_in_training_alone():
    config = replace(OBSERVER_CONFIG, heads=("successor",))
    batch = favourites(jax.random.key(0), 4)
    state = first_state(config, TRAINING, 0)
    losses = [
        one_step(jax.random.key(0), state, batch, replace(TRAINING, reduction=how), Capacity(16))[1]
        for how in ("sum", "mean")
    ]
    assert float(losses[0]["successor"]) == pytest.approx(3 * float(losses[1]["successor"]), rel=1e-5)


def test_a_run_that_starts_from_an_observer_begins_with_its_weights_and_says_what_they_are_worth(finished, tmp_path):
    folder, observer = finished
    start = first_state(OBSERVER_CONFIG, TRAINING, 1, observer)
    assert eqx.tree_equal(start.observer.prediction_net, observer.prediction_net)
    plan = replace(TRAINING, steps=4)
    train(OBSERVER_CONFIG, plan, favourites, tmp_path, seed=0, about={}, start=observer)
    before, *_ = metrics(tmp_path)
    assert before["step"] == 0
    # the same agents that it was looked at with when its own training ended
    assert before["held_out"]["action"] == pytest.approx(metrics(folder)[-1]["held_out"]["action"], abs=1e-5)


def test_an_observer_of_another_shape_is_no_start(finished):
    wide = replace(OBSERVER_CONFIG, channels=16)
    with pytest.raises(BadFile, match="has shape"):
        first_state(wide, TRAINING, 0, finished[1])


def test_resuming_in_an_empty_folder_starts_a_run(finished, tmp_path):
    run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])


def test_a_finished_run_resumed_returns_at_once(finished, monkeypatch):
    folder, observer = finished
    before = contents(folder)
    monkeypatch.setattr(training, "run_chunk", None)  # calling it would be an error
    assert eqx.tree_equal(run(folder, resume=True), observer)
    assert contents(folder) == before


def test_a_run_interrupted_on_its_last_step_has_its_observer_once_resumed(finished, tmp_path, monkeypatch):
    with monkeypatch.context() as patch, suppress(Interrupted):
        after_row(patch, 10, lambda: os.kill(os.getpid(), signal.SIGINT))
        run(tmp_path)
    run(tmp_path, resume=True)
    assert (tmp_path / OBSERVER).exists()
    assert eqx.tree_equal(load_observer(tmp_path / OBSERVER)[0], finished[1])


def test_a_run_killed_between_its_last_checkpoint_and_its_observer_has_it_once_resumed(finished, tmp_path, monkeypatch):
    def kill(*_):
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(training, "save_observer", kill)
        with pytest.raises(Killed):
            run(tmp_path)
    run(tmp_path, resume=True)
    assert (tmp_path / OBSERVER).exists()
    assert eqx.tree_equal(load_observer(tmp_path / OBSERVER)[0], finished[1])


def test_a_finished_run_without_its_checkpoint_is_still_finished(finished, tmp_path, monkeypatch):
    folder = tmp_path / "run"
    shutil.copytree(finished[0], folder)
    (folder / CHECKPOINT).unlink()
    before = contents(folder)
    monkeypatch.setattr(training, "run_chunk", None)  # calling it would be an error
    assert eqx.tree_equal(run(folder, resume=True), finished[1])
    assert contents(folder) == before


def test_an_observer_that_no_run_here_made_is_left_alone(tmp_path):
    (tmp_path / OBSERVER).write_bytes(b"precious")
    with pytest.raises(BadFile, match="holds something else than a run that trains an observer"):
        run(tmp_path)
    assert contents(tmp_path) == {OBSERVER: b"precious"}


def test_handlers_of_signals_are_put_back(monkeypatch):
    monkeypatch.setattr(interrupts, "GRACE", 600.0)  # who is too slow to stop is ended, and would be all these tests
    before = signal.getsignal(signal.SIGINT)
    with stop_requests() as stopped:
        assert signal.getsignal(signal.SIGINT) is not before
        os.kill(os.getpid(), signal.SIGINT)
        assert stopped.is_set()
        with pytest.raises(KeyboardInterrupt):  # a second time stops at once
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_in_training_says_what_it_waits_for(capsys):
    with stop_requests():
        os.kill(os.getpid(), signal.SIGINT)
    said = capsys.readouterr().err
    assert "stopping once the steps under way, which may have to be compiled first, are done and saved" in said
    assert "Ctrl-C again stops now" in said


def test_outside_the_main_thread_no_handler_is_set():
    flags = []

    def elsewhere():
        with stop_requests() as stopped:
            flags.append(stopped.is_set())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert flags == [False]


# --- Refused


def draw_encounters(**changed) -> dict:
    return IDENTITY["met"] | {"species": IDENTITY["met"]["species"] | changed}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 3}, "seed is 0, not 3"),
        ({"plan": replace(TRAINING, steps=20)}, "training.steps is 10, not 20"),
        ({"plan": replace(TRAINING, learning_rate=0.5)}, "training.learning_rate is 0.01, not 0.5"),
        ({"plan": replace(TRAINING, batch=8)}, "training.batch is 4, not 8"),
        ({"config": replace(OBSERVER_CONFIG, size=7)}, "observer.size is 5, not 7"),
        ({"seed": 3, "plan": replace(TRAINING, batch=8)}, "training.batch is 4, not 8; seed is 0, not 3"),
        ({"identity": {"met": draw_encounters(share=0.6)}}, "met.species.share is 0.5, not 0.6"),
        ({"identity": {"met": draw_encounters(mood="sunny")}}, "met.species.mood is missing, not sunny"),
    ],
    ids=["seed", "steps", "learning_rate", "batch", "observer_size", "two", "whom", "field"],
)
def test_resuming_with_other_settings_is_refused_with_both_values(changed, message, finished):
    before = contents(finished[0])
    with pytest.raises(BadFile, match=f"holds another run: {message}; --out names another folder"):
        run(finished[0], resume=True, **changed)
    assert contents(finished[0]) == before


def test_resuming_with_another_architecture_is_refused_with_the_part_that_differs(finished):
    before = contents(finished[0])
    with pytest.raises(BadFile, match="observer.normalise is batch, not layer"):
        run(finished[0], resume=True, config=replace(OBSERVER_CONFIG, normalise="layer"))
    assert contents(finished[0]) == before


def test_a_folder_with_a_run_is_left_alone_without_resume(finished):
    before = contents(finished[0])
    with pytest.raises(TomnetError, match="holds a run already; --resume goes on with it"):
        run(finished[0])
    assert contents(finished[0]) == before


def test_a_folder_in_use_is_refused(tmp_path):
    with RunLock(tmp_path), pytest.raises(TomnetError, match=f"in use by process {os.getpid()}"):
        run(tmp_path)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("name", ["steps", "batch", "learning_rate", "chunk", "held_out", "evaluate_every"])
def test_settings_that_cannot_work_are_refused_by_name(name):
    nothing = type(getattr(TRAINING, name))(0)
    with pytest.raises(BadSetting, match=f"TrainingConfig.{name} = {nothing}: must be above 0"):
        replace(TRAINING, **{name: nothing})


def test_a_learning_rate_that_is_no_number_is_refused():
    with pytest.raises(BadSetting, match="TrainingConfig.learning_rate"):
        replace(TRAINING, learning_rate=float("nan"))


# --- Losses that are not finite, disks that are full


def finite(losses: dict[str, float]) -> bool:
    return all(np.isfinite(loss) for loss in losses.values())


def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_last_good_weights(finished, tmp_path, monkeypatch):
    chunk_of = training.run_chunk

    def spoil_the_second(state, sample, plan, chunk, *rest):
        state, losses = chunk_of(state, sample, plan, chunk, *rest)
        return state, losses if chunk == 0 else {"action": float("nan")}

    with monkeypatch.context() as patch:
        patch.setattr(training, "run_chunk", spoil_the_second)
        with pytest.raises(Diverged, match="a loss is not finite between steps 4 and 8; the last good weights are in"):
            run(tmp_path)
    assert int(state_on_disk(tmp_path)["step"]) == 4
    assert [row["step"] for row in metrics(tmp_path)] == [4]
    run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])


def test_weights_spoilt_by_the_last_step_of_a_chunk_are_not_taken_for_good_ones(tmp_path):
    """The first step has rate 0; the second ruins the weights after its loss was measured, and ends the chunk."""
    plan = replace(TRAINING, steps=4, chunk=2, learning_rate=1e30)
    with pytest.raises(Diverged):
        run(tmp_path, plan=plan)
    kept, _ = load_state(tmp_path / CHECKPOINT, first_state(OBSERVER_CONFIG, plan, 0))
    held_out = favourites(stream(0, HELD_OUT_STREAM), 8)
    assert finite(training.held_out_losses(kept.observer, held_out))


def test_a_run_that_ends_with_spoilt_weights_does_not_pass_for_finished(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "held_out_losses", lambda observer, encounters: {"action": float("nan")})
    with pytest.raises(Diverged):
        run(tmp_path)
    assert not (tmp_path / OBSERVER).exists()


def test_a_full_disk_leaves_the_last_checkpoint_loadable(finished, tmp_path, monkeypatch):
    replace_file, written = os.replace, []

    def full_at_the_second_checkpoint(source, target):
        if os.path.basename(target) == CHECKPOINT:
            written.append(target)
            if len(written) == 2:
                raise OSError(errno.ENOSPC, "No space left on device")
        replace_file(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full_at_the_second_checkpoint)
        with pytest.raises(TomnetError, match="cannot write .*checkpoint.safetensors: No space left on device"):
            run(tmp_path)
    assert int(state_on_disk(tmp_path)["step"]) == 4
    assert not list(tmp_path.glob(".*tmp*"))
    run(tmp_path, resume=True)
    assert same_run(tmp_path, finished[0])


# --- Streams


def test_no_two_streams_share_a_key_whatever_the_seed():
    """Each chunk of each seed, held-out agents, evaluation and weights: all start from keys of their own."""
    assert len({TRAIN_STREAM, HELD_OUT_STREAM, WEIGHT_STREAM, EVALUATION_STREAM, NOISE_STREAM}) == 5

    @jax.jit
    def keys(seeds):
        def of_seed(seed):
            streams = jax.vmap(lambda which: jax.random.fold_in(jax.random.key(seed), which))(jnp.arange(5))
            later = jax.vmap(lambda which: jax.vmap(lambda i: jax.random.fold_in(streams[which], i))(jnp.arange(100)))
            chunks_and_steps = later(jnp.asarray([TRAIN_STREAM, NOISE_STREAM])).reshape(-1)
            return jax.random.key_data(jnp.concatenate([streams, chunks_and_steps]))

        return jax.vmap(of_seed)(seeds)

    made = np.asarray(keys(jnp.arange(50))).reshape(-1, 2)
    assert len(np.unique(made, axis=0)) == 50 * 205
    assert np.array_equal(jax.random.key_data(stream(7, HELD_OUT_STREAM)), made.reshape(50, 205, 2)[7, HELD_OUT_STREAM])
