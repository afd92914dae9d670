"""Files and folders that are there whole or not at all."""

import errno
import os

import pytest
from helpers import contents

from tomnet.support.errors import BadFile, TomnetError
from tomnet.support.files import check_is_new, new_folder, write_atomically


def test_a_folder_in_the_way_of_a_file(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TomnetError, match="cannot write"):
        write_atomically(tmp_path / "file" / "inside", b"data")


def test_missing_folders_are_made(tmp_path):
    write_atomically(tmp_path / "runs" / "one" / "config.json", b"{}")
    assert (tmp_path / "runs" / "one" / "config.json").read_bytes() == b"{}"


def test_a_new_folder_appears_once_it_is_complete(tmp_path):
    with new_folder(tmp_path / "deep" / "out") as folder:
        (folder / "a").write_text("a")
        assert not (tmp_path / "deep" / "out").exists()
    assert contents(tmp_path / "deep" / "out") == {"a": b"a"}
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["out"]


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_a_new_folder_that_fails_leaves_nothing(tmp_path, error):
    def fail():
        with new_folder(tmp_path / "out") as folder:
            (folder / "a").write_text("a")
            raise error

    with pytest.raises(error):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_in_a_new_folder_is_one_line(tmp_path):
    with pytest.raises(TomnetError, match="cannot write .*out: No space left"), new_folder(tmp_path / "out"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_there_is_overwritten(tmp_path):
    (tmp_path / "empty").mkdir()
    with new_folder(tmp_path / "empty") as folder:
        (folder / "a").write_text("a")
    (tmp_path / "dangling").symlink_to("nowhere")
    for taken in ("empty", "empty/a", "dangling"):
        with pytest.raises(BadFile, match="is there already"):
            check_is_new(tmp_path / taken)
