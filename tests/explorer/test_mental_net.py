"""Observers with a mental net, which the zoo may not hold yet: an untrained one stands in, to be asked step by step."""

import jax
import numpy as np
import pytest

from tomnet.asking.agent_model import meet
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.observer.tomnet import ToMnet
from tomnet.recordings.text import parse_text

observers = pytest.importorskip(
    "tomnet.explorer.observers", reason="the extra `explore` is missing", exc_type=ImportError
)
requests = pytest.importorskip("tomnet.explorer.requests", exc_type=ImportError)

NAME = "explicit-beliefs/mixed"
LEVEL = "@..*.......\nA..........\n" + "...........\n" * 8 + "........BCD"
STEPS = ["right", "right", "right\ntook *\nmoved A 10 8\nmoved B 1 0", "left"]


@pytest.fixture
def untrained(monkeypatch):
    spec = EXPERIMENTS["explicit-beliefs"].specs("smoke")[0]
    observer = ToMnet(spec.observer, key=jax.random.key(0))
    monkeypatch.setattr(observers, "observer", lambda name: observer)
    monkeypatch.setattr(observers, "spec_of", lambda name: spec)
    observers.met.cache_clear()
    yield observer
    observers.met.cache_clear()


def test_an_episode_is_followed_and_a_swap_is_seen(untrained):
    past = (requests.Seen(text=f"{LEVEL}\n\n" + "down\n"),)
    for steps in range(len(STEPS) + 1):
        text = "\n".join([LEVEL, "", *STEPS[:steps]])
        answer = observers.ask(NAME, past, text, everywhere=True)
        assert np.shape(answer["said"]["belief"]) == (5, 122)
        assert np.shape(answer["said"]["field"]) == (121, 5)
    model = meet(untrained, [parse_text(past[0].text, "agent", "1")], "ABCD*")
    episode = model.begin(LEVEL)
    after = (LEVEL.replace("@..*", ".@.*"), LEVEL.replace("@..*", "..@*"), LEVEL.replace("@..*", "...@"))
    swapped = after[2].replace("A", "?").replace("B", "A").replace("?", "B")
    for action, picture in zip(("right", "right", "right", "left"), (*after[:2], swapped, swapped.replace(".@", "@."))):
        episode = episode.step(action, picture)
    expected = episode.ask()
    assert answer["said"]["action"] == pytest.approx(expected.action.array.tolist(), abs=1e-5)
    assert np.allclose(np.asarray(answer["said"]["belief"])[0, :-1], expected.belief["A"].reshape(-1), atol=1e-5)
    assert answer["character"][-1]["mean"] == pytest.approx(expected.character.mean.tolist(), abs=1e-5)


def test_what_was_followed_is_kept(untrained, monkeypatch):
    observers.ask(NAME, (), f"{LEVEL}\n\nright\nright\n", everywhere=False)
    followed = len(observers._followed)
    observers.ask(NAME, (), f"{LEVEL}\n\nright\nright\ndown\n", everywhere=False)
    assert len(observers._followed) == followed + 1
