"""World and past on the real page, on a desk and on a phone."""

import pytest
from explorer.browsing import ANSWERS, COMPILING, on_every_screen

ROW = 5  # of the level, in which walls are drawn


# --- World


@on_every_screen
def test_walls_are_drawn_dragged_and_undone(page):
    before = page.level
    page.drag((ROW, 2), (ROW, 3), (ROW, 4))
    page.drag((ROW, 6), (ROW, 7))
    assert page.level[ROW][2:8] == "###.##"
    page.answered()
    page.press("#undo")  # of one drag, all at once
    assert page.level[ROW][2:8] == "###..."
    page.press("#undo")
    assert page.level == before
    page.press("#redo")
    assert "".join(page.level).count("#") == 3
    page.keyboard.press("Control+z")
    assert page.level == before
    page.keyboard.press("Control+y")
    page.drag((ROW, 3), (ROW, 4))  # from a wall on, a drag erases
    assert page.level[ROW][2:5] == "#.."


def test_a_scene_that_is_undone_takes_its_title_with_it(page):
    before = page.inner_text("#about")
    page.select_option("#scenes", "trapped")
    assert "only object in reach" in page.inner_text("#about")
    page.answered()
    page.press("#undo")
    assert page.inner_text("#about") == before
    assert page.input_value("#scenes") == page.scene["name"] == "favourite"
    page.answered()


@on_every_screen
def test_things_are_dragged(page):
    page.drag((1, 6), (2, 6), (3, 7))  # A
    assert page.level[3][7] == "A"


def test_everything_is_drawn_from_the_keyboard(page):
    page.focus("#level")
    page.keyboard.press("ArrowRight")  # the cursor begins in the middle
    page.keyboard.press(" ")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("c")
    assert (page.level[5][6], page.level[6][6]) == ("#", "C")
    assert "object C" in page.inner_text("#cursor")
    page.keyboard.press("Delete")
    assert "C" not in "".join(page.level)


@on_every_screen
def test_an_episode_is_walked_by_hand_and_kept(page):
    page.select_option("#scenes", "far")
    page.choose("walk")
    page.drag((2, 3), (1, 3), (1, 2))  # from beside the agent, step by step
    assert "B was taken" in page.inner_text("#episode-state")
    assert page.is_disabled("#step")
    page.press("#restart")
    page.focus("#level")
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    page.press("#keep")
    assert page.scene["past"][-1]["text"].endswith("up\nup\nleft\ntook B\n")
    page.answered()
    page.panel("past")
    assert page.locator("#episodes li").count() == 2


def test_a_level_that_is_none_is_refused_and_the_old_one_stays(page):
    before = page.scene["level"]
    page.press("#as-text")
    page.fill("#text", "this is\nno level")
    page.press("#text-use")
    assert "11 rows" in page.inner_text("#text-wrong")
    page.fill("#text", before.replace("@", "."))
    page.press("#text-use")
    assert "no agent" in page.inner_text("#text-wrong")
    assert page.scene["level"] == before
    page.fill("#text", before.replace("A", "#"))
    page.press("#text-use")
    assert page.scene["level"] == before.replace("A", "#")
    page.answered()


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ("jump", "up, down, left, right or stay"),
        ("constructor", "up, down, left, right or stay"),
        ("up 99 99", "from 0 to 10"),
        ("up 1", "from 0 to 10"),
        ("up\nmoved A", "from 0 to 10"),
        ("up\nmoved A x y", "from 0 to 10"),
        ("up\nmoved Z 1 1", "was there before"),
        ("up\ngone C\nup\ngone C", "was there before"),
        ("up\ntook B", "beside it"),
    ],
)
def test_steps_that_cannot_be_played_are_refused_too(same_page, steps, why):
    before = same_page.scene
    same_page.press("#as-text")
    assert same_page.inner_text("#text-wrong") == ""
    same_page.fill("#text", f"{before['level']}\n\n{steps}")
    same_page.press("#text-use")
    assert why in same_page.inner_text("#text-wrong")
    assert same_page.scene == before
    same_page.press("#text-close")


def test_a_level_is_drawn_at_random(page):
    before = page.level
    page.press("#random-level")
    page.wait_for_function("(before) => tomnet.scene.get().level !== before", arg="\n".join(before))
    assert sorted(set("".join(page.level)) - {"#"}) == sorted(".@ABCD")
    assert (page.input_value("#scenes"), page.inner_text("#about")) == (
        "",
        "",
    )  # it is none of the ready scenes any more


def test_an_agent_without_a_way_out_is_said_to_be_so(page):
    walled = "@#.........\n#.........A\n" + "...........\n" * 6 + "B..........\n..C........\n....D......"
    page.press("#as-text")
    page.fill("#text", walled)
    page.press("#text-use")
    assert "walled in" in page.inner_text("#episode-state")
    page.answered()
    assert page.is_hidden("#say")


