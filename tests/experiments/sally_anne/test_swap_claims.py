"""How F1 and F7 are decided, from tables whose numbers are known."""

import numpy as np
import pytest

from tomnet.experiments.sally_anne.swap_claims import swap_claims
from tomnet.experiments.sally_anne.swap_effects import NOTICEABLE, SwapEffect, SwapEffects, SwapTable


def table(reach: int, in_view: float, out_of_view: float = 0.0, near: float = 0.0, spread: float = 0.001) -> SwapTable:
    """Tables of ten networks whose D_JS is known."""

    def effects(mean: float) -> SwapEffects:
        effect = SwapEffect(mean, mean - spread, mean + spread, count=10, largest=mean)
        return SwapEffects(40, effect, effect)

    return SwapTable(reach, 10, 12, effects(in_view), effects(out_of_view), [effects(near).at(1, reach)])


def verdicts(tables) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in swap_claims(tables)}


def test_f1_asks_for_an_effect_in_view_and_none_at_all_out_of_view():
    assert verdicts({"5x5": table(2, 0.2)}) == {"F1": "reproduced"}
    assert verdicts({"5x5": table(2, 0.2), "9x9": table(4, NOTICEABLE)}) == {"F1": "partly"}
    assert verdicts({"5x5": table(2, 0.0005)}) == {"F1": "not reproduced"}
    assert verdicts({"5x5": table(2, 0.2, out_of_view=1e-12)}) == {"F1": "not reproduced"}
    assert verdicts({"5x5": table(2, 0.2), "blind": table(-1, float("nan"), out_of_view=1e-12)}) == {
        "F1": "not reproduced"
    }


def test_f1_is_decided_by_the_weakest_condition():
    claim = swap_claims({"5x5": table(2, 0.2), "7x7": table(3, 0.1), "blind": table(-1, float("nan"))})[0]
    assert claim.value == 0.1
    assert "7x7" in claim.unit


def test_the_blind_alone_decide_nothing():
    assert verdicts({"blind": table(-1, float("nan"))}) == {}


def test_f7_asks_for_3x3_above_each_of_the_others():
    def near(*values: float, spread: float = 0.001):
        names = ("3x3", "5x5", "7x7", "9x9")
        return {name: table(1, 0.2, near=value, spread=spread) for name, value in zip(names, values)}

    assert verdicts(near(0.3, 0.2, 0.2, 0.1))["F7"] == "reproduced"
    assert verdicts(near(0.3, 0.2, 0.2, 0.1, spread=0.06))["F7"] == "partly"
    assert verdicts(near(0.3, 0.2, 0.4, 0.1))["F7"] == "not reproduced"
    assert "F7" not in verdicts(near(0.3, 0.2, 0.2))


def test_f7_has_softer_numbers_that_decide_nothing():
    names = ("3x3", "5x5", "7x7", "9x9")
    for values, softer in (((0.3, 0.31, 0.2, 0.1), [True, False]), ((0.3, 0.2, 0.2, 0.299), [False, False])):
        claim = swap_claims({name: table(1, 0.2, near=value) for name, value in zip(names, values)})[-1]
        assert claim.id == "F7"
        assert [value for name, value in claim.detail.items() if name.startswith("softer")] == softer
    between = swap_claims({name: table(1, 0.2, near=value) for name, value in zip(names, (0.3, 0.3, 0.2, 0.1))})[-1]
    assert between.verdict == "not reproduced"
    assert [value for name, value in between.detail.items() if name.startswith("softer")] == [True, True]


@pytest.mark.parametrize("spread", [0.001, float("nan")], ids=["no pairs", "a single network"])
def test_what_was_not_measured_is_neither_reproduced_nor_refuted(spread):
    effect = 0.2 if np.isnan(spread) else float("nan")
    nothing = table(2, effect, near=effect, spread=spread)
    assert verdicts({"5x5": nothing}) == {}
    assert verdicts({"5x5": nothing, "9x9": table(4, 0.2)}) == {}  # F1 is about every condition
    others = {name: table(1, 0.2, near=0.3) for name in ("3x3", "7x7", "9x9")}
    assert verdicts({"5x5": nothing} | others) == {}
    assert verdicts({"5x5": table(2, 0.2, out_of_view=float("nan"))}) == {}  # every swap was in view
    # but one effect out of view is enough to say no
    assert verdicts({"5x5": nothing, "9x9": table(4, 0.2, out_of_view=1e-12)}) == {"F1": "not reproduced"}
