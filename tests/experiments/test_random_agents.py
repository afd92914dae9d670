"""Section 3.1 evaluated from end to end, with observers that were never trained."""

import json
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from helpers import made_up, quick_play, random_encounters

from tomnet.agents.random_policy import RandomSpecies
from tomnet.experiments import experiment, random_agents
from tomnet.experiments.analysis.random_policies import (
    ALPHAS,
    FLAT,
    N_PAST,
    Likelihood,
    divergence,
    name_of,
    specialists,
)
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.experiment import ObserverSpec, Result
from tomnet.experiments.random_agents import EXPERIMENT, specs
from tomnet.experiments.run import evaluate, train_observer
from tomnet.observer import training, training_step
from tomnet.observer.config import ObserverConfig, TrainingConfig
from tomnet.support.streams import EVALUATION_STREAM, stream

AGENTS, SEED = 12, 0


class DrawnAgents:
    """Notes every agent that is drawn, by species."""

    def __init__(self, patch: pytest.MonkeyPatch):
        self.agents: dict[tuple[float, ...], list[np.ndarray]] = {}
        draw = RandomSpecies.sample

        def note(alphas, policies):
            self.agents.setdefault(tuple(float(alpha) for alpha in alphas), []).append(np.asarray(policies))

        def sample(species, key, count):
            drawn = draw(species, key, count)
            jax.debug.callback(note, species.alphas, drawn.action_probabilities)
            return drawn

        patch.setattr(RandomSpecies, "sample", sample)

    def of(self, *alphas: float) -> set[bytes]:
        jax.effects_barrier()
        (mine,) = (met for noted, met in self.agents.items() if np.allclose(noted, alphas))  # noted in float32
        return {policy.tobytes() for policies in mine for policy in policies}


@pytest.fixture(scope="module")
def evaluated():
    """The result of an evaluation, the agents that were met in it, and how often meeting them was compiled."""
    compiled = []

    def noted_play(*setting):
        compiled.append(setting)
        return quick_play(*setting)  # quicker to compile, and the same to these agents

    with pytest.MonkeyPatch.context() as patch:
        met = DrawnAgents(patch)
        patch.setattr(experiment, "play", noted_play)
        observers = {spec.name: made_up(spec.observer, seed) for seed, spec in enumerate(specs("smoke"))}
        result = evaluate(EXPERIMENT, observers, preset="smoke", agents=AGENTS, seed=SEED)
    return result, met, len(compiled)


@pytest.fixture(scope="module")
def result(evaluated) -> Result:
    return evaluated[0]


# --- Claims and tables


def test_every_claim_is_decided(result):
    assert [claim.id for claim in result.claims] == ["R1", "R2", "R3", "R4", "R5"]
    for claim in result.claims:
        assert claim.verdict in ("reproduced", "partly", "not reproduced")
        assert isinstance(claim.value, float)
        assert np.isfinite(claim.value)
        assert claim.interval is not None
        assert claim.interval[0] <= claim.value <= claim.interval[1]
        assert all((claim.statement, claim.unit, claim.decided_by))


@pytest.mark.parametrize(
    ("probability", "distance", "interval"),
    [(0.5, 0.1, (0.05, 0.15)), (0.3, 0.1, (0.05, 0.15)), (0.42, 0.02, (0.0, 0.07))],
)
def test_a_distance_from_the_posterior_has_no_sign(probability, distance, interval):
    mean = Estimate(probability, probability - 0.05, probability + 0.05, 9)
    measured = random_agents.distance_from_bayes(Likelihood(1.0, 1, mean, bayes=0.4))
    assert measured.mean == pytest.approx(distance)
    assert measured.interval == pytest.approx(interval)


