"""Recordings as arrays: the states of each episode that an observer is asked about, and what then happened.

An episode is asked about at `QUERIES` times, the first of them its start, unless told otherwise. Arrays are padded to
the largest maze of the set, and padding is wall. Walking distances are worked out once, here, for all observers alike.
"""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from ..episodes.targets import GAMMAS
from ..recordings.recording import NOTHING, NOWHERE, Recording
from ..support.errors import TomnetError
from .distances import UNREACHABLE, walking_distances

QUERIES = 4
MOST_BYTES = 2**30  # of distances
NO_HEADING = -1


@dataclass(frozen=True)
class Schema:
    """What recordings are made of: how large mazes get, and the names of what is in them and of what is done."""

    rows: int
    cols: int
    kinds: tuple[str, ...]  # letters of objects
    action_names: tuple[str, ...]
    headed: bool  # agents face somewhere, in some of them at least
    walked_over: tuple[bool, ...]  # for each kind, whether an agent was ever seen to step on one and leave it there
    from_afar: bool = True  # something was taken that no way led to; files from before it was known do not say

    @property
    def size(self) -> tuple[int, int]:
        return self.rows, self.cols

    @property
    def nothing(self) -> int:
        """The outcome that no object is taken, after those of all kinds."""
        return len(self.kinds)

    @property
    def outcomes(self) -> tuple[str, ...]:
        return (*self.kinds, "nothing")

    def check(self, recording: Recording) -> None:
        """Whether an observer that knows this schema can be asked about it."""
        rows, cols = recording.size
        if rows > self.rows or cols > self.cols:
            raise TomnetError(f"a maze of {rows}×{cols}: this observer knows mazes of up to {self.rows}×{self.cols}")
        for what, names, known in (
            ("object", recording.objects, self.kinds),
            ("action", recording.action_names, self.action_names),
        ):
            for name in names:
                if name not in known:
                    raise TomnetError(f"{what} {name!r}: this observer knows {', '.join(known) or 'none'}")


def schema_of(recordings: Sequence[Recording]) -> Schema:
    kinds = sorted({letter for each in recordings for letter in each.objects})
    over = set().union(*(_walked_over(each) for each in recordings))
    return Schema(
        rows=max(each.size[0] for each in recordings),
        cols=max(each.size[1] for each in recordings),
        kinds=tuple(kinds),
        action_names=tuple(dict.fromkeys(name for each in recordings for name in each.action_names)),
        headed=any(each.headings is not None for each in recordings),
        walked_over=tuple(kind in over for kind in kinds),
    )


def _walked_over(recording: Recording) -> set[str]:
    """Kinds of objects that a step ended on without taking them, and with more steps to come."""
    reached = recording.object_cells[1:-1] == recording.cells[1:-1, None]
    reached &= recording.taken[:-1, None] != np.arange(len(recording.objects))
    return {recording.objects[number] for number in np.flatnonzero(reached.any(0))}


