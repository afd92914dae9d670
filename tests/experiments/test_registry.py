"""The registry: every experiment is complete, and whom, how and how often it meets is what the paper says."""

import ast
import re
import sys
from pathlib import Path

import pytest

from tomnet.agents.planner import PlannerSpecies
from tomnet.experiments import goal_inference, goal_snapshots, greedy_agents, random_agents, registry
from tomnet.experiments.agent_pool import AgentPool
from tomnet.experiments.analysis.random_policies import FLAT
from tomnet.experiments.claims.statements import STATEMENTS
from tomnet.experiments.experiment import PRESETS, Experiment, ObserverSpec
from tomnet.experiments.registry import EXPERIMENTS, find
from tomnet.experiments.run import AGENTS, check_preset
from tomnet.experiments.sally_anne import walks
from tomnet.support.errors import TomnetError
from tomnet.support.json_files import read_json
from tomnet.support.streams import EVALUATION_STREAM

MODULES = (random_agents, goal_inference, goal_snapshots, greedy_agents)
MEASURED = read_json(Path(registry.__file__).parents[2] / "docs" / "results.json")["claims"]
LAST = {"R": 5, "G": 8, "D": 6, "F": 7, "B": 4}
LEDGER = {f"{section}{n}" for section, last in LAST.items() for n in range(1, last + 1)}
ALL_SPECS = [
    pytest.param(spec, id=f"{name}-{preset}-{spec.name}")
    for name, experiment in EXPERIMENTS.items()
    for preset in PRESETS
    for spec in experiment.specs(preset)
]


@pytest.fixture(params=EXPERIMENTS)
def experiment(request) -> Experiment:
    return EXPERIMENTS[request.param]


def module_of(experiment: Experiment):
    return sys.modules[experiment.evaluate.__module__]


# --- The list


def test_every_experiment_module_is_in_the_registry_under_a_name_of_its_own():
    folder = Path(registry.__file__).parent
    with_experiment = {path.stem for path in folder.glob("*.py") if "EXPERIMENT = Experiment(" in path.read_text()}
    assert with_experiment == {module_of(experiment).__name__.rsplit(".", 1)[1] for experiment in EXPERIMENTS.values()}
    assert len(EXPERIMENTS) == len(with_experiment)


def test_the_number_to_expect_of_an_experiment_is_the_one_in_the_ledger(experiment):
    """As its file says it behind a claim's id, rounded as it is written there: `G8, an area of 0.82`."""
    told = module_of(experiment).__doc__ or ""
    numbers = re.findall(r"\b([RGDFB]\d), (?:an? [a-z ]+ of )?(-?[\d.]*\d)", told)
    assert [id for id, _ in numbers] == re.findall(r"\b[RGDFB]\d\b", told)
    for id, number in numbers:
        assert id in experiment.claims
        assert number == f"{MEASURED[id]['value']:.{len(number.partition('.')[2])}f}", id
    measured = any(MEASURED[id]["verdict"] for id in experiment.claims)
    assert bool(numbers) == measured, "what was measured is what a reader can expect"


def test_an_experiment_is_complete(experiment):
    assert EXPERIMENTS[experiment.name] is experiment
    assert module_of(experiment).__name__ == f"tomnet.experiments.{experiment.name.replace('-', '_')}"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", experiment.name)
    assert experiment.title
    assert re.fullmatch(r"2\.1" if experiment.beyond_paper else r"3\.\d", experiment.section)
    assert experiment.figures
    assert callable(experiment.evaluate)


def test_how_long_a_preset_takes_is_measured_or_not_said(experiment):
    """`tomnet list` shows it; filled in after a run."""
    assert set(experiment.minutes) <= set(PRESETS)
    assert all(re.fullmatch(r"(≤ )?\d+", minutes) for minutes in experiment.minutes.values())


def test_a_docstring_gives_the_command_and_the_goal(experiment):
    docstring = module_of(experiment).__doc__
    assert f"tomnet run {experiment.name} --preset laptop" in docstring
    assert "Goal:" in docstring


def test_every_claim_belongs_to_the_ledger_and_to_one_experiment():
    claims = [claim for experiment in EXPERIMENTS.values() for claim in experiment.claims]
    assert len(claims) == len(set(claims))
    assert set(claims) == LEDGER


def test_an_experiment_decides_the_claims_that_it_announces(experiment):
    """Every claim's id that its file writes down, against the list."""
    tree = ast.parse(Path(module_of(experiment).__file__).read_text())
    written = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value in LEDGER}
    assert written == set(experiment.claims)


def test_an_experiment_is_found_by_name_and_a_near_miss_gets_advice():
    assert find("random-agents") is random_agents.EXPERIMENT
    with pytest.raises(TomnetError, match="unknown experiment 'random-agent'; did you mean 'random-agents'?"):
        find("random-agent")


