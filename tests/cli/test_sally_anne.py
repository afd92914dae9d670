"""`tomnet sally-anne`: the story is told from any population and model, and what cannot be told is said in one line."""

import dataclasses

import equinox as eqx
import jax
import numpy as np
import pytest
from experiments.minds_small import save_populations
from experiments.test_minds import TINY, TINY_BEHAVIOUR
from helpers import compiled_programs, made_up, says

from tomnet import zoo
from tomnet.agents import population as populations
from tomnet.cli.main import main
from tomnet.cli.sally_anne import observer_of
from tomnet.experiments.sally_anne import story
from tomnet.experiments.sally_anne.story import check_past
from tomnet.observer.checkpoint import save_observer
from tomnet.observer.config import ObserverConfig
from tomnet.support.json_files import read_json
from tomnet.world.gridworld import ACTIONS, SUBGOAL_MAZE

ABOUT = says("explicit-beliefs", "mixed")


@pytest.fixture(scope="module")
def agents(tmp_path_factory):
    return save_populations(tmp_path_factory.mktemp("agents"), ("blind", "5x5"), count=2)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "observer.safetensors"
    save_observer(path, made_up(TINY), ABOUT)
    return path


def sally_anne(*arguments) -> int:
    return main(["sally-anne", *map(str, arguments)])


def test_the_story_in_six_pictures_and_a_sentence(agents, model, tmp_path, capsys):
    assert sally_anne("--population", agents, "--model", model, "--past", 5, "--prefers", "B", "--out", tmp_path) == 0
    out, err = capsys.readouterr()
    assert "trained with 4 past episodes; with 5 it is beyond what it knows" in err
    assert "behind its back" in out
    assert (tmp_path / "sally-anne.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "sally-anne.png") in out
    told = read_json(tmp_path / "story.json")
    row, col = divmod(told["no_swap"]["state"]["object_cells"][1], 11)
    assert f"A 5×5 agent that likes B best saw it in row {row + 1}, column {col + 1}" in out
    assert told["network"] == 1  # the one that is held out
    assert told["way"]["actions"] in ([3, 3, 3, 3, 1], [2, 2, 2, 2, 1], [1, 1, 1, 1, 3], [0, 0, 0, 0, 3])  # four sides
    assert told["swap"]["policy"] == told["no_swap"]["policy"]  # it cannot know
    assert told["swap"]["belief"] == told["no_swap"]["belief"]
    assert told["swap"]["predicted_policy"] != told["no_swap"]["predicted_policy"]
    assert np.sum(told["then"]) == pytest.approx(1, abs=1e-4)


def test_an_observer_without_beliefs_can_tell_it_too(agents, tmp_path, capsys):
    save_observer(tmp_path / "observer.safetensors", made_up(TINY_BEHAVIOUR), ABOUT)
    arguments = ("--population", agents, "--model", tmp_path / "observer.safetensors", "--distance", 1)
    assert sally_anne(*arguments, "--out", tmp_path) == 0
    assert "before its eyes" in capsys.readouterr().out


def test_an_observer_that_met_other_agents_does_not_tell_of_these(agents, tmp_path, capsys):
    path = tmp_path / "observer.safetensors"
    save_observer(path, made_up(TINY), ABOUT | {"populations": {"5x5": "0" * 64}})
    assert sally_anne("--population", agents, "--model", path, "--out", tmp_path / "story") == 2
    assert "the observer met other agents of 5x5 than those here" in capsys.readouterr().err
    assert not (tmp_path / "story").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (
            ("--condition", "stateless-5x5"),
            "condition = stateless-5x5: the story needs an agent that can see and remembers",
        ),
        (("--distance", 7), "distance = 7: the level is drawn for 1 to 6"),
        (("--condition", "blind"), "condition = blind: the story needs an agent that can see"),
        (("--condition", "3x3"), "holds no agents of the condition 3x3"),
        (("--condition", "4x4"), "unknown condition '4x4'; known: 3x3, 5x5, 7x7, 9x9"),  # and none that it then refuses
        (("--prefers", "2"), "unknown object '2'; known: A, B, C, D"),
        (("--past", 10**9), "past = 1000000000: must lie between 0 and 100"),
        (("--out", "/dev/null/below"), "/dev/null/below: cannot be written to"),
        (("--network", 0), "network = 0: not held out: the observer may know it; it never met 1"),
        (("--prefers", "E"), "unknown object 'E'"),
        (("--past", -1), "past = -1: must lie between 0 and 100"),
        (("--seed", -1), "seed = -1"),
    ],
)
def test_what_cannot_be_told_is_said_in_one_line(arguments, why, agents, model, capsys):
    assert sally_anne("--population", agents, "--model", model, *arguments) == 2
    err = capsys.readouterr().err.strip()
    assert err.startswith("tomnet: ")
    assert why in err
    assert "\n" not in err


