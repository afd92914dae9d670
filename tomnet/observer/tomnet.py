"""ToMnet: the character net, the mental net and the prediction net, composed."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Scalar

from ..episodes.encounter import Encounter
from ..episodes.episode import Episode, QueryState, Snapshot
from ..episodes.history import History
from ..episodes.predictions import Predictions
from ..support.errors import BadSetting
from .bottleneck import Posterior, posterior_from
from .character_net import CHARACTER_NETS, CharacterNet
from .config import ObserverConfig
from .domain import Domain
from .frames import Capacity, capacity_for, pack, pair_planes, spatialise
from .mental_net import Memory, MentalNet
from .prediction_net import PredictionNet


class Reading(eqx.Module):
    """What an observer makes of its encounters: who these agents are, what state they are in, what they will do."""

    character: Posterior
    mental: Posterior | None
    predictions: Predictions


def check_past(config: ObserverConfig, past: Episode | Snapshot) -> None:
    """Whether this is what an observer reads of the past; one without a character net reads nothing."""
    wanted = {"episodes": Episode, "snapshots": Snapshot, "sequence": Snapshot}.get(config.character)
    if wanted is not None and not isinstance(past, wanted):
        told, reads = ("snapshots", "whole episodes") if wanted is Episode else ("episodes", "snapshots of them")
        raise BadSetting("past", told, f"this observer reads {reads}")


class ToMnet(eqx.Module):
    """An observer: a character net reads the past, a mental net the current episode, a prediction net both.

    Reads whole batches, `[agent, …]`; `tomnet.observe` asks it.

    >>> observer = tomnet.load("goal-inference/2d")
    >>> observer.config.embedding, observer.mental_net
    (2, None)
    """

    character_net: CharacterNet | None
    mental_net: MentalNet | None
    prediction_net: PredictionNet
    config: ObserverConfig = eqx.field(static=True)
    domain: Domain | None = eqx.field(static=True)  # None: nobody said what it met in training

    def __init__(self, config: ObserverConfig, *, key: Key[Scalar, ""], domain: Domain | None = None):
        character_key, prediction_key = jax.random.split(key)
        self.character_net = self.mental_net = None
        if config.character != "none":
            self.character_net = CHARACTER_NETS[config.character](config, key=character_key)
        if config.mental:
            self.mental_net = MentalNet(config, key=jax.random.fold_in(key, 2))
        self.prediction_net = PredictionNet(config, key=prediction_key)
        self.config, self.domain = config, domain

    def characterise(
        self,
        past: Episode | Snapshot,
        past_real: Bool[Array, "query past"],
        *,
        capacity: int,
        training: bool = False,
        dtype=jnp.float32,
    ) -> tuple[Posterior, CharacterNet | None]:
        """What past episodes tell of each query's agent; several queries may share an agent's, and each see some."""
        check_past(self.config, past)
        outputs = self.config.moments * self.config.character_size
        if self.character_net is None or past_real.shape[1] == 0:
            nothing = jnp.zeros((past_real.shape[0], outputs))
            return posterior_from(nothing, self.config.bottleneck), self.character_net
        episodes = jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]), past)
        packed = pack(episodes, History(past, past_real).shown.reshape(-1), capacity, dtype)
        embedding, net = self.character_net(packed, past_real, training)
        return posterior_from(embedding, self.config.bottleneck), net

    def mentalise(
        self,
        recent: Episode,
        character: Float[Array, "agent feature"],
        capacity: Capacity,
        *,
        query_times: Int[Array, "agent query"] | None = None,
        training: bool = False,
        dtype=jnp.float32,
    ) -> tuple[Posterior | None, MentalNet | None]:
        """What the current episode so far tells of each agent's state of mind, given its character: at its end, or at
        each of the times asked about."""
        if self.mental_net is None:
            return None, None
        times = recent.length[:, None] if query_times is None else query_times
        packed = pack(recent, jnp.ones(recent.length.shape, bool), max(capacity.recent, 1), dtype)
        maps, net = self.mental_net(packed, character, times.astype(jnp.int32), capacity.waves, training)
        return posterior_from(maps, self.config.bottleneck), net

    def remember(self, character: Float[Array, "agent feature"], memory: Memory | None, pair: Snapshot) -> Memory:
        """What the mental net remembers after one more step of each agent's current episode: `mentalise`, step by step.
        Without a memory it was the first step."""
        assert self.mental_net is not None
        frames = jax.vmap(spatialise)(jax.vmap(pair_planes)(pair), character)
        return self.mental_net.step(frames, memory)

    def recall(self, memory: Memory | None, agents: int) -> Posterior:
        """The mental embeddings that this memory gives; without any, as for agents that have not acted yet."""
        assert self.mental_net is not None
        config = self.config
        nothing = (agents, config.size, config.size, config.moments * config.mental_channels)
        maps = jnp.zeros(nothing) if memory is None else self.mental_net.read(memory)
        return posterior_from(maps, config.bottleneck)

    def predict(
        self,
        character: Float[Array, "agent feature"],
        query: QueryState,
        mental: Float[Array, "agent row col channel"] | None = None,
        dtype=jnp.float32,
    ) -> Predictions:
        """Predictions for each agent in its query state; without `mental`, as for one that has not acted yet."""
        return self.prediction_net(character, self._mental(mental, query), query, False, dtype)[0]

    def read(
        self,
        history: History,
        query: QueryState,
        capacity: Capacity,
        *,
        key: Key[Scalar, ""] | None = None,
        training: bool = False,
        dtype=jnp.float32,
    ) -> tuple[Reading, "ToMnet"]:
        """Everything, and in training this observer with its normalisation statistics moved on.

        Histories that share a past, and queries that share a history, come as `Encounter.one_by_one` lays them out.
        With a key, embeddings are drawn from their posteriors.
        """
        character_key, mental_key = (None, None) if key is None else jax.random.split(key)
        mode = {"training": training, "dtype": dtype}
        character, character_net = self.characterise(history.past, history.past_real, capacity=capacity.past, **mode)
        drawn, mental, mental_net = character.draw(character_key), None, self.mental_net
        if self.mental_net is not None:
            assert history.recent is not None  # check_kind has seen to it
            times = history.query_times
            mental, mental_net = self.mentalise(history.recent, drawn, capacity, query_times=times, **mode)
        drawn_mental = None if mental is None else mental.draw(mental_key)
        asked = jnp.repeat(drawn, len(query.agent_cell) // len(history), axis=0)
        predictions, prediction_net = self.prediction_net(
            asked, self._mental(drawn_mental, query), query, training, dtype
        )
        moved = eqx.tree_at(
            lambda net: (net.character_net, net.mental_net, net.prediction_net),
            self,
            (character_net, mental_net, prediction_net),
            is_leaf=lambda leaf: leaf is None,
        )
        return Reading(character, mental, predictions), moved

    def _mental(self, mental: Array | None, query: QueryState) -> Array | None:
        if mental is None and self.mental_net is not None:
            shape = (*query.walls.shape, self.config.mental_channels)
            return jnp.zeros(shape)
        return mental


def check_kind(observer: ToMnet, history: History, query: QueryState) -> None:
    """Whether this is of the kind that the observer reads. One without a mental net does not look at the current
    episode."""
    config = observer.config
    if query.walls.shape[-1] != config.size:
        raise BadSetting("size", query.walls.shape[-1], f"this observer knows grids of {config.size}")
    if query.object_cells.shape[-1] != config.objects:
        raise BadSetting("objects", query.object_cells.shape[-1], f"this observer knows {config.objects}")
    if history.recent is None and config.mental:
        raise BadSetting(
            "EncounterSpec.query_at_start", True, "this observer reads the current episode, and there is none"
        )


@eqx.filter_jit
def _ask(key, observer: ToMnet, history: History, query: QueryState, capacity: Capacity, dtype) -> Reading:
    return observer.read(history, query, capacity, key=key, dtype=dtype)[0]


def ask(
    observer: ToMnet,
    history: History,
    query: QueryState,
    *,
    key: Key[Scalar, ""] | None = None,
    dtype=jnp.float32,
) -> Reading:
    """A batch of agents, each asked about in one state; normalisation in inference mode."""
    check_kind(observer, history, query)
    return _ask(key, observer, history, query, capacity_for(history), dtype)


def read(observer: ToMnet, encounters: Encounter, **how) -> Reading:
    """A batch of encounters read: each asked about in its query state."""
    return ask(observer, encounters.history, encounters.query, **how)


def observe(
    observer: ToMnet, encounters: Encounter, dtype=jnp.float32
) -> tuple[Float[Array, "agent feature"], Predictions]:
    """Character embeddings and predictions for a batch of encounters."""
    reading = read(observer, encounters, dtype=dtype)
    return reading.character.mean, reading.predictions
