"""Data flows one way through the folders, and the observer never looks behind the episodes."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import tomnet

ROOT = Path(tomnet.__file__).parent
LEFT_TO_RIGHT = [
    ["support"],
    ["world"],
    ["agents"],
    ["episodes"],
    ["recordings"],
    ["observer", "ideal"],
    ["asking"],
    ["experiments"],
    ["zoo"],
    ["fit"],
    ["watch"],
    ["figures"],
    ["cards"],
    ["report"],
    ["explorer"],
    ["cli"],
]
ABOVE_ALL = {"tomnet", "tomnet.__main__", "tomnet.api"}  # the doors
PLACE = {folder: place for place, folders in enumerate(LEFT_TO_RIGHT) for folder in folders}
OBSERVER_FILES = sorted((ROOT / "observer").glob("*.py"))


def module_of(path: Path) -> str:
    parts = ("tomnet", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(path: Path) -> set[str]:
    """Every module of tomnet that a file imports, inside functions too, as an absolute name."""
    package = module_of(path).split(".") if path.name == "__init__.py" else module_of(path).split(".")[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found |= {origin} | {f"{origin}.{alias.name}" for alias in node.names}
    return {name for name in found if name.split(".")[0] == "tomnet"}


def folder_of(module: str) -> str:
    return (module.split(".") + [""])[1]


ALL_FILES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def test_the_files_are_found():
    assert {"tomnet.world.gridworld", "tomnet.observer.training", "tomnet.experiments.registry"} <= ALL_FILES.keys()
    assert "tomnet.support.errors" in imported(ROOT / "world" / "gridworld.py")
    assert "tomnet.experiments.run" in imported(ROOT / "cli" / "experiments.py")  # from within a function


@pytest.mark.parametrize("module", [module_of(path) for path in OBSERVER_FILES])
def test_the_observer_knows_neither_world_nor_agents_not_even_through_others(module):
    seen, ahead = set(), [module]
    while ahead:
        here = ahead.pop()
        if here not in seen and here in ALL_FILES:
            seen.add(here)
            ahead += imported(ALL_FILES[here])
    assert not {name for name in seen if folder_of(name) in ("world", "agents")}


@pytest.mark.parametrize("folder", PLACE)
def test_a_folder_imports_only_from_folders_to_its_left(folder):
    wrong = {
        f"{module} imports {other}"
        for module, path in ALL_FILES.items()
        if folder_of(module) == folder
        for other in imported(path)
        if PLACE.get(folder_of(other), 0) > PLACE[folder]
    }
    assert wrong == set()


def test_no_two_files_need_each_other():
    """Not even from within a function, where Python would let it pass."""
    files = {module: path for module, path in ALL_FILES.items() if path.name != "__init__.py"}
    needs = {module: imported(path) & files.keys() for module, path in files.items()}
    TopologicalSorter(needs).prepare()  # a CycleError names the files


def test_every_file_has_a_place():
    assert {module for module in ALL_FILES if folder_of(module) not in PLACE} == ABOVE_ALL


def test_no_folder_looks_at_the_doors():
    wrong = {module for module, path in ALL_FILES.items() if module not in ABOVE_ALL and "tomnet.api" in imported(path)}
    assert wrong == set()
