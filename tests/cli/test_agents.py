"""`tomnet agents`: what it trains, prints and draws, what it refuses, and a run that is stopped and goes on."""

import dataclasses
import json
import os
import signal
from functools import partial

import pytest
from agents.small import SMALL, made_up_population
from figures.hand_made_agents import recorded, tables

from tomnet.agents import population_config, population_training
from tomnet.agents.population import load_population, save_population
from tomnet.cli import agents
from tomnet.cli import main as cli
from tomnet.experiments import ceiling
from tomnet.experiments.analysis.ceiling_measures import CeilingRow
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.claims.claim import Claim
from tomnet.support.json_files import read_json, read_jsonl, write_json
from tomnet.support.run_folder import Run, enter_run

pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """A preset that takes no time."""
    monkeypatch.setitem(population_config.POPULATION_PRESETS, "smoke", SMALL)


@pytest.fixture
def tomnet(tomnet):
    return partial(tomnet, "agents")


@pytest.fixture
def evaluated(monkeypatch):
    """An evaluation that takes no time and remembers what it was given."""
    given = {}

    def evaluate_population(populations, *, levels, seed):
        given.update(populations=populations, levels=levels, seed=seed)
        claim = Claim("F1", "Seen swaps matter", "partly", float("nan"), (0.02, 0.04), "nats", "the rule")
        return tables(), [claim]

    monkeypatch.setattr("tomnet.experiments.analysis.population_evaluation.evaluate_population", evaluate_population)
    return given


def save_agents(folder, *conditions: str) -> None:
    for condition in conditions:
        save_population(folder / f"{condition}.safetensors", made_up_population(condition, about={"preset": "smoke"}))


# --- Train


def test_train_writes_populations_metrics_and_learning_curves(tomnet, here):
    code, out, _ = tomnet("train", "--preset", "smoke", "--seed", 4)
    assert code == 0
    folder = here / "runs" / "agents-smoke-4"
    assert "runs/agents-smoke-4/3x3.safetensors: 1 kept, worst to best " in out
    assert "on the levels they were chosen by" in out
    population = load_population(folder / "3x3.safetensors")
    assert population.about["command"] == "tomnet agents train --preset smoke --seed 4"
    assert population.about["preset"] == "smoke"
    assert {"device", "cores", "commit"} <= population.about["environment"].keys()
    assert (folder / "figures" / "learning-curves.svg").exists()
    assert len(read_jsonl(folder / "metrics.jsonl")) == 6


def test_train_stopped_by_ctrl_c_is_130_and_goes_on(tomnet, here, monkeypatch):
    log = population_training.append_jsonl

    def log_and_stop(path, row):
        log(path, row)
        if (row["chunk"], row["updates"]) == (1, 4):
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(population_training, "append_jsonl", log_and_stop)
        code, _, err = tomnet("train", "--preset", "smoke", "--out", here / "run")
    assert code == 130
    assert err.splitlines()[-1] == "tomnet: interrupted at update 4 of 6; --resume goes on from there"
    assert tomnet("train", "--preset", "smoke", "--out", here / "run", "--resume")[0] == 0
    assert len(read_jsonl(here / "run" / "metrics.jsonl")) == 6


def test_a_chunk_is_part_of_the_command_that_is_written_down(tomnet, here, monkeypatch):
    monkeypatch.setitem(population_config.POPULATION_PRESETS, "smoke", dataclasses.replace(SMALL, chunk=4))
    assert tomnet("train", "--preset", "smoke", "--chunk", 2, "--out", here / "run")[0] == 0
    assert read_json(here / "run" / "config.json")["settings"]["chunk"] == 2
    command = load_population(here / "run" / "blind.safetensors").about["command"]
    assert command == "tomnet agents train --preset smoke --seed 0 --chunk 2"


# --- Evaluate


def test_evaluate_prints_what_each_condition_earns(tomnet, evaluated, here):
    save_agents(here / "zoo" / "agents", "3x3", "blind")
    code, out, _ = tomnet("evaluate")
    assert code == 0
    assert list(evaluated["populations"]) == ["blind", "3x3"]
    assert (evaluated["levels"], evaluated["seed"]) == (agents.LEVELS, 1)
    assert "oracle" in out
    assert "1.600" in out
    minds = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.startswith(" ") and "4.250" in line}
    assert minds["blind"] == ["–", "4.250", "–", "0.000"]
    assert minds["3x3"] == ["0.062", "4.250", "0.312", "0.000"]
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "blind 0.250 0.188 … 0.312 0.250 0.188 … 0.312 0.438" in rows
    assert "stateless-5x5 0.250 0.188 … 0.312 0.250 0.188 … 0.312 0" in rows
    assert "3x3 0.688 0.625 … 0.750 1 : 1 0 : 1" in rows
    assert "F1" in out