@dataclass(frozen=True, eq=False)  # one is itself alone, and so can be looked up by
class Dataset:
    """Episodes, those of an agent side by side and in the order of time."""

    schema: Schema
    recordings: tuple[Recording, ...]
    agents: tuple[str, ...]
    agent: Int[np.ndarray, "episode"]
    walls: Bool[np.ndarray, "episode row col"]
    times: Int[np.ndarray, "episode query"]
    cells: Int[np.ndarray, "episode query"]
    headings: Int[np.ndarray, "episode query"]
    walked: Int[np.ndarray, "episode query"]  # steps since the start, or since something was taken
    walked_from: Int[np.ndarray, "episode query"]  # the cell in which that was
    actions: Int[np.ndarray, "episode query"]  # what was done next, or UNKNOWN
    outcome: Int[np.ndarray, "episode query"]  # the kind that was taken next, or `schema.nothing`
    layout: Int[np.ndarray, "episode query"]
    objects: Bool[np.ndarray, "layout kind row col"]
    to_kind: UInt8[np.ndarray, "layout kind row col"]  # steps to the nearest of a kind, round the others

    def __len__(self) -> int:
        return len(self.recordings)

    @cached_property
    def present(self) -> Bool[np.ndarray, "episode query kind"]:
        return np.any(self.objects, axis=(-2, -1))[self.layout]

    @cached_property
    def distance(self) -> UInt8[np.ndarray, "episode query kind"]:
        """Steps from where the agent is to each kind."""
        return self._distance_from(self.cells)

    @cached_property
    def distance_before(self) -> UInt8[np.ndarray, "episode query kind"]:
        """The same from where the agent was when it could choose: at the start, or when something was taken."""
        return self._distance_from(self.walked_from)

    @cached_property
    def detour(self) -> Int[np.ndarray, "episode query kind"]:
        """Steps that the way so far has cost whoever is after each kind: 0 on a shortest way there."""
        before, now = self.distance_before.astype(int), self.distance.astype(int)
        reachable = (before != UNREACHABLE) & (now != UNREACHABLE)
        return np.where(reachable, np.maximum(self.walked[..., None] + now - before, 0), 0)

    @cached_property
    def possible(self) -> Bool[np.ndarray, "episode query outcome"]:
        """What may happen: that nothing is taken, and any object that a way leads to. Where agents were seen to take
        one without a way there, by jumping, or through a door that opened, any that is present."""
        there = self.present if self.schema.from_afar else self.distance != UNREACHABLE
        return np.concatenate([there, np.ones((*self.outcome.shape, 1), bool)], -1)

    @cached_property
    def nearest(self) -> Bool[np.ndarray, "episode query kind"]:
        """The kinds that no other is nearer than; none where nothing can be reached."""
        least = self.distance.min(-1, keepdims=True, initial=UNREACHABLE)
        return (self.distance == least) & (least != UNREACHABLE)

    @cached_property
    def nearest_not_taken(self) -> Bool[np.ndarray, "episode query"]:
        """Something was taken, and something else was nearer: where a preference shows."""
        took = self.outcome != self.schema.nothing
        padded = np.concatenate([self.nearest, np.zeros((*self.outcome.shape, 1), bool)], -1)
        return took & self.nearest.any(-1) & ~np.take_along_axis(padded, self.outcome[..., None], -1)[..., 0]

    @cached_property
    def action_shares(self) -> Float[np.ndarray, "episode action"]:
        """How often each action was taken in each episode, among those known."""
        counts = np.stack([self._count_actions(each) for each in self.recordings])
        return counts / np.maximum(counts.sum(1, keepdims=True), 1)

    @cached_property
    def lengths(self) -> Int[np.ndarray, "episode"]:
        return np.array([len(each) for each in self.recordings])

    @cached_property
    def sequences(self) -> list[Int[np.ndarray, "episode"]]:
        """The episodes of each agent, in the order of time."""
        return [np.flatnonzero(self.agent == number) for number in range(len(self.agents))]

    def from_agent(
        self, episode: Int[np.ndarray, "asked"], query: Int[np.ndarray, "asked"]
    ) -> UInt8[np.ndarray, "asked row col"]:
        """Steps from where the agent is to every cell, round all objects that stand in the way."""
        here = np.arange(self.schema.rows * self.schema.cols) == self.cells[episode, query][:, None]
        here = here.reshape(-1, *self.schema.size)
        closed = self._in_the_way(self.objects[self.layout[episode, query]]).any(1) & ~here
        return walking_distances(self.walls[episode], here, closed)

    def successor_maps(
        self, episode: Int[np.ndarray, "asked"], query: Int[np.ndarray, "asked"]
    ) -> Float[np.ndarray, "asked gamma row col"]:
        """The discounted share of time that was then spent in each cell, as `episodes.targets` has it."""
        maps = np.zeros((len(episode), len(GAMMAS), self.schema.rows * self.schema.cols), np.float32)
        for each, (number, time) in enumerate(zip(episode, self.times[episode, query])):
            cells = _padded_cells(self.recordings[number].cells[time:], self.recordings[number], self.schema)
            weights = np.asarray(GAMMAS)[:, None] ** np.arange(len(cells))
            for gamma, weight in enumerate(weights / weights.sum(1, keepdims=True)):
                np.add.at(maps[each, gamma], cells, weight)
        return maps.reshape(len(episode), len(GAMMAS), *self.schema.size)

    def _distance_from(self, cells: np.ndarray) -> np.ndarray:
        flat = self.to_kind.reshape(*self.to_kind.shape[:2], self.schema.rows * self.schema.cols)
        return flat[self.layout[..., None], np.arange(len(self.schema.kinds)), cells[..., None]]

    def _in_the_way(self, objects: np.ndarray) -> np.ndarray:
        return objects & ~np.array(self.schema.walked_over, bool)[:, None, None]

    def _count_actions(self, recording: Recording) -> np.ndarray:
        number = [self.schema.action_names.index(name) for name in recording.action_names]
        return np.bincount(
            np.array(number)[recording.actions[recording.actions >= 0]], minlength=len(self.schema.action_names)
        )


def spread_out(recording: Recording) -> Int[np.ndarray, "query"]:
    return np.linspace(0, len(recording), QUERIES, endpoint=False).astype(int)