def test_an_observer_of_another_world_is_refused(agents, tmp_path, capsys):
    path = tmp_path / "observer.safetensors"
    save_observer(path, made_up(ObserverConfig(channels=2, character_channels=2, character_depth=1, torso_depth=1)), {})
    assert sally_anne("--population", agents, "--model", path) == 2
    assert "objects = 5: this observer knows 4" in capsys.readouterr().err


def test_the_model_may_be_a_file_its_folder_or_that_of_the_run(agents, tmp_path, capsys):
    for experiment, name, config in (("false-beliefs", "5x5", TINY_BEHAVIOUR), ("explicit-beliefs", "mixed", TINY)):
        about = says(experiment, name) | {"populations": {"by": experiment}}
        save_observer(tmp_path / "run" / name / "observer.safetensors", made_up(config), about)
    for condition, teller in (("5x5", "false-beliefs"), ("9x9", "explicit-beliefs")):
        assert observer_of(tmp_path / "run", condition)[1] == {"by": teller}
    for path in (tmp_path / "run" / "mixed", tmp_path / "run" / "mixed" / "observer.safetensors"):
        assert observer_of(path, "5x5")[1] == {"by": "explicit-beliefs"}
    assert sally_anne("--population", agents, "--model", tmp_path) == 2
    assert f"{tmp_path}: holds no trained observer of explicit-beliefs or false-beliefs" in capsys.readouterr().err


def test_an_empty_zoo_says_what_is_missing(agents, model, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    monkeypatch.setattr(populations, "PRETRAINED", tmp_path)
    assert sally_anne("--population", agents) == 2
    assert "no pretrained observer of explicit-beliefs or false-beliefs" in capsys.readouterr().err
    assert sally_anne("--model", model) == 2
    assert "the zoo holds no agents of the condition 5x5" in capsys.readouterr().err


@pytest.mark.parametrize(("condition", "teller"), [("5x5", "false-beliefs"), ("9x9", "explicit-beliefs")])
def test_an_agent_is_told_of_by_whoever_knows_its_kind_best(condition, teller, tmp_path, monkeypatch):
    """Whether the other observers of its experiment are there or not."""
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    for experiment, name, config in (("false-beliefs", "5x5", TINY_BEHAVIOUR), ("explicit-beliefs", "mixed", TINY)):
        about = says(experiment, name) | {"populations": {"by": experiment}}
        save_observer(zoo.observer_file(experiment, name), made_up(config), about)
    assert observer_of(None, condition)[1] == {"by": teller}


def test_whoever_acts_on_what_it_believes_gets_the_part(agents, monkeypatch):
    """Network 0 turns back to one side, even from what it has seen go; network 1 does so only where it cannot know."""
    held_out = dataclasses.replace(populations.load_condition("5x5", agents), training=(), held_out=(0, 1))
    monkeypatch.setattr(story, "load_condition", lambda name, folder: held_out)
    far_unmoved = {0: [1.0, 0, 0, 0], 1: [0, 0, 0.6, 0]}  # by network, for each side
    near_seen_to_go = {0: [0.9, 0, 0, 0], 1: [0, 0, 0.1, 0]}
    play_and_look = story.play_and_look

    def played(agent, preferred, scenarios, world):
        number = next(n for n in (0, 1) if eqx.tree_equal(agent, held_out.agent(n, 0)))
        assert [each.distance for each in scenarios] == [4] * 4 + [2] * 4
        policy = np.full((2, 8, len(ACTIONS)), np.nan)  # anything else is not asked
        for side in range(4):
            policy[0, side, scenarios[side].back] = far_unmoved[number][side]
            policy[1, 4 + side, scenarios[4 + side].back] = near_seen_to_go[number][side]
        return dataclasses.replace(play_and_look(agent, preferred, scenarios, world), policy=policy)

    monkeypatch.setattr(story, "play_and_look", played)
    network, _, play, shown = story.Cast(folder=agents).audition(4, SUBGOAL_MAZE)
    assert network == 1
    assert [ACTIONS[step] for step in play.path] == ["down"] * 4 + ["right"]  # the third side
    assert shown.way.actions.tolist() == [list(play.path)]
    assert shown.policy[0, 0, play.back] == 0.6


def test_few_programs_are_compiled_for_the_story(agents, model, tmp_path):
    """Step by step, they were nearly two hundred, and of the large ones each several times."""
    jax.clear_caches()
    with compiled_programs() as names:
        assert sally_anne("--population", agents, "--model", model, "--out", tmp_path) == 0
    assert len(names) < 30, names
    for large in ("lead", "look_around", "_play", "_predict_counterfactuals", "empirical_successors"):
        assert names.count(large) == 1


def test_only_what_was_trained_goes_without_a_warning():
    assert check_past(4) is None
    assert "beyond" in (check_past(6) or "")
    assert "less well" in (check_past(0) or "")
