"""Observers on disk: what is written comes back, and what does not fit is refused by name."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import compiled_programs, made_up

from tomnet.observer.checkpoint import OBSERVER_FORMAT, VERSION, load_observer, load_state, save_observer, save_state
from tomnet.observer.config import ObserverConfig
from tomnet.support.array_files import load_arrays, save_arrays
from tomnet.support.errors import BadFile
from tomnet.support.named_arrays import named_arrays

CONFIG = ObserverConfig(
    size=5, objects=1, character="sequence", channels=2, character_channels=2, torso_depth=1, heads=("action",)
)


@pytest.fixture(scope="module")
def observer():
    return made_up(CONFIG)


@pytest.fixture
def saved(observer, tmp_path):
    path = tmp_path / "observer.safetensors"
    save_observer(path, observer, {"observer": "someone", "seed": 3})
    return path


def test_an_observer_comes_back_as_it_was(observer, saved):
    loaded, about = load_observer(saved)
    assert loaded.config == CONFIG
    assert about == {"observer": "someone", "seed": 3}
    assert eqx.tree_equal(loaded, observer)


def test_an_observer_may_be_kept_in_half_the_bytes(observer, tmp_path):
    path = tmp_path / "small.safetensors"
    save_observer(path, observer, {}, dtype=jnp.bfloat16)
    loaded, _ = load_observer(path)
    for one, other in zip(jax.tree.leaves(loaded), jax.tree.leaves(observer), strict=True):
        assert one.dtype == other.dtype
        assert np.allclose(one, other, rtol=0.01)


def test_nothing_is_compiled_to_read_one(observer, tmp_path):
    """Each shape would be a program of its own, and of a cold start most would be these."""
    save_observer(tmp_path / "half.safetensors", observer, {}, dtype=jnp.bfloat16)
    jax.clear_caches()
    with compiled_programs() as names:
        load_observer(tmp_path / "half.safetensors")
    assert names == []


def test_arrays_have_readable_names(observer):
    names = named_arrays(observer)
    assert "character_net.lstm.gates.kernel" in names
    assert "prediction_net.action.dense.weight" in names
    assert len(names) == len(jax.tree.leaves(eqx.filter(observer, eqx.is_array)))


def change(path, arrays=lambda arrays: arrays, config=lambda config: config) -> None:
    """The file again, with other arrays or another config."""
    stored, header = load_arrays(path, OBSERVER_FORMAT, VERSION)
    header = header | {"config": config(dict(header["config"]))}
    save_arrays(path, arrays(dict(stored)), header, format=OBSERVER_FORMAT, version=VERSION)


def test_an_array_too_few_is_refused_by_name(saved):
    change(saved, arrays=lambda arrays: {name: a for name, a in arrays.items() if "dense.bias" not in name})
    with pytest.raises(BadFile, match=r"another architecture: .*dense\.bias is in only one"):
        load_observer(saved)


def test_an_array_too_many_is_refused_by_name(saved):
    change(saved, arrays=lambda arrays: arrays | {"prediction_net.mood": np.zeros(3)})
    with pytest.raises(BadFile, match=r"another architecture: prediction_net\.mood is in only one"):
        load_observer(saved)


def test_an_array_of_another_shape_is_refused_by_name(saved):
    change(saved, config=lambda config: config | {"channels": 3})
    with pytest.raises(BadFile, match=r"prediction_net\.\S+ has shape \(.*\), the network needs \(.*\)"):
        load_observer(saved)


@pytest.mark.parametrize(
    ("config", "why"),
    [
        (lambda config: config | {"mood": "sunny"}, "config.mood is unknown"),
        (lambda config: config | {"channels": "many"}, "config.channels should be a whole number, not 'many'"),
        (lambda config: config | {"torso_depth": 2}, "ObserverConfig.torso_depth = 2"),
        (lambda config: config | {"heads": ["mood"]}, "ObserverConfig.heads = mood"),
        (
            lambda config: {name: value for name, value in config.items() if name != "mental"},
            "config.mental is missing",
        ),
        (lambda config: {}, "config.size is missing"),
    ],
    ids=["a-field-not-known", "a-word", "a-depth-that-cannot-be", "a-head-not-known", "a-field-missing", "empty"],
)
def test_a_file_with_a_config_that_cannot_be_built_is_refused_by_the_field(config, why, saved):
    """A file from elsewhere, or from a later version, is no reason for a traceback."""
    change(saved, config=config)
    with pytest.raises(BadFile, match=f"describes no observer that this tomnet can build: {why}"):
        load_observer(saved)


def test_a_training_state_is_not_an_observer(tmp_path, observer):
    save_state(tmp_path / "state", observer, {})
    with pytest.raises(BadFile, match="holds 'tomnet training state', not 'tomnet observer'"):
        load_observer(tmp_path / "state")


def test_a_state_comes_back_with_its_header(tmp_path):
    state = {"weights": jnp.arange(3.0), "step": jnp.int32(7), "name": "not an array"}
    save_state(tmp_path / "state", state, {"seed": 1})
    blank = {"weights": jnp.zeros(3), "step": jnp.int32(0), "name": "not an array"}
    loaded, header = load_state(tmp_path / "state", blank)
    assert loaded["weights"].tolist() == [0, 1, 2]
    assert int(loaded["step"]) == 7
    assert loaded["name"] == "not an array"
    assert header == {"seed": 1}


def test_the_state_before_is_kept(tmp_path):
    path = tmp_path / "state"
    for step in (1, 2):
        save_state(path, {"step": jnp.int32(step)}, {})
    assert int(load_state(path, {"step": jnp.int32(0)})[0]["step"]) == 2
    path.write_bytes(b"cut off")
    with pytest.raises(BadFile, match="an intact earlier copy is .*state.previous"):
        load_state(path, {"step": jnp.int32(0)})
    assert int(load_state(tmp_path / "state.previous", {"step": jnp.int32(0)})[0]["step"]) == 1
