"""A figure is a list of panels, each one column wide: side by side on paper, one by one on a phone."""

import dataclasses
import io
import re
from collections.abc import Callable, Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure, SubFigure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from .style import RC

COLUMN = 3.4  # inches: a column of the paper, and about what a phone shows at a legible size


@dataclasses.dataclass(frozen=True)
class Panel:
    letter: str  # "a"; "" for a figure of a single panel
    title: str
    alt: str  # for those who cannot see it: what is drawn, and what it shows
    draw: Callable[[SubFigure], None]
    height: float = 2.5  # inches
    stretches: bool = True  # without a neighbour, over the whole row; False: it has the scale of others like it


Panels = Mapping[str, Sequence[Panel]]  # by the stem of the figure's file


def compose(panels: Sequence[Panel], columns: int = 2) -> Figure:
    """Panels in reading order, each row as high as its highest panel."""
    rows = [panels[first : first + columns] for first in range(0, len(panels), columns)]
    heights = [max(panel.height for panel in row) for row in rows]
    with matplotlib.rc_context(RC):
        layout = ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03)
        figure = Figure(figsize=(COLUMN * columns, sum(heights)), layout=layout)
        titles = []
        grid = figure.add_gridspec(len(rows), columns, height_ratios=heights)
        for row, beside in enumerate(rows):
            for col, panel in enumerate(beside):
                alone = len(beside) == 1 and panel.stretches
                place = figure.add_subfigure(grid[row, :] if alone else grid[row, col])
                if panel.title:
                    heading = f"$\\bf{{{panel.letter}}}$  {panel.title}" if panel.letter else panel.title
                    margin = 0.05 / (COLUMN * (columns if alone else 1))  # the same on narrow and wide panels
                    titles.append(place.suptitle(heading, x=margin, ha="left", fontsize=8.5))
                panel.draw(place)
        layout.execute(figure)
        _settle(figure, titles)
    return figure


def _settle(figure: Figure, titles: Sequence[Text]) -> None:
    """Keep the layout as it is now, on round numbers.

    The solver behind it goes through its variables in the order of their addresses, so that two runs differ in
    the last digits. Those end up in names inside the SVG, and no two files would be the same.
    """
    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.set_position(np.round(axes.get_position(original=True).bounds, 6).tolist())
    for place in figure.subfigs:
        place.bbox_relative.p0, place.bbox_relative.p1 = np.round(place.bbox_relative.get_points(), 6)
    for title in titles:
        title.set_y(round(title.get_position()[1], 6))


def compose_all(panels: Panels) -> dict[str, Figure]:
    return {stem: compose(some, columns=min(2, len(some))) for stem, some in panels.items()}


def render(figure: Figure, format: str) -> bytes:
    """The file's bytes: the same for the same figure, today and tomorrow."""
    buffer, dpi = io.BytesIO(), figure.dpi
    with matplotlib.rc_context(RC):
        try:  # straight to the canvas, because `savefig` draws everything twice
            if format == "svg":
                FigureCanvasSVG(figure).print_svg(buffer, metadata={"Date": None, "Creator": None})
            else:
                FigureCanvasAgg(figure).print_png(buffer, metadata={"Software": None})
        finally:
            figure.dpi = dpi  # which the SVG canvas has changed
    return _rounded(buffer.getvalue()) if format == "svg" else buffer.getvalue()


def _rounded(svg: bytes) -> bytes:
    """Paths to a hundredth of a point: matplotlib writes a millionth, which nobody sees and every page carries."""
    return re.sub(rb' d="[^"]*"', lambda path: re.sub(rb"(\.\d\d)\d+", rb"\1", path[0]), svg)
