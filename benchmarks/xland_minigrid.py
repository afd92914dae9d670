"""World steps a second, side by side with XLand-MiniGrid in one run.

    python benchmarks/xland_minigrid.py        # needs the extra: pip install 'tomnet[bench]'

Both step the same number of 11×11 worlds with random actions, observe a 5×5 view and begin anew when an episode
ends. The two take turns, so that whatever else the machine does falls on both.
"""

import argparse
import statistics
import sys
from collections.abc import Callable

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

from tomnet.cli.bench import random_walk, seconds_of  # noqa: E402
from tomnet.support.errors import needs_extra  # noqa: E402
from tomnet.support.provenance import provenance  # noqa: E402
from tomnet.world.gridworld import MAZE, SUBGOAL_MAZE  # noqa: E402

with needs_extra("bench"):
    import xminigrid
    from xminigrid.wrappers import GymAutoResetWrapper

FIELD_OF_VIEW = 5


def xland_walk(worlds: int, steps: int, size: int, step_limit: int) -> Callable[[], jax.Array]:
    """XLand-MiniGrid's own FourRooms, made as large as tomnet's mazes, with its own wrapper for auto-reset."""
    env, params = xminigrid.make("MiniGrid-FourRooms")
    params = params.replace(height=size, width=size, view_size=FIELD_OF_VIEW, max_steps=step_limit)
    env = GymAutoResetWrapper(env)
    first = jax.jit(jax.vmap(env.reset, in_axes=(None, 0)))(params, jax.random.split(jax.random.key(0), worlds))

    def act(carry, key):
        timestep, total = carry
        actions = jax.random.randint(key, (worlds,), 0, env.num_actions(params))
        timestep = jax.vmap(env.step, in_axes=(None, 0, 0))(params, timestep, actions)
        return (timestep, total + timestep.observation.sum((1, 2, 3)) + timestep.reward), None

    @jax.jit
    def walk(timestep):
        keys = jax.random.split(jax.random.key(1), steps)
        return jax.lax.scan(act, (timestep, jnp.zeros(worlds)), keys)[0][1]

    return lambda: walk(first)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    on_cpu = jax.default_backend() == "cpu"
    parser.add_argument("--worlds", type=int, default=4096 if on_cpu else 65_536)
    parser.add_argument("--steps", type=int, default=64 if on_cpu else 512)
    parser.add_argument("--repeats", type=int, default=7)
    args = parser.parse_args()
    size, limit = SUBGOAL_MAZE.size, SUBGOAL_MAZE.step_limit
    walks = {
        "XLand-MiniGrid FourRooms": xland_walk(args.worlds, args.steps, size, limit),
        "tomnet maze": random_walk(MAZE, args.worlds, args.steps, FIELD_OF_VIEW),
        "tomnet subgoal maze": random_walk(SUBGOAL_MAZE, args.worlds, args.steps, FIELD_OF_VIEW),
    }
    for walk in walks.values():
        seconds_of(walk)  # compiles
    rates: dict[str, list[float]] = {name: [] for name in walks}
    for _ in range(args.repeats):
        for name, walk in walks.items():
            rates[name].append(args.worlds * args.steps / seconds_of(walk))
    theirs = statistics.median(rates["XLand-MiniGrid FourRooms"])
    print(f"{args.worlds} worlds × {args.steps} steps, {args.repeats} repeats", file=sys.stderr)
    for name, each in rates.items():
        median = statistics.median(each)
        print(f"{name:26} {median:12,.0f} steps/s   {median / theirs:6.1f}×   ({min(each):,.0f} … {max(each):,.0f})")
    print(f"xminigrid {xminigrid.__version__}, " + ", ".join(f"{n} {v}" for n, v in provenance().items()))


if __name__ == "__main__":
    main()
