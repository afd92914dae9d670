"""Curves by swap distance, from hand-made effects whose answer is known."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tomnet.experiments import explicit_beliefs, false_beliefs, false_beliefs_mixed, unseen_swaps
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.claims.claim import Claim
from tomnet.experiments.sally_anne.natural_swaps import Effects
from tomnet.experiments.sally_anne.specs import MIXED
from tomnet.experiments.sally_anne.swap_curves import (
    PairMean,
    SideBySide,
    agreement,
    agreement_interval,
    beyond_the_edge,
    curves,
    follows_sight,
    parting,
    seen_above_unseen,
)
from tomnet.experiments.sally_anne.turning_back import TurningTable

SIZE = 11
NETWORKS, PAIRS = 4, 5  # of each network at each distance


def effects(reach: int, observer, agents=None, spread: float = 0.0) -> Effects:
    """`observer` and `agents` give D_JS by distance; networks differ a little."""
    agents = agents or (lambda far: 0.3 if far <= reach else 0.0)
    grid = np.array([(network, far) for network in range(NETWORKS) for far in range(1, SIZE) for _ in range(PAIRS)])
    network, distance = grid.T

    def column(by_distance, wobble: float) -> np.ndarray:
        value = np.array([by_distance(far) for far in distance])
        return value * (1 + wobble * (network - 1.5))

    def everything(by_distance, wobble: float) -> dict[str, np.ndarray]:
        one = column(by_distance, wobble)
        return {"policy": one, "belief": one, "successor": np.stack([one, one, one + 0.1], 1)}

    return Effects(network, distance, everything(agents, 0.05), everything(observer, 0.05 + spread), reach)


def knowing(reach: int):
    """An observer that is nearly right: a soft edge, and a slope."""
    return lambda far: 0.2 - 0.01 * far if far <= reach else 0.03 - 0.001 * far


def test_a_table_has_a_row_for_every_distance_and_what_was_not_measured_is_nan():
    made = effects(2, knowing(2))
    made.agents["successor"][:] = np.nan
    table = curves(made, SIZE)
    assert [row.distance for row in table.by_distance] == list(range(1, SIZE))
    assert [row.in_view for row in table.by_distance] == [True, True] + [False] * 8
    assert table.by_distance[0].pairs == NETWORKS * PAIRS
    assert table.in_view.agents["policy"].mean == pytest.approx(0.3)
    assert table.out_of_view.agents["policy"] == PairMean(0.0, 0.0, 0.0, count=4, pairs=160)
    assert math.isnan(table.by_distance[0].agents["successor 0.99"].mean)
    assert table.beyond_policy.mean == pytest.approx(0.1)


def test_an_observer_that_knows_agrees_however_it_orders_what_agents_do_not_tell_apart():
    """A rank correlation would not: the agents' D_JS is 0 at eight of ten distances."""
    table = curves(effects(2, knowing(2)), SIZE)
    assert agreement([table], "policy") == 1.0
    assert follows_sight([table], "policy")


def test_an_observer_that_has_it_the_wrong_way_round_disagrees():
    table = curves(effects(2, lambda far: 0.01 * far), SIZE)
    assert agreement([table], "policy") == -1.0
    assert not follows_sight([table], "policy")
    assert not seen_above_unseen(table, "policy")


def test_where_agents_tell_nothing_apart_there_is_nothing_to_agree_with():
    assert math.isnan(agreement([curves(effects(2, knowing(2), lambda far: 0.1), SIZE)], "policy"))


def test_agreement_has_an_interval_over_networks():
    sure, torn = effects(2, knowing(2)), effects(2, knowing(2))
    assert agreement_interval([curves(sure, SIZE)], "policy") == (1.0, 1.0)
    others = torn.network >= NETWORKS // 2  # half of the networks have it the wrong way round
    torn.observer["policy"][others] = 0.01 * torn.distance[others]
    low, high = agreement_interval([curves(torn, SIZE)], "policy")
    assert low < agreement([curves(torn, SIZE)], "policy") <= high
    assert low < 0
    alone = torn.network == 0
    one = Effects(*(part[alone] for part in (torn.network, torn.distance)), *_of(torn, alone), torn.reach)
    assert all(math.isnan(end) for end in agreement_interval([curves(one, SIZE)], "policy"))


def _of(made: Effects, chosen) -> tuple[dict, dict]:
    agents, observer = ({name: each[chosen] for name, each in part.items()} for part in (made.agents, made.observer))
    return agents, observer


