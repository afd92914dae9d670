"""The only list of experiments: the command line, the report, the tests and the docs all walk it."""

from ..support.errors import nearest
from . import (
    agent_embeddings,
    belief_embeddings,
    deep_rl_agents,
    explicit_beliefs,
    false_beliefs,
    false_beliefs_mixed,
    goal_inference,
    goal_snapshots,
    greedy_agents,
    partial_observers,
    random_agents,
    unseen_swaps,
)
from .experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (
        random_agents,
        goal_inference,
        goal_snapshots,
        greedy_agents,
        deep_rl_agents,
        agent_embeddings,
        false_beliefs,
        false_beliefs_mixed,
        unseen_swaps,
        explicit_beliefs,
        belief_embeddings,
        partial_observers,
    )
}


def find(name: str) -> Experiment:
    if name not in EXPERIMENTS:
        raise nearest(name, EXPERIMENTS, "experiment")
    return EXPERIMENTS[name]


def titles() -> dict[str, str]:
    """Every experiment by name, with its title, in the order of the paper; what goes beyond it comes last."""
    return {name: experiment.title for name, experiment in EXPERIMENTS.items()}
