"""The page itself, driven in a real browser as a person would: by mouse, by keyboard, by touch."""

import re
import shutil
from contextlib import redirect_stdout
from io import StringIO

import jax
import pytest

from tomnet import zoo
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.observer.tomnet import ToMnet

app = pytest.importorskip("tomnet.explorer.app", reason="the extra `explore` is missing", exc_type=ImportError)
sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `apt-get install chromium` brings it")

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
COMPILING = 240_000  # milliseconds that a first question may take
CELL = 5  # of the level, from which walls are drawn
SCENE = "() => tomnet.scene.get()"
NAMELESS = """() => [...document.querySelectorAll("button, select, input, textarea, svg")]
    .filter((each) => each.closest("[hidden]") === null)
    .filter((each) => !(each.getAttribute("aria-label") || each.textContent.trim() || each.labels?.length))
    .filter((each) => !each.closest("button, figure, dialog")).map((each) => each.outerHTML.slice(0, 80))"""


@pytest.fixture(scope="module")
def browser():
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


def open_page(browser, address, *, viewport, **how):
    context = browser.new_context(viewport=viewport, **how)
    page = context.new_page()
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]")
    answered(page)
    return page


@pytest.fixture
def page(browser, address):
    page = open_page(browser, address, viewport=DESKTOP)
    yield page
    assert page.faults == []
    page.context.close()


@pytest.fixture
def phone(browser, address):
    page = open_page(browser, address, viewport=PHONE, has_touch=True, is_mobile=True)
    yield page
    assert page.faults == []
    page.context.close()


def answered(page) -> None:
    page.wait_for_selector("html[data-busy=no]", timeout=COMPILING)


def middle_of(page, row: int, col: int) -> tuple[float, float]:
    box = page.locator("#level").bounding_box()
    side = min(box["width"], box["height"])
    left, top = box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2
    return left + (col + 0.5) * side / 11, top + (row + 0.5) * side / 11


def said(page) -> dict:
    answered(page)
    return page.evaluate("() => tomnet.answers.get().said")


def sentence(page) -> str:
    page.wait_for_selector("#say:not([hidden])")
    return page.inner_text("#say")


# --- World


def test_walls_are_drawn_dragged_and_undone(page):
    before = page.evaluate(SCENE)["level"]
    page.mouse.move(*middle_of(page, CELL, 2))
    page.mouse.down()
    page.mouse.move(*middle_of(page, CELL, 3))
    page.mouse.move(*middle_of(page, CELL, 4))
    page.mouse.up()
    assert page.evaluate(SCENE)["level"].split("\n")[CELL][2:5] == "###"
    answered(page)
    for _ in range(3):
        page.keyboard.press("Control+z")
    assert page.evaluate(SCENE)["level"] == before
    page.click("#redo")
    assert page.evaluate(SCENE)["level"].count("#") == 1


def test_things_are_dragged(page):
    page.mouse.move(*middle_of(page, 1, 6))  # A
    page.mouse.down()
    page.mouse.move(*middle_of(page, 2, 6))
    page.mouse.move(*middle_of(page, 3, 7))
    page.mouse.up()
    assert page.evaluate(SCENE)["level"].split("\n")[3][7] == "A"


