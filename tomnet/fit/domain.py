"""What a fitted observer met in fitting. Beyond that, what it says is extrapolation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..recordings.recording import Recording


@dataclass(frozen=True)
class FitDomain:
    max_past: int  # episodes of an agent that were seen before another was asked about
    longest: int  # steps of an episode
    most_walls: int  # cells
    smallest: tuple[int, int]  # the fewest rows, and the fewest cols
    headed: tuple[bool, ...]  # whether agents faced somewhere: some may, and others not

    @staticmethod
    def of(recordings: Sequence[Recording], max_past: int) -> "FitDomain":
        """`max_past`: as far back as the training looked; where agents have fewer episodes, that is less."""
        counts: dict[str, int] = {}
        for each in recordings:
            counts[each.agent] = counts.get(each.agent, 0) + 1
        return FitDomain(
            max_past=min(max_past, max(counts.values()) - 1),
            longest=max(map(len, recordings)),
            most_walls=max(int(each.walls.sum()) for each in recordings),
            smallest=(min(each.size[0] for each in recordings), min(each.size[1] for each in recordings)),
            headed=tuple(sorted({each.headings is not None for each in recordings})),
        )

    def reasons(self, past: int, recordings: Sequence[Recording]) -> Iterator[str]:
        """In what way so many past episodes, and these recordings, are unlike what was met."""
        if past > self.max_past:
            yield f"N_past is {past}, at most {self.max_past} there"
        if not recordings:
            return
        walls, longest = max(int(each.walls.sum()) for each in recordings), max(map(len, recordings))
        if longest > self.longest:
            yield f"an episode of {longest} steps, at most {self.longest} there"
        if walls > self.most_walls:
            yield f"walls fill {walls} cells, at most {self.most_walls} there"
        rows, cols = self.smallest
        small = next((each.size for each in recordings if each.size[0] < rows or each.size[1] < cols), None)
        if small is not None:
            yield f"a maze of {small[0]}×{small[1]}, at least {rows}×{cols} there"
        if not {each.headings is not None for each in recordings} <= set(self.headed):
            yield "the agent faces nowhere" if self.headed == (True,) else "the agent faces somewhere"
