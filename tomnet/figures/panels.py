"""A figure is a list of panels, each one column wide: side by side on paper, one by one on a phone."""

import dataclasses
import io
from collections.abc import Callable, Mapping, Sequence

import matplotlib
from matplotlib.figure import Figure, SubFigure

from .style import RC

COLUMN = 3.4  # inches: a column of the paper, and about what a phone shows at a legible size


@dataclasses.dataclass(frozen=True)
class Panel:
    letter: str  # "a"; "" for a figure of a single panel
    title: str
    alt: str  # for those who cannot see it: what is drawn, and what it shows
    draw: Callable[[SubFigure], None]
    height: float = 2.5  # inches


Panels = Mapping[str, Sequence[Panel]]  # by the stem of the figure's file


def compose(panels: Sequence[Panel], columns: int = 2) -> Figure:
    """Panels in reading order, each row as high as its highest panel."""
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    heights = [max(panel.height for panel in row) for row in rows]
    with matplotlib.rc_context(RC):
        figure = Figure(figsize=(COLUMN * columns, sum(heights)), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.03, h_pad=0.03)
        grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
        for row, members in enumerate(rows):
            for col, panel in enumerate(members):
                alone = len(members) == 1  # a last panel without a neighbour takes the whole row
                place = figure.add_subfigure(grid[row, :] if alone else grid[row, col])
                if panel.title:
                    heading = f"$\\bf{{{panel.letter}}}$  {panel.title}" if panel.letter else panel.title
                    margin = 0.05 / (COLUMN * (columns if alone else 1))  # the same on narrow and wide panels
                    place.suptitle(heading, x=margin, ha="left", fontsize=8.5)
                panel.draw(place)
    return figure


def compose_all(panels: Panels) -> dict[str, Figure]:
    return {stem: compose(members, columns=min(2, len(members))) for stem, members in panels.items()}


def render(figure: Figure, format: str) -> bytes:
    """The file's bytes: the same for the same figure, today and tomorrow."""
    undated = {"svg": {"Date": None, "Creator": None}, "png": {"Software": None}}[format]
    buffer = io.BytesIO()
    with matplotlib.rc_context(RC):
        figure.savefig(buffer, format=format, metadata=undated)
    return buffer.getvalue()
