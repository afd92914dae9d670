"""Sharing, and a page that everybody can use: by keyboard, by ear, on a phone, in the dark."""

import re

import pytest
from explorer.browsing import PHONE, PICTURES, SIZES, Visit, on_every_screen, tell_the_story

pytest.importorskip("tomnet.explorer.app", reason="the extra `explore` is missing", exc_type=ImportError)


# --- Sharing


@on_every_screen
def test_the_address_holds_the_whole_scene(browser, page):
    page.select_option("#scenes", "near")
    page.drag((5, 2), (5, 2))
    other = Visit(browser, page.url, page.size)
    assert other.scene == page.scene
    assert other.level[5][2] == "#"
    assert other.inner_text("#about") == page.inner_text("#about")
    other.end(f"from an address {page.size}")


@pytest.mark.parametrize("hash", ["#2.eyJ9", "#1.eyJ9", "#1.e30", "#nonsense"])
def test_an_address_that_cannot_be_read_leaves_the_scene(same_page, hash):
    before = same_page.scene
    same_page.evaluate(f"() => (location.hash = '{hash}')")
    assert same_page.sentence().startswith("This address")
    assert same_page.scene == before


SPOILT = {
    "a past that is none": lambda scene: scene | {"past": [{"text": "garbage", "time": 0}]},
    "a past without steps": lambda scene: scene | {"past": [{"text": scene["level"], "time": 0}]},
    "a past that cannot be played": lambda scene: scene | {"past": [{"text": f"{scene['level']}\n\njump", "time": 0}]},
    "too much past": lambda scene: scene | {"past": scene["past"] * 2},
    "a story without Sally": lambda scene: scene | {"view": "sally"},
    "numbers as text": lambda scene: scene | {"agent": scene["agent"] | {"rewards": ["1", "0", "0", "0"]}},
    "no kind of agent": lambda scene: scene | {"agent": {"kind": "constructor"}},
    "no direction": lambda scene: scene | {"way": ["x"]},
    "no object": lambda scene: scene | {"show": scene["show"] | {"kind": "length"}},
    "no such scene": lambda scene: scene | {"name": "nowhere"},
    "no such step": lambda scene: scene | {"steps": ["up\nmoved Z 1 1"]},
}


@pytest.mark.parametrize("why", SPOILT)
def test_an_address_that_was_tampered_with_leaves_the_scene(same_page, why):
    before = same_page.scene
    same_page.evaluate("(scene) => (location.hash = tomnet.address.write(scene))", SPOILT[why](before))
    assert same_page.sentence().endswith(".")
    assert same_page.scene == before


def test_an_address_whose_observer_is_not_here_says_so(page):
    before = page.scene
    page.evaluate("() => (tomnet.answers.observer('goal-inference/8d').here = false)")
    page.evaluate(
        "(scene) => (location.hash = tomnet.address.write(scene))", before | {"observer": "goal-inference/8d"}
    )
    assert page.sentence() == "The observer goal-inference/8d is not in the zoo here."
    assert page.scene == before


@on_every_screen
def test_pictures_are_saved_with_their_colours(page):
    text = page.evaluate("() => tomnet.share.svgText()")
    assert 'fill="rgb(230, 159, 0)"' in text
    assert "var(" not in text
    assert "Prediction: observer, next step" in text
    assert "will be taken" in text
    assert ">ideal observer<" in text
    bar = re.search(r'<rect class="bar-network"[^>]* fill="([^"]+)"', text)
    sign = re.search(r'<text[^>]* fill="([^"]+)"[^>]*>■<', text)
    assert bar
    assert sign
    assert sign[1] == bar[1]
    *_, wide, high = map(float, re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', text).groups())
    width, height = map(int, re.search(r' width="(\d+)" height="(\d+)"', text).groups())
    assert width / height == pytest.approx(wide / high, abs=0.002)  # nothing is left over at the sides
    for kind, first in {"png": b"\x89PNG", "svg": b"<svg"}.items():
        page.press("#share")
        with page.expect_download() as download:
            page.press(f"#save-{kind}")
        assert download.value.path().read_bytes().startswith(first)


def test_what_is_copied_can_be_pasted(browser, address):
    page = Visit(browser, address, permissions=["clipboard-read", "clipboard-write"])
    copied = {"copy-link": (address, "The address is copied"), "copy-python": ("import", "The Python lines are copied")}
    for item, (begins, said) in copied.items():
        page.press("#share")
        page.keyboard.press("Escape")
        page.keyboard.press("Enter")  # the menu gives the focus back to its button, which opens it again
        page.press(f"#{item}")
        page.sentence(said)
        assert page.evaluate("() => navigator.clipboard.readText()").startswith(begins)
        assert page.evaluate(FOCUSED) == "share"
    page.end("copied")


# --- For everyone

CONTROLS = {"button", "combobox", "slider", "radio", "textbox", "menuitem", "tab", "image", "application", "dialog"}


def controls(page) -> list[tuple[str, str]]:
    """Role and name of everything that a screen reader would offer."""
    nodes = page.context.new_cdp_session(page.page).send("Accessibility.getFullAXTree")["nodes"]
    met = [node for node in nodes if not node["ignored"] and node["role"]["value"] in CONTROLS]
    return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in met]


