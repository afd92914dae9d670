"""The page without a server: written once, opened from disk, and asked."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from tomnet import zoo
from tomnet.cli.main import main
from tomnet.recordings.text import parse_text
from tomnet.world.gridworld import MAZE, reset_to_level
from tomnet.world.levels import parse_level

export = pytest.importorskip("tomnet.explorer.export", reason="the extra `explore` is missing", exc_type=ImportError)
beside = pytest.importorskip("tomnet.explorer.beside", exc_type=ImportError)
observers = pytest.importorskip("tomnet.explorer.observers", exc_type=ImportError)
requests = pytest.importorskip("tomnet.explorer.requests", exc_type=ImportError)

from explorer.browsing import Visit, on_every_screen  # noqa: E402

TOLERANCE = 1e-4
ANSWERS = "() => tomnet.answers.get()"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("web") / "page"
    export.export(made)
    return made


@pytest.fixture(params=["desktop", pytest.param("phone", marks=pytest.mark.slow)])
def page(browser, folder, request):
    """What it computes is the same on every screen, and fingers are those of the page with a server: on a phone only
    where all tests run, but for those `on_every_screen`."""
    visit = Visit(browser, (folder / "index.html").as_uri(), request.param)
    yield visit
    visit.end(f"exported {request.node.name}")


def expected(scene, everywhere=False):
    """What Python says of the scene on the screen: the observer, and the agent itself."""
    past = tuple(requests.Seen(**each) for each in scene["past"])
    now = "\n".join([scene["level"], "", *scene["steps"]]) if scene["steps"] else scene["level"]
    agent = requests.PlannerChoice(**scene["agent"])
    return observers.ask(export.NAME, past, now, everywhere), beside.itself(agent, now, everywhere)


def assert_same(shown, python, heads):
    for head in heads:
        assert np.shape(shown[head]) == np.shape(python[head])
        assert np.abs(np.subtract(shown[head], python[head])).max() < TOLERANCE, head


HEADS = ("action", "consumption", "successor")


@pytest.mark.parametrize("scene", ["glimpses", "trapped"])
def test_it_says_what_python_says(page, scene):
    page.select_option("#scenes", scene)
    page.answered()
    shown, (said, agent) = page.evaluate(ANSWERS), expected(page.scene)
    assert_same(shown["said"], said["said"], HEADS)
    assert_same(shown["beside"]["agent"], agent, HEADS)
    assert shown["remarks"] == said["remarks"]
    assert len(shown["character"]) == len(said["character"]) == len(page.scene["past"]) + 1
    for mine, python in zip(shown["character"], said["character"]):
        np.testing.assert_allclose(mine["mean"], python["mean"], rtol=TOLERANCE, atol=TOLERANCE)


def test_from_every_cell_too(page):
    page.panel("prediction")
    page.choose("field")
    page.answered()
    shown, (said, agent) = page.evaluate(ANSWERS), expected(page.scene, everywhere=True)
    assert "#" not in "".join(page.level)  # from within a wall, nobody is asked
    assert_same(shown["said"], said["said"], ["field"])
    assert_same(shown["beside"]["agent"], agent, ["field"])
    assert page.locator("#predicted .arrow").count() > 0
    page.panel("world")
    page.press("#step")  # what is said of every cell stays, and what is said of this one does not
    page.wait_for_function("() => tomnet.scene.get().steps.length > 0")
    page.answered()
    walked, (said, _) = page.evaluate(ANSWERS), expected(page.scene, everywhere=True)
    assert walked["said"]["field"] == shown["said"]["field"]
    assert_same(walked["said"], said["said"], HEADS)


def test_an_agent_acts_in_the_page_as_it_would_in_python(page):
    page.select_option("#scenes", "trapped")
    page.evaluate("() => tomnet.past.choose({ kind: 'planner', rewards: [0.2, 0.1, 0.6, 0.1], move_cost: 0.05 })")
    page.panel("past")
    page.press("#watch")
    page.wait_for_selector("#episodes li")
    page.panel("world")
    for step in range(3):
        page.press("#step")
        page.wait_for_function(f"() => tomnet.scene.get().steps.length > {step}")
    page.answered()
    scene = page.scene
    assert_same(page.evaluate(ANSWERS)["beside"]["agent"], expected(scene)[1], HEADS)
    planner = requests.PlannerChoice(**scene["agent"]).agent()
    for text in (scene["past"][0]["text"], "\n".join([scene["level"], "", *scene["steps"]])):
        recording = parse_text(text, "agent", "1")
        level = parse_level(text.partition("\n\n")[0], MAZE)
        plan = np.asarray(planner.start(reset_to_level(level), MAZE))
        assert (plan[recording.cells[:-1], recording.actions] > 0).all()


def test_random_agents_act_there_too(page):
    page.panel("past")
    page.select_option("#kind", "random")
    page.locator("#often-left").fill("0.2")
    page.answered()
    agent = page.scene["agent"]
    assert agent == {"kind": "random", "policy": [0.1, 0.1, 0.2, 0.1, 0.1]}
    python = beside.itself(requests.RandomChoice(**agent), page.scene["level"], False)
    assert_same(page.evaluate(ANSWERS)["beside"]["agent"], python, HEADS)
    page.press("#watch")
    page.wait_for_selector("#episodes li")
    assert len(parse_text(page.scene["past"][0]["text"], "agent", "1")) > 0


def test_levels_are_drawn_as_the_worlds_are(page):
    walls = []
    for seed in range(200):
        text = page.evaluate(f"async () => (await tomnet.source.level(false, {seed})).level")
        level = parse_level(text, MAZE)
        assert (np.asarray(level.object_cells) >= 0).all()
        walls.append(int(level.walls.sum()))
    assert min(walls) == 0
    assert 5 < np.mean(walls) < 20


def test_nothing_is_fetched_and_what_needs_a_server_says_so(page, folder):
    assert all(url.startswith(folder.as_uri()) for url in page.asked)
    assert "tomnet explore" in page.inner_text("#without-server")
    page.panel("past")
    deep = page.locator("#kind [value=deep]")
    assert deep.is_disabled()
    assert "needs" in deep.inner_text()
    assert page.is_disabled("#file")
    sally = page.locator("#scenes [value=out-of-view]")
    assert sally.is_disabled()
    assert "needs" in sally.inner_text()
    page.panel("prediction")
    assert page.locator("input[value=ideal]").is_disabled()
    others = page.locator("#observer option[disabled]").all_inner_texts()
    assert len(others) > 3
    assert all("needs" in other for other in others)


def test_an_address_that_needs_a_server_is_refused(page):
    before = page.scene
    deep = before | {"agent": {"kind": "deep", "condition": "5x5", "network": 0, "preferred": 0}, "observer": None}
    deep["level"] = before["level"].replace("...", "*..", 1)
    page.evaluate("(scene) => (location.hash = tomnet.address.write(scene))", deep)
    assert "needs tomnet explore" in page.sentence()
    assert page.scene == before


@on_every_screen
def test_sharing_works_from_disk(page):
    page.press("#share")
    with page.expect_download() as download:
        page.press("#save-png")
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    page.drag((5, 2), (5, 3))
    assert page.url.startswith("file:")
    other = Visit(page.context.browser, page.url)
    assert other.scene == page.scene
    other.end("exported, from an address")


def test_it_works_from_a_web_host_too(browser, folder):
    host = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder.parent))
    threading.Thread(target=host.serve_forever, daemon=True).start()
    try:
        page = Visit(browser, f"http://127.0.0.1:{host.server_address[1]}/{folder.name}/")
        assert page.said()["consumption"][1] > 0.9
        assert all("/page/" in url for url in page.asked)
        page.end("exported, from a host")
    finally:
        host.shutdown()
        host.server_close()


def test_nothing_is_promised_that_a_server_could_not_give():
    offered = {each["name"] for each in export.told()["catalogue"]["observers"]}
    assert export.NAME in offered
    assert offered <= set(zoo.names())


# --- The folder


def test_a_folder_of_something_else_stays_as_it_is(tmp_path, capsys):
    (tmp_path / "index.html").write_text("mine")
    for folder in (tmp_path, tmp_path / "index.html"):
        assert main(["explore", "--export", str(folder)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert (tmp_path / "index.html").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


def test_an_earlier_export_is_replaced_unless_something_was_added(folder, capsys):
    (folder / "page.css").write_text("old")
    assert main(["explore", "--export", str(folder)]) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"{folder}/index.html: ")
    assert said.count("\n") == 1
    assert " MB" in said
    assert (folder / "page.css").stat().st_size > 1000
    (folder / "notes.txt").write_text("mine")
    assert main(["explore", "--export", str(folder)]) == 2
    assert "holds something else" in capsys.readouterr().err
    (folder / "notes.txt").unlink()
