"""What a mesh does without several devices: nothing; and what is wrong with one, in a line."""

import re
import shlex
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from faults.victims import OBSERVER, sample
from mesh.worker import EIGHT_AGENTS, EIGHT_NETWORKS

import tomnet
from tomnet.agents.population_training import train_population
from tomnet.cli.arguments import DeviceArguments
from tomnet.cli.main import main, parse
from tomnet.cli.overseer import JOINED, relayed
from tomnet.observer.training import train
from tomnet.support import mesh as mesh_module
from tomnet.support.errors import TomnetError
from tomnet.support.mesh import check_divides, in_memory, mesh_of, over, spread
from tomnet.support.processes import anyone, by_the_first, check_place


def test_one_device_needs_no_mesh():
    assert mesh_of(1) is None
    assert mesh_of(None) is None
    with over(None):
        array = jnp.arange(3)
        assert spread(array) is array


def test_more_devices_than_there_are():
    with pytest.raises(TomnetError, match="devices = 64: must lie between 1 and 1, which is what JAX finds here"):
        mesh_of(64)


@pytest.fixture
def three(monkeypatch):
    """As if there were three."""
    monkeypatch.setattr(mesh_module, "size_of", lambda mesh: 3)


def test_a_mesh_must_divide_the_work(three, tmp_path):
    check_divides(None, 144, "the networks of a chunk")
    with pytest.raises(TomnetError, match="devices = 3: must divide 8, the networks of a chunk"):
        train_population(EIGHT_NETWORKS, tmp_path / "agents", seed=0, about={})
    with pytest.raises(TomnetError, match="devices = 3: must divide 16, the agents of a batch"):
        train(OBSERVER, EIGHT_AGENTS, sample, tmp_path / "observer", seed=0, about={})
    assert not list(tmp_path.iterdir())


def test_a_device_without_memory_is_named_with_what_to_lower():
    said = "out of memory on cpu with batch = 8; less is more"
    with pytest.raises(TomnetError, match=said), in_memory("batch", 8, "less is more"):
        jax.block_until_ready(jax.jit(lambda: jnp.ones((2**23, 2**23)))())


def test_other_failures_are_not_taken_for_want_of_memory():
    with pytest.raises(ZeroDivisionError), in_memory("batch", 8, "less is more"):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (("10.0.0.1:1234", None, None), "--processes and --process must be told too"),
        ((None, 2, 0), "--coordinator must be told too"),
        (("10.0.0.1", 2, 0), "coordinator = 10.0.0.1: must be a host and a port"),
        (("10.0.0.1:99999", 2, 0), "must be a host and a port"),
        (("10.0.0.1:1234", 0, 0), "processes = 0: must be above 0"),
        (("10.0.0.1:1234", 2, 2), "process = 2: must lie between 0 and 1"),
    ],
)
def test_a_place_among_processes_that_cannot_be(place, why):
    with pytest.raises(TomnetError, match=why):
        check_place(*place)


def test_a_place_that_can_be():
    check_place("host-0.tomnet:1234", 2, 1)
    check_place(None, None, None)


@pytest.mark.parametrize("command", [("run", "goal-inference"), ("agents", "train")], ids=" ".join)
def test_devices_that_are_not_there_are_refused_before_the_work(command, tmp_path, capfd):
    assert main([*command, "--preset", "smoke", "--out", str(tmp_path / "run"), "--devices", "9"]) == 2
    assert capfd.readouterr().err == ("tomnet: devices = 9: must lie between 1 and 1, which is what JAX finds here\n")
    assert not list(tmp_path.iterdir())


def test_a_process_alone_decides_for_itself():
    assert anyone(True)
    assert not anyone(False)
    assert by_the_first(lambda: 3) == 3
    with pytest.raises(KeyError, match="mine"):
        by_the_first(lambda: {}["mine"])


def test_the_last_words_of_an_abort_are_not_passed_on(capsys):
    said = [f"{JOINED} by 1 other process\n", "goal-inference/2d: 20/400\n"]
    words = ["E1116 1 coordination_service.cc:1] UNAVAILABLE\n", "*** Check failure stack trace: ***\n", "    @ 0x7f\n"]
    assert relayed([*said, *words])
    assert capsys.readouterr().err == "".join(said)
    assert not relayed(["tomnet: unknown preset\n"])


# --- docs/scaling.md

PAGE = (Path(tomnet.__file__).parents[1] / "docs" / "scaling.md").read_text()
(SLURM,) = re.findall(r"```bash\n(.*?)```", PAGE, re.S)
(KUBERNETES,) = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)


def scripts() -> dict[str, str]:
    yaml = pytest.importorskip("yaml")
    service, job = yaml.safe_load_all(KUBERNETES)
    pod = job["spec"]["template"]["spec"]
    assert pod["subdomain"] == service["metadata"]["name"]
    assert f"{job['metadata']['name']}-0.{pod['subdomain']}:" in KUBERNETES  # where process 0 listens
    assert job["spec"]["completions"] == job["spec"]["parallelism"] == 2
    return {"Slurm": SLURM, "Kubernetes": pod["containers"][0]["command"][-1]}


@pytest.mark.parametrize("resume", ["", "--resume"])
@pytest.mark.parametrize("cluster", ["Slurm", "Kubernetes"])
def test_the_scripts_for_clusters_are_shell_and_give_tomnet_options_that_it_has(cluster, resume):
    script = scripts()[cluster]
    subprocess.run(["bash", "-n"], input=script, text=True, check=True)
    (line,) = [line for line in script.splitlines() if re.search(r"\btomnet (run|agents)", line)]
    values = {'"$folder"': "runs/some", '"$JOB_COMPLETION_INDEX"': "1", "$resume": resume}
    for name, value in values.items():
        line = line.replace(name, value)
    command = parse(shlex.split(line[line.index("tomnet ") :])[1:])
    assert isinstance(command, DeviceArguments)
    assert command.together
    assert command.resume == bool(resume)
    check_place(command.coordinator, command.processes, command.process)
