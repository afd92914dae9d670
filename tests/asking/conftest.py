"""Small observers of every kind, and the few episodes of an agent that they meet."""

import pytest
from asking.small import CONFIGS, DOMAIN, ELSEWHERE, LEVEL
from helpers import made_up

from tomnet.recordings.recording import Recording
from tomnet.recordings.text import parse_text


@pytest.fixture(scope="session")
def observer_of():
    made = {name: made_up(config, domain=DOMAIN) for name, config in CONFIGS.items()}
    return made.__getitem__


@pytest.fixture(scope="session")
def walks() -> list[Recording]:
    """Two episodes of Ann, who goes for A."""
    first = parse_text(LEVEL + "\nright\nright\nright\nright\n", "ann", "1")
    second = parse_text(ELSEWHERE + "\nup\nup\n", "ann", "2")
    return [first, second]
