"""What several commands take, and the checks that go with it."""

from typing import Annotated

from tyro.conf import arg

from .errors import BadSetting

LARGEST_SEED = 2**32 - 1

Seed = Annotated[int, arg(metavar="N", help="of the agents and levels")]


def check_seed(seed: int) -> None:
    if not 0 <= seed <= LARGEST_SEED:
        raise BadSetting("seed", seed, f"must lie between 0 and {LARGEST_SEED}")
