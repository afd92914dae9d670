"""What the commands print: tables and JSON for whoever asked, remarks on stderr."""

import codecs
import io
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from ..experiments.analysis.ceiling import CeilingRow
    from ..experiments.ceiling import Ceiling
    from ..experiments.claims.claim import Claim
    from ..experiments.experiment import Result

PIPE_WIDTH = 200  # in a pipe there is no edge to wrap at
PLAIN = {"×": "x", "–": "-", "−": "-", "≤": "<=", "≥": ">=", "“": '"', "”": '"', "‖": "||", "─": "-", "│": "|"}
"""For terminals without Unicode; what is not here loses its accents, or becomes a question mark."""


def degrade_gracefully() -> None:
    """Characters that a terminal cannot show are replaced by plainer ones: a result is worth more than its dashes."""
    codecs.register_error("plain", _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="plain")


def _plain(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    return "".join(map(_plainer, error.object[error.start : error.end])), error.end


def _plainer(char: str) -> str:
    return PLAIN.get(char) or unicodedata.normalize("NFKD", char).encode("ascii", "ignore").decode() or "?"


def say(line: str) -> None:
    """To people, not to scripts."""
    print(line, file=sys.stderr, flush=True)


def print_json(value: dict[str, Any]) -> None:
    from ..support.files import json_text  # numpy is not needed for help

    print(json_text(value))


class Page(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # `main` knows what to do; rich would leave at once


def print_table(columns: tuple[str, ...], rows: list[tuple], title: str | None = None) -> None:
    console = Page()
    if not console.is_terminal:
        console = Page(width=PIPE_WIDTH)
    table = Table(*columns, title=title, title_justify="left", box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.columns[0].no_wrap = True  # it holds the name that the next command needs
    for row in rows:
        table.add_row(*map(str, row))
    console.print(table)


def print_claims(result: "Result") -> None:
    rows = []
    for claim in result.claims:
        interval = "–" if claim.interval is None else " … ".join(f"{end:.3f}" for end in claim.interval)
        ideal = "–" if claim.reference is None else f"{claim.reference:.3f}"
        rows.append((claim.id, shown_verdict(claim, result), f"{claim.value:.3f}", interval, ideal, claim.unit))
    agents = result.environment.get("agents", "–")
    title = f"{result.experiment}: {agents} agents, seed {result.seed}"
    print_table(("claim", "verdict", "value", "95% interval", "ideal", "unit"), rows, title)


def shown_verdict(claim: "Claim", result: "Result") -> str:
    """A few steps of training decide nothing about the paper, whatever the numbers happen to be."""
    return "not trained to decide this" if "smoke" in result.preset.split(" and ") else claim.verdict


def print_performance(result: "Result") -> None:
    """What each condition of a population earns, beside the oracle and the random walk."""
    measures = {
        "return": 3,
        "subgoal_first": 3,
        "preferred": 3,
        "preferred_if_reachable": 3,
        "time_out": 3,
        "steps": 1,
    }
    rows = []
    for name, row in result.tables["performance"].items():
        low, high = row["return"]["interval"]
        numbers = [f"{row[measure]['mean']:.{digits}f}" for measure, digits in measures.items()]
        rows.append((name, row["networks"], numbers[0], f"{low:.3f} … {high:.3f}", *numbers[1:]))
    columns = ("condition", "networks", "return", "95% interval", "subgoal first", "preferred", "if reachable")
    title = f"{result.tables['levels']} levels, seed {result.seed}"
    print_table((*columns, "time-outs", "steps"), rows, title)


def print_beliefs_and_swaps(result: "Result") -> None:
    """How good the beliefs of each condition are, and what a swap does to its next action."""

    def mean(part: dict[str, Any] | None, name: str) -> str:
        return _number(None if part is None else part[name]["mean"] if isinstance(part[name], dict) else part[name])

    beliefs, swaps = result.tables["beliefs"], result.tables["swaps"]
    rows = [
        (
            name,
            *(mean(beliefs[name][which], "cross_entropy") for which in ("seen", "unseen")),
            *(mean(swaps[name][where], "policy") for where in ("in_view", "out_of_view")),
        )
        for name in beliefs
    ]
    columns = ("condition", "belief, object seen", "object unseen", "swap in view", "swap out of view")
    print_table(columns, rows, "nats: cross-entropy of beliefs with the truth; D_JS of next actions, swapped or not")


def print_memory(result: "Result") -> None:
    """Whether each condition acts on what it remembers, and whether the past can change what it does at all."""
    acting, past = result.tables["acts_on_memory"], result.tables["depends_on_past"]
    rows = []
    for name, row in acting.items():
        numbers = [text for where in ("beyond_view", "never_there") for text in _measured(row[where])]
        rows.append((name, *numbers, f"{past[name]['largest_change']:.3g}"))
    columns = ("condition", "beyond view", "95% interval", "never there", "95% interval", "change by another past")
    title = "probability of stepping back to where the favourite was last seen, and there where it never was"
    print_table(columns, rows, title)


def print_hands(result: "Result") -> None:
    """Which hand each condition's networks follow walls with."""
    rows = []
    for name, row in result.tables["handedness"].items():
        if "hands" in row:
            counts = [f"{hands['left']} : {hands['right']}" for hands in row["hands"].values()]
            size = {"mean": row["mean_size"], "interval": row["size_interval"]}
            rows.append((name, *_measured(size), *counts))
    columns = ("condition", "size", "95% interval", "left : right, training", "left : right, held out")
    print_table(columns, rows, "handedness at walls: mean size of the index, and networks of each hand")


def print_ceiling(ceiling: "Ceiling") -> None:
    """Every measure of every population, for whom the agents are known and for whom only others are."""
    rows = []
    for row in ceiling.rows:
        if row.known == "held out":
            other = ceiling.find(row.population, "training", row.measure)
            told = [text for one in (row, other) for text in _estimate(one)]
            rows.append((row.measure, *told, row.networks, row.population))
    columns = (
        "measure",
        "agents known",
        "95% interval",
        "training ones known",
        "95% interval",
        "networks",
        "asked about",
    )
    title = f"the ceiling: {ceiling.agents} agents, seed {ceiling.seed}, {ceiling.rollouts} rollouts; losses in nats"
    print_table(columns, rows, title)


def _estimate(row: "CeilingRow | None") -> tuple[str, str]:
    return ("–", "–") if row is None else _measured({"mean": row.mean, "interval": (row.low, row.high)})


def _measured(row: dict[str, Any]) -> tuple[str, str]:
    """A mean and its interval."""
    return _number(row["mean"]), " … ".join(map(_number, row["interval"]))


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3f}"


def print_measurement(row: dict[str, Any]) -> None:
    """By itself, as soon as it is there: the next one may take a minute."""
    print(f"{row['what']:<46}{row['median']:>14,.0f} {row['unit']}")
    print("    " + ", ".join(f"{name} {value}" for name, value in row["notes"].items()), flush=True)