def test_everything_is_drawn_from_the_keyboard(page):
    page.focus("#level")
    page.keyboard.press("ArrowRight")  # the cursor begins in the middle
    page.keyboard.press(" ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    level = page.evaluate(SCENE)["level"].split("\n")
    assert (level[5][6], level[6][6]) == ("#", "C")
    assert "object C" in page.inner_text("#cursor")
    page.keyboard.press("Delete")
    assert "C" not in page.evaluate(SCENE)["level"]


def test_an_episode_is_walked_by_hand_and_kept(page):
    page.select_option("#scenes", "far")
    page.check("input[value=walk]", force=True)
    page.focus("#level")
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    assert "B was taken" in page.inner_text("#episode-state")
    assert page.is_disabled("#step")
    page.click("#keep")
    scene = page.evaluate(SCENE)
    assert scene["past"][-1]["text"].endswith("up\nup\nleft\ntook B\n")
    answered(page)
    assert page.locator("#episodes li").count() == 2


def test_a_level_that_is_none_is_refused_and_the_old_one_stays(page):
    before = page.evaluate(SCENE)["level"]
    page.click("#as-text")
    page.fill("#text", "this is\nno level")
    page.click("#text-use")
    assert "11 rows" in page.inner_text("#text-wrong")
    page.fill("#text", before.replace("@", "."))
    page.click("#text-use")
    assert "no agent" in page.inner_text("#text-wrong")
    assert page.evaluate(SCENE)["level"] == before
    page.fill("#text", before.replace("A", "#"))
    page.click("#text-use")
    assert page.evaluate(SCENE)["level"] == before.replace("A", "#")
    answered(page)


def test_an_agent_without_a_way_out_is_said_to_be_so(page):
    walled = "@#.........\n#.........A\n" + "...........\n" * 6 + "B..........\n..C........\n....D......"
    page.click("#as-text")
    page.fill("#text", walled)
    page.click("#text-use")
    assert "walled in" in page.inner_text("#episode-state")
    answered(page)
    assert page.is_hidden("#say")


# --- Past and prediction


def test_the_numbers_are_those_of_the_copied_python(page):
    page.select_option("#scenes", "far")
    page.click("#watch")
    page.wait_for_selector("#episodes li:nth-child(2)")
    shown = said(page)
    code, printed = page.evaluate("() => tomnet.python()"), StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "copied.py", "exec"), {"__name__": "copied"})
    told = {name: float(number) for name, number in re.findall(r"(\w+) (\d\.\d\d)", printed.getvalue())}
    actions = dict(zip(("up", "down", "left", "right", "stay"), shown["action"]))
    for name, number in {**actions, **dict(zip("ABCD", shown["consumption"]))}.items():
        assert told[name] == pytest.approx(number, abs=0.0051), name


def test_every_picture_can_be_drawn(page):
    for what in ("field", "successor", "next"):
        page.check(f"input[value={what}]", force=True)
        answered(page)
        for who in ("ideal", "agent", "difference", "observer"):
            page.check(f"input[value={who}]", force=True)
            drawn = page.locator("#predicted .arrow, #predicted .heat, #predicted .more, #predicted .less")
            assert drawn.count() > 0, (what, who)
    page.check("input[value=successor]", force=True)
    page.locator("#gamma").fill("2")
    assert page.inner_text("#gamma-said") == "γ = 0.99"


def test_an_agent_of_another_kind_brings_its_world_and_says_who_is_missing(page):
    page.select_option("#kind", "deep")
    answered(page)
    assert "*" in page.evaluate(SCENE)["level"]
    page.click("#step")
    page.wait_for_selector("#step-back:not([disabled])")
    answered(page)
    missing = page.evaluate("() => tomnet.catalogue.observers.every((each) => each.world === 'maze' || !each.here)")
    if missing:
        assert "No observer of deep RL agents is in the zoo yet" in page.inner_text("#remarks")
    assert len(page.evaluate("() => tomnet.answers.get().beside.agent.belief")) == 5


def test_a_file_of_ones_own(page, tmp_path):
    (tmp_path / "bad.txt").write_text("@..\n\njump\n")
    page.set_input_files("#file", tmp_path / "bad.txt")
    assert "Line 3" in sentence(page)
    (tmp_path / "own.txt").write_text(page.evaluate(SCENE)["past"][0]["text"])
    page.set_input_files("#file", tmp_path / "own.txt")
    page.wait_for_selector("#file-dialog[open]")
    page.locator("#file-time").fill("2")
    assert page.inner_text("#file-said") == "2: down"
    page.click("#file-use")
    answered(page)


# --- Sally and Anne


