"""Random streams that never meet, whatever the seed: what is tested on is never trained on."""

import jax
from jaxtyping import Key, Scalar

# of observers; each is a small number right under the seed
TRAIN_STREAM, HELD_OUT_STREAM, WEIGHT_STREAM, EVALUATION_STREAM, NOISE_STREAM, START_STREAM = range(6)
# Of populations, which have a place of their own under the seed, where the small numbers do not come.
# `split(key, n)[i]` is `fold_in(key, i)`, so that no key is used in both ways.
AGENT_STREAMS = 0x6167656E
WEIGHTS, BIRTH, TRAINING, HELD_OUT, CHOOSING = range(5)


def stream(seed: int, which: int) -> Key[Scalar, ""]:
    """That of an observer: its training, its weights, the agents that it is evaluated on."""
    return jax.random.fold_in(jax.random.key(seed), which)


def agent_stream(seed: int, which: int) -> Key[Scalar, ""]:
    """That of a population: its weights, its levels, those that networks are chosen by."""
    return jax.random.fold_in(stream(seed, AGENT_STREAMS), which)
