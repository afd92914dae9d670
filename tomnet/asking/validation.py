"""Validation of input: what an observer cannot read is refused in one line that names the field; what it can read but
never met in training is said to be so, in a warning.

All of it looks at values at hand. Inside a traced function there are none, and nothing is checked.
"""

from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Bool, Int

from ..episodes.episode import NONE, Episode, QueryState, Snapshot
from ..episodes.faults import AXES, arrays_of, find_blocked, find_misfit, find_wrong_value
from ..episodes.history import History
from ..observer.domain import Domain
from ..observer.tomnet import ToMnet, check_kind, check_past
from ..support.errors import BadSetting, TomnetError
from ..support.warn import BeyondTraining, warn_once
from .transitions import next_cells

Arrays = dict[str, np.ndarray]


def check(observer: ToMnet, history: History, query: QueryState) -> None:
    """Histories and queries of several agents, as `tomnet.observe` takes them."""
    if any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves((history, query))):
        return
    check_history(observer, history)
    query_arrays = _arrays("query", query, (QueryState,), "agent")
    queries = 1 if history.query_times is None else np.shape(history.query_times)[-1]
    _check_count("query", len(query_arrays["agent_cell"]), len(history) * queries)
    begun = np.zeros(1, bool) if history.recent is None else np.repeat(np.asarray(history.recent.length) > 0, queries)
    check_query(observer, query_arrays, begun)
    check_kind(observer, history, query)


def check_observer(observer: Any) -> None:
    if not isinstance(observer, ToMnet):
        found = repr(observer) if isinstance(observer, str | None) else type(observer).__name__
        why = "should be a ToMnet, as `tomnet.load(name)` gives one; `tomnet.meet` takes names and fitted observers too"
        raise BadSetting("observer", found, why)


def check_history(observer: ToMnet, history: History) -> None:
    _warn(history_reasons(observer, history))


def history_reasons(observer: ToMnet, history: History) -> list[str]:
    """In what way a history that can be read is unlike what was met in training."""
    if not isinstance(history, History):
        raise BadSetting("history", type(history).__name__, "should be a History; `History.of(past)` makes one")
    past = _arrays("past", history.past, (Episode, Snapshot), "agent", "past")
    check_past(observer.config, history.past)
    real = np.asarray(history.past_real)
    if real.dtype != bool or real.ndim != 2 or real.shape[1] != past["walls"].shape[1]:
        expected = f"true or false for each agent and each of {past['walls'].shape[1]} past episodes"
        raise TomnetError(f"past_real has shape {real.shape} and holds {real.dtype}; expected {expected}")
    if not len(past["walls"]) or len(real) % len(past["walls"]):
        raise BadSetting("past", f"of {len(past['walls'])} agents", f"there are {len(real)} in past_real")
    kind, shown = type(history.past), np.asarray(history.shown)
    _check_kind(observer, "past", past)
    seen = {name: array[shown] for name, array in past.items()}
    _check_values("past", kind, seen)
    reasons = _past_reasons(observer, kind, seen, real.sum(-1))
    if history.recent is not None:
        recent = _arrays("recent", history.recent, (Episode,), "agent")
        _check_count("recent", len(recent["length"]), len(real))
        _check_kind(observer, "recent", recent)
        _check_values("recent", Episode, recent, least_length=0)
        _check_times(history, recent)
        begun = recent["length"] > 0
        reasons += _episode_reasons(observer.domain, {name: array[begun] for name, array in recent.items()})
    return reasons


def check_query(observer: ToMnet, query: Arrays, begun: np.ndarray, where: str = "query") -> None:
    reasons = query_reasons(observer, query, begun, where)
    _check_apart(where, query)
    _warn(reasons)


def query_reasons(observer: ToMnet, query: Arrays, begun: np.ndarray, where: str = "query") -> list[str]:
    """The same of states that are asked about; `begun`: whether something happened before in their episodes."""
    _check_kind(observer, where, query)
    _check_values(where, QueryState, query)
    return _query_reasons(observer.domain, query, begun)


