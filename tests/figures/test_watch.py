"""What watching found, as figures."""

import dataclasses

import numpy as np
import pytest
from figures.hand_made_watch import watched
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Text

from tomnet.figures.panels import compose
from tomnet.figures.violations import short_names
from tomnet.figures.watch import panels
from tomnet.watch.surprise import by_past


@pytest.mark.parametrize("episodes", [1, 2])
def test_past_episodes_are_whole_numbers_even_if_there_was_a_single_one(episodes):
    one = watched(agents=1, clusters=0)
    own = [dataclasses.replace(each, counted=True) for each in one.agents[0].episodes[:episodes]]
    agents = [dataclasses.replace(one.agents[0], episodes=own)]
    found = dataclasses.replace(one, agents=agents, by_past=by_past(agents))
    figure = compose(panels(found)["surprise"])
    (axes,) = (each for each in figure.findobj(Axes) if each.get_xlabel() == "past episodes seen")
    left, right = axes.get_xlim()
    assert [tick for tick in axes.get_xticks() if left <= tick <= right] == list(range(episodes))


def test_long_names_lose_what_they_share_or_their_middle():
    numbered = [f"participant-number-{number:03}-of-the-second-session" for number in (7, 12)]
    found = short_names([*numbered, "bob", "日本", "$x"])
    assert [*found.values()] == ["…007…", "…012…", "bob", "□□", r"\$x"]
    assert short_names(["a-name-that-nobody-can-read-17"]) == {"a-name-that-nobody-can-read-17": "a-name-t…n-read-17"}
    (one, other) = short_names([f"{'x' * 20}{number}{'y' * 20}" for number in (1, 2)]).values()
    assert max(map(len, (one, other))) <= 18


def test_names_that_the_font_cannot_write_are_drawn_without_a_warning():
    found = watched(moments=1)
    agents = [dataclasses.replace(each, agent=f"日本{number}") for number, each in enumerate(found.agents)]
    moments = [dataclasses.replace(each, agent="日本0") for each in found.moments]
    for some in panels(dataclasses.replace(found, agents=agents, moments=moments)).values():
        compose(some)  # warnings are errors here


def test_marks_at_nothing_are_whole():
    figure = compose(panels(watched())["courses"] + panels(watched())["surprise"])
    marks = [line for line in figure.findobj(Line2D) if line.get_marker() == "o" and line.axes is not None]
    assert marks
    assert not any(line.get_clip_on() for line in marks)


def test_violations_are_drawn_to_one_scale_however_many_there_are():
    figure = compose(panels(watched(moments=3))["violations"])
    widths = [place.bbox_relative.width for place in figure.subfigs]
    assert np.allclose(widths, widths[0], rtol=0.05)


def test_a_dotted_line_says_what_it_is():
    for name, some in panels(watched()).items():
        if name in ("surprise", "courses"):
            for panel in some:
                assert "chance" in [text.get_text() for text in compose([panel], columns=1).findobj(Text)]
