"""Progress of a long job: a bar with the time left in a terminal, a plain line now and then elsewhere."""

import sys
import time

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import (
    Progress as Bar,
)

QUIET_SECONDS = 15.0  # between two plain lines


class Progress:
    def __init__(self, title: str, total: int, done: int = 0):
        self.title, self.total, self.first = title, total, done
        self.started = self.spoke = time.monotonic()
        self.bar = None
        console = Console(stderr=True)
        if console.is_terminal:
            self.bar = Bar(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left"),
                TimeRemainingColumn(),
                TextColumn("{task.fields[note]}"),
                console=console,
            )
            self.task = self.bar.add_task(title, total=total, completed=done, note="")

    def __enter__(self):
        if self.bar:
            self.bar.start()
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
            left = (now - self.started) / max(done - self.first, 1) * (self.total - done)
            print(f"{self.title}: {done}/{self.total}  {left:.0f} s left  {note}", file=sys.stderr, flush=True)
            self.spoke = now
