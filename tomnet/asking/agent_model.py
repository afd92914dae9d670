"""An observer's model of one agent: who it is, from its past; what it will do, from a state or step by step.

The past is read once. After that a question costs one pass of the prediction net, and a step one frame of the mental
net, however many episodes came before and however long the current one is.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from ..episodes.episode import NONE, Episode, QueryState, Snapshot
from ..episodes.history import History
from ..episodes.predictions import Probabilities
from ..observer.bottleneck import Posterior
from ..observer.frames import frame_count
from ..observer.mental_net import Memory
from ..observer.tomnet import ToMnet
from ..support.errors import BadSetting, TomnetError
from ..support.words import counted
from ..world.gridworld import ACTIONS
from ..world.levels import LETTERS, SUBGOAL
from .answer import Answer, Embedding
from .inputs import TIMES, Asked, Past, past_from, state_from, with_time
from .transitions import next_cells
from .validation import check_history, check_query, check_step, check_steps, state_arrays


@dataclass(frozen=True, eq=False)
class AgentModel:
    """What an observer makes of one agent, by its past: `tomnet.meet` gives one, and `ask` asks it.

    >>> agent = tomnet.meet("greedy-agents/greedy", [])  # nothing seen of it yet
    >>> agent.character.mean.tolist(), agent.character.deviation  # zero; and an observer without a bottleneck
    ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], None)
    """

    observer: ToMnet
    history: History  # a batch of one, for `tomnet.observe`
    objects: tuple[str, ...]  # what they are called
    posterior: Posterior  # over characters; a batch of one

    @property
    def character(self) -> Embedding:
        return Embedding.of(self.posterior)

    def __repr__(self) -> str:
        """In a notebook, a line and not every weight."""
        seen = counted(int(self.history.past_real.sum()), "past episode")
        return f"<AgentModel: {seen}; objects {', '.join(self.objects)}>"

    def ask(self, state: Asked) -> Answer:
        """What the agent will do in an episode that begins in this state: a level, a state, a scene or a picture."""
        return self.begin(state).ask()

    def begin(self, state: Asked) -> "CurrentEpisode":
        """An episode that begins in this state, to be followed step by step."""
        return CurrentEpisode(self, self.read(state, begun=False), None)

    def read(self, state: Asked, *, begun: bool) -> QueryState:
        """A state as this observer sees it, checked; a batch of one."""
        query = state_from(state, self.observer.config, self.objects)
        check_query(self.observer, arrays := state_arrays(query), np.array([begun]), "state")
        return QueryState(**{name: jnp.asarray(array) for name, array in arrays.items()})


@dataclass(frozen=True, eq=False)
class CurrentEpisode:
    """An episode that goes on: where it stands, and what the mental net remembers of it.

    Each step gives the next one and leaves this as it is, so that several continuations can be tried.

    >>> agent = tomnet.meet("greedy-agents/greedy", [])
    >>> level = "@..........\\n" + "...........\\n" * 9 + "A.B..C....D"
    >>> episode = agent.begin(level)
    >>> after = episode.step("right").step("down")
    >>> after.steps, divmod(int(after.state.agent_cell[0]), 11)
    (2, (1, 1))
    >>> round(sum(after.ask().action.values()), 3)
    1.0
    """

    model: AgentModel
    state: QueryState  # a batch of one
    memory: Memory | None  # None: nothing happened yet, or this observer has no mental net
    steps: int = 0
    taken: str | None = None  # the object that ended it

    def __repr__(self) -> str:
        return (
            f"<CurrentEpisode: {counted(self.steps, 'step')}{f', over: {self.taken} was taken' if self.taken else ''}>"
        )

    def ask(self) -> Answer:
        """What the agent will do from here on."""
        self._check_going_on()
        observer = self.model.observer
        probabilities, mental = _answer(observer, self.model.posterior.mean, self.memory, self.state)
        one = jax.tree.map(lambda leaf: np.asarray(leaf)[0], probabilities)
        embedding = None if mental is None else Embedding.of(mental)
        return Answer(one, self.model.character, embedding, self.model.objects)

    def step(self, action: str | int, state: Asked | None = None) -> "CurrentEpisode":
        """After one more action. `state` is what was then seen; without it, the agent moved as the action says and
        everything else stayed where it was."""
        self._check_going_on()
        observer, number = self.model.observer, _action(action)
        after, taken = self._moved(number) if state is None else (self._seen(number, state), None)
        memory = None
        if observer.mental_net is not None:
            here = self.state
            pair = Snapshot(here.walls, here.agent_cell, here.object_cells, jnp.full(1, number, jnp.int8))
            memory = _remember(observer, self.model.posterior.mean, self.memory, pair)
            check_steps(observer, self.steps + 1)
        return replace(self, state=after, memory=memory, steps=self.steps + 1, taken=taken)

    def _check_going_on(self) -> None:
        if self.taken is not None:
            raise TomnetError(f"the episode is over: {self.taken} was taken; `begin` begins another")

    def _seen(self, action: int, state: Asked) -> QueryState:
        after = self.model.read(state, begun=True)
        check_step(self.model.observer, _numpy(self.state), action, _numpy(after))
        return after

    def _moved(self, action: int) -> tuple[QueryState, str | None]:
        """What follows by the rules, where nothing is left to chance."""
        before, domain = jax.tree.map(np.asarray, self.state), self.model.observer.domain
        cell = next_cells(before.walls, before.agent_cell[:, None], np.array([[action]]))[:, 0].astype(np.int16)
        here, objects, taken = before.object_cells == cell[:, None], before.object_cells, None
        if here.any():
            kind = int(here.argmax())
            name = self.model.objects[kind]
            if domain is None or (kind >= domain.objects and domain.swaps):
                raise BadSetting("state", None, f"the agent reaches {name}, and what then happens has to be told")
            taken = name if kind < domain.objects else None
            objects = np.where(here, NONE, objects)
        return QueryState(self.state.walls, jnp.asarray(cell), jnp.asarray(objects)), taken


def meet(observer: ToMnet, past: Past, objects: Sequence[str] | None = None) -> AgentModel:
    """The model that an observer makes of one agent; see `tomnet.meet`."""
    config, domain = observer.config, observer.domain
    names = object_names(observer) if objects is None else _names(objects, config.objects)
    seen = past_from(past, config, names)
    past, real = _padded(seen, max(len(seen.walls), domain.max_past if domain else 0))
    history = History(past, real)
    check_history(observer, history)
    frames = int(frame_count(past, real).sum())
    capacity = 1 << max(4, (frames - 1).bit_length())  # few sizes, each of which is compiled once
    return AgentModel(observer, history, names, _characterise(observer, past, real, capacity))


def object_names(observer: ToMnet) -> tuple[str, ...]:
    """What an observer's objects are called, where nobody says otherwise."""
    domain, objects = observer.domain, observer.config.objects
    if domain is not None and domain.subgoal:
        return (*LETTERS[: objects - 1], SUBGOAL)
    return tuple(LETTERS[:objects])


