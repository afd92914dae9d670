"""What a swap does to the policies and beliefs of deep RL agents (section 3.4, Fig. 12a and c, agents' side).

An agent is rolled out until it eats the subgoal. From that very state and memory, two worlds go on: one in which
nothing else happened and one in which the objects changed places. D_JS between what the agent does and believes next
in the two tells whether it noticed.
"""

import dataclasses
from itertools import permutations

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...agents.agent import Agent
from ...episodes.episode import Episode
from ...episodes.rollout import RolloutState, at_the_subgoal, rollouts_in_turn
from ...support.trees import concatenate_on_host, on_device, on_host, pick
from ...world.gridworld import Level, World
from ..analysis.divergence import jensen_shannon
from ..analysis.statistics import Estimate, mean_interval
from .visibility import distance, objects_in_view

BATCH = 32  # levels side by side: more do not fit into a processor's caches
SWAPS = 4  # drawn for each episode
NOTICEABLE = 0.01  # nats of D_JS
BY_LEVEL, BY_SWAP = {"level axis": 0}, {"level axis": 1}  # of a field, so that levels are chosen and joined in all


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Counterfactual pairs of one agent, or of all agents of one network: SWAPS for each level, not all of which
    qualify."""

    episodes: Episode = dataclasses.field(metadata=BY_LEVEL)  # until the subgoal is eaten
    rollout_state: RolloutState = dataclasses.field(metadata=BY_LEVEL)  # where the agent then is
    kept: Bool[np.ndarray, "level"] = dataclasses.field(metadata=BY_LEVEL)
    object_cells: Int[np.ndarray, "swap level kind"] = dataclasses.field(metadata=BY_SWAP)  # after each swap
    distance: Int[np.ndarray, "swap level"] = dataclasses.field(metadata=BY_SWAP)
    policy: Float[np.ndarray, "swap level"] = dataclasses.field(metadata=BY_SWAP)  # D_JS
    belief: Float[np.ndarray, "swap level"] = dataclasses.field(metadata=BY_SWAP)  # D_JS, mean over terminal objects
    reach: int
    walked: int  # levels, of which these may be a part

    @property
    def in_view(self) -> np.ndarray:
        return self.distance <= self.reach

    def at(self, levels: Int[np.ndarray, "level"]) -> "Pairs":
        """Those of some levels alone."""
        some = {name: pick(getattr(self, name), (*(slice(None),) * axis, levels)) for name, axis in _level_axes()}
        return dataclasses.replace(self, **some)

    @staticmethod
    def joined(parts: list["Pairs"]) -> "Pairs":
        """Of agents that see equally far, one after the other."""
        whole = {name: concatenate_on_host([getattr(one, name) for one in parts], axis) for name, axis in _level_axes()}
        return dataclasses.replace(parts[0], **whole, walked=sum(one.walked for one in parts))


def _level_axes() -> list[tuple[str, int]]:
    """Of the fields of `Pairs` that have one."""
    return [(field.name, field.metadata["level axis"]) for field in dataclasses.fields(Pairs) if field.metadata]


@eqx.filter_jit
def until_subgoal(key: Key[Scalar, ""], agent: Agent, levels: Level, world: World) -> tuple[Episode, RolloutState]:
    """The way to the subgoal on each level, and where the agent then stands."""

    keys = jax.random.split(key, levels.start_cell.shape[0])
    walk = rollouts_in_turn(keys, agent, levels, world, at_once=BATCH, stop=at_the_subgoal)
    return walk.episode, walk.end


@eqx.filter_jit
def look_around(
    agent: DeepAgent, rollout_state: RolloutState, world: World
) -> tuple[Float[Array, "level action"], Float[Array, "level kind place"]]:
    """The agent's next policy and beliefs.

    Both worlds of a pair go through this one compiled program, in the same place of the same batch: equal
    observations give equal bits, and "unchanged" can mean unchanged.
    """

    def one(rollout_state: RolloutState):
        policy, memory = agent.policy(rollout_state.memory, rollout_state.state, rollout_state.last, world)
        return policy, agent.belief(memory, world)

    return jax.lax.map(one, rollout_state, batch_size=BATCH)


def without_swaps(world: World) -> World:
    """Swaps are made by hand here."""
    return dataclasses.replace(world, swap_probability=0.0)


def after_swap(rollout_state: RolloutState, object_cells: Array | np.ndarray) -> RolloutState:
    return eqx.tree_at(lambda s: s.state.object_cells, rollout_state, on_device(object_cells))


def draw_swaps(
    key: Key[Scalar, ""], object_cells: Int[np.ndarray, "level kind"], preferred: int, world: World
) -> Int[np.ndarray, "swap level kind"]:
    """Random swaps of the terminal objects, each of which moves at least the preferred one.

    The paper permutes the four objects at random and keeps episodes in which the preferred one had been seen: its
    place is what the agent may come to be wrong about. Permutations that leave it where it is would mix swaps that
    the agent has no reason to care about into the average; all others are equally likely.
    """
    orders = np.array([order for order in permutations(range(world.objects)) if order[preferred] != preferred])
    drawn = jax.random.randint(key, (SWAPS, len(object_cells)), 0, len(orders))
    cells = np.broadcast_to(object_cells, (SWAPS, *object_cells.shape)).copy()
    cells[..., : world.objects] = np.take_along_axis(cells, orders[np.asarray(drawn)], axis=-1)
    return cells


def swap_distance(agent_cell: np.ndarray, before: np.ndarray, after: np.ndarray, size: int) -> np.ndarray:
    """From the agent to the nearest cell where something changed (objects that change places share the same cells)."""
    apart = distance(agent_cell[..., None], before, size)
    return np.asarray(np.where(before != after, apart, size).min(-1))


def swap_pairs(key: Key[Scalar, ""], agent: DeepAgent, levels: Level, world: World) -> Pairs:
    """The pairs of one agent."""
    act_key, swap_key = jax.random.split(key)
    world = without_swaps(world)
    episodes, rollout_state = until_subgoal(act_key, agent, levels, world)
    episodes = on_host(episodes)
    reach, preferred = int(agent.senses.reach), int(agent.preferred)
    cells = np.asarray(rollout_state.state.object_cells)
    swapped = draw_swaps(swap_key, cells, preferred, world)
    policy, belief = look_around(agent, rollout_state, world)
    effects = []
    for object_cells in swapped:
        other_policy, other_belief = look_around(agent, after_swap(rollout_state, object_cells), world)
        beliefs = jensen_shannon(belief, other_belief)[:, : world.objects].mean(-1)
        effects.append((jensen_shannon(policy, other_policy), beliefs))
    return Pairs(
        episodes=episodes,
        rollout_state=rollout_state,
        kept=qualifies(episodes, rollout_state, reach, preferred, world),
        object_cells=swapped,
        distance=swap_distance(np.asarray(rollout_state.state.agent_cell), cells, swapped, world.size),
        policy=np.stack([policy for policy, _ in effects]),
        belief=np.stack([belief for _, belief in effects]),
        reach=reach,
        walked=len(cells),
    )


def qualifies(episodes: Episode, rollout_state: RolloutState, reach: int, preferred: int, world: World) -> np.ndarray:
    """Which episodes ate the subgoal with time left, having seen the preferred object before that step.

    What comes into view only with the last step is no memory yet: it already depends on whether there was a swap.
    The blind, who never see anything, are kept for comparison.
    """
    last = rollout_state.last
    there = np.asarray((last.consumed == world.objects) & ~last.done)
    seen = (objects_in_view(episodes, reach)[..., preferred] & np.asarray(episodes.real)).any(-1)
    return there & (seen if reach >= 0 else True)


def pairs_by_network(pairs: list[Pairs], networks: np.ndarray) -> list[Pairs]:
    """Those of each agent joined where agents share a network, and differ in their preference only."""
    return [
        Pairs.joined([each for each, network in zip(pairs, networks) if network == one]) for one in np.unique(networks)
    ]


def kept_first(pairs: list[Pairs]) -> list[Pairs]:
    """Those that are kept, and of each agent so many others that all have the same number: where few levels qualify,
    the rest would only take room."""
    most = max(1, *(int(each.kept.sum()) for each in pairs))
    return [each.at(np.argsort(~each.kept, stable=True)[:most]) for each in pairs]


# --- Tables


@dataclasses.dataclass(frozen=True)
class SwapEffect(Estimate):
    """D_JS over networks, each by its own mean over pairs."""

    largest: float  # of any pair


@dataclasses.dataclass(frozen=True)
class SwapEffects:
    """What some swaps do to what the agent does next, and to what it believes."""

    pairs: int
    policy: SwapEffect
    belief: SwapEffect

    def at(self, distance: int, reach: int) -> "SwapEffectsAt":
        return SwapEffectsAt(self.pairs, self.policy, self.belief, distance, distance <= reach)


@dataclasses.dataclass(frozen=True)
class SwapEffectsAt(SwapEffects):
    distance: int
    in_view: bool


@dataclasses.dataclass(frozen=True)
class SwapTable:
    """Of one condition."""

    reach: int
    episodes: int
    levels: int
    in_view: SwapEffects
    out_of_view: SwapEffects
    by_distance: list[SwapEffectsAt]


def swap_table(networks: list[Pairs]) -> SwapTable:
    """D_JS by swap distance, in view and out of view, with intervals over networks."""
    reach = networks[0].reach
    return SwapTable(
        reach=reach,
        episodes=sum(int(pairs.kept.sum()) for pairs in networks),
        levels=sum(pairs.walked for pairs in networks),
        in_view=_effects(networks, [pairs.in_view for pairs in networks]),
        out_of_view=_effects(networks, [~pairs.in_view for pairs in networks]),
        by_distance=[
            _effects(networks, [pairs.distance == far for pairs in networks]).at(far, reach)
            for far in range(1, networks[0].episodes.size)
        ],
    )


def _effects(networks: list[Pairs], chosen: list[np.ndarray]) -> SwapEffects:
    """Of the pairs that are kept and chosen."""
    chosen = [mine & pairs.kept for pairs, mine in zip(networks, chosen)]

    def effect(what: str) -> SwapEffect:
        effects = [getattr(pairs, what)[mine] for pairs, mine in zip(networks, chosen) if mine.any()]
        over = mean_interval(np.array([effect.mean() for effect in effects]))
        largest = max((float(effect.max()) for effect in effects), default=float("nan"))
        return SwapEffect(**vars(over), largest=largest)

    return SwapEffects(sum(int(mine.sum()) for mine in chosen), effect("policy"), effect("belief"))
