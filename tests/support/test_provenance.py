import os

import pytest

from tomnet.support.provenance import provenance, threads


@pytest.mark.parametrize(("told", "expected"), [("3", 3), ("", None), ("0", None), ("many", None)])
def test_threads_are_as_many_as_xla_takes(told, expected, monkeypatch):
    """Which heeds NPROC; counted once by the names of its threads."""
    monkeypatch.setenv("NPROC", told)
    assert threads() == provenance()["threads"] == (expected or len(os.sched_getaffinity(0)))
