"""Episodes of deep RL agents as pictures and as a film: fog where the agent does not look, circles for its belief.

save_episodes(recorded_episodes(key, population), folder)     # episode-1.png, episode-1.gif, …
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

from ..experiments.analysis.agent_episodes import RecordedEpisode
from ..experiments.analysis.examples import PlainState
from ..support.files import write_atomically
from ..support.words import counted
from ..world.levels import LETTERS
from . import style
from .gridworld import NEVER_SEEN, SEEN_BEFORE, draw_agent, draw_belief, draw_fog, draw_level, with_subgoal
from .panels import Panel, Panels, compose, render

MOMENTS = 4
FRAMES_A_SECOND, LAST_FRAMES = 4, 6  # the end stays for a moment, before the film begins again
FILM_DPI = 110


def save_episodes(recorded_episodes: Sequence[RecordedEpisode], folder: Path) -> Iterator[Path]:
    """A picture and a film of each episode, one after the other: a film takes seconds."""
    for number, recorded in enumerate(recorded_episodes, start=1):
        for suffix, drawn in ((".png", lambda one: render(picture(one), "png")), (".gif", film)):
            path = Path(folder) / f"episode-{number}{suffix}"
            write_atomically(path, drawn(recorded))
            yield path


def picture(recorded: RecordedEpisode) -> Figure:
    (panels,) = episode_panels([recorded]).values()
    return compose(panels, columns=1)


def episode_panels(recorded_episodes: Sequence[RecordedEpisode]) -> Panels:
    """Moments of each episode, for a page that sets them itself."""
    return {
        "lives": tuple(
            Panel(
                "",
                f"{heading(recorded)}: {outcome_of(recorded)}",
                f"Moments of an episode of a {heading(recorded)}: what is in view is white, what it saw before light, "
                f"what it never saw dark; circles show where it believes {LETTERS[recorded.preferred]} to be.",
                lambda place, recorded=recorded: _moments(place, recorded),
                3.95,
            )
            for recorded in recorded_episodes
        )
    }


def species_panels(recorded_episodes: Sequence[RecordedEpisode]) -> Panels:
    """The whole way of one agent of each species, on the same level."""
    return {
        "species": (
            Panel(
                "",
                f"The same level, by species; all prefer {LETTERS[recorded_episodes[0].preferred]}",
                "The way of the best network of each species on one level, before its last step: what is in view then "
                "is white, what it saw before light, what it never saw dark.",
                lambda place: _by_species(place, recorded_episodes),
                0.6 + 1.9 * -(-len(recorded_episodes) // 2),
            ),
        )
    }


def _by_species(place: SubFigure, recorded_episodes: Sequence[RecordedEpisode]) -> None:
    grid = place.subplots(-(-len(recorded_episodes) // 2), 2, squeeze=False).flat
    for axes, recorded in zip(grid, recorded_episodes, strict=False):
        draw_moment(axes, recorded, len(recorded.steps) - 1)
        axes.set_title(f"{style.condition_name(recorded.condition)}: {outcome_of(recorded)}", fontsize=7.5)
    for axes in list(place.axes)[len(recorded_episodes) :]:
        axes.set_axis_off()
    place.legend(handles=legend(recorded_episodes[0]), loc="outside lower center", ncols=3)


def outcome_of(recorded: RecordedEpisode) -> str:
    """What became of an episode, in a few words."""
    eaten = [step.consumed for step in recorded.steps if step.consumed >= 0]
    subgoal = len(recorded.steps[0].object_cells) - 1
    words = ["★" if kind == subgoal else LETTERS[kind] for kind in eaten]
    ate = f"ate {' and '.join(words)}" if words else "ate nothing"
    return f"{ate}, {counted(len(recorded.steps), 'step')}"


def heading(recorded: RecordedEpisode) -> str:
    return f"{style.condition_name(recorded.condition)} agent that prefers {LETTERS[recorded.preferred]}"


def moments(recorded: RecordedEpisode) -> list[int]:
    """Times to show: the start, the first look after the subgoal was eaten, the end, and one in the longest gap."""
    steps = recorded.steps
    last, subgoal = len(steps) - 1, len(steps[0].object_cells) - 1
    shown = {0, last, *(time + 1 for time in range(last) if steps[time].consumed == subgoal)}
    while len(shown) < min(MOMENTS, len(steps)):
        times = sorted(shown)
        widest = max(range(len(times) - 1), key=lambda i: times[i + 1] - times[i])
        shown.add((times[widest] + times[widest + 1]) // 2)
    return sorted(shown)


def _moments(place: SubFigure, recorded: RecordedEpisode) -> None:
    grid, times = place.subplots(2, 2).flat, moments(recorded)
    for axes, time in zip(grid, times, strict=False):
        draw_moment(axes, recorded, time)
    for axes in list(place.axes)[len(times) :]:  # a very short episode has no four moments
        axes.set_axis_off()
    place.legend(handles=legend(recorded), loc="outside lower center", ncols=3)


def draw_moment(axes: Axes, recorded: RecordedEpisode, time: int) -> None:
    """What there is, what the agent sees and has seen of it, the way it came, and what it believes."""
    step, size = recorded.steps[time], len(recorded.walls)
    draw_level(
        axes,
        with_subgoal(PlainState(recorded.walls, step.agent_cell, step.object_cells)),
        title=_title(recorded, time),
    )
    draw_fog(axes, step.visibility)
    rows, cols = np.divmod([past.agent_cell for past in recorded.steps[: time + 1]], size)
    axes.plot(cols, rows, color=style.HAPPENED, linewidth=1.2, solid_capstyle="round", zorder=3.5)
    draw_belief(axes, step.belief, recorded.preferred, size)
    draw_agent(axes, step.agent_cell, size)


def _title(recorded: RecordedEpisode, time: int) -> str:
    nowhere = recorded.steps[time].belief[-1]
    gone = f", {LETTERS[recorded.preferred]} gone: {style.percent(nowhere)}" if nowhere >= 0.01 else ""
    return f"step {time + 1}{gone}"


def legend(recorded: RecordedEpisode) -> list[Any]:
    frame = {"edgecolor": style.QUIET, "linewidth": 0.5}
    belief = style.sign(f"belief about {LETTERS[recorded.preferred]}", "o", style.object_colour(recorded.preferred))
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


def film(recorded: RecordedEpisode) -> bytes:
    """An animated GIF, one frame for each step."""
    with matplotlib.rc_context(style.RC), tempfile.TemporaryDirectory() as folder:
        figure = Figure(figsize=(3.4, 4.0), layout="constrained")
        FigureCanvasAgg(figure)
        path, writer = Path(folder) / "film.gif", PillowWriter(fps=FRAMES_A_SECOND)
        with writer.saving(figure, str(path), dpi=FILM_DPI):
            for _ in frames(figure, recorded):
                writer.grab_frame()
        return path.read_bytes()


def frames(figure: Figure, recorded: RecordedEpisode) -> Iterator[int]:
    """Draws one step after the other into the figure."""
    last = len(recorded.steps) - 1
    for time in [*range(last + 1), *[last] * LAST_FRAMES]:
        figure.clear()
        axes = figure.add_subplot()
        draw_moment(axes, recorded, time)
        figure.suptitle(
            f"{heading(recorded)}: {outcome_of(recorded)}" if time == last else heading(recorded), fontsize=8.5
        )
        figure.legend(handles=legend(recorded), loc="outside lower center", ncols=3, columnspacing=0.7)
        yield time
