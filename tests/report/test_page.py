import json
import re
from html.parser import HTMLParser

import pytest
from figures.hand_made import hand_made

from tomnet.cards.observers import claim_link
from tomnet.experiments.claims.claim import Claim
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.report.page import SIGNS, build_report
from tomnet.report.results_file import environment_of

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """Tags must close in order; ids must be unique; images must say what they show."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] for _, attrs in self.tags if name in attrs]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    words = f"See [their card](../agents/README.md), and {claim_link('G1')}."
    cards = {name: f"# Card of {name}\n\n{words}" for name in (*EXPERIMENTS, "agents")}
    page = build_report([hand_made(name) for name in EXPERIMENTS], folder, cards=cards)
    assert page == folder / "index.html"
    return folder


@pytest.fixture(scope="module")
def html(folder):
    return (folder / "index.html").read_text()


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def test_the_page_is_well_formed_and_accessible(page):
    assert page.tags[0] == ("html", {"lang": "en"})
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    images = [attrs for tag, attrs in page.tags if tag == "img"]
    assert len(images) > 15
    assert all(len(image["alt"]) > 20 for image in images)
    for target in page.attributes("href"):
        assert not target.startswith("#") or target[1:] in ids


def test_the_page_asks_nothing_of_the_network(html, page):
    assert len(html) < 5_000_000
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    assert all(source.startswith("data:image/svg+xml;base64,") for source in page.attributes("src"))
    assert not [target for target in page.attributes("href") if re.match(r"(\w+:)?//", target)]
    assert "url(" not in html
    assert "@import" not in html


def test_linked_files_are_there(folder, page):
    links = [target for target in page.attributes("href") if not target.startswith("#")]
    assert links[:2] == ["pages/deviations.html", "results.json"]  # the data are at the top
    assert all((folder / link).is_file() for link in links)
    stems = {f"figure-{n}" for experiment in EXPERIMENTS.values() for n in experiment.figures} | {"figure-1"}
    assert {path.name for path in (folder / "figures").iterdir()} == {f"{s}.{f}" for s in stems for f in ("svg", "png")}


def test_every_claim_is_in_the_ledger_with_its_verdict_in_words(html):
    rows = dict(re.findall(r'<tr><th scope="row" id="claim-(\w\d)">(.*?)</tr>', html))
    for name, experiment in EXPERIMENTS.items():
        for claim in hand_made(name).claims:
            assert claim.id in experiment.claims
            assert f"{SIGNS[claim.verdict]}</span> {claim.verdict}<" in rows[claim.id]
    assert [id for id in rows if id[0] in "RG"] == [*(f"R{n}" for n in range(1, 6)), *(f"G{n}" for n in range(1, 9))]
    assert set(rows) == {id for experiment in EXPERIMENTS.values() for id in experiment.claims}


@pytest.mark.parametrize("name", ["random-agents", "goal-inference", "goal-snapshots", "greedy-agents"])
def test_a_claim_has_an_interval_and_what_the_paper_says(name):
    for claim in hand_made(name).claims:
        assert claim.interval is not None, claim.id
        assert claim.paper, claim.id


def test_an_observer_without_a_theory_of_mind_stands_beside_what_it_was_asked_about(html):
    rows = dict(re.findall(r'<tr><th scope="row" id="claim-(\w\d)">(.*?)</tr>', html))
    with_control = {id for id, row in rows.items() if "an observer without a theory of mind: " in row}
    assert with_control == {"F3", "F6", "B1"}
    assert "an observer without a theory of mind: 0.300</span>" in rows["B1"]


def test_verdicts_are_counted(page):
    claims = [claim for name in EXPERIMENTS for claim in hand_made(name).claims]
    reproduced = sum(claim.verdict == "reproduced" for claim in claims)
    assert f"reproduced: {reproduced}" in re.sub(r"\s+", " ", "".join(page.text))


def test_results_json(folder):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    written = json.loads((folder / "results.json").read_text(), parse_constant=refuse)
    assert set(written) == {"claims", "experiments", "environment"}
    assert set(written["claims"]) == {id for experiment in EXPERIMENTS.values() for id in experiment.claims}
    fields = {"verdict", "value", "interval", "unit", "paper", "ideal", "statement", "decided_by", "detail"}
    assert all(fields <= set(claim) for claim in written["claims"].values())
    assert set(written["experiments"]) == set(EXPERIMENTS)
    assert written["experiments"]["goal-inference"]["tables"]["comparison"]["2d"]["action"]["captured"]["mean"] == 0.85
    assert {"device", "commit", "seed", "cores", "agents"} <= set(written["environment"])


def test_a_claim_leads_to_what_decides_it_and_back(html):
    for name, experiment in EXPERIMENTS.items():
        section = html.split(f'<section id="{name}">')[1].split("</section>")[0]
        for id in experiment.claims:
            assert f'id="claim-{id}"><a href="#{name}">{id}</a>' in html
            assert f'<a href="#claim-{id}">{id}</a>' in section


def test_every_figure_has_the_command_that_draws_it(html):
    for figure in re.findall(r"<figure id.*?</figure>", html, flags=re.DOTALL):
        assert "<code>tomnet " in figure
    assert "<code>tomnet evaluate goal-inference --agents 7 --seed 3 --out DIR</code>" in html


def test_cards_and_docs_are_pages_that_lead_to_each_other(folder, page):
    pages = {path.stem: path.read_text() for path in (folder / "pages").iterdir()}
    assert set(pages) == {*EXPERIMENTS, "agents", "deviations", "performance"}
    assert '<h1 id="card-of-agents">' in pages["agents"]
    assert '<a href="agents.html">their card</a>, and <a href="../index.html#claim-G1">G1</a>' in pages["false-beliefs"]
    assert {f"pages/{name}.html" for name in (*EXPERIMENTS, "agents", "deviations")} <= set(page.attributes("href"))
    for text in pages.values():
        one = Page(text)
        assert "../index.html" in one.attributes("href")
        for target in one.attributes("href"):
            path, _, place = target.partition("#")
            assert (folder / "pages" / path).is_file()
            assert not place or place in Page((folder / "pages" / path).read_text()).attributes("id")


def test_hostile_text_is_only_text(tmp_path):
    result = hand_made("greedy-agents")
    hostile = "\"><script>alert(1)</script>'&"
    result.claims = [
        Claim(
            "G8",
            hostile,
            "partly",
            0.5,
            None,
            hostile,
            hostile,
            hostile,
            detail={hostile: [hostile, None, True]},
        )
    ]
    result.preset, result.environment = hostile, {hostile: hostile}
    card = tmp_path / "card.md"
    card.write_text(hostile)
    written = build_report([result], tmp_path / "out", cards={"greedy-agents": card}).read_text()
    parsed = Page(written)
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert "".join(parsed.text).count("<script>alert(1)</script>") >= 5
    shown = Page((tmp_path / "out" / "pages" / "greedy-agents.html").read_text())
    assert "script" not in {tag for tag, _ in shown.tags}
    assert "<script>alert(1)</script>" in "".join(shown.text)


def test_missing_experiments_are_named(tmp_path):
    written = build_report([hand_made("goal-inference")], tmp_path, seconds=61.2).read_text()
    text = re.sub(r"\s+", " ", "".join(Page(written).text))
    for name in ("random-agents", "goal-snapshots", "greedy-agents"):
        assert f"no result for {name}" in text
    claims = [id for name, experiment in EXPERIMENTS.items() if name != "goal-inference" for id in experiment.claims]
    assert text.count("– not evaluated") == 1 + len(claims)  # the count, and a line for each claim
    assert "61 s" in text


def test_what_waits_for_an_observer_of_these_agents_has_no_verdict(tmp_path):
    written = build_report([hand_made("goal-inference")], tmp_path, waiting=["false-beliefs"]).read_text()
    text = re.sub(r"\s+", " ", "".join(Page(written).text))
    rows = dict(re.findall(r'<tr><th scope="row" id="claim-(\w\d)">(.*?)</tr>', written))
    for id in EXPERIMENTS["false-beliefs"].claims:
        assert "waits for an observer of these agents" in rows[id]
        assert f"{SIGNS['waiting']}</span> waiting<" in rows[id]
        assert not any(f" {word}<" in rows[id] for word in SIGNS if word != "waiting")
    assert "waits" not in rows["F5"]
    assert f"waiting: {len(EXPERIMENTS['false-beliefs'].claims)}" in text
    claims = json.loads((tmp_path / "results.json").read_text())["claims"]
    assert claims["F2"]["verdict"] is None
    assert claims["F2"]["waits"] == "waits for an observer of these agents"
    assert claims["G1"]["verdict"] is not None


def test_what_goes_beyond_the_paper_has_its_figure_and_no_verdict(html):
    section = html.split('<section id="partial-observers">')[1].split("</section>")[0]
    assert "An experiment beyond section 2.1 of the paper." in section
    assert "decides none of its claims" in section
    assert '<figure id="figure-S1">' in section
    assert 'aria-label="Claims"' not in section


def test_what_goes_beyond_the_paper_is_missed_without_claims(tmp_path):
    written = build_report([], tmp_path, waiting=["partial-observers"]).read_text()
    text = re.sub(r"\s+", " ", "".join(Page(written).text))
    assert "figure S1 is not in this report. It waits for an observer of these agents." in text


def test_nothing_to_report(tmp_path):
    text = "".join(Page(build_report([], tmp_path).read_text()).text)
    assert text.count("Missing:") == len(EXPERIMENTS)
    assert json.loads((tmp_path / "results.json").read_text())["claims"] == {}


def test_the_environment_names_what_differs():
    one, other = hand_made("goal-inference"), hand_made("greedy-agents")
    other.environment["agents"] = 9
    merged = environment_of([one, other])
    assert merged["device"] == "CPU"
    assert merged["seed"] == 3
    assert merged["agents"] == {"goal-inference": 7, "greedy-agents": 9}
