"""What a person waits for is measured on the real page: times are printed, and are those of whole answers."""

import importlib.util
import re
from pathlib import Path

import pytest

import tomnet

pytest.importorskip("playwright", reason="playwright is not installed")
BENCHMARK = Path(tomnet.__file__).parents[1] / "benchmarks" / "explorer_page.py"
FEW = ("a wall", "a step by hand, and back", "a slider")
LATE = 0.3  # seconds that the last of the answers is held back


@pytest.fixture
def benchmark(monkeypatch):
    spec = importlib.util.spec_from_file_location("explorer_page", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    monkeypatch.setattr(made, "OPENED", 2)
    monkeypatch.setattr(made, "INTERACTIONS", {name: made.INTERACTIONS[name] for name in FEW})
    return made


@pytest.mark.slow
def test_what_a_person_waits_for_is_measured(browser, address, benchmark, capsys):
    benchmark.paint(browser, address)
    assert re.search(r"first paint, opened 2 times: \d+ ms \(median\)", capsys.readouterr().out)
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.set_default_timeout(benchmark.COMPILING)
    page.goto(address)
    page.wait_for_selector(benchmark.READY)
    page.evaluate(benchmark.STOPWATCH)
    page.evaluate(
        """(late) => {
            const { beside } = tomnet.source, rest = () => new Promise((done) => setTimeout(done, 1000 * late));
            tomnet.source.beside = async (asked) => (await rest(), beside(asked));
        }""",
        LATE,
    )
    benchmark.interact(page, 1)
    page.close()
    times = re.findall(r"^(.+?) +(\d+\.\d) +\d+\.\d$", capsys.readouterr().out, re.MULTILINE)
    assert [name for name, _ in times] == list(FEW)
    assert min(float(time) for _, time in times) > 1000 * LATE
