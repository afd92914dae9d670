"""What watching found, as figures."""

import dataclasses

import pytest
from figures.hand_made_watch import watched
from matplotlib.axes import Axes

from tomnet.figures.panels import compose
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
