"""What a number depends on besides the code: versions, device, threads, commit."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jax

from .. import __version__


def provenance(devices: int = 1) -> dict[str, Any]:
    """Of work on so many devices."""
    device = jax.devices()[0]
    return {
        "tomnet": __version__,
        "python": platform.python_version(),
        "jax": version("jax"),
        "equinox": version("equinox"),
        "device": device.device_kind if device.platform != "cpu" else f"CPU ({platform.machine()})",
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads(),  # on the CPU, XLA's rounding depends on their number
        "commit": _commit(),
        **({"compiled": "quickly"} if jax.config.read("jax_disable_most_optimizations") else {}),
        **({"devices": devices, "processes": jax.process_count()} if devices > 1 else {}),
    }


def threads() -> int:
    """Of XLA's pool on the CPU: one for each core that the process may use, unless NPROC says otherwise."""
    told = os.environ.get("NPROC", "")
    return int(told) if told.isdecimal() and int(told) else len(os.sched_getaffinity(0))


def _commit() -> str | None:
    if told := os.environ.get("TOMNET_COMMIT"):  # a copied tree has another history, or none
        return f"{told} (told)"
    folder = Path(__file__).parent
    try:
        shown = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty"],
            capture_output=True,
            text=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return shown.stdout.strip() or None