# --- Past


@on_every_screen
def test_an_agent_plays_until_its_episode_is_over(page):
    page.press("#play")
    page.wait_for_function("() => tomnet.scene.get().steps.length > 0")
    page.wait_for_selector("#play[aria-pressed=false]")
    assert "B was taken" in page.inner_text("#episode-state")
    page.answered()
    page.panel("prediction")
    assert page.inner_text("#reading") == "Nothing comes next."
    assert page.locator("#bars svg").count() == 0  # nobody says anything: no empty charts
    page.panel("world")
    page.press("#step-back")
    assert "steps so far" in page.inner_text("#episode-state")


def test_another_scene_does_not_begin_by_itself(page):
    page.press("#play")
    page.wait_for_function("() => tomnet.scene.get().steps.length > 0")
    page.select_option("#scenes", "trapped")
    page.wait_for_selector("#play[aria-pressed=false]")
    page.answered()
    assert page.scene["steps"] == []


def test_play_ends_with_the_server(page):
    page.route("**/api/act", lambda route: route.abort())
    page.press("#play")
    assert "does not answer" in page.sentence()
    assert page.get_attribute("#play", "aria-pressed") == "false"


@on_every_screen
def test_a_click_shows_another_step_of_an_episode(page):
    page.select_option("#scenes", "glimpses")
    before = page.scene["past"][0]["time"]
    page.panel("past")
    page.press("#episodes li:first-child .see")
    assert page.scene["past"][0]["time"] == before + 1
    page.press("#forget")
    assert page.scene["past"] == []
    page.answered()


def test_sliders_make_another_agent(page):
    page.panel("past")
    page.locator("#want-A").fill("1")
    page.locator("#want-B").fill("0")
    page.locator("#move-cost").fill("0.3")
    assert page.scene["agent"] == {"kind": "planner", "rewards": [1, 0, 0, 0], "move_cost": 0.3}
    page.answered()
    assert page.evaluate(ANSWERS)["agent"]["consumption"][0] == pytest.approx(1, abs=1e-3)
    page.focus("#move-cost")
    page.keyboard.press("Control+z")
    assert page.scene["agent"] == {"kind": "planner", "rewards": [1, 0, 0, 0], "move_cost": 0.01}


@on_every_screen
def test_a_slider_that_is_dragged_is_put_back_at_once(page):
    page.panel("past")
    before = page.scene["agent"]
    page.evaluate(
        """() => {
            const slider = document.getElementById("want-A");
            for (const value of [0.1, 0.2, 0.3]) (slider.value = value), slider.dispatchEvent(new Event("input"));
            slider.dispatchEvent(new Event("change"));
        }"""
    )
    assert page.scene["agent"]["rewards"][0] == 0.3
    page.press("#undo")
    assert page.scene["agent"] == before


def test_a_deep_rl_agent_is_chosen_and_acts_step_by_step_and_at_speed(page):
    page.panel("past")
    page.select_option("#kind", "deep")
    page.select_option("#condition", "9x9")
    page.select_option("#network", "3")
    page.select_option("#preferred", "2")
    page.answered()
    assert page.scene["agent"] == {"kind": "deep", "condition": "9x9", "network": 3, "preferred": 2}
    assert "*" in "".join(page.level)
    page.press("#watch")
    page.wait_for_selector("#episodes li")
    page.panel("world")
    page.press("#step")
    page.wait_for_selector("#step-back:not([disabled])")
    page.press("#play")
    page.wait_for_function("() => tomnet.scene.get().steps.length > 2")
    page.evaluate(PAUSE)
    page.press("#restart")  # by now the episode may be over, and nothing is said of what comes after
    page.answered()
    assert len(page.evaluate(ANSWERS)["agent"]["belief"]) == 5


PAUSE = """() => {
    const play = document.getElementById("play");
    if (play.getAttribute("aria-pressed") === "true") play.click();
}"""


def test_an_agent_is_shown_to_an_observer_that_met_its_like(page):
    page.select_option("#scenes", "walls")
    page.answered()
    assert page.scene["observer"] == "deep-rl-agents/both"
    page.panel("prediction")
    assert page.inner_text("#remarks").endswith("training: 0 past episodes, at least 4 there.")
    page.select_option("#observer", "explicit-beliefs/mixed")  # which never met an agent without a memory
    page.answered()
    assert "it never met an agent like this" in page.inner_text("#remarks")


