"""How programs are compiled on the CPU."""

import os

import jax
import pytest

from tomnet.support import cpu
from tomnet.support.cpu import UNOPTIMISED, compile_quickly

FLAG = "--xla_cpu_use_fusion_emitters"


@pytest.fixture
def optimised(monkeypatch):
    """As users compile; afterwards as tests do."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", False)
    monkeypatch.delenv(UNOPTIMISED, raising=False)
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    monkeypatch.setenv("XLA_FLAGS", "--xla_a=1")
    monkeypatch.setattr(cpu, "version", lambda name: "0.10.2")
    yield
    jax.config.update("jax_disable_most_optimizations", before)


def hurries() -> bool:
    return jax.config.read("jax_disable_most_optimizations")


@pytest.mark.usefixtures("optimised")
def test_a_command_that_computes_little_compiles_quickly():
    compile_quickly()
    assert hurries()
    assert os.environ["XLA_FLAGS"].startswith(f"--xla_a=1 {FLAG}=false")


@pytest.mark.usefixtures("optimised")
def test_what_the_user_has_set_stays(monkeypatch):
    monkeypatch.setenv(UNOPTIMISED, "0")
    compile_quickly()
    assert not hurries()
    assert os.environ["XLA_FLAGS"] == "--xla_a=1"
    monkeypatch.delenv(UNOPTIMISED)
    monkeypatch.setenv("XLA_FLAGS", f"{FLAG}=true")
    compile_quickly()
    assert hurries()
    assert os.environ["XLA_FLAGS"].split()[0] == f"{FLAG}=true"
    assert os.environ["XLA_FLAGS"].count(FLAG) == 1


@pytest.mark.usefixtures("optimised")
@pytest.mark.parametrize(
    ("platforms", "cuda", "expected"), [("", False, True), ("", True, False), ("cuda", True, False)]
)
def test_only_where_the_cpu_computes(platforms, cuda, expected, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", platforms)
    monkeypatch.setattr(cpu, "find_spec", lambda name: object() if cuda else None)
    compile_quickly()
    assert hurries() is expected
    assert (FLAG in os.environ["XLA_FLAGS"]) is expected


@pytest.mark.usefixtures("optimised")
def test_a_version_that_may_not_know_the_flags_is_not_given_them(monkeypatch):
    monkeypatch.setattr(cpu, "version", lambda name: "0.11.0")
    compile_quickly()
    assert hurries()
    assert os.environ["XLA_FLAGS"] == "--xla_a=1"
