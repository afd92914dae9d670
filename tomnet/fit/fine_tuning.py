"""A pretrained ToMnet trained on with recordings: each is a current episode, after some of the agent's earlier ones."""

from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key, Scalar

from ..episodes.encounter import Encounter
from ..episodes.episode import Episode, QueryState
from ..episodes.history import History
from ..episodes.targets import targets_from
from ..observer.config import ObserverConfig, TrainingConfig
from ..observer.tomnet import ToMnet
from ..observer.training import train
from ..support.named_arrays import digest_of
from ..support.trees import pick
from .dataset import QUERIES, Dataset
from .tomnet_inputs import episodes_of, letters

PAST = 5  # episodes before the current one, at most: each costs as much as all queries together
TUNING = TrainingConfig(steps=200, batch=32, learning_rate=1e-3, chunk=20, held_out=256, evaluate_every=2)


class RecordedEncounters(eqx.Module):
    """Draws encounters from recordings, as an observer meets agents in training."""

    episodes: Episode
    before: Int[Array, "episode past"]  # those of the same agent right before each, the last one first; -1 is none
    wanted: Int[Array, "some"]  # episodes that are asked about
    times: Int[Array, "episode query"]
    taken: Int[Array, "episode query"]  # the number of the object that is taken next; -1 is none

    @staticmethod
    def of(data: Dataset, part: Bool[np.ndarray, "episode"], config: ObserverConfig) -> "RecordedEncounters":
        numbers = np.array([*(letters(config).index(kind) for kind in data.schema.kinds), -1])
        before = np.full((len(data), PAST), -1)
        for own in data.sequences:
            for place, episode in enumerate(own):
                earlier = own[max(place - PAST, 0) : place][::-1]
                before[episode, : len(earlier)] = earlier
        found = (before, np.flatnonzero(part), data.times, numbers[data.outcome])
        return RecordedEncounters(
            jax.tree.map(jnp.asarray, episodes_of(data, np.arange(len(data)), config)),
            *(jnp.asarray(each, jnp.int32) for each in found),
        )

    def __call__(self, key: Key[Scalar, ""], count: int) -> Encounter:
        episode_key, query_key, past_key = jax.random.split(key, 3)
        chosen = jax.random.choice(episode_key, self.wanted, (count,))
        query = jax.random.randint(query_key, (count,), 0, QUERIES)
        before, now, time = self.before[chosen], pick(self.episodes, chosen), self.times[chosen, query]
        most = (before >= 0).sum(-1)
        seen = jnp.floor(jax.random.uniform(past_key, (count,)) * (most + 1))
        history = History(pick(self.episodes, jnp.maximum(before, 0)), jnp.arange(PAST) < seen[:, None])
        each = jnp.arange(count)
        state = QueryState(now.walls, now.agent_cells[each, time], now.object_cells[each, time])
        objects = jnp.arange(now.object_cells.shape[-1])
        next_taken = (self.taken[chosen, query][:, None] == objects).astype(jnp.float32)
        targets = eqx.tree_at(lambda targets: targets.consumption, jax.vmap(targets_from)(now, time), next_taken)
        return Encounter(history, state, targets)


def fine_tune(
    start: ToMnet,
    data: Dataset,
    train_part: Bool[np.ndarray, "episode"],
    validation: Bool[np.ndarray, "episode"],
    folder: Path,
    *,
    seed: int,
    tuning: TrainingConfig = TUNING,
) -> ToMnet:
    """Goes on where it broke off: whoever holds the folder above has seen to it that this is the same run."""
    return train(
        start.config,
        tuning,
        RecordedEncounters.of(data, train_part, start.config),
        folder,
        seed=seed,
        identity={"start": digest_of(start)},
        about={},
        sample_held_out=RecordedEncounters.of(data, validation, start.config),
        resume=True,
        start=start,
        title="pretrained",
    )
