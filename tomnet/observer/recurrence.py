"""A convolutional LSTM over many steps of many agents, with gradients of its own.

Left to automatic differentiation, every step back through time would convolve for the kernel's gradient, add to a
gradient as large as all frames, and read activations that were kept in float32. Here the steps back give the gates'
gradients alone; the kernel's is then one convolution over all steps, and activations are computed anew.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..support.mesh import flattened
from .convolution import convolve_in_loop

Gates = Float[Array, "agent row col gate"]  # write, forget, read, value
Kernel = Float[Array, "3 3 channel gate"]


class Memory(NamedTuple):
    """The state of the LSTM, for each agent."""

    hidden: Float[Array, "agent row col channel"]
    cell: Float[Array, "agent row col channel"]  # in float32, or what is remembered long would wear away


def step(memory: Memory, looked: Gates, kernel: Kernel) -> Memory:
    """One step, from what is seen and what is remembered."""
    hidden, cell = _opened(looked + convolve_in_loop(memory.hidden, kernel), memory.cell)
    return Memory(hidden.astype(memory.hidden.dtype), cell)


def _opened(gates: Gates, cell: Array) -> tuple[Array, Array]:
    """What is then remembered, in float32."""
    write, forget, read, value = jnp.split(gates.astype(jnp.float32), 4, -1)
    cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(write) * jnp.tanh(value)
    return jax.nn.sigmoid(read) * jnp.tanh(cell), cell


@jax.custom_vjp
def steps(
    kernel: Kernel, looked: Float[Array, "time agent row col gate"], real: Bool[Array, "time agent"], memory: Memory
) -> tuple[Float[Array, "time agent row col channel"], Memory]:
    """What is remembered after each step, and the memory after the last; agents whose step is not real keep theirs."""
    return _forward(kernel, looked, real, memory)[0]


def _forward(kernel, looked, real, memory):
    def body(memory, now):
        looked, real = now
        gates = looked + convolve_in_loop(memory.hidden, kernel)
        hidden, cell = _opened(gates, memory.cell)
        real = real[:, None, None, None]
        hidden = jnp.where(real, hidden.astype(memory.hidden.dtype), memory.hidden)
        after = Memory(hidden, jnp.where(real, cell, memory.cell))
        return after, (hidden, gates, memory.cell)

    after, (hiddens, gates, cells) = jax.lax.scan(body, memory, (looked, real))
    return (hiddens, after), (kernel, real, memory.hidden, hiddens, gates, cells)


def _backward(kept, cotangents):
    kernel, real, first, hiddens, gates, cells = kept
    of_hiddens, of_last = cotangents

    def body(of_memory, now):
        of_hidden, real, gates, cell = now
        of_hidden = of_hidden.astype(jnp.float32) + of_memory.hidden
        real = real[:, None, None, None]
        _, back = jax.vjp(_opened, gates, cell)
        of_gates, of_cell = back((jnp.where(real, of_hidden, 0), jnp.where(real, of_memory.cell, 0)))
        through = convolve_back(of_gates, kernel).astype(jnp.float32)
        hidden = jnp.where(real, through, of_hidden)  # of what is not real, the gates' gradients are zero
        return Memory(hidden, jnp.where(real, of_cell, of_memory.cell)), of_gates

    last = Memory(of_last.hidden.astype(jnp.float32), of_last.cell)
    of_first, of_gates = jax.lax.scan(body, last, (of_hiddens, real, gates, cells), reverse=True)
    before = jnp.concatenate([first[None], hiddens[:-1]])
    flat = [flattened(each) for each in (before, of_gates)]
    _, of_kernel = jax.vjp(lambda kernel: convolve_in_loop(flat[0], kernel), kernel)
    return *of_kernel(flat[1]), of_gates, None, Memory(of_first.hidden.astype(first.dtype), of_first.cell)


def convolve_back(of_gates: Gates, kernel: Kernel) -> Float[Array, "agent row col channel"]:
    """The gradient of a convolution's input: the same with the kernel turned round."""
    return convolve_in_loop(of_gates, jnp.flip(kernel, (0, 1)).swapaxes(2, 3))


steps.defvjp(_forward, _backward)


@jax.custom_vjp
def rearranged(
    frames: Float[Array, "frame row col gate"], there: Int[Array, "place"], back: Int[Array, "frame"]
) -> Float[Array, "place row col gate"]:
    """Frames by place; `back` says where each is, -1 for those that are nowhere. So that the gradient is looked up as
    well: adding up would take far longer, and there is nothing to add."""
    return frames[there]


def _rearranged(frames, there, back):
    return frames[there], back


def _put_back(back, cotangent):
    return jnp.where((back >= 0)[:, None, None, None], cotangent[back], 0), None, None


rearranged.defvjp(_rearranged, _put_back)