def test_distances_with_few_pairs_do_not_count():
    made = effects(2, lambda far: 1.0 if far == 9 else knowing(2)(far))
    assert agreement([curves(made, SIZE)], "policy") < 1
    few = np.flatnonzero((made.distance != 9) | (np.arange(len(made.distance)) % PAIRS == 0) & (made.network < 2))
    fewer = Effects(
        made.network[few],
        made.distance[few],
        {name: values[few] for name, values in made.agents.items()},
        {name: values[few] for name, values in made.observer.items()},
        made.reach,
    )
    assert agreement([curves(fewer, SIZE)], "policy") == 1.0


def test_a_network_that_is_merely_moved_more_by_what_is_near_does_not_pass():
    """As untrained ones are: the ratio is high, and the effect nothing to speak of."""
    table = curves(effects(2, lambda far: 1e-4 * knowing(2)(far)), SIZE)
    assert table.ratio["policy"].mean > 5
    assert agreement([table], "policy") == 1.0
    assert not follows_sight([table], "policy")
    assert not seen_above_unseen(table, "policy")


def test_curves_part_where_the_far_sighted_are_expected_to_notice_more():
    narrow, wide = (curves(effects(reach, knowing(reach)), SIZE) for reach in (1, 4))
    part = parting(narrow, wide, "policy")
    assert part.clear == [2, 3, 4]
    assert part.everywhere
    backwards = parting(wide, narrow, "policy")
    assert backwards.clear == []
    assert not backwards.everywhere


def test_what_is_just_out_of_view_is_left_out_of_the_softer_ratio():
    """A soft edge: one cell beyond the view, an observer still expects half of what it does in view."""
    table = curves(effects(2, lambda far: 0.2 if far <= 2 else 0.1 if far == 3 else 0.02), SIZE)
    assert table.ratio["belief"].mean == pytest.approx(0.2 / ((0.1 + 7 * 0.02) / 8))
    assert beyond_the_edge(table, "belief") == pytest.approx(10)
    assert math.isnan(beyond_the_edge(curves(effects(SIZE, knowing(2)), SIZE), "belief"))  # everything is in view


def test_distances_that_were_not_measured_count_against_the_rule_and_not_against_the_softer_number():
    narrow, wide = (curves(effects(reach, knowing(reach)), SIZE) for reach in (1, 4))
    rows = [replace(row, pairs=3) if row.distance == 3 else row for row in narrow.by_distance]
    part = parting(replace(narrow, by_distance=rows), wide, "policy")
    assert (list(part.gaps), part.everywhere, part.where_measured) == ([2, 4], False, True)
    assert not parting(wide, narrow, "policy").where_measured
    nothing = replace(narrow, by_distance=[replace(row, pairs=0) for row in narrow.by_distance])
    assert not parting(nothing, wide, "policy").where_measured


# --- Verdicts


def verdicts(module, tables) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in module._claims(tables)}


def turning(in_view: float, out_of_view: float, by: float = 0.02) -> TurningTable:
    def own(value: float, by: float) -> PairMean:
        return PairMean(value, value - by, value + by, count=10, pairs=40)

    def row(seen: bool, drop: float) -> SideBySide:
        agents = {"drop": own(0.95, 0.02) if seen else own(0.0, 0.0), "no_swap": own(0.8, 0.1)}
        return SideBySide(40, agents, {"drop": own(drop, by), "no_swap": own(0.7, 0.1)})

    return TurningTable(
        reach=2,
        networks=10,
        in_view=row(True, in_view),
        out_of_view=row(False, out_of_view),
        gap={"agents": own(0.95, 0.02), "observer": own(in_view - out_of_view, by)},
        by_distance=[row(far <= 2, in_view if far <= 2 else out_of_view).at(far, 2) for far in range(1, 7)],
    )


def five(turning_back: TurningTable, made: Effects, unread: Effects | None = None) -> false_beliefs.Tables:
    control = curves(unread or effects(2, lambda far: 0.1), SIZE)
    return false_beliefs.Tables(turning_back, [], {"5x5": curves(made, SIZE)}, {"5x5": control})


@pytest.mark.parametrize(
    ("in_view", "out_of_view", "verdict"),
    [
        (0.9, 0.0, "reproduced"),
        (0.9, -0.2, "reproduced"),
        (0.9, 0.29, "reproduced"),
        (0.9, 0.31, "partly"),
        (0.19, 0.0, "partly"),
        (0.3, 0.29, "not reproduced"),
        (0.1, 0.9, "not reproduced"),
    ],
)
def test_turning_back(in_view, out_of_view, verdict):
    tables = five(turning(in_view, out_of_view), effects(2, knowing(2)))
    assert verdicts(false_beliefs, tables)["F2"] == verdict
    claim = false_beliefs._claims(tables)[0]
    assert claim.value == pytest.approx(in_view - out_of_view)
    assert claim.agents == 0.95


