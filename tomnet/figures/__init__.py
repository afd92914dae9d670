"""Figures of the paper, drawn from a Result's tables: nothing here trains or evaluates.

save_figures(load_result(folder), folder / "figures")     # figure-4.svg, figure-4.png, …
"""

from importlib import import_module
from pathlib import Path
from types import ModuleType

from matplotlib.figure import Figure

from ..experiments.experiment import Result
from ..experiments.registry import find
from ..support.files import write_atomically
from .architecture import architecture_figure
from .panels import Panels, compose_all, render

FORMATS = ("svg", "png")


def figures_for(result: Result) -> dict[str, Figure]:
    """The figures of an experiment by the stem of their file: `figure-4`."""
    return compose_all(panels_for(result))


def panels_for(result: Result) -> Panels:
    """The same, panel by panel, for a page that sets them itself."""
    return _module(result).panels(result.tables)


def captions(result: Result) -> dict[str, str]:
    """What each figure shows, with the numbers that matter, all of them from the result."""
    return _module(result).captions(result.tables)


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
    """The one with the name of the experiment's own: it has `panels` and `captions`."""
    name = find(result.experiment).name  # a result is read from a file: nothing but an experiment is imported
    return import_module(f".{name.replace('-', '_')}", __package__)


__all__ = ["architecture_figure", "captions", "figures_for", "panels_for", "save", "save_figures"]
