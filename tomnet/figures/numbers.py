"""The numbers behind the figures as small tables, for those who would rather read than look."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from ..experiments.experiment import Result
from .goal_inference import HEADS, captured
from .random_agents import alpha_of
from .style import NOTHING, percent, plain

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
    members = [(name.replace("d", "-D"), tables[name]) for name in ("2d", "8d") if name in tables]
    if members:
        found.append(_losses("Losses in nats and captured share [95% interval], by size of the embedding", members))
    for name in ("comparison", "curve"):
        rows = [row for row in tables.get(name, ()) if "heads" in row and row["past"] in SHOWN_PAST]
        if rows:
            titled = [(f"N_past = {row['past']}", row["heads"]) for row in rows]
            found.append(
                _losses("Losses in nats and captured share [95% interval], by number of past episodes", titled)
            )
    return found


def _losses(title: str, named: Iterable[tuple[str, dict[str, dict[str, Any]]]]) -> NumberTable:
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
                    *(percent(row.get(who)) for who in accuracies),
                )
            )
    return NumberTable(title, columns, tuple(rows))


def _divergences(divergence: list[dict[str, Any]]) -> NumberTable:
    """One line for each observer, one column for each number of past episodes."""
    counts = sorted({row["past"] for row in divergence})
    kl = {(row["member"], row["past"]): plain(row["kl"], 4) for row in divergence}
    members = dict.fromkeys(row["member"] for row in divergence)
    named = {member: "mixture" if member == "mixture" else f"α = {alpha_of(member)}" for member in members}
    rows = tuple((named[member], *(kl.get((member, past), NOTHING) for past in counts)) for member in members)
    columns = ("species", *(f"N_past = {past}" for past in counts))
    return NumberTable("KL from exact Bayesian inference to ToMnet, in nats", columns, rows)
