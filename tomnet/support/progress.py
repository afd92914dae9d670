"""Progress of a long job: a bar with the time left in a terminal, a plain line now and then elsewhere.

A job that cannot count its steps says what it has come to instead:

    with narrated("goal-inference"):
        stage("exact inference on 500 encounters")     # goal-inference: exact inference on 500 encounters (3 s)
"""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column
from rich.text import Text

QUIET_SECONDS = 15.0  # between two plain lines
BESIDE_BAR = 74  # characters, of which three losses are 44: in a terminal of 80 the bar is short, and nothing is cut
COMPILING = "compiling, which may take a minute or two"


class Note(ProgressColumn):
    """What is said behind a bar: the only part of it that gives way where the terminal is narrow."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["note"], no_wrap=True, overflow="ellipsis")


class Progress:
    """Of a job that compiles first: it says so, and does not estimate from that."""

    def __init__(self, title: str, total: int, done: int = 0):
        self.title, self.total = title, total
        self.compiled: tuple[int, float] | None = None  # how far it was then, and when
        self.spoke = time.monotonic()
        self.bar = None
        console = Console(stderr=True)
        if console.is_terminal:
            whole = Column(no_wrap=True)
            self.bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(min(max(console.width - BESIDE_BAR, 5), 40)),
                MofNCompleteColumn(table_column=whole),
                TimeRemainingColumn(table_column=whole),
                TextColumn("left"),
                Note(),
                console=console,
            )
            self.task = self.bar.add_task(title, total=total, completed=done, note=COMPILING)

    def __enter__(self):
        if self.bar:
            self.bar.start()
        else:
            print(f"{self.title}: {COMPILING}", file=sys.stderr, flush=True)
        return self

    def __exit__(self, *_):
        if self.bar:
            self.bar.stop()

    def advance(self, done: int, numbers: dict[str, float]) -> None:
        note = "  ".join(f"{name} {value:.3f}" for name, value in numbers.items())
        if self.bar:
            self.bar.update(self.task, completed=done, note=note)
            return
        now = time.monotonic()
        if done >= self.total or now - self.spoke > QUIET_SECONDS:
            print(f"{self.title}: {done}/{self.total}  {self._left(done, now)}{note}", file=sys.stderr, flush=True)
            self.spoke = now
        self.compiled = self.compiled or (done, now)

    def _left(self, done: int, now: float) -> str:
        """Empty where nothing but the first stretch is known, which was mostly compiled."""
        if done < self.total and self.compiled is None:
            return ""
        first, started = self.compiled or (done, now)
        return f"{(now - started) / max(done - first, 1) * (self.total - done):.0f} s left  "


# --- Jobs that cannot count their steps


class Narrator:
    """A line on stderr for every stage, and a sign of life where one takes long."""

    def __init__(self, title: str):
        self.title, self.what, self.share, self.started = title, "", "", time.monotonic()
        self.over = threading.Event()

    def stage(self, what: str) -> None:
        if what != self.what:  # reading encounters batch by batch is one stage
            self.what, self.share = what, ""
            self.speak()

    def speak(self) -> None:
        seconds = time.monotonic() - self.started
        print(f"{self.title}: {self.what}{self.share} ({seconds:.0f} s)", file=sys.stderr, flush=True)

    def keep_speaking(self) -> None:
        while not self.over.wait(QUIET_SECONDS):
            self.speak()


_narrator: Narrator | None = None  # one for the process: whoever does the work need not know who listens


@contextmanager
def narrated(title: str) -> Iterator[None]:
    """Whatever calls `stage` in here is heard."""
    global _narrator
    before, _narrator = _narrator, Narrator(title)
    voice = threading.Thread(target=_narrator.keep_speaking, daemon=True)
    voice.start()
    try:
        yield
    finally:
        _narrator.over.set()
        voice.join()
        _narrator = before


def stage(what: str) -> None:
    """Says what a long job has come to, if it is `narrated`."""
    if _narrator is not None:
        _narrator.stage(what)


def reached(done: int, total: int) -> None:
    """How far a stage is that can count: the next sign of life says so."""
    if _narrator is not None:
        _narrator.share = f", {done} of {total}"
