"""Drawing a level: walls, objects, the agent, and what is known or expected in each cell.

Axes are in cells: x is the col, y the row, growing downwards.
"""

import dataclasses
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.colors import LinearSegmentedColormap, PowerNorm
from matplotlib.patches import Circle, FancyArrowPatch, Rectangle

from ..experiments.analysis.examples import PlainEpisode, PlainState
from ..world.gridworld import MOVES
from ..world.levels import LETTERS
from .style import BLUE, GRID, HAPPENED, IDEAL, OBJECTS, TOMNET, VERMILLION, WALL, number, object_colour, tint

State = TypeVar("State", PlainState, PlainEpisode)
SUBGOAL = len(OBJECTS)  # it comes after the four objects
SURELY_NOTHING = 0.02  # below this, from a cell without a way out, no object is worth naming
OCCUPANCY = LinearSegmentedColormap.from_list(
    "occupancy", ["white", *(tint(TOMNET, s) for s in (0.35, 0.7, 1.0)), "#00304D"]
)
NEVER_SEEN, SEEN_BEFORE = "#A8A8A8", "#DDDDDD"  # light enough for walls to stand out from
FAINTEST_BELIEF = 0.003  # what remains below is spread too thin to be seen
CHANGE = LinearSegmentedColormap.from_list("change", [VERMILLION, "white", BLUE])


