"""Planners of section 3.2 as strangers: how much of what exact inference knows does `tomnet fit` find out by itself?

    python benchmarks/fit_planners.py [--folder DIR] [--agents 200] [--episodes 10] [--fold 0] [--seed 0]

Agents of the goal-inference experiment act in fresh mazes; what they did is written as plain recordings, all that `fit`
is given. On its test agents every fitted observer is then asked beside the exact one, which knows the species, its true
prior and how planners plan: which object is taken, at the start of the same episodes, after the same past ones.

    captured = (L0 − L) / (L0 − L*)

in nats, means over agents of the mean over an agent's episodes: L of the observer, L* of the exact observer after the
same past, L0 of the exact observer without any. Intervals resample agents.
"""

import argparse
import json
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tomnet.support.cpu import prepare_cpu


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--folder", type=Path, help="where recordings and observer go (default: a temporary folder)")
    options.add_argument("--agents", type=int, default=200)
    options.add_argument("--episodes", type=int, default=10)
    options.add_argument("--fold", type=int, default=0)
    options.add_argument("--seed", type=int, default=0)
    asked = options.parse_args()
    prepare_cpu()
    with tempfile.TemporaryDirectory() as temporary:
        table = measure(asked.folder or Path(temporary), asked.agents, asked.episodes, asked.seed, asked.fold)
    print(json.dumps(table, indent=1))


def measure(folder: Path, agents: int, episodes: int, seed: int, fold: int, **how: Any) -> dict[str, Any]:
    from tomnet.fit.dataset import make_dataset
    from tomnet.fit.fitted_observer import NAMES, load_fitted
    from tomnet.fit.run import fit
    from tomnet.fit.scores import say
    from tomnet.fit.split import make_split
    from tomnet.recordings.folder import read_recordings

    exact = write_planners(folder / "episodes", agents, episodes, seed)
    recordings = read_recordings(folder / "episodes")
    start = time.monotonic()
    result = fit(recordings, folder / f"fold-{fold}", seed=seed, fold=fold, resume=True, **how)
    seconds = round(time.monotonic() - start)
    fitted = load_fitted(folder / f"fold-{fold}")
    data = make_dataset(recordings)
    observers = {name: fitted.named(name) for name in NAMES} | {"exact": exact}
    said = say(observers, data, make_split(data.recordings, seed=seed, fold=fold).test)
    return {
        "recommended": fitted.recommended,
        "nats": {
            one.past: {name: round(float(losses(data, one, name).mean()), 3) for name in observers} for one in said
        },
        "captured": {
            one.past: {name: shares(data, said[0], one, name) for name in NAMES} for one in said if one.past > 0
        },
        "recommended captured": shares(data, said[0], said[-1], fitted.recommended),
        "steps": result.training.steps,
        "seconds": seconds,
        "cores": len(os.sched_getaffinity(0)),
    }


def losses(data, said, name: str) -> np.ndarray:
    """Of each test agent, the mean over its episodes."""
    from tomnet.fit.scores import judged

    nats, agent = judged(said.outcomes[name], data.outcome[said.asked.place])[0], data.agent[said.asked.episode]
    return np.array([nats[agent == one].mean() for one in np.unique(agent)])


def shares(data, without_past, after, name: str) -> list[float]:
    """The captured share with its interval."""
    from tomnet.experiments.analysis.statistics import bootstrap, captured

    columns = losses(data, without_past, "exact"), losses(data, after, name), losses(data, after, "exact")
    one = bootstrap(captured, *columns)
    return [round(float(number), 3) for number in (one.mean, *one.interval)]


@dataclass(frozen=True)
class Exact:
    """The ideal observer of goal-inference, asked as those of `fit` are: in its own words, about its own episodes."""

    ideal: Any
    episodes: Any  # one after the other, as the dataset has them

    def outcomes(self, data, asked) -> np.ndarray:
        from tomnet.experiments.analysis.comparison import eats

        eaten = eats(self._predictions(data, asked))
        nothing = np.maximum(1 - eaten.sum(-1, keepdims=True), self.ideal.lapse)
        said = np.concatenate([eaten, nothing], -1)
        return said / said.sum(-1, keepdims=True)

    def actions(self, data, asked) -> np.ndarray:
        return np.exp(np.asarray(self._predictions(data, asked).action))

    def _predictions(self, data, asked):
        import jax.numpy as jnp

        from tomnet.episodes.episode import QueryState
        from tomnet.support.trees import pick

        assert all((each.walls == walls).all() for each, walls in zip(data.recordings, self.episodes.walls))
        past, now = (pick(self.episodes, which) for which in (np.maximum(asked.past, 0), asked.episode))
        weights = self.ideal.posterior(past, jnp.asarray(asked.past >= 0))
        return self.ideal.predict(weights, QueryState(now.walls, now.agent_cells[:, 0], now.object_cells[:, 0]))


def write_planners(folder: Path, agents: int, episodes: int, seed: int) -> Exact:
    """Their recordings in a folder, unless they are there already; and who knows all about them."""
    import equinox as eqx
    import jax
    import jax.numpy as jnp

    from tomnet.episodes.rollout import play
    from tomnet.experiments.goal_inference import SPECIES
    from tomnet.ideal.inverse_planning import InversePlanner
    from tomnet.recordings.folder import write_recordings
    from tomnet.recordings.worlds import to_recording
    from tomnet.world.gridworld import MAZE

    agent_key, episode_key, ideal_key = jax.random.split(jax.random.key(seed), 3)
    acting = eqx.filter_jit(eqx.filter_vmap(lambda key, agent: play(MAZE)(key, agent, episodes)))
    played = acting(jax.random.split(episode_key, agents), SPECIES.sample(agent_key, agents))
    flat = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(-1, *leaf.shape[2:]), played)
    if not folder.exists():
        names = [divmod(number, episodes) for number in range(agents * episodes)]
        one = [jax.tree.map(lambda leaf, number=number: leaf[number], flat) for number in range(len(names))]
        recordings = [to_recording(each, f"planner-{a:04}", f"{e:03}") for each, (a, e) in zip(one, names)]
        write_recordings(recordings, folder, "safetensors")
    return Exact(InversePlanner.for_species(ideal_key, SPECIES, MAZE), jax.tree.map(jnp.asarray, flat))


if __name__ == "__main__":
    main()
