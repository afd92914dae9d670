"""Figures of the paper, drawn from a Result's tables: nothing here trains or evaluates.

save_figures(load_result(folder), folder / "figures")     # figure-4.svg, figure-4.png, …
"""

from pathlib import Path
from types import ModuleType

from matplotlib.figure import Figure

from ..errors import nearest
from ..experiments.experiment import Result
from ..files import write_atomically
from . import (
    agent_embeddings,
    belief_embeddings,
    deep_rl_agents,
    explicit_beliefs,
    false_beliefs,
    false_beliefs_mixed,
    goal_inference,
    goal_snapshots,
    greedy_agents,
    random_agents,
    unseen_swaps,
)
from .architecture import architecture_figure
from .panels import Panels, render

FORMATS = ("svg", "png")

DRAWN: dict[str, ModuleType] = {
    "random-agents": random_agents,
    "goal-inference": goal_inference,
    "goal-snapshots": goal_snapshots,
    "greedy-agents": greedy_agents,
    "deep-rl-agents": deep_rl_agents,
    "agent-embeddings": agent_embeddings,
    "false-beliefs": false_beliefs,
    "false-beliefs-mixed": false_beliefs_mixed,
    "unseen-swaps": unseen_swaps,
    "explicit-beliefs": explicit_beliefs,
    "belief-embeddings": belief_embeddings,
}
"""By the experiment's name: a module with `panels`, `draw` and `captions`."""


def figures_for(result: Result) -> dict[str, Figure]:
    """The figures of an experiment by the stem of their file: `figure-4`."""
    return _module(result).draw(result)


def panels_for(result: Result) -> Panels:
    """The same, panel by panel, for a page that sets them itself."""
    return _module(result).panels(result)


def captions(result: Result) -> dict[str, str]:
    """What each figure shows, with the numbers that matter, all of them from the result."""
    return _module(result).captions(result)


def save_figures(result: Result, folder: Path) -> list[Path]:
    return save(figures_for(result), folder)


def save(figures: dict[str, Figure], folder: Path) -> list[Path]:
    """Every figure as SVG and as PNG."""
    paths = []
    for stem, figure in figures.items():
        for format in FORMATS:
            path = Path(folder) / f"{stem}.{format}"
            write_atomically(path, render(figure, format))
            paths.append(path)
    return paths


def _module(result: Result) -> ModuleType:
    if result.experiment not in DRAWN:
        raise nearest(result.experiment, DRAWN, "experiment")
    return DRAWN[result.experiment]


__all__ = ["DRAWN", "architecture_figure", "captions", "figures_for", "panels_for", "save", "save_figures"]
