"""What can and cannot be learned from a set of recordings, in sentences."""

from collections.abc import Iterator, Sequence

from ..recordings.recording import Recording
from ..recordings.survey import survey_of
from ..support.words import counted
from .dataset import Dataset, Schema
from .scores import Score
from .steps import moves_by_direction
from .symmetry import usable_symmetries


def remarks_before(data: Dataset) -> Iterator[str]:
    """Of what was recorded."""
    yield from survey_of(data.recordings).remarks
    yield from _mixed(data.recordings)
    yield from _names(data.schema)


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


def remarks_after(scores: Sequence[Score], recommended: str, agents: int) -> Iterator[str]:
    """Of what came out: whether the past says anything about an agent at all."""
    curve = [one for one in scores if (one.observer, one.head, one.cases) == (recommended, "outcome", "all")]
    first, last = curve[0].nats, curve[-1].nats
    if len(curve) == 1:
        yield "agents have too few episodes to ask about any of them after others"
    elif not last.mean < first.mean - 0.02:
        nats = f"{first.mean:.3f} nats without, {last.mean:.3f} with {counted(curve[-1].past, 'episode')}"
        why = ": these agents are alike, or cannot be told apart yet" if agents > 1 else ""
        whom = f"the {recommended}, which is recommended,"  # another one may know less at first, and learn
        yield f"the past of an agent tells {whom} nothing about what it takes next ({nats}){why}"
