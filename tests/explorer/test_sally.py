"""Sally and Anne on the real page: four panels and a sentence."""

from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from explorer.browsing import COMPILING, Visit, on_every_screen, tell_the_story

from tomnet import zoo
from tomnet.experiments.registry import EXPERIMENTS

pytest.importorskip("tomnet.explorer.app", reason="the extra `explore` is missing", exc_type=ImportError)

WATCHER = "explicit-beliefs/mixed"
ACQUAINTED = "() => tomnet.scene.get().past.length === 4"


@on_every_screen
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


def acquainted(page, scene="out-of-view"):
    """The story, and everything said by an observer that has seen the agent before: the sentence after the swap."""
    tell_the_story(page, scene)
    page.wait_for_function(ACQUAINTED)
    page.answered()
    return page.inner_text("#moral")


def test_an_observer_says_what_sally_believes_and_does(page):
    after = acquainted(page)
    assert page.scene["observer"] == WATCHER
    assert "The observer noticed: it says the agent believes just that" in after
    assert page.locator("#says .belief").count() > 0
    assert "has seen 4 other episodes" in page.inner_text("#says + figcaption")


def test_the_copied_python_says_of_sally_what_the_page_says(page):
    acquainted(page)
    shown, code, copied = page.said(), page.evaluate("() => tomnet.python()"), {"__name__": "copied"}
    assert code.endswith('print(said.belief["A"].round(2))\n')
    with redirect_stdout(StringIO()):
        exec(compile(code, "copied.py", "exec"), copied)
    said = copied["said"]
    assert np.abs(said.action.array - shown["action"]).max() < 1e-4
    for letter, belief in zip("ABCD*", shown["belief"], strict=True):
        assert np.abs(said.belief[letter].ravel() - belief[:-1]).max() < 1e-4
        assert said.nowhere[letter] == pytest.approx(belief[-1], abs=1e-4)


def test_another_observer_is_asked_about_sally(page):
    acquainted(page)
    page.select_option("#sally-observer", "false-beliefs/5x5")
    page.answered()
    assert "The observer says nothing of beliefs" in page.inner_text("#moral")
    assert "It says nothing of beliefs" in page.inner_text("#says + figcaption")
    assert page.locator("#says .belief").count() == 0
    assert page.locator("#says .arrow").count() > 0
    page.select_option("#sally-condition", "9x9")
    page.wait_for_function(ACQUAINTED)
    page.answered()
    assert "It never met an agent like this" in page.inner_text("#says + figcaption")


def test_an_observer_that_reads_no_past_is_shown_none(page):
    page.select_option("#scenes", "out-of-view")
    page.select_option("#sally-observer", "explicit-beliefs/control")
    page.select_option("#sally-condition", "9x9")  # somebody else, of whom nothing was seen
    page.answered()
    assert page.scene["past"] == []
    assert "reads no past episodes" in page.inner_text("#says + figcaption")


def test_an_observer_that_cannot_tell_is_not_said_to_have_noticed(page):
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


def test_the_observer_is_shown_the_past_of_whom_it_watches(page):
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
    page.select_option("#scenes", "walls")
    page.answered()
    assert "No observer of deep RL agents is in the zoo yet" in page.inner_text("#remarks")
    page.end("sally without an observer")
