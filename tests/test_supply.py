"""What reaches a user: code that runs nothing foreign, weights with checksums, a wheel that stands alone, its bill."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

import tomnet
from tomnet import zoo
from tomnet.agents.population import load_population
from tomnet.observer.checkpoint import load_observer
from tomnet.support.errors import BadFile

ROOT = Path(tomnet.__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import forbidden  # noqa: E402
import sbom  # noqa: E402

# --- The gate


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("import pickle", "pickle: unpickles"),
        ("import pickle as p", "pickle: unpickles"),
        ("from pickle import loads", "pickle.loads: unpickles"),
        ("def f():\n    import marshal", "marshal: unpickles"),
        ("np.load(path, allow_pickle=True)", "allow_pickle=: unpickles"),
        ("np.load(path, allow_pickle=asked)", "allow_pickle=: unpickles"),
        ("eval(text)", "eval: evaluates text"),
        ("builtins.exec(text)", "exec: evaluates text"),
        ("__import__('os')", "__import__: evaluates text"),
        ("subprocess.run(command, shell=True)", "shell=: starts a shell"),
        ("os.system('ls')", "os.system: starts a shell"),
        ("from os import system", "os.system: starts a shell"),
        ("import socket", "socket: talks to a network"),
        ("import urllib.request", "urllib.request: talks to a network"),
        ("from http import client", "http.client: talks to a network"),
        ("import requests", "requests: talks to a network"),
        ("importlib.import_module(name)", "importlib.import_module: loads anything"),
        ("torch.load(path)", "torch.load: loads anything"),
    ],
)
def test_what_no_file_may_do_is_found(line, fault):
    (found,) = forbidden.faults(line, "tomnet/zoo/__init__.py")
    assert found.startswith("tomnet/zoo/__init__.py:")
    assert found.endswith(f": {fault}")


@pytest.mark.parametrize(
    "line",
    [
        "# import pickle",
        "'eval(text)'",
        "model.eval()",
        "ast.literal_eval(text)",
        "np.load(path, allow_pickle=False)",
        "subprocess.run(words, shell=False)",
        "from .requests import Asked",
        "re.compile(words)",
    ],
)
def test_what_only_looks_like_it_is_let_through(line):
    assert [*forbidden.faults(line, "tomnet/zoo/__init__.py")] == []


def test_only_the_explorer_may_listen():
    assert [*forbidden.faults("import uvicorn", "tomnet/explorer/serve.py")] == []
    assert [*forbidden.faults("import pickle", "tomnet/explorer/serve.py")] != []


def test_the_code_passes_the_gate(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert forbidden.main(["tomnet"]) == 0
    assert capsys.readouterr().out.endswith("nothing is unpickled, evaluated or fetched\n")
    assert forbidden.main(["no-such-folder"]) == 1  # a gate that looks at nothing is open


# --- The zoo


WEIGHTS = sorted(zoo.FOLDER.glob("*/*.safetensors"))


@pytest.mark.parametrize("path", WEIGHTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_whatever_the_zoo_loads_has_a_checksum_that_is_verified(path, tmp_path):
    load = load_population if path.parent.name == zoo.AGENTS else load_observer
    load(path)
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1  # the last bit of the last weight
    (tmp_path / path.name).write_bytes(raw)
    with pytest.raises(BadFile, match=f"{path.name}: damaged: its checksum does not match"):
        load(tmp_path / path.name)


def test_the_zoo_holds_weights_cards_and_nothing_that_is_read_unchecked():
    kinds = {path.suffix for path in zoo.FOLDER.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert kinds <= {".safetensors", ".md", ".py", ".json"}  # of JSON, the ceiling alone: types and digests are checked
    assert {path.name for path in zoo.FOLDER.rglob("*.json")} <= {"ceiling.json"}
    assert WEIGHTS


# --- The wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_all_that_lies_under_tomnet_and_nothing_else(wheel):
    ours = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tomnet").rglob("*") if path.is_file()}
    ours = {name for name in ours if "__pycache__" not in name}
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == ours


USE = """
import sys, tomnet
from tomnet import zoo
from tomnet.observer.checkpoint import load_observer
assert not any("site-packages" not in path and "tomnet" in path for path in sys.path), sys.path
print(tomnet.__file__)
for name in zoo.names():
    zoo.load_one(*name.split("/"))
