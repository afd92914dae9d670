"""An agent met once and asked about: by name, and step by step as all at once."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from asking.small import CONFIGS, DOMAIN, ELSEWHERE, LEVEL
from helpers import made_up

import tomnet
from tomnet.asking import agent_model
from tomnet.episodes.episode import Episode
from tomnet.observer.mental_net import MentalNet
from tomnet.observer.tomnet import ToMnet
from tomnet.recordings.episodes import to_episodes
from tomnet.recordings.text import parse_text

NAMES = ("A", "B", "*")
STEPS = ("down", "down", "right", "stay", "up", "right")


def so_far(steps: tuple[str, ...]) -> tuple[Episode, tomnet.QueryState]:
    """The same steps as one episode: what was seen of it, with room for more, and where it stands; batches of one."""
    whole = to_episodes([parse_text("\n".join([LEVEL, *STEPS, "stay"]), "ann", "now")], 5, NAMES)
    time = len(steps)
    recent = jax.tree.map(lambda leaf: leaf[0], whole).until(jnp.int32(time))
    here = jax.tree.map(lambda leaf: leaf[0], whole).at(jnp.int32(time)).first_state()
    return jax.tree.map(lambda leaf: leaf[None], (recent, here))


@pytest.mark.parametrize("kind", [name for name in CONFIGS if name != "mental-only"])
@pytest.mark.parametrize("count", [1, 2])
def test_step_by_step_and_all_at_once_are_the_same_answer(kind, count, observer_of, walks):
    observer = observer_of(kind)
    past = [walk.step(1) for walk in walks[:count]] if kind == "snapshots" else walks[:count]
    agent = tomnet.meet(observer, past)
    episode = agent.begin(LEVEL)
    for time in range(len(STEPS) + 1):
        recent, query = so_far(STEPS[:time])
        batch = tomnet.observe(observer, tomnet.History(agent.history.past, agent.history.past_real, recent), query)
        said = episode.ask()
        assert (np.asarray(episode.state.agent_cell) == np.asarray(query.agent_cell)).all()
        for head in said.heads:
            online, at_once = getattr(said.probabilities, head), np.asarray(getattr(batch, head))[0]
            np.testing.assert_allclose(online, at_once, atol=2e-6, err_msg=f"{head} after {time} steps")
        np.testing.assert_allclose(said.character.mean, batch.character[0], atol=1e-6)
        if time < len(STEPS):
            episode = episode.step(STEPS[time])


def test_what_happened_before_changes_the_answer(observer_of, walks):
    """So the test above would notice a mental net that is left out."""
    agent = tomnet.meet(observer_of("mental"), walks)
    there_and_back = agent.begin(LEVEL).step("down").step("up").ask()
    assert np.abs(there_and_back.action.array - agent.ask(LEVEL).action.array).max() > 1e-3


def test_a_step_reads_one_frame_however_much_came_before(observer_of, walks, monkeypatch):
    frames, step = [], MentalNet.step

    def counted(self, seen, memory):
        frames.append(seen.shape[0])
        return step(self, seen, memory)

    monkeypatch.setattr(MentalNet, "step", counted)
    monkeypatch.setattr(agent_model, "_remember", eqx.filter_jit(ToMnet.remember))  # compiled by nobody so far
    for count in (1, 2, 2):
        episode = tomnet.meet(observer_of("mental"), walks[:count]).begin(LEVEL)
        for action in STEPS:
            episode = episode.step(action)
    assert frames == [1, 1]  # compiled twice, for the first step and for those after it; then never again


def test_of_several_continuations_each_is_its_own(observer_of, walks):
    start = tomnet.meet(observer_of("mental"), walks).begin(LEVEL)
    before = start.ask().action.array
    left, right = start.step("down").ask(), start.step("right").ask()
    assert np.abs(left.action.array - right.action.array).max() > 1e-3
    assert (start.ask().action.array == before).all()


# --- What follows from an action


def test_taking_an_object_ends_the_episode(observer_of, walks):
    episode = tomnet.meet(observer_of("mental"), walks).begin(LEVEL)
    for _ in range(4):
        episode = episode.step("right")
    assert episode.taken == "A"
    for further in (episode.ask, lambda: episode.step("left")):
        with pytest.raises(tomnet.TomnetError, match="the episode is over: A was taken"):
            further()


def test_where_chance_decides_what_was_seen_has_to_be_told(observer_of, walks):
    episode = tomnet.meet(observer_of("mental"), walks).begin(".....\n.....\n.A..B\n..@*.\n.....")
    with pytest.raises(tomnet.TomnetError, match=r"state = None: the agent reaches \*, and what then happens"):
        episode.step("right")
    swapped = episode.step(3, ".....\n.....\n.B..A\n...@.\n.....")
    assert swapped.state.object_cells[0].tolist() == [14, 11, -1]
    assert swapped.steps == 1
    with pytest.raises(tomnet.TomnetError, match="the walls stay where they are"):
        episode.step("up", "..#..\n.....\n.A@.B\n...*.\n.....")


def test_a_subgoal_without_swaps_is_gone_once_it_is_taken(walks):
    observer = made_up(CONFIGS["character"], domain=replace(DOMAIN, swaps=False))
    episode = tomnet.meet(observer, walks).begin(".....\n.....\n.A..B\n..@*.\n.....").step("right")
    assert episode.taken is None
    assert episode.state.object_cells[0].tolist() == [11, 14, -1]


def test_an_observer_of_unknown_training_does_not_guess_what_objects_do(walks):
    episode = tomnet.meet(made_up(CONFIGS["character"]), walks, objects=NAMES).begin(
        "@A...\n" + ".....\n" * 3 + "B...*"
    )
    with pytest.raises(tomnet.TomnetError, match="the agent reaches A"):
        episode.step("right")


@pytest.mark.parametrize("action", ["jump", 5, -1, True])
def test_actions_that_there_are_not(action, observer_of, walks):
    with pytest.raises(tomnet.TomnetError, match="action = .*: should be one of up, down, left, right, stay"):
        tomnet.meet(observer_of("mental"), walks).begin(LEVEL).step(action)


# --- Names


def test_answers_have_names_and_are_arrays(observer_of, walks):
    said = tomnet.meet(observer_of("mental"), walks).ask(LEVEL)
    assert said.heads == ("action", "consumption", "successor", "belief")
    assert tuple(said.action) == ("up", "down", "left", "right", "stay")
    assert sum(said.action.values()) == pytest.approx(1, abs=1e-5)
    assert said.action["right"] == said.action.array[3]
    assert np.asarray(said.action).tolist() == said.action.array.tolist()
    assert said.action[said.action.likeliest] == max(said.action.values())
    assert tuple(said.consumption) == NAMES
    assert said.successor[0.5].shape == (5, 5)
    assert said.successor[0.5].sum() == pytest.approx(1, abs=1e-5)
    assert said.belief["*"].sum() + said.nowhere["*"] == pytest.approx(1, abs=1e-5)
    assert said.belief["B"].tolist() == said.probabilities.belief[1, :-1].reshape(5, 5).tolist()


def test_a_name_that_there_is_not(observer_of, walks):
    said = tomnet.meet(observer_of("mental"), walks).ask(LEVEL)
    with pytest.raises(tomnet.TomnetError) as refused:
        said.action["rigth"]
    assert str(refused.value) == "unknown name 'rigth'; did you mean 'right'?"
    assert "rigth" not in said.action
    assert said.action.get("rigth") is None


def test_a_head_that_the_observer_has_not(walks):
    observer = made_up(replace(CONFIGS["character"], heads=("action",)), domain=DOMAIN)
    said = tomnet.meet(observer, walks).ask(LEVEL)
    for head in ("consumption", "successor", "belief", "nowhere"):
        with pytest.raises(tomnet.TomnetError, match="this observer has no such head; it has action"):
            getattr(said, head)
    assert str(said).startswith("next action: ")
    assert "taken" not in str(said)


def test_embeddings_come_with_their_uncertainty(observer_of, walks):
    said = tomnet.meet(observer_of("bottleneck"), walks).begin(LEVEL).step("down").ask()
    assert said.character.mean.shape == said.character.deviation.shape == (3,)
    assert said.mental.mean.shape == said.mental.deviation.shape == (5, 5, 4)
    assert np.all(said.character.deviation > 0)  # pyright: ignore[reportOptionalOperand]
    unsure = tomnet.meet(observer_of("mental"), walks).ask(LEVEL)
    assert unsure.character.deviation is None
    assert unsure.mental.deviation is None
    assert tomnet.meet(observer_of("character"), walks).ask(LEVEL).mental is None


def test_maps_are_said_by_their_likeliest_cells():
    maps = np.array([[[0.25, 0.5], [0.0, 0.25]], [[0.0, 0.004], [1.0, 0.0]]])
    said = tomnet.Named((0.5, 0.9), maps)
    assert str(said) == "0.5: (0, 1) 0.50, (0, 0) 0.25, (1, 1) 0.25\n0.9: (1, 0) 1.00"
    assert said.likeliest == {0.5: (0, 1), 0.9: (1, 0)}
    assert str(tomnet.Named(("A",), np.zeros((1, 2, 2)))) == "A: 0.00 everywhere"


def test_at_a_prompt_an_answer_reads_as_it_prints(observer_of, walks):
    said = tomnet.meet(observer_of("bottleneck"), walks).begin(LEVEL).step("down").ask()
    parts = (said.action, said.consumption, said.successor, said.belief, said.nowhere, said.character, said.mental)
    for part in (said, *parts):
        assert repr(part) == str(part)
        assert "array" not in str(part)
        assert "numpy" not in str(part)
    assert repr(said.successor).count("\n") == 2
    assert repr(said.character).count("±") == 3
    assert repr(said.mental) == "5×5×4 numbers"
    assert repr(tomnet.Embedding(np.array([0.5, -1]), None)) == "0.50, -1.00"


def test_nothing_seen_is_the_prior(observer_of):
    with pytest.warns(tomnet.BeyondTraining, match="N_past is 0, at least 1 there"):
        stranger = tomnet.meet(observer_of("bottleneck"), [])
    assert stranger.character.mean.tolist() == [0, 0, 0]
    assert stranger.character.deviation.tolist() == [1, 1, 1]
    mental = stranger.ask(LEVEL).mental
    assert (mental.mean == 0).all()
    assert (mental.deviation == 1).all()


def test_objects_may_have_names_of_their_own(observer_of, walks):
    def renamed(text: str) -> str:
        return text.replace("A", "x").replace("B", "y").replace("*", "z")

    others = [parse_text(renamed(LEVEL) + "\nright\nright\nright\nright\n", "ann", "1")]
    said = tomnet.meet(observer_of("mental"), others, objects="xyz").ask(renamed(ELSEWHERE))
    usual = tomnet.meet(observer_of("mental"), walks[:1]).ask(ELSEWHERE)
    assert tuple(said.consumption) == ("x", "y", "z")
    assert said.consumption.array.tolist() == usual.consumption.array.tolist()


def test_recordings_and_episodes_of_our_own_are_the_same_past(observer_of, walks):
    told = tomnet.meet(observer_of("mental"), walks).character.mean
    stacked = to_episodes(walks, 5, NAMES)
    one_by_one = [jax.tree.map(lambda leaf: leaf[0], to_episodes([walk], 5, NAMES)) for walk in walks]
    for past in (stacked, one_by_one, iter(walks)):
        np.testing.assert_allclose(tomnet.meet(observer_of("mental"), past).character.mean, told, atol=1e-6)


def test_in_a_notebook_both_are_a_line(observer_of, walks):
    agent = tomnet.meet(observer_of("mental"), walks[:1])
    assert repr(agent) == f"<AgentModel: 1 past episode; objects {', '.join(agent.objects)}>"
    assert repr(agent.begin(LEVEL).step(STEPS[0])) == "<CurrentEpisode: 1 step>"