def make_dataset(
    recordings: Sequence[Recording],
    schema: Schema | None = None,
    *,
    times: Callable[[Recording], Int[np.ndarray, "query"]] = spread_out,
) -> Dataset:
    """Episodes of an agent are taken to have happened in the order in which they come. `times` are those at which each
    is asked about, as many for one as for another; where an episode is past, the first must be its start."""
    known, schema = schema, schema_of(recordings) if schema is None else schema
    number = {name: place for place, name in enumerate(dict.fromkeys(each.agent for each in recordings))}
    by_agent = sorted(recordings, key=lambda each: number[each.agent])
    asked_at = [times(each) for each in by_agent]
    rows = [_asked(each, schema, asked) for each, asked in zip(by_agent, asked_at)]
    walls = np.stack([_padded_walls(each, schema) for each in by_agent])
    layout, objects, owner = _layouts(by_agent, asked_at, schema)
    closed = objects & ~np.array(schema.walked_over, bool)[:, None, None]
    others = closed.any(1, keepdims=True) & ~objects
    grid = schema.size
    to_kind = walking_distances(
        np.repeat(walls[owner], len(schema.kinds), axis=0), objects.reshape(-1, *grid), others.reshape(-1, *grid)
    )
    data = Dataset(
        schema=schema,
        recordings=tuple(by_agent),
        agents=tuple(number),
        agent=np.array([number[each.agent] for each in by_agent]),
        walls=walls,
        layout=layout,
        objects=objects,
        to_kind=to_kind.reshape(objects.shape),
        **{name: np.stack([row[name] for row in rows]) for name in rows[0]},
    )
    return data if known is not None else dataclasses.replace(data, schema=_with_reach(data))


def _with_reach(data: Dataset) -> Schema:
    """Whether ways matter to these agents is known once there are distances."""
    took = data.outcome[..., None] == np.arange(data.schema.nothing)
    return dataclasses.replace(data.schema, from_afar=bool((took & (data.distance == UNREACHABLE)).any()))


def _asked(recording: Recording, schema: Schema, times: Int[np.ndarray, "query"]) -> dict[str, np.ndarray]:
    """One episode at the times at which it is asked about."""
    cells = _padded_cells(recording.cells, recording, schema)
    takings = np.flatnonzero(recording.taken != NOTHING)
    names = np.array([schema.action_names.index(name) for name in recording.action_names] + [-1])
    kinds = np.array([schema.kinds.index(letter) for letter in recording.objects] + [schema.nothing])
    took = np.append(kinds[recording.taken[takings]], schema.nothing)
    since = np.append(0, takings + 1)[np.searchsorted(takings, times)]  # the state right after the last taking
    headings = np.full(len(times), NO_HEADING) if recording.headings is None else recording.headings[times].astype(int)
    return {
        "times": times,
        "cells": cells[times],
        "headings": headings,
        "walked": times - since,
        "walked_from": cells[since],
        "actions": names[recording.actions[times]],
        "outcome": took[np.searchsorted(takings, times)],
    }


def _layouts(
    recordings: Sequence[Recording], times: list[np.ndarray], schema: Schema
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where objects are at these times: the number of a layout for each, the layouts, and whose episode each is of."""
    found, numbers, owner = [], np.zeros((len(recordings), len(times[0])), int), []
    most = MOST_BYTES // max(schema.rows * schema.cols * len(schema.kinds), 1)
    for episode, (recording, asked) in enumerate(zip(recordings, times)):
        known: dict[bytes, int] = {}
        kinds = np.array([schema.kinds.index(letter) for letter in recording.objects], int)
        for query, time in enumerate(asked):
            cells = recording.object_cells[time]
            name = cells.tobytes()
            if name not in known:
                known[name] = len(found)
                owner.append(episode)
                there = cells != NOWHERE
                found.append((kinds[there], _padded_cells(cells[there], recording, schema)))
            numbers[episode, query] = known[name]
        if len(found) > most:
            raise TomnetError("too many episodes for one fit: distances to all objects do not fit into memory")
    objects = np.zeros((len(found), len(schema.kinds), schema.rows * schema.cols), bool)
    for number, (kinds, cells) in enumerate(found):
        objects[number, kinds, cells] = True
    return numbers, objects.reshape(*objects.shape[:2], *schema.size), np.array(owner)


def _padded_walls(recording: Recording, schema: Schema) -> np.ndarray:
    rows, cols = recording.size
    walls = np.ones(schema.size, bool)
    walls[:rows, :cols] = recording.walls
    return walls


def _padded_cells(cells: np.ndarray, recording: Recording, schema: Schema) -> np.ndarray:
    """Numbered as in the largest maze of the set."""
    row, col = np.divmod(cells.astype(int), recording.size[1])
    return row * schema.cols + col
