"""Observer specs draw encounters, results survive their files, and a run leaves what it says."""

import dataclasses
import json
import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from figures.hand_made import hand_made
from helpers import made_up, quick_play

from tomnet.agents.random_policy import RandomSpecies
from tomnet.episodes.encounter import EncounterSpec
from tomnet.episodes.episode import QueryState
from tomnet.experiments import experiment
from tomnet.experiments import run as running
from tomnet.experiments.agent_pool import AgentPool
from tomnet.experiments.analysis.examples import plain_episode, plain_state
from tomnet.experiments.analysis.query_fields import every_cell, policy_arrows
from tomnet.experiments.analysis.statistics import UNKNOWN, Estimate
from tomnet.experiments.claims.claim import Claim
from tomnet.experiments.experiment import Experiment, ObserverSpec, Result
from tomnet.experiments.registry import EXPERIMENTS
from tomnet.experiments.run import AGENTS, RESULT, load_result, run
from tomnet.experiments.warm_start import Start, first_observer, started
from tomnet.observer.bottleneck import annealed
from tomnet.observer.config import ObserverConfig, TrainingConfig
from tomnet.support.errors import BadFile, BadSetting, TomnetError
from tomnet.support.json_files import write_json
from tomnet.support.named_arrays import digest_of
from tomnet.support.provenance import provenance
from tomnet.world.gridworld import MAZE, SUBGOAL_MAZE, World

SPEC = ObserverSpec(
    name="tiny",
    species=RandomSpecies((1.0,)),
    world=World(size=5, objects=2, max_walls=1),
    encounter_spec=EncounterSpec(0, 2),
    observer=ObserverConfig(size=5, objects=2, channels=2, character_channels=2, character_depth=1, torso_depth=1),
    training=TrainingConfig(steps=1),
    steps=1,
    reuse=2,
)


# --- Observer specs


