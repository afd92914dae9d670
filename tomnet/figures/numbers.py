"""The numbers behind the figures as small tables, for those who would rather read than look."""

import dataclasses

from ..experiments import (
    agent_embeddings,
    deep_rl_agents,
    goal_inference,
    goal_snapshots,
    greedy_agents,
    partial_observers,
    random_agents,
)
from ..experiments.analysis.comparison import Comparison
from ..experiments.analysis.random_policies import BayesDivergence
from ..experiments.analysis.statistics import Estimate
from ..experiments.analysis.table_a1 import SUMMED, LossRow
from ..experiments.experiment import Result
from .deep_rl_agents import HEAD_NAMES
from .goal_inference import HEAD_TITLES, dimensions
from .partial_observers import KINDS
from .random_agents import alpha_of
from .style import NOTHING, percent, percent_between, plain

# Next actions of greedy agents after one trajectory, measured on a CPU. 3,000 agents (seed 7): 62.4% for ToMnet, 62.3%
# for the ideal observer, to whom two actions are equally good for 40% of them. 500 agents (seed 1): 70.2% and 67.2%, a
# difference of −1 … 7 points.
ON_ACCURACY = (
    "An accuracy counts how often the likeliest action or object is the one that came. Where two actions are equally "
    "good an agent chooses by chance, so that ToMnet may come out above the ideal observer; the losses tell them apart."
)
ON_GOALS = "Goals are those of G1 (one trajectory) and of G2 (ten snapshots); no claim is decided by the other rows."
SHOWN_PAST = (1, 5, 10)  # every N_past would bury the reader; results.json has them all


@dataclasses.dataclass(frozen=True)
class NumberTable:
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]  # the first cell of a row names it


def numbers_for(result: Result) -> list[NumberTable]:
    match result.tables:
        case random_agents.Tables() as tables:
            return [_divergences(tables.bayes_divergence)]
        case goal_inference.Tables() as tables:
            named = {dimensions(name): heads for name, heads in tables.comparison.items()}
            return [_losses("by size of the embedding", named)]
        case goal_snapshots.Tables() | greedy_agents.Tables() as tables:
            return [_losses_by_past({row.past: row.heads for row in tables.curve})]
        case deep_rl_agents.Tables() as tables:
            return [_table_a1(tables, head) for head in HEAD_NAMES]
        case agent_embeddings.Tables() as tables:
            return [_read_outs(tables)]
        case partial_observers.Tables() as tables:
            return _seen_badly(tables)
    return []


def _losses_by_past(comparisons: dict[int, dict[str, Comparison]]) -> NumberTable:
    shown = {f"N_past = {past}": heads for past, heads in comparisons.items() if past in SHOWN_PAST}
    return _losses("by number of past episodes", shown)


def _losses(by: str, named: dict[str, dict[str, Comparison]]) -> NumberTable:
    columns = (
        *("observer, prediction", "ToMnet", "ideal", "no past", "captured", "goal"),
        *("accuracy", "ideal accuracy", "no-past accuracy"),
    )
    shown = [(name, head, row) for name, heads in named.items() for head, row in heads.items()]
    rows = [(f"{name}, {HEAD_TITLES[head]}", *_measured(row)) for name, head, row in shown]
    title = f"Losses in nats, captured share and accuracy [95% interval], {by}. {ON_GOALS} {ON_ACCURACY}"
    return NumberTable(title, columns, tuple(rows))


def _measured(row: Comparison) -> tuple[str, ...]:
    losses = (plain(row.observer.mean), plain(row.ideal), plain(row.no_past))
    accuracies = (row.observer_accuracy, row.ideal_accuracy, row.no_past_accuracy)
    told = (percent_between(each) if each else NOTHING for each in accuracies)
    return (*losses, percent_between(row.captured), percent(row.goal), *told)


def _divergences(divergence: list[BayesDivergence]) -> NumberTable:
    """One line for each observer, one column for each number of past episodes."""
    counts = sorted({row.past for row in divergence})
    kl = {(row.observer, row.past): plain(row.kl.mean, 4) for row in divergence}
    observers = dict.fromkeys(row.observer for row in divergence)
    named = {name: "mixture" if name == "mixture" else f"α = {alpha_of(name)}" for name in observers}
    rows = tuple((named[name], *(kl.get((name, past), NOTHING) for past in counts)) for name in observers)
    columns = ("species", *(f"N_past = {past}" for past in counts))
    return NumberTable("KL from exact Bayesian inference to ToMnet, in nats", columns, rows)


