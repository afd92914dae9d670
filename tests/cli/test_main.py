"""The `tomnet` command: what it prints, what it refuses, its exit codes, and runs that are stopped and go on."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args, get_type_hints

import numpy as np
import pytest
from experiments.minds_small import save_populations
from figures.hand_made import hand_made
from helpers import described, made_up, says

from tomnet.agents.population import load_condition
from tomnet.cli import console
from tomnet.cli import main as cli
from tomnet.cli.bench import Measurement
from tomnet.experiments.analysis.three_species import SPECIES
from tomnet.experiments.claims.claim import Claim
from tomnet.experiments.claims.statements import STATEMENTS
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.experiments.run import OtherAgents, check_agents, load_result
from tomnet.observer.checkpoint import OBSERVER_FORMAT, VERSION, save_observer
from tomnet.observer.config import ObserverConfig
from tomnet.support import cpu
from tomnet.support.array_files import load_arrays
from tomnet.support.checks import check_writable
from tomnet.support.errors import BadFile
from tomnet.support.interrupts import Interrupted
from tomnet.support.json_files import read_jsonl, write_json
from tomnet.support.run_folder import Run, enter_run

pytestmark = pytest.mark.usefixtures("here")

NAME, OBSERVERS = "goal-inference", ["2d", "8d"]
ROOT = Path(__file__).parents[2]
CONFIG = ObserverConfig(channels=2, character_channels=2, character_depth=1, torso_depth=1)


def save_observers(folder: Path, pattern: str, preset: str = "smoke") -> None:
    for seed, observer in enumerate(OBSERVERS):
        about = says(NAME, observer, preset, command="tomnet run", encounters=64)
        save_observer(folder / pattern.format(observer), made_up(CONFIG, seed), about)


@dataclasses.dataclass
class Tables:
    table: list[float]


@pytest.fixture
def evaluated(monkeypatch):
    """An evaluation that takes no time and remembers what it was given."""
    given = {}

    def evaluate(observers, agents, seed):
        given.update(observers=observers, agents=agents, seed=seed)
        claim = Claim("G1", "It predicts", "partly", 0.5, (0.4, 0.6), "share", "≥ 0.9")
        return Tables([1.0, float("nan")]), [claim]

    monkeypatch.setitem(EXPERIMENTS, NAME, dataclasses.replace(EXPERIMENTS[NAME], tables=Tables, evaluate=evaluate))
    return given


# --- What it prints


def test_list_names_every_experiment(tomnet):
    code, out, _ = tomnet("list")
    assert code == 0
    assert all(name in out for name in EXPERIMENTS)


def test_list_fits_eighty_columns_and_shows_only_what_was_measured(tomnet):
    lines = tomnet("list")[1].splitlines()
    assert max(map(len, lines)) <= 80
    assert all(any(line.split()[:2] == [name, each.section] for line in lines) for name, each in EXPERIMENTS.items())
    assert "not measured" not in " ".join(lines)
    assert "not pretrained: random-agents, " in " ".join(lines)  # this zoo is empty


def test_list_says_what_the_claims_are(tomnet):
    code, out, _ = tomnet("list", "--claims")
    assert code == 0
    for claim, statement in STATEMENTS.items():
        assert any(line.split()[:1] == [claim] and statement in line for line in out.splitlines())


def test_the_version(tomnet):
    assert tomnet("--version")[:2] == (0, "tomnet 0.1.0\n")


@pytest.mark.parametrize("command", [(), *((name,) for name in cli.COMMANDS)])
def test_help_is_there_for_every_command(command, capsys):
    with pytest.raises(SystemExit) as stopped:
        cli.main([*command, "--help"])
    assert not stopped.value.code
    assert "usage: tomnet" in capsys.readouterr().out


@pytest.mark.parametrize("command", [each for group in (cli.COMMANDS, *cli.GROUPS.values()) for each in group.values()])
def test_help_says_what_a_command_does_and_what_an_argument_is(command):
    """An imperative for a command, a noun for what it is given."""
    assert command.__doc__[0].isupper()
    told = [each for marked in get_type_hints(command, include_extras=True).values() for each in get_args(marked)]
    helps = [each.help for each in told if getattr(each, "help", None)]
    no_nouns = {"a", "an", "the", "of", "as", "how", "what", "where", "which", "who", "such", "one", "also", "write"}
    assert [text for text in helps if text.split()[0] in no_nouns] == []


def test_help_and_mistakes_wait_for_neither_jax_nor_numpy():
    code = "import sys; from tomnet.cli.main import main; main(['list', 'x']); print({'jax', 'numpy'} & {*sys.modules})"
    assert python(code).stdout == "set()\n"


def test_evaluate_prints_the_claims(tomnet, evaluated, here):
    save_observers(here / "zoo" / NAME, "{}.safetensors", preset="laptop")
    code, out, err = tomnet("evaluate", NAME)
    assert code == 0
    assert "G1" in out
    assert "partly" in out
    assert "goal-inference: 8000 agents act" in err
    assert "first look" not in err
    assert evaluated["seed"] == 1
    assert evaluated["agents"] == EXPERIMENTS[NAME].agents
    assert list(evaluated["observers"]) == OBSERVERS


def test_evaluate_json_is_strict_and_has_the_shape_of_the_report(tomnet, evaluated, here):
    save_observers(here / "run", "{}/observer.safetensors")
    _, out, err = tomnet("evaluate", NAME, "--model", here / "run", "--agents", 50, "--seed", 4, "--json")
    plain = json.loads(out, parse_constant=pytest.fail)
    assert set(plain) == {"claims", "experiments", "environment"}
    assert plain["claims"]["G1"]["verdict"] == "partly"
    assert plain["experiments"][NAME]["tables"] == {"table": [1.0, None]}
    assert plain["environment"]["agents"] == 50
    assert "50 agents give a first look; verdicts are meant for 8,000" in err
    assert plain["environment"]["seed"] == 4


def test_four_steps_of_training_give_no_verdict(tomnet, evaluated, here):
    save_observers(here / "zoo" / NAME, "{}.safetensors", preset="smoke")
    out = tomnet("evaluate", NAME)[1]
    assert "not trained to decide this" in out
    assert "partly" not in out
    assert "0.500" in out  # the numbers stay
    assert json.loads(tomnet("evaluate", NAME, "--json")[1])["claims"]["G1"]["value"] == 0.5


def test_bench_prints_each_row_as_it_comes(tomnet, monkeypatch, capsys):
    row = Measurement("world", "maze", 1234.5, "steps/s", {"worlds": 8})

    def bench(parts):
        yield row
        assert "1,234 steps/s" in capsys.readouterr().out
        yield row

    monkeypatch.setattr("tomnet.cli.bench.bench", bench)
    assert tomnet("bench", "world")[0] == 0


def test_bench_json_is_nothing_but_json(tomnet, monkeypatch):
    row = {"part": "world", "what": "maze", "median": 1234.5, "unit": "steps/s", "notes": {"worlds": 8}}
    monkeypatch.setattr("tomnet.cli.bench.bench", lambda parts: iter([Measurement(**row)] * 2))
    assert json.loads(tomnet("bench", "world", "--json")[1])["measurements"] == [row, row]


def test_evaluate_draws_what_it_measured_where_it_is_told_to(tomnet, evaluated, here, monkeypatch):
    drawn = []

    def save_figures(result, folder):
        drawn.append(folder)
        return [folder / f"figure-{number}.{format}" for number in (3, 4) for format in ("svg", "png")]

    monkeypatch.setattr("tomnet.figures.save_figures", save_figures)
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    for _ in range(2):  # the same again replaces what it made
        code, out, _ = tomnet("evaluate", NAME, "--out", "mine")
        assert (code, out.splitlines()[-1]) == (0, "mine/result.json; mine/figures: figure-3, figure-4")
    assert load_result(Path("mine")).experiment == NAME
    assert drawn == [Path("mine/figures")] * 2
    _, out, err = tomnet("evaluate", NAME, "--out", "mine", "--json")
    assert (json.loads(out)["claims"].keys(), err.splitlines()[-1].split(";")[0]) == ({"G1"}, "mine/result.json")


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ({"notes.md": "mine"}, "x: holds other files, and no result.json from an earlier time"),
        ({"result.json": '{"experiment": "false-beliefs"}'}, f"something else than an evaluation of {NAME}"),
        ({"result.json": '{"agents": 12}', "config.json": "{}"}, "x: holds a run, and what was measured of that"),
        ({"result.json": "{}", "2d/config.json": "{}"}, "x: holds a run, and what was measured of that"),
    ],
)
def test_evaluate_touches_no_folder_but_that_of_an_earlier_evaluation(refusal, here, found, why):
    for name, text in found.items():
        (here / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        (here / "x" / name).write_text(text)
    assert why in (said := refusal("evaluate", NAME, "--out", "x"))
    assert said.endswith("; --out names another folder\n")
    assert {name: (here / "x" / name).read_text() for name in found} == found


def test_an_experiment_without_claims_shows_what_it_measured_in_eighty_columns(capsys, monkeypatch):
    monkeypatch.setattr(console, "PIPE_WIDTH", 80)
    result = hand_made("partial-observers")
    console.print_claims(result)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "partial-observers: --agents 7 --seed 3; beyond the paper, of whose claims it decides none"
    (worst,) = [line for line in lines if line.startswith(" steps missed: 1 ") and "%" not in line]
    assert worst.count("[") == worst.count("]") == 2
    assert sum("what is seen of the past" in line for line in lines) == 2


def test_results_become_a_page_and_slim_data_beside_it(tomnet, evaluated, here, refusal):
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    whole = tomnet("evaluate", NAME, "--json")[1]
    Path("results.json").write_text(whole)
    code, page, _ = tomnet("results", "results.json")
    assert (code, page.count("[G1](#g1): **0.500 [0.400, 0.600]** share")) == (0, 1)
    assert tomnet("results", "results.json", "--out", "results.md")[0] == 0
    assert Path("results.md").read_text() == page
    assert Path("results.json").read_text() == whole  # its tables are not lost
    assert tomnet("results", "results.json", "--out", "docs/mine.md")[0] == 0
    assert "tables" not in Path("docs/mine.json").read_text()
    assert "[mine.json](mine.json)" in Path("docs/mine.md").read_text()
    assert tomnet("results", "docs/mine.json")[1] == page
    assert "out = mine.json: must end in .md" in refusal("results", "results.json", "--out", "mine.json")


def test_results_of_several_seeds_are_kept_and_told_beside_the_page(tomnet, evaluated, here, refusal):
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    for seed in (1, 2):
        Path(f"{seed}.json").write_text(tomnet("evaluate", NAME, "--seed", seed, "--json")[1])
    assert tomnet("results", "1.json", "2.json", "--seeds", "docs/seeds.json")[:2] == (0, f"{NAME}: 1, 2\n")
    assert tomnet("results", "1.json", "--out", "docs/results.md")[0] == 0
    assert "◐ partly, 2 of 2 seeds\n" in Path("docs/results.md").read_text()
    assert "a page is made of one; --seeds keeps several" in refusal("results", "1.json", "2.json")
    assert "FILE ... is missing; `tomnet results --help` explains it" in refusal("results")
    assert "a page is written after it" in refusal("results", "1.json", "--seeds", "s.json", "--out", "docs/p.md")
    assert "holds no seeds" in refusal("results", "1.json", "--seeds", "2.json")
    assert "holds no results" in refusal("results", "docs/seeds.json", "--seeds", "docs/seeds.json")
    save_observer(
        here / "zoo" / NAME / "2d.safetensors", made_up(CONFIG, seed=9), says(NAME, "2d", command="", encounters=1)
    )
    Path("3.json").write_text(tomnet("evaluate", NAME, "--seed", 3, "--json")[1])
    assert "3.json: is about other observers" in refusal("results", "3.json", "--seeds", "docs/seeds.json")


def test_an_observer_file_takes_the_place_of_the_pretrained_one(tomnet, evaluated, here):
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    other = made_up(CONFIG, seed=9)
    save_observer(here / "mine", other, says(NAME, "8d", "laptop"))
    save_observer(here / "run" / "8d" / "observer.safetensors", other, says(NAME, "8d", "laptop"))
    for model in ("mine", "run/8d"):  # a file, or the folder where it was trained
        evaluated.clear()
        assert tomnet("evaluate", NAME, "--model", model)[0] == 0
        heard = evaluated["observers"]["8d"].prediction_net.action.dense.weight
        assert np.array_equal(heard, other.prediction_net.action.dense.weight)


def test_the_report_keeps_each_result_as_it_goes(tomnet, evaluated, here, monkeypatch):
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    monkeypatch.setattr("tomnet.report.page.build_report", lambda results, folder, **_: folder / "index.html")
    code, out, err = tomnet("report", "--out", here / "report")
    assert code == 0
    assert "index.html" in out
    assert "[1/1] goal-inference" in err
    assert json.loads((here / "report" / f"{NAME}.json").read_text())["claims"][0]["id"] == "G1"


@pytest.fixture
def other_agents(here, monkeypatch):
    """An observer in the zoo that met others than the 5x5 agents that are here."""
    monkeypatch.setattr("tomnet.agents.population.PRETRAINED", save_populations(here / "agents", SPECIES))
    digests = {name: load_condition(name).digest for name in SPECIES}
    met = says("agent-embeddings", "bottleneck", populations=digests | {"5x5": "0" * 64})
    save_observer(here / "zoo" / "agent-embeddings" / "bottleneck.safetensors", made_up(CONFIG), met)
    return digests


REFUSED = "agent-embeddings/bottleneck met other agents of 5x5 than those here"


def test_an_observer_is_not_evaluated_beside_other_agents(refusal, other_agents, here):
    assert REFUSED in refusal("evaluate", "agent-embeddings")


def test_an_observer_is_evaluated_beside_the_agents_it_met(other_agents, here):
    def check(met):
        name = "agent-embeddings"
        check_agents(EXPERIMENTS[name], {"bottleneck": described(name, "bottleneck", populations=met)})

    check(other_agents)
    with pytest.raises(OtherAgents, match=REFUSED):
        check(other_agents | {"5x5": "another"})


def test_in_the_report_an_observer_of_other_agents_waits(tomnet, evaluated, other_agents, here, monkeypatch):
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    built = {}
    monkeypatch.setattr("tomnet.report.page.build_report", lambda results, folder, **told: built.update(told) or folder)
    code, _, err = tomnet("report", "--out", here / "report")
    assert code == 0
    assert f"waits: {REFUSED}" in err
    assert built["waiting"] == EXPERIMENTS.keys() - {NAME}
    assert not (here / "report" / "agent-embeddings.json").exists()
    assert (here / "report" / f"{NAME}.json").exists()


def test_a_single_observer_can_be_trained_with_another_seed(tomnet, here, monkeypatch):
    trained = []

    def train_observer(experiment, spec, preset, seed, folder, resume, *, start, mesh):
        trained.append((experiment.name, spec.name, preset, seed, folder, resume, start, mesh))

    monkeypatch.setattr("tomnet.experiments.run.train_observer", train_observer)
    code, out, _ = tomnet("run", NAME, "--observer", "8d", "--preset", "smoke", "--seed", 1, "--out", here / "run")
    assert code == 0
    assert trained == [(NAME, "8d", "smoke", 1, here / "run" / "8d", False, None, None)]
    file = here / "run" / "8d" / "observer.safetensors"
    assert out == f"{file}; `tomnet evaluate {NAME} --model {file}` measures it\n"


def test_each_observer_starts_from_the_pretrained_one_of_its_name_or_all_from_one(tomnet, here, monkeypatch):
    given = {}
    monkeypatch.setattr("tomnet.experiments.run.run", lambda *_, starts, **__: given.update(starts) or 1 / 0)
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    for name, started in ((NAME, [f"{NAME}/2d", f"{NAME}/8d"]), (f"{NAME}/8d", [f"{NAME}/8d"] * 2)):
        with pytest.raises(ZeroDivisionError):
            tomnet("run", NAME, "--from", name, "--out", here / "run")
        assert [given[observer].name for observer in OBSERVERS] == started


def test_figures_are_drawn_again_without_training(tomnet, here, monkeypatch):
    drawn = []
    monkeypatch.setattr("tomnet.figures.save_figures", lambda result, folder: drawn.append(folder) or [folder / "a"])
    write_json(here / "result.json", hand_made(NAME))
    assert tomnet("figures", here)[0] == 0
    assert drawn == [here / "figures"]


# --- What it refuses


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (("raport",), "unknown command 'raport'; did you mean 'report'?"),
        ((), "a command is missing"),
        (("run", "goal-inferense"), "unknown experiment 'goal-inferense'; did you mean 'goal-inference'?"),
        (("evaluate", "chess"), "unknown experiment 'chess'; known: "),
        (("run", NAME, "--preset", "laptp"), "unknown preset 'laptp'; did you mean 'laptop'?"),
        (("run", NAME, "--observer", "2dd"), "unknown observer of goal-inference '2dd'; did you mean '2d'?"),
        (("run", NAME, "--from", "goal-inferense/2d"), "unknown observer 'goal-inferense/2d'"),
        (("run", NAME, "--from", NAME), "the zoo holds no pretrained observers of goal-inference"),
        (("run", NAME, "--from", "none.safetensors"), "none.safetensors: no such file or directory"),
        (("run", NAME, "--seed", "-1"), "seed = -1"),
        (("run", NAME, "--seed", 2**40), "seed = "),
        (("run", NAME, "--seed", "one"), "--seed = one: must be a whole number"),
        (("run", NAME, "--seed=one"), "--seed = one: must be a whole number"),
        (("evaluate", NAME, "--agents", "1.5"), "--agents = 1.5: must be a whole number"),
        (("run", NAME, "--seed"), "--seed"),
        (("run", NAME, "--seed", "--resume"), "--seed"),
        (("run", NAME, "--sede", "1"), "unknown option '--sede'; did you mean '--seed'?"),
        (("run", NAME, "--presett=smoke"), "unknown option '--presett'; did you mean '--preset'?"),
        (
            ("run", "--name", NAME),
            "unknown option '--name'; known: --coordinator, --devices, --distributed, --from, --observer, --out",
        ),
        (("list", "--all"), "unknown option '--all'"),
        (("list", NAME), f"'{NAME}' is a word too many: `tomnet list` takes --claims"),
        (("evaluate", NAME, "--seed", "1", "2d"), "'2d' is a word too many: `tomnet evaluate` takes NAME, --seed, "),
        (("agents", "ceiling", "5x5"), "'5x5' is a word too many: `tomnet agents ceiling` takes --agents, "),
        (("run", NAME, "--resume", "--out", "nowhere"), "nowhere: there is no run to go on with; without --resume"),
        (("run",), "NAME"),
        (("bench", "wrld"), "unknown part 'wrld'; did you mean 'world'?"),
        (("evaluate", NAME), "the zoo holds no pretrained observers of goal-inference"),
        (("evaluate", NAME, "--agents", 1), "agents = 1: must lie between 20 and 10000"),
        (("evaluate", NAME, "--agents", 100_000_000), "agents = 100000000: must lie between 20 and 10000"),
        (("run", NAME, "--out", ""), "--out is empty"),
        (("run", NAME, "--out="), "--out is empty"),
        (("figures", ""), "an argument is empty"),
        (("evaluate", NAME, "--model", "nowhere"), "nowhere: no such file or directory"),
        (("results", "nowhere"), "nowhere: no such file or directory"),
        (("report",), "nothing is pretrained"),
        (("figures", "nowhere"), "no such file or directory"),
    ],
)
def test_a_mistake_is_answered_in_one_line(args, why, refusal):
    assert why in refusal(*args)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        ("result.json", "holds a run already; --resume goes on with it"),
        ("2d/config.json", "config.json: not JSON"),
        ("2d/checkpoint.safetensors", "holds something else than a run that trains an observer"),
    ],
)
def test_a_folder_with_a_run_is_left_alone(found, why, refusal, here):
    (here / "run" / "2d").mkdir(parents=True)
    (here / "run" / found).write_text("precious")
    assert why in refusal("run", NAME, "--preset", "smoke", "--out", here / "run")
    assert (here / "run" / found).read_text() == "precious"
    left = {path.name for path in (here / "run").rglob("*") if path.is_file()} - {".lock"}
    assert left == {Path(found).name}


def test_a_run_does_not_begin_among_other_files(refusal, here):
    (here / "mine").mkdir()
    (here / "mine" / "notes.txt").write_text("precious")
    assert "mine: holds other files, and no run" in refusal("run", NAME, "--preset", "smoke", "--out", here / "mine")
    assert [path.name for path in (here / "mine").iterdir()] == ["notes.txt"]


def test_a_run_that_never_was_is_not_resumed(refusal, here):
    refusal("run", NAME, "--preset", "smoke", "--resume")
    assert list(here.iterdir()) == []


def test_a_run_of_another_kind_is_not_resumed(refusal, here):
    enter_run(here / "run" / "2d", Run("observer", {}, {"experiment": NAME, "preset": "laptop"}), resume=False)
    line = refusal("run", NAME, "--preset", "smoke", "--out", here / "run", "--resume")
    assert "holds a run of goal-inference with preset laptop" in line


def test_a_damaged_observer_is_named(refusal, here):
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    path = here / "zoo" / NAME / "8d.safetensors"
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert f"{path}: damaged" in refusal("evaluate", NAME)
    path.write_bytes(raw[:100])
    assert str(path) in refusal("report")


@pytest.mark.parametrize("plain", [[], {}, {"claims": []}, {"claims": [{}]}, {"claims": [{"interval": 3}]}])
def test_figures_of_something_else_are_refused(plain, refusal, here):
    write_json(here / "result.json", plain)
    assert "result.json: holds no result" in refusal("figures", here)


@pytest.mark.parametrize("where", ["file", "file/below"])
@pytest.mark.parametrize("command", [("run", NAME, "--preset", "smoke"), ("evaluate", NAME), ("report",)], ids=" ".join)
def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(command, where, refusal, here, monkeypatch):
    save_observers(here / "zoo" / NAME, "{}.safetensors")
    for work in ("run", "evaluate"):
        monkeypatch.setattr(f"tomnet.experiments.run.{work}", lambda *_, **__: pytest.fail("the work began"))
    (here / "file").write_text("")
    assert f"{here / where}: cannot be written to" in refusal(*command, "--out", here / where)


def test_a_read_only_folder_is_refused(here, monkeypatch):
    monkeypatch.setattr("tomnet.support.checks.os.access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(BadFile, match=f"run: cannot be written to: {here} is read-only"):
        check_writable(Path("run"))


def test_figures_are_not_drawn_where_they_cannot_be_written(refusal, here, monkeypatch):
    monkeypatch.setattr("tomnet.figures.save_figures", lambda result, folder: pytest.fail("the work began"))
    write_json(here / "result.json", hand_made(NAME))
    (here / "figures").write_text("")
    assert "figures: cannot be written to" in refusal("figures", here)


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating")])
def test_too_little_memory_is_said_in_one_line(error, refusal, monkeypatch):
    monkeypatch.setattr(cli.List, "__call__", lambda self: (_ for _ in ()).throw(error))
    assert "out of memory" in refusal("list")


def test_a_gpu_without_its_extra_names_it(refusal, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", "cuda")
    monkeypatch.setattr(cpu, "find_spec", lambda name: None)
    assert "JAX's plugin for CUDA is not installed; pip install 'tomnet[cuda]' brings it" in refusal("list")


@pytest.mark.parametrize("arguments", [("list",), ("list", "--claims"), ("run", "--help")], ids=" ".join)
def test_a_terminal_without_unicode_gets_plainer_characters(arguments):
    with module(*arguments, PYTHONIOENCODING="ascii", LC_ALL="C") as process:
        out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert out.isascii()
    assert "?" not in out


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        (("evaluate",), "NAME is missing; `tomnet evaluate --help` explains it"),
        (("fit",), "PATH and --out are missing; `tomnet fit --help` explains them"),
        (("fit", "--out", "here"), "PATH is missing; `tomnet fit --help` explains it"),
        (("episodes", "convert", "here"), "--out and --to are missing; `tomnet episodes convert --help` explains them"),
        (("evaluate", NAME, "--seed"), "--seed needs a value"),
        (("evaluate", NAME, "--seed", "--json"), "--seed needs a value"),
    ],
)
def test_what_is_missing_is_said_in_our_own_words(command, missing, refusal):
    assert refusal(*command) == f"tomnet: {missing}\n"


INTERRUPTED_AT = """
import atexit, os, signal, sys, time

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)

