"""One agent is one agent."""

from tomnet.support.words import counted


def test_one_is_no_plural():
    assert [counted(number, "agent") for number in (0, 1, 2, 1200)] == [
        "0 agents",
        "1 agent",
        "2 agents",
        "1,200 agents",
    ]
