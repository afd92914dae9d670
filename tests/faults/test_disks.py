"""A full disk, a folder that is read-only, two writers at once: one clear line, and nothing lost."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest
from faults.moments import held, running, saved_at, wait_until
from faults.server import BAD_INPUT, Server
from faults.victims import VICTIMS, outcome

from tomnet.support.run_folder import CHECKPOINT

NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts a disk of a few pages")


@contextmanager
def disk(place: Path, pages: int):
    """A real one, in memory, of so many pages of 4 KiB."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={4 * pages}k", "tmpfs", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mount is not allowed here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


@NEEDS_ROOT
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_disk_that_fills_up_in_training_is_named_and_nothing_is_lost(
    victim, server, undisturbed, cases, tally, tmp_path
):
    """As large as a finished run but for a few pages: it fills up sooner or later."""
    expected, whole = undisturbed(victim)
    pages = sum(-(-path.stat().st_size // 4096) for path in whole.iterdir())
    for case, missing in enumerate(cases([2], [1, 2, 3, 4, 6, 8])):
        with disk(tmp_path / f"disk-{case}", max(pages - missing, 3)) as place:
            folder, stderr = place / "run", tmp_path / f"stderr-{case}"
            server.begin(victim, folder, stderr=stderr)
            assert server.ended() == BAD_INPUT, stderr.read_text()
            said = stderr.read_text().splitlines()[-1]
            assert said.startswith(f"tomnet: cannot write {folder}")
            assert said.endswith("No space left on device")
            subprocess.run(["mount", "-o", f"remount,size={16 * pages}k", str(place)], check=True)
            server.begin(victim, folder, stderr=stderr)
            assert server.ended() == 0, stderr.read_text()
            assert outcome(folder) == expected
            tally(f"disk full, {victim} in training", "named; with more room resumed and bit-identical")


@NEEDS_ROOT
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_disk_that_turns_read_only_is_named(victim, server, undisturbed, tally, tmp_path):
    with disk(tmp_path / "disk", 1024) as place:
        folder, stderr = place / "run", tmp_path / "stderr"
        shutil.copytree(undisturbed(victim)[1], folder)
        for path in folder.glob("*.safetensors"):
            path.unlink()
        before = {path.name: path.read_bytes() for path in folder.iterdir()}
        subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
        server.begin(victim, folder, stderr=stderr)
        assert server.ended() == BAD_INPUT, stderr.read_text()
        assert stderr.read_text() == f"tomnet: cannot write {folder / '.lock'}: Read-only file system\n"
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        tally(f"read-only, {victim}", "named, nothing touched")


@pytest.mark.parametrize("victim", VICTIMS)
def test_of_two_writers_the_second_is_turned_away(victim, server, undisturbed, cases, tally, tmp_path):
    expected, other = undisturbed(victim)[0], Server()
    for case in range(cases(1, 10)):
        folder, stderr = tmp_path / f"run-{case}", tmp_path / f"stderr-{case}"
        pid = server.begin(victim, folder, stderr=tmp_path / "first")
        wait_until(lambda folder=folder: (folder / ".lock").exists() and (folder / ".lock").read_text(), pid)
        if case % 2:  # the other comes while it starts, or once it has saved
            wait_until(lambda folder=folder: saved_at(folder) > 0, pid)
        with held(pid):  # or it might be through before the other has begun
            assert running(pid)
            other.begin(victim, folder, stderr=stderr)
            assert other.ended() == BAD_INPUT
        assert stderr.read_text() == f"tomnet: run folder {folder} is in use by process {pid}\n"
        assert server.ended() == 0
        assert outcome(folder) == expected
        assert (folder / CHECKPOINT).exists()
        tally(f"two writers, {victim}", "the second turned away, the first bit-identical")
    other.close()
