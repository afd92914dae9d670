"""`fit` from recordings to an observer that is saved, loaded and asked; and what it says of bad input."""

import dataclasses
import json
import math

import equinox as eqx
import numpy as np
import pytest
from fit.brief import BRIEF
from fit.small import ROW, random_walks, two_kinds, walk
from matplotlib.text import Text

import tomnet
from tomnet.asking.inputs import recordings_from
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.figures import save
from tomnet.figures.fit import panels
from tomnet.figures.panels import compose_all
from tomnet.fit import run as fit_run
from tomnet.fit.baselines import Favourite
from tomnet.fit.dataset import make_dataset
from tomnet.fit.fitted_observer import FORMAT, OBSERVER, VERSION, _current, load_fitted
from tomnet.fit.observer_protocol import Asked, ask_all
from tomnet.fit.remarks import remarks_after, remarks_before
from tomnet.fit.result import load_fit
from tomnet.fit.run import fit
from tomnet.fit.scores import Said as SaidOf
from tomnet.fit.scores import Score, levels_for, outcome_scores, over_agents, reliability, say
from tomnet.fit.split import make_split
from tomnet.fit.steps import StepModel
from tomnet.recordings.recording import UNKNOWN, Recording
from tomnet.recordings.scene import Scene
from tomnet.recordings.text import parse_text
from tomnet.support.array_files import load_arrays, save_arrays
from tomnet.support.errors import BadFile, TomnetError
from tomnet.support.interrupts import Interrupted
from tomnet.support.typed_json import to_json

OBSERVERS = ("nearest", "favourite so far", "inverse planner", "network", "mixture")


@pytest.fixture(scope="module")
def recordings():
    return two_kinds(10, 6)


@pytest.fixture(scope="module")
def fitted(recordings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit") / "run"
    return folder, fit(recordings, folder, training=BRIEF)


def test_every_observer_is_measured_on_strangers(fitted):
    _, result = fitted
    assert (result.agents, result.episodes, result.split_by) == (10, 60, "agent")
    assert {one.observer for one in result.scores} == set(OBSERVERS)
    for name in OBSERVERS:
        assert [one.past for one in result.scores if one.observer == name and one.head == "action"] == [0, 1, 2]
        score = result.score(name, "outcome")
        assert (score.past, score.queries) == (2, 8)  # of two test agents with 6 episodes, the last 4
        assert score.nats.count == 8  # too few agents for an interval over them
    hard = result.score("nearest", "outcome", "nearest not taken")
    wants_b = {score.agent for score in result.agent_scores if int(score.agent[-1]) % 2}  # which is farther away
    assert hard.queries == 4 * len(wants_b)
    assert result.score("network", "successor").nats.mean > 0
    assert {one.over for one in result.advantages} == set(OBSERVERS) - {result.recommended}
    assert result.recommended == min(result.validation, key=result.validation.get)


def test_the_inverse_planner_understands_them(fitted):
    _, result = fitted
    assert result.score("inverse planner", "outcome").accuracy.mean == 1
    assert result.score("inverse planner", "outcome").nats.mean < result.score("nearest", "outcome").nats.mean


def test_whoever_takes_turns_is_in_one_place_whatever_came_last(fitted, monkeypatch):
    neural = load_fitted(fitted[0]).neural
    for what in ("embeddings", "characters"):
        monkeypatch.setattr(type(neural), what, lambda self, data, past: (past >= 0).sum(1, keepdims=True) % 2.0)
    data = make_dataset(random_walks(2, 21)[:-1])  # of the second agent an episode less
    odd, even = fit_run._points(data, make_split(data.recordings), neural)
    assert odd.embedding == even.embedding == [0.5]


def test_a_result_is_read_again_as_it_was(fitted):
    folder, result = fitted
    assert json.dumps(to_json(load_fit(folder))) == json.dumps(to_json(result))


def test_figures_are_drawn_from_a_result(fitted, tmp_path):
    _, result = fitted
    paths = save(compose_all(panels(result)), tmp_path)
    assert [path.name for path in paths] == ["fit.svg", "fit.png"]
    no_actions = dataclasses.replace(result, scores=[one for one in result.scores if one.head != "action"])
    assert save(compose_all(panels(no_actions)), tmp_path / "more")


def test_where_there_is_nothing_to_draw_a_figure_says_so(fitted):
    _, result = fitted
    easy = [dataclasses.replace(one, queries=0) if one.cases == "nearest not taken" else one for one in result.scores]
    alone = dataclasses.replace(result, scores=easy, points=[dataclasses.replace(result.points[0], place=[0.0])])
    (figure,) = compose_all(panels(alone)).values()
    shown = {each.get_text() for each in figure.findobj(Text)}
    assert {"there was no such episode", "a single agent: there is nobody to compare it with"} <= shown
    assert "no action is known" not in shown


def test_a_saved_observer_answers_as_the_one_that_was_measured(fitted, recordings):
    folder, result = fitted
    observer = load_fitted(folder)
    assert observer.recommended == result.recommended
    data = make_dataset(recordings, observer.schema)
    asked = Asked(np.array([[0, 1]]), np.array([2]), np.array([0]))
    for name in ("network", "inverse planner", "mixture"):
        answer = observer.ask(recordings[:2], recordings[2], observer=name)
        expected = observer.named(name).outcomes(data, asked)[0]
        assert list(answer.outcome) == ["A", "B", "nothing"]
        assert list(answer.outcome.values()) == pytest.approx(expected, abs=1e-5)
        assert sum(answer.action.values()) == pytest.approx(1, abs=1e-5)
    assert answer.successor.array.shape == (3, 3, 6)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"recommended": "luck"}, ": recommended should be one of network, inverse planner, mixture, not 'luck'"),
        ({"planner": {"detour_cost": 0.1}}, ": planner.haste is missing"),
        ({"network": {"width": 3}}, "$"),
    ],
)
def test_a_header_that_describes_no_fitted_observer_is_refused(changes, why, fitted, tmp_path):
    arrays, header = load_arrays(fitted[0] / OBSERVER, FORMAT, VERSION)
    save_arrays(tmp_path / OBSERVER, arrays, header | changes, format=FORMAT, version=VERSION)
    with pytest.raises(BadFile, match=f"describes no fitted observer that this tomnet can build{why}"):
        load_fitted(tmp_path)


