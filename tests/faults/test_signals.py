"""SIGTERM and Ctrl-C: acknowledged at once, saved after the step under way, and resumed to the same weights."""

import random
import signal
import time
from contextlib import suppress
from os import kill
from pathlib import Path

import pytest
from faults.moments import held, saved_at, wait_until
from faults.victims import VICTIMS, outcome

from tomnet.support.interrupts import INTERRUPTED
from tomnet.support.run_folder import METRICS

ACKNOWLEDGED = "tomnet: stopping once the steps under way"
TRIES = 20  # on a busy machine a run may be through before it is looked at


# Ctrl-C within a process is in the tests of both trainers, and of a process of its own in those of the command
CTRL_C = pytest.param(signal.SIGINT, id="Ctrl-C", marks=pytest.mark.slow)


@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, id="SIGTERM"), CTRL_C])
@pytest.mark.parametrize("victim", VICTIMS)
def test_a_signal_is_acknowledged_at_once_and_the_run_saved(
    victim, number, server, undisturbed, cases, tally, tmp_path
):
    expected, draw = undisturbed(victim)[0], random.Random(number)

    def asked_to_stop(place: Path) -> tuple[int, Path, Path, int]:
        """A run that was asked while it had something left to do, what it says, and when it had saved before that."""
        for attempt in range(TRIES):
            folder, stderr = place / f"run-{attempt}", place / f"stderr-{attempt}"
            pid = server.begin(victim, folder, stderr=stderr)
            wait_until(lambda folder=folder: saved_at(folder) > 0, pid)
            time.sleep(draw.uniform(0, 0.2))
            with suppress(ProcessLookupError), held(pid):
                if (folder / METRICS).read_bytes().count(b"\n") < len(expected[METRICS]):
                    kill(pid, number)  # it hears of it once it goes on
                    return pid, folder, stderr, saved_at(folder)
            assert server.ended() == 0
        raise AssertionError(f"{TRIES} runs were through too soon")

    for case in range(cases(1, 10)):
        (tmp_path / str(case)).mkdir()
        pid, folder, stderr, before = asked_to_stop(tmp_path / str(case))
        asked = time.monotonic()
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
