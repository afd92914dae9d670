"""Whose turn it is: one computation at a time, and of what one page asks, the newest question."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeVar

T = TypeVar("T")
MOST_CLIENTS = 1_000  # whose newest question is remembered


class Superseded(Exception):
    """A newer question of the same page came before this one was looked at."""


class Turns:
    """A queue with one worker: the cores are few, and JAX uses all of them for a single question."""

    def __init__(self):
        self._newest: OrderedDict[tuple[str, str], int] = OrderedDict()
        self._tickets = count()
        self._worker = ThreadPoolExecutor(1, "tomnet-explore")

    async def take(self, client: str, kind: str, work: Callable[[], T]) -> T:
        """What `work` gives, once everybody who came before is served. A question of another kind supersedes nothing:
        a step that an agent took stands, whatever is asked about it later."""
        mine = next(self._tickets)
        self._newest[client, kind] = mine
        self._newest.move_to_end((client, kind))
        while len(self._newest) > MOST_CLIENTS:
            self._newest.popitem(last=False)

        def unless_superseded() -> T:
            if self._newest.get((client, kind), mine) != mine:
                raise Superseded
            return work()

        return await asyncio.get_running_loop().run_in_executor(self._worker, unless_superseded)