def draw_level(axes: Axes, state: PlainState | PlainEpisode, *, title: str = "", grid: bool = True) -> None:
    """Walls dark, objects as coloured squares with their letters. `state`: a plain snapshot or episode.

    A subgoal is no object like the others: `with_subgoal` sets it apart, and it is drawn as a star.
    """
    walls = np.asarray(state.walls, bool)
    rows, cols = walls.shape
    axes.set(xlim=(-0.5, cols - 0.5), ylim=(rows - 0.5, -0.5), aspect="equal", xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set(visible=True, color=WALL, linewidth=1.0, zorder=8)
    if grid:
        for line in np.arange(0.5, max(rows, cols) - 1):
            axes.axhline(line, color=GRID, linewidth=0.3, zorder=0.6)
            axes.axvline(line, color=GRID, linewidth=0.3, zorder=0.6)
    fill_cells(axes, np.argwhere(walls), WALL, zorder=1.5)
    for kind, cell in enumerate(state.object_cells):
        if cell >= 0:  # an object that was never there, or is eaten, has no cell
            draw_object(axes, kind, *divmod(cell, cols))
    if state.subgoal_cell >= 0:
        draw_object(axes, SUBGOAL, *divmod(state.subgoal_cell, cols))
    if title:
        axes.set_title(title, fontsize=8, pad=3)


def with_subgoal(state: State) -> State:
    """A state or episode whose last object is a subgoal, as the drawing functions want it."""
    *objects, subgoal = state.object_cells
    return dataclasses.replace(state, object_cells=objects, subgoal_cell=subgoal)


def draw_object(axes: Axes, kind: int, row: int, col: int, *, letter: str | None = None) -> None:
    """By the letter of its kind in our own worlds; elsewhere objects have letters of their own."""
    if kind == SUBGOAL:
        axes.plot(col, row, "*", color="black", markersize=1.5 * _letter_size(axes), zorder=5, markeredgewidth=0)
        return
    axes.add_patch(
        Rectangle(
            (col - 0.5, row - 0.5),
            1,
            1,
            facecolor=object_colour(kind),
            edgecolor=IDEAL,
            linewidth=0.6,
            zorder=2,
        )
    )
    axes.text(
        col,
        row,
        LETTERS[kind] if letter is None else letter,
        ha="center",
        va="center_baseline",
        fontsize=_letter_size(axes),
        weight="bold",
        color="black",
        zorder=5,
        in_layout=False,
    )


def _letter_size(axes: Axes) -> float:
    """As large as a cell allows: grids come in several sizes, and one size would not fit them all."""
    gridspec = axes.get_gridspec()
    share = 1 / gridspec.ncols if gridspec is not None else 1
    width = 72 * share * axes.figure.bbox.width / axes.figure.dpi  # points
    cells = abs(np.diff(axes.get_xlim())[0])
    return float(np.clip(0.62 * width / cells, 3.5, 8))


def fill_cells(axes: Axes, cells: Sequence | np.ndarray, colour, *, zorder: float) -> None:
    squares = [Rectangle((col - 0.5, row - 0.5), 1, 1) for row, col in cells]
    axes.add_collection(
        # an edge of their own colour closes the hairlines that a screen shows between neighbours
        PatchCollection(squares, facecolor=colour, edgecolor="face", linewidth=0.3, zorder=zorder),
        autolim=False,
    )


def draw_agent(axes: Axes, cell: int, size: int) -> None:
    row, col = divmod(cell, size)
    axes.plot(col, row, "o", color="black", markersize=0.75 * _letter_size(axes), zorder=6)


def draw_field_of_view(axes: Axes, cell: int, reach: int, size: int) -> None:
    """The square that an agent in this cell sees, as far as the grid goes."""
    row, col = divmod(cell, size)
    top, left = max(row - reach, 0), max(col - reach, 0)
    height, width = min(row + reach, size - 1) - top + 1, min(col + reach, size - 1) - left + 1
    corner = (left - 0.5, top - 0.5)
    axes.add_patch(
        Rectangle(corner, width, height, fill=False, edgecolor=HAPPENED, linewidth=1.1, linestyle="--", zorder=9)
    )


def draw_query(axes: Axes, query: PlainState, *, title: str = "") -> None:
    draw_level(axes, query, title=title)
    draw_agent(axes, query.agent_cell, len(query.walls))


def draw_trajectory(axes: Axes, episode: PlainEpisode, *, title: str = "", width: float = 0.16) -> None:
    """A past episode: an arrow for each action where it was taken, a ring where the agent stayed."""
    draw_level(axes, episode, title=title)
    size = len(episode.walls)
    cells = np.asarray([*episode.agent_cells, episode.final_cell])
    rows, cols = np.divmod(cells[:-1], size)
    moves = MOVES[np.asarray(episode.actions)]
    stays = (moves == 0).all(-1)
    # an arrow stops short of an object, whose letter it would hide, and of a wall that it bumps into
    marked = [*episode.object_cells, episode.subgoal_cell]
    short = np.isin(cells[1:], marked) | (cells[1:] == cells[:-1])
    lengths = np.where(short, 0.5, 0.9)[:, None] * moves
    axes.quiver(
        *(cols[~stays], rows[~stays], lengths[~stays, 1], lengths[~stays, 0]),
        color=HAPPENED,
        angles="xy",
        scale_units="xy",
        scale=1,
        units="xy",
        pivot="tail",
        width=width,
        headwidth=3.6,
        headlength=3,
        headaxislength=2.8,
        minlength=0,
        minshaft=0.5,
        zorder=6,
    )
    axes.plot(cols[stays], rows[stays], "o", color=HAPPENED, fillstyle="none", markersize=4, zorder=6)
    halo = [patheffects.withStroke(linewidth=1.2, foreground="white")]
    axes.plot(cols[0], rows[0], "o", color=HAPPENED, markersize=3.5, zorder=7, path_effects=halo)


def draw_policy_arrows(axes: Axes, state: PlainState, arrows, *, colour=TOMNET, title: str = "") -> None:
    """The resultant vector of a policy, in (row, col) steps, wherever an agent can stand."""
    draw_level(axes, state, title=title)
    size = len(state.walls)
    vectors = np.asarray(arrows, float).reshape(size, size, 2)
    free = ~np.asarray(state.walls, bool)
    free.reshape(-1)[[cell for cell in state.object_cells if cell >= 0]] = False  # eaten on arrival
    rows, cols = np.nonzero(free)
    across, down = vectors[rows, cols, 1], vectors[rows, cols, 0]
    axes.quiver(
        *(cols, rows, 0.9 * across, 0.9 * down),
        color=colour,
        angles="xy",
        scale_units="xy",
        scale=1,
        units="xy",
        pivot="mid",
        width=0.11,
        headwidth=4,
        headlength=3.5,
        headaxislength=3.2,
        minlength=0.5,
        zorder=3,
    )


def draw_expected_objects(axes: Axes, state: PlainState, probabilities, *, title: str = "") -> None:
    """Each cell tinted and lettered by the object most likely to be eaten from there; surer is stronger."""
    draw_level(axes, state, title=title, grid=False)
    size = len(state.walls)
    eaten = np.asarray(probabilities, float).reshape(size, size, -1)
    free = ~np.asarray(state.walls, bool)
    free.reshape(-1)[[cell for cell in state.object_cells if cell >= 0]] = False  # an object shows itself
    free &= eaten.max(-1) > SURELY_NOTHING
    rows, cols = np.nonzero(free)
    kinds, sure = eaten[rows, cols].argmax(-1), eaten[rows, cols].max(-1)
    tints = [tint(object_colour(int(kind)), 0.15 + 0.5 * float(p)) for kind, p in zip(kinds, sure, strict=True)]
    fill_cells(axes, list(zip(rows, cols, strict=True)), tints, zorder=1.0)
    for kind in np.unique(kinds):
        # a hundred letters as marks: as text they would take longer than all the rest of the figure
        letter = f"$\\mathrm{{{LETTERS[kind]}}}$"
        size_squared = (0.5 * _letter_size(axes)) ** 2
        axes.scatter(
            *(cols[kinds == kind], rows[kinds == kind], size_squared),
            marker=letter,
            color="#555555",
            linewidth=0,
            zorder=3,
            label=LETTERS[kind],
        )


def draw_occupancy(axes: Axes, state: PlainState, occupancy, *, largest: float, title: str = "") -> None:
    """A successor map: the darker, the more time. Square-root shading lets small shares be seen."""
    draw_level(axes, state, title=title, grid=False)
    shares = np.ma.masked_where(np.asarray(state.walls, bool), np.asarray(occupancy, float))
    edges = np.arange(len(shares) + 1) - 0.5
    # the objects keep their frame and letter; their colour would hide where the agent ends
    axes.pcolormesh(edges, edges, shares, cmap=OCCUPANCY, norm=PowerNorm(0.5, 0, largest), zorder=3)
    for kind, cell in enumerate(state.object_cells[: len(OBJECTS)]):
        if cell >= 0:
            row, col = divmod(cell, len(shares))
            axes.add_patch(
                Rectangle(
                    (col - 0.45, row - 0.45),
                    0.9,
                    0.9,
                    fill=False,
                    edgecolor=object_colour(kind),
                    linewidth=1.3,
                    zorder=4,
                )
            )


# --- Partial observability


def draw_fog(axes: Axes, visibility) -> None:
    """Dark where the agent has never looked (0), light where it looked before (1), white where it looks now (2)."""
    seen = np.asarray(visibility)
    fill_cells(axes, np.argwhere(seen == 0), NEVER_SEEN, zorder=0.5)
    fill_cells(axes, np.argwhere(seen == 1), SEEN_BEFORE, zorder=0.5)


def draw_belief(axes: Axes, belief: Sequence[float] | np.ndarray, kind: int, size: int) -> None:
    """Where an agent believes an object to be: circles whose area is the probability. The last number is "nowhere"."""
    likely = [(cell, number(p)) for cell, p in enumerate(belief[: size * size]) if number(p) >= FAINTEST_BELIEF]
    circles = [Circle((cell % size, cell // size), 0.5 * float(np.sqrt(p))) for cell, p in likely]
    edges = [0.6 if p > 0.05 else 0.0 for _, p in likely]  # an outline would be larger than what it encloses
    axes.add_collection(
        PatchCollection(circles, facecolor=object_colour(kind), edgecolor=IDEAL, linewidth=edges, zorder=4),
        autolim=False,
    )


def draw_swap(axes: Axes, before: Sequence[int], after: Sequence[int], size: int) -> None:
    """An arrow from where each object was to where a swap has put it."""
    for kind, (was, now) in enumerate(zip(before, after)):
        if was >= 0 and was != now:
            (row, col), (new_row, new_col) = divmod(was, size), divmod(now, size)
            arrow = FancyArrowPatch(
                (col, row),
                (new_col, new_row),
                connectionstyle="arc3,rad=0.25",
                arrowstyle="-|>,head_length=3,head_width=1.6",
                shrinkA=4,
                shrinkB=4,
                linewidth=1.1,
                color=object_colour(kind),
                path_effects=[patheffects.withStroke(linewidth=2.2, foreground="white")],
                zorder=7,
            )
            axes.add_patch(arrow)


def draw_change(axes: Axes, state: PlainState, change, *, largest: float, title: str = ""):
    """What a map has gained (blue) and lost (vermillion); the artist, for a colour bar."""
    draw_level(axes, state, title=title, grid=False)
    shares = np.ma.masked_where(np.asarray(state.walls, bool), np.asarray(change, float))
    edges = np.arange(len(shares) + 1) - 0.5
    return axes.pcolormesh(edges, edges, shares, cmap=CHANGE, vmin=-largest, vmax=largest, zorder=1)
