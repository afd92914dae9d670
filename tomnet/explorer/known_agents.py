"""The map of known agents: where an observer puts agents of the species that it was trained on."""

from functools import cache
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from ..agents.random_policy import RandomAgent
from ..observer.tomnet import ask
from ..support.streams import EVALUATION_STREAM, stream
from ..world.gridworld import ACTIONS
from ..world.levels import LETTERS
from .observers import observer, spec_of
from .said import plain

AGENTS, DEEP_AGENTS = 120, 24  # networks take their time


@cache
def known_agents(name: str) -> dict[str, Any]:
    """Each as a point with what it is after, an object or, of random agents, an action. `centre` and `axes` put any
    other embedding on the map."""
    spec = spec_of(name)
    agent_key, encounter_key = jax.random.split(stream(0, EVALUATION_STREAM))
    agents = spec.species.sample(agent_key, DEEP_AGENTS if spec.species.conditions else AGENTS)
    draw = eqx.filter_jit(spec.draw_encounters)
    encounters = draw(encounter_key, agents, past=spec.encounter_spec.max_past).one_by_one()
    character = np.asarray(ask(observer(name), encounters.history, encounters.query).character.mean)
    centre, axes = principal_axes(character)
    points = (character - centre) @ axes.T
    return {"points": plain(points), "favourite": favourites(agents), "centre": plain(centre), "axes": plain(axes)}


def principal_axes(
    points: Float[np.ndarray, "agent feature"],
) -> tuple[Float[np.ndarray, "feature"], Float[np.ndarray, "2 feature"]]:
    """The plane that shows most of how they differ; a plane shows itself as it is."""
    if points.shape[1] <= 2:
        return np.zeros(points.shape[1]), np.eye(2, points.shape[1])
    centre = points.mean(0)
    return centre, np.linalg.svd(points - centre, full_matrices=False)[2][:2]


def favourites(agents: Any) -> list[str]:
    if isinstance(agents, RandomAgent):
        return [ACTIONS[each] for each in np.asarray(agents.action_probabilities).argmax(-1)]
    return [LETTERS[each] for each in np.asarray(agents.preferred)]
