"""`tomnet episodes` and `tomnet record`: what they print, write and refuse."""

import io
import json
import math
import os
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from recordings.made_up import SIMPLE_TEXT, simple

import tomnet as package
from tomnet.recordings.folder import read_recordings, write_recordings
from tomnet.recordings.terminal import keys
from tomnet.recordings.text import parse_transcript

pytestmark = pytest.mark.usefixtures("here")

ROOT = Path(package.__file__).parents[1]


@pytest.fixture
def episodes(here):
    write_recordings([simple(), simple(episode="2"), simple("bob")], here / "all", "text")
    return here / "all"


# --- check


def test_check_says_what_is_there(tomnet, episodes):
    code, out, err = tomnet("episodes", "check", episodes)
    assert (code, err) == (0, "")
    told = {" ".join(line.split()) for line in out.splitlines()}
    assert {"agents 2", "episodes 3", "sizes 2×3 (3)", "taken A (3)", "actions right (6)"} <= told
    assert "steps 2 to 2, median 2" in told


def test_check_names_file_line_and_reason_and_goes_on(tomnet, episodes):
    (episodes / "ann" / "2.txt").write_text("@.A\n\njump\n")
    (episodes / "bob" / "3.txt").write_text("nothing")
    code, out, _ = tomnet("episodes", "check", episodes)
    assert code == 1
    assert "2.txt, line 3: action: expected one of up, down, left, right, stay, found 'jump'" in out
    assert "3.txt, line 1: level: expected one @, where the agent starts, found 0" in out
    assert "episodes 2" in " ".join(out.split())


def test_what_files_are_called_is_printed_as_it_stands_but_for_what_a_terminal_would_obey(tomnet, here):
    folder = here / "[bold]all[" / "b]:smile:"  # markup, to whom looks for it
    write_recordings([simple()], folder, "text")
    (folder / "\x1b[31mred.txt").write_text("@.A\n\njump\n")
    (folder / "two\nlines.csv").write_text("")
    code, out, _ = tomnet("episodes", "check", folder)
    assert code == 1
    assert "[bold]all[/b]:smile:" in out
    assert "\\x1b[31mred.txt, line 3: action: expected one of" in out
    assert "two\\nlines.csv" in out
    assert "\x1b" not in out


def test_files_that_could_run_code_are_said_to_be_so(tomnet, here):
    (here / "all.pkl").write_bytes(b"")
    assert "such files can run code, and tomnet never opens them" in tomnet("episodes", "check", "all.pkl")[1]


def test_check_json_is_nothing_but_json(tomnet, episodes):
    (episodes / "ann" / "2.txt").write_text("@.A\n\njump\n")
    code, out, _ = tomnet("episodes", "check", episodes, "--json")
    found = json.loads(out)
    assert code == 1
    assert found["agents"] == {"ann": 1, "bob": 1}
    assert found["lengths"] == {"shortest": 2, "median": 2, "longest": 2}
    (broken,) = found["broken"]
    assert (Path(broken["file"]).name, broken["line"]) == ("2.txt", 3)


def test_a_folder_without_episodes_is_no_success(tomnet, here):
    (here / "notes.md").write_text("")
    code, out, _ = tomnet("episodes", "check", here)
    assert code == 1
    assert "no episodes are in there" in out
    assert "not opened, as no format of ours" in out


def test_what_is_not_there_is_one_line(refusal):
    assert "nowhere: no such file or folder" in refusal("episodes", "check", "nowhere")


def test_checking_does_not_wait_for_jax(episodes):
    code = f"import sys; from tomnet.cli.main import main; main(['episodes', 'check', {str(episodes)!r}])"
    command = [sys.executable, "-c", code + "; sys.exit('jax' in sys.modules)"]
    assert subprocess.run(command, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True).returncode == 0


# --- convert


@pytest.mark.parametrize(
    ("to", "out", "files"),
    [("text", "text", "3 files"), ("jsonl", "a.jsonl", "1 file"), ("safetensors", "shards", "1 file")],
)
def test_convert_writes_the_same_episodes(to, out, files, tomnet, episodes, here):
    code, said, _ = tomnet("episodes", "convert", episodes, "--out", out, "--to", to)
    assert code == 0
    assert said == f"{out}: 3 episodes of 2 agents in {files}\n"
    assert read_recordings(here / out) == read_recordings(episodes)


