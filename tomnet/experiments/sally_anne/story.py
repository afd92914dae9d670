"""The Sally-Anne story of one agent: what it saw, what changed behind its back, what it believes, what an observer says
it will do, and what it does. Plain tables, for `tomnet sally-anne` and its picture."""

import dataclasses
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Float, Int, Key, Scalar

from ...agents.actor_critic import DeepAgent
from ...agents.population import CONDITIONS, load_condition
from ...episodes.futures import empirical_successors
from ...episodes.history import History
from ...episodes.rollout import RolloutState
from ...episodes.targets import GAMMAS
from ...observer.tomnet import ToMnet
from ...support.errors import BadSetting, nearest
from ...support.progress import stage
from ...support.trees import pick
from ...support.words import counted
from ...world.gridworld import ACTIONS, SUBGOAL_MAZE, World
from ...world.levels import LETTERS
from ..analysis.examples import PlainEpisode, PlainState, plain_episode, plain_state
from .counterfactuals import check_observer, predict_counterfactuals
from .natural_swaps import FUTURE_ROLLOUTS
from .scenarios import DISTANCES, Scenario, drawing, orientations, scenario
from .specs import N_PAST
from .swap_effects import without_swaps
from .turning_back import Played, play_and_look
from .visibility import visibility_map
from .walks import watch

LIKELY = 0.5  # of a step that is expected rather than not
SHOWN_DISCOUNT = GAMMAS.index(0.9)  # some ten steps ahead


@dataclasses.dataclass(frozen=True)
class Mind:
    """One of the two worlds: what the agent will do and believes, and what the observer says of it."""

    state: PlainState
    policy: list[float]
    belief: Float[np.ndarray, "kind place"]
    predicted_policy: list[float]
    predicted_successor: Float[np.ndarray, "row col"]
    predicted_belief: Float[np.ndarray, "kind place"] | None


@dataclasses.dataclass(frozen=True)
class Story:
    condition: str
    network: int
    preferred: int
    reach: int
    distance: int
    past: int
    back: int  # the action that leads back
    way: PlainEpisode
    visibility: Int[np.ndarray, "row col"]  # at the end of the way: 0 never, 1 before, 2 now
    at_first: Int[np.ndarray, "row col"]
    no_swap: Mind
    swap: Mind
    rollouts: int
    then: Float[np.ndarray, "row col"]  # where the agent goes after the swap, on its own again


@dataclasses.dataclass(frozen=True)
class Cast:
    """Who plays: one held-out agent."""

    condition: str = "5x5"
    preferred: int = 0
    network: int | None = None  # of the held-out ones; None: whoever acts most clearly on what it believes
    folder: Path | None = None  # of the populations; None: the pretrained ones

    def audition(self, distance: int, world: World) -> tuple[int, DeepAgent, Scenario, Played]:
        """Who plays, and towards which side: the one that turns back most surely where nothing was moved, and least
        where it has seen that it was. Most agents of ours have a favourite side, whatever they know."""
        fit = [name for name, condition in CONDITIONS.items() if condition.field_of_view and condition.remembers]
        if self.condition not in CONDITIONS:
            raise nearest(self.condition, fit, "condition")
        if self.condition not in fit:
            raise BadSetting("condition", self.condition, "the story needs an agent that can see and remembers")
        population = load_condition(self.condition, self.folder)
        if not 0 <= self.preferred < population.objects:
            raise BadSetting("preferred", self.preferred, f"these agents know {population.objects} objects")
        if self.network is not None and self.network not in population.held_out:
            known = ", ".join(map(str, population.held_out))
            raise BadSetting(
                "network", self.network, f"not held out: the observer may know it; it never met {known or 'any'}"
            )
        chosen = population.held_out if self.network is None else (self.network,)
        if not chosen:
            raise BadSetting("population", self.condition, "no network of it is held out")
        stage(f"of {len(chosen)} held-out {self.condition} agents, the one that acts most clearly on what it believes")
        agents = {number: population.agent(number, self.preferred) for number in chosen}
        reach = int(next(iter(agents.values())).senses.reach)
        plays, in_sight = _all_sides(distance, world), _all_sides(min(distance, reach), world)
        scenarios = plays + in_sight  # all in one batch: of two, each would be compiled
        shown = {number: play_and_look(agent, self.preferred, scenarios, world) for number, agent in agents.items()}
        clear = {number: _clarity(played, plays) for number, played in shown.items()}
        best = max(clear, key=lambda number: clear[number].max())
        side = int(clear[best].argmax())
        return best, agents[best], plays[side], shown[best].at(side)


def _all_sides(distance: int, world: World) -> list[Scenario]:
    return [scenario(*told, world) for told in orientations(*drawing(distance))]