def _names(objects: Any, count: int) -> tuple[str, ...]:
    why = f"this observer knows {count}, each with a name"
    if not isinstance(objects, Iterable):
        raise BadSetting("objects", repr(objects)[:40], why)
    names = tuple(objects)
    if len(names) != count or not all(isinstance(name, str) for name in names) or len(set(names)) != count:
        raise BadSetting("objects", ", ".join(map(str, names))[:200], why)
    return names


def _numpy(state: QueryState) -> dict[str, np.ndarray]:
    return {name: np.asarray(array) for name, array in vars(state).items()}


def _padded(seen: Episode | Snapshot, count: int) -> tuple[Episode | Snapshot, Bool[Array, "1 past"]]:
    """A batch of one, with space for so many episodes: one program serves whatever was seen, much or little."""
    if isinstance(seen, Episode):
        seen = with_time(seen, -(-seen.actions.shape[-1] // TIMES) * TIMES)
    missing = count - len(seen.walls)

    def padded(leaf) -> Array:
        leaf = np.asarray(leaf)
        return jnp.asarray(np.pad(leaf, [(0, missing)] + [(0, 0)] * (leaf.ndim - 1))[None])

    return jax.tree.map(padded, seen), jnp.arange(count)[None] < len(seen.walls)


NUMBERS = {name: number for number, name in enumerate(ACTIONS)} | {number: number for number in range(len(ACTIONS))}


def _action(action: str | int) -> int:
    if isinstance(action, bool) or not isinstance(action, Hashable) or action not in NUMBERS:
        raise BadSetting("action", repr(action)[:40], f"should be one of {', '.join(ACTIONS)}, or its number")
    return NUMBERS[action]


# --- What is compiled


@eqx.filter_jit
def _characterise(observer: ToMnet, past, past_real, capacity: int) -> Posterior:
    return observer.characterise(past, past_real, capacity=capacity)[0]


@eqx.filter_jit
def _remember(observer: ToMnet, character, memory: Memory | None, pair: Snapshot) -> Memory:
    return observer.remember(character, memory, pair)


@eqx.filter_jit
def _answer(
    observer: ToMnet, character, memory: Memory | None, query: QueryState
) -> tuple[Probabilities, Posterior | None]:
    mental = None if observer.mental_net is None else observer.recall(memory, len(query.agent_cell))
    predictions = observer.predict(character, query, None if mental is None else mental.mean)
    return predictions.probabilities(), mental
