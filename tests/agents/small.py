"""Deep RL agents small enough for tests: a 5×5 world, a few channels, random weights made without compiling."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tomnet.agents.actor_critic import Network, NetworkConfig, Senses
from tomnet.agents.population import CONDITIONS, Population, blank_networks
from tomnet.agents.population_config import PopulationTraining
from tomnet.agents.reinforcement import LearnerConfig
from tomnet.world.gridworld import World

# short episodes, so that several fit into an unroll; no swaps, whose draws know nothing of preferences
WORLD = World(size=5, objects=3, subgoal=True, max_walls=1, step_limit=5)
NETWORK = NetworkConfig(
    size=5, kinds=4, channels=4, memory_channels=4, depth=1, belief_channels=4, hidden=8, salience_channels=4
)

# two chunks of six updates, a row for every second one and a checkpoint after each row
SMALL = PopulationTraining(
    learner=LearnerConfig(steps=96, worlds=4, unroll=4, pool=8),
    network=NETWORK,
    conditions=("blind", "3x3"),
    networks=2,
    keep=1,
    chunk=2,
    levels=4,
    world=WORLD,
    report_every=2,
    checkpoint_seconds=0.0,
)

SIGHTED, BLIND = Senses(jnp.int32(1), jnp.bool_(True)), Senses(jnp.int32(-1), jnp.bool_(True))
STATELESS = Senses(jnp.int32(1), jnp.bool_(False))


def made_up_networks(count: int, config: NetworkConfig = NETWORK, seed: int = 0) -> Network:
    """Stacked networks whose outputs depend strongly on what they see."""
    random = np.random.default_rng(seed)

    def weights(leaf):
        if not isinstance(leaf, jax.ShapeDtypeStruct):
            return leaf
        return jnp.asarray(random.normal(0, 0.5, leaf.shape), leaf.dtype)

    networks = jax.tree.map(weights, blank_networks(config, count))
    # who reads five times as much would else be all but certain of everything
    return eqx.tree_at(lambda net: net.hidden.weight, networks, networks.hidden.weight / 3)


def made_up_network(seed: int = 0) -> Network:
    return jax.tree.map(lambda leaf: leaf[0], made_up_networks(1, seed=seed))


def made_up_population(
    condition: str = "3x3", count: int = 3, config: NetworkConfig = NETWORK, seed: int = 0, about: dict | None = None
) -> Population:
    returns = tuple(1.0 - 0.1 * i for i in range(count))
    held_out = tuple(range(1, count, 2))
    training = tuple(range(0, count, 2))
    networks = made_up_networks(count, config, seed)
    return Population(networks, CONDITIONS[condition], returns, training, held_out, about or {})
