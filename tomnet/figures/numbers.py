"""The numbers behind the figures as small tables, for those who would rather read than look."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from ..experiments.experiment import Result
from .deep_rl_agents import HEAD_NAMES
from .goal_inference import HEADS, captured
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
    tables = result.tables
    found = []
    if "bayes_divergence" in tables:
        found.append(_divergences(tables["bayes_divergence"]))
    specs = [(name.replace("d", "-D"), tables[name]) for name in ("2d", "8d") if name in tables]
    if specs:
        found.append(_losses("by size of the embedding", specs))
    for name in ("comparison", "curve"):
        rows = [row for row in tables.get(name, ()) if "heads" in row and row["past"] in SHOWN_PAST]
        if rows:
            titled = [(f"N_past = {row['past']}", row["heads"]) for row in rows]
            found.append(_losses("by number of past episodes", titled))
    if "cuts" in tables and "floor" in tables:
        found += _table_a1(tables)
    return found


def _losses(by: str, named: Iterable[tuple[str, dict[str, dict[str, Any]]]]) -> NumberTable:
    losses = {"network": "ToMnet", "ideal": "ideal", "no_past": "no past"}
    accuracies = {"network_accuracy": "accuracy", "ideal_accuracy": "ideal accuracy"}
    columns = ("observer, prediction", *losses.values(), "captured", "goal", *accuracies.values())
    rows = []
    for name, heads in named:
        for head, row in heads.items():
            measured = [*(plain(row[who]) for who in losses), captured(row), percent(row["goal"])]
            rows.append(
                (
                    f"{name}, {HEADS.get(head, head)}",
                    *measured,
                    *(percent_between(row.get(who), row.get(f"{who}_interval")) for who in accuracies),
                )
            )
    title = f"Losses in nats, captured share and accuracy [95% interval], {by}. {ON_GOALS} {ON_ACCURACY}"
    return NumberTable(title, columns, tuple(rows))


def _divergences(divergence: list[dict[str, Any]]) -> NumberTable:
    """One line for each observer, one column for each number of past episodes."""
    counts = sorted({row["past"] for row in divergence})
    kl = {(row["observer"], row["past"]): plain(row["kl"], 4) for row in divergence}
    specs = dict.fromkeys(row["observer"] for row in divergence)
    named = {spec: "mixture" if spec == "mixture" else f"α = {alpha_of(spec)}" for spec in specs}
    rows = tuple((named[spec], *(kl.get((spec, past), NOTHING) for past in counts)) for spec in specs)
    columns = ("species", *(f"N_past = {past}" for past in counts))
    return NumberTable("KL from exact Bayesian inference to ToMnet, in nats", columns, rows)


SHUFFLED = {
    (): "",
    ("character",): " + shuffled e_char",
    ("mental",): " + shuffled e_mental",
    ("character", "mental"): " + shuffled both",
}
OBSERVERS = {"none": "none", "char": "char net", "mental": "mental net", "both": "both"}


def _table_a1(tables: dict[str, Any]) -> list[NumberTable]:
    """Table A1, prediction by prediction: ours and the paper's, on agents met in training and on held-out ones."""
    columns = ("observer", "training agents [95%]", "paper", "held-out agents [95%]", "paper")
    found = []
    for head, title in HEAD_NAMES.items():
        by_row: dict[tuple[str, ...], dict[str, dict[str, Any]]] = {}
        for row in tables["losses"]:
            if row["head"] == head:
                by_row.setdefault((row["observer"], *row["shuffled"]), {})[row["part"]] = row
        rows = []
        for (observer, *shuffled), parts in by_row.items():
            cells = [cell for part in ("training", "held out") for cell in _beside_paper(parts.get(part))]
            rows.append((OBSERVERS.get(observer, observer) + SHUFFLED[tuple(shuffled)], *cells))
        floor, policy = tables["floor"], tables["floor"]["policy"]
        known = {f"rollouts of the agent itself, {floor['encounters']} encounters": floor["heads"][head]}
        if head == "action":
            known["the agent's own policy, the same encounters"] = {"floor": policy["loss"], **policy}
        for name, row in known.items():
            loss = _with_interval(row["floor"], row["interval"])
            rows.append((name, NOTHING, NOTHING, loss, NOTHING))
        found.append(NumberTable(f"Table A1: losses in nats, {title}", columns, tuple(rows)))
    return found


def _beside_paper(row: dict[str, Any] | None) -> tuple[str, str]:
    if row is None:
        return NOTHING, NOTHING
    return _with_interval(row["loss"], row["interval"]), plain(row["paper"], 2)


def _with_interval(value: Any, interval: Any) -> str:
    low, high = interval or (None, None)
    return f"{plain(value)} [{plain(low, 2)}, {plain(high, 2)}]"
