"""Watching from recordings to tables, with a pretrained observer: agents whose minds anyone can read."""

import json
import math

import pytest
from watch.small import faithful, straight, turncoat

from tomnet import zoo
from tomnet.recordings.text import parse_text
from tomnet.support.errors import TomnetError
from tomnet.support.typed_json import from_json, to_json
from tomnet.watch.choice import choose, named
from tomnet.watch.result import Watched
from tomnet.watch.run import watch


@pytest.fixture(scope="module")
def watched() -> Watched:
    """Two agents after each object, and one that goes for A until, in its last episode, it goes for C."""
    pairs = [each for goal in "ABCD" for name in "12" for each in faithful(f"{goal}{name}", goal, 6, reach=5)]
    return watch([*pairs, *turncoat("turncoat", "A", "C", 6, reach=5)])


def agent(watched: Watched, name: str):
    return next(one for one in watched.agents if one.agent == name)


def test_the_step_on_which_an_agent_changes_its_mind_is_the_most_surprising(watched):
    first = watched.moments[0]
    assert (first.agent, first.episode, first.step.time) == ("turncoat", "005", 0)
    assert max(first.step.taken, key=first.step.taken.get) == "A"
    assert max(watched.agents, key=lambda one: one.nats.mean).agent == "turncoat"


def test_agents_after_the_same_object_resemble_each_other(watched):
    assert all(agent(watched, f"{goal}1").nearest[0] == f"{goal}2" for goal in "BCD")
    assert agent(watched, "A1").nearest[0] in ("A2", "turncoat")
    assert watched.resemblance.clusters == 4


def test_what_is_known_of_an_agent_makes_it_less_surprising(watched):
    for one in watched.agents[:8]:
        first, *_, last = one.episodes
        assert (first.past, last.past) == (0, 5)
        assert last.nats < first.nats


def test_a_result_is_read_again_as_it_was_and_holds_no_number_that_is_none(watched):
    plain = json.loads(json.dumps(to_json(watched), allow_nan=False))
    assert to_json(from_json(Watched, plain)) == plain
    assert all(math.isfinite(number) for one in watched.agents for number in (*one.place, *one.character))


def test_the_observer_is_chosen_by_what_it_reads_and_says(watched):
    assert watched.observer == "greedy-agents/greedy"
    assert "chosen" in watched.chosen
    assert watched.remarks == []


def test_agents_of_few_episodes_or_none_of_whose_actions_say_anything_are_watched_too():
    once = [straight("once", 0, "A")]
    never = [parse_text("@B..A..C..D\n" + "...........\n" * 10 + "\nstay\nstay\n", "never", "1")]
    unknown = [straight("unknown", number, "B", unknown=(0, 1, 2, 3)) for number in range(2)]
    found = watch([*once, *never, *unknown], "greedy-agents/greedy")
    assert json.dumps(to_json(found), allow_nan=False)
    assert agent(found, "unknown").unknown == 8
    assert agent(found, "unknown").nats.count == 0
    assert agent(found, "once").nats.count == 1
    assert "2 of 3 agents have one episode: there is no past to know them by" in found.remarks
    assert "1 of 3 agents never move: they show nothing of what they want" in found.remarks
    assert "8 of 14 actions are unknown: they are seen and not predicted" in found.remarks


def test_who_is_unlike_anything_in_training_is_named_and_so_is_how():
    walls = "\n".join(["@..A...B..C", "#.#########", *["###########"] * 8, "D.........."])
    stranger = parse_text(f"{walls}\n\nright\nright\nright\n", "eve", "1")
    found = watch([*faithful("bob", "A", 2), stranger], "greedy-agents/greedy")
    (told,) = [each for each in found.remarks if "unlike" in each]
    assert told.startswith("1 of 2 agents shows something unlike what it met in training, take it with caution: eve: ")
    assert ", at most " in told
    assert "bob" not in told


def test_agents_all_alike_are_said_to_be_alike():
    found = watch([each for name in "abcd" for each in faithful(name, "A", 2)], "greedy-agents/greedy")
    assert found.resemblance.told == "All agents are alike to this observer."


# --- Which observer


def test_an_observer_that_met_such_worlds_is_chosen_before_one_that_says_more_of_others():
    plain, swapped = "@..A...B..C\n", "@.*A...B..C\n"
    rest = "...........\n" * 9 + "D..........\n\nright\nright\nright\n"
    assert choose([parse_text(plain + rest, "ann", "1")]).name == "greedy-agents/greedy"
    assert choose([parse_text(swapped + rest, "ann", "1")]).name == "false-beliefs-mixed/mixed"


def test_where_no_observer_met_such_worlds_the_one_that_says_most_is_chosen_and_the_difference_is_said():
    walled = "@.*A...B..C\n" + "#.#########\n" * 9 + "D..........\n\nright\nright\nright\n"
    chosen = choose(here := [parse_text(walled, "ann", "1")])
    assert chosen.name == "false-beliefs-mixed/mixed"
    assert "walls fill 90 cells, at most 66 there" in chosen.beyond(here)


def test_agents_that_are_slower_than_any_in_training_are_watched_by_who_met_mazes_like_theirs():
    idle = "@..A...B..C\n" + "...........\n" * 9 + "D..........\n\n" + "stay\n" * 60
    chosen = choose(here := [parse_text(idle, "ann", "1")])
    assert chosen.name == "greedy-agents/greedy"
    assert chosen.beyond(here) == ["an episode of 60 steps, at most 31 there"]


def test_nothing_pretrained_reads_other_mazes_and_the_way_out_is_named():
    with pytest.raises(TomnetError) as refused:
        choose([parse_text("@.A\n\nright\nright\n", "ann", "1")])
    assert str(refused.value) == (
        "no pretrained observer reads these: "
        "ann/1: walls: expected 11×11, the grid that this observer knows, found 1×3; "
        "`tomnet fit PATH --out DIR` makes an observer of them, and `tomnet watch PATH --model DIR` then reads it"
    )


def test_without_any_pretrained_observer_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    with pytest.raises(TomnetError, match="no pretrained observer reads these: the zoo is empty"):
        choose(faithful("ann", "A", 1))


def test_unknown_names_and_folders_of_something_else_are_refused(tmp_path):
    with pytest.raises(TomnetError, match="unknown observer 'goal-inferense/2d'; did you mean 'goal-inference/2d'"):
        named("goal-inferense/2d")
    with pytest.raises(TomnetError, match=r"holds no fitted observer, no observer\.safetensors"):
        named(str(tmp_path))
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "observer.safetensors").write_bytes(b"anything at all")
    with pytest.raises(TomnetError, match=r"damaged/observer\.safetensors: not a tomnet file"):
        named(str(tmp_path / "damaged"))
    (tmp_path / "notes.txt").write_text("no observer")
    with pytest.raises(TomnetError, match=r"notes\.txt"):
        named(str(tmp_path / "notes.txt"))
