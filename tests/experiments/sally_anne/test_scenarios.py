"""Hand-made levels: they tell the story they were drawn for, and one that does not is refused in one line."""

import numpy as np
import pytest

from tomnet.experiments.sally_anne.scenarios import (
    DISTANCES,
    all_scenarios,
    drawing,
    exchanges,
    orientations,
    scenario,
    stacked,
)
from tomnet.support.errors import BadSetting
from tomnet.world.gridworld import ACTIONS, SUBGOAL_MAZE
from tomnet.world.levels import format_level

FOUR = """
...........
...........
.@.........
.A...*.....
....###....
...........
...........
...........
...........
...........
........BCD
"""


def test_the_level_for_a_swap_four_cells_away():
    picture, path = drawing(4)
    assert picture == FOUR.strip()
    assert path == "rrrrd"


def test_every_story_is_told_towards_every_side():
    scenarios = all_scenarios(SUBGOAL_MAZE)
    assert [each.distance for each in scenarios] == [far for far in DISTANCES for _ in range(4)]
    for far in DISTANCES:
        backs = [each.back for each in scenarios if each.distance == far]
        assert sorted(ACTIONS[back] for back in backs) == ["down", "left", "right", "up"]
        assert {len(each.path) for each in scenarios if each.distance == far} == {far + 1}


def test_nobody_has_to_turn_on_its_heels():
    for each in all_scenarios(SUBGOAL_MAZE):
        assert {ACTIONS[each.back], ACTIONS[each.path[-1]]} not in ({"left", "right"}, {"up", "down"})


def test_a_mirrored_story_turns_back_to_the_other_side():
    (_, *turned) = orientations(*drawing(3))
    assert [path for _, path in turned] == ["llld", "dddr", "uuur"]
    assert turned[0][0].splitlines()[3] == "......*..A."
    assert [line[3] for line in turned[1][0].splitlines()][:5] == [".", "A", ".", ".", "*"]


def test_another_agent_finds_what_it_likes_in_the_place_of_a():
    level = scenario(FOUR, "rrrrd", SUBGOAL_MAZE).for_agent(2)
    picture = format_level(level, SUBGOAL_MAZE).splitlines()
    assert picture[3] == ".C...*....."
    assert picture[10] == "........BAD"


def test_levels_are_stacked_with_the_way_through_each():
    scenarios = all_scenarios(SUBGOAL_MAZE, (1, 3))
    levels, actions = stacked(scenarios, 1)
    assert levels.walls.shape == (8, 11, 11)
    assert actions.shape == (8, 4)
    assert actions[0].tolist() == [3, 1, 4, 4]  # right, down, and then let go
    assert actions[4].tolist() == [3, 3, 3, 1]


def test_exchanges_move_what_is_liked_and_one_other():
    cells = np.array([0, 10, 20, 30, -1])
    swapped = exchanges(cells, 1, SUBGOAL_MAZE)
    assert swapped.tolist() == [[10, 0, 20, 30, -1], [0, 20, 10, 30, -1], [0, 30, 20, 10, -1]]
    assert cells.tolist() == [0, 10, 20, 30, -1]


def changed(old: str, new: str) -> str:
    assert FOUR.count(old) == 1
    return FOUR.replace(old, new)


@pytest.mark.parametrize(
    ("picture", "path", "why"),
    [
        (FOUR, "rrrdd", "path = rrrdd: step 5 walks into a wall"),
        (FOUR, "uuu", "path = uuu: step 3 walks into a wall"),
        (FOUR, "d", "path = d: step 1 eats A, and the episode ends"),
        (FOUR, "rrrr", "path = rrrr: ends in row 2, col 5, and not at the subgoal"),
        (FOUR, "rrrrdu", "path = rrrrdu: the subgoal is reached at step 5 already"),
        (FOUR, "rrx", "path = 'x': a step is one of u, d, l, r"),
        (FOUR, "", "path = '': must have between 1 and 50 steps"),
        (changed(".@...", "...@."), "rrd", "path = rrd: the agent never comes beside A"),
        (FOUR.replace(".@", ".@.", 1), "rrrrd", "level = 11 rows of 11 or 12"),
        (changed("BCD", "BC."), "rrrrd", "level = 'D': is not drawn"),
        (
            changed("....###....", "....###.D..").replace("BCD", "BC.", 1),
            "rrrrd",
            "level = 'D': is as near",
        ),
    ],
)
def test_a_level_that_does_not_tell_the_story_is_refused_in_one_line(picture, path, why):
    with pytest.raises(BadSetting) as refused:
        scenario(picture, path, SUBGOAL_MAZE)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def with_top(*rows: str) -> str:
    return "\n".join((*rows, *(11 - len(rows) - 1) * ["..........."], "........BCD"))


def test_a_way_back_must_exist():
    with pytest.raises(BadSetting, match="level = 'A': cannot be reached from the subgoal in 51 steps"):
        scenario(with_top("##.........", "A#.........", "#@*........"), "r", SUBGOAL_MAZE)
    opened = scenario(with_top(".#.........", "A#.........", ".@*........"), "r", SUBGOAL_MAZE)
    assert ACTIONS[opened.back] == "left"


def test_the_way_back_must_lead_away_from_where_else_it_may_be():
    with pytest.raises(BadSetting, match="level = left: leads to C as well, so that going there would not tell"):
        scenario(changed("........BCD", "...C....B.D"), "rrrrd", SUBGOAL_MAZE)


def test_the_way_back_must_begin_with_one_action_only():
    with pytest.raises(BadSetting, match="level = up and left: both lead back to A"):
        scenario(with_top("A@.........", ".*........."), "d", SUBGOAL_MAZE)
