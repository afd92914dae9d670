"""Hand-made tables of sections 3.4 and 3.5: agents that see as far as they do, and an observer that nearly knows it."""

from dataclasses import replace

import numpy as np
from figures import hand_made_agents
from figures.hand_made_agents import swap_effect

from tomnet.experiments import belief_embeddings, explicit_beliefs, false_beliefs, false_beliefs_mixed, unseen_swaps
from tomnet.experiments.analysis.belief_forecast import BeliefForecast
from tomnet.experiments.analysis.examples import PlainEpisode, PlainState
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.belief_embeddings import Cloud, Clouds, MixedUp
from tomnet.experiments.sally_anne.specs import MIXED
from tomnet.experiments.sally_anne.swap_curves import Curves, PairMean, SideBySide
from tomnet.experiments.sally_anne.swap_effects import SwapEffects, SwapTable
from tomnet.experiments.sally_anne.swap_examples import Future
from tomnet.experiments.sally_anne.turning_back import Picture, TurningTable

SIZE = 11
WALLS = np.array([[int(row == 1 and col < 4) for col in range(SIZE)] for row in range(SIZE)])
REACH = {"blind": -1, "3x3": 1, "5x5": 2, "7x7": 3, "9x9": 4}
MEASURED = ("policy", "belief", "successor 0.5", "successor 0.9", "successor 0.99")


def around(value: float, by: float = 0.005) -> PairMean:
    return PairMean(value, value - by, value + by, count=10, pairs=40)


def over(value: float, by: float) -> Estimate:
    return Estimate(value, value - by, value + by, 10)


def effects(seen: bool, far: int = 2) -> SideBySide:
    """Agents change only where they see; the observer is a little less sure of where that ends."""
    agents = {name: around(0.0, 0.0) if name in ("policy", "belief") and not seen else around(0.3) for name in MEASURED}
    observer = {
        name: around(0.2 - 0.01 * far if seen else 0.02 - 0.001 * far) if name in ("policy", "belief") else around(0.25)
        for name in MEASURED
    }
    return SideBySide(40, agents, observer)


def curves(condition: str) -> Curves:
    reach = REACH[condition]
    by_distance = [effects(far <= reach, far).at(far, reach) for far in range(1, SIZE)]
    return Curves(
        reach=reach,
        pairs=400,
        networks=10,
        in_view=effects(True),
        out_of_view=effects(False),
        by_distance=by_distance,
        ratio={name: over(8.0, 1.0) for name in MEASURED},
        beyond_policy=around(0.23),
        by_network={
            what: np.array(2 * [[row.observer[what].mean for row in by_distance]]) for what in ("policy", "belief")
        },
    )


def unread(natural: dict[str, Curves]) -> dict[str, Curves]:
    """As foretold by who sees the query only: everyone is moved alike, wherever something changes."""
    rows = {name: around(0.1) for name in MEASURED}

    def same(side):
        return replace(side, observer=rows)

    return {
        name: replace(
            one,
            in_view=same(one.in_view),
            out_of_view=same(one.out_of_view),
            by_distance=[same(row) for row in one.by_distance],
            ratio={what: over(1.0, 0.1) for what in MEASURED},
        )
        for name, one in natural.items()
    }


def agents_own(condition: str) -> SwapTable:
    """Those with the narrowest view change most."""
    reach, near = REACH[condition], {"3x3": 0.5}.get(condition, 0.3)

    def row(seen: bool, far: int) -> SwapEffects:
        effect = swap_effect(near if far == 1 else 0.2, 0.005) if seen else swap_effect(0.0, 0.0)
        return SwapEffects(40, effect, effect)

    by_distance = [row(far <= reach, far).at(far, reach) for far in range(1, SIZE)]
    return SwapTable(reach, 10, 12, row(True, 1), row(False, 9), by_distance)


def turning_back() -> TurningTable:
    def own(drop: float, sure: float) -> dict[str, PairMean]:
        return {"no_swap": around(sure), "swap": around(sure * (1 - drop)), "drop": around(drop)}

    def row(seen: bool) -> SideBySide:
        agents = own(0.9, 0.8) if seen else own(0.9, 0.8) | {"drop": around(0.0, 0.0)}
        return SideBySide(40, agents, own(0.7 if seen else 0.05, 0.7))

    return TurningTable(
        reach=2,
        networks=10,
        in_view=row(True),
        out_of_view=row(False),
        gap={"agents": over(0.9, 0.005), "observer": over(0.65, 0.005)},
        by_distance=[row(far <= 2).at(far, reach=2) for far in range(1, 7)],
    )