def assert_all_named(page, where):
    met = controls(page)
    assert len(met) > 3, where
    assert [role for role, name in met if not name.strip()] == [], where


@on_every_screen
def test_everything_has_a_name(page):
    for scene in ("glimpses", "random", "walls", "out-of-view"):
        page.select_option("#scenes", scene)
        page.answered()
        for panel in ("world", "past", "prediction") if page.size == "phone" else ("world",):
            page.panel(panel)
            assert_all_named(page, scene)


@on_every_screen
def test_what_opens_has_names_too(page):
    for opener, opened in {"share": "#share-menu", "as-text": "#text-dialog", "tour": "#guide"}.items():
        page.press(f"#{opener}")
        assert page.is_visible(opened)
        assert_all_named(page, opener)
        page.keyboard.press("Escape")
        assert page.is_hidden(opened)


REACHABLE = """() => [...document.querySelectorAll("button, select, input, textarea, [tabindex='0']")]
    .filter((each) => each.checkVisibility() && !each.disabled && !(each.type === "radio" && !each.checked))
    .map((each) => each.id || each.outerHTML.slice(0, 90))"""
FOCUSED = "() => document.activeElement.id || document.activeElement.outerHTML.slice(0, 90)"


@on_every_screen
def test_everything_is_reached_with_the_tab_key(page):
    for scene in ("glimpses", "walls", "out-of-view"):
        page.select_option("#scenes", scene)
        page.answered()
        for panel in ("world", "past", "prediction") if page.size == "phone" else ("world",):
            page.panel(panel)
            wanted, reached = page.evaluate(REACHABLE), []
            assert len(wanted) > 3
            page.evaluate("() => document.activeElement.blur()")
            for _ in range(len(wanted) + 5):
                page.keyboard.press("Tab")
                reached.append(page.evaluate(FOCUSED))
            assert set(wanted) - set(reached) == set(), scene


@on_every_screen
def test_tabs_and_choices_are_moved_through_with_arrow_keys(page):
    page.panel("prediction")
    page.focus("input[value=next]")
    page.keyboard.press("ArrowRight")
    page.answered()
    assert page.scene["show"]["what"] == "field"
    if page.size == "phone":
        page.focus("#tabs [aria-controls=prediction]")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        assert page.is_visible("#level")


@on_every_screen
def test_the_tour_has_five_steps(page):
    page.press("#tour")
    for number in range(1, 6):
        assert page.inner_text("#guide-place") == f"{number} of 5"
        page.screenshot(path=PICTURES / f"tour-{number}-{page.size}.png")
        page.keyboard.press("Enter")
    assert page.is_hidden("#guide")


def test_on_a_phone_one_panel_is_on_the_screen_at_a_time(browser, address):
    phone = Visit(browser, address, "phone")
    assert "will take B" in phone.inner_text("#summary")
    for panel in ("world", "past", "prediction"):
        phone.panel(panel)
        assert [each for each in ("world", "past", "prediction") if phone.is_visible(f"#{each}")] == [panel]
        assert phone.evaluate("() => document.documentElement.scrollWidth") <= PHONE["viewport"]["width"]
        phone.screenshot(path=PICTURES / f"panel-{panel}-phone.png", full_page=True)
    phone.end("one panel")


@pytest.mark.parametrize("size", ["desktop", pytest.param("phone", marks=pytest.mark.slow)])
@pytest.mark.parametrize("scene", ["glimpses", "random", "walls", "out-of-view"])
def test_in_the_dark(browser, address, size, scene):
    page = Visit(browser, address, size, color_scheme="dark")
    if scene == "out-of-view":
        tell_the_story(page, scene)
    else:
        page.select_option("#scenes", scene)
    page.answered()
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert max(map(int, paper[4:-1].split(","))) < 60
    assert page.evaluate("() => document.documentElement.scrollWidth") <= SIZES[size]["viewport"]["width"]
    page.screenshot(path=PICTURES / f"dark-{scene}-{size}.png", full_page=True)
    page.press("#theme")
    paper = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert min(map(int, paper[4:-1].split(","))) > 200
    page.end(f"light again {scene} {size}")


def test_nothing_is_fetched_from_elsewhere(address, page):
    assert page.asked
    assert all(url.startswith(address) for url in page.asked)