def test_nothing_later_than_the_time_asked_about_is_seen(fitted, recordings):
    observer = load_fitted(fitted[0])
    now = recordings[2]
    cut = dataclasses.replace(
        now,
        actions=now.actions[:1],
        cells=now.cells[:2],
        object_cells=now.object_cells[:2],
        taken=np.array([-1]),
    )
    for name in ("network", "inverse planner"):
        whole, part = (observer.ask(recordings[:2], each, observer=name) for each in (now, cut))
        assert whole.outcome == pytest.approx(part.outcome, abs=1e-6)
        assert whole.action == pytest.approx(part.action, abs=1e-6)
        assert whole.successor.array == pytest.approx(part.successor.array, abs=1e-6)


def test_a_scene_can_be_asked_about_before_anything_happens(fitted, recordings):
    observer = load_fitted(fitted[0])
    picture = f"{ROW}\n######\n......"
    walls = np.array([[False] * 6, [True] * 6, [False] * 6])
    scene = Scene(walls=walls, cell=(0, 2), objects=(("A", (0, 0)), ("B", (0, 5))))
    same = parse_text(f"{picture}\n\nleft\n", "ann", "1")
    for past in ([], recordings[6:9]):
        first, *others = (observer.ask(past, each) for each in (scene, picture, same))
        assert all(other.outcome == pytest.approx(first.outcome, abs=1e-6) for other in others)
    wants_b = observer.ask(recordings[6:9], scene, observer="inverse planner")
    assert (wants_b.outcome.likeliest, wants_b.action.likeliest) == ("B", "right")
    assert str(wants_b).startswith("next action: right")


