"""Observers and training states on disk: safetensors with checksums, read back into the shapes they came from."""

import dataclasses
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..support.array_files import load_arrays, save_arrays
from ..support.errors import BadFile, TomnetError
from ..support.identity import differences, plain
from ..support.named_arrays import named_arrays, with_arrays
from ..support.typed_json import Misfit, from_json
from .config import ObserverConfig
from .domain import Domain
from .tomnet import ToMnet

OBSERVER_FORMAT, STATE_FORMAT = "tomnet observer", "tomnet training state"
VERSION = 2


@dataclasses.dataclass(frozen=True)
class Header:
    """Of an observer's file."""

    config: ObserverConfig
    about: dict[str, Any]  # whatever it was told to say of itself: see `Description` in the experiments


def blank_observer(config: ObserverConfig, domain: Domain | None = None) -> ToMnet:
    """Shapes only: nothing is computed."""
    return eqx.filter_eval_shape(lambda: ToMnet(config, key=jax.random.key(0), domain=domain))


def save_observer(path: Path, observer: ToMnet, about: dict[str, Any], dtype=np.float32) -> None:
    """Weights and architecture, with `about`: what it was trained on, how, for how long."""
    arrays = {name: array.astype(dtype) for name, array in named_arrays(observer).items()}
    header = {"config": plain(observer.config), "about": about}
    save_arrays(path, arrays, header, format=OBSERVER_FORMAT, version=VERSION)


def load_observer(path: Path) -> tuple[ToMnet, dict[str, Any]]:
    """The observer and what it says about itself."""
    arrays, told = load_arrays(path, OBSERVER_FORMAT, VERSION)
    try:
        header: Header = from_json(Header, told)
        missing = next(iter(differences(told["config"], plain(header.config), "config")), None)
        if missing:
            raise Misfit(missing)  # its default need not be what it was
    except TomnetError as why:
        raise BadFile(path, f"its header describes no observer that this tomnet can build: {why}") from None
    return with_arrays(blank_observer(header.config, Domain.of(header.about)), arrays, path), header.about


def save_state(path: Path, state: Any, header: dict) -> None:
    save_arrays(path, named_arrays(state), header, format=STATE_FORMAT, version=VERSION, keep_previous=True)


def load_state(path: Path, template: Any) -> tuple[Any, dict]:
    """The state and its header."""
    arrays, header = load_arrays(path, STATE_FORMAT, VERSION)
    return with_arrays(template, arrays, path), header
