"""Training speed, side by side with the same observer written plainly in PyTorch, in one run.

    python benchmarks/torch_twin.py        # needs the extra: pip install 'tomnet[bench]'

The twin does what one would write first: the batch is padded, and every step of every past episode, real or not,
goes through the resnet. tomnet packs the real frames. Both take a step of Adam on the same encounters; the planes
that PyTorch reads are made beforehand, tomnet's inside its step. The two take turns, so that whatever else the
machine does falls on both. On a busy machine, pin it to one core (`taskset -c 0 …`): it then also compares the
processor time of the two, which other work does not lengthen.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

import equinox as eqx  # noqa: E402
import jax  # noqa: E402
import numpy as np  # noqa: E402

from tomnet.cli.bench import seconds_of  # noqa: E402
from tomnet.episodes.encounter import Encounter  # noqa: E402
from tomnet.episodes.episode import ACTION_COUNT, Snapshot  # noqa: E402
from tomnet.experiments.registry import find  # noqa: E402
from tomnet.observer.config import ObserverConfig  # noqa: E402
from tomnet.observer.frames import Capacity, channels, frame_count, pair_planes, rounded_up, state_planes  # noqa: E402
from tomnet.observer.training_step import first_state, one_step  # noqa: E402
from tomnet.support.errors import needs_extra  # noqa: E402
from tomnet.support.provenance import provenance  # noqa: E402

with needs_extra("bench"):
    import torch
    import torch.nn.functional as F
    from torch import nn

GAMMAS = 3
WARM_UP = 3  # steps that compile and settle


# --- The twin


class ResNet(nn.Module):
    def __init__(self, channels_in: int, width: int, depth: int):
        super().__init__()
        widths = [channels_in] + [width] * (depth - 1)
        self.convolutions = nn.ModuleList(nn.Conv2d(w, width, 3, padding=1, bias=False) for w in widths)
        self.norms = nn.ModuleList(nn.BatchNorm2d(width) for _ in widths)

    def forward(self, frames):
        layers = [nn.Sequential(*pair) for pair in zip(self.convolutions, self.norms)]
        features = F.relu(layers[0](frames))
        for first, second in zip(layers[1::2], layers[2::2]):
            features = F.relu(features + second(F.relu(first(features))))
        return features


class Pool(nn.Module):
    """The mean over the map, and with "agent" the features at the agent's own cell beside it."""

    def __init__(self, width: int, read_out: str):
        super().__init__()
        self.at_agent = read_out == "agent"
        self.width = 2 * width if self.at_agent else width

    def forward(self, features, agent_cell):
        mean = features.mean((2, 3))
        if not self.at_agent:
            return mean
        here = features.flatten(2).gather(2, agent_cell[:, None, None].expand(-1, features.shape[1], 1))
        return torch.cat([mean, here[..., 0]], 1)


class CharacterNet(nn.Module):
    def __init__(self, planes: int, config: ObserverConfig):
        super().__init__()
        width = config.character_channels
        self.resnet = ResNet(planes, width, config.character_depth)
        self.pool = Pool(width, config.character_read_out)
        self.lstm = nn.LSTM(self.pool.width, 2 * width, batch_first=True)
        self.dense = nn.Linear(2 * width, config.embedding)

    def forward(self, past, cells, length, real):
        agents, episodes, steps = past.shape[:3]
        features = self.pool(self.resnet(past.flatten(0, 2)), cells.flatten())
        hidden, _ = self.lstm(features.view(agents * episodes, steps, -1))
        last = hidden[torch.arange(agents * episodes), length.flatten() - 1]
        return (self.dense(last).view(agents, episodes, -1) * real[..., None]).sum(1)


class PooledHead(nn.Module):
    def __init__(self, width: int, outputs: int, read_out: str):
        super().__init__()
        self.convolution = nn.Conv2d(width, width, 3, padding=1)
        self.pool = Pool(width, read_out)
        self.dense = nn.Linear(self.pool.width, outputs)

    def forward(self, features, agent_cell):
        return self.dense(self.pool(F.relu(self.convolution(features)), agent_cell))


class Twin(nn.Module):
    def __init__(self, config: ObserverConfig):
        super().__init__()
        planes, width = channels(config.objects), config.channels
        self.character_net = CharacterNet(planes + ACTION_COUNT, config)
        self.torso = ResNet(planes + config.embedding, width, config.torso_depth)
        self.action = PooledHead(width, ACTION_COUNT, config.read_out)
        self.consumption = PooledHead(width, config.objects, config.read_out)
        self.successor = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, GAMMAS, 3, padding=1)
        )

    def forward(self, past, past_cells, length, past_real, query, agent_cell):
        character = self.character_net(past, past_cells, length, past_real)
        tiled = character[:, :, None, None].expand(-1, -1, *query.shape[2:])
        features = self.torso(torch.cat([query, tiled], 1))
        return (
            self.action(features, agent_cell),
            self.consumption(features, agent_cell),
            self.successor(features).flatten(2),
        )


