"""Observers in words, for their cards: whom they meet, what they see, what they are made of, what they predict."""

from ..episodes.observer_view import sees_all
from ..experiments.experiment import ObserverSpec
from ..observer.config import ObserverConfig
from ..support.words import counted
from ..world.gridworld import World

PREDICTIONS = {
    "action": "the next action",
    "consumption": "what will be eaten",
    "successor": "where the agent will be",
    "belief": "where the agent believes the objects to be",
}


def seen_before(spec: ObserverSpec, config: ObserverConfig) -> str:
    """What an observer has seen of an agent when it is asked about a state."""
    seen = []
    if config.character != "none":
        low, high = spec.encounter_spec.min_past, spec.encounter_spec.max_past
        count = f"{low} to {pieces(high, spec)}" if low < high else pieces(high, spec)
        seen.append(count if spec.encounter_spec.view == sees_all else f"{count}, seen badly")
    if config.mental:
        seen.append("the current episode so far")
    return " and ".join(seen) or "nothing"


def pieces(count: int, spec: ObserverSpec) -> str:
    """`1 past episode`, or where it sees a single state and action of each, `3 snapshots`."""
    piece = "snapshot" if spec.encounter_spec.snapshots else "past episode"
    return counted(count, piece)


def predicts(config: ObserverConfig) -> str:
    return ", ".join(PREDICTIONS[head] for head in config.heads)


def world_words(world: World) -> str:
    words = f"{world.size}×{world.size} gridworlds with {counted(world.objects, 'object')}"
    if not world.subgoal:
        return words
    moved = f"change places in {world.swap_probability:.0%} of cases" if world.swap_probability else "stay in place"
    return f"{words} that {moved} when a subgoal is reached"


# --- Nets


def character_net(config: ObserverConfig) -> str:
    if config.character == "none":
        return "none"
    width = f"{config.character_channels} channels"
    if config.character == "sequence":
        return f"a convolution and a convolutional LSTM, {width}"
    over_time = " and an LSTM" if config.character == "episodes" else ""
    return f"{convolutions(config.character_depth)}{over_time}, {width}"


def character_embedding(spec: ObserverSpec, config: ObserverConfig) -> str:
    if not config.character_size:
        return "none"
    return f"{config.character_size} dimensions{_price(spec, config)}"


def mental_net(spec: ObserverSpec, config: ObserverConfig) -> str:
    if not config.mental:
        return "none"
    net = f"{convolutions(config.mental_depth)} and a convolutional LSTM, {config.mental_channels} channels"
    return net + _price(spec, config)


def _price(spec: ObserverSpec, config: ObserverConfig) -> str:
    return f", a Gaussian posterior that pays {spec.training.beta:g} for a nat" if config.bottleneck else ""


def convolutions(count: int) -> str:
    return counted(count, "convolution")
