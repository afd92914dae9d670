"""The observer of a page without a server says what Python says, and refuses what it cannot read."""

import dataclasses
import json
import re
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from explorer.engines import ANY_ENGINE, ENGINES, evaluate
from helpers import made_up

import tomnet
from tomnet.episodes.episode import NONE
from tomnet.explorer import static_observer
from tomnet.explorer.static_observer import folded_arrays, observer_script
from tomnet.observer.config import ObserverConfig
from tomnet.observer.domain import Domain
from tomnet.support.errors import BadSetting

PAGE = Path(static_observer.__file__).parent / "page"
SMALL_WORLD = tomnet.World(size=5, objects=2, max_walls=1, step_limit=12)
SMALL = ObserverConfig(
    size=5,
    objects=2,
    embedding=3,
    channels=6,
    character_channels=4,
    character_depth=3,
    torso_depth=5,
    character="snapshots",
    character_read_out="agent",
    read_out="agent",
)
DOMAIN = Domain(0, 3, objects=2, subgoal=False, swaps=False, most_walls=5, step_limit=12, sees_all=True)
ASK = "encounters.map(({ past, query }) => observer.ask(past.map(observer.embed), query))"


def small_observer():
    """Of widths that are all different, so that no two can be confused; its normalisation has something to fold."""
    random = np.random.default_rng(1)
    # small weights, or every probability would be 0 or 1, and no fault would show
    return jax.tree.map(lambda leaf: leaf / 2 + random.uniform(-0.1, 0.1, leaf.shape), made_up(SMALL, domain=DOMAIN))


OBSERVERS = {
    "pretrained": (lambda: tomnet.load("goal-snapshots/all-heads"), tomnet.MAZE, 10),
    "small": (small_observer, SMALL_WORLD, 3),
}


def drawn(world: tomnet.World, most: int, agents: int = 66) -> tomnet.Encounter:
    """Encounters after 0 to the most snapshots, one number after the other; one object in four is absent."""
    random = np.random.default_rng(0)
    species, spec = tomnet.PlannerSpecies(objects=world.objects), tomnet.EncounterSpec(0, most, snapshots=True)
    population = species.sample(jax.random.key(0), agents)
    encounters = tomnet.draw_encounters(jax.random.key(1), population, world, spec, past=most)

    def some_absent(cells):
        return jnp.where(random.random(cells.shape) < 0.25, NONE, cells)

    real = np.arange(most) < np.arange(agents)[:, None] % (most + 1)
    objects = some_absent(encounters.query.object_cells), some_absent(encounters.past.object_cells)
    return eqx.tree_at(
        lambda e: (e.history.past_real, e.query.object_cells, e.history.past.object_cells),
        encounters,
        (jnp.asarray(real), *objects),
    )


def plain(thing, *index) -> dict:
    """One state or snapshot as JSON has it: the field names are the same."""
    fields = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return {name: np.asarray(array)[index].tolist() for name, array in fields.items()}


def as_json(encounters: tomnet.Encounter) -> str:
    counts = np.asarray(encounters.past_real).sum(-1)
    each = [
        {"past": [plain(encounters.past, agent, i) for i in range(count)], "query": plain(encounters.query, agent)}
        for agent, count in enumerate(counts)
    ]
    return json.dumps(each)


def scripts(observer, **more: str) -> dict[str, str]:
    made = "const observer = TomnetObserver.create(TOMNET_OBSERVER);"
    page = {"weights.js": observer_script(observer, "test"), "observer.js": (PAGE / "observer.js").read_text()}
    return page | {"made.js": made} | {f"{name}.js": f"const {name} = {text};" for name, text in more.items()}


