"""What the story says of the observer, of probabilities made up by hand."""

import numpy as np
import pytest

from tomnet.experiments.analysis.examples import PlainEpisode, PlainState
from tomnet.experiments.sally_anne.story import Mind, Story, moral

DOWN, SIZE = 1, 11
NOWHERE = np.zeros((SIZE, SIZE))
STATE = PlainState(walls=NOWHERE.astype(int), object_cells=[16, 8, 9, 10, 60], agent_cell=60)
WAY = PlainEpisode(walls=STATE.walls, object_cells=STATE.object_cells, agent_cells=[60], actions=[DOWN], final_cell=71)


def mind(policy: float, predicted: float) -> Mind:
    def towards(share: float) -> list[float]:
        return [1 - share, share, 0.0, 0.0, 0.0]

    belief = np.full((5, SIZE**2 + 1), 0.2)
    return Mind(STATE, towards(policy), belief, towards(predicted), NOWHERE, None)


def story(*, distance: int, policy: float, predicted: float) -> Story:
    return Story(
        condition="5x5",
        network=0,
        preferred=0,
        reach=2,
        distance=distance,
        past=4,
        back=DOWN,
        way=WAY,
        visibility=NOWHERE.astype(int),
        at_first=NOWHERE.astype(int),
        no_swap=mind(1.0, 0.9),
        swap=mind(policy, predicted),
        rollouts=50,
        then=NOWHERE,
    )


@pytest.mark.parametrize(
    ("distance", "policy", "predicted", "ends"),
    [
        (4, 0.9, 0.8, "says 0.80 (0.90): it expects the agent to act on its false belief."),
        (4, 0.9, 0.2, "(0.90): it misses the false belief, and takes the agent to know what it has not seen."),
        (4, 0.3, 0.2, "says 0.20 (0.90)."),  # an agent that does not act on it
        (2, 0.9, 0.2, "says 0.20 (0.90)."),  # it saw the swap
    ],
)
def test_the_story_says_whether_the_observer_sees_through_a_false_belief(distance, policy, predicted, ends):
    told = moral(story(distance=distance, policy=policy, predicted=predicted))
    assert told.endswith(ends)
    assert ("behind its back" in told) == (distance > 2)
