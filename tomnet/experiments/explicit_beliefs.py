"""Section 3.5: an observer that says what agents believe.

    tomnet run explicit-beliefs --preset laptop
    tomnet run explicit-beliefs --preset full     33 min on an H200, most of it beside another run: B1, a share of 0.95

Goal: forecasts of what agents report that lie nearer to the agents' own uncertainty than to the forecast that everyone
believes the truth; and that change with a swap only where the agent can have seen it.
"""

import dataclasses

import jax
import numpy as np
from jaxtyping import Array, Key

from ..observer.tomnet import ToMnet
from ..support.streams import EVALUATION_STREAM, stream
from ..world.gridworld import SUBGOAL_MAZE
from .analysis.belief_forecast import BeliefForecast, forecast_table
from .analysis.evaluation_set import EvaluationSet, draw_evaluation_set
from .claims.claim import Claim, Verdict, if_measured, verdict
from .claims.statements import STATEMENTS
from .experiment import ANY_PRESET, Experiment, ObserverSpec, Preset
from .sally_anne.natural_swaps import predictions
from .sally_anne.specs import FIVE, MIXED, NARROW, WIDE, control_spec, mixed_spec
from .sally_anne.swap_curves import (
    FOLLOWS_SIGHT,
    MORE_IN_VIEW,
    Curves,
    agreement,
    beyond_the_edge,
    curves_of,
    follows_sight,
    gap_at,
    parting,
    seen_above_unseen,
)
from .sally_anne.swap_examples import Future, SwapExample, SwapExamples, swap_examples
from .sally_anne.walks import Walks, walk_all

NEARER = 0.5  # of the way from the truth's forecast to the agents' own entropy


def specs(preset: Preset) -> tuple[ObserverSpec, ...]:
    return mixed_spec(preset), control_spec(preset)


@dataclasses.dataclass(frozen=True)
class Tables:
    forecast: list[BeliefForecast]  # of each condition, and last of all
    control: list[BeliefForecast]  # the same, as foretold without a theory of mind
    natural: dict[str, Curves]  # by condition
    examples: SwapExamples


def evaluate(observers: dict[str, ToMnet], agents: int, seed: int) -> tuple[Tables, list[Claim]]:
    met, observer = mixed_evaluation_set(seed, agents), observers["mixed"]
    (shown,) = FIVE
    walks = walk_all(seed, (NARROW, shown, WIDE), agents)
    tables = Tables(
        forecast=forecast_table(observer, met, MIXED),
        control=forecast_table(observers["control"], met, MIXED),
        natural=curves_of(walks, observer),
        examples=_examples(_keys(seed)[1], walks[shown], observer),
    )
    return tables, _claims(tables)


def mixed_evaluation_set(seed: int, agents: int) -> EvaluationSet:
    """Agents of the mixed population that no observer has met."""
    return draw_evaluation_set(_keys(seed)[0], mixed_spec(ANY_PRESET), "held out", agents)


def _keys(seed: int) -> Key[Array, "2"]:
    """Of the encounters, and of the examples."""
    return jax.random.split(stream(seed, EVALUATION_STREAM))


def _examples(key, walks: Walks, observer: ToMnet) -> SwapExamples:
    """Fig. 13a and b: a swap in view and one out of view, what the agent then says and what the observer expects."""
    examples = swap_examples(key, walks.agents, walks.pairs, SUBGOAL_MAZE, rollouts=1)
    where, told = predictions(observer, walks)

    def with_predictions(example: SwapExample) -> SwapExample:
        (walk,) = np.flatnonzero((where == (example.network, example.level)).all(1))

        def predicted(future: Future, world: int) -> Future:
            assert told.belief is not None
            return dataclasses.replace(future, predicted_belief=np.asarray(told.belief[world, walk], float))

        futures = {"no_swap": predicted(example.no_swap, 0), "swap": predicted(example.swap, 1 + example.draw)}
        return dataclasses.replace(example, **futures)

    return {name: example and with_predictions(example) for name, example in examples.items()}


def _claims(tables: Tables) -> list[Claim]:
    everyone, unread, natural = tables.forecast[-1], tables.control[-1], tables.natural
    narrow, wide = two = [natural[NARROW], natural[WIDE]]
    ratios = {name: natural[name].ratio["belief"] for name in (NARROW, WIDE)}
    longer = gap_at(parting(narrow, wide, "belief").widest, narrow, wide, "observer", "belief")
    least = min(ratios, key=lambda name: np.nan_to_num(ratios[name].mean, nan=-1.0))
    return [
        Claim(
            "B1",
            STATEMENTS["B1"],
            _decided(everyone),
            everyone.share.mean,
            everyone.share.interval,
            "share of the way to the agents' own entropy (1), from a forecast of the truth (0), in cross-entropy",
            f"reproduced: interval above {NEARER}, nearer to what agents believe than to what is so; partly: above 0",
            paper="“grasp the essential differences between their belief-forming tendencies”; no number",
            ideal=1.0,
            control=if_measured(unread.share.mean),
            detail={
                "observer": everyone.observer.mean,
                "entropy": everyone.entropy.mean,
                "truth": everyone.truth.mean,
                **{row.condition: row.share.mean for row in tables.forecast[:-1]},
                "control": {"cross-entropy": unread.observer.mean, "by_the_same_rule": _decided(unread)},
            },
        ),
        Claim(
            "B2",
            STATEMENTS["B2"],
            verdict(follows_sight(two, "belief"), all(seen_above_unseen(table, "belief") for table in two)),
            ratios[least].mean,
            ratios[least].interval,
            f"observer's D_JS between beliefs, in view over out of view, the lesser of 3×3 and 9×9 ({least})",
            f"reproduced, for 3×3 and 9×9 agents: {FOLLOWS_SIGHT}; partly, for both: {MORE_IN_VIEW}",
            paper="Fig. 13c: “captures the longer range over which the 9×9 agents can update their beliefs (though "
            "again, it infers a soft observability boundary)”",
            detail={
                "agreement": agreement(two, "belief"),
                **{name: ratio.mean for name, ratio in ratios.items()},
                "softer, ratio without swaps one cell beyond the view": {
                    name: beyond_the_edge(natural[name], "belief") for name in (NARROW, WIDE)
                },
                "softer, 9×9 less 3×3 where the gap is widest": [longer.mean, *longer.interval],
            },
        ),
    ]


def _decided(everyone: BeliefForecast) -> Verdict:
    return verdict(everyone.share.low > NEARER, everyone.share.low > 0)


EXPERIMENT = Experiment(
    name="explicit-beliefs",
    title="What agents believe, said aloud",
    section="3.5",
    figures=("13",),
    claims=("B1", "B2"),
    specs=specs,
    tables=Tables,
    evaluate=evaluate,
    minutes={"full": "33"},
)
