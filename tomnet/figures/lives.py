"""Episodes of deep RL agents as pictures and as a film: fog where the agent does not look, circles for its belief.

save_lives(diaries(key, population), folder)     # episode-1.png, episode-1.gif, …
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.animation import PillowWriter
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Patch

from ..files import write_atomically
from ..world.levels import LETTERS
from . import style
from .gridworld import NEVER_SEEN, SEEN_BEFORE, draw_agent, draw_belief, draw_fog, draw_level, with_subgoal
from .panels import Panel, Panels, compose, render
from .subgoal_task import outcome_of, title_of

MOMENTS = 4
FRAMES_A_SECOND, LAST_FRAMES = 4, 6  # the end stays for a moment, before the film begins again
FILM_DPI = 110


def save_lives(diaries: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """A picture and a film of each episode."""
    paths = []
    for number, diary in enumerate(diaries, start=1):
        for suffix, raw in ((".png", render(picture(diary), "png")), (".gif", film(diary))):
            path = Path(folder) / f"episode-{number}{suffix}"
            write_atomically(path, raw)
            paths.append(path)
    return paths


def picture(diary: dict[str, Any]) -> Figure:
    (panels,) = life_panels([diary]).values()
    return compose(panels, columns=1)


def life_panels(diaries: Sequence[dict[str, Any]]) -> Panels:
    """Moments of each episode, for a page that sets them itself."""
    return {
        "lives": tuple(
            Panel(
                "",
                f"{heading(diary)}: {outcome_of(diary)}",
                f"Moments of an episode of a {heading(diary)}: what is in view is white, what it saw before light, "
                f"what it never saw dark; circles show where it believes {LETTERS[diary['preferred']]} to be.",
                lambda place, diary=diary: _moments(place, diary),
                3.95,
            )
            for diary in diaries
        )
    }


def species_panels(diaries: Sequence[dict[str, Any]]) -> Panels:
    """The whole way of one agent of each species, on the same level."""
    return {
        "species": (
            Panel(
                "",
                f"The same level, by species; all prefer {LETTERS[diaries[0]['preferred']]}",
                "The way of the best network of each species on one level, before its last step: what is in view then "
                "is white, what it saw before light, what it never saw dark.",
                lambda place: _by_species(place, diaries),
                0.6 + 1.9 * -(-len(diaries) // 2),
            ),
        )
    }


def _by_species(place: SubFigure, diaries: Sequence[dict[str, Any]]) -> None:
    grid = place.subplots(-(-len(diaries) // 2), 2, squeeze=False).flat
    for axes, diary in zip(grid, diaries, strict=False):
        draw_moment(axes, diary, len(diary["steps"]) - 1)
        axes.set_title(f"{title_of(diary['condition'])}: {outcome_of(diary)}", fontsize=7.5)
    for axes in list(place.axes)[len(diaries) :]:
        axes.set_axis_off()
    place.legend(handles=legend(diaries[0]), loc="outside lower center", ncols=3)


def heading(diary: dict[str, Any]) -> str:
    return f"{title_of(diary['condition'])} agent that prefers {LETTERS[diary['preferred']]}"


def moments(diary: dict[str, Any]) -> list[int]:
    """Times to show: the start, the first look after the subgoal was eaten, the end, and one in the longest gap."""
    steps = diary["steps"]
    last, subgoal = len(steps) - 1, len(steps[0]["object_cells"]) - 1
    shown = {0, last, *(time + 1 for time in range(last) if steps[time]["consumed"] == subgoal)}
    while len(shown) < min(MOMENTS, len(steps)):
        times = sorted(shown)
        widest = max(range(len(times) - 1), key=lambda i: times[i + 1] - times[i])
        shown.add((times[widest] + times[widest + 1]) // 2)
    return sorted(shown)


def _moments(place: SubFigure, diary: dict[str, Any]) -> None:
    grid, times = place.subplots(2, 2).flat, moments(diary)
    for axes, time in zip(grid, times, strict=False):
        draw_moment(axes, diary, time)
    for axes in list(place.axes)[len(times) :]:  # a very short episode has no four moments
        axes.set_axis_off()
    place.legend(handles=legend(diary), loc="outside lower center", ncols=3)


def draw_moment(axes: Axes, diary: dict[str, Any], time: int) -> None:
    """What there is, what the agent sees and has seen of it, the way it came, and what it believes."""
    step, size = diary["steps"][time], len(diary["walls"])
    draw_level(axes, with_subgoal({"walls": diary["walls"], **step}), title=_title(diary, time))
    draw_fog(axes, step["visibility"])
    rows, cols = np.divmod([past["agent_cell"] for past in diary["steps"][: time + 1]], size)
    axes.plot(cols, rows, color=style.HAPPENED, linewidth=1.2, solid_capstyle="round", zorder=3.5)
    draw_belief(axes, step["belief"], diary["preferred"], size)
    draw_agent(axes, step["agent_cell"], size)


def _title(diary: dict[str, Any], time: int) -> str:
    nowhere = style.number(diary["steps"][time]["belief"][-1])
    gone = f", {LETTERS[diary['preferred']]} gone: {style.percent(nowhere)}" if nowhere >= 0.01 else ""
    return f"step {time + 1}{gone}"


def legend(diary: dict[str, Any]) -> list[Any]:
    frame = {"edgecolor": style.QUIET, "linewidth": 0.5}
    belief = style.sign(f"belief about {LETTERS[diary['preferred']]}", "o", style.object_colour(diary["preferred"]))
    belief.set(markeredgecolor=style.IDEAL, markeredgewidth=0.6)
    return [
        Patch(facecolor="white", label="in view", **frame),
        Patch(facecolor=SEEN_BEFORE, label="seen before", **frame),
        Patch(facecolor=NEVER_SEEN, label="never seen", **frame),
        style.sign("agent", "o", "black"),
        style.sign("subgoal", "*", "black"),
        belief,
    ]


# --- A film


def film(diary: dict[str, Any]) -> bytes:
    """An animated GIF, one frame for each step."""
    with matplotlib.rc_context(style.RC), tempfile.TemporaryDirectory() as folder:
        figure = Figure(figsize=(3.4, 4.0), layout="constrained")
        FigureCanvasAgg(figure)
        path, writer = Path(folder) / "film.gif", PillowWriter(fps=FRAMES_A_SECOND)
        with writer.saving(figure, str(path), dpi=FILM_DPI):
            for _ in frames(figure, diary):
                writer.grab_frame()
        return path.read_bytes()


def frames(figure: Figure, diary: dict[str, Any]) -> Iterator[int]:
    """Draws one step after the other into the figure."""
    last = len(diary["steps"]) - 1
    for time in [*range(last + 1), *[last] * LAST_FRAMES]:
        figure.clear()
        axes = figure.add_subplot()
        draw_moment(axes, diary, time)
        figure.suptitle(f"{heading(diary)}: {outcome_of(diary)}" if time == last else heading(diary), fontsize=8.5)
        figure.legend(handles=legend(diary), loc="outside lower center", ncols=3, columnspacing=0.7)
        yield time
