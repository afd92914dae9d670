"""Where pretrained agents and observers lie."""

import os
from pathlib import Path

ZOO = "TOMNET_ZOO"


def zoo_folder() -> Path:
    """The one that came with tomnet, or another that the environment names: of a `tomnet reproduce`, for one."""
    return Path(os.environ.get(ZOO) or Path(__file__).parents[1] / "zoo")
