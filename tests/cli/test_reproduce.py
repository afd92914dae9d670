"""The plan of `tomnet reproduce`: everything once, in an order that works. `make reproduce` carries out a small one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tomnet import zoo
from tomnet.agents.population_config import POPULATION_PRESETS
from tomnet.cli.main import main
from tomnet.cli.reproduce import PRESETS
from tomnet.cli.reproduction import Reproduction
from tomnet.experiments.claims.statements import STATEMENTS
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.support.json_files import read_json


@pytest.fixture
def stages():
    return {stage.name: stage for stage in Reproduction("full", seed=0, seeds=2).stages(Path("place"))}


def test_every_observer_is_trained_once_where_it_is_at_home(stages):
    homes = {f"{zoo.home(name, each)}/{each}" for name in EXPERIMENTS for each in zoo.observer_names(name)}
    trained = [name for name, stage in stages.items() if "--observer" in stage.commands[0].words]
    assert sorted(trained) == sorted(homes)


def test_nothing_comes_before_what_it_needs(stages):
    order = list(stages)
    assert all(order.index(each) < order.index(name) for name, stage in stages.items() for each in stage.needs)
    assert "agents" in stages["false-beliefs/5x5"].needs
    assert not stages["goal-inference/2d"].needs
    assert stages["results"].needs == {"report/1", "report/2"}
    assert set(stages) - stages["report/1"].needs == {"report/1", "report/2", "results"}


def test_presets_have_agents_of_every_condition():
    full = POPULATION_PRESETS["full"].conditions
    assert all(POPULATION_PRESETS[preset].conditions == full for preset in PRESETS)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--preset", "smok"], "did you mean 'smoke'"),
        (["--preset", "laptop"], "unknown preset of the whole paper 'laptop'"),
        (["--jobs", "0"], "jobs"),
        (["--seeds", "0"], "seeds"),
    ],
)
def test_mistakes(words, said, tmp_path, capsys):
    assert main(["reproduce", *words, "--out", str(tmp_path / "place")]) == 2
    assert said in capsys.readouterr().err


def test_another_plan_is_left_alone(tmp_path, capsys):
    (tmp_path / "plan.json").write_text(json.dumps({"preset": "full", "seed": 0, "seeds": 5}))
    assert main(["reproduce", "--preset", "smoke", "--out", str(tmp_path)]) == 2
    assert "another plan was begun there" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["plan.json"]


@pytest.mark.slow
def test_the_whole_paper_from_nothing_hardly_trained(tmp_path):
    """As `make reproduce`: minutes on two cores."""
    place = tmp_path / "place"
    command = [sys.executable, "-m", "tomnet", "reproduce", "--preset", "smoke", "--seeds", "1", "--out", str(place)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    plan = [stage.name for stage in Reproduction("smoke", seed=0, seeds=1).stages(place)]
    spent = read_json(place / "stages.json")
    assert [*spent] == plan
    assert all(stage["done"] for stage in spent.values())
    decided = read_json(place / "report-1" / "results.json")["claims"]
    assert set(STATEMENTS) - set(decided) <= {"F1", "F7"}  # who has not learned to look seldom comes by what it likes
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr[-2000:]
    assert read_json(place / "stages.json") == spent  # what is done is not done again
