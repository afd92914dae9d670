"""Settings and places that cannot work are named before anything is done."""

from pathlib import Path

import pytest

from tomnet.support.checks import LARGEST_SEED, check_between, check_seed, check_writable, check_writable_file
from tomnet.support.errors import BadFile, BadSetting


def test_numbers_within_their_bounds():
    check_seed(0)
    check_seed(LARGEST_SEED)
    check_between("agents", 1, 1, 1)
    with pytest.raises(BadSetting, match="seed = -1: must lie between 0 and 4294967295"):
        check_seed(-1)
    with pytest.raises(BadSetting, match="agents = 9: must lie between 1 and 8"):
        check_between("agents", 9, 1, 8)


def test_places_that_can_be_written_to_need_not_exist(tmp_path):
    check_writable(tmp_path / "new" / "folder")
    check_writable_file(tmp_path / "new" / "table.json")
    check_writable_file(tmp_path / "table.json")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="no file system here that refuses what root may do by the mode")
def test_a_file_system_that_takes_nothing():
    with pytest.raises(BadFile, match="x: cannot be written to: nothing can be made in /proc, "):
        check_writable(Path("/proc/x"))


def test_what_was_tried_out_leaves_nothing(tmp_path):
    check_writable(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_to(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(BadFile, match="file is not a folder"):
        check_writable(tmp_path / "file" / "folder")
    with pytest.raises(BadFile, match="file is not a folder"):
        check_writable_file(tmp_path / "file" / "table.json")
    with pytest.raises(BadFile, match="it is a folder"):
        check_writable_file(tmp_path)
