import json
from dataclasses import replace
from pathlib import Path

import pytest
from figures.hand_made import hand_made

from tomnet.experiments.claims.statements import STATEMENTS
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.figures.measured import measured
from tomnet.figures.style import NOTHING
from tomnet.report.results_file import Results, read_results, slim, summary
from tomnet.report.results_page import HEADLINES, readme_with, results_markdown, summary_table
from tomnet.report.seeds import stored_seeds
from tomnet.support.errors import BadFile, TomnetError
from tomnet.support.json_files import read_json, write_json
from tomnet.support.typed_json import from_json

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def plain():
    return json.loads(json.dumps(summary([hand_made(name) for name in EXPERIMENTS])))


@pytest.fixture(scope="module")
def results(plain) -> Results:
    return from_json(Results, plain)


def test_the_page_in_the_docs_is_what_the_command_writes():
    page = results_markdown(
        read_results(DOCS / "results.json"), seeds=stored_seeds(), retrained=stored_seeds(DOCS / "retrained.json")
    )
    assert (DOCS / "results.md").read_text() == page, "tomnet results docs/results.json --out docs/results.md"


def test_the_table_in_the_readme_is_what_the_command_writes():
    readme = (DOCS.parent / "README.md").read_text()
    written = readme_with(read_results(DOCS / "results.json"), readme, "docs/results.md", stored_seeds())
    assert readme == written, "tomnet results docs/results.json --out docs/results.md --readme README.md"


def test_a_readme_without_a_place_for_results_is_refused(results):
    with pytest.raises(TomnetError, match="the README has no place for results"):
        readme_with(results, "# tomnet", "docs/results.md")


def test_the_docs_have_every_claim_and_no_tables():
    results = read_json(DOCS / "results.json")
    assert (DOCS / "results.json").stat().st_size <= 300 * 1024
    assert set(results["claims"]) == {id for experiment in EXPERIMENTS.values() for id in experiment.claims}
    assert not any("tables" in about for about in results["experiments"].values())


def test_every_claim_is_told_with_its_numbers_and_its_rule(results):
    page = results_markdown(results)
    for id, claim in results.claims.items():
        part = page.split(f"\n### {id}\n")[1].split("\n##")[0]
        for said in (claim.statement, claim.verdict, claim.unit, claim.decided_by, claim.paper or "—"):
            assert said in part
        assert f"**{measured(claim.value, claim.interval)}**" in part


def test_who_has_no_theory_of_mind_is_told_beside(results):
    page = results_markdown(results)
    assert page.count("- an observer without a theory of mind: ") == 3
    assert "- an observer without a theory of mind: 0.300\n" in page.split("\n### B1\n")[1].split("\n##")[0]


def test_what_fell_short_is_told_where_a_claim_is_not_reproduced(results):
    told = {"successor cut": 0.157, "both is best": True, "blind_nats": 0.25, "edges": [1.0, 2.0], "distance": None}
    claims = {
        id: replace(claim, verdict="partly" if id == "D1" else "reproduced", detail=told)
        for id, claim in results.claims.items()
    }
    page = results_markdown(replace(results, claims=claims))
    part = page.split("\n### D1\n")[1].split("\n##")[0]
    assert "- in detail: successor cut 0.157; both is best yes; blind nats 0.250\n" in part
    assert page.count("- in detail: ") == 1


def test_claims_that_wait_are_told_without_numbers():
    page = results_markdown(from_json(Results, summary([hand_made("goal-inference")], waiting=["false-beliefs"])))
    waiting = EXPERIMENTS["false-beliefs"].claims
    assert f"{len(waiting)} waiting" in page
    assert "Waiting for pretrained observers; `tomnet run false-beliefs` trains your own." in page
    assert "| `tomnet run false-beliefs` | " + f"{len(waiting)} waiting | {NOTHING} | {NOTHING} |" in page
    for id in waiting:
        assert page.split(f"### {id}\n\n")[1].split("\n")[0] == f"**{STATEMENTS[id]}.** … waiting"


