"""The same seed, machine and threads: the same bytes, fresh or resumed, in one process or in two."""

import pytest
from faults.victims import VICTIMS, outcome


@pytest.mark.parametrize("victim", VICTIMS)
def test_two_processes_and_two_runs_of_one_give_the_same_bytes(victim, server, undisturbed, tmp_path):
    """That a resumed run gives them too is in `test_kills`."""
    one, other = tmp_path / "one", tmp_path / "other"
    server.begin(victim, one, other, stderr=tmp_path / "stderr")
    assert server.ended() == 0, (tmp_path / "stderr").read_text()
    expected, folder = undisturbed(victim)
    assert outcome(one) == outcome(other) == expected
    assert {path.name for path in folder.iterdir()} == {path.name for path in one.iterdir()}
