"""Figures of deep RL agents, from tables made by hand: what is drawn where, and what captions say."""

import io
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from figures.hand_made import with_changed
from figures.hand_made_agents import SIZE, metrics, recorded, tables
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from PIL import Image

from tomnet.experiments.analysis.agent_episodes import RecordedEpisode
from tomnet.experiments.analysis.examples import PlainState
from tomnet.experiments.analysis.population_evaluation import PopulationTables
from tomnet.experiments.analysis.statistics import UNKNOWN, NetworkMean
from tomnet.figures import agent_episodes
from tomnet.figures.gridworld import draw_belief, draw_fog, draw_level, draw_swap, with_subgoal
from tomnet.figures.panels import compose, render
from tomnet.figures.population_evaluation import in_order, memory_panels, population_panels
from tomnet.figures.population_training import learning_panels
from tomnet.figures.swap_examples import swap_example_caption
from tomnet.support.json_files import json_text
from tomnet.support.typed_json import from_json

NOT_MEASURED = NetworkMean(**vars(UNKNOWN), each=[math.nan] * 3)


@pytest.fixture
def axes():
    return Figure().subplots()


def filled(axes) -> list[set[tuple[int, int]]]:
    """The cells of each collection of squares."""
    found = []
    for collection in axes.collections:
        boxes = [path.get_extents() for path in collection.get_paths()]
        found.append({(round((box.y0 + box.y1) / 2), round((box.x0 + box.x1) / 2)) for box in boxes})
    return found


# --- Every figure


def test_every_figure_draws_the_same_from_what_json_keeps():
    made, episodes = tables(), [recorded(), recorded("blind")]

    def drawn(tables: PopulationTables, episodes: list[RecordedEpisode]) -> dict[str, bytes]:
        panels = {**learning_panels(metrics()), **population_panels(tables), **agent_episodes.species_panels(episodes)}
        assert all(len(panel.alt) > 20 for some in panels.values() for panel in some)
        return {stem: render(compose(some), "svg") for stem, some in panels.items()}

    once = drawn(made, episodes)
    assert set(once) == {"learning-curves", "performance", "acts-on-memory", "figure-10", "species"}
    kept, kept_episodes = json.loads(json_text([made, episodes]))
    assert once == drawn(from_json(PopulationTables, kept), from_json(list[RecordedEpisode], kept_episodes))


def test_species_come_in_order_of_what_they_see():
    assert in_order(["9x9", "oracle", "blind", "own", "3x3", "random"]) == [
        "random",
        "blind",
        "3x3",
        "9x9",
        "oracle",
        "own",
    ]


def test_a_caption_reads_its_numbers_from_the_tables():
    caption = swap_example_caption(tables().examples)
    assert "in view, D_JS between the two next policies 0.345 nats, between the beliefs 0.345 nats" in caption
    assert "out of view, D_JS between the two next policies 0, between the beliefs 0 (c)" in caption
    assert "200 stochastic rollouts" in caption


def test_a_kind_of_swap_that_was_not_found_is_left_out():
    made = with_changed(tables(), ("examples", "in_view"), None)
    assert "no swap in view" in swap_example_caption(made.examples)
    assert render(compose(population_panels(made)["figure-10"]), "svg")
    made = with_changed(made, ("examples", "out_of_view"), None)
    assert set(population_panels(made)) == {"performance", "acts-on-memory"}
    made = replace(made, examples={})  # the condition of the figure was not evaluated
    assert set(population_panels(made)) == {"performance", "acts-on-memory"}


def test_what_could_not_be_measured_is_left_out_not_invented():
    made = tables()
    for name in ("returns", "subgoal_first"):
        made = with_changed(made, ("performance", "3x3", name), NOT_MEASURED)
    assert render(compose(population_panels(made)["performance"]), "svg")


