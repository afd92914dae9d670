"""MiniGrid, seen whole: from a running environment, or from the codes that its fully observed pictures are made of."""

from typing import Any

import numpy as np

from .bad_recording import BadRecording, said
from .recording import HEADINGS
from .scene import Cell, Scene

ACTIONS = ("turn-left", "turn-right", "forward", "pickup", "drop", "toggle", "done")  # in MiniGrid's order
FACES = ("right", "down", "left", "up")  # its directions, in its order
assert set(FACES) == set(HEADINGS)

# its codes for what is in a cell
UNSEEN, EMPTY, WALL, FLOOR, AGENT = 0, 1, 2, 3, 10
COLORS = 6
KINDS = {4: "door", 5: "key", 6: "ball", 7: "box", 8: "goal", 9: "lava"}
# a letter for every kind in every colour: a red ball is always the same letter, whichever room it lies in
LETTERS = {
    4: "DEFHIJ",  # doors
    5: "KMNOPQ",  # keys
    6: "BRSTUV",  # balls
    7: "XYZWCA",  # boxes
    8: "GGGGGG",  # goals have one colour
    9: "LLLLLL",  # and so has lava
}
COLOR_NAMES = ("red", "green", "blue", "purple", "yellow", "grey")


def object_name(letter: str) -> str:
    """What a letter stands for: `B` is a red ball."""
    for kind, letters in LETTERS.items():
        if letter in letters:
            name = KINDS[kind]
            return name if name in ("goal", "lava") else f"{COLOR_NAMES[letters.index(letter)]} {name}"
    raise KeyError(letter)


def is_minigrid(env: Any) -> bool:
    return env is not None and all(hasattr(env, name) for name in ("grid", "agent_pos", "agent_dir", "carrying"))


def look_at_env(env: Any) -> Scene:
    """All of the room, whatever the agent itself sees of it."""
    codes = np.asarray(env.grid.encode()).copy()
    return _scene(codes, (int(env.agent_pos[1]), int(env.agent_pos[0])), int(env.agent_dir))


def look_at_codes(observation: Any) -> Scene:
    """A fully observed picture of codes, `[col, row, 3]`, with the agent drawn in it."""
    image = observation.get("image") if isinstance(observation, dict) else observation
    codes = np.asarray(image)
    if codes.ndim != 3 or codes.shape[-1] != 3 or codes.dtype.kind not in "iu":
        raise BadRecording("observation", "codes [col, row, 3]", said(f"{codes.dtype} of shape {codes.shape}"))
    found = np.argwhere(codes[..., 0] == AGENT)
    if len(found) != 1:
        expected = "a picture of the whole room with the agent in it (FullyObsWrapper)"
        raise BadRecording("observation", expected, said(f"{len(found)} agents, as where only a part is seen"))
    col, row = found[0].tolist()
    return _scene(codes, (row, col), int(codes[col, row, 2]))


def _scene(codes: np.ndarray, cell: Cell, direction: int) -> Scene:
    codes = codes.swapaxes(0, 1)  # MiniGrid has columns first
    if direction not in range(len(FACES)):
        raise BadRecording("heading", f"a direction between 0 and {len(FACES) - 1}", direction)
    kind, color = codes[..., 0], codes[..., 1]
    if (kind == UNSEEN).any():
        raise BadRecording("observation", "every cell to be seen", said(f"{int((kind == UNSEEN).sum())} unseen ones"))
    objects = []
    for row, col in np.argwhere(~np.isin(kind, [EMPTY, WALL, FLOOR, AGENT])).tolist():
        code, shade = int(kind[row, col]), int(color[row, col])
        if code not in LETTERS or shade not in range(COLORS):
            found = said(f"{code} and {shade} at {row} {col}")
            raise BadRecording("observation", "codes of MiniGrid's kinds and colours", found)
        objects.append((LETTERS[code][shade], (row, col)))
    return Scene(walls=kind == WALL, cell=cell, objects=tuple(objects), heading=FACES[direction])