print(len(zoo.names()), len(zoo.populations()))
"""


def test_installed_without_the_repository_it_works_from_an_empty_folder(wheel, tmp_path):
    """With the libraries of this environment, which are named by their folder: what lies in the repository is not."""
    venv, empty = tmp_path / "venv", tmp_path / "empty"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    python = venv / "bin" / "python"
    install = [sys.executable, "-m", "pip", "-qq", "--python", python, "install", "--no-deps", "--no-index", wheel]
    subprocess.run(install, check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")  # a .pth in there is not followed
    empty.mkdir()
    bare = {"PATH": os.defpath, "HOME": str(empty), "JAX_PLATFORMS": "cpu", "TOMNET_CACHE": str(tmp_path / "cache")}

    def run(*command) -> str:
        ended = subprocess.run([*map(str, command)], cwd=empty, env=bare, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    where, counts = run(python, "-I", "-c", USE).splitlines()
    assert Path(where).is_relative_to(venv)
    assert counts == f"{len(zoo.names())} {len(zoo.populations())}"
    assert run(venv / "bin" / "tomnet", "--version") == f"tomnet {tomnet.__version__}\n"
    assert "goal-inference" in run(venv / "bin" / "tomnet", "list")
    assert [*empty.iterdir()] == []


NEWER = [python for minor in range(12, 16) if (python := shutil.which(f"python3.{minor}"))]


@pytest.mark.parametrize("python", NEWER, ids=lambda python: Path(python).name)
def test_newer_pythons_compile_every_file_without_a_warning(python):
    code = "import pathlib, sys; [compile(p.read_text(), str(p), 'exec') for p in pathlib.Path('tomnet').rglob('*.py')]"
    ended = subprocess.run([python, "-W", "error", "-c", code], cwd=ROOT, capture_output=True, text=True)
    if "command not found" in ended.stderr:  # a version manager's stand-in for one that is not installed
        pytest.skip(f"{python} is not installed")
    assert ended.returncode == 0, ended.stderr


# --- The bill of materials


LOCK = (ROOT / "requirements.lock").read_text()


def test_the_bill_is_that_of_the_lock():
    assert json.loads((ROOT / "sbom.cdx.json").read_text()) == sbom.bill(LOCK), "make sbom"


def test_every_pin_and_every_hash_of_the_lock_is_in_the_bill():
    components = sbom.bill(LOCK)["components"]
    assert len(components) == sum("==" in line and not line.startswith(" ") for line in LOCK.splitlines())
    assert sum(len(each["hashes"]) for each in components) == LOCK.count("--hash=sha256:")
    assert len({each["bom-ref"] for each in components}) == len(components)


def test_the_bill_says_who_needs_what():
    lock = "a==1 \\\n    --hash=sha256:" + "0" * 64 + "\n    # via b, tomnet (pyproject.toml)\n"
    lock += "b==2 ; sys_platform == 'win32' \\\n    --hash=sha256:" + "1" * 64 + "\n    # via tomnet (pyproject.toml)\n"
    made = sbom.bill(lock)
    assert [each["dependsOn"] for each in made["dependencies"]] == [
        ["pkg:pypi/a@1", "pkg:pypi/b@2"],
        [],
        ["pkg:pypi/a@1"],
    ]
    assert made["components"][1]["properties"] == [{"name": "python:marker", "value": "sys_platform == 'win32'"}]
    assert made == sbom.bill(lock)


@pytest.mark.parametrize("lock", ["a==1 \\\n", "a @ file:///tmp\n", "--index-url elsewhere\n"])
def test_a_lock_that_is_not_understood_gives_no_bill(lock):
    with pytest.raises(SystemExit):
        sbom.bill(lock)
