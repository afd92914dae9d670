"""Machine Theory of Mind in JAX.

An observer (ToMnet) watches agents act in small gridworlds and learns, by meta-learning over a population of
them, to predict what a new agent will do, want and believe. Data flows one way through the folders: `world`,
`agents`, `episodes`, `recordings`, `observer` and `ideal`, `experiments`, `figures`, and the `tomnet` command on top.

What stands in `__all__` is public. It is loaded when first asked for, so that `import tomnet` takes no time:

>>> species = tomnet.PlannerSpecies()
>>> agents = species.sample(jax.random.key(0), 4)
>>> encounters = tomnet.draw_encounters(jax.random.key(1), agents, tomnet.MAZE, tomnet.EncounterSpec(1, 1))
>>> answers = tomnet.observe(tomnet.load("goal-inference/2d"), encounters)
>>> answers.consumption.shape  # the probability of each object, for each agent, that it will be eaten
(4, 4)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for editors and type checkers, which cannot follow `__getattr__`
    from .agents.planner import PlannerSpecies as PlannerSpecies
    from .agents.population import Population as Population
    from .agents.random_policy import RandomSpecies as RandomSpecies
    from .api import Answers as Answers
    from .api import draw_encounters as draw_encounters
    from .api import load as load
    from .api import load_agents as load_agents
    from .api import meet as meet
    from .api import observe as observe
    from .api import play as play
    from .asking.agent_model import AgentModel as AgentModel
    from .asking.agent_model import CurrentEpisode as CurrentEpisode
    from .asking.answer import Answer as Answer
    from .asking.answer import Embedding as Embedding
    from .asking.answer import Named as Named
    from .episodes.encounter import Encounter as Encounter
    from .episodes.encounter import EncounterSpec as EncounterSpec
    from .episodes.episode import Episode as Episode
    from .episodes.episode import QueryState as QueryState
    from .episodes.episode import Snapshot as Snapshot
    from .episodes.history import History as History
    from .episodes.predictions import Predictions as Predictions
    from .episodes.predictions import Probabilities as Probabilities
    from .experiments.registry import titles as experiments
    from .fit.fitted_observer import load_fitted as load_fitted
    from .ideal.inverse_planning import InversePlanner as InversePlanner
    from .observer.config import ObserverConfig as ObserverConfig
    from .observer.config import TrainingConfig as TrainingConfig
    from .observer.tomnet import ToMnet as ToMnet
    from .observer.training import train as train
    from .recordings.folder import read_recordings as read_recordings
    from .recordings.folder import write_recordings as write_recordings
    from .recordings.record import record as record
    from .recordings.recording import Recording as Recording
    from .recordings.scene import Scene as Scene
    from .support.errors import TomnetError as TomnetError
    from .support.warn import BeyondTraining as BeyondTraining
    from .world.gridworld import MAZE as MAZE
    from .world.gridworld import SUBGOAL_MAZE as SUBGOAL_MAZE
    from .world.gridworld import Level as Level
    from .world.gridworld import World as World
    from .world.levels import format_level as format_level
    from .world.levels import parse_level as parse_level

__version__ = "0.1.0"

PUBLIC = {
    "tomnet.api": ("load", "load_agents", "draw_encounters", "play", "observe", "Answers", "meet"),
    "tomnet.asking.agent_model": ("AgentModel", "CurrentEpisode"),
    "tomnet.asking.answer": ("Answer", "Named", "Embedding"),
    "tomnet.world.gridworld": ("World", "MAZE", "SUBGOAL_MAZE", "Level"),
    "tomnet.world.levels": ("parse_level", "format_level"),
    "tomnet.agents.planner": ("PlannerSpecies",),
    "tomnet.agents.random_policy": ("RandomSpecies",),
    "tomnet.agents.population": ("Population",),
    "tomnet.episodes.episode": ("Episode", "Snapshot", "QueryState"),
    "tomnet.episodes.history": ("History",),
    "tomnet.episodes.encounter": ("Encounter", "EncounterSpec"),
    "tomnet.episodes.predictions": ("Probabilities", "Predictions"),
    "tomnet.recordings.recording": ("Recording",),
    "tomnet.recordings.scene": ("Scene",),
    "tomnet.recordings.folder": ("read_recordings", "write_recordings"),
    "tomnet.recordings.record": ("record",),
    "tomnet.observer.config": ("ObserverConfig", "TrainingConfig"),
    "tomnet.observer.tomnet": ("ToMnet",),
    "tomnet.observer.training": ("train",),
    "tomnet.ideal.inverse_planning": ("InversePlanner",),
    "tomnet.fit.fitted_observer": ("load_fitted",),
    "tomnet.support.errors": ("TomnetError",),
    "tomnet.support.warn": ("BeyondTraining",),
}
"""Every public name and where it is at home."""
_HOME = {name: module for module, names in PUBLIC.items() for name in names}
__all__ = [*_HOME, "experiments"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name == "experiments":  # the folder, which can be called
        return import_module("tomnet.experiments")
    if name not in _HOME:
        raise AttributeError(f"module 'tomnet' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOME[name]), name)  # once, and then at once
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
