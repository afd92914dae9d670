"""`tomnet watch`: what it prints, writes and refuses."""

import json
from pathlib import Path

import pytest
from fit.brief import BRIEF
from fit.small import two_kinds, walk

import tomnet.watch.run as watch_run
from tomnet.fit.run import fit
from tomnet.recordings.folder import write_recordings

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit") / "run"
    fit(two_kinds(10, 6), folder, training=BRIEF)
    return folder


@pytest.fixture
def episodes(here):
    """Five agents of six episodes; the last changes its mind at the end."""
    turned = [each.of("turncoat", each.episode) for each in two_kinds(1, 5)] + [walk("turncoat", 63, "B")]
    write_recordings([*two_kinds(4, 6), *turned], here / "episodes", "jsonl")
    return here / "episodes"


def test_watch_says_who_watched_who_resembles_whom_and_what_was_surprising(tomnet, episodes, fitted):
    code, out, err = tomnet("watch", episodes, "--model", fitted)
    assert code == 0
    assert out.startswith(f"The observer {fitted} watched 30 episodes of 5 agents")
    assert "cluster" in out.lower()
    assert {"agent-0", "agent-3", "turncoat"} <= {line.split()[0] for line in out.splitlines() if line.strip()}
    assert err.startswith("watch: compiling")


def test_watch_writes_a_page_with_its_figures_and_everything_as_json(tomnet, episodes, fitted, here):
    code, out, err = tomnet("watch", episodes, "--model", fitted, "--out", "page", "--json")
    found = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    assert code == 0
    assert err.endswith("page/index.html\n")
    assert found == json.loads(Path("page/watched.json").read_text())
    assert [len(agent["episodes"]) for agent in found["agents"]] == [6] * 5
    step = found["agents"][0]["episodes"][5]["steps"][0]
    assert sum(step["action"].values()) == pytest.approx(1, abs=1e-4)
    assert {path.name for path in (here / "page").iterdir()} == {"index.html", "watched.json", "figures"}
    assert (here / "page" / "figures" / "surprise.png").exists()


def test_what_cannot_be_watched_is_refused_in_one_line(refusal, episodes, fitted, here):
    assert "nowhere: no such file or folder" in refusal("watch", "nowhere")
    (here / "empty").mkdir()
    assert "empty: no episodes are in there" in refusal("watch", "empty", "--model", fitted)
    (here / "bad").mkdir()
    (here / "bad" / "1.txt").write_text("@.A\n\njump\n")
    assert "1.txt, line 3: action: expected one of up" in refusal("watch", "bad", "--model", fitted)
    (here / "zoo").mkdir()
    assert "unknown observer 'goal-inference/2d'" in refusal("watch", episodes, "--model", "goal-inference/2d")
    assert "empty: holds no fitted observer" in refusal("watch", episodes, "--model", "empty")
    assert "`tomnet fit PATH --out DIR` makes an observer of them" in refusal("watch", episodes)
    write_recordings([walk("ann", 1, "A", "A.@C.B")], here / "other", "text")
    assert "ann/001: object 'C': this observer knows A, B" in refusal("watch", "other", "--model", fitted)


def test_where_the_page_cannot_be_written_is_found_out_before_the_work(refusal, episodes, fitted, here, monkeypatch):
    (here / "file").write_text("")
    monkeypatch.setattr(watch_run, "watch", lambda *args: pytest.fail("watched"))
    assert "is not a folder" in refusal("watch", episodes, "--model", fitted, "--out", here / "file" / "page")


def test_what_is_interrupted_leaves_an_earlier_page_as_it_was(tomnet, episodes, fitted, here, monkeypatch):
    def interrupted(*args):
        raise KeyboardInterrupt

    (here / "page").mkdir()
    for name in ("index.html", "watched.json"):
        (here / "page" / name).write_text("earlier")
    monkeypatch.setattr(watch_run, "watch_with", interrupted)
    code, out, err = tomnet("watch", episodes, "--model", fitted, "--out", "page")
    assert (code, out, err) == (130, "", "tomnet: interrupted\n")
    assert [path.read_text() for path in (here / "page").iterdir()] == ["earlier"] * 2


def test_a_page_replaces_an_earlier_one_and_touches_no_other_folder(tomnet, refusal, episodes, fitted, here):
    (here / "notes").mkdir()
    (here / "notes" / "index.html").write_text("mine")
    why = "notes: holds other files, and no watched.json from an earlier time; --out names another folder\n"
    assert refusal("watch", episodes, "--model", fitted, "--out", "notes") == f"tomnet: {why}"
    assert [path.read_text() for path in (here / "notes").iterdir()] == ["mine"]
    assert [tomnet("watch", episodes, "--model", fitted, "--out", "page")[0] for _ in range(2)] == [0, 0]
