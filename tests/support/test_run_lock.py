"""Two processes at one run folder."""

import os

import pytest
from support.processes import python

from tomnet.support.errors import TomnetError
from tomnet.support.run_lock import RunLock

LOCK = """
import sys
from tomnet.support.errors import TomnetError
from tomnet.support.run_lock import RunLock
try:
    with RunLock(sys.argv[1]):
        print("mine")
except TomnetError as error:
    print(error)
"""


def test_a_second_process_is_turned_away_until_the_first_is_done(tmp_path):
    run = tmp_path / "run"
    with RunLock(run):
        assert python(LOCK, run).stdout == f"run folder {run} is in use by process {os.getpid()}\n"
    assert python(LOCK, run).stdout == "mine\n"


def test_a_killed_holder_leaves_no_stale_lock(tmp_path):
    python(LOCK.replace('print("mine")', "import os; os.kill(os.getpid(), 9)"), tmp_path)
    with RunLock(tmp_path):
        assert (tmp_path / ".lock").read_text() == str(os.getpid())


def test_the_lock_is_released_after_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), RunLock(tmp_path):
        _ = 1 / 0
    with RunLock(tmp_path):
        pass


def test_a_lock_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TomnetError, match="cannot write"):
        RunLock(tmp_path / "file").__enter__()
