"""Scripts run as a page runs them: classic scripts loaded one after the other, in Node or from disk in Chromium."""

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from explorer.browsing import CHROMIUM

SECONDS = 300  # the machine may be busy


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return done.stdout.decode()


def in_node(folder: Path, scripts: list[str], expression: str) -> str:
    # `runInThisContext` shares globals between scripts, as a page does
    load = "for (const path of {}) vm.runInThisContext(fs.readFileSync(path));"
    paths = json.dumps([str(folder / script) for script in scripts])
    program = f'const fs = require("fs"), vm = require("vm"); {load.format(paths)} console.log({expression});'
    (folder / "run.js").write_text(program)
    return _run("node", str(folder / "run.js"))


def in_chromium(folder: Path, scripts: list[str], expression: str) -> str:
    tags = "".join(f'<script src="{script}"></script>' for script in scripts)
    show = f'<script>document.querySelector("pre").textContent = {expression};</script>'
    (folder / "page.html").write_text(f'<!doctype html><meta charset="utf-8"><pre></pre>{tags}{show}')
    page = (folder / "page.html").as_uri()
    assert CHROMIUM is not None
    dom = _run(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", page)
    (shown,) = re.findall(r"<pre>(.*?)</pre>", dom, re.DOTALL)
    return html.unescape(shown)


ENGINES = {"node": in_node, "chromium": in_chromium}
PROGRAMS = {"node": shutil.which("node"), "chromium": CHROMIUM}
ANY_ENGINE = next(filter(PROGRAMS.get, PROGRAMS), "node")


def evaluate(engine: str, folder: Path, scripts: dict[str, str], expression: str) -> Any:
    """The value of an expression after these scripts, by their names; skipped where the engine is not installed."""
    if PROGRAMS[engine] is None:
        pytest.skip(f"{engine} is not installed, and what a page computes stays unchecked there")
    for name, text in scripts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return json.loads(ENGINES[engine](folder, list(scripts), f"JSON.stringify({expression})"))
