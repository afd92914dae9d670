"""How quickly the page of `tomnet explore` is painted and answers, in Chromium: what a person waits for.

    python benchmarks/explorer_page.py [--times 200]

It starts a server of its own. An interaction takes from the key, click or slider to the frame in which everything that
is said of the scene is drawn: by the observer, by the exact one, and by the agent itself. The first three of a kind are
left out, in which programs are compiled. The load of the machine is printed, because other jobs may share it.
"""

import argparse
import os
import shutil
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from tomnet.explorer.app import page_files  # noqa: E402
from tomnet.explorer.serve import served  # noqa: E402

PORT, WARM_UP, OPENED, COMPILING = 28766, 3, 20, 240_000
READY, ANSWERED = "html[data-ready=yes]", "html[data-busy=no]"
STOPWATCH = """() => {
    let started = null;
    window.took = [];
    const start = () => (started ??= performance.now());
    for (const kind of ["pointerdown", "keydown", "click", "input", "change"]) addEventListener(kind, start, true);
    new MutationObserver(() => {
        if (started === null || document.documentElement.dataset.busy !== "no") return;
        const since = started;
        started = null;
        requestAnimationFrame(() => took.push(performance.now() - since));
    }).observe(document.documentElement, { attributeFilter: ["data-busy"] });
}"""
PAINTED = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
FREE = [(row, col) for row in (2, 3, 4, 6, 7) for col in range(1, 10)]  # cells of the first scene


def wall(page: Page, number: int) -> None:
    """There is always another level: walls are built in all of these cells, and then taken away."""
    box = page.locator("#level").bounding_box()
    assert box is not None
    row, col = FREE[number % len(FREE)]
    page.mouse.click(box["x"] + (col + 0.5) * box["width"] / 11, box["y"] + (row + 0.5) * box["height"] / 11)


def in_turn(*acts: Callable[[Page], Any]) -> Callable[[Page, int], Any]:
    return lambda page, number: acts[number % len(acts)](page)


def pressed(selector: str) -> Callable[[Page], Any]:
    return lambda page: page.click(selector)


def shown(what: str) -> Callable[[Page], Any]:
    return lambda page: page.click(f"label:has(input[value={what}])")


def walk_on(page: Page) -> None:
    page.press("#level", "ArrowRight")


def a_wall(page: Page) -> None:
    wall(page, 0)


def known(page: Page) -> None:
    """As much past as the observers of deep RL agents are used to."""
    for seen in range(4):
        page.click("#watch")
        page.wait_for_selector(f"#episodes li:nth-child({seen + 1})", timeout=COMPILING)


def known_from_every_cell(page: Page) -> None:
    known(page)
    shown("field")(page)


def want(page: Page, number: int) -> None:
    page.locator("#want-A").fill(f"{0.01 + number % 90 / 100:.2f}")


def observer(name: str) -> Callable[[Page], Any]:
    return lambda page: page.select_option("#observer", name)


STEP, BACK = pressed("#step"), pressed("#step-back")
# by name: the scene, what is done before, and the interaction
INTERACTIONS: dict[str, tuple[str, Callable[[Page], Any], Callable[[Page, int], Any]]] = {
    "a wall": ("favourite", shown("build"), wall),
    "a wall, every cell shown": ("favourite", shown("field"), wall),
    "undo and redo of a wall": ("favourite", a_wall, in_turn(pressed("#undo"), pressed("#redo"))),
    "a step by hand, and back": ("favourite", shown("walk"), in_turn(walk_on, BACK)),
    "a planner's step, and back": ("favourite", shown("build"), in_turn(STEP, BACK)),
    "a slider": ("favourite", shown("build"), want),
    "a planner's episode watched": ("favourite", shown("build"), in_turn(pressed("#watch"))),
    "another observer": (
        "favourite",
        shown("build"),
        in_turn(observer("goal-inference/8d"), observer("goal-inference/2d")),
    ),
    "a random level": ("favourite", shown("build"), in_turn(pressed("#random-level"))),
    "a random agent's step, and back": ("random", shown("build"), in_turn(STEP, BACK)),
    "a deep RL agent's step, and back": ("walls", known, in_turn(STEP, BACK)),
    "the same, every cell shown": ("walls", known_from_every_cell, in_turn(STEP, BACK)),
    "Sally's step, and start again": (
        "out-of-view",
        lambda page: None,
        in_turn(pressed("#sally-step"), pressed("#sally-restart")),
    ),
}


def interact(page: Page, times: int) -> None:
    print(f"{'':36} {'median':>8} {'99%':>8} ms")
    for name, (scene, prepare, act) in INTERACTIONS.items():
        page.select_option("#scenes", "")
        page.select_option("#scenes", scene)
        page.wait_for_selector(ANSWERED, timeout=COMPILING)
        prepare(page)
        time.sleep(2)  # what was asked for on the way is answered, the map too
        page.wait_for_selector(ANSWERED, timeout=COMPILING)
        page.evaluate("() => { took = []; }")
        for number in range(times + WARM_UP):
            act(page, number)
            page.wait_for_function("number => took.length > number", arg=number, polling=20, timeout=COMPILING)
        middle, worst = np.percentile(page.evaluate("took")[WARM_UP:], (50, 99))
        print(f"{name:36} {middle:8.1f} {worst:8.1f}", flush=True)


def paint(browser: Browser, address: str) -> None:
    painted = []
    for _ in range(OPENED):
        page = browser.new_page()
        page.set_default_timeout(COMPILING)
        page.goto(address)
        page.wait_for_selector(READY)
        painted.append(page.wait_for_function(PAINTED).json_value())  # which it may be some time later
        page.close()
    middle, worst = np.median(painted), max(painted)
    print(f"first paint, opened {OPENED} times: {middle:.0f} ms (median), {worst:.0f} ms (longest)", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--times", type=int, default=200)
    times = options.parse_args().times
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at first")
    print(f"page, styles and scripts: {sum(path.stat().st_size for path in page_files().values()) / 1e3:.0f} kB")
    with served(PORT) as address, sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("chromium-headless-shell")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        paint(browser, address)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(address)
        page.wait_for_selector(READY)
        page.evaluate(STOPWATCH)
        interact(page, times)
        browser.close()
    print(f"load {os.getloadavg()[0]:.1f} at last")


if __name__ == "__main__":
    main()
