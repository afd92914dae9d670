"""The episodes of a Minari file, read without what leads out of it, or unpacks to more than it says."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..support.errors import BadFile, TomnetError, needs_extra
from .bad_recording import BadRecording, said
from .recording import MOST_STEPS

MOST_EPISODES = 1_000_000
MOST_BYTES = 2**26  # of the arrays of one episode
MOST_MEMBERS, DEEPEST = 256, 4  # of one episode
EPISODE = re.compile(r"episode_([0-9]{1,6})")
UNREADABLE = (OSError, RuntimeError, ValueError, KeyError, TypeError)  # what h5py raises

Found = tuple[Any, np.ndarray, bool]
"""What was seen, what was done, and whether the episode ended by itself."""


def read_episodes(path: Path) -> Iterator[tuple[int, Found | TomnetError]]:
    """One after the other by its number, or what is wrong with it."""
    with needs_extra("minari"):
        import h5py  # pyright: ignore[reportMissingImports]

    try:
        with h5py.File(path, "r") as file:
            reader = _Reader(h5py, path)
            for number in _numbers(file):
                yield number, reader.episode(file, number)
    except UNREADABLE as error:
        raise _unreadable(path, error) from error


def _numbers(file: Any) -> list[int]:
    found = (EPISODE.fullmatch(name) for name in itertools.islice(file, MOST_EPISODES))
    return sorted(int(match[1]) for match in found if match)


def _unreadable(path: Path, error: Exception) -> BadFile:
    return BadFile(path, "cannot be read as HDF5", str(error)[:80])


class _Reader:
    def __init__(self, h5py: Any, path: Path):
        self.h5py, self.path = h5py, path
        self.members = 0  # seen of an episode: links within a file cost nothing, and a few of them lead to millions

    def episode(self, file: Any, number: int) -> Found | TomnetError:
        try:
            group = self.member(file, f"episode_{number}")
            parts = [self.member(group, name) for name in ("observations", "actions", "terminations")]
            observations, actions, ended = self.arrays(parts)
            _check_lengths(observations, actions, ended)
            return observations, actions, bool(ended[-1:].any())
        except TomnetError as error:
            return error
        except UNREADABLE as error:
            return _unreadable(self.path, error)

    def member(self, group: Any, name: str) -> Any:
        link = group.get(name, getlink=True) if isinstance(group, self.h5py.Group) else None
        if link is None:
            raise BadRecording(name, "it to be there", said("none"), path=self.path)
        if not isinstance(link, self.h5py.HardLink):
            raise BadFile(self.path, f"{group.name}/{name} is a link, which may lead out of the file")
        return group[name]

    def arrays(self, parts: list[Any]) -> list[Any]:
        """Of one episode, once they are known to be small enough together."""
        self.members = 0
        trees = [self._tree(part, 0) for part in parts]
        size = sum(leaf.size * leaf.dtype.itemsize for tree in trees for leaf in _leaves(tree))
        if size > MOST_BYTES:
            raise BadRecording(
                "observations", f"up to {MOST_BYTES >> 20} MiB an episode", said(f"{size} bytes"), path=self.path
            )
        return [_read(tree) for tree in trees]

    def _tree(self, node: Any, depth: int) -> Any:
        if isinstance(node, self.h5py.Group):
            self.members += len(node)
            if depth == DEEPEST or self.members > MOST_MEMBERS:
                raise BadFile(self.path, f"{node.name}: expected up to {MOST_MEMBERS} arrays, {DEEPEST} groups deep")
            members = {name: self.member(node, name) for name in node}
            # a mission is words, and nobody looks at it
            return {name: self._tree(each, depth + 1) for name, each in members.items() if not _is_words(each)}
        if not isinstance(node, self.h5py.Dataset) or node.dtype.kind not in "biuf":
            raise BadFile(self.path, f"{node.name} does not hold numbers")
        if node.external or node.is_virtual:
            raise BadFile(self.path, f"{node.name} is stored in another file")
        if node.id.get_create_plist().get_nfilters():
            # HDF5 unpacks a chunk to whatever size comes out; Minari itself writes them as they are
            raise BadFile(self.path, f"{node.name} is compressed, and its size cannot be known before it is unpacked")
        if node.ndim == 0 or node.shape[0] > MOST_STEPS + 1:
            raise BadRecording(node.name, f"up to {MOST_STEPS} steps", said(f"shape {node.shape}"), path=self.path)
        return node


def _check_lengths(observations: Any, actions: Any, ended: Any) -> None:
    """There is one state more than there are actions, and each of these says whether it ended the episode."""
    _check_kind("actions", actions, "iu", "whole numbers, one a step")
    _check_kind("terminations", ended, "biu", "true or false, one a step")
    for leaf in _leaves(observations):
        if len(leaf) != len(actions) + 1:
            raise BadRecording("observations", "one more than there are actions", said(str(len(leaf))))
    if len(ended) != len(actions):
        raise BadRecording("terminations", "as many as there are actions", said(str(len(ended))))


def _check_kind(name: str, array: Any, kinds: str, expected: str) -> None:
    if not isinstance(array, np.ndarray):
        raise BadRecording(name, expected, said("a group"))
    if array.ndim != 1 or array.dtype.kind not in kinds:
        raise BadRecording(name, expected, said(f"{array.dtype} of shape {array.shape}"))


def _is_words(node: Any) -> bool:
    return getattr(getattr(node, "dtype", None), "kind", "f") in "OSU"


def _leaves(tree: Any) -> list[Any]:
    return [leaf for part in tree.values() for leaf in _leaves(part)] if isinstance(tree, dict) else [tree]


def _read(tree: Any) -> Any:
    return {name: _read(part) for name, part in tree.items()} if isinstance(tree, dict) else tree[()]
