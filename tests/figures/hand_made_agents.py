"""Tables about deep RL agents made by hand: a 5×5 world, three objects and a subgoal, episodes of a few steps."""

import math
from typing import Any

import numpy as np

from tomnet.experiments.analysis.agent_episodes import RecordedEpisode, RecordedStep
from tomnet.experiments.analysis.belief_quality import BeliefQuality, Quality
from tomnet.experiments.analysis.calibration import ReliabilityBin
from tomnet.experiments.analysis.examples import PlainEpisode, PlainState
from tomnet.experiments.analysis.handedness import Handedness, Hands
from tomnet.experiments.analysis.performance import Performance
from tomnet.experiments.analysis.population_evaluation import PopulationTables
from tomnet.experiments.analysis.statistics import Estimate, NetworkMean
from tomnet.experiments.sally_anne.acts_on_memory import ActsOnMemory, DependsOnPast
from tomnet.experiments.sally_anne.swap_effects import SwapEffect, SwapEffects, SwapTable
from tomnet.experiments.sally_anne.swap_examples import Future, SwapExample

SIZE, KINDS = 5, 4
WALLS = np.array([[int(row == 2 and 1 <= col <= 2) for col in range(SIZE)] for row in range(SIZE)])
CONDITIONS = ("blind", "3x3", "5x5", "stateless-5x5")


def metrics() -> list[dict[str, Any]]:
    """Two chunks of four networks; the second network of the second chunk diverged, and nothing had ended at first."""
    rows = []
    for chunk in (0, 1):
        for step in range(1, 7):
            each: list[float | None] = [step / 10 + place for place in range(4)]
            if step == 1:
                each = [None] * 4
            rows.append(
                {
                    "chunk": chunk,
                    "updates": step,
                    "steps": 1000 * step,
                    "seconds": 1.0,
                    "returns": dict(zip(CONDITIONS, each)),
                    "each": each,
                    "losses": {"value": 0.1},
                    "diverged": [1] if chunk == 1 and step > 3 else [],
                }
            )
    return rows


def measured(value: float, by: float = 0.05, networks: int = 3) -> NetworkMean:
    return NetworkMean(value, value - by, value + by, networks, [value + 0.01 * i for i in range(networks)])


def performance(base: float, networks: int) -> Performance:
    share = measured(0.5, networks=networks)
    returns, steps = measured(base, networks=networks), measured(20.0, networks=networks)
    return Performance(networks, returns, share, share, share, share, share, steps)


def example(distance: int, change: float) -> SwapExample:
    def future(cells: list[int], policy: list[float]) -> Future:
        rows, cols = np.indices((SIZE, SIZE))
        maps = np.stack([(rows + cols) / 100 + sum(cells) / 1e4] * 3)
        belief = np.full((KINDS, SIZE**2 + 1), 1 / (SIZE**2 + 1))
        return Future(PlainState(WALLS, 3, cells), policy, belief, maps)

    same = [0.2] * 5
    return SwapExample(
        rule="the first",
        network=0,
        level=2,
        draw=0,
        preferred=0,
        field_of_view=3,
        distance=distance,
        policy_change=change,
        belief_change=change,
        episode=PlainEpisode(WALLS, [0, 1, 2], [4, 20, 24, 3], [3, 3, 3], 3),
        visibility=np.array(2 * [[1, 1, 1, 2, 2]] + 3 * [[0] * SIZE]),
        rollouts=200,
        gammas=(0.5, 0.9, 0.99),
        no_swap=future([4, 20, 24, -1], same),
        swap=future([20, 4, 24, -1], [0.6, 0.1, 0.1, 0.1, 0.1] if change else same),
    )


def swap_effect(value: float, by: float) -> SwapEffect:
    return SwapEffect(value, value - by, value + by, 3, value)


def swaps(sees: bool) -> SwapTable:
    """The blind have nothing in view."""
    seen = swap_effect(0.3125, 0.0625) if sees else swap_effect(math.nan, 0.0)
    unmoved = swap_effect(0.0, 0.0)
    in_view, out_of_view = SwapEffects(40 if sees else 0, seen, seen), SwapEffects(40, unmoved, unmoved)
    return SwapTable(1 if sees else -1, 20, 24, in_view, out_of_view, [])


def beliefs(sees: bool) -> BeliefQuality:
    def quality(nats: float) -> Quality:
        return Quality(100, measured_over(nats), measured_over(0.05), [ReliabilityBin(0.9, 1.0, 0.95, 0.9, 100)])

    return BeliefQuality(3.25, quality(4.25), quality(0.0625) if sees else None, None, None)


def measured_over(value: float) -> Estimate:
    return Estimate(value, value - 0.05, value + 0.05, 3)


def handedness(size: float, by: float, split: bool) -> Handedness:
    hands = {"training": Hands(1, 1), "held out": Hands(0, 1)} if split else {}
    return Handedness([], Estimate(0.0, -0.1, 0.1, 3), Estimate(size, size - by, size + by, 3), hands)


def tables() -> PopulationTables:
    there, never = measured(0.8125, 0.0625), measured(0.25, 0.0625)
    acting = {name: ActsOnMemory(1, 16, there if name in ("3x3", "5x5") else never, never, []) for name in CONDITIONS}
    return PopulationTables(
        levels=64,
        swap_levels=128,
        seed=1,
        performance={
            "oracle": performance(1.6, 1),
            "random": performance(-0.9, 1),
            **{name: performance(0.2 * i, 3) for i, name in enumerate(CONDITIONS)},
        },
        beliefs={name: beliefs(name != "blind") for name in CONDITIONS},
        swaps={name: swaps(name != "blind") for name in CONDITIONS},
        acts_on_memory=acting,
        depends_on_past={
            name: DependsOnPast(0.0 if name.startswith("stateless") else 0.4375, [0.0], 10, 5) for name in CONDITIONS
        },
        handedness={
            "oracle": handedness(0.1, 0.1, split=False),
            **{name: handedness(0.6875, 0.0625, split=True) for name in CONDITIONS},
        },
        examples={"in_view": example(1, 0.345), "out_of_view": example(4, 0.0)},
    )


def recorded(condition: str = "3x3", steps: int = 6) -> RecordedEpisode:
    """Along the first row, the subgoal in the fourth cell; object A, the preferred one, in the last."""
    entries = []
    for time in range(steps):
        cell = min(time, 3)
        seen = [[2 if row < 2 and abs(col - cell) < 2 else 0 for col in range(SIZE)] for row in range(SIZE)]
        entries.append(
            RecordedStep(
                agent_cell=cell,
                object_cells=[4, 20, 24, 3 if time < 3 else -1],
                visibility=np.array(seen),
                belief=[0.0] * 4 + [0.75] + [0.0] * 20 + [0.25],
                action=3,
                consumed=3 if time == 2 else 0 if time == steps - 1 else -1,
            )
        )
    return RecordedEpisode(
        condition=condition,
        field_of_view=3,
        remembers=True,
        network=0,
        preferred=0,
        walls=WALLS,
        steps=entries,
        final_cell=4,
    )
