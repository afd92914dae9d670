import ast
import math
from dataclasses import replace
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from figures.hand_made import hand_made, heads, with_changed
from matplotlib.backends.backend_agg import FigureCanvasAgg

from tomnet import figures
from tomnet.experiments import greedy_agents
from tomnet.experiments.analysis.statistics import UNKNOWN, Estimate
from tomnet.experiments.experiment import Result
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.experiments.run import load_result
from tomnet.figures.numbers import numbers_for
from tomnet.figures.panels import Panel, compose, render
from tomnet.figures.random_agents import bayes_predictive
from tomnet.support.errors import TomnetError
from tomnet.support.json_files import write_json

every_experiment = pytest.mark.parametrize("name", EXPERIMENTS)


@every_experiment
def test_every_registered_experiment_is_drawn(name):
    path = Path(figures.__file__).with_name(f"{name.replace('-', '_')}.py")
    assert path.exists(), f"{name} has no figures: {path} should draw them"
    assert list(figures.figures_for(hand_made(name))) == [f"figure-{number}" for number in EXPERIMENTS[name].figures]


def test_an_experiment_without_tables_made_by_hand_is_named():
    with pytest.raises(LookupError, match=r"have no no_such_tables\(\): every experiment needs tables made by hand"):
        hand_made("no-such")


@pytest.fixture(scope="module", params=EXPERIMENTS)
def saved(request, tmp_path_factory):
    """An experiment's name, and its figures drawn from a result that was written and read again."""
    folder = tmp_path_factory.mktemp(request.param)
    write_json(folder / "result.json", hand_made(request.param).to_json())
    result = load_result(folder)
    return request.param, figures.save_figures(result, folder / "figures")


def test_figures_draw_from_a_saved_result(saved):
    name, paths = saved
    stems = [f"figure-{number}" for number in EXPERIMENTS[name].figures]
    assert [path.name for path in paths] == [f"{stem}.{format}" for stem in stems for format in ("svg", "png")]
    for path in paths:
        raw = path.read_bytes()
        if path.suffix == ".png":
            assert raw.startswith(b"\x89PNG")
        else:
            assert ElementTree.fromstring(raw).tag == "{http://www.w3.org/2000/svg}svg"
            assert b"<dc:date>" not in raw


def test_the_same_result_gives_the_same_file(saved):
    name, paths = saved
    again = figures.figures_for(hand_made(name))
    for path in paths:
        if path.suffix == ".svg":
            assert render(again[path.stem], "svg") == path.read_bytes()


@every_experiment
def test_every_figure_has_a_caption_and_every_panel_a_description(name):
    result = hand_made(name)
    panels = figures.panels_for(result)
    assert set(figures.captions(result)) == set(panels)
    for specs in panels.values():
        assert len({panel.letter for panel in specs}) == len(specs)
        assert all(len(panel.alt) > 20 for panel in specs)


@pytest.mark.parametrize(
    ("name", "stem", "path", "value", "shown"),
    [
        ("random-agents", "figure-2", ("example", "predictions", "alpha-3", 2), 0.4321, "0.43"),
        ("random-agents", "figure-3", ("bayes_divergence", 5, "kl", "mean"), 0.0123, "0.0123"),
        ("random-agents", "figure-3", ("embedding", "most_seen", "mean"), 0.777, "78%"),
        ("random-agents", "figure-3", ("mixture", 3, "kl", "mean"), 9.876, "α = 0.01, on agents of α = 0.3: 9.876"),
        ("goal-inference", "figure-4", ("comparison", "2d", "action", "captured", "mean"), 0.333, "33%"),
        ("goal-inference", "figure-4", ("comparison", "2d", "successor", "ideal"), 6.789, "6.789"),
        ("goal-snapshots", "figure-5", ("curve", -1, "observer", "mean"), 0.654, "0.654"),
        ("goal-snapshots", "figure-5", ("embedding", "action-only", -1, "accuracy", "mean"), 0.321, "32%"),
        ("greedy-agents", "figure-6", ("curve", 1, "subspecies", "observer", "mean"), 0.717, "0.717"),
        (
            "greedy-agents",
            "figure-6",
            ("curve", 0, "ideal_action"),
            0.567,
            "0.50 (ideal observer 0.57) with nothing seen",
        ),
        ("deep-rl-agents", "figure-7", ("cuts", "consumption", "both", "cut", "mean"), 0.444, "44%"),
        ("deep-rl-agents", "figure-7", ("maps", "nearest_is_own"), 0.777, "78%"),
        ("agent-embeddings", "figure-8", ("read_outs", "object", "own_neighbours", "accuracy", "mean"), 0.654, "65%"),
        ("agent-embeddings", "figure-9", ("subspecies", "gain"), 7.7, "7.7"),
        ("greedy-agents", "figure-6", ("trips", "near", "ideal", "mean"), 0.456, "0.46"),
        (
            *("partial-observers", "figure-S1", ("curves", "near", -1, "scores", "observer", "cost", "mean")),
            *(0.777, "only the next cells seen, 0.777 nats to ToMnet"),
        ),
    ],
)
def test_captions_read_their_numbers_from_the_tables(name, stem, path, value, shown):
    result = hand_made(name)
    assert shown not in figures.captions(result)[stem]
    result.tables = with_changed(result.tables, path, value)
    assert shown in figures.captions(result)[stem]


