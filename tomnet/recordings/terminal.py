"""A person at the keyboard as the agent: a maze in the terminal, one key a step.

Walls stop the player; stepping on a letter takes it and ends the episode, stepping on a subgoal takes it and goes on.
From a pipe it reads one action a line, so that scripts can play too.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..support.errors import BadFile
from . import text
from .bad_recording import BadRecording
from .moves import Moves, Place
from .plain_file import open_plain
from .recording import ACTIONS, AGENT, FREE, HEADINGS, MOST_STEPS, SUBGOAL, WALL, Recording
from .scene import Recorder, Scene
from .transcript import Transcript, check_level, expected_action

KEYS = {"\x1b[A": "up", "\x1b[B": "down", "\x1b[C": "right", "\x1b[D": "left", " ": "stay"}
KEYS |= {"w": "up", "s": "down", "d": "right", "a": "left", "k": "up", "j": "down", "l": "right", "h": "left"}
AHEAD = {
    "up": "forward",
    "left": "turn-left",
    "right": "turn-right",
    "down": "backward",
}  # for those who face somewhere
QUIT = ("q", "\x04", "\x1b", "quit")
ARROWS = dict(zip(HEADINGS, "^>v<"))


class Maze:
    """The rules of a drawn level, played by hand."""

    def __init__(self, level: Transcript):
        self.level, self.moves = level, Moves(level.level, level.action_names)
        cells = {(row, col): char for row, line in enumerate(level.level) for col, char in enumerate(line)}
        (start,) = (cell for cell, char in cells.items() if char == AGENT)
        self.place: Place = (*start, None if level.heading is None else HEADINGS.index(level.heading))
        self.objects = {cell: char for cell, char in cells.items() if char not in (WALL, FREE, AGENT)}
        self.walls = np.array([[char == WALL for char in line] for line in level.level])
        self.over = False

    def scene(self) -> Scene:
        objects = tuple((letter, cell) for cell, letter in self.objects.items())
        heading = None if self.place[2] is None else HEADINGS[self.place[2]]
        return Scene(walls=self.walls, cell=self.place[:2], objects=objects, heading=heading)

    def step(self, action: str) -> str | None:
        """What it took."""
        after = self.moves.lead(action, self.place)
        assert after is not None, "names were checked before"
        self.place = after
        taken = self.objects.pop(after[:2], None)
        self.over = taken not in (None, SUBGOAL)
        return taken

    def picture(self) -> str:
        rows = [[WALL if wall else FREE for wall in row] for row in self.walls]
        for (row, col), letter in self.objects.items():
            rows[row][col] = letter
        row, col, heading = self.place
        rows[row][col] = AGENT if heading is None else ARROWS[HEADINGS[heading]]
        return "\n".join("".join(row) for row in rows)


def read_level(path: Path) -> Transcript:
    """The level of a text file; steps that follow it are left out."""
    try:
        with open_plain(path, text.LARGEST_FILE) as file:
            raw = file.read()
    except OSError as error:
        raise BadFile(path, (error.strerror or str(error)).lower()) from None
    try:
        level = text.parse_transcript(text.decode(raw))
        check_level(level.level, level.level_line)
        facing = Moves(level.level, level.action_names)
        for name in level.action_names:
            if facing.lead(name, (0, 0, None if level.heading is None else 0)) is None:
                expected = f"actions whose names tell where they lead, such as {', '.join(ACTIONS)}, or a heading"
                raise BadRecording("actions", expected, name)
    except BadRecording as fault:
        raise fault.at(path) from None
    return level


def play(
    level: Transcript, agent: str, episode: str, actions: Iterator[str], show: Callable[[str], None]
) -> Recording | None:
    """One episode, until an object is taken or no more actions come; None if there was not one."""
    maze, recorder = Maze(level), Recorder(agent, level.action_names)
    recorder.start(maze.scene())
    show(maze.picture())
    for action in actions:
        took = maze.step(action)
        recorder.step(level.action_names.index(action), maze.scene(), took=took)
        show(maze.picture() + (f"\ntook {took}" if took else ""))
        if maze.over or len(recorder.actions) == MOST_STEPS:
            break
    return recorder.finish(episode, maze.over) if recorder.actions else None


# --- Where actions come from


def typed_actions(level: Transcript, lines: Iterator[str]) -> Iterator[str]:
    """One action a line, by name or by key; an empty line is nothing."""
    for number, line in enumerate(lines, start=1):
        word = line.strip()
        if word in QUIT[:1] + QUIT[3:]:
            return
        if word:
            action = _action(word, level)
            if action is None:
                expected = expected_action((*level.action_names, "quit"), word)
                raise BadRecording("action", expected, word, path="stdin", line=number)
            yield action


def pressed_actions(level: Transcript, read_key: Callable[[], str]) -> Iterator[str]:
    """Keys that mean nothing here are let go."""
    while (key := read_key()) not in (*QUIT, ""):
        action = _action(key, level)
        if action is not None:
            yield action


def keys(level: Transcript) -> str:
    """What can be pressed, for whoever sits at the keyboard."""
    moves = [action for key in "wasd" if (action := _action(key, level)) is not None]
    lines = [f"arrows or WASD: {', '.join(moves)}"] if moves else []
    if (rest := _action(" ", level)) is not None:
        lines.append(f"space: {rest}")
    return "\n".join([*lines, "q: end the episode and keep it", "Ctrl-C: leave without it"])


def _action(word: str, level: Transcript) -> str | None:
    """The action that a name or a key stands for."""
    if word in level.action_names:
        return word
    meant = KEYS.get(word, word)
    if level.heading is not None:
        meant = AHEAD.get(meant, meant)
    return meant if meant in level.action_names else None


@contextmanager
def keyboard() -> Iterator[Callable[[], str]]:
    """Keys as they are pressed; the terminal is left as it was found."""
    import os
    import select
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)

    def read_key() -> str:
        key = os.read(descriptor, 1).decode(errors="replace")
        # an arrow is three bytes at once; a lone escape is a key of its own
        if key == "\x1b" and select.select([descriptor], [], [], 0.05)[0]:
            key += os.read(descriptor, 2).decode(errors="replace")
        return key

    try:
        tty.setcbreak(descriptor)
        yield read_key
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
