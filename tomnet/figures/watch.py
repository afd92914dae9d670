"""What an observer made of recorded agents: who resembles whom, how surprising each was, and when."""

from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from ..watch.result import Watched, WatchedAgent
from . import style
from .panels import Panel, Panels, compose
from .violations import short_names, violation_panels

MOST_AGENTS = 20  # in a list
MOST_NAMES = 16  # on a map
APART = (0.2, 0.06)  # of its width and height, where two names do not touch
MOST_ABOVE = 4  # clusters in a single line of a legend
MOST_COURSES = 6
LAST_EPISODES = 8  # of a course
WHOLE = {"clip_on": False, "zorder": 3}  # marks at 0 lie on the axis, which would cut them in half
CLUSTER_SIGNS = (
    *((style.BLUE, "o"), (style.VERMILLION, "s"), (style.GREEN, "^"), (style.PURPLE, "D")),
    *((style.ORANGE, "v"), (style.SKY_BLUE, "P"), ("#1A1A1A", "X"), ("#8A8A8A", "*")),
)


def panels(watched: Watched) -> Panels:
    found = {"characters": [_characters_panel(watched)], "surprise": _surprise_panels(watched)}
    if watched.moments:
        found["violations"] = violation_panels(watched.moments, watched.kinds, _names(watched))
    if courses := [_course_panel(agent, watched) for agent in most_surprising(watched)[:MOST_COURSES]]:
        found["courses"] = courses
    return found


def _names(watched: Watched) -> dict[str, str]:
    return short_names(agent.agent for agent in watched.agents)


def overview(drawn: Panels) -> Figure:
    """The first panel of each figure, in one picture."""
    first = [some[0] for some in drawn.values()]
    return compose([replace(panel, letter=letter) for panel, letter in zip(first, "abcd")])


def captions(watched: Watched) -> dict[str, str]:
    return {
        "characters": f"The character embedding of each agent after all its episodes. "
        f"{watched.resemblance.told} Agents are joined by Ward's rule and split where the mean silhouette is "
        f"largest, if it is 0.5 or more and 99% of single Gaussian clouds of the same shape split less well.",
        "surprise": "In nats a step: −log p of what was done, each episode foretold from "
        "those before it. (a) By agent, with 95% intervals over episodes. (b) By the number of past episodes that the "
        "observer had seen, with 95% intervals over agents. Dotted: all actions equally likely.",
        "violations": "The most surprising step of an episode, of those given less than 5%, and the way there. Blue is "
        "what was expected, the longer the likelier; vermillion is what was done.",
        "courses": f"Step by step, in the last episodes (up to {LAST_EPISODES}) of the agents that surprised "
        "most; a grey line begins an episode. Unknown actions are left out.",
    }


def most_surprising(watched: Watched) -> list[WatchedAgent]:
    """Those of whom anything was measured, the most surprising first."""
    known = [agent for agent in watched.agents if agent.nats.count]
    return sorted(known, key=lambda agent: -agent.nats.mean)


def _characters_panel(watched: Watched) -> Panel:
    alt = f"Each agent as a point in the space of characters. {watched.resemblance.told}"
    return Panel("", "Who resembles whom", alt, lambda place: _characters(place, watched), 2.9)


def _characters(place: SubFigure, watched: Watched) -> None:
    axes, handles = place.subplots(), []
    for cluster in sorted({agent.cluster or 0 for agent in watched.agents}):
        own = [agent for agent in watched.agents if (agent.cluster or 0) == cluster]
        colour, marker = CLUSTER_SIGNS[(cluster - 1) % len(CLUSTER_SIGNS)] if cluster else CLUSTER_SIGNS[0]
        axes.plot(*np.array([agent.place for agent in own]).T, marker, color=colour, markersize=5, alpha=0.8)
        if cluster:
            handles.append(style.sign(f"cluster {cluster}", marker, colour))
    if len(watched.agents) <= MOST_NAMES:
        near = {"xytext": (4, 2), "textcoords": "offset points", "fontsize": 6.5, "color": style.QUIET}
        for place_of, names in _labels(watched).items():
            axes.annotate(", ".join(names), place_of, **near)
    axes.margins(0.15)
    x, y = watched.resemblance.axes
    axes.set(xlabel=x, ylabel=y)
    if len(handles) > MOST_ABOVE:
        axes.legend(handles=handles, ncols=2, loc="best")
    elif handles:
        style.legend_above(axes, handles)


