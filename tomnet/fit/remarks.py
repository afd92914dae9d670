"""What can and cannot be learned from a set of recordings, in sentences."""

from collections.abc import Iterator, Sequence

from ..recordings.recording import UNKNOWN, Recording
from .dataset import Dataset, Schema
from .scores import Score
from .steps import moves_by_direction
from .symmetry import usable_symmetries


def remarks_before(data: Dataset) -> Iterator[str]:
    """Of what was recorded."""
    recordings, agents = data.recordings, len(data.agents)
    if agents == 1:
        yield "a single agent: its own later episodes can be predicted, and not what another agent would do"
    alone = sum(len(own) == 1 for own in data.sequences)
    if alone and agents > 1:
        yield f"{alone} of {agents} agents have one episode: there is no past to know them by"
    still = sum(all(_rests(recordings[number]) for number in own) for own in data.sequences)
    if still:
        yield f"{still} of {agents} agents never move: they show nothing of what they want"
    if (data.outcome == data.schema.nothing).all():
        yield "nothing is ever taken: which object an agent is after cannot be learned, and its steps can"
    unknown = sum(int((each.actions == UNKNOWN).sum()) for each in recordings)
    if unknown:
        yield f"{unknown} of {int(data.lengths.sum())} actions are unknown: they are seen and not predicted"
    yield from _mixed(recordings)
    yield from _names(data.schema)


def _rests(recording: Recording) -> bool:
    return bool((recording.cells == recording.cells[0]).all())


def _mixed(recordings: Sequence[Recording]) -> Iterator[str]:
    sizes = {each.size for each in recordings}
    if len(sizes) > 1:
        yield f"mazes of {len(sizes)} sizes: all are learned together, the smaller ones with walls around them"
    sets = {each.action_names for each in recordings}
    if len(sets) > 1:
        names = {name for each in sets for name in each}
        yield f"{len(sets)} sets of actions: learned as one of {len(names)}, in which a name means the same everywhere"
    headed = sum(each.headings is not None for each in recordings)
    if 0 < headed < len(recordings):
        yield f"{headed} of {len(recordings)} episodes have a heading: elsewhere the agent is taken to face nowhere"


def _names(schema: Schema) -> Iterator[str]:
    if not moves_by_direction(schema):
        yield "actions are not all moves by direction: only the network predicts them, beside how usual each is"
    if len(usable_symmetries(schema.size, schema.action_names, schema.headed)) == 1:
        yield "what becomes of these actions in a mirror is not known: episodes are learned as they are"


def remarks_after(scores: Sequence[Score], recommended: str) -> Iterator[str]:
    """Of what came out: whether the past says anything about an agent at all."""
    curve = [one for one in scores if (one.observer, one.head, one.cases) == (recommended, "outcome", "all")]
    first, last = curve[0].nats, curve[-1].nats
    if len(curve) == 1:
        yield "agents have too few episodes to ask about any of them after others"
    elif not last.mean < first.mean - 0.02:
        yield (
            f"the past of an agent tells nothing about what it takes next ({first.mean:.3f} nats without, "
            f"{last.mean:.3f} with {curve[-1].past} episodes): these agents are alike, or cannot be told apart yet"
        )
