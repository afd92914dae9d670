"""The server of `tomnet explore`: what it answers, what it refuses, and what it never says."""

import asyncio
import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import numpy as np
import pytest

from tomnet.asking.agent_model import meet
from tomnet.explorer.turns import Superseded, Turns
from tomnet.recordings.text import parse_text

acting = pytest.importorskip("tomnet.explorer.acting", exc_type=ImportError)
requests = pytest.importorskip("tomnet.explorer.requests", exc_type=ImportError)
scenes = pytest.importorskip("tomnet.explorer.scenes", exc_type=ImportError)
httpx = pytest.importorskip("httpx", reason="httpx is not installed")
server = pytest.importorskip("tomnet.explorer.app", reason="the extra `explore` is missing", exc_type=ImportError)
guard = pytest.importorskip("tomnet.explorer.guard", exc_type=ImportError)

ME = "testclient"
PLANNER = {"kind": "planner", "rewards": [0.0, 0.0, 1.0, 0.0], "move_cost": 0.01}
DEEP = {"kind": "deep", "condition": "5x5", "network": 0, "preferred": 0}
LEVEL = "@...A......\n" + "...........\n" * 5 + "B..........\n" + "...........\n" * 3 + "......D...C"
WITH_STAR = LEVEL.replace("@...A", "@..*A")
PAST = LEVEL + "\n\n" + "down\n" * 10 + "right\n" * 5 + "up\n" + "right\n" * 4 + "right\ndown\n"
OBSERVER = "goal-inference/2d"
A_LEVEL = {"client": ME, "subgoal": False, "seed": 5}


@pytest.fixture(scope="module")
def page(address):
    with httpx.Client(base_url=address, timeout=300) as client:
        yield client


def question(**changes):
    return {"client": ME, "observer": OBSERVER, "past": [{"text": PAST}], "now": LEVEL} | changes


def test_an_answer_is_that_of_the_python_interface(page):
    answer = page.post("/api/ask", json=question()).json()
    said = meet(server.observers.observer(OBSERVER), [parse_text(PAST, "agent", "past")]).ask(LEVEL)
    assert answer["said"]["action"] == pytest.approx(said.action.array.tolist(), abs=1e-5)
    assert answer["said"]["consumption"] == pytest.approx(said.consumption.array.tolist(), abs=1e-5)
    assert answer["character"][-1]["mean"] == pytest.approx(said.character.mean.tolist(), abs=1e-5)
    assert len(answer["character"]) == 2
    assert answer["said"]["belief"] is None
    assert answer["said"]["field"] is None


def test_the_exact_observer_and_the_agent_stand_beside_it(page):
    asked = question(agent=PLANNER, everywhere=True)
    beside = page.post("/api/beside", json=asked).json()
    for who in ("ideal", "agent"):
        assert beside[who]["consumption"][2] > 0.9
        assert sum(beside[who]["action"]) == pytest.approx(1, abs=1e-3)
        assert len(beside[who]["field"]) == 121


def test_what_is_said_of_every_cell_is_kept_while_the_agent_walks(page, monkeypatch):
    first = page.post("/api/ask", json=question(everywhere=True)).json()["said"]
    computed, compute = [], server.observers._actions_everywhere
    monkeypatch.setattr(server.observers, "_actions_everywhere", lambda *asked: computed.append(1) or compute(*asked))
    walked = page.post("/api/ask", json=question(everywhere=True, now=f"{LEVEL}\n\ndown\n")).json()["said"]
    assert walked["field"] == first["field"]
    assert walked["action"] != first["action"]
    assert first["field"][0] == pytest.approx(first["action"], abs=1e-5)
    assert computed == []
    page.post("/api/ask", json=question(everywhere=True, now=LEVEL.replace("B", "#")))
    assert computed == [1]


def test_a_random_agent_stands_beside_its_exact_observer(page):
    random = {"kind": "random", "policy": [0.0, 0.5, 0.0, 0.5, 0.0]}
    past = [{"text": f"{LEVEL}\n\n{step}"} for step in ("down", "right")]
    asked = question(observer="random-agents/alpha-1", past=past)
    beside = page.post("/api/beside", json=asked | {"agent": random, "everywhere": True}).json()
    assert beside["ideal"]["action"] == pytest.approx([1 / 7, 2 / 7, 1 / 7, 2 / 7, 1 / 7], abs=1e-5)
    assert beside["agent"]["field"] == [random["policy"]] * 121
    said = page.post("/api/ask", json=asked).json()["said"]
    assert said["action"] == pytest.approx(beside["ideal"]["action"], abs=0.1)


def test_what_is_unlike_the_training_is_said_every_time(page):
    for _ in range(2):
        (remark,) = page.post("/api/ask", json=question(past=[])).json()["remarks"]
        assert "N_past is 0" in remark


def test_a_planner_acts_step_by_step_and_for_an_episode(page):
    steps = page.post("/api/act", json={"client": ME, "agent": PLANNER, "now": LEVEL, "steps": 2, "seed": 1}).json()
    assert len(steps["steps"]) == 2
    text = page.post("/api/watch", json={"client": ME, "agent": PLANNER, "seed": 1, "level": LEVEL}).json()["text"]
    assert parse_text(text, "agent", "1").took == ("C",)


