"""One swap in view and one out of view, as in Fig. 10: the way to the subgoal, and how two worlds go on from there."""

import dataclasses
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...episodes.episode import Episode, QueryState
from ...episodes.futures import empirical_successors
from ...episodes.rollout import RolloutState
from ...episodes.targets import GAMMAS
from ...support.trees import pick
from ...world.gridworld import World
from ..analysis.examples import PlainEpisode, PlainState, first_of, plain_episode, plain_state
from .swap_effects import Pairs, after_swap, look_around, without_swaps
from .visibility import distance, visibility_map

EXAMPLE_ROLLOUTS = 200  # from each of the two worlds, as in the paper
LONG_WAY = 5  # steps to the subgoal: enough of a way to be looked at


@dataclasses.dataclass(frozen=True)
class Future:
    """One of the two worlds, and how it goes on."""

    state: PlainState
    policy: list[float]  # of the next action
    belief: Float[np.ndarray, "kind place"]  # as the agent reports it
    successor: Float[np.ndarray, "gamma row col"]  # the mean of its rollouts
    predicted_belief: Float[np.ndarray, "kind place"] | None = None  # by an observer, where one was asked


@dataclasses.dataclass(frozen=True)
class SwapExample:
    rule: str  # by which it was chosen
    network: int
    level: int
    draw: int  # of the swaps of that level
    preferred: int
    field_of_view: int
    distance: int
    policy_change: float  # D_JS
    belief_change: float
    episode: PlainEpisode  # the way to the subgoal
    visibility: Int[np.ndarray, "row col"]  # 0 never, 1 before, 2 now
    rollouts: int
    gammas: tuple[float, ...]
    no_swap: Future
    swap: Future


SwapExamples = dict[str, SwapExample | None]
"""`in_view` and `out_of_view`; None where no pair is of that kind."""


def swap_examples(
    key: Key[Scalar, ""],
    agents: list[DeepAgent],
    pairs: list[Pairs],
    world: World,
    rollouts: int = EXAMPLE_ROLLOUTS,
) -> SwapExamples:
    """By the rule that each example carries, networks in order, best first."""
    world = without_swaps(world)

    def example(rule: str, *wishes: np.ndarray) -> SwapExample | None:
        chosen = first_of(*wishes)
        if chosen is None:
            return None
        network, swap, level = (int(i) for i in np.unravel_index(chosen, _shape(pairs)))
        agent, pair = agents[network], pairs[network]
        episode, rollout_state = pick((pair.episodes, pair.rollout_state), level)
        swapped = after_swap(rollout_state, pair.object_cells[swap, level])
        cells = np.append(np.asarray(episode.agent_cells)[: int(episode.length)], episode.final_cell)
        return SwapExample(
            rule=rule,
            network=network,
            level=level,
            draw=swap,
            preferred=int(agent.preferred),
            field_of_view=2 * pair.reach + 1,
            distance=int(pair.distance[swap, level]),
            policy_change=float(pair.policy[swap, level]),
            belief_change=float(pair.belief[swap, level]),
            episode=plain_episode(episode),
            visibility=visibility_map(cells, pair.reach, world.size),
            rollouts=rollouts,
            gammas=GAMMAS,
            # the same draws in both worlds: what differs comes from the swap
            no_swap=_future(key, agent, rollout_state, world, rollouts),
            swap=_future(key, agent, swapped, world, rollouts),
        )

    return {name: example(*wishes) for name, wishes in _wishes(agents, pairs, world).items()}


def _shape(pairs: list[Pairs]) -> tuple[int, ...]:
    return (len(pairs), *pairs[0].distance.shape)


def _wishes(agents: list[DeepAgent], pairs: list[Pairs], world: World) -> dict[str, tuple[Any, ...]]:
    """For each kind of example its rule, and which of all pairs, flat, fulfil the whole of it, and the least of it."""
    in_view, out_of_view, appears, shown, changed = [], [], [], [], []
    for agent, pair in zip(agents, pairs):
        last = np.asarray(pair.episodes.final_cell)
        where = pair.object_cells[..., int(agent.preferred)]
        in_view.append(pair.in_view & pair.kept)
        out_of_view.append(~pair.in_view & pair.kept)
        before = np.asarray(pair.episodes.object_cells)[:, 0, int(agent.preferred)]
        hidden = distance(last, before, world.size) > pair.reach
        appears.append((distance(last, where, world.size) <= pair.reach) & hidden)
        shown.append(np.broadcast_to(_good_to_see(pair.episodes), where.shape))
        changed.append(pair.policy)
    wishes = (in_view, out_of_view, appears, shown, changed)
    seen, unseen, comes, good, change = (np.stack(wish).reshape(-1) for wish in wishes)
    best = seen & comes & good
    typical = best & (change >= np.median(change[best])) if best.any() else best
    way = f"on a way of {LONG_WAY} steps or more that crosses no cell twice"
    return {
        "in_view": (
            f"the first kept pair whose swap brings the preferred object into view, {way}, and changes the next action "
            "no less than the median of such pairs; failing that, the first whose swap is in view",
            typical,
            seen,
        ),
        "out_of_view": (
            f"the first kept pair whose swap is wholly out of view, {way}; failing that, on any way",
            unseen & good,
            unseen,
        ),
    }


def _good_to_see(episodes: Episode) -> np.ndarray:
    """Which ways are long enough to be looked at, and never lead over themselves."""
    cells, lengths = np.asarray(episodes.agent_cells), np.asarray(episodes.length)
    simple = [len(set(way[:length].tolist())) == length for way, length in zip(cells, lengths)]
    return np.array(simple) & (lengths >= LONG_WAY)


def _future(key: Key[Scalar, ""], agent: DeepAgent, rollout_state: RolloutState, world: World, rollouts: int) -> Future:
    state = rollout_state.state
    alone = pick(rollout_state, None)
    policy, belief = look_around(agent, alone, world)
    maps = empirical_successors(key, agent, rollout_state, world, rollouts)
    return Future(
        state=plain_state(QueryState(state.walls, state.agent_cell, state.object_cells)),
        policy=np.asarray(policy[0], float).tolist(),
        belief=np.asarray(belief[0], float),
        successor=np.asarray(maps, float),
    )
