"""Tiny observers of each kind and their two compiled programs, made once for all tests of this folder."""

import equinox as eqx
import pytest
from helpers import made_up, random_encounters

from tomnet.observer.config import ObserverConfig
from tomnet.observer.frames import Capacity
from tomnet.observer.losses import mean_losses
from tomnet.observer.tomnet import ToMnet

SMALL = {
    "size": 5,
    "objects": 2,
    "channels": 4,
    "character_channels": 4,
    "character_depth": 3,
    "torso_depth": 3,
}
AT_AGENT = {"read_out": "agent", "character_read_out": "agent"}
CONFIGS = {
    "episodes": ObserverConfig(**SMALL, character="episodes", embedding=3),
    "snapshots": ObserverConfig(**SMALL, character="snapshots", embedding=3, **AT_AGENT),
    "sequence": ObserverConfig(**SMALL, character="sequence", embedding=3, torso_plain=True, heads=("action",)),
}
CAPACITY = 64  # above the 5 × 3 × 4 frames that there can be


@eqx.filter_jit
def look(observer: ToMnet, encounters, capacity: int = CAPACITY):
    """What the observer thinks: embeddings and predictions, in inference mode."""
    past, real = encounters.past, encounters.past_real
    character, same = observer.characterise(past, real, capacity=capacity)
    return character.mean, observer.predict(character.mean, encounters.query), same


@eqx.filter_jit
def learn(observer: ToMnet, encounters, capacity: int = CAPACITY):
    """What training computes: predictions, the observer with its moments moved on, and the gradients."""

    def loss(observer):
        reading, moved = observer.read(encounters.history, encounters.query, Capacity(capacity), training=True)
        return sum(mean_losses(reading.predictions, encounters.targets).values()), (reading.predictions, moved)

    gradients, (predictions, moved) = eqx.filter_grad(loss, has_aux=True)(observer)
    return predictions, moved, gradients


@pytest.fixture(scope="session", params=CONFIGS)
def kind(request) -> str:
    return request.param


@pytest.fixture(scope="session")
def encounters_of():
    """Five encounters for each kind of observer."""
    made = {name: random_encounters(snapshots=name != "episodes") for name in CONFIGS}
    return made.__getitem__


@pytest.fixture(scope="session")
def observer_of(encounters_of):
    """An observer of each kind that has seen one batch: its running moments are no longer the first ones."""
    made = {}

    def observer(name: str) -> ToMnet:
        if name not in made:
            made[name] = learn(made_up(CONFIGS[name]), encounters_of(name))[1]
        return made[name]

    return observer


@pytest.fixture(scope="session")
def thinks():
    return look


@pytest.fixture(scope="session")
def learns():
    return learn
