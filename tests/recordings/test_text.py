"""The text format: what is left out is worked out, what cannot be is refused with its line, and what is written comes
back."""

import numpy as np
import pytest
from hypothesis import given
from recordings.made_up import SIMPLE_TEXT, recordings, simple

from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.recording import MOST_STEPS, NOTHING, UNKNOWN
from tomnet.recordings.text import decode, format_text, parse_text

LEVEL = "@.A\n.#B\n\n"


def parse(text: str):
    return parse_text(text, "ann", "1")


@given(recordings())
def test_what_is_written_comes_back_as_it_was(recording):
    text = format_text(recording)
    assert parse_text(text, recording.agent, recording.episode) == recording


@given(recordings())
def test_the_same_recording_gives_the_same_text(recording):
    assert format_text(parse_text(format_text(recording), "a", "b")) == format_text(recording)


def test_the_plainest_episode():
    assert format_text(simple()) == SIMPLE_TEXT
    assert parse(SIMPLE_TEXT) == simple()


@pytest.mark.parametrize(
    "steps",
    [
        "right\nright",  # stepping on A at the end is taking it
        "0 1\n0 2",  # only positions: the actions are worked out
        "right 0 1\nright 0 2\ntook A",
        "\n  right  // a comment\n\n// another\nright\n\n",
    ],
)
def test_ways_to_write_the_same(steps):
    assert parse(LEVEL + steps) == simple()


def test_a_file_from_windows_and_one_with_a_mark_at_its_start():
    assert parse(decode(("\ufeff" + SIMPLE_TEXT.replace("\n", "\r\n")).encode())) == simple()


def test_comments_may_stand_anywhere_but_between_the_rows_of_a_level():
    assert parse("// who\n@.A  // a corridor\n.#B\n// went\n\nright\nright") == simple()
    with pytest.raises(BadRecording, match="line 1: level: expected no comment between its rows"):
        parse("@.A\n// the second row\n.#B\n\nright\nright")


def test_steps_that_no_single_action_explains_are_kept_as_unknown():
    recording = parse("@...\n....\n\n1 1\n1 1\n0 1\n0 1")
    names = [None if action == UNKNOWN else recording.action_names[action] for action in recording.actions]
    # across the corner: none; standing at the lower edge: `down` bumps, `stay` stays; at the upper one likewise
    assert names == [None, None, "up", None]
    assert recording.cells.tolist() == [0, 5, 5, 1, 1]


def test_standing_in_the_open_can_only_be_staying():
    recording = parse("...\n.@.\n...\n\n1 1")
    assert recording.action_names[recording.actions[0]] == "stay"


def test_an_unknown_action_is_not_worked_out():
    assert parse(LEVEL + "? 0 1\nright").actions.tolist() == [UNKNOWN, 3]


def test_walls_and_the_edge_stop_an_agent():
    assert parse(LEVEL + "up\nright\ndown\nleft").cells.tolist() == [0, 0, 1, 1, 0]


HEADED = "actions: turn-left turn-right forward\nheading: right\n\n@..\n..A\n\n"


def test_headings_follow_from_turns():
    recording = parse(HEADED + "forward\nforward\nturn-right\nforward")
    assert recording.headings is not None
    assert recording.headings.tolist() == [1, 1, 1, 2, 2]
    assert recording.cells.tolist() == [0, 1, 2, 2, 5]
    assert recording.took == ("A",)


def test_with_headings_positions_tell_turns():
    recording = parse(HEADED + "0 1 right\n0 1 down\n1 1 down\n1 1 left")
    assert [recording.action_names[action] for action in recording.actions] == [
        "forward",
        "turn-right",
        "forward",
        "turn-right",
    ]


def test_what_is_taken_on_the_way_is_said_after_its_step():
    recording = parse("@*A\n\nright\ntook *\nright")
    assert recording.took == ("*", "A")
    assert recording.objects == ("*", "A")
    assert recording.object_cells.tolist() == [[1, 2], [-1, 2], [-1, -1]]


def test_stepping_on_an_object_at_the_end_may_be_no_taking():
    recording = parse(LEVEL + "right\nright\ntook nothing")
    assert recording.taken.tolist() == [NOTHING, NOTHING]
    assert recording.object_cells[-1].tolist() == [2, 5]


def test_walking_over_an_object_is_no_taking_unless_said_so():
    assert parse("@A.\n\nright\nright").took == ()


def test_several_objects_may_share_a_letter():
    recording = parse("C.C\n.@.\nC..\n\nup\nright")
    assert recording.objects == ("C", "C", "C")
    assert recording.taken.tolist() == [NOTHING, 1]  # the second, as one reads
    assert "took C2" in format_text(recording)
    assert parse("C.C\n.@.\nC..\n\nup\nright\ntook C") == recording


def test_objects_move_vanish_and_appear():
    recording = parse("@..A\n\nstay\nmoved A 0 1\nstay\ngone A\nstay\nmoved A 0 2\nmoved B 0 3")
    assert recording.object_cells.tolist() == [[3, -1], [1, -1], [-1, -1], [2, 3]]


