"""How good the beliefs are that deep RL agents report: cross-entropy and calibration against the true state."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from ...episodes.episode import Episode
from ...episodes.rollout import Record
from ...world.gridworld import ABSENT, State, World
from ..sally_anne.visibility import STATUSES, statuses
from .calibration import ReliabilityBin, calibration_error, reliability
from .statistics import Estimate, mean_interval


class Reported(eqx.Module):
    """What a reported belief says about each object, set against the truth."""

    surprise: Float[Array, "*batch kind"]  # -log of the probability given to the true place, in nats
    confidence: Float[Array, "*batch kind"]  # the probability of the most probable place
    right: Bool[Array, "*batch kind"]  # that place is the true one


def reported(world: World) -> Record:
    """To record during a rollout. Ten numbers of a step are kept, not 610."""

    def record(agent, memory, state: State) -> Reported:
        belief = agent.belief(memory, world)
        place = jnp.where(state.object_cells == ABSENT, world.cells, state.object_cells).astype(jnp.int32)
        given = jnp.take_along_axis(belief, place[:, None], axis=-1)[:, 0]
        surprise = -jnp.log(jnp.maximum(given, jnp.finfo(given.dtype).tiny))
        return Reported(surprise, belief.max(-1), belief.argmax(-1) == place)

    return record


class Statements:
    """The statements of one network: flat arrays, one entry for each object at each real step."""

    def __init__(self, episodes: Episode, told: Reported, reach: int):
        real = np.asarray(episodes.real)
        self.status = statuses(episodes, reach)[real].reshape(-1)
        self.surprise = np.asarray(told.surprise, np.float64)[real].reshape(-1)
        self.confidence = np.asarray(told.confidence, np.float64)[real].reshape(-1)
        self.right = np.asarray(told.right)[real].reshape(-1)

    def of(self, status: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        mine = self.status == status
        return self.surprise[mine], self.confidence[mine], self.right[mine]


@dataclasses.dataclass(frozen=True)
class Quality:
    """Means over networks, in nats and in probability."""

    statements: int
    cross_entropy: Estimate
    calibration_error: Estimate
    reliability: list[ReliabilityBin]  # of all networks together


@dataclasses.dataclass(frozen=True)
class BeliefQuality:
    """Of objects not seen so far, seen, moved since and eaten; None where there were none."""

    uniform: float  # nats of a belief that knows nothing
    unseen: Quality | None
    seen: Quality | None
    moved: Quality | None
    eaten: Quality | None


def belief_quality(networks: list[Statements], world: World) -> BeliefQuality:
    def of(status: int) -> Quality | None:
        parts = [part for part in (network.of(status) for network in networks) if len(part[0])]
        return _quality(parts) if parts else None

    by_status = {name: of(status) for status, name in enumerate(STATUSES)}
    return BeliefQuality(float(np.log(world.cells + 1)), **by_status)


def _quality(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Quality:
    errors = [calibration_error(reliability(confidence, right)) for _, confidence, right in parts]
    return Quality(
        statements=sum(len(surprise) for surprise, _, _ in parts),
        cross_entropy=mean_interval(np.array([surprise.mean() for surprise, _, _ in parts])),
        calibration_error=mean_interval(np.array(errors)),
        reliability=reliability(*(np.concatenate([part[i] for part in parts]) for i in (1, 2))),
    )
