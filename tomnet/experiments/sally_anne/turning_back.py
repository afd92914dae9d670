"""What agents, and an observer, make of the hand-made Sally-Anne test: do they turn back to where A was? (Fig. 11b)"""

import dataclasses

import jax
import numpy as np
from jaxtyping import Float, Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...episodes.episode import Episode, QueryState
from ...episodes.history import History
from ...episodes.rollout import RolloutState
from ...observer.tomnet import ToMnet
from ...support.progress import stage
from ...support.trees import concatenate_on_host, on_host, pick, stack_on_host
from ...world.gridworld import ACTIONS, World
from ..agent_pool import AgentPool
from ..analysis.examples import PlainEpisode, PlainState, plain_episode, plain_state
from ..analysis.statistics import UNKNOWN, Estimate, mean_interval
from .counterfactuals import check_observer, predict_counterfactuals
from .scenarios import Scenario, exchanges, lead, stacked
from .swap_curves import WHO, PairMean, SideBySide, SwapTest, Who
from .swap_effects import after_swap, look_around, without_swaps
from .walks import watch

DISTANCES_DRAWN = (2, 4)  # distances drawn in Fig. 11a: one in view of a 5×5 agent, and one that is not


@dataclasses.dataclass(frozen=True)
class Turns:
    """Probabilities of turning back: `[agent, scenario, world]`, of which the first world has no swap."""

    agents: np.ndarray
    observer: np.ndarray
    networks: np.ndarray  # [agent]
    distance: np.ndarray  # [scenario]
    reach: int


def run_scenarios(
    key: Key[Scalar, ""], pool: AgentPool, scenarios: list[Scenario], past: int, observer: ToMnet, world: World
) -> Turns:
    """Every agent of one condition in every scenario, and the observer, who has seen it in `past` episodes before."""
    check_observer(observer, world, ("action",))
    agents = pool.agents()
    stage(f"{len(scenarios)} hand-made levels, {agents.preferred.shape[0]} agents on each")
    turns, ways, before, asked = [], [], [], []
    for number, preferred in enumerate(np.asarray(agents.preferred).tolist()):
        agent = pick(agents, number)
        way, worlds = play_scenarios(agent, preferred, scenarios, world)
        turns.append(np.stack([look_around(agent, each, without_swaps(world))[0] for each in worlds], 1))
        ways.append(way)
        before.append(watch(jax.random.fold_in(key, number), agent, len(scenarios), past, world))
        asked.append(queries(worlds))
    history = History.of(*map(concatenate_on_host, (before, ways)))
    told = predict_counterfactuals(observer, history, concatenate_on_host(asked, axis=1))
    assert told.action is not None
    foreseen = np.asarray(told.action).swapaxes(0, 1).reshape(len(turns), len(scenarios), -1, len(ACTIONS))
    back = np.array([each.back for each in scenarios])[None, :, None, None]
    return Turns(
        agents=np.take_along_axis(np.stack(turns), back, -1)[..., 0],
        observer=np.take_along_axis(foreseen, back, -1)[..., 0],
        networks=np.arange(len(turns)) // world.objects,
        distance=np.array([each.distance for each in scenarios]),
        reach=int(agents.senses.reach[0]),
    )


def play_scenarios(
    agent: DeepAgent, preferred: int, scenarios: list[Scenario], world: World
) -> tuple[Episode, list[RolloutState]]:
    """The way to each subgoal, and the worlds that may go on from there: without a swap, and with each."""
    levels, actions = stacked(scenarios, preferred)
    way, rollout_state = lead(agent, levels, actions, without_swaps(world))
    swapped = exchanges(np.asarray(rollout_state.state.object_cells), preferred, world)
    return way, [rollout_state, *(after_swap(rollout_state, cells) for cells in swapped)]


def queries(worlds: list[RolloutState]) -> QueryState:
    """`[world, scenario]`."""
    states = [each.state for each in worlds]
    shown = [QueryState(state.walls, state.agent_cell, state.object_cells) for state in states]
    return stack_on_host(shown)


