"""Eight virtual devices in one process by default; with --mesh also several processes, and lost ones."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import tomnet

ROOT = Path(tomnet.__file__).parents[1]


def pytest_addoption(parser):
    parser.addoption("--mesh", action="store_true", help="several processes too: ten minutes on two cores")


def environment(devices: int) -> dict[str, str]:
    """Of a process that finds so many devices."""
    others = [flag for flag in os.environ.get("XLA_FLAGS", "").split() if "device_count" not in flag]
    flags = " ".join([*others, f"--xla_force_host_platform_device_count={devices}"])
    return os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]), "XLA_FLAGS": flags}


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


@pytest.fixture(scope="session")
def several(request):
    """For tests that take several processes, and so minutes."""
    if not request.config.getoption("--mesh", default=False):
        pytest.skip("several processes take minutes: make mesh")


@pytest.fixture(scope="session")
def work():
    """`work(jobs)`: done by `mesh.worker` in a process with eight devices, or by several with as many together."""

    def do(jobs: list[tuple], processes: int = 1) -> list[str]:
        address = free_address()

        def command(process: int) -> list[str]:
            place = [address, processes, process] if processes > 1 else []
            return [sys.executable, "-m", "mesh.worker", json.dumps({"jobs": jobs, "place": place})]

        env = environment(8 // processes)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        workers = [subprocess.Popen(command(i), text=True, env=env, **pipes) for i in range(processes)]
        said = [worker.communicate(timeout=3000) for worker in workers]
        assert [worker.returncode for worker in workers] == [0] * processes, "\n".join(err for _, err in said)
        return [out for out, _ in said]

    return do
