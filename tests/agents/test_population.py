"""A population: who is in it, who is held out, and its file."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from agents.small import NETWORK, made_up_population

from tomnet.agents.population import (
    CONDITIONS,
    FORMAT,
    VERSION,
    Condition,
    find_condition,
    load_population,
    save_population,
    senses_of,
    split,
)
from tomnet.support.array_files import load_arrays, save_arrays
from tomnet.support.errors import BadFile, BadSetting, TomnetError


@pytest.fixture(scope="module")
def population():
    return made_up_population("5x5", about={"command": "tomnet agents train", "seed": 4})


@pytest.fixture
def path(population, tmp_path):
    save_population(tmp_path / "5x5.safetensors", population)
    return tmp_path / "5x5.safetensors"


def changed(path, **changes):
    """The same file with another header, its checksum right."""
    arrays, header = load_arrays(path, FORMAT, VERSION)
    save_arrays(path, arrays, header | changes, format=FORMAT, version=VERSION)
    return path


# --- Who is in it


def test_each_network_is_an_agent_for_each_object(population):
    agents = population.agents()
    assert np.asarray(agents.preferred).tolist() == [0, 1, 2] * 3
    assert np.asarray(agents.senses.reach).tolist() == [2] * 9
    one = population.agent(network=2, preferred=1)
    assert eqx.tree_equal(one, jax.tree.map(lambda leaf: leaf[7], agents))
    assert np.array_equal(one.network.policy.weight, population.networks.policy.weight[2])
    assert int(one.preferred) == 1


def test_parts_of_a_population_share_no_network(population):
    training, held_out = population.agents("training"), population.agents("held out")
    assert len(training.preferred) == 6
    assert len(held_out.preferred) == 3
    mine, theirs = (set(np.asarray(part.network.value.bias)[:, 0].tolist()) for part in (training, held_out))
    assert not mine & theirs


@pytest.mark.parametrize(("count", "training"), [(20, 10), (3, 2), (1, 1)])
def test_the_split_is_in_halves_and_fixed_by_the_seed(count, training):
    mine, theirs = split(count, seed=0)
    assert len(mine) == training
    assert sorted(mine + theirs) == list(range(count))
    assert split(count, seed=0) == (mine, theirs)
    assert count < 20 or split(count, seed=1) != (mine, theirs)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"network": 3}, "network = 3: this population has 0 to 2"),
        ({"network": -1}, "network = -1: this population has 0 to 2"),
        ({"network": 0, "preferred": 3}, "preferred = 3: this population has 0 to 2"),  # the subgoal is nobody's end
    ],
)
def test_an_agent_that_is_not_there(asked, why, population):
    with pytest.raises(BadSetting, match=why):
        population.agent(**asked)


# --- Conditions


def test_the_conditions_of_the_paper():
    senses = senses_of(list(CONDITIONS.values()))
    assert dict(zip(CONDITIONS, np.asarray(senses.reach).tolist(), strict=True)) == {
        "blind": -1,
        "3x3": 1,
        "5x5": 2,
        "7x7": 3,
        "9x9": 4,
        "stateless-5x5": 2,
    }
    assert np.asarray(senses.remembers).tolist() == [True] * 5 + [False]


@pytest.mark.parametrize("width", [2, 4, 11, -1])
def test_an_even_or_oversized_field_of_view_is_refused(width):
    with pytest.raises(BadSetting, match=f"field of view = {width}: must be odd and at most 9, or 0 for the blind"):
        Condition("odd", width).check(5)


@pytest.mark.parametrize("width", [0, 1, 9])
def test_every_other_field_of_view_is_fine(width):
    Condition("fine", width).check(5)


def test_a_condition_misspelt():
    with pytest.raises(TomnetError, match="unknown condition '5x6'; did you mean '5x5'"):
        find_condition("5x6")


# --- The file


def test_what_was_saved_loads_again(population, path):
    loaded = load_population(path, expected=NETWORK)
    for name in ("condition", "returns", "training", "held_out", "about"):
        assert getattr(loaded, name) == getattr(population, name)
    for mine, theirs in zip(jax.tree.leaves(loaded.networks), jax.tree.leaves(population.networks), strict=True):
        assert mine.dtype == theirs.dtype == jnp.float32
        assert np.array_equal(mine, theirs.astype(jnp.bfloat16))  # half the bytes
    save_population(path, loaded)
    assert eqx.tree_equal(load_population(path).networks, loaded.networks)  # the second time nothing is lost


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"kinds": 6}, "kinds is 4, expected 6"),
        ({"channels": 8}, "channels is 4, expected 8"),
        ({"size": 11}, "size is 5, expected 11"),
    ],
)
def test_a_population_of_another_architecture_is_refused_with_both_values(changes, why, path):
    with pytest.raises(BadFile, match=why):
        load_population(path, expected=dataclasses.replace(NETWORK, **changes))


def test_a_header_that_does_not_fit_the_weights(path):
    changed(path, network=dataclasses.asdict(dataclasses.replace(NETWORK, hidden=9)))
    with pytest.raises(BadFile, match=r"has shape \(.*\), the network needs \(.*\)"):
        load_population(path)
    changed(path, network=dataclasses.asdict(dataclasses.replace(NETWORK, depth=2)))
    with pytest.raises(BadFile, match="another architecture"):
        load_population(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"network": {"channels": 0}},
        {"network": {"width": 3}},
        {"network": None},
        {"network": {**dataclasses.asdict(NETWORK), "channels": "many"}},
        {"network": {**dataclasses.asdict(NETWORK), "channels": 2.5}},
        {"condition": {"name": "even", "field_of_view": 4}},
        {"condition": {"name": "wide", "field_of_view": 11}},
        {"returns": ["high", 1, 2]},
        {"returns": None},
        {"about": 3},
    ],
)
def test_a_header_that_describes_no_population(changes, path):
    with pytest.raises(BadFile, match="describes no population"):
        load_population(changed(path, **changes))


@pytest.mark.parametrize("training", [[0, 1], [0], [0, 3]])
def test_a_split_that_holds_a_network_twice_or_not_at_all(training, path):
    with pytest.raises(BadFile, match="split does not cover its networks, each once"):
        load_population(changed(path, training=training))


def test_a_damaged_file_is_named(path):
    raw = path.read_bytes()
    path.write_bytes(raw[:-100])
    with pytest.raises(BadFile, match=f"5x5.safetensors: truncated: {len(raw) - 100} of {len(raw)} bytes"):
        load_population(path)
    for place in (len(raw) - 1, len(raw) // 2, 120):
        flipped = bytearray(raw)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        with pytest.raises(BadFile, match=r"5x5.safetensors: (damaged|truncated)"):
            load_population(path)
    with pytest.raises(BadFile, match="no such file"):
        load_population(path.with_name("9x9.safetensors"))


def test_a_file_of_something_else(path):
    arrays, header = load_arrays(path, FORMAT, VERSION)
    save_arrays(path, arrays, header, format="tomnet observer", version=1)
    with pytest.raises(BadFile, match="holds 'tomnet observer', not 'tomnet agents'"):
        load_population(path)


# --- Which agents these are


def test_a_digest_is_that_of_what_is_stored(tmp_path):
    population = made_up_population("5x5")
    save_population(tmp_path / "a", population)
    assert len(population.digest) == 64
    assert load_population(tmp_path / "a").digest == population.digest
    told_otherwise = dataclasses.replace(
        population, about={"seed": 9}, returns=tuple(r + 1 for r in population.returns)
    )
    assert told_otherwise.digest == population.digest


@pytest.mark.parametrize(
    "change",
    [
        lambda population: dataclasses.replace(population, condition=CONDITIONS["3x3"]),
        lambda population: dataclasses.replace(population, training=population.held_out, held_out=population.training),
        lambda population: dataclasses.replace(
            population, networks=jax.tree.map(lambda leaf: leaf[::-1], population.networks)
        ),
        lambda population: eqx.tree_at(lambda p: p.networks.value.bias, population, replace_fn=lambda leaf: leaf + 1),
    ],
    ids=["condition", "split", "order", "one-weight"],
)
def test_other_agents_have_another_digest(change):
    population = made_up_population("5x5")
    assert change(population).digest != population.digest
