"""The map of known agents: what the zoo keeps is what would be drawn, of the observers that are there now."""

import dataclasses
import json

import numpy as np
import pytest

from tomnet import zoo
from tomnet.support.errors import BadFile

maps = pytest.importorskip("tomnet.explorer.known_agents", exc_type=ImportError)

QUICK = "random-agents/alpha-1-2d"
KEPT = zoo.FOLDER / maps.FILE


@pytest.mark.parametrize("name", maps.offered())
def test_the_zoo_keeps_a_map_of_every_observer_that_is_there_now(name):
    assert maps.up_to_date(name) is not None, "python -m tomnet.explorer.known_agents"


def test_what_is_kept_is_what_would_be_drawn():
    kept, drawn = maps.up_to_date(QUICK), maps.draw(QUICK)
    assert kept is not None
    assert kept.favourite == drawn.favourite
    for part in maps.ARRAYS:
        np.testing.assert_allclose(getattr(kept, part), getattr(drawn, part), atol=1e-3)


def test_the_page_is_given_numbers_that_json_can_hold():
    told = maps.known_agents(QUICK)
    assert np.shape(told["points"]) == (maps.AGENTS, 2)
    assert set(told["favourite"]) == {"up", "down", "left", "right", "stay"}
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize("changed", [{"observer": "another"}, {"5x5": "others"}])
def test_of_another_observer_or_other_agents_nothing_is_kept(monkeypatch, tmp_path, changed):
    kept = maps.kept_maps(KEPT)[QUICK]
    other = dataclasses.replace(kept, whom=kept.whom | changed)
    maps.keep_maps(tmp_path / maps.FILE, {QUICK: other})
    whom = maps.whom(QUICK)
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    monkeypatch.setattr(maps, "whom", lambda name: whom)
    assert maps.up_to_date(QUICK) is None
    maps.keep_maps(tmp_path / maps.FILE, {QUICK: kept})
    assert maps.up_to_date(QUICK) is not None


def test_a_zoo_without_maps_keeps_none(tmp_path):
    assert maps.kept_maps(tmp_path / maps.FILE) == {}


def test_a_flipped_bit_is_refused(tmp_path):
    raw = bytearray(KEPT.read_bytes())
    raw[-1] ^= 1
    (tmp_path / maps.FILE).write_bytes(raw)
    with pytest.raises(BadFile, match="its checksum does not match"):
        maps.kept_maps(tmp_path / maps.FILE)
