"""Pretrained observers, loaded when first asked for, and what they make of an agent: kept, so that another question
about the same agent, or one more step, costs no more than itself."""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from .. import zoo
from ..asking.agent_model import AgentModel, CurrentEpisode, meet
from ..episodes.episode import QueryState
from ..experiments.analysis.query_fields import every_cell
from ..experiments.experiment import PRESETS, ObserverSpec
from ..experiments.registry import EXPERIMENTS
from ..observer.tomnet import ToMnet
from ..recordings.recording import Recording
from ..support.errors import BadSetting
from ..support.warn import overheard
from ..world.levels import symbols
from .episode_text import Now, read_now, read_past
from .requests import Seen
from .said import plain, plain_answer

PRETRAINED = PRESETS[-1]  # whom the observers of the zoo met; in smaller presets some met fewer
EPISODES_KEPT = 512  # of all agents together, one for each step
FIELDS_KEPT = 64  # answers from every cell


@cache
def observer(name: str) -> ToMnet:
    return zoo.load_one(*name.split("/"))


@cache
def spec_of(name: str) -> ObserverSpec:
    """Whom an observer was made for, if it is here."""
    if name not in zoo.names():
        raise BadSetting("observer", "unknown", "no such observer is in the zoo")
    experiment, its_name = name.split("/")
    return next(each for each in EXPERIMENTS[experiment].specs(PRETRAINED) if each.name == its_name)


def reads(spec: ObserverSpec) -> Literal["episodes", "steps", "nothing"]:
    """What an observer is told of the past: whole episodes, one step of each, or nothing."""
    if spec.observer.character == "none":
        return "nothing"
    return "steps" if spec.observer.character in ("snapshots", "sequence") else "episodes"


def seen_recordings(spec: ObserverSpec, past: tuple[Seen, ...]) -> list[Recording]:
    """Of past episodes, what such an observer reads."""
    recordings = [read_past(each.text) for each in past]  # each is checked, whether or not it is read
    match reads(spec):
        case "episodes":
            return recordings
        case "steps":
            return [one.step(min(each.time, len(one) - 1)) for one, each in zip(recordings, past)]
        case "nothing":
            return []


@dataclass(frozen=True, eq=False)
class Met:
    """An agent that an observer has met, and what is to be said about that."""

    model: AgentModel
    remarks: tuple[str, ...]


@lru_cache(64)
def met(name: str, past: tuple[Seen, ...]) -> Met:
    spec = spec_of(name)
    with overheard() as remarks:
        model = meet(observer(name), seen_recordings(spec, past), tuple(symbols(spec.world)))
    return Met(model, tuple(remarks))


def ask(name: str, past: tuple[Seen, ...], text: str, everywhere: bool) -> dict[str, Any]:
    """What the observer says, who it takes the agent to be after each past episode, and what to be careful about."""
    now = read_now(text, spec_of(name).world)
    known = met(name, past)
    with overheard() as remarks:
        episode = _follow(known.model, now)
    answer = episode.ask()
    field = _field(known.model, episode, now.query) if everywhere else None
    return {
        "said": plain_answer(answer.probabilities, field),
        "character": [_character(met(name, past[:seen]).model) for seen in range(len(past) + 1)],
        "remarks": [*known.remarks, *remarks],
    }


def _character(model: AgentModel) -> dict[str, Any]:
    return {"mean": plain(model.character.mean), "deviation": plain(model.character.deviation)}


_followed: OrderedDict[Any, CurrentEpisode] = OrderedDict()


def _follow(model: AgentModel, now: Now) -> CurrentEpisode:
    """Where the current episode stands. Only a mental net reads the way there; what it made of it so far is kept."""
    if model.observer.mental_net is None or now.recording is None:
        return model.begin(now.query)
    states, actions = now.states, now.recording.actions.tolist()
    keys = [(model, _bytes(states[: time + 1]), tuple(actions[:time])) for time in range(len(states))]
    start = next((time for time in reversed(range(len(states))) if keys[time] in _followed), -1)
    episode = model.begin(states[0]) if start < 0 else _followed[keys[start]]
    for time in range(max(start, 0), len(actions)):
        episode = episode.step(actions[time], states[time + 1])
        _keep(_followed, keys[time + 1], episode, EPISODES_KEPT)
    return episode


def _keep(kept: OrderedDict, name: Any, value: Any, most: int) -> None:
    kept[name] = value
    while len(kept) > most:
        kept.popitem(last=False)


def _bytes(states: list[QueryState]) -> bytes:
    return b"".join(leaf.tobytes() for state in states for leaf in jax.tree.leaves(state))


_fields: OrderedDict[Any, Float[Array, "cell action"]] = OrderedDict()


def _field(model: AgentModel, episode: CurrentEpisode, query: QueryState) -> Float[Array, "cell action"] | None:
    """Without a mental net it is the same wherever the agent stands: while it walks, nothing is computed again."""
    if "action" not in model.observer.config.heads:
        return None
    if model.observer.mental_net is not None:
        return _actions_everywhere(model.observer, model.posterior.mean, episode.memory, query)
    key = model, np.asarray(query.walls).tobytes(), np.asarray(query.object_cells).tobytes()
    if key not in _fields:
        field = _actions_everywhere(model.observer, model.posterior.mean, episode.memory, query)
        _keep(_fields, key, field, FIELDS_KEPT)
    return _fields[key]


@eqx.filter_jit
def _actions_everywhere(observer: ToMnet, character, memory, query: QueryState) -> Float[Array, "cell action"]:
    cells = query.walls.size
    minds = None
    if observer.mental_net is not None:
        mind = observer.recall(memory, 1).mean
        minds = jnp.broadcast_to(mind, (cells, *mind.shape[1:]))
    told = observer.predict(jnp.broadcast_to(character, (cells, character.shape[-1])), every_cell(query), minds)
    assert told.action is not None
    return jnp.exp(told.action)
