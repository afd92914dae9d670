"""Sally and Anne on the real page: four panels and a sentence."""

import jax
import pytest
from explorer.browsing import COMPILING, Visit, tell_the_story

from tomnet import zoo
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.observer.tomnet import ToMnet

app = pytest.importorskip("tomnet.explorer.app", reason="the extra `explore` is missing", exc_type=ImportError)

WATCHER = "explicit-beliefs/mixed"
ACQUAINTED = "() => tomnet.scene.get().past.length === 4"


@pytest.mark.parametrize(("scene", "verdict"), [("out-of-view", "A false belief"), ("in-view", "")])
def test_sally_and_anne(page, scene, verdict):
    before, after = tell_the_story(page, scene)
    assert before.startswith("A true belief")
    assert after.startswith(verdict)
    assert "have changed places" in page.inner_text("#truth + figcaption")
    assert page.locator("#believes .belief").count() > 0
    page.press("#sally-step")  # from here on it acts by itself
    page.answered()
    page.press("#sally-restart")
    assert page.scene["steps"] == []
    page.answered()


@pytest.fixture
def somebody_watches(monkeypatch):
    """An observer of deep RL agents: where the zoo holds none, an untrained one. Its map would take long."""
    monkeypatch.setattr(app, "known_agents", lambda name: {"points": [], "favourite": [], "centre": [], "axes": []})
    names, load_one = zoo.names(), zoo.load_one
    if WATCHER in names:
        return
    spec = EXPERIMENTS["explicit-beliefs"].specs("smoke")[0]
    observer = ToMnet(spec.observer, key=jax.random.key(0))
    monkeypatch.setattr(zoo, "names", lambda: [*names, WATCHER])
    monkeypatch.setattr(zoo, "load_one", lambda *name: observer if "/".join(name) == WATCHER else load_one(*name))


def test_an_observer_says_what_sally_believes_and_does(somebody_watches, page):
    _, after = tell_the_story(page, "out-of-view")
    assert page.scene["observer"] == WATCHER
    assert "The observer" in after
    assert page.locator("#says .belief").count() > 0
    page.wait_for_function(ACQUAINTED)
    assert len(page.scene["past"]) == 4
    assert page.evaluate("() => tomnet.python()").endswith('print(said.belief["A"].round(2))\n')


def test_an_observer_that_cannot_tell_is_not_said_to_have_noticed(somebody_watches, page):
    def unsure(route):
        answer = route.fetch(timeout=COMPILING)
        told = answer.json()
        if "said" in told:
            told["said"]["belief"] = [[1 / 122] * 122] * 5
        route.fulfill(response=answer, json=told)

    page.route("**/api/ask", unsure)
    _, after = tell_the_story(page, "out-of-view")
    assert after.startswith("A false belief")
    assert "The observer cannot tell what the agent believes (at most 0.01 anywhere). It goes" in after


def test_the_observer_is_shown_the_past_of_whom_it_watches(somebody_watches, page):
    page.select_option("#scenes", "out-of-view")
    page.wait_for_function(ACQUAINTED)
    before = page.scene["past"]
    page.evaluate("() => { counts = []; tomnet.scene.listen(({ past }) => counts.push(past.length)); }")
    page.select_option("#sally-condition", "9x9")
    page.wait_for_function(ACQUAINTED)
    assert page.evaluate("counts") == [0, 1, 2, 3, 4]
    page.answered()
    assert page.scene["past"] != before


def test_what_an_agent_never_saw_is_not_in_what_it_sees(page):
    page.select_option("#scenes", "out-of-view")
    page.answered()
    assert page.locator("#truth .wall").count() == 3
    assert page.locator("#sees .wall").count() == 0
    for _ in page.scene["way"]:
        page.press("#sally-step")
    page.answered()
    assert page.locator("#sees .wall").count() == 3


def test_without_an_observer_the_panel_says_so(monkeypatch, browser, address):
    mazes = [name for name in zoo.names() if EXPERIMENTS[name.split("/")[0]].specs("smoke")[0].world.subgoal is False]
    monkeypatch.setattr(zoo, "names", lambda: mazes)
    page = Visit(browser, address)
    _, after = tell_the_story(page, "out-of-view")
    assert "No observer is there yet to notice" in after
    assert "in the zoo yet" in page.locator("#says").text_content()
    page.end("sally without an observer")
