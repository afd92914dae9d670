"""Files and folders: what is found in them, whose it is, and that what is broken or means harm is told and no more."""

import os
import pickle
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings.made_up import SIMPLE_TEXT, recordings, simple

import tomnet
from tomnet.recordings import folder as folder_module
from tomnet.recordings import text
from tomnet.recordings.folder import FORMATS, read_recordings, scan, write_recordings
from tomnet.recordings.survey import survey
from tomnet.support.errors import BadFile, BadSetting, TomnetError

ROOT = Path(tomnet.__file__).parents[1]


@pytest.fixture
def population(tmp_path):
    """Two agents as text, one of them with two episodes."""
    for agent, episode in (("ann", "1"), ("ann", "2"), ("bob", "1")):
        path = tmp_path / "all" / agent / f"{episode}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SIMPLE_TEXT)
    return tmp_path / "all"


ALL = (simple("ann", "1"), simple("ann", "2"), simple("bob", "1"))


def test_a_folder_is_an_agent_and_a_file_an_episode(population):
    assert read_recordings(population) == ALL
    assert read_recordings(population / "ann") == ALL[:2]
    assert read_recordings(population / "bob" / "1.txt") == ALL[2:]


def test_from_within_the_folder_its_name_is_known_all_the_same(population, monkeypatch):
    monkeypatch.chdir(population / "ann")
    assert read_recordings(".") == ALL[:2]


def test_the_second_episode_comes_before_the_tenth(tmp_path):
    for number in range(1, 12):
        (tmp_path / f"day-{number}.txt").write_text(SIMPLE_TEXT)
    assert [each.episode for each in read_recordings(tmp_path)] == [f"day-{number}" for number in range(1, 12)]


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_holds_the_same(population, tmp_path, format):
    files = write_recordings(read_recordings(population), tmp_path / "copy", format)
    assert all(file.exists() for file in files)
    assert read_recordings(tmp_path / "copy") == ALL


@given(given=st.lists(recordings(), min_size=1, max_size=4, unique_by=lambda each: (each.agent, each.episode)))
@pytest.mark.parametrize("format", FORMATS)
def test_round_trips_through_folders_are_exact(given, format, tmp_path_factory):
    def named(each):
        return each.agent, each.episode

    out = tmp_path_factory.mktemp("round") / "trip"
    write_recordings(given, out, format)
    found = read_recordings(out)
    assert sorted(found, key=named) == sorted(given, key=named)
    for agent in {each.agent for each in given}:  # as time went
        assert [each for each in found if each.agent == agent] == [each for each in given if each.agent == agent]


DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("names", [DAYS, ("002-0001", "001-0001", "001-0002"), ("10", "9", "1.txt")])
def test_whatever_episodes_are_called_their_order_is_that_of_time(names, format, tmp_path):
    given = tuple(simple("ann", name) for name in names)
    write_recordings(given, tmp_path / "out", format)
    assert read_recordings(tmp_path / "out") == given


def test_files_have_a_number_only_where_their_names_do_not_tell_the_order(tmp_path):
    given = [*(simple("ann", name) for name in DAYS), simple("bob", "1"), simple("bob", "2"), simple("bob", "10")]
    files = write_recordings(given, tmp_path / "out", "text")
    assert [file.name for file in files[:2]] == ["0001-monday.txt", "0002-tuesday.txt"]
    assert files[0].read_text() == f"episode: monday\n\n{SIMPLE_TEXT}"
    assert [file.name for file in files[5:]] == ["1.txt", "2.txt", "10.txt"]
    assert files[5].read_text() == SIMPLE_TEXT


@pytest.mark.parametrize("name", ["all.jsonl", "all.safetensors"])
def test_many_episodes_in_one_file(population, tmp_path, name):
    path = tmp_path / name
    assert write_recordings(ALL, path, path.suffix[1:]) == [path]
    assert read_recordings(path) == ALL


def test_what_is_there_already_is_not_overwritten(population, tmp_path):
    for taken in (population, population / "ann" / "1.txt"):
        before = survey(population)
        with pytest.raises(BadFile, match="is there already"):
            write_recordings(ALL, taken, "text")
        assert survey(population) == before
    (tmp_path / "empty").mkdir()
    assert len(write_recordings(ALL, tmp_path / "empty", "text")) == 3


@pytest.mark.parametrize(
    ("given", "out", "format", "why"),
    [
        (ALL, "a", "pickle", "unknown format 'pickle'"),
        (ALL, "a.txt", "jsonl", "jsonl has files that end in .jsonl"),
        (ALL, "a.jsonl", "text", "text has a file for every episode: name a folder"),
        (ALL, "a.txt", "text", "text has a file for every episode: name a folder"),
        ((), "a", "text", "there are no episodes to write"),
        ((ALL[0], ALL[0]), "a", "jsonl", "expected a name for every episode of ann, found '1'"),
    ],
)
def test_what_cannot_be_written(given, out, format, why, tmp_path):
    with pytest.raises(TomnetError, match=why):
        write_recordings(given, tmp_path / out, format)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("format", FORMATS)
