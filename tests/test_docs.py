"""What the docs say is so: the tutorial runs, and the tables are those that the code writes."""

import re
import textwrap
from pathlib import Path

import pytest
from figures.hand_made import hand_made

import tomnet
from tomnet.cards.overview import page
from tomnet.cli import main as cli
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.recordings.text import parse_text
from tomnet.report.results_file import Results, summary
from tomnet.report.results_page import readme_with
from tomnet.support.typed_json import from_json
from tomnet.zoo import home, names

ROOT = Path(tomnet.__file__).parents[1]
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()
README_WORDS = 900
TINY = {
    "steps=1000, batch=32": "steps=2, batch=4, chunk=2, held_out=4",
    "jax.random.key(1), 200": "jax.random.key(1), 8",
}


def test_the_tutorial_runs_at_a_tiny_size(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code = "".join(re.findall(r"```python\n(.*?)```", TUTORIAL, re.S))
    for usual, tiny in TINY.items():
        assert code.count(usual) == 1
        code = code.replace(usual, tiny)
    exec(compile(code, "docs/tutorial.md", "exec"), {"__name__": "tutorial"})
    first, *_ = capsys.readouterr().out.splitlines()
    assert f"    {first}\n" in TUTORIAL  # the agent of the first example knows its way, whatever the seed
    assert tomnet.load("runs/fans/observer.safetensors").config.heads == ("action", "consumption")


def test_the_readme_prints_what_it_says(capsys):
    readme = (ROOT / "README.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", readme, re.S)
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})
    assert "".join(f"    {line}\n" for line in capsys.readouterr().out.splitlines()) in readme


def test_the_readme_is_short_enough_to_be_read_and_stays_so_when_nothing_waits():
    readme = (ROOT / "README.md").read_text()
    results = from_json(Results, summary([hand_made(name) for name in EXPERIMENTS]))
    for words in (readme, readme_with(results, readme, "docs/results.md")):
        assert len(words.split()) <= README_WORDS


def test_the_table_of_observers_is_what_they_are():
    table = (ROOT / "docs" / "observers.md").read_text()
    assert table == page(), "make docs writes it again"
    assert [name for name in names() if f"[{name}]" not in table and home(*name.split("/")) in name] == []


def test_the_walk_leads_over_files_that_are_there():
    walk = (ROOT / "CONTRIBUTING.md").read_text().split("## The walk")[1].split("\n## ")[0]
    files = re.findall(r"^\| `(\S+\.py)` \|", walk, re.MULTILINE)
    assert len(files) == 15
    assert all((ROOT / "tomnet" / file).is_file() for file in files)


def test_the_citation_is_of_this_version():
    assert f"version: {tomnet.__version__}\n" in (ROOT / "CITATION.cff").read_text()


def test_the_page_on_own_agents_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "own-agents.md").read_text()
    code = "".join(block for block in python_blocks(page) if not needs_minigrid(block))
    exec(compile(code, "docs/own-agents.md", "exec"), {"__name__": "own_agents"})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 14
    assert [line for line in printed if f"    {line}\n" not in page] == []
    monkeypatch.setattr(cli, "prepare_cpu", lambda: None)
    assert cli.main(["watch", "fans", "--out", "page"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert [line.strip() for line in told if f"    {line.rstrip()}".rstrip() + "\n" not in page] == []
    (headed,) = re.findall(r"    actions: turn-left.*?pickup\n\n`", page, re.S)
    assert parse_text(textwrap.dedent(headed[:-1]), "ann", "1").cells.tolist() == [0, 1, 1, 4, 4]


def test_policies_in_a_minigrid_room_are_told_apart_as_the_page_says(tmp_path, monkeypatch, capsys):
    pytest.importorskip("minigrid", reason="needs the extra: pip install 'tomnet[minigrid]'")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "own-agents.md").read_text()
    (code,) = filter(needs_minigrid, python_blocks(page))
    exec(compile(code, "docs/own-agents.md", "exec"), {"__name__": "room", "Path": Path, "tomnet": tomnet})
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 4
    assert [line for line in printed if f"    {line}\n" not in page] == []


def python_blocks(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, re.S)


def needs_minigrid(code: str) -> bool:
    return "minigrid" in code