class AtImport:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            try:
                interrupt()
            except KeyboardInterrupt:
                raise ImportError("Encountered an error while initializing the extension.") from None

sys.meta_path.insert(0, AtImport())
if {module!r} == "the end":
    atexit.register(interrupt)
from tomnet.cli.entry import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("module", "code", "says"),
    [
        ("tyro", 130, "tomnet: interrupted\n"),  # commands are being loaded
        ("tomnet.zoo", 130, "tomnet: stopping once"),  # a library has words of its own for it
        ("the end", 0, ""),  # all is said
    ],
)
def test_ctrl_c_is_never_a_traceback(module, code, says, here):
    script = here / "interrupted.py"
    signals = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell may have it ignored
    script.write_text(signals + INTERRUPTED_AT.format(module=module))
    ran = subprocess.run([sys.executable, script, "list"], capture_output=True, text=True, timeout=300)
    assert ran.returncode == code
    assert ran.stderr.startswith(says)
    assert "Traceback" not in ran.stderr
    assert ran.stderr.endswith("tomnet: interrupted\n" if code else "")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), Interrupted("interrupted at step 2 of 4")])
def test_ctrl_c_is_130_and_one_line(error, tomnet, monkeypatch):
    monkeypatch.setattr(cli.List, "__call__", lambda self: (_ for _ in ()).throw(error))
    code, _, err = tomnet("list")
    assert code == 130
    assert err.startswith("tomnet: interrupted")
    assert err.count("\n") == 1


