"""What becomes of an agent with a fixed plan on one level: exact expectations over its whole episode.

The agent's cell is a Markov chain, in which only ties among the best actions leave room for chance. Mass
that arrives at an object stays there, since the episode ends; what is left at the step limit has timed out.
A sum over all trajectories then takes one pass forward in time (where is the agent?) and one back (when
will it end?).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from ..episodes.targets import GAMMAS
from ..world.gridworld import World, destination
from .paths import MOVING, Paths, blocked_moves, object_at, offsets, standing_cells


class MarkovChain(eqx.Module):
    """The flow of probability out of each cell of one level. A blocked move is part of staying."""

    flow: Float[Array, "action cell"]
    ends: Bool[Array, "cell"]  # the cells of objects

    def advance(self, mass: Float[Array, "cell"]) -> Float[Array, "cell"]:
        """Where the mass in each cell goes in one step."""
        arrived = mass * self.flow[MOVING]
        for offset, flow in zip(offsets(mass.shape[0]), self.flow[:MOVING]):
            arrived += jnp.roll(mass * flow, offset)
        return arrived

    def look_ahead(self, worth: Float[Array, "cell"]) -> Float[Array, "cell"]:
        """The mean of `worth` one step ahead of each cell."""
        mean = worth * self.flow[MOVING]
        for offset, flow in zip(offsets(worth.shape[0]), self.flow[:MOVING]):
            mean += jnp.roll(worth, -offset) * flow
        return mean


def chain_of(paths: Paths, policy: Float[Array, "action cell"]) -> MarkovChain:
    blocked = blocked_moves(paths.walls)
    moving = jnp.where(blocked, 0.0, policy[:MOVING])
    staying = policy[MOVING:] + jnp.where(blocked, policy[:MOVING], 0.0).sum(0)
    return MarkovChain(jnp.concatenate([moving, staying]), object_at(paths).any(0))


def arrivals(chain: MarkovChain, start: Float[Array, "cell"], world: World) -> Float[Array, "time cell"]:
    """The probability of arriving in each cell at each time up to the step limit; none after the end."""

    def step(arrived, _):
        arrived = chain.advance(jnp.where(chain.ends, 0.0, arrived))
        return arrived, arrived

    _, later = jax.lax.scan(step, start, length=world.step_limit)
    return jnp.concatenate([start[None], later])


def expected_worth(chain: MarkovChain, ended: Float[Array, "time cell"]) -> Float[Array, "time cell"]:
    """What to expect on arriving in each cell at each time, when ending at T in c is worth `ended[T, c]`."""

    def back(worth, ended):
        worth = jnp.where(chain.ends, ended, chain.look_ahead(worth))
        return worth, worth

    _, earlier = jax.lax.scan(back, ended[-1], ended[:-1], reverse=True)
    return jnp.concatenate([earlier, ended[-1:]])


def consumption_everywhere(chain: MarkovChain, paths: Paths, world: World) -> Float[Array, "object cell"]:
    """The probability that each object is eaten before the end, with each cell as the start."""

    def of_object(here):
        ended = jnp.broadcast_to(here.astype(jnp.float32), (world.step_limit + 1, here.shape[0]))
        return expected_worth(chain, ended)[0]

    return jax.vmap(of_object)(object_at(paths))


def successor_maps(chain: MarkovChain, arrived: Float[Array, "time cell"], world: World) -> Float[Array, "gamma cell"]:
    """The expected maps of `episodes.targets`, where each trajectory is normalised by its own length T:

    E[ sum_t gamma^t 1[at c] / Z(T) ] = sum_t gamma^t P(arrive in c at t) E[ 1 / Z(T) | arrived in c at t ].
    """
    times = jnp.arange(world.step_limit + 1)

    def of_discount(gamma):
        weight = gamma**times
        ended = jnp.broadcast_to((1 / weight.cumsum())[:, None], arrived.shape)
        return (weight[:, None] * arrived * expected_worth(chain, ended)).sum(0)

    return jax.vmap(of_discount)(jnp.asarray(GAMMAS))


def snapshot_probability(
    chain: MarkovChain,
    paths: Paths,
    policy: Float[Array, "action cell"],
    cell: Int[Array, ""],
    action: Int[Array, ""],
    world: World,
) -> Float[Array, ""]:
    """The probability that a snapshot of an episode shows this cell and this action.

    The episode starts in any free cell, and the snapshot is taken at any of its T times: the sum over times
    t of P(in the cell at t) pi(action | cell) E[ 1 / T | next cell at t + 1 ].
    """
    free = standing_cells(paths)
    arrived = free * arrivals(chain, free / free.sum(), world)  # on an object there is no next action to show
    lengths = jnp.arange(world.step_limit + 1).clip(1)[:, None]  # no episode ends before its first step
    chosen = expected_worth(chain, jnp.broadcast_to(1.0 / lengths, arrived.shape))
    size = round(paths.walls.shape[0] ** 0.5)
    after, _ = destination(paths.walls.reshape(size, size), cell, action)
    return policy[action, cell] * (arrived[:-1, cell] * chosen[1:, after]).sum()
