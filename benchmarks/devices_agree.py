"""Do CPU and GPU agree? The losses of observers on the same encounters, float32, on each device.

    python benchmarks/devices_agree.py                                   # every pretrained observer, 2,000 encounters
    python benchmarks/devices_agree.py --encounters 500 explicit-beliefs/mixed

An observer that is not pretrained is taken as it begins, with random weights: its losses mean nothing, but must agree
all the same. Encounters are drawn once, on the first device. `highest`: with matrix products in full float32;
`default`: as the device multiplies by itself, which on a recent GPU is with fewer digits.
"""

import argparse

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

import equinox as eqx  # noqa: E402
import jax  # noqa: E402

from tomnet import zoo  # noqa: E402
from tomnet.episodes.encounter import Encounter  # noqa: E402
from tomnet.experiments.experiment import PRESETS, ObserverSpec  # noqa: E402
from tomnet.experiments.registry import find  # noqa: E402
from tomnet.experiments.run import find_observer  # noqa: E402
from tomnet.observer.tomnet import ToMnet  # noqa: E402
from tomnet.observer.training import held_out_losses  # noqa: E402
from tomnet.observer.training_step import first_state  # noqa: E402
from tomnet.support.streams import HELD_OUT_STREAM, stream  # noqa: E402

SEED = 7
PRECISIONS = ("highest", "default")


def observer_of(experiment: str, spec: ObserverSpec) -> tuple[ToMnet, str]:
    """The pretrained one, or one that begins; and which."""
    if zoo.observer_file(experiment, spec.name).exists():
        return zoo.load_one(experiment, spec.name), "pretrained"
    return first_state(spec.observer, spec.training, SEED).observer, "random weights"


def losses_on(device: jax.Device, observer: ToMnet, encounters: Encounter, precision: str) -> dict[str, float]:
    arrays, static = eqx.partition((observer, encounters), eqx.is_array)
    observer, encounters = eqx.combine(jax.device_put(arrays, device), static)
    with jax.default_device(device), jax.default_matmul_precision(precision):
        return held_out_losses(observer, encounters)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("observers", nargs="*", help="such as goal-inference/2d (default: every pretrained one)")
    parser.add_argument("--encounters", type=int, default=2_000)
    parser.add_argument("--preset", default="full", choices=PRESETS, help="of those that are not pretrained")
    asked = parser.parse_args()
    devices = list({device.platform: device for device in (jax.devices()[0], jax.devices("cpu")[0])}.values())
    print(", ".join(device.device_kind for device in devices), flush=True)
    if len(devices) == 1:
        print("there is no other device to agree with")
    for name in asked.observers or zoo.names():
        experiment, _, observer_name = name.partition("/")
        spec = find_observer(find(experiment), asked.preset, observer_name)
        observer, which = observer_of(experiment, spec)
        encounters = spec.sampler(held_out=True)(stream(SEED, HELD_OUT_STREAM), asked.encounters).one_by_one()
        for precision in PRECISIONS:
            each = [losses_on(device, observer, encounters, precision) for device in devices]
            apart = max(abs(one - each[-1][head]) for losses in each for head, one in losses.items())
            shown = "  ".join(f"{head} {' / '.join(f'{one[head]:.5f}' for one in each)}" for head in each[0])
            print(f"{name} ({which}), {precision}: at most {apart:.1e} nats apart  {shown}", flush=True)


if __name__ == "__main__":
    main()
