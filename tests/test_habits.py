"""Habits of CONTRIBUTING.md that a test can check."""

import ast
import re
from pathlib import Path

import pytest

import tomnet

ROOT = Path(tomnet.__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("tomnet/zoo/*/*.md")),
]
FILES = sorted(Path(tomnet.__file__).parent.rglob("*.py"))


def functions(path: Path) -> list[ast.FunctionDef]:
    """Those of a module and of its classes; what stands inside a function, such as a scan's body, is its own affair."""
    module = ast.parse(path.read_text())
    scopes = [module, *(node for node in module.body if isinstance(node, ast.ClassDef))]
    return [node for scope in scopes for node in scope.body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_keys_come_first_in_functions_and_by_keyword_in_constructors(path):
    for function in functions(path):
        positional = [argument.arg for argument in function.args.args if argument.arg not in ("self", "cls")]
        if function.name == "__init__":
            assert "key" not in positional, f"{path.name}: line {function.lineno}"
        elif "key" in positional:
            assert positional[0] == "key", f"{path.name}: {function.name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_private_to_a_module_stays_there(path):
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    names = [alias.name for node in imports if node.level for alias in node.names]
    assert [name for name in names if name.startswith("_") and not name.startswith("__")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_project_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)[^):]*\)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []
