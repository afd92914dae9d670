"""A stored ceiling stands beside the claims that it is about, in their own units, and nowhere else."""

import dataclasses

import pytest
from experiments.minds_small import save_populations
from figures.hand_made import hand_made

from tomnet.agents import population as populations
from tomnet.cards.observers import claims_table
from tomnet.experiments import ceiling
from tomnet.experiments.analysis.ceiling_measures import CeilingRow
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.beside_ceiling import CEILINGS, FILE, beside_ceiling, stored_ceiling
from tomnet.experiments.ceiling import MIXED_POPULATION, THREE_SPECIES, Ceiling, save_ceiling
from tomnet.experiments.claims.claim import beside
from tomnet.experiments.experiment import Result
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.report.page import build_report
from tomnet.report.results_file import Results, summary
from tomnet.report.results_page import results_markdown
from tomnet.support.errors import BadFile
from tomnet.support.json_files import write_json
from tomnet.support.typed_json import from_json

MEANS = {
    (THREE_SPECIES, "action"): 1.12,
    (THREE_SPECIES, "consumption"): 0.18,  # half of what the observer with neither net loses
    (THREE_SPECIES, "successor"): 2.53,
    (THREE_SPECIES, "species"): 0.99,
    (MIXED_POPULATION, "belief, share"): 0.98,
    (MIXED_POPULATION, "7x7 and 9x9 taken for each other"): 0.2,
    (MIXED_POPULATION, "blind and 3x3 taken for each other"): 0.05,
    **{(MIXED_POPULATION, f"swap effect, 9x9 less 3x3, at distance {far}"): 0.1 * far for far in (2, 3, 4)},
}


def made(known: tuple[str, ...] = ("held out",), **populations: str) -> Ceiling:
    rows = [
        CeilingRow(population, part, measure, Estimate(mean, mean, mean, 10))
        for part in known
        for (population, measure), mean in MEANS.items()
    ]
    return Ceiling(500, 1, 32, populations, tuple(rows), "tomnet agents ceiling", 1.0, {})


def with_ceiling(name: str, one: Ceiling | None) -> Result:
    result = hand_made(name)
    return dataclasses.replace(result, claims=beside_ceiling(result.claims, result.tables, one))


def test_each_ceiling_is_in_the_unit_of_its_claim():
    claims = {claim.id: claim for name in EXPERIMENTS for claim in with_ceiling(name, made()).claims}
    told = {id for id, claim in claims.items() if "held out" in (claim.ceiling or {})}
    assert told == CEILINGS.keys() == {"D1", "D4", "F5", "B1", "B3"}
    found = {id: claims[id].ceiling["held out"] for id in CEILINGS}
    assert "weakest: consumption" in claims["D1"].unit
    assert found["D1"] == pytest.approx(0.5 / 0.61)
    assert found["F5"] == pytest.approx(0.1 * claims["F5"].detail["distance"])
    assert (found["D4"], found["B1"], found["B3"]) == (0.99, 0.98, pytest.approx(0.15))


def test_it_joins_what_a_claim_knew_of_rolling_out_the_agents_themselves():
    alone, joined = hand_made("deep-rl-agents").claims[0], with_ceiling("deep-rl-agents", made()).claims[0]
    assert alone.ceiling is not None
    assert joined.ceiling == {"agent": alone.ceiling["agent"], "held out": pytest.approx(0.5 / 0.61)}
    assert "one who has the agent itself at hand, and rolls it out" in beside(None, joined.ceiling)


def test_what_the_ceiling_did_not_measure_is_left_out():
    both = with_ceiling("explicit-beliefs", made(("held out", "training"))).claims[0]
    assert both.ceiling == {"held out": 0.98, "training": 0.98}
    nothing = dataclasses.replace(made(), rows=())
    assert all(claim.ceiling is None for claim in with_ceiling("explicit-beliefs", nothing).claims)
    assert all(claim.ceiling is None for claim in with_ceiling("explicit-beliefs", None).claims)


def test_it_is_told_in_the_report_on_the_page_and_on_the_card(tmp_path):
    result = with_ceiling("explicit-beliefs", made(("held out", "training")))
    told = "the ceiling, one who has these networks at hand: 0.980"
    assert told in build_report([result], tmp_path).read_text()
    assert f"- {told}\n- one who has the training networks at hand: 0.980\n" in results_markdown(
        from_json(Results, summary([result]))
    )
    assert told in claims_table(result)
    assert "ceiling" not in claims_table(hand_made("explicit-beliefs"))


# --- On disk


@pytest.fixture
def agents(tmp_path, monkeypatch):
    monkeypatch.setattr(populations, "PRETRAINED", save_populations(tmp_path, tuple(populations.CONDITIONS)))
    return tmp_path


def test_it_is_found_with_the_agents_that_it_is_about(agents):
    assert stored_ceiling() is None
    save_ceiling(agents / FILE, made(**ceiling.digests()))
    found = stored_ceiling()
    assert found is not None
    assert found.find(THREE_SPECIES, "held out", "species") is not None
    save_ceiling(agents / FILE, made(**ceiling.digests() | {"7x7": "another"}))
    assert stored_ceiling() is None


def test_a_file_that_is_no_ceiling_is_named(agents):
    write_json(agents / FILE, {"format": "tomnet agents"})
    with pytest.raises(BadFile, match="ceiling.json: this is no ceiling that this tomnet can read"):
        stored_ceiling()