def test_a_deep_agent_acts_and_says_what_it_believes(page):
    asked = {"client": ME, "agent": DEEP, "now": WITH_STAR}
    steps = page.post("/api/act", json=asked | {"steps": 3, "seed": 1}).json()["steps"]
    assert len(steps) == 3
    now = WITH_STAR + "\n\n" + "\n".join(steps)
    mind = page.post("/api/beside", json={"client": ME, "observer": None, "past": [], "now": now, "agent": DEEP}).json()
    assert mind["ideal"] is None
    assert [len(kind) for kind in mind["agent"]["belief"]] == [122] * 5


def test_a_level_is_drawn_from_its_seed(page):
    first, again = (page.post("/api/level", json=A_LEVEL | {"subgoal": True}).json() for _ in range(2))
    assert first == again
    assert "*" in first["level"]


def test_pages_that_want_the_same_level_are_all_given_it(page, monkeypatch):
    door, arrived, take = threading.Event(), [], Turns.take

    async def noted(turns, *asked):
        arrived.append(asked)
        return await take(turns, *asked)

    monkeypatch.setattr(Turns, "take", noted)
    monkeypatch.setattr(server.acting, "random_level", lambda *_: door.wait(300) and LEVEL)
    with ThreadPoolExecutor(3) as pages:
        asked = [pages.submit(page.post, "/api/level", json=A_LEVEL | {"client": f"somebody{n}"}) for n in range(3)]
        while len(arrived) < 3 and not any(each.done() for each in asked):
            time.sleep(0.01)
        door.set()  # two of them wait behind the first
    assert len(arrived) == 3
    assert [each.result().json() for each in asked] == [{"level": LEVEL}] * 3


def test_a_file_is_laid_out_state_by_state(page):
    read = page.post("/api/read", json={"text": "heading: right\nactions: forward\n\n@..\n..K\n\nforward\n"}).json()
    assert read["world"] is None
    assert read["frames"]["cells"] == [0, 1]
    assert page.post("/api/read", json={"text": PAST}).json()["world"] == "maze"


def test_the_catalogue_says_who_is_missing(page):
    offered = page.get("/api/catalogue").json()
    here = {each["name"]: each["here"] for each in offered["observers"]}
    assert here[OBSERVER]
    assert {each["name"] for each in offered["conditions"]} >= {"blind", "5x5"}
    assert len(offered["conditions"][0]["networks"]) == 20


def test_every_ready_scene_can_be_asked_about(page):
    for scene in page.get("/api/catalogue").json()["scenes"]:
        past = [{"text": text} for text in scene["past"]]
        asked = {"client": ME, "observer": scene.get("observer"), "past": past, "now": scene["level"]}
        assert page.post("/api/beside", json=asked | {"agent": scene["agent"]}).status_code == 200, scene["name"]
        if scene.get("observer"):
            assert page.post("/api/ask", json=asked).status_code == 200, scene["name"]


def test_the_wall_follower_goes_round():
    """Retrained agents may have other habits: then the scene needs another text, or another level."""
    (scene,) = [each for each in scenes.scenes() if each["name"] == "walls"]
    agent = requests.DeepChoice(**scene["agent"])
    for seed in range(4):
        steps = acting.act(agent, scene["level"], requests.MOST_STEPS, seed)
        walked = parse_text(f"{scene['level']}\n\n" + "\n".join(steps), "agent", "now")
        rows, cols = np.divmod(walked.cells, 11)
        assert {rows.min() <= 2, rows.max() >= 8, cols.min() <= 2, cols.max() >= 8} == {True}


@pytest.mark.parametrize("name", ["deep-rl-agents/none", "deep-rl-agents/mental", "explicit-beliefs/control"])
def test_to_an_observer_that_reads_no_past_it_makes_no_difference(page, name):
    known, stranger = (
        page.post("/api/ask", json=question(observer=name, now=WITH_STAR, past=past)).json()
        for past in ([{"text": f"{WITH_STAR}\n\nright\nright\n"}] * 4, [])
    )
    assert known["said"] == stranger["said"]
    assert known["remarks"] == stranger["remarks"] == []


# --- What is refused, in a sentence that does not say what was sent

SECRET = "hunter2"
BAD = {
    "no level": question(now=SECRET),
    "two agents": question(now=LEVEL.replace("A", "@")),
    "an unknown action": question(past=[{"text": LEVEL + f"\n\n{SECRET}"}]),
    "another size": question(now="@.A\n.B."),
    "an unknown object": question(now=LEVEL.replace("A", "K")),
    "an unknown observer": question(observer=f"{SECRET}/x"),
    "a path": question(observer="../../etc/passwd"),
    "a field too many": question(**{SECRET: 1}),
    "a field of another type": question(past=SECRET),
    "too much past": question(past=[{"text": PAST}] * 11),
    "too long": question(now="." * 20_001),
    "an episode that is over": question(now=PAST),
    "nobody": question(client=SECRET.upper()),
}