def _clarity(shown: Played, plays: list[Scenario]) -> np.ndarray:
    """Towards each side, how much likelier it is to turn back in the play without a swap than where it sees one: as
    many scenarios, in view of it, follow the plays."""
    sides, back = np.arange(len(plays)), [play.back for play in plays]
    return shown.policy[0, sides, back] - shown.policy[1, len(plays) + sides, back]


def check_past(past: int) -> str | None:
    """A warning where an observer is shown more or less than it was trained with; nobody can see less than nothing."""
    if past < 0:
        raise BadSetting("past", past, "cannot be negative")
    if past > N_PAST:
        return f"this observer was trained with {N_PAST} past episodes; with {past} it is beyond what it knows"
    if past < N_PAST:
        return f"this observer was trained with {N_PAST} past episodes; with {past} it knows the agent less well"
    return None


def tell(
    key: Key[Scalar, ""],
    observer: ToMnet,
    cast: Cast,
    *,
    distance: int = 4,
    past: int = N_PAST,
    world: World = SUBGOAL_MAZE,
) -> Story:
    """The story with the swap that far from the agent."""
    check_past(past)
    check_observer(observer, world, ("action", "successor"))
    if distance not in DISTANCES:
        raise BadSetting("distance", distance, f"the level is drawn for {DISTANCES[0]} to {DISTANCES[-1]}")
    network, agent, play, played = cast.audition(distance, world)
    stage(f"the observer, after {counted(past, 'past episode')}")
    watch_key, act_key = jax.random.split(key)
    before, way = watch(watch_key, agent, 1, past, world), played.way
    told = predict_counterfactuals(observer, History.of(before, way), played.worlds)
    stage(f"what the agent does next, in {FUTURE_ROLLOUTS} rollouts")
    reach = int(agent.senses.reach)
    cells = np.append(way.agent_cells[0, : int(way.length[0])], way.final_cell[0])

    def mind(number: int) -> Mind:
        assert told.action is not None
        assert told.successor is not None
        return Mind(
            state=plain_state(pick(played.worlds, (number, 0))),
            policy=np.asarray(played.policy[number, 0], float).tolist(),
            belief=np.asarray(played.belief[number, 0], float),
            predicted_policy=np.asarray(told.action[number, 0], float).tolist(),
            predicted_successor=np.asarray(told.successor[number, 0, SHOWN_DISCOUNT], float),
            predicted_belief=None if told.belief is None else np.asarray(told.belief[number, 0], float),
        )

    return Story(
        condition=cast.condition,
        network=network,
        preferred=cast.preferred,
        reach=reach,
        distance=distance,
        past=past,
        back=play.back,
        way=plain_episode(pick(way, 0)),
        visibility=visibility_map(cells, reach, world.size),
        at_first=visibility_map(cells[:1], reach, world.size),
        no_swap=mind(0),
        swap=mind(1),
        rollouts=FUTURE_ROLLOUTS,
        then=_then(act_key, agent, pick(played.swapped, 0), world),
    )


def _then(key: Key[Scalar, ""], agent: DeepAgent, rollout_state: RolloutState, world: World) -> np.ndarray:
    """The mean over many rollouts."""
    maps = empirical_successors(key, agent, rollout_state, without_swaps(world), FUTURE_ROLLOUTS)
    return np.asarray(maps, float)[SHOWN_DISCOUNT]


def moral(story: Story) -> str:
    """The story in a few words, with its numbers."""
    liked, back, moved = LETTERS[story.preferred], story.back, story.swap
    was = story.no_swap.state.object_cells[story.preferred]
    still = moved.belief[story.preferred][was]
    seen = story.distance <= story.reach
    row, col = divmod(was, len(moved.state.walls))
    species, how = story.condition.replace("x", "×"), "before its eyes" if seen else "behind its back"
    return (
        f"A {species} agent that likes {liked} best saw it in row {row + 1}, column {col + 1}, and walked away; "
        f"{liked} was moved {how}. It {'now' if seen else 'still'} believes {liked} to be there with probability "
        f"{still:.2f}, and goes {ACTIONS[back]}, back to it, with {moved.policy[back]:.2f} "
        f"({story.no_swap.policy[back]:.2f} if nothing had moved). ToMnet, who saw everything, says "
        f"{moved.predicted_policy[back]:.2f} ({story.no_swap.predicted_policy[back]:.2f})"
        f"{'' if seen else _judged(story)}."
    )


def _judged(story: Story) -> str:
    """Whether the observer expects what a false belief makes the agent do; of one that does not act on it, nothing."""
    back = story.back
    if story.swap.policy[back] <= LIKELY:
        return ""
    if story.swap.predicted_policy[back] > LIKELY:
        return ": it expects the agent to act on its false belief"
    return ": it misses the false belief, and takes the agent to know what it has not seen"