def test_a_bug_is_not_hidden(tomnet, monkeypatch):
    monkeypatch.setattr(cli.List, "__call__", lambda self: {}["missing"])
    with pytest.raises(KeyError):
        tomnet("list")


# --- Ctrl-C while nothing can stop

# a command whose only step is a long one in C, as a compilation is: Python's own handlers wait for its end
ONE_LONG_STEP = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may have had it ignored
import hashlib, sys, threading
from tomnet.cli import main as cli

def say_once_it_has_begun():
    begins.wait()
    print("working", file=sys.stderr, flush=True)

begins = threading.Event()
sys.setswitchinterval(10_000)  # so that no other thread runs before the step, which needs Python no more, has begun

def work(self):
    threading.Thread(target=say_once_it_has_begun, daemon=True).start()
    begins.set()
    hashlib.pbkdf2_hmac("sha256", b"", b"", 1_000_000_000)

cli.List.__call__ = work
sys.exit(cli.main(["list"]))
"""


def test_ctrl_c_in_a_long_step_is_acknowledged_at_once_and_a_second_one_stops():
    with started(ONE_LONG_STEP) as process:
        try:
            assert process.stderr is not None
            assert process.stderr.readline() == "working\n"
            process.send_signal(signal.SIGINT)
            line = process.stderr.readline()  # the step takes five minutes or more
            assert process.poll() is None
            assert line == (
                "tomnet: stopping once what is being compiled or computed is through; Ctrl-C again stops now\n"
            )
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=120) == 130
            assert process.stderr.read() == "tomnet: interrupted\n"
        finally:
            process.kill()  # one that does not stop must not hold up all the others


# --- Runs that are stopped and go on

# the real command on a smoke run made longer, with a checkpoint after every chunk and nothing to evaluate or draw; told
# to, it stops after a step and waits for what is done to it
LONG_RUN = """
import dataclasses, os, signal, sys, types
from tomnet.cli.main import main
from tomnet.experiments import goal_inference, registry
from tomnet.observer import training

