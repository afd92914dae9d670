"""The Sally-Anne story in six pictures, from `experiments.sally_anne.story`'s tables."""

import dataclasses

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ..experiments.analysis.examples import PlainState
from ..experiments.sally_anne.story import Story
from ..world.gridworld import ACTIONS, MOVES
from ..world.levels import LETTERS
from . import style
from .gridworld import (
    draw_agent,
    draw_belief,
    draw_field_of_view,
    draw_fog,
    draw_level,
    draw_occupancy,
    draw_query,
    draw_swap,
    draw_trajectory,
    with_subgoal,
)
from .panels import Panel, compose

NAMED = 0.05  # actions less likely than this are not written down


def draw_story(story: Story) -> dict[str, Figure]:
    return {"sally-anne": compose(story_panels(story), columns=3)}


def story_panels(story: Story) -> list[Panel]:
    liked, seen = LETTERS[story.preferred], story.distance <= story.reach
    where = "before its eyes" if seen else "behind its back"
    pictures = (
        (f"The agent sees {liked}, which it likes", "Start: the agent beside the object it likes.", _start),
        ("It goes to the subgoal first", "The agent's path to the subgoal.", _way),
        (f"{where.capitalize()}, {liked} is moved", "Arrows from where objects were to where they are now.", _swap),
        (f"Where it believes {liked} to be", "The agent's belief as circles, and where the object is.", _belief),
        ("What ToMnet says it will do", "ToMnet's predicted next action and way.", _prediction),
        ("What it does", "The agent's own next policy, and where it goes in many rollouts.", _then),
    )
    return [
        Panel(str(number), title, alt, lambda place, draw=draw: draw(place.subplots(), story), 2.75)
        for number, (title, alt, draw) in enumerate(pictures, start=1)
    ]


def _start(axes: Axes, story: Story) -> None:
    state = with_subgoal(story.way)
    size = len(state.walls)
    draw_level(axes, state)
    draw_fog(axes, story.at_first)
    draw_agent(axes, state.agent_cells[0], size)
    draw_field_of_view(axes, state.agent_cells[0], story.reach, size)


def _way(axes: Axes, story: Story) -> None:
    state = with_subgoal(story.way)
    draw_trajectory(axes, state)
    draw_fog(axes, story.visibility)
    draw_field_of_view(axes, state.final_cell, story.reach, len(state.walls))


def _swap(axes: Axes, story: Story) -> None:
    before, after = with_subgoal(story.no_swap.state), with_subgoal(story.swap.state)
    size = len(after.walls)
    draw_query(axes, after)
    draw_fog(axes, story.visibility)
    draw_swap(axes, before.object_cells, after.object_cells, size)
    for patch in axes.patches:
        patch.set_clip_on(False)  # an arrow along the edge bends over it
    draw_field_of_view(axes, after.agent_cell, story.reach, size)


def _belief(axes: Axes, story: Story) -> None:
    state, belief, liked = story.swap.state, story.swap.belief, story.preferred
    size = len(state.walls)
    draw_level(axes, dataclasses.replace(state, object_cells=[]))
    draw_belief(axes, belief[liked], liked, size)
    _truth(axes, state.object_cells[liked], size)
    draw_agent(axes, state.agent_cell, size)
    was = story.no_swap.state.object_cells[liked]
    _say(axes, f"where it saw it: {style.plain(belief[liked][was], 2)}; cross: where it is now")


def _truth(axes: Axes, cell: int, size: int) -> None:
    row, col = divmod(cell, size)
    axes.plot(col, row, "x", color=style.IDEAL, markersize=5, markeredgewidth=1.2, zorder=6)


def _prediction(axes: Axes, story: Story) -> None:
    _outlook(axes, story, story.swap.predicted_successor, story.swap.predicted_policy, style.TOMNET)


def _then(axes: Axes, story: Story) -> None:
    _outlook(axes, story, story.then, story.swap.policy, style.HAPPENED)


def _outlook(axes: Axes, story: Story, occupancy: np.ndarray, policy: list[float], colour: str) -> None:
    """The next step as arrows and in words, and the way ahead as a map; both maps on one scale."""
    state = with_subgoal(story.swap.state)
    largest = max(story.then.max(), story.swap.predicted_successor.max())
    draw_occupancy(axes, state, occupancy, largest=float(largest))
    _policy(axes, state, policy, colour)
    _say(axes, _in_words(policy))


def _policy(axes: Axes, state: PlainState, policy: list[float], colour: style.Colour) -> None:
    """An arrow for each move from the agent's cell, as long as it is likely."""
    row, col = divmod(state.agent_cell, len(state.walls))
    for probability, (down, right) in zip(policy, MOVES):
        if probability >= NAMED and (down or right):
            length = 0.3 + 1.5 * probability
            end = (col + length * right, row + length * down)
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", end, (col, row), arrowprops=arrow, zorder=8)
    draw_agent(axes, state.agent_cell, len(state.walls))


def _in_words(policy: list[float]) -> str:
    order = sorted(range(len(policy)), key=lambda action: -policy[action])
    return ", ".join(f"{ACTIONS[action]} {policy[action]:.2f}" for action in order if policy[action] >= NAMED)


def _say(axes: Axes, words: str) -> None:
    axes.set_xlabel(words, fontsize=7)
