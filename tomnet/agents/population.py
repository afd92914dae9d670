"""A population of deep RL agents: its conditions, its file, and every agent that can be read out of it.

population = load_population("tomnet/zoo/agents/5x5.safetensors")
agent = population.agent(network=3, preferred=1)      # one agent: a network, and the object it is after
minds = population.agents("held out")                 # all held-out ones, stacked: networks × objects
"""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

from ..support.array_files import load_arrays, save_arrays
from ..support.errors import BadFile, BadSetting, TomnetError, nearest
from ..support.identity import plain
from ..support.mesh import whole
from ..support.named_arrays import named_arrays, with_arrays
from ..support.trees import on_device, pick_on_host
from ..support.typed_json import from_json, to_json
from ..support.zoo_folder import zoo_folder
from .actor_critic import DeepAgent, Network, NetworkConfig, Senses

FORMAT, VERSION = "tomnet agents", 3
NO_POPULATION = "its header describes no population that this tomnet can build"
STORED = ml_dtypes.bfloat16
Part = Literal["training", "held out", "all"]


@dataclasses.dataclass(frozen=True)
class Condition:
    """A species: how wide it sees (0: blind) and whether it remembers."""

    name: str
    field_of_view: int
    remembers: bool = True

    def check(self, size: int) -> None:
        width, largest = self.field_of_view, 2 * size - 1  # which shows the whole map from everywhere
        if width and (width % 2 == 0 or not 1 <= width <= largest):
            raise BadSetting("field of view", width, f"must be odd and at most {largest}, or 0 for the blind")


CONDITIONS = {
    condition.name: condition
    for condition in (
        Condition("blind", 0),
        Condition("3x3", 3),
        Condition("5x5", 5),
        Condition("7x7", 7),
        Condition("9x9", 9),
        Condition("stateless-5x5", 5, remembers=False),
    )
}


def find_condition(name: str) -> Condition:
    if name not in CONDITIONS:
        raise nearest(name, CONDITIONS, "condition")
    return CONDITIONS[name]


