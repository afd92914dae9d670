"""Claims with several seeds: kept in short, told beside the verdicts, and only of the same observers."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from figures.hand_made import hand_made

from tomnet.experiments.registry import EXPERIMENTS
from tomnet.figures.measured import measured
from tomnet.report.page import build_report
from tomnet.report.results_file import Results, read_results, summary
from tomnet.report.results_page import results_markdown, summary_table
from tomnet.report.seeds import (
    SEEDS,
    Seeds,
    all_on_seeds,
    on_seeds,
    read_seeds,
    save_seeds,
    stored_seeds,
    with_results,
)
from tomnet.support.errors import BadFile
from tomnet.support.json_files import write_json
from tomnet.support.typed_json import from_json

NAME, OBSERVERS = "goal-inference", {"2d": "aa", "8d": "bb"}
FILE = Path("results.json")


def plain(seed: int, verdict: str = "reproduced", **changes) -> dict:
    """Of an experiment with two claims, G1 and G7, of which the first has this verdict; as the file has it."""
    one = replace(hand_made(NAME), seed=seed, observers=OBSERVERS, **changes)
    first, *others = one.claims
    return json.loads(json.dumps(summary([replace(one, claims=[replace(first, verdict=verdict), *others])])))


def results(seed: int, verdict: str = "reproduced") -> Results:
    return from_json(Results, plain(seed, verdict))


def with_observers(found: Results, observers: dict[str, str], **changes) -> Results:
    own = replace(found.experiments[NAME], observers=observers, **changes)
    return replace(found, experiments={NAME: own})


def kept(*verdicts: str) -> Seeds:
    seeds = Seeds()
    for seed, verdict in enumerate(verdicts, start=1):
        seeds = with_results(seeds, results(seed, verdict), FILE)
    return seeds


def test_seeds_are_kept_in_short_with_command_and_device(tmp_path):
    save_seeds(tmp_path / "seeds.json", kept("reproduced", "partly"))
    again = read_seeds(tmp_path / "seeds.json")
    assert again == kept("reproduced", "partly")
    first, second = again.of(NAME, OBSERVERS).values()
    assert (first.command, first.device) == ("tomnet evaluate goal-inference --agents 7 --seed 1", "CPU")
    assert second.command.endswith("--seed 2")
    assert [one.claims["G1"].verdict for one in (first, second)] == ["reproduced", "partly"]
    assert first.claims["G1"].value == results(1).claims["G1"].value
    assert (tmp_path / "seeds.json").stat().st_size < 4000


def test_a_seed_that_comes_again_replaces_what_there_was():
    again = with_results(kept("reproduced", "partly"), results(2, "reproduced"), FILE)
    assert again == kept("reproduced", "reproduced")


def test_other_experiments_stay():
    other = replace(hand_made("greedy-agents"), observers={"8d": "cc"})
    both = with_results(kept("reproduced"), from_json(Results, summary([other])), FILE)
    assert list(both.experiments) == [NAME, "greedy-agents"]
    assert both.of(NAME, OBSERVERS) == kept("reproduced").of(NAME, OBSERVERS)


@pytest.mark.parametrize(
    ("verdicts", "shown", "told"),
    [
        (["reproduced"] * 5, "reproduced", "5 of 5 seeds"),
        (["partly"] * 2, "partly", "2 of 2 seeds"),
        (["reproduced", "partly", "reproduced", "partly"], "reproduced", "2 of 4 seeds; partly on seeds 2, 4"),
        (["partly", "not reproduced"], "partly", "1 of 2 seeds; not reproduced on seed 2"),
        ([], "reproduced", ""),
    ],
)
def test_on_how_many_seeds(verdicts, shown, told):
    assert on_seeds("G1", shown, kept(*verdicts).of(NAME, OBSERVERS)) == told


def test_a_claim_that_a_seed_could_not_measure_is_said_to_be():
    two = results(2)
    without = replace(two, claims={id: claim for id, claim in two.claims.items() if id != "G7"})
    seeds = with_results(kept("reproduced"), without, FILE).of(NAME, OBSERVERS)
    assert on_seeds("G7", results(1).claims["G7"].verdict, seeds) == "1 of 2 seeds; not measured on seed 2"
    assert all_on_seeds({"G1": "reproduced"}, seeds) == "; 2 of 2 seeds"
    assert all_on_seeds({"G1": "partly", "G7": "partly"}, seeds) == "; G1, G7 differ between seeds"
    assert all_on_seeds({}, seeds) == all_on_seeds({"G1": "partly"}, {}) == ""


def test_pages_tell_of_seeds_where_they_are_of_the_same_observers(tmp_path):
    seeds = kept("reproduced", "reproduced", "partly")
    page = results_markdown(results(1), seeds=seeds)
    assert "✓ reproduced, 2 of 3 seeds; partly on seed 3\n" in page
    assert "; G1 differs between seeds |" in page
    assert "| goal-inference | 1, 2, 3 | `tomnet evaluate goal-inference --agents 7 --seed 3` | CPU, " in page
    assert "; 2 of 2 seeds |" in summary_table(results(1), seeds=kept("reproduced", "reproduced"))
    assert "seeds" not in summary_table(results(1), "page.md", kept("reproduced", "reproduced"))
    assert "; G1 differs between seeds |" in summary_table(results(1), "page.md", seeds)
    first, *others = hand_made(NAME).claims
    claims = [replace(first, verdict="reproduced"), *others]
    result = replace(hand_made(NAME), observers=OBSERVERS, claims=claims)
    html = build_report([result], tmp_path, seeds=seeds).read_text()
    rows = dict(re.findall(r'<tr><th scope="row" id="claim-(\w\d)">(.*?)</tr>', html))
    assert "2 of 3 seeds; partly on seed 3</span>" in rows["G1"]
    for other in ({"2d": "another"}, {}):
        old = with_observers(results(1), other)
        assert results_markdown(old, seeds=seeds) == results_markdown(old)
        assert "seeds" not in build_report([replace(result, observers=other)], tmp_path, seeds=seeds).read_text()


# --- What is no such thing


def test_results_of_other_observers_are_refused():
    other = with_observers(results(2), {"2d": "another"})
    with pytest.raises(BadFile, match="results.json: is about other observers of goal-inference than the seeds"):
        with_results(kept("reproduced"), other, FILE)


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda one: one["experiments"][NAME].pop("observers"), "does not say which observers of goal-inference"),
        (lambda one: one["experiments"][NAME].pop("seed"), "no claims of goal-inference with a seed: 'seed'"),
        (lambda one: one["experiments"][NAME].update(seed="two"), "goal-inference.seed should be a whole number"),
        (lambda one: one["claims"]["G1"].update(verdict="maybe"), "claims.G1.verdict should be one of reproduced"),
        (lambda one: one["environment"].pop("device"), "device should be text"),
    ],
)
def test_results_that_say_too_little_are_refused(spoil, why, tmp_path):
    one, path = plain(1), tmp_path / FILE
    spoil(one)
    write_json(path, one)
    with pytest.raises(BadFile, match=why):
        with_results(Seeds(), read_results(path), path)


@pytest.mark.parametrize(
    ("plain", "why"),
    [
        ([], "holds no seeds that this tomnet can read"),
        ({"format": "tomnet seeds", "version": 0}, "holds no seeds that this tomnet can read"),
        (
            {"format": "tomnet seeds", "version": 1, "seeds": {"experiments": []}},
            "holds no seeds: experiments should be",
        ),
        (
            {
                "format": "tomnet seeds",
                "version": 1,
                "seeds": {"experiments": {NAME: {"observers": {}, "seeds": {"one": None}}}},
            },
            "holds no seeds",
        ),
    ],
)
def test_a_file_that_holds_no_seeds(plain, why, tmp_path):
    write_json(tmp_path / "seeds.json", plain)
    with pytest.raises(BadFile, match=why):
        stored_seeds(tmp_path / "seeds.json")


def test_without_a_file_there_are_none(tmp_path):
    assert stored_seeds(tmp_path / "seeds.json") == Seeds()


def test_what_the_docs_keep_is_small():
    assert not SEEDS.exists() or SEEDS.stat().st_size <= 1024**2
    assert stored_seeds().experiments.keys() <= EXPERIMENTS.keys()


def test_observers_that_were_trained_again_stand_beside_those_that_ship():
    again = with_results(Seeds(), results(1, "partly"), FILE)
    shipped = results(1, "reproduced")
    value = measured(shipped.claims["G1"].value, shipped.claims["G1"].interval)
    told = f"- trained again, from another seed: partly, {value}"
    assert told not in results_markdown(shipped, retrained=again)  # these are the same observers
    others = {"2d": "cc", "8d": "dd"}
    page = results_markdown(with_observers(shipped, others), retrained=again)
    assert told in page.split("### G1")[1].split("###")[0]
    other_levels = with_observers(shipped, others, seed=2)  # and other agents
    assert "trained again" not in results_markdown(other_levels, retrained=again)
    assert "trained again" not in results_markdown(other_levels)