def test_an_unknown_preset_gets_advice():
    for preset in PRESETS:
        check_preset(preset)
    with pytest.raises(TomnetError, match="unknown preset 'lap-top'; did you mean 'laptop'?"):
        check_preset("lap-top")


# --- Observer specs


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_has_members_with_names_of_their_own(preset, experiment):
    names = [spec.name for spec in experiment.specs(preset)]
    assert names
    assert len(names) == len(set(names))
    assert names == [spec.name for spec in experiment.specs("smoke")]
    assert preset in AGENTS


@pytest.mark.parametrize("spec", ALL_SPECS)
def test_a_members_parts_fit_together(spec: ObserverSpec):
    assert spec.observer.size == spec.world.size
    assert spec.observer.objects == spec.world.kinds
    if isinstance(spec.species, PlannerSpecies):
        assert spec.species.objects == spec.world.objects
    one_step = spec.encounter_spec.snapshots or spec.steps == 1
    assert (spec.observer.character in ("snapshots", "sequence")) == one_step
    assert 1 <= spec.reuse <= spec.encounter_spec.max_past + 1
    assert spec.encounter_spec.query_at_start == (not isinstance(spec.species, AgentPool))  # 3.1 and 3.2: no mental net
    assert spec.home in (None, *EXPERIMENTS)


def test_presets_grow(experiment):
    encounters = [
        sum(spec.training.steps * spec.training.batch for spec in experiment.specs(preset)) for preset in PRESETS
    ]
    assert encounters == sorted(encounters)
    assert encounters[0] <= 1000  # smoke takes seconds
    assert AGENTS["smoke"] < AGENTS["laptop"] <= AGENTS["full"]
    assert experiment.agents >= AGENTS["laptop"]


def test_random_agents_are_met_as_in_appendix_a():
    """One observer for each alpha and one for the mixture; up to 10 past episodes of one step; actions only."""
    specs = random_agents.specs("full")
    species = [(0.01,), (0.03,), (0.1,), (0.3,), (1,), (3,), (0.01, 3), (1,)]  # the last for the picture of two
    assert [spec.species.alphas for spec in specs] == species
    for spec in specs:
        assert (spec.encounter_spec.min_past, spec.encounter_spec.max_past, spec.steps) == (0, 10, 1)
        assert (spec.observer.torso_plain, spec.observer.torso_depth, spec.observer.channels) == (True, 2, 32)
        assert spec.observer.heads == ("action",)
    as_in_the_paper = specs[-1].observer
    assert specs[-1].name == FLAT
    assert (as_in_the_paper.embedding, as_in_the_paper.character_channels) == (2, 8)
    assert {spec.observer.embedding for spec in specs[:-1]} == {8}  # five counts do not fit into two


@pytest.mark.parametrize(
    ("module", "past", "snapshots", "embeddings"),
    [
        (goal_inference, (1, 1), False, [2, 8]),
        (goal_snapshots, (0, 10), True, [2, 2]),
        (greedy_agents, (0, 5), False, [8]),
    ],
)
def test_goal_driven_agents_are_met_as_in_appendix_a(module, past, snapshots, embeddings):
    specs = module.specs("full")
    assert [spec.observer.embedding for spec in specs] == embeddings
    for spec in specs:
        assert (spec.encounter_spec.min_past, spec.encounter_spec.max_past) == past
        assert spec.encounter_spec.snapshots == snapshots
        assert (spec.species.alpha, spec.species.move_cost, spec.species.wall_cost) == (0.01, 0.01, 0.05)
        assert spec.species.greedy_share == (0.2 if module is greedy_agents else 0.0)
    heads = [spec.observer.heads for spec in specs]
    everything = ("action", "consumption", "successor")
    assert heads == ([everything, ("action",)] if module is goal_snapshots else [everything] * len(specs))


def test_every_claim_of_the_ledger_is_stated_once():
    assert set(STATEMENTS) == LEDGER
    assert len(set(STATEMENTS.values())) == len(LEDGER)


# --- Evaluation


class Asked(Exception):
    """Raised in place of an evaluation, once it is known whom it would meet."""


def test_an_evaluation_draws_its_agents_from_the_evaluation_stream(experiment, monkeypatch):
    asked = []

    def ask(seed: int, which: int):
        asked.append((seed, which))
        raise Asked

    for module in (module_of(experiment), walks):  # whoever goes along on walks that are shared asks there
        monkeypatch.setattr(module, "stream", ask, raising=False)
    with pytest.raises(Asked):
        experiment.evaluate({}, 4, 17)
    assert asked == [(17, EVALUATION_STREAM)]
