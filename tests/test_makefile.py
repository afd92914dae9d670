"""`make chromium`, before the tests of the page: a browser where one can be had, and else a line that says so."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import tomnet

ROOT = Path(tomnet.__file__).parents[1]
SKIPPED = "no Chromium: the tests of the page are skipped"
pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def make_chromium(folder: Path, programs: dict[str, str]) -> tuple[str, list[str]]:
    """What it says, and how `apt-get` was called, where nothing but these programs is installed."""
    for name, script in programs.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    found = os.environ | {"PATH": str(folder), "CALLS": str(calls)}
    make = [str(shutil.which("make")), "-C", str(ROOT), "--no-print-directory", "chromium"]
    done = subprocess.run(make, env=found, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr  # the other tests go on without it
    return done.stdout, calls.read_text().splitlines()


INSTALL = "install -y -qq --no-install-recommends"
ROOT_USER, SOMEBODY = {"id": "echo 0"}, {"id": "echo 1000"}
WORKS = {"apt-get": 'echo "$@" >> "$CALLS"'}
NO_SHELL = {"apt-get": 'echo "$@" >> "$CALLS"; case "$*" in *shell*) exit 100;; esac'}
NO_NETWORK = {"apt-get": 'echo "$@" >> "$CALLS"; exit 100'}
NO_PACKAGE = {"apt-get": 'echo "$@" >> "$CALLS"; [ "$1" = update ]'}


@pytest.mark.parametrize("program", ["chromium", "chromium-headless-shell"])
def test_nothing_is_done_where_it_is_there(tmp_path, program):
    assert make_chromium(tmp_path, ROOT_USER | WORKS | {program: "exit 0"}) == ("", [])


def test_root_gets_it(tmp_path):
    said, calls = make_chromium(tmp_path, ROOT_USER | WORKS)
    assert said == "installing Chromium, for the tests of the page\n"
    assert calls == ["update -qq", f"{INSTALL} chromium-headless-shell fonts-liberation"]


def test_where_there_is_none_without_windows_root_gets_one_with_windows(tmp_path):
    _, calls = make_chromium(tmp_path, ROOT_USER | NO_SHELL)
    assert calls[-1] == f"{INSTALL} chromium fonts-liberation"


@pytest.mark.parametrize("apt", [NO_NETWORK, NO_PACKAGE], ids=["no network", "no package"])
def test_what_cannot_be_installed_is_said(tmp_path, apt):
    said, calls = make_chromium(tmp_path, ROOT_USER | apt)
    assert SKIPPED in said
    assert calls


@pytest.mark.parametrize("programs", [SOMEBODY | WORKS, ROOT_USER, SOMEBODY], ids=["not root", "no apt-get", "neither"])
def test_nobody_else_is_troubled(tmp_path, programs):
    said, calls = make_chromium(tmp_path, programs)
    assert SKIPPED in said
    assert calls == []
