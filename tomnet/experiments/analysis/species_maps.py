"""Fig. 7b: where agents of the three species are expected to go, beside where they go."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Key, Scalar

from ...episodes.episode import QueryState
from ...episodes.futures import empirical_successors
from ...episodes.rollout import start_rollout
from ...episodes.targets import GAMMAS
from ...observer.tomnet import Reading, ToMnet
from ...support.trees import pick
from ...world.gridworld import SUBGOAL_MAZE
from ...world.levels import draw_levels
from .divergence import jensen_shannon
from .evaluation_set import EvaluationSet, predict_everything
from .examples import PlainEpisode, PlainState, plain_episode, plain_state
from .three_species import SPECIES

MAP_LEVELS, MAP_ROLLOUTS, SHOWN_OBJECT = 12, 64, 0


@dataclasses.dataclass(frozen=True)
class SpeciesMap:
    name: str
    past: PlainEpisode
    expected: Float[np.ndarray, "gamma row col"]
    happened: Float[np.ndarray, "gamma row col"]


@dataclasses.dataclass(frozen=True)
class Maps:
    """Where one agent of each species is expected to go from one start, beside where its rollouts go."""

    rule: str
    query: PlainState
    preferred: int
    past: int
    rollouts: int
    gammas: tuple[float, ...]
    species: list[SpeciesMap]
    apart: Float[np.ndarray, "expected happened"]  # D_JS, mean over levels
    nearest_is_own: float


def species_maps(key: Key[Scalar, ""], observer: ToMnet, met: EvaluationSet, reading: Reading) -> Maps:
    level_key, act_key = jax.random.split(key)
    levels = draw_levels(level_key, MAP_LEVELS, SUBGOAL_MAZE)
    chosen = [
        int(np.flatnonzero((met.species == kind) & (met.preferred == SHOWN_OBJECT))[0]) for kind in range(len(SPECIES))
    ]
    query = QueryState(levels.walls, levels.start_cell, levels.object_cells)
    expected, happened = [], []
    for agent in chosen:
        character = np.asarray(reading.character.mean)[[met.first[agent]] * MAP_LEVELS]
        expected.append(np.exp(np.asarray(predict_everything(observer, character, query).successor)))
        one, maps = pick(met.agents, agent).ready(), []
        for index in range(MAP_LEVELS):
            rollout_state = start_rollout(one, pick(levels, index), SUBGOAL_MAZE)
            maps.append(
                empirical_successors(jax.random.fold_in(act_key, index), one, rollout_state, SUBGOAL_MAZE, MAP_ROLLOUTS)
            )
        happened.append(np.asarray(jnp.stack(maps)))
    expected, happened = np.stack(expected), np.stack(happened)  # [species, level, gamma, row, col]
    apart = apart_from_each_other(expected[:, :, -1], happened[:, :, -1])
    own = apart.argmin(1) == np.arange(len(chosen))[:, None]
    level = int(apart_from_each_other(happened[:, :, -1], happened[:, :, -1]).sum((0, 1)).argmax())
    return Maps(
        rule=f"of {MAP_LEVELS} levels the one on which the three agents' own maps differ most, "
        f"for discount {GAMMAS[-1]}; the first held-out network of each species, preferring the same object",
        query=plain_state(pick(query, level)),
        preferred=SHOWN_OBJECT,
        past=int(met.encounters.past_real[0].sum()),
        rollouts=MAP_ROLLOUTS,
        gammas=GAMMAS,
        species=[
            SpeciesMap(
                name=name,
                past=plain_episode(pick(met.encounters.past, (agent, -1))),  # the first query is about the first
                expected=expected[kind, level],
                happened=happened[kind, level],
            )
            for kind, (name, agent) in enumerate(zip(SPECIES, chosen))
        ],
        apart=apart.mean(-1),
        nearest_is_own=float(own.mean()),
    )


def apart_from_each_other(ones: np.ndarray, others: np.ndarray) -> np.ndarray:
    """D_JS `[one, other, level]` between maps `[agent, level, row, col]`."""
    ones, others = (maps.reshape(*maps.shape[:2], -1) for maps in (ones, others))
    return jensen_shannon(*np.broadcast_arrays(ones[:, None], others[None]))