@pytest.mark.parametrize(
    ("observer", "natural", "long_run"),
    [
        (knowing(2), "reproduced", "reproduced"),
        (lambda far: 0.2 if far <= 2 else 0.1, "partly", "reproduced"),  # knows, but makes too little of it
        (lambda far: 0.1, "not reproduced", "reproduced"),
    ],
)
def test_natural_swaps(observer, natural, long_run):
    tables = five(turning(0.9, 0.0), effects(2, observer))
    assert verdicts(false_beliefs, tables) == {"F2": "reproduced", "F3": natural, "F4": long_run}


def test_who_sees_the_query_only_stands_beside_and_decides_nothing():
    for unread, ratio, alone in ((lambda far: 0.1, 1.0, "not reproduced"), (knowing(2), 7.9, "reproduced")):
        made = effects(2, lambda far: 0.2 if far <= 2 else 0.1)
        claim = false_beliefs._claims(five(turning(0.9, 0.0), made, effects(2, unread)))[1]
        assert (claim.id, claim.verdict) == ("F3", "partly")
        assert claim.value == pytest.approx(2.0)
        assert claim.control == pytest.approx(ratio, abs=0.1)
        assert claim.detail["control"]["by_the_same_rule"] == alone


def test_a_long_run_no_more_moved_than_the_next_step():
    made = effects(2, knowing(2))
    made.observer["successor"][:, 2] = made.observer["policy"] - 0.001
    tables = five(turning(0.9, 0.0), made)
    assert verdicts(false_beliefs, tables)["F4"] == "not reproduced"


def test_a_long_run_moved_far_less_than_the_agents_own():
    """0.02 nats may come of noise: an observer that has learned nothing is moved by what lies where."""
    made = effects(2, knowing(2))
    made.agents["successor"][:, 2] = made.agents["policy"] + 0.2
    made.observer["successor"][:, 2] = made.observer["policy"] + 0.04
    tables = five(turning(0.9, 0.0), made)
    assert verdicts(false_beliefs, tables)["F4"] == "not reproduced"
    made.observer["successor"][:, 2] = made.observer["policy"] + 0.06
    tables = five(turning(0.9, 0.0), made)
    assert verdicts(false_beliefs, tables)["F4"] == "reproduced"


REACH = dict(zip(MIXED, (-1, 1, 2, 3, 4)))


def natural(observer) -> dict:
    return {name: curves(effects(reach, observer(reach)), SIZE) for name, reach in REACH.items()}


def test_who_sees_what():
    from figures.hand_made_minds import false_beliefs_mixed_tables

    tables = false_beliefs_mixed_tables()
    assert verdicts(false_beliefs_mixed, replace(tables, natural=natural(knowing)))["F5"] == "reproduced"
    same_for_all = natural(lambda reach: knowing(2))
    assert verdicts(false_beliefs_mixed, replace(tables, natural=same_for_all))["F5"] == "not reproduced"
    assert never_swapped(natural(knowing)).verdict == "reproduced"
    assert never_swapped(natural(lambda reach: lambda far: 0.1)).verdict == "not reproduced"
    faint = natural(lambda reach: lambda far: 1e-4 * knowing(reach)(far))
    assert never_swapped(faint).verdict == "not reproduced"
    in_order_only = never_swapped(same_for_all)
    assert in_order_only.verdict == "partly"
    assert in_order_only.control == pytest.approx(0.0, abs=1e-9)
    assert in_order_only.detail["control"]["by_the_same_rule"] == "partly"


def never_swapped(tables) -> Claim:
    """F6, beside an observer that sees the query only: it may know that what is near matters, and not to whom."""
    (claim,) = unseen_swaps._claims(unseen_swaps.Tables(tables, natural(lambda reach: knowing(2))))
    return claim


def test_beliefs_said_aloud():
    from figures.hand_made_minds import explicit_beliefs_tables

    tables = explicit_beliefs_tables()
    assert verdicts(explicit_beliefs, replace(tables, natural=natural(knowing))) == {
        "B1": "reproduced",
        "B2": "reproduced",
    }
    blunt = natural(lambda reach: lambda far: 0.2 if far <= reach else 0.1)
    assert verdicts(explicit_beliefs, replace(tables, natural=blunt))["B2"] == "partly"
    for low, verdict in ((0.51, "reproduced"), (0.1, "partly"), (-0.2, "not reproduced"), (math.nan, "not reproduced")):
        share = Estimate(0.8, low, 0.9, 10)
        changed = replace(tables, forecast=[replace(tables.forecast[-1], share=share)])
        assert verdicts(explicit_beliefs, changed)["B1"] == verdict
    claim = explicit_beliefs._claims(tables)[0]
    assert (claim.control, claim.detail["control"]["by_the_same_rule"]) == (0.3, "partly")
