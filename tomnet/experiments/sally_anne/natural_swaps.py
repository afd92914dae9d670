"""The natural Sally-Anne test (section 3.4): swaps on fresh levels, for agents and for an observer who sees them all.

Where an agent's walk ends (`walks`), two worlds go on, with a swap and without (`swap_effects`). How far apart are, in
the two, what the agent does and believes, where it goes, and what the observer predicts of all that?

Where agents go takes long to find out; so these futures, too, are kept once they have been rolled out.
"""

import dataclasses
from functools import lru_cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Key, Scalar

from ...agents.population import condition_file
from ...episodes.episode import QueryState
from ...episodes.futures import empirical_successors
from ...episodes.history import History
from ...episodes.predictions import Probabilities
from ...episodes.targets import GAMMAS
from ...observer.tomnet import ToMnet
from ...support.progress import stage
from ...support.trees import pick, stack_on_host
from ..analysis.divergence import jensen_shannon
from .counterfactuals import check_observer, predict_counterfactuals
from .specs import MIXED
from .swap_effects import after_swap, without_swaps
from .walks import Walks, keys_of, walk_all

FUTURE_ROLLOUTS = 50  # of the agent from each of the two worlds, for its successor maps
# pairs at each distance whose future is rolled out, as a share of the agents asked for; the rest would take hours
CHECKED = 0.04


@dataclasses.dataclass(frozen=True)
class Effects:
    """D_JS between the two worlds of every pair that is kept; nan where it was not measured."""

    network: np.ndarray  # [pair]
    distance: np.ndarray  # [pair]
    agents: dict[str, np.ndarray]  # "policy", "belief", and "successor" for each discount: [pair] or [pair, gamma]
    observer: dict[str, np.ndarray]
    reach: int

    @property
    def in_view(self) -> np.ndarray:
        return self.distance <= self.reach


def effects_of(walks: Walks, observer: ToMnet, futures: np.ndarray | None = None) -> Effects:
    """Of every pair that is kept; `futures` are the `agents_futures`, which take long."""
    return effects_foretold(walks, *predictions(observer, walks), futures)


def effects_foretold(
    walks: Walks, where: np.ndarray, told: Probabilities, futures: np.ndarray | None = None
) -> Effects:
    """The same, whoever made the predictions: `told`, axes [world, walk], of the walks `where` (as `predictions`)."""
    kept = _where_kept(walks)
    agents = {name: _pick([getattr(pairs, name) for pairs in walks.pairs], kept) for name in ("policy", "belief")}
    nothing = np.full((len(kept), len(GAMMAS)), np.nan)
    agents["successor"] = nothing if futures is None else futures
    return Effects(
        network=walks.networks[kept[:, 0]],
        distance=_pick([pairs.distance for pairs in walks.pairs], kept),
        agents=agents,
        observer=_foretold(walks, where, told, kept),
        reach=walks.pairs[0].reach,
    )


def _where_kept(walks: Walks) -> np.ndarray:
    """`[pair, 3]`: the agent, the swap and the level of every pair that is kept."""
    kept = np.stack([np.broadcast_to(pairs.kept, pairs.distance.shape) for pairs in walks.pairs])
    return np.argwhere(kept)


def _pick(each: list[np.ndarray], where: np.ndarray) -> np.ndarray:
    return np.stack(each)[tuple(where.T)]


def predictions(observer: ToMnet, walks: Walks) -> tuple[np.ndarray, Probabilities]:
    """Which walks `[walk, (agent, level)]` were kept, and what is predicted for each: axes [world, walk].

    The first world is the one without a swap.
    """
    check_observer(observer, walks.world, ("action", "successor"))
    where = np.argwhere(walks.kept)
    if not len(where):
        return where, Probabilities(None, None, None, None)
    return where, predict_counterfactuals(observer, *asked_after(walks, where))