def test_the_longest_episode_and_the_largest_maze():
    level = "\n".join(["@" + "." * 31] + ["." * 32] * 31)
    recording = parse(level + "\n\n" + "right\nleft\n" * (MOST_STEPS // 2))
    assert recording.size == (32, 32)
    assert len(recording) == MOST_STEPS


BAD = [
    ("", "line 1: level: expected the picture of a maze, found none"),
    ("// nothing\n\n", "level: expected the picture of a maze"),
    ("@.A\n\n", "line 2: steps: expected 1 to 10000 of them, found 0"),
    ("// a maze\n@.A\n...", "line 4: steps: expected 1 to 10000 of them, found 0"),
    ("@.A\n.B\n\nup", "line 2: level: expected 3 characters, as in the first row, found 2 in row 1"),
    ("@.%\n\nup", "line 1: level: expected one of # . @ * or a letter, found '%' in row 0, col 2"),
    ("..A\n\nup", "line 1: level: expected one @, where the agent starts, found 0"),
    ("@@A\n\nup", "line 1: level: expected one @, where the agent starts, found 2"),
    ("@" + "." * 32 + "\n\nup", "line 1: level: expected 1 to 32 cols, found 33"),
    ("\n".join("." * 3 for _ in range(33)), "line 1: level: expected 1 to 32 rows, found 33 rows"),
    (LEVEL + "right\njump", "line 5: action: expected one of up, down, left, right, stay, found 'jump'"),
    (LEVEL + "Right", "line 4: action: expected right, as actions are lower case, found 'Right'"),
    (LEVEL + "0 1\nDOWN", "line 5: action: expected down, as actions are lower case, found 'DOWN'"),
    ("@.A\nright\nright", "line 2: level: expected an empty line between level and steps, found 'right'"),
    ("@...A\nright\nright", "line 2: level: expected an empty line between level and steps, found 'right'"),
    ("@.A\n\n.#B\n\nright", "line 3: action: expected one of up, down, left, right, stay, found '.#B'"),
    (LEVEL + "0 9", "line 4: cell: expected a cell of 2 rows and 3 cols, counted from 0, found 0 9"),
    (LEVEL + "0 99999999999", "line 4: step: expected an action, the cell reached as row col, or both"),
    (LEVEL + "0 nan", "line 4: step: expected"),
    (LEVEL + "1 1", "line 4: cells: expected a free cell, found the wall at 1 1"),
    (LEVEL + "0 1 up", "line 4: heading: expected none, as the start has none either, found 'up'"),
    (LEVEL + "?", "line 4: cell: expected the cell reached"),
    (LEVEL + "0 1 2 3", "line 4: step: expected"),
    (LEVEL + "took A", "line 4: steps: expected a step before what it did"),
    (LEVEL + "right\ntook Z", "line 5: took: expected one of the objects A B, found 'Z'"),
    (LEVEL + "right\ntook B", "line 4: taken: expected an object at 0 1, where the agent is, or in a cell beside it"),
    (LEVEL + "right\ntook A\ntook A", "line 6: took: expected one object a step"),
    (LEVEL + "right\ntook", "line 5: took: expected took A"),
    (LEVEL + "right\nmoved A 9 9", "line 5: moved: expected a cell of 2 rows and 3 cols, counted from 0, found 9 9"),
    (LEVEL + "right\nmoved A", "line 5: moved: expected moved A row col"),
    (LEVEL + "right\nmoved A3 0 0", "line 5: moved: expected one of the objects A B, found 'A3'"),
    (LEVEL + "right\nmoved A 1 1", "line 4: object_cells: expected free cells, found A in the wall at 1 1"),
    ("C.C\n@..\n\nright\ntook C", "line 5: took: expected which of 2: C1 to C2, found 'C'"),
    ("actions: hop\n\n@.A\n\nhop", "line 5: action: expected the cell reached beside it"),
    ("@\n\n0 1", "line 3: cell: expected a cell of 1 row and 1 col, counted from 0, found 0 1"),
    ("actions:\n\n@.A\n\nup", "line 1: actions: expected 1 to 127 names, found 0"),
    ("actions: up 3\n\n@.A\n\nup", "line 1: actions: expected a word"),
    ("actions: up up\n\n@.A\n\nup", "line 1: actions: expected every action once, found up 2 times"),
    ("\nheading: north\n\n@.A\n\nup", "line 2: heading: expected one of up, right, down, left, found 'north'"),
    ("heading: up\nheading: down\n\n@.A\n\nup", "line 2: header: expected actions:, heading: or episode:, each once"),
    ("actions: up\nactions: up\n\n@.A\n\nup", "line 2: header: expected actions:, heading: or episode:, each once"),
    ("episode: a\nepisode: a\n\n@.A\n\nup", "line 2: header: expected actions:, heading: or episode:, each once"),
    ("colour: red\n\n@.A\n\nup", "line 1: header: expected actions:, heading: or episode:, each once, found 'colour'"),
    ("\nepisode: ../a\n\n@.A\n\nup", "line 2: episode: expected a name of 1 to 100 printable characters"),
    ("episode:\n\n@.A\n\nup", "line 1: episode: expected a name of 1 to 100 printable characters"),
    (HEADED + "0 1", "line 7: heading: expected one of up, right, down, left after the cell, found none"),
    (HEADED + "0 1 north", "found 'north'"),
    (
        LEVEL + "up\n" * (MOST_STEPS + 1),
        f"line {MOST_STEPS + 4}: steps: expected 1 to {MOST_STEPS} of them, found {MOST_STEPS + 1}",
    ),
]


@pytest.mark.parametrize(("text", "why"), BAD, ids=[why[:50] for _, why in BAD])
def test_what_cannot_be_read_is_refused_with_its_line(text, why):
    with pytest.raises(BadRecording) as refused:
        parse(text)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


def test_bytes_that_are_no_text():
    with pytest.raises(BadRecording, match="line 2: text: expected UTF-8, found the byte 0xff"):
        decode(b"@.A\n\xff\n")


def test_actions_worked_out_are_numbers_of_eight_bits():
    assert parse(SIMPLE_TEXT).actions.dtype == np.int8
