"""Questions made up from the server's own schema, right and wrong ones: none may end in an error of ours."""

import importlib.util
from pathlib import Path

import pytest

import tomnet

pytest.importorskip("schemathesis", reason="schemathesis is not installed")
FEW = 120
BENCHMARK = Path(tomnet.__file__).parents[1] / "benchmarks" / "explorer.py"


@pytest.mark.filterwarnings("ignore")  # of schemathesis, about itself
def test_no_question_ends_in_a_fault_of_the_server(address):
    spec = importlib.util.spec_from_file_location("explorer_benchmark", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    statuses = benchmark.hostile_cases(address, FEW)
    assert sum(statuses.values()) >= FEW
    assert [status for status in statuses if status >= 500] == []
