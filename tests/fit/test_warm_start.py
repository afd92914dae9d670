"""Starting from a pretrained observer: what it says, what it learns from, what does not fit, whether it helped."""

import dataclasses

import jax
import numpy as np
import pytest
from fit.brief import BRIEF
from fit.small import random_walks, two_kinds
from helpers import made_up

from tomnet.asking.agent_model import meet
from tomnet.fit import fine_tuning, start_comparison, tomnet_observer
from tomnet.fit.dataset import make_dataset
from tomnet.fit.fine_tuning import PAST, RecordedEncounters
from tomnet.fit.fitted_observer import load_fitted
from tomnet.fit.observer_protocol import Asked
from tomnet.fit.result import load_fit
from tomnet.fit.run import fit
from tomnet.fit.split import Split
from tomnet.fit.start_comparison import compare_starts
from tomnet.fit.tomnet_observer import ToMnetObserver
from tomnet.fit.training import first_state
from tomnet.fit.warm_start import Start, check_start, load_start
from tomnet.observer.checkpoint import save_observer
from tomnet.observer.config import ObserverConfig, TrainingConfig
from tomnet.recordings.text import parse_text
from tomnet.support.errors import TomnetError

CONFIG = ObserverConfig(size=4, objects=3, channels=2, character_channels=2, character_depth=1, torso_depth=1)
BRIEF_TUNING = TrainingConfig(steps=2, batch=4, chunk=2, held_out=4, evaluate_every=1)
SQUARE = (4, 4)


@pytest.fixture(scope="module")
def tomnet_start():
    return Start("small/one", ToMnetObserver(made_up(CONFIG)), None)


@pytest.fixture(scope="module")
def data():
    return make_dataset(random_walks(3, 7, size=SQUARE))


def asked(past: list[int], episode: int, query: int = 0) -> Asked:
    return Asked(np.array([past], int).reshape(1, -1), np.array([episode]), np.array([query]))


# --- A ToMnet, asked about recordings