@pytest.mark.parametrize("observer", ["deep-rl-agents/none", "deep-rl-agents/mental"])
def test_of_an_observer_that_reads_no_past_no_map_is_drawn(page, observer):
    page.select_option("#scenes", "walls")
    page.panel("past")
    page.press("#watch")
    page.wait_for_selector("#episodes li")
    page.panel("prediction")
    page.select_option("#observer", observer)
    page.answered()
    assert page.inner_text("#remarks") == ""
    assert "PAST = []" in page.evaluate("() => tomnet.python()")
    page.panel("past")
    assert page.is_hidden("#map")
    assert "reads no past episodes" in page.inner_text("#map-caption")


def test_a_random_agent_rolls_its_die(page):
    page.panel("past")
    page.select_option("#kind", "random")
    for action, often in {"up": "0", "down": "0.5", "left": "0", "right": "0.5", "stay": "0"}.items():
        page.locator(f"#often-{action}").fill(often)
    assert page.scene["observer"] == "random-agents/mixture"
    for seen in (1, 2):
        page.press("#watch")
        page.wait_for_selector(f"#episodes li:nth-child({seen})")
    page.answered()
    shown = page.evaluate(ANSWERS)
    assert shown["agent"]["action"] == pytest.approx([0, 0.5, 0, 0.5, 0], abs=1e-5)
    assert 0 < sum(shown["agent"]["consumption"]) <= 1
    assert shown["ideal"]["action"] == pytest.approx(shown["said"]["action"], abs=0.1)
    page.wait_for_selector("#map text", timeout=COMPILING)
    assert "never met" not in page.text_content("#remarks")
    page.panel("prediction")
    page.select_option("#observer", "goal-inference/2d")  # one that was made for others is asked all the same
    page.answered()
    assert "made for goal-driven agents" in page.inner_text("#remarks")


def test_a_posterior_is_drawn_with_its_standard_deviation(page):
    """Observers with a bottleneck have one."""

    def sure(route):
        answer = route.fetch(timeout=COMPILING)
        told = answer.json()
        for each, deviation in zip(told["character"], ([2.0, 2.0], [0.5, 0.25])):
            each["deviation"] = deviation
        route.fulfill(response=answer, json=told)

    page.panel("past")
    page.wait_for_selector("#map circle", timeout=COMPILING)
    assert "does not say how sure" in page.inner_text("#map-caption")
    page.route("**/api/ask", sure)
    page.select_option("#scenes", "favourite")
    page.wait_for_selector("#map .spread")
    across, down = (float(page.get_attribute("#map .spread", radius)) for radius in ("rx", "ry"))
    width, height = page.evaluate(EXTENT)
    assert (across / width) / (down / height) == pytest.approx(2, rel=0.05)  # in the units of the embedding
    assert "one standard deviation" in page.inner_text("#map-caption")


def test_a_map_that_did_not_come_is_asked_for_again(page):
    sent = []

    def later(route):
        sent.append(route.request.post_data_json["observer"])
        if len(sent) > 1:
            route.continue_()
        else:
            route.fulfill(status=409, json={"error": "A newer question came first.", "superseded": True})

    page.route("**/api/known-agents", later)
    page.select_option("#scenes", "random")
    page.answered()
    page.panel("past")
    page.locator("#often-up").fill("0.5")
    page.wait_for_selector("#map text", timeout=COMPILING)
    assert sent == ["random-agents/mixture"] * 2


EXTENT = """() => {  // of a unit of the embedding, on the map
    const { points } = tomnet.answers.get().known["goal-inference/2d"];
    const here = [...document.querySelectorAll("#map .dot")];
    return ["cx", "cy"].map((name, axis) => {
        const shown = here.map((dot) => Number(dot.getAttribute(name))), known = points.map((point) => point[axis]);
        const length = (numbers) => Math.max(...numbers) - Math.min(...numbers);
        return length(shown) / length(known);
    });
}"""


@on_every_screen
def test_a_file_of_ones_own(page, tmp_path):
    page.panel("past")
    (tmp_path / "bad.txt").write_text("@..\n\njump\n")
    page.set_input_files("#file", tmp_path / "bad.txt")
    assert "Line 3" in page.sentence()
    (tmp_path / "empty.txt").write_text("")
    page.set_input_files("#file", tmp_path / "empty.txt")
    page.wait_for_function("() => document.getElementById('say').textContent === 'That file is empty.'")
    (tmp_path / "own.txt").write_text(page.scene["past"][0]["text"])
    page.set_input_files("#file", tmp_path / "own.txt")
    page.wait_for_selector("#file-dialog[open]")
    page.locator("#file-time").fill("2")
    assert page.inner_text("#file-said") == "2: down"
    page.press("#file-use")
    page.answered()
    assert len(page.scene["past"]) == 1  # as many as this observer reads