def log_and_wait(path, row, log=training.append_jsonl):
    log(path, row)
    if row["step"] == int(os.environ.get("WAIT_AFTER", -1)):
        os.kill(os.getpid(), signal.SIGSTOP)

training.append_jsonl = log_and_wait

def specs(preset):
    spec = goal_inference.specs(preset)[0]
    training = dataclasses.replace(spec.training, steps=40, checkpoint_seconds=0.0)
    observer = dataclasses.replace(spec.observer, character_depth=1, torso_depth=1, heads=("action",))
    return (dataclasses.replace(spec, training=training, observer=observer),)

shortened = dict(specs=specs, evaluate=lambda observers, agents, seed: ({}, []))
registry.EXPERIMENTS["goal-inference"] = dataclasses.replace(goal_inference.EXPERIMENT, **shortened)
sys.modules["tomnet.figures"] = types.SimpleNamespace(save_figures=lambda result, folder: [])
sys.modules["tomnet.figures.numbers"] = types.SimpleNamespace(numbers_for=lambda result: [])
sys.exit(main(["run", "goal-inference", "--preset", "smoke", *sys.argv[1:]]))
"""


def started(code: str, *args, **variables: str) -> subprocess.Popen:
    environ = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"} | variables
    command = [sys.executable, "-c", code, *map(str, args)]
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def python(code: str, *args) -> subprocess.CompletedProcess:
    process = started(code, *args)
    out, err = process.communicate(timeout=1200)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def module(*arguments: str, **variables: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "tomnet", *arguments]
    environ = os.environ | {"PYTHONPATH": str(ROOT), "JAX_PLATFORMS": "cpu"} | variables
    return subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_as_a_module_it_tells_the_shell_what_became_of_it():
    process = module("evaluate", "goal-infrence")
    assert "did you mean 'goal-inference'?" in process.communicate(timeout=300)[1]
    assert process.returncode == 2


@pytest.mark.parametrize("arguments", [("list",), ("evaluate", "--help")], ids=" ".join)
def test_a_reader_who_has_had_enough_hears_no_complaint(arguments):
    with module(*arguments) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # as `head` does
        assert process.wait(timeout=300) == 141  # as a program that SIGPIPE stopped
        assert process.stderr.read() == ""


def stopped(number: int, after_step: int, folder: Path, *args) -> tuple[int, str]:
    """Start the long run and send it a signal once it has come so far; its exit code and its last line."""
    process, deadline = started(LONG_RUN, "--out", folder, *args, WAIT_AFTER=str(after_step)), time.monotonic() + 1200
    while os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG) is None:
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(number)
    process.send_signal(signal.SIGCONT)
    err = process.communicate(timeout=600)[1]
    return process.returncode, (err.splitlines() or [""])[-1]


def test_a_run_killed_and_interrupted_goes_on_to_the_same_weights(here):
    assert python(LONG_RUN, "--out", here / "undisturbed").returncode == 0

    assert stopped(signal.SIGKILL, 6, here / "run")[0] == -signal.SIGKILL
    code, line = stopped(signal.SIGINT, 14, here / "run", "--resume")
    assert code == 130
    assert line.startswith("tomnet: interrupted at step")
    assert line.endswith("of 40; --resume goes on from there")
    assert not (here / "run" / "result.json").exists()
    resumed = python(LONG_RUN, "--out", here / "run", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    assert (here / "run" / "result.json").exists()

    mine, theirs = (
        load_arrays(here / name / "2d" / "observer.safetensors", OBSERVER_FORMAT, VERSION)[0]
        for name in ("run", "undisturbed")
    )
    assert mine.keys() == theirs.keys()
    assert all(np.array_equal(mine[name], theirs[name]) for name in mine)
    steps = [row["step"] for row in read_jsonl(here / "run" / "2d" / "metrics.jsonl")]
    assert steps == list(range(2, 42, 2))  # none lost, none twice


# --- Before JAX starts


@pytest.fixture
def environ(monkeypatch, here):
    monkeypatch.setattr(cpu, "_keep_freed_memory", lambda: None)
    for name in ("XLA_FLAGS", "JAX_PLATFORMS", "JAX_COMPILATION_CACHE_DIR", cpu.UNOPTIMISED):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TOMNET_CACHE", str(here / "cache"))
    return os.environ


@pytest.mark.parametrize(
    ("platforms", "jaxlib", "flags", "expected"),
    [
        ("", "0.10.2", "", cpu.OWN_CONVOLUTIONS),
        ("cpu", "0.10.0", "--xla_a=1", f"--xla_a=1 {cpu.OWN_CONVOLUTIONS}"),
        ("cpu", "0.11.0", "", ""),  # a flag that this version may not know would abort the process
        ("cuda", "0.10.2", "", ""),
        ("cpu", "0.10.2", "--xla_cpu_experimental_ynn_fusion_type=", "--xla_cpu_experimental_ynn_fusion_type="),
    ],
)
def test_xla_is_given_only_flags_that_it_knows(platforms, jaxlib, flags, expected, environ, monkeypatch):
    monkeypatch.setenv("JAX_PLATFORMS", platforms)
    monkeypatch.setenv("XLA_FLAGS", flags)
    monkeypatch.setattr(cpu, "version", lambda name: jaxlib)
    cpu.prepare_cpu()
    assert environ["XLA_FLAGS"] == expected


def test_where_programs_are_not_to_be_optimised_they_are_compiled_by_what_is_soonest_done(environ, monkeypatch):
    monkeypatch.setattr(cpu, "version", lambda name: "0.10.2")
    monkeypatch.setenv(cpu.UNOPTIMISED, "1")
    cpu.prepare_cpu()
    assert environ["XLA_FLAGS"].startswith(f"{cpu.OWN_CONVOLUTIONS} --xla_cpu_use_fusion_emitters=false")


def test_compiled_programs_are_kept_where_asked_or_not_at_all(environ, here, monkeypatch):
    cpu.prepare_cpu()
    assert environ["JAX_COMPILATION_CACHE_DIR"].startswith(str(here / "cache"))
    monkeypatch.delenv("JAX_COMPILATION_CACHE_DIR")
    (here / "file").write_text("")
    monkeypatch.setenv("TOMNET_CACHE", str(here / "file"))
    cpu.prepare_cpu()
    assert "JAX_COMPILATION_CACHE_DIR" not in environ