@dataclasses.dataclass(frozen=True)
class Played:
    """One agent in some scenarios, led to the subgoal; and there in two worlds, without a swap and with the first one,
    what it does next and believes. Plain arrays."""

    way: Episode  # [scenario]
    worlds: QueryState  # [world, scenario]
    policy: Float[np.ndarray, "world scenario action"]
    belief: Float[np.ndarray, "world scenario kind place"]
    swapped: RolloutState  # [scenario], where it stands in the world with a swap

    def at(self, number: int) -> "Played":
        """In one of the scenarios alone."""
        way, swapped = pick((self.way, self.swapped), [number])
        worlds, policy, belief = pick((self.worlds, self.policy, self.belief), np.s_[:, [number]])
        return Played(way, worlds, policy, belief, swapped)


def play_and_look(agent: DeepAgent, preferred: int, scenarios: list[Scenario], world: World) -> Played:
    way, (unmoved, swapped, *_) = play_scenarios(agent, preferred, scenarios, world)
    looks = [look_around(agent, each, without_swaps(world)) for each in (unmoved, swapped)]
    policy, belief = stack_on_host(looks)
    return Played(on_host(way), queries([unmoved, swapped]), policy, belief, on_host(swapped))


# --- Tables


@dataclasses.dataclass(frozen=True)
class TurningTable(SwapTest):
    """Probabilities of turning back, "no_swap" and "swap", and Δπ_L, the relative "drop"; intervals over networks."""

    gap: dict[Who, Estimate]  # the drop in view less that out of view


def turning_table(turns: Turns) -> TurningTable:
    seen = turns.distance <= turns.reach
    return TurningTable(
        reach=turns.reach,
        networks=len(np.unique(turns.networks)),
        in_view=_row(turns, seen),
        out_of_view=_row(turns, ~seen),
        gap={who: _over_all(_drop(turns, who, seen)[1] - _drop(turns, who, ~seen)[1]) for who in WHO},
        by_distance=[
            _row(turns, turns.distance == far).at(far, turns.reach) for far in np.unique(turns.distance).tolist()
        ],
    )


def _row(turns: Turns, chosen: np.ndarray) -> SideBySide:
    pairs = int(chosen.sum()) * turns.agents.shape[0] * (turns.agents.shape[2] - 1)

    def means(who: Who) -> dict[str, PairMean]:
        (without, swap), drop = _drop(turns, who, chosen)
        named = {"no_swap": without, "swap": swap, "drop": drop}
        return {what: PairMean(**vars(_over_all(values)), pairs=pairs) for what, values in named.items()}

    return SideBySide(pairs, means("agents"), means("observer"))


def _drop(turns: Turns, who: Who, chosen: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """By network: the probabilities of turning back without a swap and with one, and the share that a swap takes."""
    probability = getattr(turns, who)
    each = [probability[turns.networks == one][:, chosen].astype(float) for one in np.unique(turns.networks)]
    without = np.array([mine[..., 0].mean() for mine in each])
    # world by world, so that a drop of nothing is exactly 0
    drop = np.array([(mine[..., :1] - mine[..., 1:]).mean() for mine in each])
    return (without, without - drop), drop / np.maximum(without, 1e-9)


def _over_all(values: np.ndarray) -> Estimate:
    """Unknown unless it was measured of every network."""
    return mean_interval(values) if np.isfinite(values).all() else UNKNOWN


@dataclasses.dataclass(frozen=True)
class Picture:
    """Fig. 11a: the way to the subgoal, and what may be there then."""

    distance: int
    back: int
    preferred: int
    episode: PlainEpisode
    no_swap: PlainState
    swap: PlainState


def pictures(scenarios: list[Scenario], agent: DeepAgent, world: World) -> list[Picture]:
    """At a distance in view, and at one out of view."""
    shown = [next(each for each in scenarios if each.distance == far) for far in DISTANCES_DRAWN]
    way, worlds = play_scenarios(agent, int(agent.preferred), shown, world)
    asked = queries(worlds[:2])
    return [
        Picture(
            distance=each.distance,
            back=each.back,
            preferred=int(agent.preferred),
            episode=plain_episode(pick(way, number)),
            no_swap=plain_state(pick(asked, (0, number))),
            swap=plain_state(pick(asked, (1, number))),
        )
        for number, each in enumerate(shown)
    ]
