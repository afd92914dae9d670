"""The zoo: what it holds loads, what it does not hold is said in one line, and cards say what was measured."""

import re
from dataclasses import replace

import equinox as eqx
import jax
import pytest
from agents.small import made_up_population
from figures.hand_made import hand_made, heads
from figures.hand_made_agents import performance, tables
from helpers import described, made_up, says

from tomnet import zoo
from tomnet.agents.population import CONDITIONS, save_population
from tomnet.cards import adopt
from tomnet.cards.agents import returns_hoped_for
from tomnet.cards.observers import claim_link, compose_card, encounters_text, versions
from tomnet.experiments.analysis.performance import Performance
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.claims.claim import Claim
from tomnet.experiments.experiment import Result
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.experiments.run import check_agents
from tomnet.observer.checkpoint import save_observer
from tomnet.observer.config import ObserverConfig
from tomnet.support.errors import BadFile, TomnetError

NAME, OBSERVERS = "goal-inference", ["2d", "8d"]
CONFIG = ObserverConfig(channels=2, character_channels=2, character_depth=1, torso_depth=1)
ABOUT = says(NAME, "2d") | {
    "command": f"tomnet run {NAME} --preset smoke --seed 3",
    "encounters": 12_345,
    "seconds": 67.8,
    "seed": 3,
    "environment": {"device": "abacus", "cores": 2, "tomnet": "0.1.0", "jax": "0.10.2"},
}


@pytest.fixture
def observers():
    return {spec: made_up(CONFIG, seed) for seed, spec in enumerate(OBSERVERS)}


@pytest.fixture
def run_folder(tmp_path, observers):
    for spec, observer in observers.items():
        save_observer(tmp_path / "run" / spec / "observer.safetensors", observer, ABOUT | {"observer": spec})
    return tmp_path / "run"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "FOLDER", tmp_path / "zoo")
    return tmp_path / "zoo"


def result():
    row = replace(heads(0.5)["action"], observer=Estimate(1.25, 1.2, 1.3, 500), no_past=1.5)
    tables = replace(hand_made(NAME).tables, comparison={"2d": {"action": row}})
    claims = [Claim("G1", "It predicts", "partly", 0.5, (0.4, 0.6), "share", "≥ 0.9", ideal=1.0)]
    environment = {"agents": 500, "device": "abacus", "cores": 2, "commit": "abc"}
    return Result(NAME, "smoke", 1, tables, claims, 1.0, environment)


def test_a_run_is_adopted_whole(run_folder, observers):
    assert not zoo.available(NAME)
    adopt.main(["observers", str(run_folder), NAME])
    assert zoo.available(NAME)
    assert eqx.tree_equal(jax.tree.leaves(dict(zoo.load(NAME))), jax.tree.leaves(observers))
    assert {spec: about.command for spec, about in zoo.about(NAME).items()} == dict.fromkeys(
        OBSERVERS, ABOUT["command"]
    )


def test_an_unknown_observer_gives_the_nearest(run_folder):
    adopt.adopt_observers(run_folder, NAME)
    loaded = zoo.load(NAME)
    assert list(loaded) == OBSERVERS
    assert "3d" not in loaded
    assert jax.tree.structure(jax.tree.map(lambda leaf: leaf, loaded)) == jax.tree.structure(loaded)
    assert len(jax.tree.leaves(loaded)) == len(jax.tree.leaves(dict(loaded)))
    for holder in (loaded, zoo.about(NAME)):
        with pytest.raises(TomnetError, match="unknown observer '3d'; known: 2d, 8d"):
            holder["3d"]


def test_a_run_with_one_observer_missing_is_not_adopted(run_folder, folder):
    (run_folder / "8d" / "observer.safetensors").unlink()
    with pytest.raises(BadFile, match="no trained observer '8d', no 8d/observer.safetensors; is the run finished"):
        adopt.adopt_observers(run_folder, NAME)
    assert not folder.exists()


def test_a_folder_above_or_below_that_of_the_run_says_what_is_expected(run_folder):
    with pytest.raises(BadFile, match="no 2d/observer.safetensors; the folder of a run of goal-inference is expected"):
        zoo.load_run(run_folder.parent, NAME)
    with pytest.raises(BadFile, match=r"run folder lies above, the observer file is .*/2d/observer.safetensors"):
        zoo.load_run(run_folder / "2d", NAME)


