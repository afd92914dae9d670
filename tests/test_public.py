"""The public face: quick to import, complete, and every name with a docstring whose example runs."""

import ast
import doctest
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import equinox as eqx
import jax
import numpy
import pytest
from helpers import made_up, random_encounters

import tomnet

SECONDS = 0.3
CHECK = """
import time
start = time.process_time()  # and not that of the clock: others may have the cores
import tomnet
took = time.process_time() - start
import sys
assert "jax" not in sys.modules and "numpy" not in sys.modules, sorted(sys.modules)
assert "load" in dir(tomnet) and "experiments" in dir(tomnet)
assert "jax" not in sys.modules  # nor by looking at what there is
print(took)
"""


def test_importing_tomnet_is_quick_and_leaves_jax_alone():
    def took() -> float:
        return float(subprocess.run([sys.executable, "-c", CHECK], check=True, capture_output=True, text=True).stdout)

    assert min(took() for _ in range(3)) < SECONDS


def test_what_editors_are_told_is_what_there_is():
    """The imports for type checkers, which nobody runs, and the table of public names."""
    imports = [
        node
        for block in ast.parse(Path(tomnet.__file__).read_text()).body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
    ]
    told = {(f"tomnet.{node.module}", alias.asname) for node in imports for alias in node.names}
    table = {(module, name) for module, names in tomnet.PUBLIC.items() for name in names}
    assert told - {("tomnet.experiments.registry", "experiments")} == table
    assert sorted(name for _, name in told) == sorted(tomnet.__all__)


def test_names_that_are_not_public_are_not_there():
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        getattr(tomnet, "lode")  # noqa: B009


def test_the_folder_of_experiments_can_be_called():
    from tomnet.experiments.registry import EXPERIMENTS  # which puts the folder in the place of any function

    assert list(tomnet.experiments()) == list(EXPERIMENTS)


def test_a_history_without_a_state_to_ask_about():
    with pytest.raises(tomnet.TomnetError, match="query = None"):
        tomnet.observe(made_up(tomnet.ObserverConfig(size=5, objects=2)), random_encounters().history)


SMALL_WORLD = tomnet.World(size=3, objects=1, max_walls=0, step_limit=4)


MISTAKES = {
    "tomnet.meet(5, [])": "observer = 5: must be an observer, or the name or the folder of one",
    "tomnet.load(3)": "observer = 3: should be the name of an observer, such as 'goal-inference/2d', or its file",
    "tomnet.load(tomnet)": "observer = <module 'tomnet' from",
    "tomnet.meet(GREEDY, [], objects=4)": "objects = 4: this observer knows 4, each with a name",
    "tomnet.meet(GREEDY, [], objects=[['A'], 1, 2, 3])": "objects = ['A'], 1, 2, 3: this observer knows 4, each with",
    "tomnet.observe(GREEDY, [])": "observer = 'greedy-agents/greedy': should be a ToMnet, as `tomnet.load(name)` gives",
    "tomnet.observe(None, [])": "observer = None: should be a ToMnet",
    "tomnet.observe([], [])": "observer = list: should be a ToMnet",
    "tomnet.observe(tomnet.load(GREEDY), [])": "seen = list: should be an Encounter or a History; `tomnet.meet",
    "tomnet.Scene(walls=[[0]], cell=(0, 0), objects=None)": "objects: expected pairs of a letter and a cell",
}


def test_a_mistake_is_refused_in_one_line():
    # in a process of its own, where no type is checked
    lines = [f"try: {call}\nexcept tomnet.TomnetError as error: print(error)" for call in MISTAKES]
    code = "\n".join(["import tomnet; GREEDY = 'greedy-agents/greedy'", *lines])
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    said = ran.stdout.splitlines()
    assert [line.startswith(why) for line, why in zip(said, MISTAKES.values(), strict=True)] == [True] * len(said), said


def test_a_folder_without_an_observer_says_so(tmp_path):
    for ask in (tomnet.load, lambda folder: tomnet.meet(folder, [])):
        with pytest.raises(tomnet.TomnetError) as refused:
            ask(str(tmp_path))
        assert str(refused.value) == f"{tmp_path}: a folder that holds no observer, no observer.safetensors"
    (tmp_path / "observer.safetensors").touch()
    with pytest.raises(tomnet.TomnetError, match=r"perhaps .*/observer.safetensors is meant"):
        tomnet.load(tmp_path)


def test_a_population_and_not_an_agent_is_drawn_from():
    agent = jax.tree.map(lambda leaf: leaf[0], tomnet.RandomSpecies((1.0,)).sample(jax.random.key(0), 1))
    scalars = eqx.tree_at(lambda agent: agent.action_probabilities, agent, jax.numpy.float32(0.2))
    with pytest.raises(tomnet.TomnetError, match="agents = RandomAgent: should be a population"):
        tomnet.draw_encounters(jax.random.key(0), scalars, SMALL_WORLD, tomnet.EncounterSpec(1, 1))


@pytest.mark.parametrize(
    ("level", "why"),
    [
        ("@.A.\n....\n....\n....", "level.walls = 4×4: a single level of this world is 3×3"),
        ("@.A\n..B\n...", "level.object_cells = 2 objects: this world has 1"),
    ],
)
def test_levels_of_another_world_are_not_played(level, why):
    agent = jax.tree.map(lambda leaf: leaf[0], tomnet.RandomSpecies((1.0,)).sample(jax.random.key(0), 1))
    other = tomnet.World(size=level.index("\n"), objects=2 if "B" in level else 1, max_walls=0)
    with pytest.raises(tomnet.TomnetError) as refused:
        tomnet.play(jax.random.key(0), agent, tomnet.parse_level(level, other), SMALL_WORLD)
    assert str(refused.value) == why


@pytest.mark.parametrize(("cell", "why"), [(9, "between 0 and 8, and 9 does not"), (4, "row 1, col 1, which is")])
def test_levels_that_begin_nowhere_are_not_played(cell, why):
    agent = jax.tree.map(lambda leaf: leaf[0], tomnet.RandomSpecies((1.0,)).sample(jax.random.key(0), 1))
    level = tomnet.parse_level("@.A\n.#.\n...", SMALL_WORLD)
    elsewhere = eqx.tree_at(lambda level: level.start_cell, level, jax.numpy.int16(cell))
    with pytest.raises(tomnet.TomnetError, match=f"level.start_cell.*{why}"):
        tomnet.play(jax.random.key(0), agent, elsewhere, SMALL_WORLD)


@pytest.mark.parametrize("name", ["tomnet", *tomnet.__all__])
def test_examples_in_docstrings_run(name):
    shown = tomnet if name == "tomnet" else getattr(tomnet, name)
    names = {"tomnet": tomnet, "jax": jax, "numpy": numpy, "Path": Path, "tempfile": tempfile, "warnings": warnings}
    example = doctest.DocTestParser().get_doctest(shown.__doc__, names, name, None, None)
    assert example.examples, f"{name} has no example"
    said: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert not said, "".join(said)
