"""Who and what there is to choose from: observers, agents, and scenes ready to be looked at."""

from typing import Any

from .. import zoo
from ..agents.population import CONDITIONS, condition_file
from ..episodes.targets import GAMMAS
from ..experiments.experiment import ObserverSpec
from ..experiments.registry import EXPERIMENTS
from ..world.gridworld import ACTIONS, MAZE, SUBGOAL_MAZE, World
from ..world.levels import symbols
from .observers import PRETRAINED, reads
from .requests import MOST_PAST, population
from .scenes import scenes

FORMAT = 1  # of scenes in addresses; raised when an older page could not read a newer address
# whom agents are shown to, unless another is chosen: the first of these that was made for such agents
FIRST = ("goal-inference/2d", "random-agents/mixture", "explicit-beliefs/mixed", "deep-rl-agents/both")
WORDS = {
    "blind": "blind",
    "3x3": "sees 3×3",
    "5x5": "sees 5×5",
    "7x7": "sees 7×7",
    "9x9": "sees 9×9",
    "stateless-5x5": "sees 5×5, remembers nothing",
}


def catalogue() -> dict[str, Any]:
    return {
        "format": FORMAT,
        "actions": list(ACTIONS),
        "gammas": list(GAMMAS),
        "worlds": {"maze": _world(MAZE), "subgoal": _world(SUBGOAL_MAZE)},
        "observers": _observers(),
        "first": list(FIRST),
        "conditions": [_condition(name) for name in CONDITIONS if condition_file(name).exists()],
        "scenes": scenes(),
    }


def _world(world: World) -> dict[str, Any]:
    return {"size": world.size, "objects": symbols(world), "step_limit": world.step_limit}


def _observers() -> list[dict[str, Any]]:
    """All of them, those that are still to be trained included: the page says of these that they are missing."""
    here = set(zoo.names())
    return [
        _observer(f"{name}/{spec.name}", spec, f"{name}/{spec.name}" in here)
        for name, experiment in EXPERIMENTS.items()
        for spec in experiment.specs(PRETRAINED)
        if not spec.home
    ]


def _observer(name: str, spec: ObserverSpec, here: bool) -> dict[str, Any]:
    encounters, told = spec.encounter_spec, reads(spec)
    return {
        "name": name,
        "here": here,
        "watches": spec.species.words(),
        "species": spec.species.kind,
        "conditions": list(spec.species.conditions),
        "world": "subgoal" if spec.world.subgoal else "maze",
        "reads": told,
        "min_past": 0 if told == "nothing" else encounters.min_past,
        "max_past": min(encounters.max_past, MOST_PAST),
        "heads": list(spec.observer.heads),
        "embedding": spec.observer.embedding,
    }


def _condition(name: str) -> dict[str, Any]:
    condition = CONDITIONS[name]
    agents = population(name)
    return {
        "name": name,
        "words": WORDS[name],
        "reach": condition.field_of_view // 2 if condition.field_of_view else -1,
        "networks": [{"number": each, "held_out": each in agents.held_out} for each in range(len(agents))],
    }
