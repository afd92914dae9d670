"""Which commands compile quickly: those that compile more than they compute."""

import pytest

from tomnet import zoo
from tomnet.agents import population_training
from tomnet.cli import agents, arguments, experiments, main, report, sally_anne
from tomnet.experiments import run as running
from tomnet.support.errors import TomnetError

AT_WORK = ((experiments, "measure"), (report, "measure"), (running, "run"), (population_training, "train_population"))


def stop(word: str):
    def stopped(*_, **__):
        raise TomnetError(word)

    return stopped


@pytest.fixture
def first_word(monkeypatch, tmp_path, capsys):
    """What comes first: the choice to compile quickly, or the work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(main, "prepare_cpu", lambda: None)
    monkeypatch.setattr(zoo, "load", lambda name: {})
    for module in (agents, arguments, experiments, sally_anne):
        monkeypatch.setattr(module, "compile_quickly", stop("quickly"))
    for module, work in AT_WORK:
        monkeypatch.setattr(module, work, stop("at work"))

    def run(command: str) -> str:
        assert main.main(command.split()) == 2
        return capsys.readouterr().err.splitlines()[-1]

    return run


@pytest.mark.parametrize(
    "command",
    [
        "evaluate goal-inference --agents 100",
        "run goal-inference --preset smoke",
        "agents train --preset smoke",
        "agents show 5x5",
        "sally-anne",
    ],
)
def test_these_do(command, first_word):
    assert first_word(command) == "tomnet: quickly"


@pytest.mark.parametrize(
    "command",
    [
        "evaluate goal-inference --agents 101",
        "evaluate goal-inference",
        "evaluate explicit-beliefs --agents 60",  # networks act
        "report --agents 60",  # in experiments about them as well
        "run goal-inference --preset laptop",
        "agents train --preset laptop",
    ],
)
def test_these_do_not(command, first_word):
    assert first_word(command) == "tomnet: at work"