def test_the_table_has_a_line_for_each_experiment(results):
    lines = [line for line in results_markdown(results).splitlines() if "`tomnet evaluate" in line]
    of_the_paper = {name: experiment for name, experiment in EXPERIMENTS.items() if not experiment.beyond_paper}
    for (name, experiment), line in zip(of_the_paper.items(), lines, strict=True):
        assert line.startswith(f"| [{', '.join(experiment.figures)}](#{name}) | `tomnet evaluate {name}` | ")
        headline = HEADLINES.get(name, experiment.claims[0])
        assert f"[{headline}](#" in line
        assert line.endswith(f"| {results.claims[headline].decided_by} |")
    assert set(HEADLINES) <= set(EXPERIMENTS)


def test_what_goes_beyond_the_paper_comes_last_and_without_claims(results):
    page = results_markdown(results)
    *_, last = page.split("\n## ")
    assert last.startswith(
        "partial-observers\n\nAn observer that sees badly: an experiment beyond section 2.1, figure S1."
    )
    assert "###" not in last
    assert "partial-observers" not in summary_table(results)
    assert "partial-observers" not in results_markdown(
        from_json(Results, summary([hand_made("goal-inference")], ["partial-observers"]))
    )


def test_the_tables_make_no_difference(plain, results):
    assert results_markdown(from_json(Results, slim(plain))) == results_markdown(results)


def test_what_was_not_measured_has_no_number():
    few = summary([hand_made("goal-inference")])
    few["claims"]["G1"] |= {"value": None, "interval": [None, None]}
    page = results_markdown(from_json(Results, few))
    assert "[G1](#g1): **—** share" in page
    assert "random-agents" not in page


def test_where_experiments_differ_all_of_their_settings_are_told():
    one, other = hand_made("goal-inference"), hand_made("greedy-agents")
    other.environment |= {"agents": 9, "commit": None}
    page = results_markdown(from_json(Results, summary([one, other])))
    assert "`--agents 7` (greedy-agents: 9) and `--seed 3`" in page
    assert ", —)." in page


def test_numbers_have_as_many_digits_as_say_something():
    assert measured(6.0, (5.0, 6.0)) == "6 [5, 6]"
    assert measured(0.1634, None) == "0.163"
    assert measured("inf", None) == "—"  # as JSON has it
    assert measured(-0.0012, [-0.0012, 0.02]) == "−0.0012 [−0.0012, 0.020]"


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ([], "it should be a table"),
        ({}, "claims is missing"),
        ({"claims": [], "experiments": {}, "environment": {}}, "claims should be a table"),
        ({"claims": {"G1": {}}}, "experiments is missing"),
    ],
)
def test_other_json_is_refused(other, why, tmp_path):
    write_json(tmp_path / "other.json", other)
    with pytest.raises(BadFile, match=f"holds no results: {why}"):
        read_results(tmp_path / "other.json")


@pytest.mark.parametrize(
    ("id", "changed", "why"),
    [
        ("G1", {"verdict": "maybe"}, "claims.G1.verdict should be one of reproduced, partly, not reproduced"),
        ("G1", {"interval": [0.5]}, "claims.G1.interval should be 2 items"),
        ("G1", {"mood": "sunny"}, "claims.G1.mood is unknown"),
        ("D1", {"ceiling": {"nobody": 1.0}}, "claims.D1.ceiling.nobody should be one of agent, held out, training"),
    ],
)
def test_a_claim_that_does_not_fit_is_named(id, changed, why, plain, tmp_path):
    write_json(tmp_path / "odd.json", {**plain, "claims": plain["claims"] | {id: plain["claims"][id] | changed}})
    with pytest.raises(BadFile, match=f"odd.json: holds no results: {why}"):
        read_results(tmp_path / "odd.json")


@pytest.mark.parametrize(
    ("agents", "told"),
    [
        (60, "`--agents 60` and `--seed 1`"),
        ({"goal-inference": 60, "goal-snapshots": 60}, "`--agents 60` and `--seed 1`"),
        (
            {"random-agents": 500, "goal-inference": 2000, "goal-snapshots": 500},
            "`--agents 500` (goal-inference: 2000) and `--seed 1`",
        ),
    ],
)
def test_the_page_says_how_many_agents_were_met_and_where_others(results, agents, told):
    page = results_markdown(replace(results, environment=results.environment | {"agents": agents, "seed": 1}))
    assert f"never met, with {told}\n" in page