def _labels(watched: Watched) -> dict[tuple[float, float], list[str]]:
    """Names by place; those that would be written over each other stand in one line."""
    agents, short = watched.agents, _names(watched)
    places = np.array([agent.place for agent in agents])
    apart = np.maximum(np.ptp(places, axis=0), 1e-9) * APART
    found: dict[tuple[float, float], list[str]] = {}
    for agent, (x, y) in zip(agents, places.tolist(), strict=True):
        beside = [at for at in found if abs(at[0] - x) < apart[0] and abs(at[1] - y) < apart[1]]
        found.setdefault(beside[0] if beside else (x, y), []).append(short[agent.agent])
    return found


def _surprise_panels(watched: Watched) -> list[Panel]:
    shown = most_surprising(watched)[:MOST_AGENTS]
    title = "Surprise by agent" + ("" if len(shown) == len(watched.agents) else f", the {len(shown)} largest")
    height = max(2.4, 0.6 + 0.16 * len(shown))
    alt = "Mean surprise in nats a step of each agent, with 95% intervals."
    past = "Mean surprise in nats a step against the number of past episodes seen, with 95% intervals."
    return [
        Panel("a", title, alt, lambda place: _by_agent(place, watched, shown), height),
        Panel("b", "Surprise by past episodes seen", past, lambda place: _by_past(place, watched), height),
    ]


def _by_agent(place: SubFigure, watched: Watched, shown: list[WatchedAgent]) -> None:
    axes = place.subplots()
    estimates, names = [agent.nats for agent in shown], _names(watched)
    if shown:  # an empty mark that is not clipped would lie in the figure's corner, and no layout would fit
        axes.errorbar(
            *(style.means(estimates), range(len(shown))),
            xerr=style.whiskers(estimates),
            fmt="o",
            color=style.TOMNET,
            elinewidth=0.8,
            **WHOLE,
        )
    axes.set_yticks(range(len(shown)), [names[agent.agent] for agent in shown])
    axes.set_ylim(max(len(shown), 1) - 0.5, -0.5)
    chance = float(np.log(len(watched.actions)))
    axes.axvline(chance, color=style.QUIET, linewidth=0.7, linestyle=(0, (1, 2)), zorder=1)
    axes.set_xlim(left=0)
    above = {"xycoords": ("data", "axes fraction"), "xytext": (0, 2), "textcoords": "offset points", "ha": "center"}
    axes.annotate("chance", (chance, 1), **above, fontsize=7, color=style.QUIET)
    axes.set_xlabel("nats a step")


def _by_past(place: SubFigure, watched: Watched) -> None:
    axes, past, curve = place.subplots(), [int(count) for count in watched.by_past], [*watched.by_past.values()]
    axes.plot(past, style.means(curve), color=style.TOMNET, linewidth=0.8)
    if curve:
        style.tomnet_points(axes, past, curve, clip_on=False)
    style.reference(axes, float(np.log(len(watched.actions))), "chance", outside=True)
    axes.set_ylim(bottom=0)
    axes.set_xlim(min(past, default=0) - 0.5, max(past, default=0) + 0.5)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))  # of a single one too
    axes.set(xlabel="past episodes seen", ylabel="nats a step")


def _course_panel(agent: WatchedAgent, watched: Watched) -> Panel:
    alt = f"The surprise of each step of the last episodes of {agent.agent}."
    return Panel(
        "",
        f"{_names(watched)[agent.agent]}, step by step",
        alt,
        lambda place: _course(place, agent, len(watched.actions)),
        1.5,
        stretches=False,
    )


def _course(place: SubFigure, agent: WatchedAgent, actions: int) -> None:
    axes, begins = place.subplots(), 0
    for episode in agent.episodes[-LAST_EPISODES:]:
        known = [(begins + step.time + 1, step.nats) for step in episode.steps if step.nats is not None]
        if known:
            colour = style.TOMNET if episode.counted else style.NO_PAST
            axes.plot(*zip(*known), "o-", color=colour, markersize=2, linewidth=0.8, **WHOLE)
        axes.axvline(begins + 0.5, color=style.GRID, linewidth=0.7, zorder=0)
        begins += len(episode.steps)
    style.reference(axes, float(np.log(actions)), "chance", outside=True)
    axes.set(xlim=(0.5, begins + 0.5), xlabel="step", ylabel="nats")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
