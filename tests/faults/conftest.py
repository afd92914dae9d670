"""Few cases of each fault by default; with --torture as many as docs/reliability.md counts, and a table of them."""

from collections import Counter

import pytest
from faults.server import Server
from faults.victims import VICTIMS, outcome


def pytest_addoption(parser):
    parser.addoption("--torture", action="store_true", help="every case, for an hour, and a table of what came of them")
    parser.addoption("--kills", type=int, default=200, help="of each trainer, with --torture: each takes 5 s of CPU")


@pytest.fixture(scope="session")
def cases(request):
    """How many: `cases(few, many)`."""
    torture = request.config.getoption("--torture", default=False)
    return lambda few, many: many if torture else few


@pytest.fixture(scope="session")
def kills(cases, request) -> int:
    return cases(1, request.config.getoption("--kills", default=1))


TALLY: dict[str, Counter[str]] = {}


@pytest.fixture(scope="session")
def tally():
    """`tally("observer file, bit flipped", "refused by name")`: one more of these."""

    def count(fault: str, what_came_of_it: str) -> None:
        TALLY.setdefault(fault, Counter())[what_came_of_it] += 1

    return count


def pytest_terminal_summary(terminalreporter, config):
    if TALLY and config.getoption("--torture", default=False):
        terminalreporter.section("what came of every fault")
        terminalreporter.write_line("| fault | cases | what came of them |\n|---|---|---|")
        for fault, counts in TALLY.items():
            told = ", ".join(f"{word} {count:,}" for word, count in counts.most_common())
            terminalreporter.write_line(f"| {fault} | {counts.total():,} | {told} |")


@pytest.fixture(scope="session")
def server():
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="session")
def undisturbed(server, tmp_path_factory):
    """`undisturbed("observer")`: what a run comes to that nothing befell, and its folder."""
    found = {}

    def run(victim: str):
        if victim not in found:
            folder = tmp_path_factory.mktemp("undisturbed") / victim
            server.begin(victim, folder, stderr=folder.with_suffix(".stderr"))
            assert server.ended() == 0, folder.with_suffix(".stderr").read_text()
            found[victim] = (outcome(folder), folder)
        return found[victim]

    assert [*VICTIMS] == ["observer", "population"]
    return run
