"""The page of `tomnet watch`: well formed, by itself, and with every number that there is."""

import dataclasses
import json
import re

import pytest
from figures.hand_made_watch import agent, episode, step, watched
from report.test_page import Page

from tomnet.figures.panels import compose_all
from tomnet.figures.watch import panels
from tomnet.report.watched import NOT_ONE, build_page, cluster_names, estimate, summary
from tomnet.watch.surprise import by_past, surprise_interval


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watched")
    assert build_page(watched(), "episodes <here>", folder) == folder / "index.html"
    return folder


def test_the_page_is_well_formed_and_asks_nothing_of_the_network(folder):
    html = (folder / "index.html").read_text()
    page = Page(html)
    ids = page.attributes("id")
    assert len(ids) == len(set(ids))
    assert {"resemblance", "agents", "unexpected", "episodes", "environment"} <= set(ids)
    assert all(len(attrs["alt"]) > 20 for tag, attrs in page.tags if tag == "img")
    assert all(source.startswith("data:") for source in page.attributes("src"))
    for target in page.attributes("href"):
        assert target[1:] in ids if target.startswith("#") else (folder / target).exists()
    assert "nan" not in re.sub(r"base64,[^\"]*", "", html).lower()


def test_every_agent_and_step_is_told(folder):
    text = "".join(Page((folder / "index.html").read_text()).text)
    assert "Watched: episodes <here>" in text
    assert "a <remark>" in text
    assert text.count("<2> $x$ & co") >= 2
    assert "took A; foretold from 1 past episode, " in text
    assert "left 0.90" in text


def test_the_data_is_strict_json(folder):
    data = json.loads((folder / "watched.json").read_text(), parse_constant=lambda name: pytest.fail(name))
    assert data["agents"][0]["episodes"][0]["steps"][1]["nats"] is None
    assert len(data["moments"]) == 3


def test_where_nothing_was_unexpected_that_is_said(tmp_path):
    text = build_page(watched(moments=0), "episodes", tmp_path).read_text()
    assert NOT_ONE in text


def test_agents_of_whom_nothing_counts_are_told_all_the_same(tmp_path):
    one = agent("ann", (0, 0), None, episode(0, step(0, None), counted=False))
    found = dataclasses.replace(watched(1, 0, 0), agents=[one], nats=surprise_interval([]))
    assert summary(found)[-1] == "Surprise: — nats a step."
    assert "ann, episode 0" in build_page(found, "episodes", tmp_path).read_text()


@pytest.mark.parametrize(("agents", "clusters", "moments"), [(1, 0, 1), (30, 6, 6)])
def test_figures_are_drawn_of_few_and_of_many(agents, clusters, moments):
    drawn = compose_all(panels(watched(agents, clusters, moments)))
    assert list(drawn) == ["characters", "surprise", "violations", "courses"]


def test_surprise_by_past_is_a_mean_over_agents():
    two = [
        agent("ann", (0, 0), None, episode(1, step(0, "left")), episode(1, step(0, "left"))),
        agent("bob", (0, 0), None, episode(1, step(0, "up"))),
    ]
    (curve,) = by_past(two).values()
    assert curve.mean == pytest.approx((step(0, "left").nats + step(0, "up").nats) / 2)
    assert estimate(surprise_interval([1.0])) == "1.00"
    assert estimate(surprise_interval([1.0, 1.0])) == "1.00 [1.00, 1.00]"


def test_whoever_is_alone_in_a_cluster_is_told_so_and_long_names_wrap(tmp_path):
    found = watched(agents=4, clusters=3)
    assert cluster_names(found) == {1: "1", 2: "2, alone", 3: "3, alone"}
    assert cluster_names(watched(2, 0)) == {None: "—"}
    agents = [dataclasses.replace(each, agent=f"{'long ' * 8}{each.agent}") for each in found.agents]
    html = build_page(dataclasses.replace(found, agents=agents), "episodes", tmp_path).read_text()
    assert html.count('<th scope="row" class="long">long') == 4
