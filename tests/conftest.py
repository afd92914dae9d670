"""Set up before any test imports tomnet: types checked at run time, compiled programs kept between runs."""

import gc
import os
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Tests compile much and compute little. With 0 here all programs are optimised, and take longer the first time.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
# Most of a test's time is compilation, and most programs are the same as last time.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

import jax
import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

# Collecting and tracing make millions of objects that stay: Python need not look through them all so often.
gc.set_threshold(20_000, 10, 10)

# Every shape written in a signature is checked whenever a test calls the function.
install_import_hook("tomnet", "beartype.beartype")

from tomnet.support.cpu import UNOPTIMISED, is_set, use_older_emitters  # noqa: E402, no module of ours before the hook

if is_set(UNOPTIMISED):
    use_older_emitters()

# The first example compiles, so a deadline would fail it; a busy machine is slow to draw examples, and that is no fault
# of theirs. A fixed seed shows everyone the same failures.
settings.register_profile("tomnet", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tomnet")


# Folders whose files need the same programs, a server or runs to compare with: one worker takes all of a folder.
TOGETHER = ("explorer", "faults")

# Files that take long, begun first: a worker that began one last would be at it alone when all others are done.
SLOW = (
    "cli/test_reproduce.py",  # with --slow
    "explorer/test_page_for_everyone.py",
    "faults/test_disks.py",
    "experiments/test_ceiling.py",
    "experiments/test_minds_end_to_end.py",
    "explorer/test_page.py",
    "experiments/test_minds.py",
    "faults/test_signals.py",
    "faults/test_kills.py",
    "mesh/test_devices.py",
    "explorer/test_sally.py",
    "explorer/test_export.py",
    "experiments/test_deep_rl_agents.py",
    "experiments/test_partial_observers.py",
    "explorer/test_page_benchmark.py",
    "report/test_page.py",
    "explorer/test_prediction.py",
    "test_docs.py",
)


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="the slow tests too, which rarely tell more")


def pytest_collection_modifyitems(config, items):
    if not (config.getoption("--slow") or config.getoption("--torture", default=False)):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
    places = {Path(__file__).parent / name: place for place, name in enumerate(SLOW)}
    items.sort(key=lambda item: places.get(item.path, len(places)))


@pytest.hookimpl(optionalhook=True)  # without pytest-xdist nobody asks
def pytest_xdist_auto_num_workers():
    """One more than there are cores: a test that waits for a process or a browser leaves its core idle."""
    told = os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS")
    return int(told) if told else len(os.sched_getaffinity(0)) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrFolder(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            folder = next((part for part in Path(file).parts if part in TOGETHER), None)
            return folder or file

    return ByFileOrFolder(config, log)


MAPS = Path("/proc/self/maps")


@pytest.fixture(scope="module", autouse=True)
def room_for_programs():
    """Every compiled program maps some memory, and a process may have 65,530 maps: beyond that it crashes."""
    yield
    if MAPS.exists() and MAPS.read_bytes().count(b"\n") > 30_000:
        jax.clear_caches()