def test_a_tomnet_says_of_recordings_what_it_says_when_it_meets_their_agent(tomnet_start, data):
    observer = tomnet_start.observer
    current = data.recordings[3]
    walls = [["#" if wall else "." for wall in row] for row in current.walls]
    for letter, cell in zip("@AB", (current.cells[0], *current.object_cells[0])):
        walls[cell // 4][cell % 4] = letter
    picture = "\n".join("".join(row) for row in walls)
    met = meet(observer.network, data.recordings[:3]).ask(picture)
    question = asked([0, 1, 2], 3)
    assert observer.actions(data, question)[0] == pytest.approx(met.action.array, abs=1e-5)
    assert observer.successor_maps(data, question)[0] == pytest.approx(met.successor.array, abs=1e-5)
    assert observer.embeddings(data, question.past)[0] == pytest.approx(met.character.mean, abs=1e-5)
    a, b, _ = met.consumption.array
    said = observer.outcomes(data, question)[0]
    assert said[0] / said[1] == pytest.approx(a / b, rel=1e-4)
    assert said.sum() == pytest.approx(1)


def test_padding_behind_the_past_changes_nothing_a_tomnet_says(tomnet_start, data):
    observer = tomnet_start.observer
    for say in (observer.outcomes, observer.actions):
        assert say(data, asked([8, 9], 10)) == pytest.approx(say(data, asked([8, 9, -1, -1], 10)), abs=1e-6)
        assert say(data, asked([], 10)).shape == say(data, asked([-1], 10)).shape


# --- What it is trained on


def test_encounters_have_earlier_episodes_of_the_same_agent_and_what_was_taken_next(data):
    part = data.agent != 1
    drawn = jax.device_get(RecordedEncounters.of(data, part, CONFIG)(jax.random.key(0), 64))
    walls, cells = drawn.past.walls, drawn.past.agent_cells[..., 0]
    starts = {
        (int(data.cells[number, 0]), tuple(data.recordings[number].object_cells[0])): number for number in range(21)
    }
    assert walls.shape == (64, PAST, 4, 4)
    counts = drawn.past_real.sum(-1)
    assert set(counts.tolist()) == set(range(PAST + 1))
    for row in range(64):
        seen = [
            starts[int(cells[row, place]), tuple(drawn.past.object_cells[row, place, 0, :2])]
            for place in range(counts[row])
        ]
        assert seen == sorted(seen, reverse=True)  # the last one first
        assert len({data.agent[number] for number in seen} - {1}) <= 1
    assert (drawn.targets.consumption == 0).all()  # nothing is ever taken in these


def test_what_is_taken_next_is_numbered_as_the_observer_has_it():
    recordings = [parse_text("@.C\n...\n...\n\nright\nright\n", "ann", name) for name in ("one", "two")]
    config = dataclasses.replace(CONFIG, size=3)
    drawn = RecordedEncounters.of(make_dataset(recordings), np.ones(2, bool), config)(jax.random.key(0), 4)
    assert drawn.targets.consumption.tolist() == [[0, 0, 1]] * 4
    assert drawn.query.object_cells.tolist() == [[-1, -1, 2]] * 4


# --- From start to result


class Sure:
    """Says that nothing is taken, with a probability of its own."""

    def __init__(self, nothing: float):
        self.nothing = nothing

    def outcomes(self, data, asked):
        return np.tile([1 - self.nothing, 0, self.nothing], (len(asked.episode), 1))

    actions = outcomes  # which nobody compares


def test_the_better_on_the_validation_part_is_kept_and_the_test_part_says_what_it_gained(data):
    parts = Split("episode", *(np.arange(21) % 3 == part for part in range(3)))
    for begun, fresh, kept in ((0.9, 0.3, True), (0.3, 0.9, False)):
        started = compare_starts("one", data, parts, Sure(begun), Sure(fresh))
        assert started.kept == kept
        assert started.validation == pytest.approx(-np.log(begun))
        assert started.test_without.mean == pytest.approx(-np.log(fresh))
        assert started.gain.mean == pytest.approx(np.log(begun / fresh))


def test_a_tomnet_that_does_better_is_the_network_saved_loaded_and_asked_as_any(tomnet_start, tmp_path, monkeypatch):
    monkeypatch.setattr(tomnet_observer, "fine_tune", _briefly)
    monkeypatch.setattr(start_comparison, "mean_loss", lambda data, said, which: {"with": 0.0, "without": 1.0}[which])
    walks = random_walks(10, 4, size=SQUARE)
    result = fit(walks, tmp_path / "run", training=BRIEF, start=tomnet_start)
    assert result.started is not None
    assert result.started.kept
    assert load_fit(tmp_path / "run").started == result.started
    fitted = load_fitted(tmp_path / "run")
    assert fitted.neural.network.config == CONFIG
    answer = fitted.ask(walks[:2], walks[2], observer="network")
    assert sum(answer.outcome.values()) == pytest.approx(1, abs=1e-5)
    assert answer.successor.array.shape == (3, 4, 4)
    assert fitted.domain is not None
    assert fitted.domain.max_past == 3
    check_start(load_start(str(tmp_path / "run")), walks)  # and it is a start itself


def _briefly(*args, **how):
    return fine_tuning.fine_tune(*args, **how, tuning=BRIEF_TUNING)


def test_a_fit_from_a_fit_begins_with_its_weights_and_is_another_run(tmp_path):
    recordings = two_kinds(10, 6)
    fit(recordings, tmp_path / "first", training=BRIEF)
    start = load_start(str(tmp_path / "first"))
    network = start.observer.network
    assert first_state(network.config, BRIEF, 1, network).network is network
    result = fit(recordings, tmp_path / "second", training=BRIEF, start=start)
    assert result.started is not None
    assert result.started.name == str(tmp_path / "first")
    with pytest.raises(TomnetError, match="holds another run: start is"):
        fit(recordings, tmp_path / "second", training=BRIEF, resume=True)


# --- What does not fit


def refused(start: Start, recordings) -> str:
    with pytest.raises(TomnetError) as error:
        check_start(start, recordings)
    return str(error.value)


def test_everything_in_which_recordings_and_a_tomnet_differ_is_named_in_one_line(tomnet_start):
    hop = parse_text("actions: hop\n\n@.A\n..K\n\nhop 0 1\n", "bob", "1")
    assert refused(tomnet_start, [hop]) == (
        "small/one is no start for these recordings: size: it knows 4×4, found 2×3; objects: it knows A, B, C, found "
        "A, K; actions: it knows up, down, left, right, stay, found hop"
    )
    blind = made_up(dataclasses.replace(CONFIG, heads=("action",), character="snapshots"))
    assert refused(Start("blind/one", ToMnetObserver(blind), None), random_walks(1, 1, size=SQUARE)) == (
        "blind/one is no start for these recordings: heads: it knows action, found action, consumption, successor; "
        "nets: it has a character net for snapshots, and whole past episodes are what there is"
    )


def test_a_fitted_observer_needs_the_same_objects_and_actions_and_no_size(tmp_path):
    fit(two_kinds(10, 6), tmp_path / "first", training=BRIEF)
    start = load_start(str(tmp_path / "first" / "observer.safetensors"))
    check_start(start, random_walks(1, 1, size=(5, 9)))
    other = parse_text("@.C\n\nright\nright\n", "ann", "1")
    assert refused(start, [other]).endswith("objects: it knows A, B, found C")


def test_a_start_is_found_by_name_or_file(tmp_path):
    save_observer(tmp_path / "one.safetensors", made_up(CONFIG), {})
    assert isinstance(load_start(str(tmp_path / "one.safetensors")).observer, ToMnetObserver)
    with pytest.raises(TomnetError, match="unknown observer 'goal-inferense/2d'"):
        load_start("goal-inferense/2d")
