"""The page as a folder of files that needs no server: from disk, or from any web host.

Everything is a classic script, because modules and fetches do not work from disk. There `page/without_server.js`
answers, with one observer of planners (`static_observer`) and what `export_script` tells it.
"""

import json
from pathlib import Path
from typing import Any

from ..experiments.goal_inference import SPECIES
from ..support.errors import BadFile
from ..support.files import new_folder, write_atomically
from ..world.gridworld import MAZE
from .app import page_files
from .catalogue import catalogue
from .known_agents import known_agents
from .observers import observer
from .static_observer import EXPERIMENT, OBSERVER, static_observer

NAME = f"{EXPERIMENT}/{OBSERVER}"
MARK = '<meta name="generator" content="tomnet explore --export">'
HEAD, SOURCE = '<meta charset="utf-8">', '<script src="source.js"></script>'
SCRIPTS = ("weights.js", "observer.js", "planner.js", "export.js", "without_server.js")
ELSEWHERE = "name a folder that is new, empty or an earlier export"


def export(folder: Path) -> str:
    """Writes the page and says so in a line. An earlier export is replaced; anything else stays untouched."""
    check_free(folder)
    files = exported_files()
    if is_export(folder):
        for name, data in files.items():
            write_atomically(folder / name, data)
    else:
        with new_folder(folder) as made:
            for name, data in files.items():
                (made / name).write_bytes(data)
    size = sum(map(len, files.values())) / 1e6
    return f"{folder / 'index.html'}: {len(files)} files, {size:.1f} MB, for a browser or a web host"


def check_free(folder: Path) -> None:
    """Before anything is computed: nothing of the user's may be overwritten."""
    if folder.is_dir() and (is_export(folder) or not any(folder.iterdir())):
        return
    if folder.exists() or folder.is_symlink():
        raise BadFile(folder, "holds something else" if folder.is_dir() else "is no folder", ELSEWHERE)


def is_export(folder: Path) -> bool:
    """Whether an export, and nothing else, lies here."""
    index = folder / "index.html"
    if not index.is_file() or MARK not in index.read_text("utf-8", "replace"):
        return False
    return {path.name for path in folder.iterdir()} <= {*page_files(), *SCRIPTS}


def exported_files() -> dict[str, bytes]:
    files = {name: path.read_bytes() for name, path in page_files().items()}
    page = files["index.html"].decode()
    assert page.count(HEAD) == page.count(SOURCE) == 1
    scripts = [SOURCE, *(f'<script src="{name}"></script>' for name in SCRIPTS)]
    marked = page.replace(HEAD, f"{HEAD}\n  {MARK}").replace(SOURCE, "\n  ".join(scripts))
    made = {"index.html": marked, "weights.js": static_observer(), "export.js": export_script()}
    return files | {name: text.encode() for name, text in made.items()}


def export_script() -> str:
    """What a server would have told the page, as one global."""
    return f"const TOMNET_EXPORT = {json.dumps(told(), separators=(',', ':'))};\n"


def told() -> dict[str, Any]:
    offered, domain = catalogue(), observer(NAME).domain
    assert domain is not None
    observers = [each | {"here": each["name"] == NAME} for each in offered["observers"] if each["here"]]
    return {
        "catalogue": offered | {"observers": observers},
        "known": known_agents(NAME),
        "nobody": [0.0] * observer(NAME).config.embedding,  # the character of an agent of whom nothing was seen
        "most_walls": domain.most_walls,
        "max_walls": MAZE.max_walls,
        "wall_cost": SPECIES.wall_cost,
    }
