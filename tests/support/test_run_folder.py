"""Run folders: begun, gone on with, and left alone where they hold anything else."""

import re

import pytest
from helpers import contents

from tomnet.support.errors import BadFile
from tomnet.support.json_files import read_json, write_json
from tomnet.support.run_folder import CONFIG, Run, enter_run, read_run

RUN = Run("observer", {"size": 5, "training": {"steps": 10}}, {"command": "tomnet run"})


@pytest.fixture
def begun(tmp_path):
    enter_run(tmp_path, RUN, resume=False)
    return tmp_path


def test_a_run_is_read_back_as_it_was_begun(begun):
    assert read_run(begun, "observer") == RUN


def test_an_empty_folder_holds_no_run(tmp_path):
    assert read_run(tmp_path, "observer") is None
    assert enter_run(tmp_path, RUN, resume=True) == RUN  # there is nothing to go on with, and nothing to lose


def test_it_says_who_went_on_with_it(begun):
    later = Run("observer", RUN.settings, {"command": "tomnet run --resume"})
    run = enter_run(begun, later, resume=True)
    assert run.origin == RUN.about | {"resumed": [later.about]}
    assert read_run(begun, "observer") == run


def test_who_finds_it_finished_has_no_part_in_it(begun):
    before = contents(begun)
    assert enter_run(begun, Run("observer", RUN.settings, {"command": "later"}), resume=True, finished=True) == RUN
    assert contents(begun) == before


REFUSED = {
    "not resumed": (RUN, False, "holds a run already; --resume goes on with it, --out names another folder"),
    "others": (Run("observer", {"size": 5, "training": {"steps": 20}}, {}), True, "training.steps is 10, not 20"),
    "another kind": (Run("population", RUN.settings, {}), True, "holds no run that trains a population"),
}


@pytest.mark.parametrize(("new", "resume", "why"), REFUSED.values(), ids=REFUSED)
def test_another_run_is_left_alone(new, resume, why, begun):
    before = contents(begun)
    with pytest.raises(BadFile, match=re.escape(why)):
        enter_run(begun, new, resume=resume)
    assert contents(begun) == before


@pytest.mark.parametrize("resume", [True, False])
def test_a_folder_that_holds_something_else_is_left_alone(resume, tmp_path):
    (tmp_path / "all-heads").mkdir()
    why = "holds something else than a run that trains an observer; --out names another folder"
    with pytest.raises(BadFile, match=why):
        enter_run(tmp_path, RUN, resume=resume)
    assert [path.name for path in tmp_path.iterdir()] == ["all-heads"]


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"precious": true}'])
def test_settings_that_cannot_be_read_are_left_alone(text, tmp_path):
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(BadFile, match=CONFIG):
        enter_run(tmp_path, RUN, resume=True)
    assert contents(tmp_path) == {CONFIG: text.encode()}


def test_a_run_of_another_version_is_refused_with_both(begun):
    write_json(begun / CONFIG, read_json(begun / CONFIG) | {"version": 9})
    with pytest.raises(
        BadFile, match="begun by another version, and this one goes on with version 1; --out names another folder"
    ):
        read_run(begun, "observer")


@pytest.mark.parametrize("nested", [True, False], ids=["environment", "about itself"])
def test_a_run_that_goes_on_with_other_threads_says_so_in_one_line(nested, tmp_path, capsys):
    def about(threads: int) -> dict:
        told = {"device": "CPU", "threads": threads, "jax": "0.10.2"}
        return {"environment": told} if nested else told

    for threads in (2, 2, 1):
        enter_run(tmp_path, Run("observer", {"seed": 0}, about(threads)), resume=True)
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"tomnet: {tmp_path} goes on elsewhere: threads was 2, is 1; the last bits")


def test_a_finished_run_asked_for_elsewhere_says_nothing(tmp_path, capsys):
    enter_run(tmp_path, Run("observer", {}, {"threads": 2}), resume=False)
    enter_run(tmp_path, Run("observer", {}, {"threads": 1}), resume=True, finished=True)
    assert capsys.readouterr().err == ""


def test_surroundings_that_nobody_wrote_that_way_are_passed_over(tmp_path, capsys):
    for environment in ("CPU", None, {"threads": 1}):
        enter_run(tmp_path, Run("observer", {}, {"environment": environment}), resume=True)
    assert capsys.readouterr().err == ""
