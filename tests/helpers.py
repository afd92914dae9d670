"""Shared by tests of several folders: distances and statistics in plain Python, and made-up encounters."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from tomnet.agents.random_policy import RandomAgent
from tomnet.episodes.encounter import Encounter
from tomnet.episodes.episode import NONE, Episode, QueryState, Snapshot
from tomnet.episodes.history import History
from tomnet.episodes.targets import Targets
from tomnet.experiments.description import Description
from tomnet.experiments.experiment import Preset
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.observer.checkpoint import blank_observer
from tomnet.observer.config import ObserverConfig
from tomnet.observer.domain import Domain
from tomnet.observer.tomnet import ToMnet
from tomnet.support.typed_json import from_json
from tomnet.world import gridworld, levels
from tomnet.world.gridworld import World

UP, DOWN, LEFT, RIGHT, STAY = range(5)
OFFSETS = ((-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))

step = eqx.filter_jit(gridworld.step)
sample_level = eqx.filter_jit(levels.sample_level)


@eqx.filter_jit
def sample_levels(key, world, count: int) -> gridworld.Level:
    return jax.vmap(levels.sample_level, in_axes=(0, None))(jax.random.split(key, count), world)


def pick(tree, index):
    """One element, or a part, of a stacked PyTree."""
    return jax.tree.map(lambda leaf: leaf[index], tree)


def around(size: int, cell: int) -> list[int | None]:
    """The cell that each action would lead to on an empty grid; None off the grid."""
    row, col = divmod(cell, size)
    targets = [(row + down, col + right) for down, right in OFFSETS]
    return [r * size + c if 0 <= r < size and 0 <= c < size else None for r, c in targets]


def distances_to(goal: int, walls: np.ndarray, avoid: set[int] = frozenset()) -> dict[int, int]:
    """Breadth-first: how many steps each cell is from `goal`, never through a wall or a cell to avoid."""
    size, flat = walls.shape[0], np.asarray(walls).reshape(-1)
    found, queue = {goal: 0}, deque([goal])
    while queue:
        here = queue.popleft()
        for there in around(size, here):
            if there is not None and there not in found and not flat[there] and there not in avoid:
                found[there] = found[here] + 1
                queue.append(there)
    return found


def within(observed: float, expected: float, variance: float, count: int, errors: float = 4.0) -> bool:
    """Whether a mean over `count` draws lies within a few standard errors of what it should be."""
    return abs(observed - expected) <= errors * (variance / count) ** 0.5


def random_encounters(
    seed: int = 0,
    past_counts: tuple[int, ...] = (0, 1, 2, 3, 3),
    time: int = 4,
    size: int = 5,
    objects: int = 2,
    snapshots: bool = False,
) -> Encounter:
    """Encounters of random numbers, one for each entry of `past_counts`; no world or agent is needed."""
    random = np.random.default_rng(seed)
    agents, past = len(past_counts), 3

    def cells(*shape: int) -> jax.Array:
        return jnp.asarray(random.integers(0, size * size, shape), jnp.int16)

    def walls(*shape: int) -> jax.Array:
        return jnp.asarray(random.random((*shape, size, size)) < 0.2)

    successor = random.dirichlet(np.ones(size * size), (agents, 3)).reshape(agents, 3, size, size)
    episodes = Episode(
        walls=walls(agents, past),
        agent_cells=cells(agents, past, time),
        object_cells=cells(agents, past, time, objects),
        actions=jnp.asarray(random.integers(0, 5, (agents, past, time)), jnp.int8),
        consumed=jnp.full((agents, past, time), NONE, jnp.int8),
        final_cell=cells(agents, past),
        length=jnp.asarray(random.integers(1, time, (agents, past), endpoint=True), jnp.int16),
    )
    past_real = jnp.arange(past) < jnp.asarray(past_counts)[:, None]
    return Encounter(
        History(episodes.first_pair() if snapshots else episodes, past_real),
        query=QueryState(walls(agents), cells(agents), cells(agents, objects)),
        targets=Targets(
            action=jnp.asarray(random.integers(0, 5, agents), jnp.int32),
            consumption=jnp.asarray(random.random((agents, objects)) < 0.5, jnp.float32),
            successor=jnp.asarray(successor, jnp.float32),
        ),
    )


def quick_play(world: World, steps: int | None = None):
    """As `rollout.play` for random agents, whose actions depend on nothing: one step, on a made-up level."""

    def episodes(key, agent: RandomAgent, count: int) -> Episode:
        action_key, cell_key = jax.random.split(key)
        actions = jax.random.categorical(action_key, jnp.log(agent.action_probabilities), shape=(count, 1))
        cells = jax.random.randint(cell_key, (count, world.kinds + 2), 0, world.cells).astype(jnp.int16)
        return Episode(
            walls=jnp.zeros((count, world.size, world.size), bool),
            agent_cells=cells[:, :1],
            object_cells=cells[:, None, 2:],
            actions=actions.astype(jnp.int8),
            consumed=jnp.full((count, 1), NONE, jnp.int8),
            final_cell=cells[:, 1],
            length=jnp.ones(count, jnp.int16),
        )

    return episodes


def says(experiment: str, observer: str, preset: Preset = "smoke", **more) -> dict:
    """What a trained observer of this experiment says about itself, the populations it met left out."""
    specs = {each.name: each for each in EXPERIMENTS[experiment].specs(preset)}
    told = {"experiment": experiment, "observer": observer, "preset": preset, "populations": {}}
    return told | {"met": specs[observer].met} | more


def described(experiment: str, observer: str, preset: Preset = "smoke", **more) -> Description:
    """The same, as it is read."""
    return from_json(Description, says(experiment, observer, preset, **more))


def made_up(config: ObserverConfig, seed: int = 0, domain: Domain | None = None) -> ToMnet:
    """An observer with random weights, made without compiling anything."""
    random = np.random.default_rng(seed)

    def weights(path, shape):
        name = jax.tree_util.keystr(path)
        if not isinstance(shape, jax.ShapeDtypeStruct):
            return shape
        if name.endswith(("running_variance", "scale")):
            return jnp.asarray(np.ones(shape.shape, shape.dtype))  # `jnp.ones` compiles a program for each shape
        if name.endswith(("running_mean", "updates")):
            return jnp.asarray(np.zeros(shape.shape, shape.dtype))
        return jnp.asarray(random.normal(0, 0.3, shape.shape), shape.dtype)

    return jax.tree_util.tree_map_with_path(weights, blank_observer(config, domain))


def spoilt(encounters: Encounter, seed: int = 99) -> Encounter:
    """The same encounters with rubbish wherever the masks say that nothing is real."""
    past, real = encounters.past, encounters.past_real
    snapshots, episodes = isinstance(past, Snapshot), real.shape[1]
    size, objects, time = past.walls.shape[-1], past.object_cells.shape[-1], 1 if snapshots else past.actions.shape[2]
    rubbish = random_encounters(seed, (episodes,) * len(real), time, size, objects, snapshots).past

    def keep(mask):
        def choose(good, bad):
            return jnp.where(mask.reshape(mask.shape + (1,) * (good.ndim - mask.ndim)), good, bad)

        return choose

    whole = keep(real)
    if snapshots:
        off_the_grid = eqx.tree_at(lambda past: past.agent_cell, rubbish, 3 * rubbish.agent_cell - 20)
        return eqx.tree_at(lambda encounter: encounter.past, encounters, jax.tree.map(whole, past, off_the_grid))
    steps = keep(past.real & real[..., None])
    spoilt_past = Episode(
        walls=whole(past.walls, rubbish.walls),
        agent_cells=steps(past.agent_cells, 3 * rubbish.agent_cells - 20),  # mostly off the grid
        object_cells=steps(past.object_cells, rubbish.object_cells),
        actions=steps(past.actions, rubbish.actions),
        consumed=steps(past.consumed, rubbish.consumed + 1),
        final_cell=whole(past.final_cell, rubbish.final_cell),
        length=whole(past.length, rubbish.length),
    )
    return eqx.tree_at(lambda encounter: encounter.past, encounters, spoilt_past)


@contextmanager
def compiled_programs() -> Iterator[list[str]]:
    """The names of all programs that are compiled in here, or read from the cache of those that once were."""
    names = []

    def note(event: str, seconds: float, fun_name: str = "", **_) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(fun_name.removeprefix("jit(").removesuffix(")"))

    jax.monitoring.register_event_duration_secs_listener(note)
    try:
        yield names
    finally:
        jax.monitoring.unregister_event_duration_listener(note)


def contents(folder) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}
