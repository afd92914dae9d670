"""The picture of an answer: what there is to draw is drawn, whatever the observer reads and says."""

import numpy as np
import pytest

import tomnet
from tomnet.experiments.analysis.answer_example import answer_example
from tomnet.figures.answer import answer_figure
from tomnet.figures.panels import render

LEVEL = "@..........\n" + "...........\n" * 9 + "A.B..C....D"


@pytest.fixture(scope="module")
def walks():
    return tomnet.record(tomnet.MAZE, lambda scene: "right", episodes=3, agent="ann", steps=4)


@pytest.mark.parametrize(
    ("observer", "titles"),
    [
        ("greedy-agents/greedy", ["past", "past", "asked about", "next action", "taken", "successor map, γ = 0.9"]),
        ("goal-snapshots/action-only", ["past", "past", "asked about", "next action"]),
    ],
)
def test_what_was_seen_and_every_head_that_there_is(observer, titles, walks):
    seen = walks if observer.startswith("greedy") else [walk.step(0) for walk in walks]
    agent = tomnet.meet(observer, seen)
    figure = answer_figure(answer_example(agent, LEVEL))
    assert [axes.get_title() for axes in figure.axes] == titles
    actions = figure.axes[titles.index("next action")]
    np.testing.assert_allclose([bar.get_height() for bar in actions.patches], agent.ask(LEVEL).action.array)
    assert render(figure, "png").startswith(b"\x89PNG")


def test_an_agent_that_nobody_has_seen():
    figure = answer_figure(answer_example(tomnet.meet("greedy-agents/greedy", []), LEVEL))
    assert figure.axes[0].get_title() == "asked about"