def test_an_experiment_that_is_not_pretrained(run_folder):
    with pytest.raises(TomnetError, match="no pretrained observers of goal-inference; `tomnet run goal-inference`"):
        zoo.load(NAME)
    with pytest.raises(TomnetError, match="did you mean 'goal-inference'"):
        zoo.load("goal-inferense")


def met_with(**changed) -> dict:
    return ABOUT["met"] | {"species": ABOUT["met"]["species"] | changed}


@pytest.mark.parametrize(
    ("about", "why"),
    [
        (ABOUT | {"observer": "8d"}, "the observer '8d', not '2d'"),
        (ABOUT | {"observer": "2d", "experiment": "greedy-agents"}, "greedy-agents/2d, not of goal-inference"),
        (ABOUT | {"observer": "9d"}, "goal-inference/9d, not of goal-inference"),
        ({}, "does not describe an observer of an experiment: experiment is missing$"),
        (ABOUT | {"preset": "huge"}, "preset should be one of smoke, laptop, full, not 'huge'$"),
        (ABOUT | {"populations": ["5x5"]}, r"populations should be a table, not \['5x5'\]$"),
        (
            ABOUT | {"met": ABOUT["met"] | {"reuse": 1, "steps": 3}},
            "of preset smoke: steps is 3, not nothing; reuse is 1",
        ),
        (
            ABOUT | {"met": met_with(alpha=0.5)},
            r"met others than goal-inference/2d .*: species.alpha is 0.5, not 0.01$",
        ),
        (ABOUT | {"met": met_with(kind="saints")}, "2d of preset smoke: species.kind is saints, not planners$"),
        (ABOUT | {"met": ABOUT["met"] | {"version": 0}}, "2d of preset smoke: version is 0, not 1$"),
        (ABOUT | {"met": "PlannerSpecies()"}, "met others"),
    ],
)
def test_an_observer_of_something_else_is_refused(about, why, tmp_path, observers):
    save_observer(tmp_path / "odd.safetensors", observers["2d"], about)
    with pytest.raises(BadFile, match=why):
        zoo.read(tmp_path / "odd.safetensors", NAME, "2d")


def test_a_card_says_what_was_trained_and_what_was_measured(run_folder):
    adopt.adopt_observers(run_folder, NAME)
    adopt.write_card(NAME, result())
    card = zoo.card(NAME).read_text()
    assert ABOUT["command"] in card
    assert "| 2d | smoke | 12,345 | 68 | 3 | abacus, 2 cores |" in card
    assert f"| {claim_link('G1')} | partly | 0.500 | 0.400 … 0.600 | 1 | It predicts |" in card
    assert "| action | 1.250 | 1 | 1.500 | 0.500 |" in card
    assert "500 agents drawn with seed 1" in card
    assert "Apache-2.0" in card
    assert f"- {claim_link('G1')}, partly. It predicts: 0.500 (0.400 … 0.600), share; ≥ 0.9." in card


@pytest.mark.parametrize(("commit", "said"), [("abc", False), ("abc-dirty", True), (None, False)])
def test_a_card_says_what_it_means_that_a_commit_is_dirty(commit, said, observers):
    environment = ABOUT["environment"] | {"commit": commit}
    known = {name: (one, described(NAME, name, environment=environment)) for name, one in observers.items()}
    card = compose_card(EXPERIMENTS[NAME], known, result())
    assert ("changes that were not committed" in card) is said


def made_up_card(name: str, shown: Result | None = None) -> str:
    """The card of an experiment whose observers know nothing."""
    specs = EXPERIMENTS[name].specs("smoke")
    observers = {spec.name: (made_up(spec.observer), described(name, spec.name)) for spec in specs}
    return compose_card(EXPERIMENTS[name], observers, shown or hand_made(name))


def test_a_card_of_random_agents_gives_the_divergence_from_bayes():
    card = made_up_card("random-agents")
    assert "| mixture | random agents, their policies drawn from Dir(0.01) or Dir(3) | 0 to 10 snapshots |" in card
    assert "| observer | snapshots | KL |" in card
    assert "| alpha-1 | 5 | 0.0040 | 0.0030 … 0.0050 |" in card
    assert "a convolution and a convolutional LSTM, 8 channels | 8 dimensions | none |" in card