def test_what_could_not_be_measured_is_left_out_not_invented():
    result = hand_made("greedy-agents")
    none = greedy_agents.Trip(0, UNKNOWN, UNKNOWN, math.nan)  # no such trip among few agents
    result.tables = with_changed(result.tables, ("trips", "far"), none)
    for number in range(1, 6):
        unknown = greedy_agents.SubspeciesReadOut(UNKNOWN, math.nan)
        result.tables = with_changed(result.tables, ("curve", number, "subspecies"), unknown)
    (figure,) = figures.figures_for(result).values()
    assert render(figure, "svg")
    assert "—" in figures.captions(result)["figure-6"]


def test_an_example_that_eats_nothing_is_not_said_to_eat():
    result = hand_made("goal-inference")
    assert "then eats (A)" in figures.captions(result)["figure-4"]
    assert all(f"({letter})" in figures.captions(result)["figure-4"] for letter in "abcde")
    result.tables = with_changed(result.tables, ("example", "eaten"), None)
    (figure,) = figures.figures_for(result).values()
    assert render(figure, "svg")
    assert "this agent eats nothing" in figures.captions(result)["figure-4"]


def test_a_trip_that_no_agent_made_is_not_shown():
    result = hand_made("greedy-agents")
    assert "from there (a, b)" in figures.captions(result)["figure-6"]
    result.tables = with_changed(result.tables, ("examples", "far"), None)
    (figure,) = figures.figures_for(result).values()
    assert render(figure, "svg")
    far, near, *_ = figures.panels_for(result)["figure-6"]
    assert (far.title, near.title) == ("No far trip to show", "After a near trip to A")
    assert "from there (b)" in figures.captions(result)["figure-6"]
    result.tables = with_changed(result.tables, ("examples", "near"), None)
    assert "from there" not in figures.captions(result)["figure-6"]


def test_swaps_that_nobody_met_are_not_shown():
    result = hand_made("false-beliefs-mixed")
    assert "D_JS between the two next policies 0.300 nats" in figures.captions(result)["figure-10"]
    result.tables = with_changed(result.tables, ("examples", "in_view"), None)
    assert "no swap in view among these agents" in figures.captions(result)["figure-10"]
    result.tables = with_changed(result.tables, ("examples", "out_of_view"), None)
    assert [*figures.panels_for(result)] == [*figures.captions(result)] == ["figure-12c-d"]


def test_an_observer_far_below_the_ideal_one_can_be_drawn_too():
    result = hand_made("goal-snapshots")
    below = {head: replace(row, captured=Estimate(-5.0, -6.0, -4.0, 7)) for head, row in heads(0.8).items()}
    for number in range(1, 11):
        result.tables = with_changed(result.tables, ("curve", number, "heads"), below)
    (figure,) = figures.figures_for(result).values()
    assert render(figure, "svg")


def test_a_result_of_no_known_experiment():
    with pytest.raises(TomnetError, match="did you mean 'goal-inference'"):
        figures.figures_for(Result("goal-inferense", "smoke", 0, None, []))


def test_the_bayesian_prediction_after_one_action():
    assert bayes_predictive(3.0, seen=2, action=2) == 4 / 16
    assert bayes_predictive(3.0, seen=2, action=0) == 3 / 16
    assert bayes_predictive(0.01, seen=None, action=0) == pytest.approx(0.2)