@pytest.mark.filterwarnings("ignore:.*an object is missing:tomnet.support.warn.BeyondTraining")
@pytest.mark.parametrize("name", OBSERVERS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_page_says_what_python_says(tmp_path, engine, name):
    load, world, most = OBSERVERS[name]
    observer, encounters = load(), drawn(world, most)
    answers = evaluate(engine, tmp_path, scripts(observer, encounters=as_json(encounters)), ASK)
    expected = tomnet.observe(observer, encounters)
    for head in ("action", "consumption", "successor"):
        said = np.array([answer[head] for answer in answers])
        assert np.abs(said.reshape(getattr(expected, head).shape) - getattr(expected, head)).max() < 1e-4, head
    character = np.array([answer["character"] for answer in answers])
    np.testing.assert_allclose(character, expected.character, rtol=1e-4, atol=1e-4)
    assert not character[0].any()  # nothing was seen of the first


def test_the_script_is_classic_and_the_same_every_time():
    script = static_observer.static_observer()
    assert script == static_observer.static_observer()
    assert re.match(r'const TOMNET_OBSERVER = \{"version":1,"name":"goal-snapshots/all-heads",.*\};\n$', script)
    assert script.isascii()
    assert not re.search(r"\b(import|export|fetch|eval)\b", (PAGE / "observer.js").read_text())


def test_folding_leaves_kernels_weights_and_biases_only():
    arrays = folded_arrays(small_observer())
    assert {name.rpartition(".")[2] for name in arrays} == {"kernel", "weight", "bias"}
    assert arrays["prediction_net.torso.resnet.layers[4].bias"].shape == (6,)


@pytest.mark.parametrize(
    ("change", "field"),
    [({"character": "episodes"}, "character"), ({"mental": True}, "mental"), ({"heads": ("action",)}, "heads")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_architecture_is_refused(change, field):
    with pytest.raises(BadSetting, match=f"ObserverConfig.{field} = .*: a page can run .* only"):
        observer_script(made_up(dataclasses.replace(SMALL, **change), domain=DOMAIN), "test")


# --- What a page refuses

WALLS = [[False] * 5 for _ in range(4)] + [[True] * 5]
STATE = {"walls": WALLS, "agent_cell": 0, "object_cells": [7, -1], "action": 3}
CELL, A_CELL = "The agent's cell must be a whole number between 0 and 24", "The cell of A must lie between 0 and 24"
BAD_STATES = [
    ("null", "The level must be square: 5 rows of 5 cells"),
    ("{ walls: Array(5) }", "must be square"),
    ({"walls": WALLS[1:]}, "must be square"),
    ({"walls": [*WALLS[1:], [False] * 6]}, "must be square"),
    ({"walls": "#####"}, "must be square"),
    ({"walls": [*WALLS[1:], [0.5] * 5]}, "true or false"),
    ({"agent_cell": 25}, CELL),
    ({"agent_cell": -1}, CELL),
    ({"agent_cell": 0.5}, CELL),
    ({"agent_cell": None}, CELL),
    ({"agent_cell": 20}, "The agent stands in a wall"),
    ({"object_cells": [7]}, "There must be a cell for each of A, B; -1 stands for an absent one"),
    ({"object_cells": [25, -1]}, A_CELL),
    ({"object_cells": ["7", -1]}, A_CELL),
    ({"object_cells": [7, 24]}, "B lies in a wall"),
    ({"action": 5}, "The action must be a number between 0 and 4: up, down, left, right, stay"),
    ({"action": "up"}, "The action must be a number"),
    ({"action": 0.5}, "The action must be a number"),
]
BAD_EMBEDDINGS = [
    ("null", "must be a list of embeddings"),
    ("Array(4).fill([0, 0, 0])", "At most 3 snapshots can be read, and here are 4"),
    ("[[0, 0]]", "Each embedding must be 3 numbers between ±1000000"),
    ("[[0, 0, NaN]]", "must be 3 numbers"),
    ("[[0, 0, 1e999]]", "must be 3 numbers"),
    ("[[0, 0, 1e7]]", "must be 3 numbers"),
    ("[null]", "must be 3 numbers"),
    ("Array(1)", "must be 3 numbers"),
]
REFUSAL = "(call) => { try { return call(); } catch (error) { return `${error.name}: ${error.message}`; } }"


def test_what_cannot_be_read_is_refused_in_a_sentence(tmp_path):
    states = [change if isinstance(change, str) else json.dumps(STATE | change) for change, _ in BAD_STATES]
    calls = [f"() => observer.embed({state})" for state in states]
    calls += [f"() => observer.ask({embeddings}, {json.dumps(STATE)})" for embeddings, _ in BAD_EMBEDDINGS]
    calls += ["() => TomnetObserver.create(undefined)", "() => TomnetObserver.create({ version: 2 })"]
    calls += ['() => TomnetObserver.create({ ...TOMNET_OBSERVER, weights: "AAAA" })']
    loaded = scripts(small_observer(), refusal=REFUSAL, calls=f"[{', '.join(calls)}]")
    said = evaluate(ANY_ENGINE, tmp_path, loaded, "calls.map(refusal)")
    wanted = [sentence for _, sentence in BAD_STATES + BAD_EMBEDDINGS]
    wanted += ["reads observers of version 1"] * 2 + ["weights are cut short"]
    for found, sentence in zip(said, wanted, strict=True):
        assert found.startswith("RangeError: "), found
        assert sentence in found


def test_an_embedding_at_its_limits_gives_probabilities(tmp_path):
    corners = [[[a, b]] * 10 for a in (-1e6, 1e6) for b in (-1e6, 1e6)]
    state = plain(drawn(tomnet.MAZE, 10).query, 0)
    loaded = scripts(tomnet.load("goal-snapshots/all-heads"), corners=json.dumps(corners), state=json.dumps(state))
    for answer in evaluate(ANY_ENGINE, tmp_path, loaded, "corners.map((seen) => observer.ask(seen, state))"):
        assert [sum(shares) for shares in (answer["action"], *answer["successor"])] == pytest.approx([1] * 4)
        assert all(0 <= probability <= 1 for probability in answer["consumption"])
