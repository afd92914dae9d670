"""JSON lines: the same episodes as in text, one a line."""

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from recordings.made_up import recordings, simple

from tomnet.recordings import jsonl
from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.jsonl import format_jsonl, format_line, parse_line, read_jsonl
from tomnet.recordings.recording import MOST_STEPS, UNKNOWN, Recording

PLAIN = {"agent": "ann", "episode": "1", "level": ["@.A", ".#B"], "steps": ["right", "right"]}


@given(recordings())
def test_what_is_written_comes_back_as_it_was(recording):
    line = format_line(recording)
    assert "\n" not in line
    assert parse_line(line) == recording


def test_the_plainest_episode():
    assert parse_line(json.dumps(PLAIN)) == simple()


@pytest.mark.parametrize(
    "steps",
    [
        [[0, 1], [0, 2]],
        ["right", {"action": "right", "took": "A"}],
        [{"cell": [0, 1]}, {"action": "right", "cell": [0, 2]}],
    ],
)
def test_ways_to_write_the_same(steps):
    assert parse_line(json.dumps(PLAIN | {"steps": steps})) == simple()


def test_null_is_an_action_that_is_unknown():
    assert parse_line(json.dumps(PLAIN | {"steps": [{"action": None, "cell": [0, 1]}]})).actions.tolist() == [UNKNOWN]


BAD = [
    ("", "line: expected a JSON object"),
    ("{", "line: expected a JSON object, found a mistake at character 2: expecting property name enclosed in"),
    ('{"agent": "a', "line: expected a JSON object, found a mistake at character 11: unterminated string starting"),
    ("null", "line: expected a JSON object, found null"),
    ("[]", "line: expected a JSON object, found []"),
    ('{"agent": NaN}', "line: expected numbers, found NaN"),
    ('{"agent": "a", "agent": "b"}', "line: expected every field once"),
    ("[" * 100_000, "line: expected a JSON object, found numbers or brackets beyond all measure"),
    ('{"agent": ' + "9" * 5_000 + "}", "line: expected a JSON object, found numbers or brackets beyond all measure"),
    ({"steps": None}, "steps: expected a list, found null"),
    ({"steps": [True]}, "steps: expected a JSON object, found true"),
    ({"steps": [[0, None]]}, "cell: expected [row, col], found [0, null]"),
    ({"steps": [{"action": "up", "took": {"a": False}}]}, 'took: expected text, found {"a": false}'),
    ({"steps": []}, "steps: expected 1 to 10000 of them, found 0"),
    ({"steps": ["up"] * (MOST_STEPS + 1)}, f"found {MOST_STEPS + 1}"),
    ({"steps": [3]}, "steps: expected a JSON object, found 3"),
    ({"steps": [[0, 1.0]]}, "cell: expected [row, col], found [0, 1.0]"),
    ({"steps": [[0, True]]}, "cell: expected [row, col]"),
    ({"steps": [[0, 10**30]]}, "cell: expected a cell of 2 rows and 3 cols"),
    ({"steps": [[-1, 0]]}, "cell: expected a cell of 2 rows and 3 cols, counted from 0, found -1 0"),
    ({"steps": [{"took": "Z", "action": "up"}]}, "took: expected one of the objects A B, found 'Z'"),
    ({"steps": [{"reward": 1}]}, "steps: expected fields among"),
    ({"steps": [{"action": "?"}]}, "action: expected a name, or null where it is unknown"),
    ({"steps": [{"action": "up", "moved": {"A": "there"}}]}, "moved: expected [row, col], found 'there'"),
    ({"level": "@.A"}, "level: expected a list"),
    ({"level": [3]}, "level: expected text, found 3"),
    ({"level": []}, "level: expected 1 to 32 rows, found 0 rows"),
    ({"actions": "up"}, "actions: expected a list"),
    ({"actions": [3]}, "actions: expected a word"),
    ({"heading": 3}, "heading: expected one of up, right, down, left, found 3"),
    ({"heading": []}, "heading: expected one of up, right, down, left, found []"),
    ({"agent": "../../etc/passwd"}, "agent: expected a name"),
    ({"agent": None}, "that does not begin with a dot, found null"),
    ({"heading": False}, "heading: expected one of up, right, down, left, found false"),
    ({"actions": [None]}, "and none of took, moved, gone, nothing, found null"),
    ({"extra": 1}, "line: expected fields among agent, episode"),
]


@pytest.mark.parametrize(("changes", "why"), BAD, ids=[why[:40] for _, why in BAD])
def test_what_cannot_be_read_is_refused(changes, why):
    line = changes if isinstance(changes, str) else json.dumps(PLAIN | changes)
    with pytest.raises(BadRecording) as refused:
        parse_line(line)
    assert why in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("missing", ["agent", "episode", "level", "steps"])
def test_a_field_that_is_missing_is_named(missing):
    there = [name for name in PLAIN if name != missing]
    with pytest.raises(BadRecording) as refused:
        parse_line(json.dumps({name: PLAIN[name] for name in there}))
    assert str(refused.value) == f"{missing}: expected this field in every line, found only {', '.join(there)}"


def read(raw: bytes) -> list:
    return list(read_jsonl(Path("all.jsonl"), io.BytesIO(raw)))


def test_one_bad_line_leaves_the_others_readable():
    good = b"".join(format_jsonl([simple(), simple(episode="2")]))
    first, bad, second = read(good.replace(b"\n", b'\n{"agent": 3}\n\n', 1))
    assert (first, second) == ((1, simple()), (4, simple(episode="2")))
    assert bad[0] == 2
    assert str(bad[1]).startswith("all.jsonl, line 2: ")


def test_a_mark_at_the_start_is_no_part_of_the_first_line():
    assert read(b"\xef\xbb\xbf" + format_line(simple()).encode() + b"\r\n") == [(1, simple())]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32-be"])
def test_what_is_no_utf_8_is_refused_with_or_without_a_mark(encoding):
    faults = [fault for _, fault in read(format_line(simple()).encode(encoding))]
    assert faults
    assert all("line 1: line: expected a JSON object, found" in str(fault) for fault in faults)


def test_a_line_without_end_is_not_taken_into_memory(monkeypatch):
    monkeypatch.setattr(jsonl, "LONGEST_LINE", 1_000)
    endless = b"[" * 10_000
    found = read(endless + b"\n" + format_line(simple()).encode())
    assert "line 1: line: expected up to 1000 bytes" in str(found[0][1])
    assert found[1] == (2, simple())
    assert isinstance(found[1][1], Recording)