def test_evaluate_some_conditions_of_a_run_as_json(tomnet, evaluated, here):
    save_agents(here / "run", "3x3", "blind", "9x9")
    where = ("--population", here / "run", "--levels", 8, "--seed", 2)
    code, out, _ = tomnet("evaluate", "9x9", "3x3", *where, "--json")
    assert code == 0
    assert list(evaluated["populations"]) == ["9x9", "3x3"]
    plain = json.loads(out, parse_constant=pytest.fail)
    assert set(plain) == {"claims", "experiments", "environment"}
    assert plain["claims"]["F1"]["value"] is None
    assert plain["experiments"]["deep-agents"]["tables"]["performance"]["oracle"]["returns"]["mean"] == 1.6
    assert plain["experiments"]["deep-agents"]["preset"] == "smoke"
    assert plain["environment"]["seed"] == 2


def test_evaluate_keeps_result_and_figures_where_asked(tomnet, evaluated, here, monkeypatch):
    monkeypatch.setattr(
        "tomnet.experiments.analysis.agent_episodes.same_level",
        lambda key, populations: [recorded(), recorded("blind")],
    )
    save_agents(here / "zoo" / "agents", "3x3")
    assert tomnet("evaluate", "--out", here / "kept")[0] == 0
    assert read_json(here / "kept" / "result.json")["experiment"] == "deep-agents"
    drawn = {path.name for path in (here / "kept" / "figures").iterdir()}
    assert drawn == {
        f"{name}.{suffix}"
        for name in ("performance", "acts-on-memory", "figure-10", "species")
        for suffix in ("svg", "png")
    }


# --- Show


def test_show_draws_pictures_and_films(tomnet, here, monkeypatch):
    asked = {}

    def recorded_episodes(key, population, **given):
        asked.update(given, condition=population.condition.name)
        return [recorded(steps=2)]

    monkeypatch.setattr("tomnet.experiments.analysis.agent_episodes.recorded_episodes", recorded_episodes)
    save_agents(here / "zoo" / "agents", "3x3")
    code, out, _ = tomnet("show", "3x3", "--preferred", "c", "--network", 1, "--episodes", 1)
    assert code == 0
    assert out.splitlines() == ["runs/show-3x3-1-C-1/episode-1.png", "runs/show-3x3-1-C-1/episode-1.gif"]
    assert all((here / line).exists() for line in out.splitlines())
    assert asked == {"condition": "3x3", "network": 1, "preferred": 2, "count": 1}


# --- Refused


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ((), "a command is missing: train, evaluate, show"),
        (("trian",), "unknown `tomnet agents` command 'trian'; did you mean 'train'?"),
        (("train", "--preset", "smok"), "unknown preset 'smok'; did you mean 'smoke'?"),
        (("train", "--preset", "smoke", "--seed", -1), "seed = -1"),
        (("train", "--preset", "smoke", "--chunk", 3), "chunk = 3: does not divide the population of 4 networks"),
        (("train", "--preset", "smoke", "--chunk", 0), "chunk = 0: must be above 0"),
        (("train", "--chunk", "few"), "--chunk = few: must be a whole number"),
        (("train", "--chnk", 3), "unknown option '--chnk'; did you mean '--chunk'?"),
        (("train", "--resume", "--out", "nowhere"), "nowhere: there is no run to go on with"),
        (("evaluate", "3x4"), "unknown condition '3x4'; did you mean '3x3'?"),
        (("evaluate",), "the zoo holds no pretrained agents of any condition; `tomnet agents train`"),
        (("evaluate", "--population", "nowhere"), "nowhere: no such folder"),
        (("evaluate", "--population", "."), "holds no trained agents of any condition; the folder of a run of"),
        (("show",), "the zoo holds no pretrained agents of 5x5"),
        (("show", "blnd"), "unknown condition 'blnd'; did you mean 'blind'?"),
    ],
)
def test_a_mistake_is_answered_in_one_line(args, why, refusal):
    assert why in refusal(*args)


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("--network", 3), "network = 3: this population has 0 to 2"),
        (("--preferred", "D"), "unknown object 'D'; known: A, B, C"),
        (("--preferred", 1), "unknown object '1'; known: A, B, C"),
        (("--episodes", 0), "episodes = 0: must lie between 1 and 100"),
        ((), "size = 11: these agents were trained on grids of 5"),
    ],
)
def test_an_agent_that_cannot_be_shown(args, why, refusal, here):
    save_agents(here / "zoo" / "agents", "3x3")
    assert why in refusal("show", "3x3", *args)