def test_convert_json(tomnet, episodes, here):
    _, out, _ = tomnet("episodes", "convert", episodes, "--out", "copy", "--to", "jsonl", "--json")
    assert json.loads(out) == {"episodes": 3, "agents": 2, "files": 1, "out": "copy"}


def test_convert_writes_nothing_where_something_is_broken(tomnet, episodes, here):
    (episodes / "ann" / "2.txt").write_text("@.A\n\njump\n")
    code, out, err = tomnet("episodes", "convert", episodes, "--out", "copy", "--to", "jsonl")
    assert code == 2
    assert "2.txt, line 3: action" in out
    assert "nothing was written" in err
    _, out, _ = tomnet("episodes", "convert", episodes, "--out", "copy", "--to", "jsonl", "--json")
    assert [broken["line"] for broken in json.loads(out)["broken"]] == [3]
    assert sorted(path.name for path in here.iterdir()) == ["all"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("all", "--out", "copy", "--to", "pickle"), "unknown format 'pickle'"),
        (("all", "--out", "all", "--to", "jsonl"), "all: is there already"),
        (("nowhere", "--out", "copy", "--to", "text"), "nowhere: no such file or folder"),
        (("all", "--out", "copy.txt", "--to", "jsonl"), "jsonl has files that end in .jsonl"),
        (("all", "--to", "jsonl"), "--out"),
    ],
)
def test_convert_refuses_in_one_line(arguments, why, refusal, episodes, here):
    assert why in refusal("episodes", "convert", *arguments)
    assert sorted(path.name for path in here.iterdir()) == ["all"]


@pytest.mark.parametrize("arguments", [(), ("chek",)])
def test_the_group_knows_its_commands(arguments, refusal):
    assert "check" in refusal("episodes", *arguments)


# --- record


@pytest.fixture
def play(tomnet, here, monkeypatch):
    """`tomnet record` with what is typed coming from a pipe."""
    (here / "level.txt").write_text("@.A\n.#B\n")

    def run(typed: str, *arguments):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        return tomnet("record", "level.txt", "--out", "out", *arguments)

    return run


def test_an_episode_played_from_a_pipe(play, here):
    code, out, _ = play("right\nright\n")
    assert (code, out) == (0, "out/player/0001.txt\n")
    assert (here / "out" / "player" / "0001.txt").read_text() == SIMPLE_TEXT


def test_every_episode_has_a_file_of_its_own(play, here):
    play("right\nright\n")
    code, out, _ = play("d\nd\n\nleft\nd\nd\n", "--episodes", 2)
    assert code == 0
    assert out == "out/player/0002.txt\nout/player/0003.txt\n"
    first, second, third = read_recordings(here / "out")
    assert first.cells.tolist() == second.cells.tolist()
    assert third.actions.tolist() == [2, 3, 3]


def test_an_episode_may_end_without_taking_anything(play, here):
    assert play("right\nquit\nright\n", "--agent", "ann")[0] == 0
    (recording,) = read_recordings(here / "out")
    assert (recording.agent, len(recording), recording.took) == ("ann", 1, ())


def test_a_subgoal_is_taken_on_the_way(play, here):
    (here / "level.txt").write_text("@*A")
    play("right\nright")
    assert read_recordings(here / "out")[0].took == ("*", "A")


def test_who_faces_somewhere_turns(play, here):
    (here / "level.txt").write_text("actions: turn-left turn-right forward\nheading: up\n\n@.A")
    play("right\nw\nup\n")  # keys and arrows turn and go ahead
    (recording,) = read_recordings(here / "out")
    assert [recording.action_names[action] for action in recording.actions] == ["turn-right", "forward", "forward"]
    assert recording.took == ("A",)


def test_no_action_is_no_episode(play, here):
    code, out, err = play("")
    assert (code, out, err) == (1, "", "tomnet: nothing recorded: no action came\n")
    assert not (here / "out").exists()
    code, out, err = play("right\nright\n", "--episodes", 2)
    assert (code, out, err) == (0, "out/player/0001.txt\n", "tomnet: 1 episode recorded: no action came\n")


