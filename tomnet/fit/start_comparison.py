"""The network trained from a start, beside the one that was trained from nothing."""

from .dataset import Dataset
from .observer_protocol import Observer
from .result import Started
from .scores import judged, mean_loss, over_agents, say, within
from .split import Split

STARTED = "started"  # its folder in that of the fit


def compare_starts(name: str, data: Dataset, split: Split, begun: Observer, fresh: Observer) -> Started:
    """Both on the validation part, by which one is kept, and on the test part, which tells whether that helped."""
    both = {"with": begun, "without": fresh}
    on_validation = say(both, data, split.validation)
    validation = {which: mean_loss(data, on_validation, which) for which in both}
    last = say(both, data, split.test)[-1]
    agent = data.agent[last.asked.episode]
    nats = {which: judged(last.outcomes[which], data.outcome[last.asked.place])[0] for which in both}
    return Started(
        name=name,
        kept=validation["with"] < validation["without"],
        validation=validation["with"],
        validation_without=validation["without"],
        past=last.past,
        test=within(over_agents(nats["with"], agent)),
        test_without=within(over_agents(nats["without"], agent)),
        gain=over_agents(nats["without"] - nats["with"], agent),
    )