@pytest.fixture(scope="module")
def sampled():
    """Five of the six encounters with three agents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "play", quick_play)
        return jax.tree.map(np.asarray, eqx.filter_jit(SPEC.sample)(jax.random.key(0), 5))


def test_a_member_draws_as_many_encounters_as_asked(sampled):
    assert all(len(leaf) == 5 for leaf in jax.tree.leaves(sampled))
    assert sampled.past.walls.shape == (5, 2, 5, 5)
    assert sampled.past.actions.shape == (5, 2, 1)
    assert sampled.past.object_cells.shape == (5, 2, 1, 2)
    assert sampled.past_real.shape == (5, 2)
    assert sampled.query.object_cells.shape == (5, 2)
    assert sampled.targets.consumption.shape == (5, 2)
    assert sampled.targets.successor.shape == (5, 3, 5, 5)
    assert sampled.recent is None


def test_reused_episodes_are_those_of_the_same_agent(sampled):
    """The same three episodes, in other roles; the third agent comes up once."""

    def levels(i: int) -> set[bytes]:
        starts = [(sampled.past.object_cells[i, j, 0], sampled.past.agent_cells[i, j, 0]) for j in range(2)]
        starts.append((sampled.query.object_cells[i], sampled.query.agent_cell[i]))
        return {objects.tobytes() + agent.tobytes() for objects, agent in starts}

    assert levels(0) == levels(3)
    assert levels(1) == levels(4)
    assert levels(0).isdisjoint(levels(1) | levels(2))


def test_random_species_share_one_compiled_sampler(monkeypatch):
    traced = []

    def noted_play(*setting):
        traced.append(setting)
        return quick_play(*setting)

    monkeypatch.setattr(experiment, "play", noted_play)
    drawn = {}
    for alpha in (0.01, 100.0):
        spec = dataclasses.replace(
            SPEC, name=f"{alpha}", species=RandomSpecies((alpha,)), encounter_spec=EncounterSpec(2, 2)
        )
        encounters = eqx.filter_jit(spec.sampler())(jax.random.key(0), 30)
        drawn[alpha] = (encounters.past.actions[:, 0] == encounters.past.actions[:, 1]).mean()
    assert len(traced) == 1
    assert drawn[0.01] > 0.8 > 0.5 > drawn[100.0]  # and yet each draws agents of its own kind


def test_only_a_pool_is_asked_about_several_times_at_once():
    for training in (TrainingConfig(steps=1, queries=2), TrainingConfig(steps=1, currents=2)):
        with pytest.raises(BadSetting, match=f"{training.currents}, {training.queries}: only a pool of deep RL agents"):
            dataclasses.replace(SPEC, training=training)


@pytest.mark.parametrize(
    ("world", "training", "why"),
    [
        (SUBGOAL_MAZE, {"queries": 52}, "queries = 52: an episode of this world has 51 steps to ask about"),
        (MAZE, {"swap_probability": 0.5}, "swap_probability = 0.5: this world has no swaps to draw more often"),
        (
            dataclasses.replace(SUBGOAL_MAZE, swap_probability=0.0),
            {"swap_probability": 0.5},
            "swap_probability = 0.5: this world has no swaps to draw more often",
        ),
    ],
)
def test_what_a_world_does_not_have_cannot_be_asked_for(world, training, why):
    spec = EncounterSpec(1, 1, query_at_start=False)
    with pytest.raises(BadSetting, match=why):
        ObserverSpec("one", AgentPool(("5x5",)), world, spec, ObserverConfig(), TrainingConfig(steps=1, **training))


# --- Results


def a_claim(**changes) -> Claim:
    settings = {
        "id": "R1",
        "statement": "It works",
        "verdict": "partly",
        "value": 0.5,
        "interval": (0.4, 0.6),
        "unit": "share",
        "decided_by": "reproduced ≥ 0.6",
        "ideal": 1.0,
        "detail": {"worst": "alpha-1"},
    }
    return Claim(**settings | changes)


@dataclasses.dataclass(frozen=True)
class Tables:
    names: list[str]
    agents: int
    curve: Estimate


CURVE = Estimate(0.5, 0.4, 0.6, 9)


def test_a_result_survives_its_file():
    result = Result("tiny-ones", "smoke", 3, Tables(["tiny"], 2, CURVE), [a_claim()], 1.5, {"jax": "0"})
    assert Result.from_json(json.loads(json.dumps(result.to_json())), Tables) == result


def test_a_claim_without_an_interval_survives_its_file():
    result = Result("tiny-ones", "smoke", 3, Tables([], 2, CURVE), [a_claim(interval=None, paper="no difference")])
    assert Result.from_json(json.loads(json.dumps(result.to_json())), Tables) == result


def test_what_is_not_a_number_survives_its_file():
    """With few agents there may be nothing to measure; JSON has null for it."""
    result = Result("tiny-ones", "smoke", 3, Tables([], 2, UNKNOWN), [a_claim(value=math.nan)])
    again = Result.from_json(json.loads(json.dumps(result.to_json())), Tables)
    assert math.isnan(again.claims[0].value)
    assert not again.tables.curve.measured


def test_a_result_that_does_not_fit_names_the_field_in_one_line(tmp_path):
    plain = hand_made("goal-inference").to_json()
    plain["tables"]["comparison"]["8d"]["action"]["observer"]["mean"] = "much"
    write_json(tmp_path / RESULT, plain)
    where = "tables.comparison.8d.action.observer.mean should be a number, not 'much'"
    with pytest.raises(BadFile, match=f"{RESULT}: holds no result of goal-inference: {where}$"):
        load_result(tmp_path)


@pytest.mark.parametrize("content", [{}, [], {"experiment": "random-agents", "mood": "sunny"}])
def test_a_file_that_is_no_result_is_refused_in_one_line(content, tmp_path):
    write_json(tmp_path / RESULT, content)
    with pytest.raises(BadFile, match=RESULT):
        load_result(tmp_path)


def test_a_result_that_is_not_there_is_refused_in_one_line(tmp_path):
    with pytest.raises(BadFile, match="no such file"):
        load_result(tmp_path)


# --- Runs


@pytest.fixture
def wired(monkeypatch):
    """An experiment of two observers, with training replaced by a note of how it was called."""
    calls = []

    def train(config, training, sample, folder, **how):
        calls.append({"folder": folder, "sample": sample, "config": config, "rate": training.learning_rate, **how})
        return made_up(config)

    def evaluate(observers, agents, seed):
        return Tables(list(observers), agents, CURVE), [a_claim()]

    monkeypatch.setattr(running, "train", train)
    specs = (SPEC, ObserverSpec(**vars(SPEC) | {"name": "other"}))
    tiny_ones = Experiment("tiny-ones", "Tiny", "3.1", ("1",), ("R1",), lambda preset: specs, Tables, evaluate, {})
    monkeypatch.setitem(EXPERIMENTS, tiny_ones.name, tiny_ones)
    return tiny_ones, calls


def test_a_run_trains_each_member_in_a_folder_of_its_own_and_writes_the_result(wired, tmp_path):
    tiny_ones, calls = wired
    result = run(tiny_ones, "smoke", 5, tmp_path, resume=True)
    assert [call["folder"] for call in calls] == [tmp_path / "tiny", tmp_path / "other"]
    assert all(call["seed"] == 5 and call["resume"] for call in calls)
    drawn = calls[0]["sample"](jax.random.key(3), 2)
    assert eqx.tree_equal(drawn, SPEC.sample(jax.random.key(3), 2))
    assert calls[0]["about"]["command"] == "tomnet run tiny-ones --preset smoke --seed 5"
    assert result.tables == Tables(["tiny", "other"], AGENTS["smoke"], CURVE)
    assert load_result(tmp_path) == result


def test_an_observer_that_starts_from_another_has_its_shape_and_says_whose_weights_were_the_first(wired, tmp_path):
    tiny_ones, calls = wired
    wide = made_up(dataclasses.replace(SPEC.observer, channels=4))
    run(tiny_ones, "smoke", 5, tmp_path, starts={"tiny": Start("wide/one", wide)})
    begun, fresh = calls
    assert begun["start"] is wide
    assert begun["config"].channels == 4
    assert begun["identity"]["start"] == digest_of(wide)
    assert begun["about"]["command"] == "tomnet run tiny-ones --preset smoke --seed 5 --from wide/one"
    assert (fresh["start"], fresh["config"].channels) == (None, 2)
    assert "start" not in fresh["identity"]
    assert begun["rate"] < fresh["rate"]


def test_one_without_a_bottleneck_may_be_where_one_with_a_bottleneck_starts():
    def spec(bottleneck: bool) -> ObserverSpec:
        return dataclasses.replace(SPEC, observer=dataclasses.replace(SPEC.observer, bottleneck=bottleneck))

    plain, price = (made_up(spec(bottleneck).observer) for bottleneck in (False, True))
    begun = started(spec(True), Start("plain", plain))
    assert begun.training == SPEC.training  # it has much to learn
    assert first_observer(begun, Start("plain", plain), 0).config == begun.observer
    assert first_observer(begun, Start("price", price), 0) is price
    assert begun.training.anneal > 0
    gone_on = started(spec(True), Start("price", price)).training  # with the whole price from its first step on
    assert float(annealed(0.01, gone_on.anneal, jnp.int32(0), gone_on.steps)) == pytest.approx(0.01)
    with pytest.raises(TomnetError, match="cannot start from price: its bottleneck is True, not False"):
        started(spec(False), Start("price", price))


def test_what_an_experiment_is_about_cannot_be_taken_from_elsewhere(wired, tmp_path):
    tiny_ones, calls = wired
    other = made_up(dataclasses.replace(SPEC.observer, size=7, embedding=3, heads=("action",)))
    with pytest.raises(TomnetError) as refused:
        run(tiny_ones, "smoke", 5, tmp_path, starts={"other": Start("elsewhere/one", other)})
    differs = "size is 7, not 5; heads is ['action'], not ['action', 'consumption', 'successor']; embedding is 3, not 2"
    assert str(refused.value) == f"other cannot start from elsewhere/one: its {differs}"
    assert calls == []  # nor was the first one trained


def test_a_run_with_an_unknown_preset_touches_nothing(wired, tmp_path):
    with pytest.raises(TomnetError, match="unknown preset 'huge'"):
        run(wired[0], "huge", 5, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_commit_that_was_told_is_called_so(monkeypatch):
    monkeypatch.setenv("TOMNET_COMMIT", "abc1234")
    assert provenance()["commit"] == "abc1234 (told)"


def test_the_environment_names_what_a_number_depends_on():
    named = provenance()
    assert {"tomnet", "python", "jax", "equinox", "device", "cores", "commit"} <= named.keys()
    assert named["cores"] >= 1
    json.dumps(named)


# --- Examples and fields


def test_a_plain_episode_holds_its_real_steps_only(sampled):
    episode = jax.tree.map(lambda leaf: jnp.asarray(leaf[0, 0]), sampled.past)
    plain = plain_episode(episode)
    length = int(episode.length)
    assert plain.actions == np.asarray(episode.actions)[:length].tolist()
    assert len(plain.agent_cells) == length
    assert plain.final_cell == int(episode.final_cell)
    assert plain.walls.shape == (5, 5)


def a_query() -> QueryState:
    walls = jnp.zeros((7, 7), bool).at[1, 2].set(True)
    return QueryState(walls, jnp.int16(3), jnp.array([10, 20, 30, -1], jnp.int16))


def test_a_plain_snapshot_has_rows_first():
    plain = plain_state(a_query())
    assert plain.agent_cell == 3
    assert plain.object_cells == [10, 20, 30, -1]
    assert plain.walls[1, 2] == 1
    assert plain.walls[2, 1] == 0


def test_every_cell_is_asked_once_on_the_same_level():
    queries = every_cell(a_query())
    assert queries.agent_cell.tolist() == list(range(49))
    assert queries.walls.shape == (49, 7, 7)
    assert (np.asarray(queries.walls) == np.asarray(a_query().walls)).all()
    assert (np.asarray(queries.object_cells) == [10, 20, 30, -1]).all()


def test_arrows_point_where_the_policy_leads():
    policies = np.array([[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0.5, 0, 0, 0.5, 0]])
    assert policy_arrows(policies).tolist() == [[-1, 0], [1, 0], [0, -1], [0, 1], [-0.5, 0.5]]
