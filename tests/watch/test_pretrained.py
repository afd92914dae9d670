"""Pretrained observers watch: what is foretold in batches is what they say when asked step by step."""

import dataclasses
import warnings

import numpy as np
import pytest
from asking.small import CONFIGS, DOMAIN, ELSEWHERE, LEVEL
from helpers import made_up

from tomnet.asking.agent_model import meet
from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.recording import NOWHERE, UNKNOWN, Recording
from tomnet.recordings.scene import Scene
from tomnet.recordings.text import parse_text
from tomnet.support.warn import BeyondTraining
from tomnet.watch import pretrained
from tomnet.watch.pretrained import PretrainedWatcher
from tomnet.watch.watcher import AgentForecast

ANN = [
    parse_text(f"{level}\n{steps}", "ann", str(number))
    for number, (level, steps) in enumerate(
        [
            (LEVEL, "right\nright\nright\nright\n"),
            (ELSEWHERE, "up\nup\n"),
            (LEVEL, "down\ndown\ndown\ndown\n"),
            (ELSEWHERE, "right\nup\nleft\nup\n"),
            (LEVEL, "right\nright\nright\nright\n"),
        ]
    )
]


def foretold(observer, recordings, heard=lambda more: None) -> AgentForecast:
    (said,) = PretrainedWatcher("made up", observer).foretell([recordings], heard)
    return said


def scene_at(recording: Recording, time: int) -> Scene:
    cols = recording.size[1]
    things = zip(recording.objects, recording.object_cells[time].tolist())
    return Scene(
        walls=recording.walls,
        cell=divmod(int(recording.cells[time]), cols),
        objects=[(letter, divmod(cell, cols)) for letter, cell in things if cell != NOWHERE],
    )


def said_step_by_step(observer, past, current: Recording) -> list:
    """As a user would follow the episode: asked before every step, then told what was seen."""
    episode, answers = meet(observer, past).begin(scene_at(current, 0)), []
    for time, action in enumerate(current.actions.tolist()):
        answers.append(episode.ask())
        if time + 1 < len(current):
            episode = episode.step(action, scene_at(current, time + 1))
    return answers


@pytest.mark.parametrize("kind", ["character", "mental", "bottleneck", "snapshots"])
def test_each_episode_is_foretold_as_if_asked_step_by_step_after_the_episodes_before_it(kind):
    observer = made_up(CONFIGS[kind], domain=DOMAIN)
    said = foretold(observer, ANN)
    seen = [each.step(len(each) // 2) for each in ANN] if kind == "snapshots" else ANN
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BeyondTraining)
        for number, forecast in enumerate(said.episodes):
            past = seen[max(number - 3, 0) : number]
            assert forecast.past == len(past)
            for time, answer in enumerate(said_step_by_step(observer, past, ANN[number])):
                assert forecast.action[time] == pytest.approx(answer.action.array, abs=1e-5)
                assert forecast.taken[time] == pytest.approx(answer.consumption.array, abs=1e-5)
        after_all = meet(observer, seen[-3:]).character
    assert said.character.mean == pytest.approx(after_all.mean, abs=1e-5)
    assert (said.character.deviation is None) == (kind != "bottleneck")


def test_a_step_whose_action_is_unknown_is_asked_about_and_not_seen():
    observer = made_up(CONFIGS["character"], domain=DOMAIN)
    gap = dataclasses.replace(ANN[0], actions=np.array([3, UNKNOWN, 3, 3]))
    whole, gone = foretold(observer, [ANN[0], ANN[1]]), foretold(observer, [gap, ANN[1]])
    assert gone.episodes[0].action == pytest.approx(whole.episodes[0].action)  # the state is known
    assert gone.episodes[1].action != pytest.approx(whole.episodes[1].action)  # less is known of the past
    blank = dataclasses.replace(ANN[0], actions=np.full(4, UNKNOWN))
    assert foretold(observer, [blank, ANN[1]]).episodes[1].past == 0


def test_a_mental_net_is_not_told_of_unknown_actions_either():
    observer = made_up(CONFIGS["mental"], domain=DOMAIN)
    gap = dataclasses.replace(ANN[0], actions=np.array([UNKNOWN, 3, 3, 3]))
    whole, gone = (foretold(observer, [each]).episodes[0].action for each in (ANN[0], gap))
    assert gone[0] == pytest.approx(whole[0])
    assert gone[1] != pytest.approx(whole[1])
    assert np.isfinite(gone).all()


def test_where_episodes_are_long_fewer_are_read_at_a_time_and_all_is_said_as_before(monkeypatch):
    observer, read = made_up(CONFIGS["character"], domain=DOMAIN), []
    usual = foretold(observer, ANN)
    monkeypatch.setattr(pretrained, "MOST_FRAMES", 100)  # 3 past episodes have space for 32 steps each
    few = foretold(observer, ANN, read.append)
    assert len(read) == len(ANN) + 1  # row by row, the last of which is no episode
    assert few.character.mean == pytest.approx(usual.character.mean, abs=1e-6)
    for one, other in zip(few.episodes, usual.episodes, strict=True):
        assert one.action == pytest.approx(other.action, abs=1e-6)


def test_an_episode_too_long_to_be_remembered_is_refused_by_those_who_would_remember_it(monkeypatch):
    monkeypatch.setattr(pretrained, "MOST_REMEMBERED", 3)
    PretrainedWatcher("made up", made_up(CONFIGS["character"], domain=DOMAIN)).check(ANN[0])
    watcher = PretrainedWatcher("made up", made_up(CONFIGS["mental"], domain=DOMAIN))
    watcher.check(ANN[1])
    with pytest.raises(BadRecording, match="steps: expected up to 3, as this observer remembers the current episode"):
        watcher.check(ANN[0])


def test_what_is_unlike_the_training_is_said_and_what_was_read_is_heard():
    observer, heard = made_up(CONFIGS["character"], domain=DOMAIN), []
    walls = [parse_text("@...A\n#####\n#####\n#...*\nB....\n\nright\n", "ann", "1"), *ANN]
    assert foretold(observer, walls, heard.append).beyond == ("walls fill 11 cells, at most 10 there",)
    assert sum(heard) == len(walls)
    assert foretold(observer, ANN[:1]).beyond == ()