def test_a_fitted_observer_meets_an_agent_as_a_pretrained_one_does(fitted, recordings):
    folder, past = fitted[0], recordings[6:9]
    by_name, by_hand = (tomnet.meet(each, past) for each in (folder, tomnet.load_fitted(str(folder))))
    said = by_name.ask(recordings[9], time=1)
    assert said.action == by_hand.ask(recordings[9], time=1).action
    assert (said.successor[0.9].shape, said.character.mean.ndim, said.character.deviation) == ((3, 6), 1, None)
    assert all(isinstance(getattr(said, head), tomnet.Named) for head in said.heads)
    assert repr(said) == str(said)
    with pytest.raises(TomnetError, match="one agent is met at a time"):
        tomnet.meet(str(folder), [recordings[0], recordings[6]])
    with pytest.raises(TomnetError, match="steps: expected whole episodes, because this observer reads them, found a"):
        tomnet.meet(str(folder), [past[0], past[1].step(0)])
    with pytest.raises(TomnetError, match="knows objects by their letters"):
        tomnet.meet(str(folder), past, objects="AB")


def test_a_past_is_read_once_and_may_be_anything_that_recordings_come_out_of(fitted, recordings):
    folder, past = str(fitted[0]), recordings[6:9]
    assert tomnet.meet(folder, iter(past)).past == tomnet.meet(folder, past).past == tuple(past)
    for wrong, found in ((past[0], "Recording"), (None, "NoneType"), ("episodes", "str"), ([1], "int")):
        with pytest.raises(TomnetError, match=f"past = {found}: "):
            recordings_from(wrong)


def test_agents_that_turn_are_asked_about_in_a_scene_or_a_picture_as_well(tmp_path):
    def turn(agent: int, episode: int) -> Recording:
        walls = "".join("#" if (6 * agent + episode) >> bit & 1 else "." for bit in range(4))
        text = f"actions: turn-left turn-right forward\nheading: up\n\n@..A\n{walls}\n\nturn-left\nturn-left\nforward\n"
        return parse_text(text, f"agent-{agent}", f"{episode}")

    turning = [turn(agent, episode) for agent in range(2) for episode in range(6)]
    fit(turning, tmp_path / "run", training=BRIEF)
    observer = load_fitted(tmp_path / "run")
    scene = Scene(walls=turning[0].walls, cell=(0, 0), objects=[("A", (0, 3))], heading="up")
    same = observer.ask([], turning[0]), observer.ask([], scene), observer.ask([], "heading: up\n\n@..A\n....")
    assert {each.action.names for each in same} == {("turn-left", "turn-right", "forward")}
    assert all(each.action == pytest.approx(same[0].action, abs=1e-6) for each in same)
    for state in (None, 3, [turning[0]]):
        with pytest.raises(TomnetError, match="should be a recording, a scene or the picture of one"):
            _current(state, observer.schema)


def test_what_was_not_met_in_fitting_is_answered_with_a_warning(fitted, recordings):
    observer, small = load_fitted(fitted[0]), f"{ROW}"
    with pytest.warns(tomnet.BeyondTraining, match="N_past is 6, at most 3 there; a maze of 1×6, at least 3×6 there"):
        observer.ask(recordings[6:12], small)
    long = parse_text(f"{ROW}\n######\n######\n\n" + "stay\n" * 4, "ann", "1")
    with pytest.warns(tomnet.BeyondTraining, match="an episode of 4 steps, at most 3 there; walls fill 12 cells"):
        observer.ask([], long)
    headed = parse_text(f"heading: up\n\n{ROW}\n######\n......\n\nright 0 3 up\n", "ann", "1")
    with pytest.warns(tomnet.BeyondTraining, match="the agent faces somewhere"):
        observer.ask([], headed)


def test_what_cannot_be_asked_is_refused(fitted, recordings):
    observer = load_fitted(fitted[0])
    with pytest.raises(TomnetError, match="time = 9: should be the number of one of 2 steps, counted from 0"):
        observer.ask([], recordings[0], time=9)
    with pytest.raises(TomnetError, match="time = True: should be the number of one of 2 steps"):
        observer.ask([], recordings[0], time=True)
    with pytest.raises(TomnetError, match="must be one of network, inverse planner, mixture"):
        observer.ask([], recordings[0], observer="oracle")
    with pytest.raises(TomnetError, match="object 'C'"):
        observer.ask([], parse_text("@.C\n\nright\n", "ann", "1"))