def loss_of(predictions, targets):
    action, consumption, successor = predictions
    eaten = F.binary_cross_entropy_with_logits(consumption, targets["consumption"], reduction="none").sum(1)
    occupied = -(targets["successor"] * F.log_softmax(successor, -1)).sum((1, 2))
    return F.cross_entropy(action, targets["action"]) + eaten.mean() + occupied.mean()


def torch_batch(encounters: Encounter) -> tuple[tuple, dict]:
    """The same encounters as padded tensors, channels first as PyTorch has them."""
    past, query = encounters.past, encounters.query

    def planes_of(episode):
        pairs = jax.vmap(lambda cell, objects, action: Snapshot(episode.walls, cell, objects, action))
        return jax.vmap(pair_planes)(pairs(episode.agent_cells, episode.object_cells, episode.actions))

    def tensor(array, dtype=np.float32):
        return torch.from_numpy(np.array(array, dtype))

    frames = tensor(jax.jit(jax.vmap(jax.vmap(planes_of)))(past)).movedim(-1, 3).contiguous()
    states = tensor(jax.vmap(state_planes)(query)).movedim(-1, 1).contiguous()
    cells, lengths = tensor(past.agent_cells, np.int64), tensor(past.length, np.int64)
    inputs = frames, cells, lengths, tensor(encounters.past_real), states, tensor(query.agent_cell, np.int64)
    targets = {
        "action": tensor(encounters.targets.action, np.int64),
        "consumption": tensor(encounters.targets.consumption),
        "successor": tensor(encounters.targets.successor).flatten(2),
    }
    return inputs, targets


def torch_step(config: ObserverConfig, encounters: Encounter, channels_last: bool) -> Callable[[], float]:
    twin = Twin(config)
    if channels_last:
        twin = twin.to(memory_format=torch.channels_last)
    inputs, targets = torch_batch(encounters)
    adam = torch.optim.Adam(twin.parameters(), lr=1e-3)

    def step() -> float:
        adam.zero_grad(set_to_none=True)
        loss = loss_of(twin(*inputs), targets)
        loss.backward()
        nn.utils.clip_grad_norm_(twin.parameters(), 1.0)
        adam.step()
        return loss.item()

    return step


# --- Side by side


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", default="goal-inference", choices=("goal-inference", "greedy-agents"))
    parser.add_argument("--preset", default="laptop", choices=("smoke", "laptop", "full"))
    parser.add_argument("--batch", type=int, help="encounters in a step (the preset's by default)")
    parser.add_argument("--repeats", type=int, default=20)
    args = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(len(os.sched_getaffinity(0)))
    spec = find(args.experiment).specs(args.preset)[0]
    batch = args.batch or spec.training.batch
    encounters = eqx.filter_jit(spec.sample)(jax.random.key(0), batch)
    real = int(frame_count(encounters.past, encounters.past_real).sum())
    padded, capacity = encounters.past.actions.size, rounded_up(real)
    state = first_state(spec.observer, spec.training, seed=0)
    steps = {
        "PyTorch": torch_step(spec.observer, encounters, channels_last=False),
        "PyTorch, channels last": torch_step(spec.observer, encounters, channels_last=True),
        "tomnet": lambda: one_step(jax.random.key(0), state, encounters, spec.training, Capacity(capacity)),
    }
    wall: dict[str, list[float]] = {name: [] for name in steps}
    processor: dict[str, list[float]] = {name: [] for name in steps}
    for repeat in range(args.repeats + WARM_UP):
        for name, step in steps.items():
            began = time.process_time()
            seconds = seconds_of(step)
            if repeat >= WARM_UP:
                wall[name].append(seconds)
                processor[name].append(time.process_time() - began)
    print(f"{args.experiment}, {args.preset}: {batch} encounters of {padded // batch} padded frames")
    print(f"{real} of {padded} frames are real; tomnet computes {capacity}, so {1 - capacity / padded:.0%} is skipped")
    print_speeds("median", {name: statistics.median(each) for name, each in wall.items()}, batch, padded)
    print_speeds("fastest", {name: min(each) for name, each in wall.items()}, batch, padded)
    if torch.get_num_threads() == 1:  # with several, waiting for one another counts as work
        print_speeds("CPU time", {name: statistics.median(each) for name, each in processor.items()}, batch, padded)
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    print(", ".join(f"{name} {value}" for name, value in provenance().items()))


def print_speeds(what: str, seconds: dict[str, float], batch: int, padded: int) -> None:
    twin = min(each for name, each in seconds.items() if name != "tomnet")  # PyTorch at its best
    for name, each in seconds.items():
        print(
            f"{what:8} {name:23} {1000 * each:7.1f} ms/step {batch / each:8,.0f} encounters/s "
            f"{padded / each:9,.0f} padded frames/s {twin / each:5.2f}×"
        )


if __name__ == "__main__":
    main()
