"""Whatever a file holds, it is read or refused in one line: nothing else comes out of a reader."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recordings.made_up import recordings, simple

from tomnet.recordings.bad_recording import BadRecording
from tomnet.recordings.folder import FORMATS, scan, write_recordings
from tomnet.recordings.jsonl import FIELDS, STEP_FIELDS, format_line, parse_line
from tomnet.recordings.recording import Recording
from tomnet.recordings.shards import FORMAT, VERSION, read_shard
from tomnet.recordings.text import format_text, parse_text
from tomnet.support.array_files import load_arrays, save_arrays
from tomnet.support.errors import TomnetError

WORDS = st.sampled_from(
    ["up", "took", "took A", "moved A 0 1", "gone A1", "?", "0 1", "0 1 up", "@", "#.A", "//", "", "A2", "9" * 30]
)
LINES = st.one_of(WORDS, st.text(max_size=6))


def one_line_or_recording(read, *given) -> None:
    try:
        found = read(*given)
    except BadRecording as fault:
        found = fault
    assert isinstance(found, Recording) or "\n" not in str(found)


@given(lines=st.lists(LINES, max_size=12))
def test_any_text(lines):
    one_line_or_recording(parse_text, "\n".join(lines), "a", "b")


@given(recording=recordings(), lines=st.lists(LINES, min_size=1, max_size=3), data=st.data())
def test_text_with_a_few_lines_spoilt(recording, lines, data):
    text = format_text(recording).split("\n")
    for line in lines:
        text[data.draw(st.integers(0, len(text) - 1))] = line
    one_line_or_recording(parse_text, "\n".join(text), "a", "b")


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(STEP_FIELDS), inner, max_size=3)
)


@given(recording=recordings(), field=st.sampled_from(FIELDS), value=VALUES)
def test_json_with_a_field_spoilt(recording, field, value):
    row = json.loads(format_line(recording))
    one_line_or_recording(parse_line, json.dumps(row | {field: value}))


@given(recording=recordings(), value=VALUES, data=st.data())
def test_json_with_a_step_spoilt(recording, value, data):
    row = json.loads(format_line(recording))
    row["steps"][data.draw(st.integers(0, len(row["steps"]) - 1))] = value
    one_line_or_recording(parse_line, json.dumps(row))


@given(data=st.data(), numbers=st.lists(st.integers(-(2**15), 2**15 - 1), min_size=1, max_size=5))
def test_a_shard_with_numbers_spoilt(data, numbers, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / "a.safetensors"
    write_recordings([simple(), simple(episode="2", headings=np.array([1, 1, 1]))], path, "safetensors")
    arrays, header = load_arrays(path, FORMAT, VERSION)
    name = data.draw(st.sampled_from(sorted(arrays)))
    spoilt = arrays[name].copy()
    for number in numbers:
        spoilt[data.draw(st.integers(0, len(spoilt) - 1))] = np.array(number).astype(spoilt.dtype)
    save_arrays(path, arrays | {name: spoilt}, header, FORMAT, VERSION)
    for each in read_shard(path):
        assert isinstance(each, Recording | TomnetError)


@given(raw=st.binary(max_size=60))
@pytest.mark.parametrize("suffix", FORMATS.values())
def test_any_bytes(raw, suffix, tmp_path_factory):
    path = tmp_path_factory.mktemp("fuzz") / f"a{suffix}"
    path.write_bytes(raw)
    for each in scan(path):
        assert isinstance(each, TomnetError)
        assert "\n" not in str(each)
