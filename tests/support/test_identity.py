"""Identities: every field is in them, no class name is, and a difference is named by its field."""

import dataclasses
import json

import pytest

from tomnet.agents.planner import PlannerSpecies
from tomnet.agents.random_policy import RandomSpecies
from tomnet.episodes.encounter import EncounterSpec
from tomnet.episodes.observer_view import MissedSteps, NearObjectsOnly, NoisyActions, OfThePast, OneOf
from tomnet.experiments.agent_pool import AgentPool
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.support.errors import BadSetting
from tomnet.support.identity import differences, plain
from tomnet.world.gridworld import World

SPECS = [
    pytest.param(spec, id=f"{name}-{spec.name}-{preset}")
    for name, experiment in EXPERIMENTS.items()
    for preset in ("smoke", "full")
    for spec in experiment.specs(preset)
]


def test_what_is_at_its_default_is_told_too():
    assert plain(World(size=9)) == {
        "size": 9,
        "objects": 4,
        "subgoal": False,
        "max_walls": 4,
        "swap_probability": 0.0,
        "step_limit": 31,
    }
    assert plain(EncounterSpec(0, 2)) == {
        "min_past": 0,
        "max_past": 2,
        "snapshots": False,
        "query_at_start": True,
        "view": {"kind": "all"},
    }


@pytest.mark.parametrize(
    ("thing", "kind"),
    [
        (RandomSpecies((1.0,)), "random"),
        (PlannerSpecies(), "planners"),
        (AgentPool(("5x5",)), "deep RL agents"),
        (NoisyActions(0.1), "noisy actions"),
        (NearObjectsOnly(2), "near objects only"),
        (MissedSteps(0.1), "missed steps"),
        (OneOf((MissedSteps(0.1), NearObjectsOnly(2))), "one of several"),
        (OfThePast(MissedSteps(0.1)), "of the past"),
    ],
)
def test_what_can_stand_in_for_each_other_is_told_apart_by_a_word(thing, kind):
    assert plain(thing)["kind"] == kind


def test_where_agents_lie_is_not_what_they_are(tmp_path):
    assert plain(AgentPool(("5x5",), folder=tmp_path)) == plain(AgentPool(("5x5",)))
    assert set(plain(AgentPool(("5x5",)))) == {"kind", "conditions", "part", "beliefs", "networks"}


@pytest.mark.parametrize("spec", SPECS)
def test_every_member_is_known_by_plain_values(spec):
    assert json.loads(json.dumps(spec.met)) == spec.met
    assert set(spec.met["world"]) == {field.name for field in dataclasses.fields(World)}
    assert set(spec.met["encounters"]) == {field.name for field in dataclasses.fields(EncounterSpec)}


def test_a_view_that_has_no_fields_cannot_be_told_later():
    with pytest.raises(BadSetting, match="only numbers, words and dataclasses"):
        plain(EncounterSpec(0, 2, view=lambda key, episode: episode))


@pytest.mark.parametrize(
    ("was", "told"),
    [
        ({"version": 1, "world": {"size": 11, "walls": 4}, "steps": None}, []),
        (
            {"version": 1, "world": {"size": 9, "walls": 4}, "steps": 3},
            ["world.size is 9, not 11", "steps is 3, not nothing"],
        ),
        ({"version": 1, "world": {"size": 11}, "steps": None}, ["world.walls is missing, not 4"]),
        ({"version": 1, "world": {"size": 11, "walls": 4, "mood": 1}, "steps": None}, ["world.mood is 1, not missing"]),
        ({"version": 1, "world": {"kind": "sea", "size": 9}, "steps": None}, ["world.kind is sea, not missing"]),
        ({"version": 0, "world": "World()"}, ["version is 0, not 1"]),
    ],
)
def test_a_difference_is_named_by_its_field(was, told):
    now = {"version": 1, "world": {"size": 11, "walls": 4}, "steps": None}
    assert list(differences(was, now)) == told
