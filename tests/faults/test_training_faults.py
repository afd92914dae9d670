"""Inside a training: a loss that is no number at some step, and a clock that is set back."""

import dataclasses
import itertools
import random
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest
from faults.victims import OBSERVER, OBSERVER_TRAINING, outcome, sample

from tomnet.observer.training import OBSERVER as OBSERVER_FILE
from tomnet.observer.training import Diverged, train
from tomnet.support.streams import TRAIN_STREAM, stream

SHORT = dataclasses.replace(OBSERVER_TRAINING, steps=20)
NEVER = -1


class Spoilt(eqx.Module):
    """Encounters as `sample` draws them, but those of one chunk weigh nothing that can be weighed."""

    chunk: jax.Array

    def __call__(self, key, count: int):
        bad = jax.random.fold_in(stream(0, TRAIN_STREAM), self.chunk)
        same = jnp.all(jax.random.key_data(bad) == jax.random.key_data(key)) & (self.chunk != NEVER)
        weight = jnp.where(same, jnp.nan, jnp.ones(count))
        return eqx.tree_at(lambda each: each.weight, sample(key, count), weight, is_leaf=lambda leaf: leaf is None)


def run(folder, chunk: int = NEVER):
    spoilt = Spoilt(jnp.int32(chunk))
    return train(OBSERVER, SHORT, spoilt, folder, seed=0, about={}, sample_held_out=sample, resume=True)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "run"
    run(folder)
    return outcome(folder)


def test_a_loss_made_nan_is_named_and_the_run_goes_on_from_the_step_before(sound, cases, tally, tmp_path):
    chunks = SHORT.steps // SHORT.chunk
    for chunk in cases([3], range(chunks)):
        folder = tmp_path / str(chunk)
        where = f"between steps {chunk * SHORT.chunk} and {(chunk + 1) * SHORT.chunk}"
        with pytest.raises(Diverged, match=f"a loss is not finite {where}; the last good weights are in {folder}"):
            run(folder, chunk)
        assert not (folder / OBSERVER_FILE).exists()
        run(folder)
        assert outcome(folder) == sound
        tally("loss not a number at some step", "named, resumed without it and bit-identical")


def test_a_clock_that_is_set_back_changes_nothing_but_the_time_told(sound, cases, tally, tmp_path, monkeypatch):
    """`time.time` and, as after a restart of the machine, `time.monotonic`, by up to a day at every look."""
    draw, looks = random.Random(0), itertools.count()
    for name in ("time", "monotonic"):
        true = getattr(time, name)
        monkeypatch.setattr(time, name, lambda true=true: true() - draw.uniform(0, 86_400) * (next(looks) % 3 == 1))
    for case in range(cases(1, 20)):
        run(tmp_path / str(case))
        assert outcome(tmp_path / str(case)) == sound
        tally("clock set back", "bit-identical")
    assert next(looks) > 10