def test_memory_is_drawn_beside_its_absence_species_by_species():
    made = with_changed(tables().acts_on_memory, ("5x5", "beyond_view"), NOT_MEASURED)  # nothing beyond its view
    figure = compose(memory_panels(made)["acts-on-memory"])
    (axes,) = figure.subfigs[0].axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["blind", "3×3", "5×5", "stateless 5×5"]
    points = [np.array(line.get_data(), float) for line in axes.lines]
    means = {round(y, 2): x for x, y in (point[:, 0] for point in points if point.shape[1] == 1)}
    never = {-0.18: 0.25, 0.82: 0.25, 1.82: 0.25, 2.82: 0.25}
    assert means == pytest.approx({0.18: 0.25, 1.18: 0.8125, 2.18: math.nan, 3.18: 0.25} | never, nan_ok=True)


# --- Maps


def test_a_subgoal_is_a_star_and_no_fifth_letter(axes):
    state = PlainState(np.zeros((SIZE, SIZE), int), agent_cell=0, object_cells=[4, -1, 24, 13])
    draw_level(axes, with_subgoal(state), grid=False)
    assert sorted(text.get_text() for text in axes.texts) == ["A", "C"]
    (star,) = axes.lines
    assert star.get_marker() == "*"
    assert (star.get_ydata()[0], star.get_xdata()[0]) == (2, 3)
    eaten = Figure().subplots()
    draw_level(eaten, with_subgoal(replace(state, object_cells=[4, -1, 24, -1])), grid=False)
    assert not eaten.lines


def test_fog_lies_where_the_agent_does_not_look(axes):
    visibility = [[0, 1, 2], [2, 2, 2], [2, 2, 0]]
    draw_fog(axes, visibility)
    never, before = filled(axes)
    assert never == {(0, 0), (2, 2)}
    assert before == {(0, 1)}


def test_a_belief_has_the_area_of_its_probability(axes):
    belief = [0.0] * (SIZE * SIZE + 1)
    belief[7], belief[10], belief[-1] = 0.64, 0.16, 0.2
    draw_belief(axes, belief, 0, SIZE)
    (circles,) = (artist for artist in axes.collections if isinstance(artist, PatchCollection))
    boxes = [path.get_extents() for path in circles.get_paths()]
    assert [(box.y0 + box.y1) / 2 for box in boxes] == pytest.approx([1, 2])
    assert [(box.x0 + box.x1) / 2 for box in boxes] == pytest.approx([2, 0])
    assert [box.width for box in boxes] == pytest.approx([0.8, 0.4])  # areas 4 : 1


def test_a_swap_is_an_arrow_for_each_object_that_moved(axes):
    axes.set(xlim=(-0.5, 4.5), ylim=(4.5, -0.5))
    draw_swap(axes, before=[4, 20, 24], after=[20, 4, 24], size=SIZE)
    assert len(axes.patches) == 2


# --- Episodes


def test_moments_hold_the_start_the_end_and_what_follows_the_subgoal():
    assert agent_episodes.moments(recorded()) == [0, 1, 3, 5]
    assert agent_episodes.moments(recorded(steps=1)) == [0]
    assert agent_episodes.moments(recorded(steps=2)) == [0, 1]


def test_what_became_of_an_episode():
    assert agent_episodes.outcome_of(recorded()) == "ate ★ and A, 6 steps"
    quiet = with_changed(recorded(steps=1), ("steps", 0, "consumed"), -1)
    assert agent_episodes.outcome_of(quiet) == "ate nothing, 1 step"


def test_each_episode_becomes_a_picture_and_a_film(tmp_path):
    paths = [*agent_episodes.save_episodes([recorded(steps=3), recorded("blind", steps=1)], tmp_path / "show")]
    assert [path.name for path in paths] == ["episode-1.png", "episode-1.gif", "episode-2.png", "episode-2.gif"]
    for path in paths:
        raw = path.read_bytes()
        assert raw.startswith(b"\x89PNG" if path.suffix == ".png" else b"GIF8")
    film = Image.open(io.BytesIO(paths[1].read_bytes()))
    assert film.n_frames > 1  # frames that do not change are kept as one, shown longer
    assert not list((tmp_path / "show").glob(".*"))


def test_a_title_says_when_the_object_is_believed_to_be_gone():
    assert agent_episodes._title(recorded(), 2) == "step 3, A gone: 25%"
    sure = with_changed(recorded(), ("steps", 2, "belief"), [0.0] * (SIZE**2 + 1))
    assert agent_episodes._title(sure, 2) == "step 3"
