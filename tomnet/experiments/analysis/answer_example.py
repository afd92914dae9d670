"""What an observer says of an agent, ready to be drawn: what was seen of it, the state asked about, and the answer."""

import dataclasses

import numpy as np

from ...asking.agent_model import AgentModel
from ...asking.answer import Answer
from ...asking.inputs import Asked
from ...episodes.episode import Snapshot
from ...support.trees import pick
from .examples import PlainEpisode, PlainState, plain_episode, plain_snapshot, plain_state


@dataclasses.dataclass(frozen=True)
class AnswerExample:
    past: list[PlainEpisode]
    query: PlainState
    said: Answer


def answer_example(agent: AgentModel, state: Asked) -> AnswerExample:
    episode = agent.begin(state)
    past, count = agent.history.past, int(np.sum(agent.history.past_real))
    plain = plain_snapshot if isinstance(past, Snapshot) else plain_episode
    seen = [plain(pick(past, (0, number))) for number in range(count)]
    return AnswerExample(seen, plain_state(pick(episode.state, 0)), episode.ask())
