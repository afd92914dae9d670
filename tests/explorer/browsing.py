"""The page in a real browser, on a desk and on a phone, as a person would use it: by mouse, by finger, by keyboard."""

import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import tomnet

# without windows, which nobody would look at, a page takes less than half as long
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
NO_CHROMIUM = "no Chromium here: `apt-get install chromium-headless-shell` or `chromium` brings it"
PICTURES = Path(tomnet.__file__).parents[1] / "build" / "page"  # what every flow looked like in the end
DESKTOP = {"viewport": {"width": 1280, "height": 800}}
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}
SIZES = {"desktop": DESKTOP, "phone": PHONE}
# for what fingers do otherwise than a mouse, or a small screen otherwise than a large one
on_every_screen = pytest.mark.parametrize("page", SIZES, indirect=True)
COMPILING = 480_000  # milliseconds that anything may take: a first question compiles, and the machine may be busy
# clicks are counted, what was said is kept when it has faded, and the page draws the same numbers in every visit
BEFORE_THE_PAGE = """
    tomnetClicks = 0;
    addEventListener("click", () => tomnetClicks++, true);
    tomnetSaid = "";
    const look = () => {
        const said = document.getElementById("say");
        if (said && !said.hidden) tomnetSaid = said.textContent;
    };
    new MutationObserver(look).observe(document, { subtree: true, childList: true, attributeFilter: ["hidden"] });
    let drawn = 1;
    Math.random = () => (drawn = (drawn * 48271) % 2147483647) / 2147483647;
"""
# milliseconds; a finger that leaves while it moves makes a fling, and the next tap does nothing but stop that
AT_REST = 200
SCENE = "() => tomnet.scene.get()"
ANSWERS = "() => { const { said, beside } = tomnet.answers.get(); return { said, ...beside }; }"


class Visit:
    """One open page; `panel` brings a panel to the screen of a phone, where one is shown at a time."""

    def __init__(self, browser: Any, address: str, size: str = "desktop", **how: Any):
        self.size, self.faults, self.asked = size, [], []
        self.page = browser.new_context(**SIZES[size], **how).new_page()
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.set_default_timeout(COMPILING)
        self.page.add_init_script(BEFORE_THE_PAGE)
        self.page.goto(address)
        self.page.wait_for_selector("html[data-ready=yes]")
        self.answered()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.page, name)

    def end(self, name: str) -> None:
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=PICTURES / f"{re.sub('[^a-z0-9]+', '-', name.lower()).strip('-')}.png")
        self.page.context.close()
        assert self.faults == []

    def answered(self) -> None:
        self.page.wait_for_selector("html[data-busy=no]")

    def press(self, selector: str) -> None:
        """With a mouse, or with a finger; of a touch the browser makes a click some time after the tap has returned."""
        if self.size == "desktop":
            self.page.click(selector)
            return
        clicks = self.page.evaluate("tomnetClicks")
        self.page.tap(selector)
        self.page.wait_for_function("clicks => tomnetClicks > clicks", arg=clicks)

    def panel(self, name: str) -> None:
        if self.size == "phone" and self.page.is_visible("#tabs"):
            self.press(f"#tabs [aria-controls={name}]")

    def choose(self, value: str) -> None:
        """One of several that exclude each other."""
        self.press(f"label:has(input[value={value}])")

    def cell(self, row: int, col: int) -> dict[str, float]:
        """The middle of a cell of the level, on the screen."""
        box = self.page.locator("#level").bounding_box()
        assert box is not None
        side = min(box["width"], box["height"])
        left, top = box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2
        return {"x": left + (col + 0.5) * side / 11, "y": top + (row + 0.5) * side / 11}

    def drag(self, *cells: tuple[int, int]) -> None:
        points = [self.cell(*cell) for cell in cells]
        if self.size == "desktop":
            self.page.mouse.move(**points[0])
            self.page.mouse.down()
            for point in points[1:]:
                self.page.mouse.move(**point)
            self.page.mouse.up()
            return
        finger = self.page.context.new_cdp_session(self.page)
        for number, point in enumerate(points):
            kind = "touchMove" if number else "touchStart"
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})
        self.page.wait_for_timeout(AT_REST)
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    @property
    def url(self) -> str:
        """As the page knows it; Playwright hears of a change some time later."""
        return self.page.evaluate("location.href")

    @property
    def scene(self) -> dict:
        return self.page.evaluate(SCENE)

    @property
    def level(self) -> list[str]:
        return self.scene["level"].split("\n")

    def said(self) -> dict:
        self.answered()
        return self.page.evaluate("() => tomnet.answers.get().said")

    def sentence(self, part: str = "") -> str:
        """What was said last, and holds this part: a sentence stays on the screen for some seconds only."""
        heard = "part => tomnetSaid.includes(part) && tomnetSaid"
        return self.page.wait_for_function(heard, arg=part).json_value()


def tell_the_story(page: Visit, scene: str) -> tuple[str, str]:
    """Sally walks to the star, and Anne swaps: the sentence before and after."""
    page.select_option("#scenes", scene)
    page.answered()
    for _ in page.scene["way"]:
        page.press("#sally-step")
    page.answered()
    before = page.inner_text("#moral")
    page.press("#sally-swap")
    page.answered()
    return before, page.inner_text("#moral")