def asked_after(walks: Walks, where: np.ndarray) -> tuple[History, QueryState]:
    """What was seen of the agent on each of these walks, and what is asked: axes [world, walk]."""
    agent, level = where.T
    recent, states = (
        pick(stack_on_host(each), (agent, level))
        for each in zip(*((pairs.episodes, pairs.rollout_state.state) for pairs in walks.pairs))
    )
    swapped = np.stack([pairs.object_cells for pairs in walks.pairs])[agent, :, level]  # [walk, swap, kind]
    worlds = np.concatenate([states.object_cells[:, None], swapped], 1).swapaxes(0, 1)

    def same(leaf: np.ndarray) -> Array:
        return jnp.broadcast_to(jnp.asarray(leaf), (len(worlds), *leaf.shape))

    queries = QueryState(same(states.walls), same(states.agent_cell), jnp.asarray(worlds))
    return History.of(pick(walks.past, (agent, level)), recent), queries


def _foretold(walks: Walks, where: np.ndarray, told: Probabilities, kept: np.ndarray) -> dict[str, np.ndarray]:
    number = {(agent, level): walk for walk, (agent, level) in enumerate(where.tolist())}
    walk = np.array([number[agent, level] for agent, _, level in kept.tolist()], int)
    swap = 1 + kept[:, 1]
    if told.action is None:  # nobody got anywhere
        return {"policy": np.zeros(0), "belief": np.zeros(0), "successor": np.zeros((0, len(GAMMAS)))}
    effects = {
        "policy": jensen_shannon(told.action[0, walk], told.action[swap, walk]),
        "successor": np.full((len(kept), len(GAMMAS)), np.nan),
        "belief": np.full(len(kept), np.nan),
    }
    if told.successor is not None:
        maps = told.successor.reshape(*told.successor.shape[:3], -1)
        effects["successor"] = jensen_shannon(maps[0, walk], maps[swap, walk])
    if told.belief is not None:
        apart = jensen_shannon(told.belief[0, walk], told.belief[swap, walk])
        effects["belief"] = apart[:, : walks.world.objects].mean(-1)
    return effects


# --- Where the agents themselves go


def futures_of(seed: int, conditions: tuple[str, ...], agents: int) -> dict[str, np.ndarray]:
    """The `agents_futures` of each condition, on the walks that `walk_all` takes."""
    return {name: _futures(condition_file(name), name, agents, seed) for name in conditions}


@lru_cache(maxsize=len(MIXED))
def _futures(population: Path, condition: str, agents: int, seed: int) -> np.ndarray:
    walks = walk_all(seed, (condition,), agents)[condition]
    key = jax.random.fold_in(keys_of(seed)[1], MIXED.index(condition))
    return agents_futures(key, walks, max(3, int(np.ceil(CHECKED * agents))), rollouts_for(agents))


def rollouts_for(agents: int) -> int:
    """Fewer in a small evaluation, which is for trying out."""
    return min(FUTURE_ROLLOUTS, max(2, agents // 10))


def agents_futures(key: Key[Scalar, ""], walks: Walks, each: int, rollouts: int = FUTURE_ROLLOUTS) -> np.ndarray:
    """D_JS of the agents' empirical successor maps `[pair, gamma]`, for so many pairs at each distance."""
    kept = _where_kept(walks)
    apart = np.full((len(kept), len(GAMMAS)), np.nan)
    far = _pick([pairs.distance for pairs in walks.pairs], kept)
    world = without_swaps(walks.world)
    chosen = _spread(far, each)
    stage(f"where the agents go after {len(chosen)} swaps, in {rollouts} rollouts each")
    for number in chosen:
        agent, swap, level = kept[number]
        rollout_state = pick(walks.pairs[agent].rollout_state, level)
        changed = after_swap(rollout_state, walks.pairs[agent].object_cells[swap, level])
        draws = jax.random.fold_in(key, int(number))  # the same in both worlds: what differs comes from the swap
        maps = [
            np.asarray(empirical_successors(draws, walks.agents[agent], start, world, rollouts))
            for start in (rollout_state, changed)
        ]
        apart[number] = jensen_shannon(*(one.reshape(len(GAMMAS), -1) for one in maps))
    return apart


def _spread(distance: np.ndarray, wanted: int) -> list[int]:
    """At each distance so many pairs, evenly from all of them, and so from all networks."""
    chosen: list[int] = []
    for far in np.unique(distance):
        mine = np.flatnonzero(distance == far)
        chosen += mine[np.linspace(0, len(mine) - 1, min(wanted, len(mine))).astype(int)].tolist()
    return chosen