def senses_of(conditions: list[Condition]) -> Senses:
    """The senses of one agent of each of these conditions, stacked."""
    reach = [condition.field_of_view // 2 if condition.field_of_view else -1 for condition in conditions]
    return Senses(jnp.asarray(reach, jnp.int32), jnp.asarray([condition.remembers for condition in conditions]))


@dataclasses.dataclass(frozen=True)
class Header:
    """Of a population's file."""

    network: NetworkConfig
    condition: Condition
    returns: tuple[float, ...]
    training: tuple[int, ...]
    held_out: tuple[int, ...]
    about: dict[str, Any]


class Population(eqx.Module):
    """The kept networks of one condition, best first, and which of them observers may be trained on.

    >>> population = tomnet.load_agents("5x5")
    >>> one = population.agent(network=0, preferred=2)
    >>> strangers = population.agents("held out")  # no observer was trained on these; stacked, every preference
    >>> strangers.preferred.shape
    (40,)
    """

    networks: Network  # stacked
    condition: Condition = eqx.field(static=True)
    returns: tuple[float, ...] = eqx.field(static=True)  # on the held-out levels they were chosen by
    training: tuple[int, ...] = eqx.field(static=True)
    held_out: tuple[int, ...] = eqx.field(static=True)
    about: dict[str, Any] = eqx.field(static=True)

    def __len__(self) -> int:
        return len(self.returns)

    @property
    def objects(self) -> int:
        """Terminal objects: as many preferences as each network can be given."""
        return self.networks.config.kinds - 1

    @property
    def parts(self) -> tuple[Part, ...]:
        """To which part each network belongs."""
        return tuple("training" if network in self.training else "held out" for network in range(len(self)))

    @property
    def digest(self) -> str:
        """Which agents these are, whatever their file is called: of all weights as stored, condition and split."""
        digest = hashlib.sha256()
        about = {"condition": plain(self.condition), "training": self.training, "held_out": self.held_out}
        digest.update(json.dumps(about, sort_keys=True).encode())
        for name, array in sorted(_stored(self.networks).items()):
            digest.update(f"\n{name} {array.dtype} {array.shape}\n".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    def agent(self, network: int, preferred: int = 0) -> DeepAgent:
        for name, value, count in (("network", network, len(self)), ("preferred", preferred, self.objects)):
            if not 0 <= value < count:
                raise BadSetting(name, value, f"this population has 0 to {count - 1}")
        senses = pick_on_host(senses_of([self.condition]), 0)
        return DeepAgent(pick_on_host(self.networks, network), senses, on_device(np.int32(preferred)))

    def agents(self, part: Part = "all") -> DeepAgent:
        """Every network of that part with each preference in turn: a stacked agent, network-major."""
        chosen = {"training": self.training, "held out": self.held_out, "all": tuple(range(len(self)))}[part]
        each = np.repeat(np.asarray(chosen, int), self.objects)
        networks = pick_on_host(self.networks, each)
        preferred = jnp.asarray(np.tile(np.arange(self.objects), len(chosen)), jnp.int32)
        return DeepAgent(networks, senses_of([self.condition] * len(each)), preferred)


PRETRAINED = zoo_folder() / "agents"


def condition_file(name: str, folder: Path | None = None) -> Path:
    return (folder or PRETRAINED) / f"{find_condition(name).name}.safetensors"


def load_condition(name: str, folder: Path | None = None) -> Population:
    """The population of one condition: the pretrained one, or that of a folder."""
    path = condition_file(name, folder)
    if not path.exists():
        where = f"{folder} holds" if folder else "the zoo holds"
        raise TomnetError(f"{where} no agents of the condition {name}; `tomnet agents train` trains them")
    population = load_population(path)
    if population.condition != CONDITIONS[name]:
        its = population.condition
        sees = f"field of view {its.field_of_view}, {'with' if its.remembers else 'without'} memory"
        raise BadFile(path, f"agents of {its.name} ({sees}), not of {name}")
    return population


def split(count: int, seed: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Networks to train observers on, and those held out: half each, at random, fixed by the seed."""
    order = np.random.default_rng(seed).permutation(count).tolist()
    half = -(-count // 2)
    return tuple(sorted(order[:half])), tuple(sorted(order[half:]))


def blank_networks(config: NetworkConfig, count: int) -> Network:
    """Shapes only: nothing is computed."""
    one = eqx.filter_eval_shape(lambda: Network(config, key=jax.random.key(0)))
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct((count, *leaf.shape), leaf.dtype), one)


def as_stored(networks: Network) -> Network:
    """The networks with the weights that a file of them holds, still in float32.

    Not to be compiled together with what follows: XLA may leave out a rounding that is taken back at once.
    """
    return jax.tree.map(lambda leaf: jnp.asarray(np.asarray(whole(leaf), STORED), leaf.dtype), networks)


def _stored(networks: Network) -> dict[str, np.ndarray]:
    return {name: np.asarray(array, STORED) for name, array in named_arrays(networks).items()}


def save_population(path: Path, population: Population) -> None:
    """One file, in bf16: half the bytes, and networks are chosen by what they earn in just this form."""
    told = {name: getattr(population, name) for name in ("condition", "returns", "training", "held_out", "about")}
    header = to_json(Header(network=population.networks.config, **told))
    save_arrays(path, _stored(population.networks), header, format=FORMAT, version=VERSION)


def load_population(path: Path | str, expected: NetworkConfig | None = None) -> Population:
    """A population from its file; with `expected`, one of that architecture and number of objects only."""
    path = Path(path)
    arrays, told = load_arrays(path, FORMAT, VERSION)
    try:
        header: Header = from_json(Header, told)
        config, returns = header.network, header.returns
        header.condition.check(config.size)
        blank = blank_networks(config, len(returns))
    except TomnetError as why:
        raise BadFile(path, f"{NO_POPULATION}: {why}") from None
    except (TypeError, ValueError) as error:  # sizes beyond all arrays
        raise BadFile(path, NO_POPULATION) from error
    if sorted(header.training + header.held_out) != list(range(len(returns))):
        raise BadFile(path, "its split does not cover its networks, each once")
    if expected is not None:
        for name, wanted in dataclasses.asdict(expected).items():
            if getattr(config, name) != wanted:
                raise BadFile(path, f"{name} is {getattr(config, name)}, expected {wanted}")
    split = header.training, header.held_out
    return Population(with_arrays(blank, arrays, path), header.condition, returns, *split, header.about)