def test_panels_fill_two_columns_and_a_last_one_the_whole_row():
    widths = []
    panels = [Panel(letter, "title", "alt", lambda place: widths.append(place.bbox.width)) for letter in "abc"]
    figure = compose(panels)
    assert widths == pytest.approx([figure.bbox.width / 2, figure.bbox.width / 2, figure.bbox.width], rel=0.01)


@every_experiment
def test_labels_below_the_axes_do_not_run_into_each_other(name):
    """In a panel by itself, one column wide, as the page sets it."""
    for stem, specs in figures.panels_for(hand_made(name)).items():
        for panel in specs:
            figure = compose([panel], columns=1)
            FigureCanvasAgg(figure).draw()
            labels = [axes.xaxis.label for axes in figure.axes if axes.axison]
            ticks = [label for axes in figure.axes if axes.axison for label in axes.get_xticklabels()]
            for texts in (labels, ticks):
                boxes = [text.get_window_extent() for text in texts if text.get_visible() and text.get_text()]
                for number, box in enumerate(boxes):
                    overlapping = [other for other in boxes[:number] if box.overlaps(other)]
                    assert not overlapping, f"{stem}{panel.letter}"


def test_the_architecture_needs_no_result():
    assert render(figures.architecture_figure(), "svg") == render(figures.architecture_figure(), "svg")


def test_numbers_behind_the_figures():
    (table,) = numbers_for(hand_made("goal-inference"))
    assert table.rows[0] == (
        "2-D, next action",
        "1.150",
        "1.000",
        "2.000",
        "85% [84, 86]",
        "80%",
        "70% [66, 74]",
        "80% [76, 84]",
        "40% [36, 44]",
    )
    assert "agent chooses by chance" in table.title
    (table,) = numbers_for(hand_made("random-agents"))
    assert table.columns == ("species", "N_past = 0", "N_past = 1", "N_past = 5", "N_past = 10")
    assert table.rows[0] == ("α = 0.01", *["0.0040"] * 4)
    assert [row[0] for row in table.rows][-2:] == ["mixture", "α = 1, 2-D"]
    for name in ("goal-snapshots", "greedy-agents"):
        (table,) = numbers_for(hand_made(name))
        assert all(len(row) == len(table.columns) for row in table.rows)


def test_every_way_of_seeing_badly_has_its_line():
    losses, accuracies = numbers_for(hand_made("partial-observers"))
    assert losses.rows[0] == ("all in sight", "0.500 [0.49, 0.51]", "0.400 [0.39, 0.41]")
    for table in (losses, accuracies):
        assert [row[0] for row in table.rows][-1] == "objects seen up to 1 away"
        assert len(table.rows) == 14


def test_table_a1_is_told_in_sums_and_in_the_means_that_the_papers_figures_look_like():
    action, consumption, successor = numbers_for(hand_made("deep-rl-agents"))
    for table in (action, consumption, successor):
        assert all(len(row) == len(table.columns) for row in table.rows)
    assert action.rows[0] == ("none", "1.140 [1.13, 1.15]", "1.14", "1.120 [1.11, 1.13]", "1.12")
    assert consumption.rows[0][4:] == ("0.360 [0.35, 0.37]", "0.072", "0.36")  # of five objects
    assert successor.rows[0][4:] == ("2.530 [2.52, 2.54]", "0.843", "2.53")  # of three discounts


def test_what_dimensions_tell_is_told_of_all_and_of_those_that_carry_it():
    (table,) = numbers_for(hand_made("agent-embeddings"))
    assert [row[0].split(" (")[0] for row in table.rows] == [
        f"{factor}, {which}" for factor in ("species", "object") for which in ("all", "its own")
    ]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert [row[-1] for row in table.rows] == ["33%", "33%", "25%", "25%"]


def test_figures_never_train_or_evaluate():
    """They may know the world's words, results and their tables; never networks, agents or ideal observers."""
    allowed = {
        "support.errors",
        "support.files",
        "support.words",
        "world.gridworld",
        "world.levels",
        "episodes.targets",
        "asking.answer",
        "fit.result",
        "fit.scores",
        "recordings.moves",
        "recordings.recording",
        "watch.result",
        "experiments.experiment",
        "experiments.registry",
    }
    for path in Path(figures.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 2 and node.module not in allowed:
                assert node.module.startswith("experiments"), f"{path.name} imports {node.module}"
                for name in (alias.name for alias in node.names):
                    found = getattr(import_module(f"tomnet.{node.module}"), name)
                    assert not isfunction(found), f"{path.name} imports {node.module}.{name}, which is no table"