def test_a_card_sets_a_control_beside_the_claims_that_have_one():
    card = made_up_card("explicit-beliefs")
    assert f"- {claim_link('B1')}: share of the way" in card
    assert card.count("Beside it: an observer without a theory of mind: 0.300.") == 1
    assert "7x7, 9x9, asked for their beliefs | nothing | the next action" in card  # seen before it is asked


def test_a_card_calls_snapshots_snapshots_and_episodes_episodes():
    card = made_up_card("goal-snapshots")
    assert "| 0 to 10 snapshots | the next action, what will be eaten, where the agent will be |" in card
    assert "A snapshot is a single state and the action taken there" in card
    assert "After 1 snapshot\n" in card
    assert "After 10 snapshots\n" in card
    assert "past episodes" not in card
    card = made_up_card("greedy-agents")
    assert "rewards drawn from Dir(0.01), 20% of them greedy | 0 to 5 past episodes |" in card
    assert "After 1 past episode\n" in card
    assert "snapshot" not in card


def test_a_card_of_what_goes_beyond_the_paper_has_no_claims_to_tell():
    card = made_up_card("partial-observers")
    assert 'Observers (ToMnets) for an experiment beyond section 2.1 (figure S1) of "Machine Theory of Mind"' in card
    assert "| 1 past episode, seen badly | the next action," in card
    assert "| missed 0.2 | 0.700 | 0.690 … 0.710 | 0.500 |" in card
    assert "How each is decided" not in card
    assert "None of the paper's claims was evaluated." in card


def test_a_card_names_the_claims_that_its_observers_fall_short_of():
    short = hand_made("goal-snapshots")
    trapped = next(claim for claim in short.claims if claim.id == "G4")
    measured = {"verdict": "not reproduced", "value": 0.641, "interval": (0.616, 0.665)}
    short.claims = [replace(claim, verdict="reproduced") for claim in short.claims]
    assert "All of the paper's claims that were evaluated are reproduced." in made_up_card("goal-snapshots", short)
    short.claims[2] = replace(trapped, **measured)
    card = made_up_card("goal-snapshots", short)
    said = "A trapped agent takes the only object in reach: 0.641 (0.616 … 0.665), "
    assert f"- {claim_link('G4')}, not reproduced. {said}" in card
    assert "All of the paper's claims" not in card


def test_a_card_says_which_nets_an_observer_has_and_what_they_let_it_see():
    card = made_up_card("deep-rl-agents")
    pool = "deep RL agents: the training networks of blind, stateless-5x5, 5x5"
    assert f"| none | {pool} | nothing | the next action," in card
    assert f"| char | {pool} | 4 past episodes | the next action," in card
    assert f"| mental | {pool} | the current episode so far | the next action," in card
    assert f"| both | {pool} | 4 past episodes and the current episode so far |" in card
    assert "| none | none | none | none | 3 convolutions, 8 channels |" in card
    assert "| mental | none | none | 1 convolution and a convolutional LSTM, 8 channels |" in card
    assert "on agents of held-out networks: none of them was met in training" in card
    assert "(../agents/README.md)" in card
    assert "| both | held out | action | 0.730 | 0.720 … 0.740 |" in card
    assert "4 objects that change places in 10% of cases when a subgoal is reached" in card
    assert "belief" not in card


def test_a_card_says_what_a_bottleneck_costs_and_what_a_predicted_belief_is():
    card = made_up_card("belief-embeddings")
    assert "| 8 dimensions, a Gaussian posterior that pays 0.01 for a nat |" in card
    assert "asked for their beliefs" in card
    assert "where the agent believes the objects to be" in card
    assert "A predicted belief is what such an agent would report" in card
    assert "## Losses" not in card  # none was measured
    assert "losses above" not in card


def test_a_card_counts_queries_where_there_were_several_about_an_episode():
    for about in ({"encounters": 12_345}, {"encounters": 12_345, "queries": 12_345}):
        assert encounters_text(described(NAME, "2d", **about)) == "12,345"
    assert encounters_text(described(NAME, "2d", encounters=1_000, queries=8_000)) == "1,000, 8,000 queries"


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_can_have_a_card(name):
    card = made_up_card(name)
    assert card.startswith(f"# {EXPERIMENTS[name].title}")
    assert "\n\n\n" not in card
    assert all(f"| {spec} | smoke |" in card for spec in zoo.observer_names(name))