def test_an_action_that_is_none_is_refused_and_nothing_written(play, here):
    code, _, err = play("right\njump\n")
    assert code == 2
    assert err == "tomnet: stdin, line 2: action: expected one of up, down, left, right, stay, quit, found 'jump'\n"
    assert "action: expected right, as actions are lower case, found 'Right'" in play("Right\n")[2]
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("level", "arguments", "why"),
    [
        ("..A", (), "level: expected one @"),
        ("actions: hop\n\n@.A", (), "actions: expected actions whose names tell where they lead"),
        ("heading: right\n\n@.A", (), "actions: expected actions whose names tell where they lead"),
        ("@.A", ("--agent", "../ann"), "agent: expected a name"),
        ("@.A", ("--episodes", "0"), "episodes = 0"),
    ],
)
def test_what_cannot_be_played_is_refused(level, arguments, why, here, refusal):
    (here / "level.txt").write_text(level)
    assert why in refusal("record", "level.txt", "--out", "out", *arguments)


def test_a_level_is_a_plain_file(here, refusal):
    os.mkfifo(here / "pipe.txt")
    for name in ("pipe.txt", "/dev/null"):
        assert f"{name}: not a file" in refusal("record", name, "--out", "out")


def test_a_level_that_is_not_there(refusal):
    assert "nowhere.txt: no such file" in refusal("record", "nowhere.txt", "--out", "out")


LAST = "leave without it\r\n"  # of every picture
SECONDS = 300  # the machine may be busy
IN_ITS_OWN_TERMINAL = """
import fcntl, signal, sys, termios
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have had it ignored
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # or Ctrl-C would be a key as others are
from tomnet.cli.main import main
sys.exit(main())
"""


def press(pressed: list[bytes], *arguments: str) -> tuple[int, str]:
    """The exit code of `tomnet record` where somebody presses keys, and all that it showed."""
    Path("level.txt").write_text("@.A\n.#B\n")
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", IN_ITS_OWN_TERMINAL, "record", "level.txt", "--out", "out", *arguments]
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    shown = ""

    def show(pictures: float) -> None:
        nonlocal shown
        with suppress(OSError):  # the other end is closed
            while shown.count(LAST) < pictures:
                assert select.select([ours], [], [], SECONDS)[0], f"nothing more is shown after {shown!r}"
                shown += os.read(ours, 1000).decode()

    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True
    ) as process:
        os.close(theirs)
        try:
            show(1)
            for key in pressed:
                os.write(ours, key)
                if key != b"\x03":
                    show(shown.count(LAST) + 1)
            show(math.inf)
            code = process.wait(timeout=SECONDS)
        finally:
            process.kill()
    os.close(ours)
    return code, shown.replace("\r\n", "\n")


def test_a_person_at_the_keyboard(here):
    """Arrows, a key that means nothing, and the picture redrawn after every step, with the keys below."""
    code, shown = press([b"\x1b[C", b"x\x1b[C"])
    assert code == 0
    assert shown.count("\x1b[2J") == 3
    assert "\n.#B\n\narrows or WASD: up, left, down, right\nspace: stay\nq: end the episode and keep it\n" in shown
    assert (here / "out" / "player" / "0001.txt").read_text() == SIMPLE_TEXT


@pytest.mark.parametrize(("before", "kept"), [([], "nothing"), ([b"d", b"d"], "1 episode")])
def test_ctrl_c_leaves_at_once_with_what_was_over_before(before, kept, here):
    code, shown = press([*before, b"d", b"\x03"], "--episodes", "3")
    assert code == 130
    assert shown.endswith(f"Ctrl-C: leave without it\ntomnet: interrupted: {kept} recorded\n")
    assert len(list((here / "out").rglob("*.txt"))) == len(before) // 2


def test_only_keys_that_do_something_are_named():
    headed = parse_transcript("actions: turn-left turn-right forward\nheading: up\n\n@.A")
    assert keys(headed).startswith("arrows or WASD: forward, turn-left, turn-right\nq: end")
