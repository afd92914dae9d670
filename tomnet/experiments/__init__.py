"""The experiments of the paper, one file each, and what they share. Called, their names and titles.

>>> tomnet.experiments()["goal-inference"]
'Inferring goals from one trajectory'
"""

import sys
from types import ModuleType


class Experiments(ModuleType):
    """A folder that can be called: importing any of its files puts it in the place of a function of its name."""

    def __call__(self) -> dict[str, str]:
        """Every experiment by name, with its title, in the order of the paper."""
        from .registry import titles

        return titles()


sys.modules[__name__].__class__ = Experiments