def test_every_experiment_is_pretrained_and_has_its_card(monkeypatch):
    monkeypatch.undo()
    assert all(zoo.available(name) and zoo.card(name).exists() for name in EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_ships_loads_and_knows_where_it_comes_from(name, monkeypatch):
    monkeypatch.undo()
    for spec, about in zoo.about(name).items():
        assert about.command is not None
        assert about.command.startswith(f"tomnet run {zoo.home(name, spec)} ")
        assert about.encounters > 0
    check_agents(EXPERIMENTS[name], zoo.about(name))  # and met the agents that ship


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_card_that_ships_is_that_of_the_observers_that_ship(name, monkeypatch):
    monkeypatch.undo()
    shown, card = hand_made(name), zoo.card(name).read_text()
    before_evaluation, _ = compose_card(EXPERIMENTS[name], zoo.load_all(name), shown).split("## Evaluation")
    assert card.startswith(before_evaluation)
    in_table = [claim.id for claim in shown.claims if f"\n| {claim_link(claim.id)} | " in card]
    assert in_table == [*EXPERIMENTS[name].claims]
    assert [claim.id for claim in shown.claims if claim.decided_by not in card] == []  # decided as the code decides now


@pytest.mark.parametrize("name", [*EXPERIMENTS, zoo.AGENTS])
def test_every_claim_that_a_card_names_leads_to_the_ledger(name, monkeypatch):
    monkeypatch.undo()
    card = zoo.card(name) if name in EXPERIMENTS else zoo.agents_card()
    found = re.findall(r"\[(\w+)\]\((\S+)#(\w+)\)", card.read_text())
    assert {id for id, *_ in found} >= set(EXPERIMENTS[name].claims if name in EXPERIMENTS else ("F1", "F7"))
    for id, page, anchor in found:
        assert f"\n### {id}\n" in (card.parent / page).read_text()
        assert (claim_link(id), anchor) == (f"[{id}]({page}#{anchor})", id.lower())


# --- Agents


def trained(tmp_path, *conditions: str):
    for seed, condition in enumerate(conditions):
        save_population(
            tmp_path / "run" / f"{condition}.safetensors", made_up_population(condition, seed=seed, about=BRED)
        )
    return tmp_path / "run"


BRED = {
    "preset": "full",
    "command": "tomnet agents train --preset full --seed 5",
    "trained": 24,
    "diverged": [7],
    "indices": [3, 1, 2],
    "seconds": 1234.5,
    "steps": 10_000_000,
    "discount": 0.98,
    "seed": 5,
    "environment": {"device": "abacus", "cores": 2, "tomnet": "0.1.0", "jax": "0.10.2", "commit": "abc"},
}


def agents_result():
    claims = [
        Claim(
            "F1",
            "Seen swaps matter",
            "partly",
            0.03,
            (0.02, 0.04),
            "nats",
            "the rule",
            detail={"largest_out_of_view": 0.0},
        )
    ]
    environment = {"agents": 6, "device": "abacus", "cores": 2, "commit": "abc"}
    return Result("deep-agents", "full", 1, tables(), claims, 1.0, environment)


def test_one_agent_is_one_line_away(tmp_path):
    adopt.adopt_agents(trained(tmp_path, "3x3", "blind"))
    agent = zoo.agents("3x3").agent(network=2, preferred=1)
    assert int(agent.preferred) == 1
    assert agent.network.policy.weight.shape == (5, 8)
    assert list(zoo.populations()) == ["blind", "3x3"]  # in the order of the conditions


def test_agents_that_are_not_here(tmp_path, folder):
    with pytest.raises(TomnetError, match="no pretrained agents of 5x5; `tomnet agents train` trains them"):
        zoo.agents("5x5")
    with pytest.raises(TomnetError, match="unknown condition '5x6'; did you mean '5x5'"):
        zoo.agents("5x6")
    with pytest.raises(BadFile, match="run: no such folder"):
        adopt.adopt_agents(tmp_path / "run")
    (tmp_path / "run").mkdir()
    with pytest.raises(BadFile, match="run: holds no trained agents of any condition; the folder of a run of `tomnet"):
        adopt.adopt_agents(tmp_path / "run")
    assert not folder.exists()


def test_a_run_with_one_damaged_population_is_not_adopted(tmp_path, folder):
    run = trained(tmp_path, "3x3", "9x9")
    raw = (run / "9x9.safetensors").read_bytes()
    (run / "9x9.safetensors").write_bytes(raw[:-10])
    with pytest.raises(BadFile, match=r"9x9.safetensors: truncated"):
        adopt.adopt_agents(run)
    assert not folder.exists()


def test_a_population_under_the_name_of_another_is_refused(tmp_path):
    run = trained(tmp_path, "stateless-5x5")
    (run / "stateless-5x5.safetensors").rename(run / "5x5.safetensors")
    with pytest.raises(BadFile, match=r"agents of stateless-5x5 \(field of view 5, without memory\), not of 5x5"):
        zoo.populations(run)


def test_the_card_of_the_agents_says_how_they_were_trained_and_what_they_earn(tmp_path):
    adopt.adopt_agents(trained(tmp_path, "3x3", "blind"))
    adopt.write_agents_card(agents_result())
    card = zoo.agents_card().read_text()
    assert "    tomnet agents train --preset full --seed 5\n" in card
    assert "| 3x3 | full | 3 of 24 | 1 | 10,000,000 | 0.98 | 1,234 | 5 | abacus, 2 cores | tomnet 0.1.0" in card
    assert "| 3x3 | 0, 2 | 1 |" in card  # training and held-out networks
    assert "| oracle | 1 | 1.600 (1.550 … 1.650) | 0.500 | 0.500 | 0.500 | 0.500 | 20 |" in card
    assert "| 3x3 | 3 | 0.200 (0.150 … 0.250) |" in card
    assert "64 levels of its own, drawn with seed 1" in card
    assert "swaps on 128 others" in card
    assert "| 5x5 | 16 | 0.812 (0.750 … 0.875) | 0.250 (0.188 … 0.312) | 0.438 |" in card
    assert "| stateless-5x5 | 16 | 0.250 (0.188 … 0.312) | 0.250 (0.188 … 0.312) | 0 |" in card
    assert "Steps back beyond the view hoped for, judged by the interval: 5x5 0.7 (reached)." in card
    assert "| stateless-5x5 | 0.688 (0.625 … 0.750) | 1, 1 | 0, 1 |" in card
    assert "Sizes hoped for, judged by the interval: stateless-5x5 0.6 (reached)." in card
    assert "stateless-5x5 (missed among held out networks)." in card
    assert f"{claim_link('F1')}: the largest effect of any swap out of view was 0 nats." in card
    assert f"| {claim_link('F1')} | partly | 0.030 | 0.020 … 0.040 | — | Seen swaps matter |" in card
    assert "5×5 gridworlds with 3 objects and a subgoal" in card
    assert f"- {claim_link('F1')}, partly. Seen swaps matter: 0.030 (0.020 … 0.040), nats; the rule." in card
    assert "Apache-2.0" in card


def test_the_card_of_agents_says_who_earns_what_was_hoped_for():
    earned = {"3x3": (0.7, 0.9), "5x5": (1.0, 1.2), "9x9": (1.3, 1.4), "7x7": (1.0, 1.1)}
    any_performance = performance(0.0, 1)

    def earns(low: float, high: float) -> Performance:
        return replace(any_performance, returns=replace(any_performance.returns, low=low, high=high))

    told = returns_hoped_for({name: earns(*ends) for name, ends in earned.items()})
    assert told.endswith("3x3 0.95 (missed), 5x5 1.15 (on the line), 9x9 1.3 (reached).")
    assert returns_hoped_for({"7x7": any_performance}) == ""


def test_the_agents_that_ship_load_and_know_where_they_come_from(monkeypatch):
    monkeypatch.undo()
    populations = zoo.populations()
    assert [*populations] == [*CONDITIONS]
    for population in populations.values():
        assert population.about["command"].startswith("tomnet agents train")
        assert population.training
        assert population.held_out
        assert versions(population.about["environment"]) in zoo.agents_card().read_text()