def test_nothing_is_left_half_written(format, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    writers = ((text, "format_text"), (folder_module.jsonl, "format_line"), (folder_module.shards, "save_arrays"))
    for module, name in writers:
        monkeypatch.setattr(module, name, fail)
    with pytest.raises(KeyboardInterrupt):
        write_recordings(ALL, tmp_path / "out", format)
    assert list(tmp_path.iterdir()) == []


# --- What is broken


def faults(path) -> list[str]:
    return [f"{broken.file}:{broken.line}:{broken.why}" for broken in survey(path).broken]


def test_the_rest_of_a_folder_is_still_read(population):
    (population / "ann" / "2.txt").write_text("@.A\n\njump\n")
    (population / "cat").mkdir()
    (population / "cat" / "all.jsonl").write_text("{}\n[]\n")
    found = survey(population)
    assert found.episodes == 2
    assert [(Path(broken.file).name, broken.line) for broken in found.broken] == [
        ("2.txt", 3),
        ("all.jsonl", 1),
        ("all.jsonl", 2),
    ]
    with pytest.raises(TomnetError, match=r"2\.txt, line 3: action: expected one of up"):
        read_recordings(population)


def test_an_episode_that_is_there_twice(population, tmp_path):
    write_recordings(ALL[:1], population / "again.jsonl", "jsonl")
    (fault,) = faults(population)
    assert "expected a name for every episode, found '1' of 'ann' again, which is in" in fault


def test_files_of_other_kinds_are_named_and_not_opened(population):
    (population / "ann" / "notes.md").write_text("hello")
    (population / ".hidden").write_text("")
    found = survey(population)
    assert [Path(path).name for path in found.not_opened] == ["notes.md"]
    assert (found.episodes, found.broken) == (3, [])


def test_folders_within_an_agents_folder(population):
    (population / "ann" / "more").mkdir()
    (fault,) = faults(population)
    assert "is a folder within an agent's folder" in fault


@pytest.mark.parametrize("path", ["nowhere", "nowhere.txt"])
def test_what_is_not_there(path, tmp_path):
    with pytest.raises(BadFile, match="no such file or folder"):
        read_recordings(tmp_path / path)


def test_no_episodes_at_all(tmp_path):
    with pytest.raises(BadFile, match="no episodes are in there"):
        read_recordings(tmp_path)
    assert survey(tmp_path).episodes == 0


def test_more_than_fits_is_refused(population, monkeypatch):
    monkeypatch.setattr(folder_module, "MOST_BYTES", ALL[0].nbytes)
    with pytest.raises(BadFile, match="read a part of them at a time"):
        read_recordings(population)


def test_ten_thousand_bad_lines_are_told_a_hundred_times(tmp_path):
    (tmp_path / "a.jsonl").write_text("[]\n" * 10_000)
    found = survey(tmp_path)
    assert (len(found.broken), found.more_broken) == (100, 9_900)


# --- What means harm


class Harm:
    def __reduce__(self):
        return exec, ("open('harmed', 'w').close()",)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.safetensors", "a.pkl"])
@pytest.mark.parametrize("protocol", [0, 4])
def test_a_pickle_is_never_loaded(here, name, protocol):
    (here / name).write_bytes(pickle.dumps(Harm(), protocol=protocol))
    faults = list(scan(here / name))
    assert all(isinstance(fault, TomnetError) for fault in faults)
    if protocol == 4:  # the older ones are text, and no text of ours
        assert "can run code" in str(faults[0])
    assert not (here / "harmed").exists()


@pytest.mark.parametrize("name", ["a.txt", "a.jsonl", "a.safetensors", "a.npz"])
def test_a_zip_bomb_is_not_unpacked(here, name):
    with zipfile.ZipFile(here / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("walls.npy", b"\0" * 50_000_000)
    (fault,) = scan(here / name)
    assert isinstance(fault, TomnetError)


def test_links_that_lead_out_of_the_folder_are_not_followed(population, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text(SIMPLE_TEXT)
    (population / "ann" / "3.txt").symlink_to(secret)
    (population / "cat").symlink_to(tmp_path)
    (population / "dog").symlink_to(population / "ann")
    (population / "ann" / "4.txt").symlink_to("4.txt")  # to itself
    found = survey(population)
    assert found.episodes == 3
    assert len(found.broken) == 4
    assert sum("leads out of the folder" in broken.why for broken in found.broken) == 2


def test_a_link_to_itself_is_refused_where_it_is_named_too(tmp_path):
    (tmp_path / "1.txt").symlink_to("1.txt")
    with pytest.raises(BadFile, match="1.txt: too many levels of symbolic links"):
        read_recordings(tmp_path / "1.txt")


def test_links_within_the_folder_are_fine(population):
    (population / "ann" / "3.txt").symlink_to(population / "bob" / "1.txt")
    assert len(read_recordings(population)) == 4


@pytest.mark.parametrize("name", ["../escaped", "/tmp/escaped", "..", "a/../../b"])
def test_names_that_lead_elsewhere_never_become_paths(here, name):
    line = folder_module.jsonl.format_line(simple()).replace('"ann"', f'"{name}"')
    (here / "a.jsonl").write_text(line)
    (fault,) = faults(here)
    assert "agent: expected a name" in fault


def test_a_pipe_that_nobody_writes_to_keeps_nobody_waiting(here):
    os.mkfifo(here / "a.txt")
    (fault,) = faults(here)
    assert "not a file" in fault


def test_a_file_larger_than_any_episode_is_not_read(here):
    for name in ("a.txt", "b.safetensors"):
        with open(here / name, "wb") as file:
            file.truncate(2**40)  # a terabyte of nothing
    assert ["expected up to" in fault for fault in faults(here)] == [True, True]


BOMBS = {
    "million.txt": lambda: ("@.A\n\n" + "up\n" * 340_000).encode(),
    "million.jsonl": lambda: b'{"agent":"a","episode":"1","level":["@.A"],"steps":[' + b'"up",' * 700_000 + b'"up"]}',
    "endless.jsonl": lambda: b'{"agent":"' + b"a" * 50_000_000,
    "deep.jsonl": lambda: b"[" * 3_000_000,
    "wide.txt": lambda: b"@" + b"." * 1_000_000,
    "tall.txt": lambda: b".\n" * 500_000,
    "zeros.jsonl": lambda: b"\0" * 20_000_000,
}
CAPPED = f"""
import resource, sys
sys.path.insert(0, {str(ROOT)!r})
from tomnet.recordings.survey import survey
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[2]), int(sys.argv[2])))
found = survey(sys.argv[1])
assert found.episodes == 0 and found.broken, found
"""
CAP = 2**30  # of address space, the libraries' own included


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_AS"), reason="needs a limit on address space")
def test_bombs_are_refused_within_a_cap_on_memory(here):
    for name, content in BOMBS.items():
        (here / "bombs").mkdir(exist_ok=True)
        (here / "bombs" / name).write_bytes(content())
    command = [sys.executable, "-c", CAPPED, str(here / "bombs"), str(CAP)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr[-500:]


# --- What is in there


def test_what_is_in_there_is_counted(population):
    found = survey(population)
    assert found.agents == {"ann": 2, "bob": 1}
    assert found.sizes == {"2×3": 3}
    assert found.objects == {"A": 3, "B": 3}
    assert found.taken == {"A": 3}
    assert found.actions == {"right": 6}
    assert (found.unknown_actions, found.with_heading) == (0, 0)
    assert (found.lengths.shortest, found.lengths.median, found.lengths.longest) == (2, 2, 2)
    assert found.remarks == ["1 of 2 agents have one episode: there is no past to know them by"]


def test_what_cannot_be_learned_is_said(tmp_path):
    (tmp_path / "1.txt").write_text("@..\n\nup\n? 0 0")
    assert survey(tmp_path).remarks == [
        "a single episode: it can be watched, and nothing can be learned from it",
        "1 of 1 agents never move: they show nothing of what they want",
        "nothing is ever taken: which object an agent is after cannot be learned",
        "1 of 2 actions are unknown: they are seen and not predicted",
    ]
    (tmp_path / "2.txt").write_text("@.A\n\nright\nright")
    assert survey(tmp_path).remarks[0].startswith("a single agent: its own later episodes can be predicted")


def test_steps_that_lead_elsewhere_than_they_say_are_counted(tmp_path):
    (tmp_path / "1.txt").write_text("@..\n..A\n\nright 1 2\nleft\nup 0 1\ndown 0 1\n? 0 0\n0 2")
    (tmp_path / "2.txt").write_text(
        "actions: hop forward\nheading: up\n\n.\n@\n\nhop 0 0 up\nforward 1 0 up\nforward\n"
    )
    found = survey(tmp_path)
    assert found.led_elsewhere == 3
    assert found.remarks[-1].startswith("3 of 9 steps led elsewhere than their action says: ")


def test_an_empty_setting_is_no_format():
    with pytest.raises(BadSetting, match="files that end in"):
        write_recordings(ALL, "a.txt", "jsonl")


def test_headings_are_counted(tmp_path):
    write_recordings([simple(headings=np.array([1, 1, 1]))], tmp_path / "a", "text")
    assert survey(tmp_path / "a").with_heading == 1
