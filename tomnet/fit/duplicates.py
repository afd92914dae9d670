"""Which episodes are copies of each other: the same maze and the same way through it, turned over or not.

A copy in the test part of what was trained on would be remembered and not understood.
"""

import hashlib

import numpy as np

from ..recordings.recording import Recording
from .symmetry import SYMMETRIES, turned, turned_cells, turned_headings


def digest(recording: Recording) -> bytes:
    """The same for all eight ways to turn an episode over, whoever acted in it and whatever it is called.

    Actions are left out, because nobody knows what becomes of a `jump` in a mirror: where they led is all in here.
    """
    return min(_described(symmetry, recording) for symmetry in SYMMETRIES)


def _described(symmetry: int, recording: Recording) -> bytes:
    walls, cells = turned(symmetry, recording.walls), turned_cells(symmetry, *recording.size)
    said = hashlib.blake2b(digest_size=16)
    said.update(repr((walls.shape, recording.objects, len(recording))).encode())
    said.update(np.packbits(walls).tobytes())
    said.update(cells[recording.cells].tobytes())
    tracks = cells[recording.object_cells].T
    # objects that share a letter are in the order in which one reads the maze, which another way up is another one
    for _, track in sorted((letter, track.tobytes()) for letter, track in zip(recording.objects, tracks)):
        said.update(track)
    took = sorted((step, recording.objects[recording.taken[step]]) for step in np.flatnonzero(recording.taken >= 0))
    said.update(repr(took).encode())
    if recording.headings is not None:
        said.update(turned_headings(symmetry)[recording.headings].tobytes())
    return said.digest()