@pytest.mark.parametrize(("scene", "verdict"), [("out-of-view", "A false belief"), ("in-view", "")])
def test_sally_and_anne(page, scene, verdict):
    page.select_option("#scenes", scene)
    answered(page)
    for _ in range(len(page.evaluate(SCENE)["way"])):
        page.click("#sally-step")
    answered(page)
    assert "A true belief" in page.inner_text("#moral")
    page.click("#sally-swap")
    answered(page)
    assert page.inner_text("#moral").startswith(verdict)
    assert "have changed places" in page.inner_text("#truth + figcaption")
    assert page.locator("#believes .belief").count() > 0


UNTRAINED = "explicit-beliefs/mixed"


@pytest.fixture
def somebody_watches(monkeypatch):
    """An observer of deep RL agents, though an untrained one: the zoo may not hold any yet. Its map would take long."""
    monkeypatch.setattr(app, "known_agents", lambda name: {"points": [], "favourite": None, "centre": [], "axes": []})
    spec = EXPERIMENTS["explicit-beliefs"].specs("smoke")[0]
    observer, names, load_one = ToMnet(spec.observer, key=jax.random.key(0)), zoo.names(), zoo.load_one
    monkeypatch.setattr(zoo, "names", lambda: [*names, UNTRAINED])
    monkeypatch.setattr(zoo, "load_one", lambda *name: observer if "/".join(name) == UNTRAINED else load_one(*name))


def test_an_observer_says_what_sally_believes_and_does(somebody_watches, page):
    page.select_option("#scenes", "out-of-view")
    for _ in range(5):
        page.click("#sally-step")
    page.click("#sally-swap")
    answered(page)
    assert page.evaluate(SCENE)["observer"] == UNTRAINED
    assert "The observer" in page.inner_text("#moral")
    assert page.locator("#says .belief").count() > 0
    assert len(page.evaluate(SCENE)["past"]) == 4


# --- Sharing


def test_the_address_holds_the_whole_scene(browser, address, page):
    page.select_option("#scenes", "near")
    page.mouse.click(*middle_of(page, CELL, 2))
    scene, shared = page.evaluate(SCENE), page.url
    other = open_page(browser, shared, viewport=DESKTOP)
    assert other.evaluate(SCENE) == scene
    other.context.close()


@pytest.mark.parametrize("hash", ["#2.eyJ9", "#1.eyJ9", "#1.e30", "#nonsense"])
def test_an_address_that_cannot_be_read_leaves_the_scene(page, hash):
    before = page.evaluate(SCENE)
    page.evaluate(f"() => (location.hash = '{hash}')")
    assert sentence(page).startswith("This address")
    assert page.evaluate(SCENE) == before


def test_pictures_are_saved_with_their_colours(page):
    text = page.evaluate("() => tomnet.share.svgText()")
    assert "fill:rgb(230, 159, 0)" in text
    assert "var(" not in text
    page.click("#share")
    with page.expect_download() as download:
        page.click("#save-png")
    assert download.value.path().read_bytes().startswith(b"\x89PNG")


# --- For everyone


def test_everything_has_a_name(page):
    assert page.evaluate(NAMELESS) == []


def test_the_tour_has_five_steps(page):
    page.click("#tour")
    for number in range(1, 6):
        assert page.inner_text("#guide-place") == f"{number} of 5"
        page.keyboard.press("Enter")
    assert page.is_hidden("#guide")


def test_on_a_phone_one_panel_is_on_the_screen_at_a_time(phone):
    assert phone.evaluate("() => document.documentElement.scrollWidth") <= PHONE["width"]
    assert "will take B" in phone.inner_text("#summary")
    phone.tap("#tabs button:nth-child(3)")
    assert phone.is_hidden("#world")
    assert phone.is_visible("#predicted")
    assert phone.locator("#predicted .arrow").count() > 0
    phone.tap("#tabs button:nth-child(1)")
    phone.touchscreen.tap(*middle_of(phone, CELL, 2))
    assert phone.evaluate(SCENE)["level"].split("\n")[CELL][2] == "#"
    answered(phone)


def test_nothing_is_fetched_from_elsewhere(browser, address):
    context = browser.new_context()
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    page.wait_for_selector("html[data-ready=yes]")
    assert all(url.startswith(address) for url in asked)
    context.close()
