"""Which pretrained observer reads what: docs/observers.md, written by `python -m tomnet.cards.overview PATH`."""

import sys
from pathlib import Path

from ..experiments.description import Description
from ..experiments.experiment import ObserverSpec
from ..experiments.registry import EXPERIMENTS
from ..figures.style import NOTHING
from ..observer.config import ObserverConfig
from ..observer.tomnet import ToMnet
from ..support.files import write_atomically
from ..support.words import counted
from ..world.gridworld import World
from ..zoo import available, home, load_all
from .observers import spec_of, table

Rows = list[tuple[str, str, ToMnet, Description]]
"""Experiment, name, and what that names."""
COLUMNS = ("observer", "past", "N_past", "current episode", "world", "heads", "embedding", "minutes")
PAGE = """# Which pretrained observer reads what

`tomnet.load(NAME)` gives any of these; the links lead to their cards. *Past*: what is seen of each past episode, all of
it or a single state and action (a snapshot); *N_past*: of how many; *current episode*: whether the observer reads what
happened before the query (–: it is asked at the start, and there is nothing to read). An observer knows the world that
it was trained in; *swaps*: how often objects change places when the subgoal is reached. Heads that it has not are None
in its answers. *Minutes*: how long the process that trained it ran, perhaps beside others ({minutes} in all, {device}).

{table}

`make docs` writes this page, from the observers themselves and the registry of experiments.
"""


def overview(rows: Rows) -> list[tuple[str, ...]]:
    return [
        (
            f"[{name}/{observer_name}](../tomnet/zoo/{name}/README.md)",
            *_reads(spec_of(EXPERIMENTS[name], description), observer.config),
            _minutes(description.seconds),
        )
        for name, observer_name, observer, description in rows
    ]


def page() -> str:
    rows = all_observers()
    descriptions = [description for *_, description in rows]
    devices = dict.fromkeys(description.environment.get("device", NOTHING) for description in descriptions)
    minutes = _minutes(sum(description.seconds for description in descriptions))
    return PAGE.format(table=table(COLUMNS, overview(rows)), minutes=minutes, device=" or ".join(devices))


def all_observers() -> Rows:
    """Each where it is at home."""
    return [
        (name, observer_name, observer, description)
        for name in filter(available, EXPERIMENTS)
        for observer_name, (observer, description) in load_all(name).items()
        if home(name, observer_name) == name
    ]


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.1f}"


def _reads(spec: ObserverSpec, config: ObserverConfig) -> tuple[str, ...]:
    low, high = spec.encounter_spec.min_past, spec.encounter_spec.max_past
    past = "snapshots" if spec.encounter_spec.snapshots else "episodes"
    count = f"{low} to {high}" if low < high else f"{high}"
    return (
        *((past, count) if config.character_size else ("–", "–")),
        "read" if config.mental else "–" if spec.encounter_spec.query_at_start else "not read",
        _world(spec.world),
        ", ".join(config.heads),
        f"{config.character_size}-D" if config.character_size else "–",
    )


def _world(world: World) -> str:
    objects = f"{world.size}×{world.size}, {counted(world.objects, 'object')}"
    return f"{objects} and a subgoal, swaps {world.swap_probability:.0%}" if world.subgoal else objects


if __name__ == "__main__":
    write_atomically(Path(sys.argv[1]), page().encode())