def test_a_run_that_was_interrupted_and_resumed_ends_with_the_same_weights(fitted, recordings, tmp_path, monkeypatch):
    folder, result = fitted
    calls = iter([True])
    train = fit_run.train_network
    stop_once = lambda *args, **kwargs: train(*args, **kwargs | {"stopped": lambda: next(calls, False)})  # noqa: E731
    monkeypatch.setattr(fit_run, "train_network", stop_once)
    with pytest.raises(Interrupted, match="interrupted at step 1 of 2"):
        fit(recordings, tmp_path / "run", training=BRIEF)
    with pytest.raises(TomnetError, match="holds a run already"):
        fit(recordings, tmp_path / "run", training=BRIEF)
    with pytest.raises(TomnetError, match="holds another run: recordings is"):
        fit(two_kinds(11, 6), tmp_path / "run", training=BRIEF, resume=True)
    again = fit(recordings, tmp_path / "run", training=BRIEF, resume=True)
    assert eqx.tree_equal(load_fitted(tmp_path / "run").neural.network, load_fitted(folder).neural.network)
    assert again.scores == result.scores
    assert fit(recordings, tmp_path / "run", training=BRIEF, resume=True).scores == again.scores


# --- What can and cannot be learned


def said_of(recordings) -> list[str]:
    return list(remarks_before(make_dataset(recordings)))


def resting(agent: str, episode: int) -> Recording:
    cells = np.random.default_rng(episode).permutation(12)[:2]
    return Recording(
        agent=agent,
        episode=str(episode),
        walls=np.zeros((3, 4), bool),
        objects=("A",),
        actions=np.array([UNKNOWN, 4]),
        cells=np.full(3, cells[0]),
        object_cells=np.full((3, 1), cells[1]),
        taken=np.array([-1, -1]),
    )


def test_remarks_name_what_cannot_be_learned():
    assert "a single agent: its own later episodes can be predicted, and not what another agent would do" in said_of(
        random_walks(1, 2)
    )
    still = said_of([resting("ann", 1), resting("ann", 2)])
    assert "1 of 1 agents never move: they show nothing of what they want" in still
    assert "nothing is ever taken: which object an agent is after cannot be learned" in still
    assert "2 of 4 actions are unknown: they are seen and not predicted" in still
    assert "1 of 2 agents have one episode: there is no past to know them by" in said_of(
        [*random_walks(1, 2), walk("ann", 1, "A")]
    )


def test_of_whom_it_is_told_that_the_past_tells_nothing():
    def score(observer: str, past: int, nats: float) -> Score:
        return Score(observer, "outcome", "all", past, 9, Estimate(nats, nats, nats, 9), None)

    scores = [score("network", 0, 1.388), score("network", 5, 0.02)]
    scores += [score("inverse planner", 0, 0.013), score("inverse planner", 5, 0.006)]
    (told,) = remarks_after(scores, "inverse planner", 1)
    assert told == (
        "the past of an agent tells the inverse planner, which is recommended, nothing about what it takes next "
        "(0.013 nats without, 0.006 with 5 episodes)"
    )
    assert [*remarks_after(scores, "network", 1)] == []


def test_remarks_name_what_is_mixed():
    hop = parse_text("actions: hop\nheading: right\n\n@.A\n\nhop 0 1 right\n", "bob", "1")
    mixed = said_of([walk("ann", 1, "A"), walk("ann", 2, "A"), hop])
    assert "mazes of 2 sizes: all are learned together, the smaller ones with walls around them" in mixed
    assert "2 sets of actions: learned as one of 6, in which a name means the same everywhere" in mixed
    assert "1 of 3 episodes have a heading: elsewhere the agent is taken to face nowhere" in mixed
    assert any(one.startswith("actions are not all moves by direction") for one in mixed)
    assert any(one.startswith("what becomes of these actions in a mirror is not known") for one in mixed)


def odd_population() -> list[Recording]:
    """One agent that rests, one without objects, one with another maze, other actions and a heading."""
    hops = [
        parse_text(f"actions: hop\nheading: {way}\n\n@.A.\n\nhop 0 {cell} {way}\n", "bob", f"{way}{cell}")
        for way in ("right", "down")
        for cell in (0, 1, 2)
    ]
    steps = ["right", "left", "? 0 2", "? 0 3", "up"]
    empty = [parse_text(f"@...\n\n{step}\n", "eve", f"{number}") for number, step in enumerate(steps)]
    return [*hops, *empty, *(resting("ann", number) for number in range(6))]


