"""What is given to the public functions by mistake is answered in one line, by those who check no types as well.

The tests' own type checker would be faster than our checks: these run without it, as users do.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tomnet

ROOT = Path(tomnet.__file__).parents[1]
BEFORE = """
import numpy, tomnet

class Silent:
    reset = step = lambda self, **more: None

class Discrete(Silent):
    action_space = type("Space", (), {"n": 2})

class Several(Silent):
    num_envs = 2

one = tomnet.Recording(
    agent="ann", episode="1", walls=numpy.zeros((1, 2), bool), objects=(), actions=numpy.array([3]),
    cells=numpy.array([0, 1]), object_cells=numpy.zeros((2, 0), int), taken=numpy.array([-1]),
)
policy = lambda seen: 0
"""
REFUSED = {
    "tomnet.read_recordings(None)": "path = None: must be the path of a file or folder",
    "tomnet.write_recordings([one], None)": "path = None: must be the path of a file or folder",
    "tomnet.write_recordings([one], 'out', None)": "unknown format 'None'",
    "tomnet.write_recordings([1], 'out')": "recordings = one that is of type int: must each be a Recording",
    "tomnet.write_recordings(one, 'out')": "recordings = Recording: must be several, as a list has them",
    "tomnet.write_recordings(None, 'out')": "recordings = NoneType: must be several, as a list has them",
    "tomnet.record(Discrete(), policy, episodes=1.5)": "episodes = 1.5: must be a whole number between 1 and",
    "tomnet.record(Discrete(), policy, 1, steps=None)": "steps = None: must be a whole number between 1 and",
    "tomnet.record(Discrete(), policy, 1, seed='x')": "seed = x: must be a whole number between 0 and",
    "tomnet.record(Discrete(), None, 1)": "policy = None: must be a function of what the environment shows",
    "tomnet.record(Discrete(), policy, 1, look=3)": "look = 3: must be a function (observation, info, env) -> Scene",
    "tomnet.record(Discrete(), policy, 1, look=policy, actions=3)": "actions = 3: must be a list of names",
    "tomnet.record(Silent(), policy, 1, look=policy)": "env = Silent: must have action_space, which says",
    "tomnet.record(Several(), policy, 1, look=policy)": "env = Several: must have single_action_space, which says",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """All of them in one process, since starting one takes longest."""
    script = BEFORE
    for call in REFUSED:
        script += f"try:\n    {call}\nexcept tomnet.TomnetError as error:\n    print(error)\n"
    environ = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environ, cwd=tmp_path_factory.mktemp("here"), check=True
    )
    return dict(zip(REFUSED, done.stdout.splitlines(), strict=True))


@pytest.mark.parametrize("call", REFUSED)
def test_a_mistake_is_answered_in_one_line(call, answers):
    assert answers[call].startswith(REFUSED[call])
