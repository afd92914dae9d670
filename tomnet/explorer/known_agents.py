"""The map of known agents: where an observer puts agents of the species that it was trained on.

    python -m tomnet.explorer.known_agents

draws the maps that the zoo lacks and keeps them there, because agents have to play and be watched for one: of deep RL
agents that takes a minute. Each is kept with digests of whom it is about. Where these are others by now, or the zoo is
somebody's own, a map is drawn when it is asked for.
"""

import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Float

from .. import zoo
from ..agents.random_policy import RandomAgent
from ..observer.tomnet import ask
from ..support.array_files import load_arrays, save_arrays
from ..support.cpu import prepare_cpu
from ..support.named_arrays import digest_of
from ..support.streams import EVALUATION_STREAM, stream
from ..world.gridworld import ACTIONS
from ..world.levels import LETTERS
from .catalogue import catalogue
from .observers import observer, spec_of
from .said import plain

AGENTS, DEEP_AGENTS = 120, 24  # networks take their time
FILE, FORMAT, VERSION = "known_agents.safetensors", "tomnet known agents", 1
ARRAYS = ("points", "centre", "axes")


@dataclass(frozen=True, eq=False)
class Map:
    """Agents as points, each with what it is after, an object or, of random agents, an action. `centre` and `axes` put
    any other embedding on the map."""

    whom: dict[str, str]  # digests of the observer and of the populations it met
    favourite: list[str]
    points: Float[np.ndarray, "agent 2"]
    centre: Float[np.ndarray, "feature"]
    axes: Float[np.ndarray, "2 feature"]


@cache
def known_agents(name: str) -> dict[str, Any]:
    """The map of an observer, as the page reads it."""
    drawn = up_to_date(name) or draw(name)
    return {"favourite": drawn.favourite, **{part: plain(getattr(drawn, part)) for part in ARRAYS}}


def up_to_date(name: str) -> Map | None:
    """The map that is kept, if it is about the observer and the agents that are here now."""
    kept = kept_maps(zoo.FOLDER / FILE).get(name)
    return kept if kept is not None and kept.whom == whom(name) else None


def whom(name: str) -> dict[str, str]:
    return {"observer": digest_of(observer(name)), **spec_of(name).populations()}


def draw(name: str) -> Map:
    spec = spec_of(name)
    agent_key, encounter_key = jax.random.split(stream(0, EVALUATION_STREAM))
    agents = spec.species.sample(agent_key, DEEP_AGENTS if spec.species.conditions else AGENTS)
    encounters = eqx.filter_jit(spec.draw_encounters)(encounter_key, agents, past=spec.encounter_spec.max_past)
    asked = encounters.one_by_one()
    character = np.asarray(ask(observer(name), asked.history, asked.query).character.mean)
    centre, axes = plane_of(character)
    return Map(whom(name), favourites(agents), (character - centre) @ axes.T, centre, axes)


def plane_of(
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


# --- In the zoo


def kept_maps(path: Path) -> dict[str, Map]:
    if not path.exists():
        return {}
    arrays, header = load_arrays(path, FORMAT, VERSION)
    return {
        name: Map(told["whom"], told["favourite"], *(arrays[f"{name}/{part}"] for part in ARRAYS))
        for name, told in header.items()
    }


def keep_maps(path: Path, maps: dict[str, Map]) -> None:
    arrays = {f"{name}/{part}": np.float32(getattr(each, part)) for name, each in maps.items() for part in ARRAYS}
    header = {name: {"whom": each.whom, "favourite": each.favourite} for name, each in maps.items()}
    save_arrays(path, arrays, header, FORMAT, VERSION)


def offered() -> list[str]:
    """The observers that the page draws a map of: to one that reads no past, all agents are the same."""
    return [each["name"] for each in catalogue()["observers"] if each["here"] and each["reads"] != "nothing"]


def main() -> None:
    prepare_cpu()
    maps = {}
    for name in offered():
        started, kept = time.monotonic(), up_to_date(name)
        maps[name] = kept or draw(name)
        print(f"{name}: {'kept' if kept else 'drawn'} in {time.monotonic() - started:.1f} s", flush=True)
    keep_maps(zoo.FOLDER / FILE, maps)


if __name__ == "__main__":
    main()