@pytest.mark.parametrize("why", BAD)
def test_a_mistake_is_answered_in_a_sentence(page, why):
    answer = page.post("/api/ask", json=BAD[why])
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}
    assert answer.json()["error"].endswith(".")
    assert SECRET not in answer.text.lower()


@pytest.mark.parametrize("step", ["jump", SECRET])
def test_not_even_the_names_of_its_actions_are_said(page, step):
    answer = page.post("/api/read", json={"text": f"actions: {SECRET} up\n\n@.A\n\n{step}"})
    assert answer.status_code == 422
    assert answer.json() == {"error": "Line 5, action: expected one that the text tells of."}


def test_nor_the_kind_of_an_agent_that_there_is_not(page):
    answer = page.post("/api/beside", json=question(agent={"kind": SECRET}))
    assert answer.json() == {"error": "agent: no such kind of agent."}


@pytest.mark.parametrize("body", ["", "{", "[" * 100_000, "1" * 5_000, '"\\ud800"', "NaN", '{"seed": 1e999}', "null"])
def test_what_is_no_question_is_refused(page, body):
    answer = page.post("/api/level", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert set(answer.json()) == {"error"}


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999", "-1", "2", '"1"', "true", "null"])
def test_rewards_are_numbers_between_0_and_1(page, number):
    body = json.dumps({"client": ME, "agent": PLANNER, "now": LEVEL, "steps": 1, "seed": 1}).replace("1.0", number)
    answer = page.post("/api/act", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422


def test_a_lone_surrogate_is_no_letter(page):
    body = json.dumps({"text": "@.\ud800"})
    assert page.post("/api/read", content=body, headers={"content-type": "application/json"}).status_code == 422


def test_a_large_body_is_refused_announced_or_not(page):
    large = b"x" * (guard.LARGEST_BODY + 1)
    for content in (large, iter([large])):  # an iterator is sent in chunks, without a length
        answer = page.post("/api/ask", content=content, headers={"content-type": "application/json"})
        assert answer.status_code == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example:8765"}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"content-type": "text/plain"}, 415),
        ({"host": "localhost:8765"}, 200),
        ({"origin": "http://127.0.0.1:8765"}, 403),
        ({"host": "localhost:8765", "origin": "http://localhost:8765"}, 200),
    ],
)
def test_who_may_ask(page, headers, status):
    sent = {"content-type": "application/json"} | headers
    answer = page.post("/api/level", content=json.dumps(A_LEVEL), headers=sent)
    assert answer.status_code == status


def test_a_browser_may_do_nothing_with_it_but_show_it(page):
    for path in ("/", "/api/catalogue", "/nothing"):
        policy = page.get(path).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy


def test_files_are_looked_up_by_name(page):
    for path in ("/../app.py", "/%2e%2e%2fapp.py", "/index.html%00", "/api", "/page/index.html"):
        assert page.get(path).status_code == 404


def test_the_page_is_light():
    assert sum(path.stat().st_size for path in server.PAGE.iterdir()) <= 300_000


def test_nobody_elses_question_waits_for_ever(monkeypatch):
    monkeypatch.setattr(guard, "PATIENCE", 0.05)
    sent = []

    async def send(message):
        sent.append(message)

    async def never():
        await asyncio.sleep(60)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/level", "headers": headers}
    asyncio.run(guard.Guard(server.make_app())(scope, never, send))
    assert sent[0]["status"] == 408


# --- Turns


def test_the_newest_question_wins():
    async def ask_four_times():
        turns, begun, door = Turns(), threading.Event(), threading.Event()

        def compute() -> str:
            begun.set()
            door.wait()
            return "first"

        first = asyncio.create_task(turns.take("me", "ask", compute))
        await asyncio.to_thread(begun.wait)  # it is being computed, and will be answered
        old, other, new = (
            asyncio.create_task(turns.take(who, "ask", lambda answer=answer: answer))
            for who, answer in (("me", "old"), ("somebody", "other"), ("me", "new"))
        )
        await asyncio.sleep(0)  # all of them wait for their turn
        door.set()
        return await asyncio.gather(first, old, other, new, return_exceptions=True)

    first, old, other, new = asyncio.run(ask_four_times())
    assert (first, other, new) == ("first", "other", "new")
    assert isinstance(old, Superseded)


def test_being_superseded_is_an_answer(page, monkeypatch):
    def superseded(*_):
        raise Superseded

    monkeypatch.setattr(server.observers, "ask", superseded)
    answer = page.post("/api/ask", json=question())
    assert answer.status_code == 409
    assert answer.json()["superseded"] is True


def test_jax_is_used_from_one_thread_only():
    """What follows an observer step by step is kept without a lock."""
    turns = Turns()

    async def where():
        return {await turns.take(str(number), "ask", threading.get_ident) for number in range(5)}

    assert len(asyncio.run(where())) == 1
    assert jax.devices()
