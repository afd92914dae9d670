"""What panel c shows: numbers and lines of Python that say the same, every picture, and differences."""

import re
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
import pytest
from explorer.browsing import ANSWERS, COMPILING, on_every_screen

from tomnet.world.gridworld import ACTIONS

beside = pytest.importorskip("tomnet.explorer.beside", reason="the extra `explore` is missing", exc_type=ImportError)
observers = pytest.importorskip("tomnet.explorer.observers", exc_type=ImportError)
requests = pytest.importorskip("tomnet.explorer.requests", exc_type=ImportError)


@pytest.mark.parametrize("scene", ["favourite", "glimpses", "far", "random", "walls"])
def test_the_numbers_are_those_of_python(page, scene):
    page.select_option("#scenes", scene)
    page.answered()
    shown, asked = page.evaluate(ANSWERS), page.scene
    past = tuple(requests.Seen(**each) for each in asked["past"])
    kinds = {"planner": requests.PlannerChoice, "random": requests.RandomChoice, "deep": requests.DeepChoice}
    agent = kinds[asked["agent"]["kind"]](**asked["agent"])
    compared = beside.beside(asked["observer"], past, asked["level"], agent, False)
    said = observers.ask(asked["observer"], past, asked["level"], False)["said"]
    for who, told in {"said": said, **compared}.items():
        if told is None:  # there is no exact observer of deep RL agents
            assert shown[who] is None
            continue
        for head, numbers in told.items():
            if numbers is None:
                assert shown[who][head] is None
            else:
                assert np.abs(np.subtract(shown[who][head], numbers)).max() < 1e-4, (who, head)


def test_the_copied_python_says_the_same(page):
    page.select_option("#scenes", "far")
    page.panel("past")
    page.press("#watch")
    page.wait_for_selector("#episodes li:nth-child(2)")
    shown = page.said()
    code, printed = page.evaluate("() => tomnet.python()"), StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "copied.py", "exec"), {"__name__": "copied"})
    told = {name: float(number) for name, number in re.findall(r"(\w+) (\d\.\d\d)", printed.getvalue())}
    actions = dict(zip(("up", "down", "left", "right", "stay"), shown["action"]))
    for name, number in {**actions, **dict(zip("ABCD", shown["consumption"]))}.items():
        assert told[name] == pytest.approx(number, abs=0.0051), name


def test_the_copied_python_draws_the_same_map(page):
    page.panel("prediction")
    page.choose("successor")
    page.locator("#gamma").fill("1")
    assert page.evaluate("() => tomnet.python()").endswith("print(said.successor[0.9].round(2))\n")
    page.choose("field")
    page.answered()
    code, printed = page.evaluate("() => tomnet.python()"), StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "copied.py", "exec"), {"__name__": "copied"})
    lines = re.findall(r"^(\d+) (\d+) (\w+) (\d\.\d\d)", printed.getvalue(), re.MULTILINE)
    field = page.said()["field"]
    assert len(lines) == 121 - 4  # everywhere but on the objects
    for row, col, action, number in lines:
        assert field[int(row) * 11 + int(col)][ACTIONS.index(action)] == pytest.approx(float(number), abs=0.0051)


@on_every_screen
def test_every_picture_can_be_drawn(page):
    page.panel("prediction")
    for what in ("field", "successor", "next"):
        page.choose(what)
        page.answered()
        for who in ("ideal", "agent", "difference", "observer"):
            page.choose(who)
            assert page.locator("#predicted .arrow, #predicted .heat").count() > 0, (what, who)
            assert page.inner_text("#reading")
    page.choose("successor")
    page.locator("#gamma").fill("2")
    assert page.inner_text("#gamma-said") == "γ = 0.99"
    page.answered()


SAID = {
    "action": [0.2, 0.3, 0.3, 0.2, 0],
    "consumption": [0, 0, 1, 0],
    "successor": None,
    "belief": [[0.0] * 70 + [1.0] + [0.0] * 51] * 5,
    "field": None,
}


def told(action):
    """An answer of the server in which everybody but the observer expects this step; none where it is superseded."""

    def change(route):
        answer = route.fetch(timeout=COMPILING)
        changed = answer.json()
        for who in {"ideal", "agent"} & changed.keys():
            changed[who] |= {"action": action, "belief": [[0.0] * 60 + [1.0] + [0.0] * 61] * 5}
        route.fulfill(response=answer, json=changed)

    return change


def test_the_difference_is_what_each_says_more_than_the_other(page):
    page.route("**/api/ask", lambda route: route.fulfill(json={"said": SAID, "character": [], "remarks": []}))
    page.route("**/api/beside", told([0.5, 0.3, 0, 0.2, 0]))
    page.select_option("#scenes", "trapped")
    page.answered()
    page.panel("prediction")
    page.choose("difference")
    assert page.locator("#predicted line.arrow.observer").count() == 1  # left
    assert page.locator("#predicted line.arrow.ideal").count() == 1  # up
    assert "more likely" in page.inner_text("#reading")
    page.evaluate("() => tomnet.scene.set({ show: { ...tomnet.scene.get().show, what: 'belief' } })")
    page.answered()
    assert page.locator("#predicted .belief.observer").count() == 1
    assert page.locator("#predicted .belief.ideal").count() == 1


def test_a_question_that_was_overtaken_on_its_way_is_asked_again(page):
    """The server answers the one that came last, and takes it for the newest."""
    overtaken = set()

    def later(route):
        if route.request.url in overtaken:
            route.continue_()
        else:
            overtaken.add(route.request.url)
            route.fulfill(status=409, json={"error": "A newer question came first.", "superseded": True})

    for kind in ("ask", "beside"):
        page.route(f"**/api/{kind}", later)
    page.select_option("#scenes", "trapped")
    page.answered()
    shown = page.evaluate(ANSWERS)
    assert [np.argmax(shown[who]["consumption"]) for who in ("said", "agent")] == [2, 2]  # C, and not B as before
    assert len(overtaken) == 2


def test_another_observer_is_chosen(page):
    page.panel("prediction")
    page.select_option("#observer", "goal-inference/8d")
    page.answered()
    assert page.scene["observer"] == "goal-inference/8d"
    page.panel("past")
    drawn = "() => document.getElementById('map-caption').textContent.includes('principal axes')"
    page.wait_for_function(drawn)