STATE = PlainState(WALLS, agent_cell=4, object_cells=[0, 88, 98, 114, -1])
SWAPPED = replace(STATE, object_cells=[88, 0, 98, 114, -1])
WAY = PlainEpisode(WALLS, agent_cells=[1, 2, 3], object_cells=[0, 88, 98, 114, 4], actions=[3, 3, 3], final_cell=4)
PICTURE = Picture(distance=4, back=2, preferred=0, episode=WAY, no_swap=STATE, swap=SWAPPED)


def false_beliefs_tables() -> false_beliefs.Tables:
    shown, natural = [replace(PICTURE, distance=2), PICTURE], {"5x5": curves("5x5")}
    return false_beliefs.Tables(turning_back(), shown, natural, unread({"5x5": curves("5x5")}))


def false_beliefs_mixed_tables() -> false_beliefs_mixed.Tables:
    return false_beliefs_mixed.Tables(
        agents={name: agents_own(name) for name in MIXED},
        natural={name: curves(name) for name in MIXED},
        examples={"in_view": hand_made_agents.example(2, 0.3), "out_of_view": hand_made_agents.example(5, 0.0)},
    )


def unseen_swaps_tables() -> unseen_swaps.Tables:
    natural = {name: curves(name) for name in MIXED[1:]}
    return unseen_swaps.Tables(natural, unread(natural))


def explicit_beliefs_tables() -> explicit_beliefs.Tables:
    belief = np.full((5, SIZE**2 + 1), 1 / (SIZE**2 + 1))
    still = Future(STATE, [0.2] * 5, belief, np.zeros((3, SIZE, SIZE)), predicted_belief=belief)
    example = replace(hand_made_agents.example(2, 0.3), episode=WAY, no_swap=still, swap=replace(still, state=SWAPPED))

    def cost(name: str) -> BeliefForecast:
        return BeliefForecast(name, over(0.8, 0.05), over(11.0, 0.2), over(9.0, 0.2), over(19.0, 0.2))

    return explicit_beliefs.Tables(
        forecast=[cost(name) for name in (*MIXED, "all")],
        control=[replace(cost(name), share=over(0.3, 0.05), observer=over(16.0, 0.2)) for name in (*MIXED, "all")],
        natural={name: curves(name) for name in MIXED[1:]},
        examples={"in_view": example, "out_of_view": example},
    )


def belief_embeddings_tables() -> belief_embeddings.Tables:
    def cloud(x: float, y: float, dimensions: int) -> Cloud:
        mean = np.array([x, y, x - y], float)[:dimensions]
        return Cloud(np.stack([mean, mean + 0.1]), mean, 0.1 * np.eye(dimensions))

    corners = [(1, 1), (-1, 1), (-1, -1), (1, -1)]
    return belief_embeddings.Tables(
        fields=belief_embeddings.FieldsOfView(
            conditions=MIXED,
            confusion=np.where(np.eye(5), 0.8, 0.05),
            accuracy=0.8,
            hard=MixedUp(("7x7", "9x9"), over(0.3, 0.05)),
            easy=MixedUp(("blind", "3x3"), over(0.02, 0.01)),
            along=[0.0, 1.0, 2.0, 3.0, 4.0],
            order=1.0,
            order_in_plane=1.0,
        ),
        objects=belief_embeddings.Objects(
            accuracy=over(0.9, 0.02),
            edges=[1.0, 1.1, 1.2, 1.0, 1.1, 1.2],
            unevenness=over(1.2, 0.1),
            dimensions=[],
            carrying=[2, 3, 5],
            blind_nats=0.04,
            sighted_nats=1.3,
        ),
        clouds=Clouds(
            fields=[cloud(far, far / 2, 2) for far in range(5)],
            sighted=[cloud(x, y, 3) for x, y in corners],
            blind=[cloud(0, 0, 3) for _ in corners],
        ),
    )