def test_an_odd_population_is_fitted_all_the_same(tmp_path):
    result = fit(odd_population(), tmp_path / "run", training=BRIEF)
    assert result.split_by == "episode"
    assert all(math.isfinite(one.nats.mean) for one in result.scores if one.queries)
    answer = load_fitted(tmp_path / "run").ask([], odd_population()[0])
    assert sum(answer.outcome.values()) == pytest.approx(1, abs=1e-5)


def test_agents_without_any_objects_are_fitted_too(tmp_path):
    bare = [
        dataclasses.replace(each, objects=(), object_cells=np.zeros((4, 0), int)) for each in random_walks(2, 6, seed=5)
    ]
    result = fit(bare, tmp_path / "run", training=BRIEF)
    assert result.kinds == []
    assert result.score("network", "outcome").nats.mean == pytest.approx(0, abs=1e-5)
    assert math.isfinite(result.score("network", "action").nats.mean)


# --- Numbers


def test_levels_of_past_leave_half_of_the_episodes_to_ask_about():
    data = make_dataset(random_walks(2, 12))
    levels = levels_for(data, np.ones(24, bool))
    assert levels == (0, 1, 2, 5)
    assert len(ask_all(data, np.ones(24, bool), 5, least=5).episode) == 14


def test_means_are_over_agents_not_over_episodes():
    agent = np.array([0, 0, 0, 1, 2])
    assert over_agents(np.array([1.0, 1, 1, 4, 4]), agent).mean == 3
    assert over_agents(np.array([1.0, 1, 4]), np.array([0, 0, 1])).count == 3  # too few agents: over what was asked


def test_intervals_hold_nothing_that_cannot_be():
    data, part = make_dataset(two_kinds(6, 4)), np.ones(24, bool)
    asked = ask_all(data, part, 0)
    odd = (data.agent[asked.episode] % 2 == 1)[:, None]
    said = np.where(odd, [[0.0, 1 + 1e-6, 0.0]], [[0.4, 0.6, 0.0]])  # right about half, and rounded up
    for score in outcome_scores(data, [SaidOf(0, asked, {"one": said})]):
        assert score.accuracy is not None
        assert 0 <= score.nats.low <= score.nats.mean
        assert 0 <= score.accuracy.low <= score.accuracy.high <= 1


def test_calibration_by_hand():
    data = make_dataset([walk("ann", number, "AAAB"[number]) for number in range(4)])
    asked = ask_all(data, np.ones(4, bool), 0)
    said = np.array([[0.9, 0.1, 0.0]] * 4)
    curve = reliability(data, [SaidOf(0, asked, {"one": said})], "one")
    assert (curve.bins[0].confidence, curve.bins[0].accuracy, curve.bins[0].count) == (pytest.approx(0.9), 0.75, 4)
    assert curve.error == pytest.approx(0.15)


def test_whoever_says_that_all_are_alike_is_right_as_often_as_a_lot():
    data = make_dataset([walk("ann", number, "AAAB"[number]) for number in range(4)])
    asked = ask_all(data, np.ones(4, bool), 0)
    rounded = np.array([1 / 3 + 1e-8, 1 / 3 - 1e-8, 1 / 3])
    said = [SaidOf(0, asked, {"all": np.tile(rounded, (4, 1)), "two": np.array([[0.4, 0.4, 0.2]] * 4)})]
    found = {(one.observer, one.cases): one.accuracy for one in outcome_scores(data, said)}
    assert all(
        found["all", cases].mean == pytest.approx(1 / 3) for cases in ("all", "nearest not taken")
    )  # not A's 3/4
    assert all(found["two", cases].mean == pytest.approx(1 / 2) for cases in ("all", "nearest not taken"))
    (row,) = reliability(data, said, "all").bins
    assert row.accuracy == pytest.approx(row.confidence)


def test_without_a_past_the_favourite_is_right_by_chance():
    data = make_dataset([walk("ann", number, "A") for number in range(4)])
    said = say({"favourite": Favourite(1.0, 0.1, StepModel(np.zeros(5), 0.0))}, data, np.ones(4, bool))
    first, *_ = [one for one in outcome_scores(data, said) if one.cases == "all"]
    assert (first.nats.mean, first.accuracy.mean) == (pytest.approx(np.log(3)), pytest.approx(1 / 3))
