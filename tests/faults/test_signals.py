"""SIGTERM and Ctrl-C: acknowledged at once, saved after the step under way, and resumed to the same weights."""

import random
import signal
import time
from os import kill

import pytest
from faults.moments import running, saved_at, wait_until
from faults.victims import VICTIMS, outcome

from tomnet.support.interrupts import INTERRUPTED

ACKNOWLEDGED = "tomnet: stopping once the steps under way"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "Ctrl-C"])
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_signal_is_acknowledged_at_once_and_the_run_saved(
    victim, number, server, undisturbed, cases, tally, tmp_path
):
    expected, draw = undisturbed(victim)[0], random.Random(number)
    for case in range(cases(1, 10)):
        folder, stderr = tmp_path / f"run-{case}", tmp_path / f"stderr-{case}"
        pid = server.begin(victim, folder, stderr=stderr)
        wait_until(lambda folder=folder: saved_at(folder) > 0, pid)
        time.sleep(draw.uniform(0, 0.2))
        assert running(pid)
        before, asked = saved_at(folder), time.monotonic()
        kill(pid, number)
        wait_until(lambda stderr=stderr: ACKNOWLEDGED in stderr.read_text(), pid, pause=0.001)
        heard = time.monotonic() - asked
        assert server.ended() == INTERRUPTED
        ended = time.monotonic() - asked
        said = stderr.read_text()
        assert said.index(ACKNOWLEDGED) < said.index("tomnet: interrupted at ")
        assert saved_at(folder) > before
        server.begin(victim, folder, stderr=stderr)
        assert server.ended() == 0
        assert outcome(folder) == expected
        fault = f"{signal.Signals(number).name}, {victim} in training"
        tally(fault, "acknowledged, saved, resumed and bit-identical")
        print(f"{fault}: acknowledged after {1000 * heard:.0f} ms, saved and ended after {ended:.2f} s")