def test_how_many_species_their_own_observer_predicts_best_depends_on_the_agents_drawn():
    """Of one species, half of the agents are better predicted by the observer of another: 5 or 6, as they fall."""
    names = [name_of((alpha,)) for alpha in ALPHAS]
    errors = {
        (name, alpha): (np.full(AGENTS, float(name != name_of((alpha,)))), np.zeros(AGENTS))
        for name in names
        for alpha in ALPHAS
    }
    errors[names[1], ALPHAS[0]] = (np.array([-1.0, 1.1] * (AGENTS // 2)), np.zeros(AGENTS))
    assert specialists(errors) == Estimate(6.0, 5.0, 6.0, AGENTS)


def test_an_untrained_observer_reproduces_nothing_about_inference(result):
    verdicts = {claim.id: claim.verdict for claim in result.claims}
    assert verdicts["R1"] == verdicts["R2"] == "not reproduced"


def test_the_tables_cover_every_species_and_number_of_past_episodes(result):
    names = [name_of((alpha,)) for alpha in ALPHAS]
    divergences = {(row.observer, row.past) for row in result.tables.bayes_divergence}
    assert divergences == {(name, past) for name in [*names, "mixture", FLAT] for past in N_PAST}
    crossed = {(row.trained, row.tested) for row in result.tables.cross_species}
    assert crossed == {(name, alpha) for name in names for alpha in ALPHAS}
    assert all(row.kl.mean >= 0 for row in result.tables.bayes_divergence)
    assert len(result.tables.embedding.points) == AGENTS


def test_exact_inference_beats_an_untrained_observer(result):
    assert all(row.excess.mean > 0 for row in result.tables.mixture if row.trained == "mixture")


def test_the_posterior_beside_the_curve_is_the_dirichlets(result):
    """After seeing an action once and nothing else, alpha = 0.01: (0.01 + 1) / (0.05 + 1)."""
    rows = {(row.alpha, row.past): row.bayes for row in result.tables.likelihood}
    assert rows[0.01, 1] == pytest.approx(1.01 / 1.05)
    assert rows[3.0, 5] == pytest.approx(8 / 20)
    assert all(rows[alpha, 0] == pytest.approx(0.2) for alpha in ALPHAS)


def test_the_result_survives_its_file(result):
    plain = json.loads(json.dumps(result.to_json()))
    again = Result.from_json(plain, EXPERIMENT.tables)
    assert again.claims == result.claims
    assert json.loads(json.dumps(again.to_json())) == plain
    assert plain["environment"]["agents"] == AGENTS


@pytest.mark.parametrize(
    ("true", "predicted", "nats"),
    [
        ([0.5, 0.5, 0, 0, 0], [0.5, 0.5, 0, 0, 0], 0.0),
        ([1.0, 0, 0, 0, 0], [0.5, 0.5, 0, 0, 0], np.log(2)),
        ([0.5, 0.5, 0, 0, 0], [0.25, 0.75, 0, 0, 0], 0.5 * np.log(2) + 0.5 * np.log(2 / 3)),
    ],
)
def test_the_divergence_in_nats(true, predicted, nats):
    assert divergence(np.array([true]), np.array([predicted])).tolist() == pytest.approx([nats])


# --- Who is met


def test_one_compiled_program_meets_all_agents(evaluated):
    """However many past episodes are seen: compiling takes far longer than meeting."""
    assert evaluated[2] == 1


def test_training_held_out_and_evaluation_never_meet_the_same_agent(evaluated, tmp_path, monkeypatch):
    """One species whose agents differ in every digit, through the engine with playing and learning left out."""
    plan = TrainingConfig(steps=6, batch=4, chunk=2, held_out=8)
    small = ObserverConfig(size=5, objects=2, channels=1, character_channels=1, character_depth=1, torso_depth=1)
    spec = replace(specs("smoke")[ALPHAS.index(1.0)], observer=small, training=plan)

    def no_playing(spec, key, agents, **_):
        return random_encounters(past_counts=(1,) * len(agents.action_probabilities))

    def no_learning(key, state, batches, *_):
        steps = batches.past_real.shape[0]
        return eqx.tree_at(lambda s: s.step, state, state.step + steps), {"action": jnp.float32(1.0)}

    monkeypatch.setattr(training_step, "ToMnet", lambda config, key: made_up(config))
    monkeypatch.setattr(ObserverSpec, "draw_encounters", no_playing)
    monkeypatch.setattr(training, "train_chunk", no_learning)
    monkeypatch.setattr(training, "held_out_losses", lambda *_: {"action": 1.0})
    met = DrawnAgents(monkeypatch)
    train_observer(EXPERIMENT, spec, "smoke", SEED, tmp_path, resume=False)
    assert len(met.of(1.0)) == 8 + 6 * 4  # no agent twice, not even among held-out and training agents
    tested = evaluated[1].of(1.0)
    assert len(tested) == AGENTS
    assert met.of(1.0).isdisjoint(tested)


def test_another_seed_tests_other_agents(evaluated):
    other = RandomSpecies((1.0,)).sample(
        jax.random.fold_in(stream(SEED + 1, EVALUATION_STREAM), ALPHAS.index(1.0)), AGENTS
    )
    assert {policy.tobytes() for policy in np.asarray(other.action_probabilities)}.isdisjoint(evaluated[1].of(1.0))
