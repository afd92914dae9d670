"""How programs are compiled on the CPU."""

import jax
import pytest

from tomnet.support.cpu import compile_quickly

SET = "JAX_DISABLE_MOST_OPTIMIZATIONS"


@pytest.fixture
def optimised():
    """As users compile; afterwards as tests do."""
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", False)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.mark.usefixtures("optimised")
def test_a_command_that_computes_little_compiles_quickly(monkeypatch):
    monkeypatch.delenv(SET, raising=False)
    compile_quickly()
    assert jax.config.read("jax_disable_most_optimizations")


@pytest.mark.usefixtures("optimised")
def test_what_the_user_has_set_stays(monkeypatch):
    monkeypatch.setenv(SET, "0")
    compile_quickly()
    assert not jax.config.read("jax_disable_most_optimizations")
