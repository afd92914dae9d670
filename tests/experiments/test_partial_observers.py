"""Seeing badly, from whom the observer meets to the figure, with a network that has hardly learned."""

import equinox as eqx
import jax
import numpy as np
import pytest

from tomnet import figures
from tomnet.episodes.episode import NONE
from tomnet.episodes.observer_view import sees_all
from tomnet.experiments import partial_observers
from tomnet.experiments import run as running
from tomnet.experiments.partial_observers import ANY_VIEW, EXPERIMENT, NAME, VIEWS, specs
from tomnet.experiments.run import load_result, run
from tomnet.figures.panels import render

FEW = {kind: dict([*views.items()][-1:]) for kind, views in VIEWS.items()}  # the worst of each


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(partial_observers, "VIEWS", FEW)
        patch.setitem(running.AGENTS, "smoke", 20)
        run(EXPERIMENT, "smoke", 1, folder)
    return folder


@pytest.fixture(scope="module")
def result(folder):
    return load_result(folder)


def test_a_run_decides_no_claim_and_is_drawn(result):
    assert result.claims == []
    assert [*result.observers] == [NAME]
    ((stem, figure),) = figures.figures_for(result).items()
    assert stem == "figure-S1"
    assert render(figure, "svg")
    assert [*figures.captions(result)] == [stem]


def test_with_all_in_sight_nothing_is_lost_and_with_all_steps_missed_everything(result):
    tables = result.tables
    assert tables.all_seen.observer.cost.mean == tables.all_seen.ideal.cost.mean == 0
    (missed,) = tables.curves["missed"]
    assert missed.severity == 1
    assert missed.scores.ideal.loss.mean == pytest.approx(tables.nothing_seen.loss.mean, abs=0.2)
    assert tables.nothing_seen.loss.mean > tables.all_seen.ideal.loss.mean + 1


def test_an_ideal_observer_loses_little_by_actions_that_tell_nothing_where_it_sees_the_way(result):
    (mistaken,) = result.tables.curves["mistaken"]
    assert abs(mistaken.scores.ideal.cost.mean) < 0.2


def test_the_past_is_seen_badly_in_every_way_and_the_query_plainly():
    spec = specs("smoke")[0]
    encounters = jax.tree.map(np.asarray, eqx.filter_jit(spec.sample)(jax.random.key(0), 64))
    past, real = encounters.past, encounters.past.real
    missed, hidden = past.agent_cells == NONE, (past.object_cells == NONE).any(-1)
    assert 0.1 < (missed & real)[:, 0].any(-1).mean() < 0.6
    assert (hidden & ~missed & real)[:, 0].any(-1).mean() > 0.1  # near objects only
    assert (encounters.query.object_cells != NONE).all()
    assert (encounters.query.agent_cell != NONE).all()


def test_the_network_has_met_every_way_of_seeing_that_it_is_measured_in():
    assert all(view in ANY_VIEW.views for views in VIEWS.values() for view in views.values())
    assert sees_all in ANY_VIEW.views
