"""JSON files, and logs that a kill has torn."""

import json
import math

import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.support.errors import BadFile, TomnetError
from tomnet.support.json_files import append_jsonl, read_json, read_jsonl, truncate_jsonl, write_json


def test_json_is_strict_and_comes_back(tmp_path):
    value = {"sizes": (1, 2), "rate": np.float32(0.5), "loss": jnp.array([1.0, jnp.nan]), "best": -math.inf}
    write_json(tmp_path / "config.json", value)
    assert read_json(tmp_path / "config.json") == {
        "sizes": [1, 2],
        "rate": 0.5,
        "loss": [1.0, None],
        "best": "-inf",
    }


@pytest.mark.parametrize("bad", [b"", b"{", b"\xff", b"[" * 100_000])
def test_bad_json_is_refused(tmp_path, bad):
    (tmp_path / "config.json").write_bytes(bad)
    with pytest.raises(BadFile, match="not JSON"):
        read_json(tmp_path / "config.json")


def test_rows_come_back_in_order(tmp_path):
    log = tmp_path / "metrics.jsonl"
    append_jsonl(log, {"step": 1, "loss": np.float32(0.5), "per_agent": jnp.arange(2)})
    append_jsonl(log, {"step": 2, "loss": math.nan, "name": "é\n"})
    assert read_jsonl(log) == [
        {"step": 1, "loss": 0.5, "per_agent": [0, 1]},
        {"step": 2, "loss": None, "name": "é\n"},
    ]


@pytest.mark.parametrize("torn", [b'{"step": 2, "lo', b'{"step": 2, "name": "\xc3', b"\0\0\0", b"4"])
def test_a_torn_last_line_is_dropped_and_does_not_spoil_the_next(tmp_path, torn):
    log = tmp_path / "metrics.jsonl"
    log.write_bytes(b'{"step": 1}\n' + torn)
    assert read_jsonl(log) == [{"step": 1}]
    append_jsonl(log, {"step": 2})
    assert read_jsonl(log) == [{"step": 1}, {"step": 2}]


def test_a_last_line_that_only_lacks_its_newline_is_kept(tmp_path):
    log = tmp_path / "metrics.jsonl"
    log.write_bytes(b'{"step": 1}\n{"step": 2}')
    append_jsonl(log, {"step": 3})
    assert [row["step"] for row in read_jsonl(log)] == [1, 2, 3]


@pytest.mark.parametrize("bad", [b"{oops", b"[1]", b"\xff", b"[" * 100_000])
def test_a_bad_line_in_the_middle_is_an_error(tmp_path, bad):
    log = tmp_path / "metrics.jsonl"
    log.write_bytes(b'{"step": 1}\n' + bad + b'\n{"step": 3}\n')
    with pytest.raises(BadFile, match="line 2 is not a JSON object"):
        read_jsonl(log)


def test_resuming_drops_the_rows_after_the_checkpoint(tmp_path):
    log = tmp_path / "metrics.jsonl"
    for step in range(5):
        append_jsonl(log, {"step": step})
    truncate_jsonl(log, keep=lambda row: row["step"] <= 2)
    assert [json.loads(line)["step"] for line in log.read_text().splitlines()] == [0, 1, 2]


def test_truncating_a_log_that_never_began(tmp_path):
    truncate_jsonl(tmp_path / "metrics.jsonl", keep=lambda row: True)
    assert not (tmp_path / "metrics.jsonl").exists()


def test_a_log_that_cannot_be_written(tmp_path):
    with pytest.raises(TomnetError, match="cannot write"):
        append_jsonl(tmp_path, {"step": 1})


@pytest.mark.parametrize("row", ['{"stfp": 1}', '{"step": "1"}', '{"step": null}'])
def test_a_row_that_the_log_never_had_is_refused_by_name(row, tmp_path):
    log = tmp_path / "metrics.jsonl"
    log.write_text(f'{{"step": 1}}\n{row}\n')
    with pytest.raises(BadFile, match="metrics.jsonl: damaged: a row is not as it was written; without the file"):
        truncate_jsonl(log, keep=lambda row: row["step"] <= 2)
    assert log.read_text().endswith(f"{row}\n")
