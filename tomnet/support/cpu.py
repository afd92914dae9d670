"""Settings that make JAX fast on the CPU, made before it starts; measured in `docs/performance.md`."""

import ctypes
import hashlib
import os
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from .errors import MissingExtra

# jaxlib 0.10 hands small convolutions to YNNPACK, whose gradients are several times slower than XLA's own.
OWN_CONVOLUTIONS = "--xla_cpu_experimental_ynn_fusion_type=-LIBRARY_FUSION_TYPE_INDIVIDUAL_CONVOLUTION"
UNOPTIMISED = "JAX_DISABLE_MOST_OPTIMIZATIONS"  # in the environment, for programs that are ready sooner and run slower
# glibc's numbers for mallopt
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX, M_ARENA_MAX = -1, -2, -4, -8


def prepare_cpu() -> None:
    """Call once, before the first JAX computation. What the user has set already stays as it is."""
    if os.environ.get("JAX_PLATFORMS", "") in ("", "cpu"):
        _tell_xla(OWN_CONVOLUTIONS)
        _keep_freed_memory()
        if is_set(UNOPTIMISED):
            use_older_emitters()
    _keep_compiled_programs()


def compile_quickly() -> None:
    """For a command that compiles much and computes little: on a CPU, programs that are ready sooner and run slower.
    To be called before JAX has looked for its devices: XLA reads its flags then. What the user has set stays."""
    import jax  # not before `prepare_cpu`

    if UNOPTIMISED not in os.environ and _computes_on_cpu():
        use_older_emitters()
        jax.config.update("jax_disable_most_optimizations", True)


def is_set(name: str) -> bool:
    """Whether the environment says yes, as JAX understands it."""
    return os.environ.get(name, "0").lower() in ("y", "yes", "t", "true", "on", "1")


def use_older_emitters() -> None:
    """What XLA writes machine code with: the older takes half the time, and programs that are not split four fifths."""
    _tell_xla("--xla_cpu_use_fusion_emitters=false", "--xla_cpu_parallel_codegen_split_count=1")


def check_platform() -> None:
    """A GPU that was asked for and that JAX cannot use for want of its plugin; JAX itself answers with an assertion."""
    asked = os.environ.get("JAX_PLATFORMS", "").split(",")[0]
    if asked in ("cuda", "gpu") and not _has_cuda():
        raise MissingExtra("JAX's plugin for CUDA", "cuda")


def _computes_on_cpu() -> bool:
    """As far as can be told without looking for devices: after that no process can join others."""
    asked = os.environ.get("JAX_PLATFORMS", "")
    return asked == "cpu" or (not asked and not _has_cuda())


def _has_cuda() -> bool:
    return any(find_spec(f"jax_cuda{version}_plugin") for version in (12, 13))


def _tell_xla(*flags: str) -> None:
    """XLA aborts the process at a flag that it does not know: only versions known to have these are given them."""
    told = os.environ.get("XLA_FLAGS", "")
    new = [flag for flag in flags if flag.partition("=")[0] not in told]
    if version("jaxlib").startswith("0.10."):
        os.environ["XLA_FLAGS"] = " ".join(filter(None, [told, *new]))


def _keep_freed_memory() -> None:
    """A training step takes and frees hundreds of MB; from the kernel, every page would come zeroed again."""
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library
        return
    mallopt(M_MMAP_MAX, 0)
    mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
    mallopt(M_TOP_PAD, 64 * 2**20)
    mallopt(M_ARENA_MAX, 1)


def _keep_compiled_programs() -> None:
    try:
        folder = cache_folder() / "jax" / _processor()
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # a read-only home, or none: everything works, only no faster next time
        return
    if os.access(folder, os.W_OK):
        os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(folder))
        # of any size: setting up an observer compiles a hundred small programs, several seconds together
        os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def cache_folder() -> Path:
    return Path(os.environ.get("TOMNET_CACHE") or Path.home() / ".cache" / "tomnet")


def _processor() -> str:
    """Machines that share a home folder may have different processors, and each its own machine code."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return "any"
    flags = next((line for line in lines if line.startswith(("flags", "Features"))), "")
    return hashlib.sha256(flags.encode()).hexdigest()[:12]