def test_a_folder_with_other_settings_is_left_alone(refusal, here):
    write_json(here / "run" / "config.json", {"precious": True})
    for more in ((), ("--resume",)):
        line = refusal("train", "--preset", "smoke", "--out", here / "run", *more)
        assert "holds no run that trains a population; --out names another folder" in line
        assert read_json(here / "run" / "config.json") == {"precious": True}


def test_a_run_that_is_not_finished_is_not_taken_for_a_whole_one(refusal, here):
    save_agents(here / "run", "3x3")
    enter_run(here / "begun", Run("population", {"conditions": ["3x3", "blind", "5x5"]}, {}), resume=False)
    (here / "begun" / "config.json").rename(here / "run" / "config.json")
    for conditions in ((), ("3x3",)):
        line = refusal("evaluate", *conditions, "--population", "run")
        assert "run: holds no trained agents of blind and 5x5; is the run finished?" in line
    write_json(here / "run" / "config.json", {"precious": True})
    assert "config.json: holds no run that trains a population" in refusal("evaluate", "--population", "run")


def test_agents_that_a_population_lacks(refusal, here):
    save_agents(here / "run", "3x3")
    assert "run: holds no trained agents of 9x9; there are 3x3" in refusal("evaluate", "9x9", "--population", "run")
    assert "3x3.safetensors: not a folder" in refusal("evaluate", "--population", "run/3x3.safetensors")


def test_an_evaluation_on_no_levels_is_refused(refusal, here):
    save_agents(here / "zoo" / "agents", "3x3")
    for levels in (0, 100_000_000):
        assert f"levels = {levels}: must lie between 1 and 1000" in refusal("evaluate", "--levels", levels)


@pytest.mark.parametrize("command", [("train", "--preset", "smoke"), ("evaluate",), ("show", "3x3")])
def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(command, refusal, here, monkeypatch):
    save_agents(here / "zoo" / "agents", "3x3")
    for work in (
        "agents.population_training.train_population",
        "experiments.analysis.population_evaluation.evaluate_population",
        "experiments.analysis.agent_episodes.recorded_episodes",
    ):
        monkeypatch.setattr(f"tomnet.{work}", lambda *_, **__: pytest.fail("the work began"))
    (here / "file").write_text("")
    assert "cannot be written to" in refusal(*command, "--out", here / "file" / "below")


def test_verdicts_need_agents_that_were_trained(tomnet, evaluated, here):
    save_agents(here / "zoo" / "agents", "3x3")  # of the preset smoke
    _, out, _ = tomnet("evaluate")
    assert "not trained to decide" in out
    assert "partly" not in out


def test_a_damaged_population_is_named(refusal, here):
    save_agents(here / "run", "3x3")
    path = here / "run" / "3x3.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    assert "run/3x3.safetensors: truncated" in refusal("evaluate", "--population", "run")


@pytest.mark.parametrize("command", [(), *((name,) for name in agents.AGENT_COMMANDS)])
def test_help_is_there_for_every_command(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main(["agents", *command, "--help"])
    assert not stopped.value.code
    assert "usage: tomnet agents" in capsys.readouterr().out


# --- Ceiling


def test_ceiling_writes_a_table_and_prints_both_pools_side_by_side(tomnet, here, monkeypatch):
    def compute_ceiling(agents, seed, rollouts):
        rows = [
            CeilingRow("blind, 5x5", "held out", "species", Estimate(0.75, 0.5, 1.0, 4)),
            CeilingRow("blind, 5x5", "training", "species", Estimate(0.5, 0.25, float("nan"), 4)),
        ]
        return ceiling.Ceiling(agents, seed, rollouts, {"5x5": "digest"}, tuple(rows), "a command", 1.0, {})

    monkeypatch.setattr(ceiling, "compute_ceiling", compute_ceiling)
    code, out, _ = tomnet(
        "ceiling", "--agents", 8, "--seed", 2, "--rollouts", 3, "--out", here / "new" / "ceiling.json"
    )
    assert code == 0
    assert "species 0.750 0.500 … 1.000 0.500 0.250 … – 4 blind, 5x5" in [
        " ".join(row.split()) for row in out.splitlines()
    ]
    told = read_json(here / "new" / "ceiling.json")["ceiling"]
    assert (told["agents"], told["seed"], told["rollouts"]) == (8, 2, 3)
    assert told["populations"] == {"5x5": "digest"}
    assert told["rows"][1]["estimate"]["high"] is None


def test_ceiling_of_nobody_or_of_too_many(refusal):
    assert "agents = 0: must lie between 1 and 10000" in refusal("ceiling", "--agents", 0)
    assert "rollouts = 0: must lie between 1 and 10000" in refusal("ceiling", "--rollouts", 0)