def check_step(observer: ToMnet, before: Arrays, action: int, after: Arrays) -> None:
    """Of what is said to have been seen after an action, a batch of one: whether it could follow by the rules."""
    if not np.array_equal(before["walls"], after["walls"]):
        raise BadSetting("state.walls", "others", "the walls stay where they are in an episode")
    if observer.domain is not None:
        cells, objects = (np.stack([before[name], after[name]], 1) for name in ("agent_cell", "object_cells"))
        actions, real = np.array([[action, NONE]]), np.ones((1, 2), bool)
        _warn(_transition_reasons(observer.domain, after["walls"], cells, objects, actions, real))


def check_steps(observer: ToMnet, steps: int) -> None:
    """Of a current episode that is read step by step."""
    if observer.domain is not None and steps >= observer.domain.step_limit:
        _warn([f"the episode goes on after {observer.domain.step_limit} steps"])


def state_arrays(state: QueryState) -> Arrays:
    """Of a single state, as a batch of one."""
    return {name: array[None] for name, array in _arrays("state", state, (QueryState,)).items()}


# --- What cannot be read


def _arrays(where: str, thing: Any, kinds: tuple[type, ...], *batch: str) -> Arrays:
    """The fields as numpy arrays, with these axes before their own."""
    if not isinstance(thing, kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise BadSetting(where, type(thing).__name__, f"should be of the type {wanted}")
    arrays, first = arrays_of(where, thing), next(iter(AXES[type(thing)]))
    if arrays[first].ndim != len(batch):
        expected = f"[{', '.join(batch)}]" if batch else "no axis: a single one"
        raise TomnetError(f"{where}.{first} has shape {arrays[first].shape}; expected {expected}")
    misfit = find_misfit(type(thing), arrays)
    if misfit:
        raise TomnetError(f"{where}.{misfit}")
    return arrays


def _check_kind(observer: ToMnet, where: str, arrays: Arrays) -> None:
    config = observer.config
    for field, axis, known in (("walls", -1, config.size), ("object_cells", -1, config.objects)):
        found = arrays[field].shape[axis] if arrays[field].ndim else 0
        if found != known:
            what = f"grids of {known}×{known}" if field == "walls" else f"{known} objects"
            raise BadSetting(f"{where}.{field}", f"{found} in its last axis", f"this observer knows {what}")


def _check_count(where: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise BadSetting(where, f"{found} of them", f"expected {wanted}, one for each agent's history or each query")


def _check_times(history: History, recent: Arrays) -> None:
    if history.query_times is None:
        return
    times, length = np.asarray(history.query_times), recent["length"]
    if times.dtype.kind not in "iu" or times.ndim != 2 or len(times) != len(length):
        raise TomnetError(f"query_times has shape {times.shape}; expected numbers [agent, query]")
    if times.size and ((times < 0) | (times > length[:, None])).any():
        raise TomnetError("query_times must lie between 0 and the length of what was seen of the current episode")


def _check_apart(where: str, query: Arrays) -> None:
    """That no two objects are in one cell. Of what was recorded they may be, where something moved."""
    for cells in query["object_cells"]:
        found, times = np.unique(cells[cells != NONE], return_counts=True)
        if (times > 1).any():
            row, col = divmod(int(found[times > 1][0]), query["walls"].shape[-1])
            raise TomnetError(f"{where}.object_cells holds two objects in row {row}, col {col}; expected one in a cell")


def _check_values(where: str, kind: type, arrays: Arrays, **how: int) -> None:
    fault = find_wrong_value(kind, arrays, **how) or find_blocked(kind, arrays)
    if fault:
        raise TomnetError(f"{where}.{fault}")


# --- What was never met


def _warn(reasons: list[str]) -> None:
    if reasons:
        warn_once("unlike what this observer met in training", BeyondTraining, reasons)


def _past_reasons(observer: ToMnet, kind: type, seen: Arrays, counts: np.ndarray) -> list[str]:
    if observer.character_net is None:
        return ["it has no character net, and past episodes tell it nothing"] if counts.any() else []
    domain, reasons = observer.domain, []
    if domain is None or not len(counts):
        return reasons
    if counts.max() > domain.max_past:
        reasons.append(f"N_past is {counts.max()}, at most {domain.max_past} there")
    if counts.min() < domain.min_past:
        reasons.append(f"N_past is {counts.min()}, at least {domain.min_past} there")
    if not len(seen["walls"]):
        return reasons
    if kind is Episode:
        return reasons + _episode_reasons(domain, seen)
    return reasons + _level_reasons(domain, seen["walls"], seen["object_cells"])


def _episode_reasons(domain: Domain | None, seen: Arrays) -> list[str]:
    """Of episodes, one leading axis, each with a step or more."""
    if domain is None or not len(seen["walls"]):
        return []
    length = seen["length"].astype(int)
    real = np.arange(seen["actions"].shape[1]) < length[:, None]
    reasons = _level_reasons(domain, seen["walls"], seen["object_cells"][real])
    if length.max() > domain.step_limit:
        reasons.append(f"an episode of {length.max()} steps, at most {domain.step_limit} there")
    if domain.subgoal and (seen["object_cells"][:, 0, -1] == NONE).any():
        reasons.append("an episode begins without the subgoal")
    walls, cells, objects, actions = (seen[name] for name in ("walls", "agent_cells", "object_cells", "actions"))
    return reasons + _transition_reasons(domain, walls, cells, objects, actions, real)


def _transition_reasons(
    domain: Domain,
    walls: Bool[np.ndarray, "episode row col"],
    agent_cells: Int[np.ndarray, "episode time"],
    object_cells: Int[np.ndarray, "episode time object"],
    actions: Int[np.ndarray, "episode time"],
    real: Bool[np.ndarray, "episode time"],
) -> list[str]:
    """Of what follows on what."""
    reasons, cells, steps = [], np.where(real, agent_cells, 0), real[:, 1:]
    if (steps & (next_cells(walls, cells, actions)[:, :-1] != cells[:, 1:])).any():
        reasons.append("an action leads elsewhere than it says")
    before, after, reached = object_cells[:, :-1], object_cells[:, 1:], cells[:, 1:, None]
    changed = (before != after) & ~((before == reached) & (after == NONE))  # what the agent reaches is gone
    if not domain.sees_all:  # and what is out of view, too
        changed &= (before != NONE) & (after != NONE)
    usual = domain.swaps & (before[..., domain.objects :] == reached).any(-1)
    if (steps & changed.any(-1) & ~usual).any():
        why = "though no subgoal was taken" if domain.swaps else "that the agent did not reach"
        reasons.append(f"objects change {why}")
    return reasons


def _query_reasons(domain: Domain | None, query: Arrays, begun: np.ndarray) -> list[str]:
    if domain is None or not len(query["walls"]):
        return []
    reasons = _level_reasons(domain, query["walls"], query["object_cells"])
    if domain.subgoal and (~begun & (query["object_cells"][:, -1] == NONE)).any():
        reasons.append("an episode begins without the subgoal")
    if (query["object_cells"] == query["agent_cell"][:, None]).any():
        reasons.append("the agent stands on an object")
    return reasons


def _level_reasons(domain: Domain, walls: np.ndarray, object_cells: np.ndarray) -> list[str]:
    reasons, most = [], int(walls.sum((-2, -1)).max())
    if most > domain.most_walls:
        reasons.append(f"walls fill {most} cells, at most {domain.most_walls} there")
    if domain.sees_all and (object_cells[..., : domain.objects] == NONE).any():
        reasons.append("an object is missing")
    return reasons