def _seen_badly(tables: partial_observers.Tables) -> list[NumberTable]:
    """One line for each way of seeing; two tables, because a terminal of 80 columns holds no more."""
    named = {"all in sight": tables.all_seen}
    named |= {KINDS[kind].row.format(f"{severity:g}"): scores for (kind, severity), scores in tables.each().items()}
    columns = ("what is seen of the past", "ToMnet", "ideal observer")
    losses = {
        name: (_with_interval(each.observer.loss), _with_interval(each.ideal.loss)) for name, each in named.items()
    }
    hits = {
        name: tuple(percent_between(score.accuracy) for score in (each.observer, each.ideal))
        for name, each in named.items()
    }
    return [
        NumberTable(f"The object taken: {what} [95% interval]", columns, tuple((n, *row) for n, row in rows.items()))
        for what, rows in (("loss in nats", losses), ("accuracy", hits))
    ]


SHUFFLED = {
    (): "",
    ("character",): " + shuffled e_char",
    ("mental",): " + shuffled e_mental",
    ("character", "mental"): " + shuffled both",
}
PARTS_SHOWN = ("training agents", "held-out agents")
LIKE_MEANS = "The paper writes its losses as sums; the figures of its table look like means"
ON_MEANS = {
    "action": "",
    "consumption": f": summed over {SUMMED['consumption']} objects, and their mean. {LIKE_MEANS}.",
    "successor": f": summed over {SUMMED['successor']} discounts, and their mean. {LIKE_MEANS}.",
}
OBSERVERS = {"none": "none", "char": "char net", "mental": "mental net", "both": "both"}


def _table_a1(tables: deep_rl_agents.Tables, head: str) -> NumberTable:
    """Table A1, one prediction: ours and the paper's, on agents met in training and on held-out ones."""
    in_means = SUMMED[head] > 1
    ours = ("sum [95%]", "mean") if in_means else ("[95%]",)
    columns = ("observer", *(f"{part}, {what}" for part in PARTS_SHOWN for what in (*ours, "paper")))
    losses = {(row.observer, row.shuffled, row.part): row for row in tables.losses if row.head == head}
    rows = []
    for observer, shuffled in dict.fromkeys((observer, shuffled) for observer, shuffled, _ in losses):
        parts = [losses.get((observer, shuffled, part)) for part in ("training", "held out")]
        cells = [cell for row in parts for cell in _beside_paper(row, in_means)]
        rows.append((OBSERVERS[observer] + SHUFFLED[shuffled], *cells))
    floor = tables.floor
    known = {f"rollouts of the agent itself, {floor.encounters} encounters": floor.heads[head].floor}
    if head == "action":
        known["the agent's own policy, the same encounters"] = floor.policy
    for name, loss in known.items():
        mean = (plain(loss.mean / SUMMED[head]),) if in_means else ()
        rows.append((name, *(NOTHING,) * (2 + in_means), _with_interval(loss), *mean, NOTHING))
    return NumberTable(f"Table A1: losses in nats, {HEAD_NAMES[head]}{ON_MEANS[head]}", columns, tuple(rows))


def _read_outs(tables: agent_embeddings.Tables) -> NumberTable:
    """What the dimensions that carry a factor tell of it, beside what all of them do."""
    rows = []
    for factor, told in tables.read_outs.items():
        pairs = {"all": (told.all_neighbours, told.all_linear), "its own": (told.own_neighbours, told.own_linear)}
        for name, (neighbours, linear) in pairs.items():
            accuracies = (percent_between(each.accuracy) for each in (neighbours, linear))
            rows.append((f"{factor}, {name} ({len(neighbours.dimensions)})", *accuracies, percent(told.chance)))
    columns = ("told, from which dimensions", "nearest neighbours", "linear read-out", "chance")
    return NumberTable("Accuracy of species and preferred object [95% interval]", columns, tuple(rows))


def _beside_paper(row: LossRow | None, in_means: bool) -> tuple[str, ...]:
    if row is None:
        return (NOTHING,) * (2 + in_means)
    mean = (plain(row.mean_loss.mean),) if in_means else ()
    return (_with_interval(row.loss), *mean, plain(row.paper, 2))


def _with_interval(loss: Estimate) -> str:
    return f"{plain(loss.mean)} [{plain(loss.low, 2)}, {plain(loss.high, 2)}]"
