"""What the commands print: tables and JSON for whoever asked, remarks on stderr."""

import codecs
import io
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from ..support.words import counted

if TYPE_CHECKING:
    from ..experiments.analysis.ceiling_measures import CeilingRow
    from ..experiments.analysis.population_evaluation import PopulationTables
    from ..experiments.analysis.statistics import Estimate
    from ..experiments.ceiling import Ceiling
    from ..experiments.claims.claim import Claim
    from ..experiments.experiment import Result
    from .bench import Measurement

PIPE_WIDTH = 200  # in a pipe there is no edge to wrap at
PLAIN = {
    "×": "x",
    "–": "-",
    "—": "-",
    "−": "-",
    "≤": "<=",
    "≥": ">=",
    "“": '"',
    "”": '"',
    "‖": "||",
    "─": "-",
    "│": "|",
    "…": "-",
}
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
    from ..support.json_files import json_text  # numpy is not needed for help

    print(json_text(value))


class Page(Console):
    """Says what it is given as it stands: in the name of an agent or a file, `[bold]` and `:smile:` mean themselves."""

    def __init__(self, width: int | None = None):
        super().__init__(width=width, markup=False, emoji=False)

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
    title = f"{result.experiment}: --agents {agents} --seed {result.seed}"
    if not rows:
        from ..figures.numbers import numbers_for

        print(f"{title}; beyond the paper, of whose claims it decides none")
        for table in numbers_for(result):
            print_table(table.columns, [*table.rows], table.title)
        return
    print_table(("claim", "verdict", "value", "95% interval", "ideal or agents", "unit"), rows, title)


def shown_verdict(claim: "Claim", result: "Result") -> str:
    """A few steps of training decide nothing about the paper, whatever the numbers happen to be."""
    return "not trained to decide this" if "smoke" in result.preset.split(" and ") else claim.verdict


def print_performance(result: "Result[PopulationTables]") -> None:
    """What each condition of a population earns, beside the oracle and the random walk."""
    rows = []
    for name, row in result.tables.performance.items():
        shares = (row.subgoal_first, row.preferred, row.preferred_if_reachable, row.time_out)
        numbers = (*(f"{share.mean:.3f}" for share in shares), f"{row.steps.mean:.1f}")
        low, high = row.returns.interval
        rows.append((name, row.networks, f"{row.returns.mean:.3f}", f"{low:.3f} … {high:.3f}", *numbers))
    columns = ("condition", "networks", "return", "95% interval", "subgoal first", "preferred", "if reachable")
    title = f"{counted(result.tables.levels, 'level')}, seed {result.seed}"
    print_table((*columns, "time-outs", "steps"), rows, title)


def print_beliefs_and_swaps(result: "Result[PopulationTables]") -> None:
    """How good the beliefs of each condition are, and what a swap does to its next action."""
    rows = []
    for name, belief in result.tables.beliefs.items():
        told = [_number(quality.cross_entropy.mean if quality else None) for quality in (belief.seen, belief.unseen)]
        swaps = result.tables.swaps[name]
        rows.append((name, *told, *(_number(side.policy.mean) for side in (swaps.in_view, swaps.out_of_view))))
    columns = ("condition", "belief, object seen", "object unseen", "swap in view", "swap out of view")
    print_table(columns, rows, "nats: cross-entropy of beliefs with the truth; D_JS of next actions, swapped or not")


def print_memory(result: "Result[PopulationTables]") -> None:
    """Whether each condition acts on what it remembers, and whether the past can change what it does at all."""
    rows = []
    for name, row in result.tables.acts_on_memory.items():
        numbers = (*_measured(row.beyond_view), *_measured(row.never_there))
        rows.append((name, *numbers, f"{result.tables.depends_on_past[name].largest_change:.3g}"))
    columns = ("condition", "beyond view", "95% interval", "never there", "95% interval", "change by another past")
    title = "probability of stepping back to where the favourite was last seen, and there where it never was"
    print_table(columns, rows, title)


def print_hands(result: "Result[PopulationTables]") -> None:
    """Which hand each condition's networks follow walls with."""
    rows = []
    for name, row in result.tables.handedness.items():
        if row.hands:
            counts = [f"{hands.left} : {hands.right}" for hands in row.hands.values()]
            rows.append((name, *_measured(row.size), *counts))
    columns = ("condition", "size", "95% interval", "left : right, training", "left : right, held out")
    print_table(columns, rows, "handedness at walls: mean size of the index, and networks of each hand")


def print_ceiling(ceiling: "Ceiling") -> None:
    """Every measure of every population, for whom the agents are known and for whom only others are."""
    rows = []
    for row in ceiling.rows:
        if row.known == "held out":
            other = ceiling.find(row.population, "training", row.measure)
            told = [text for one in (row, other) for text in _estimate(one)]
            rows.append((row.measure, *told, row.estimate.count, row.population))
    columns = (
        "measure",
        "agents known",
        "95% interval",
        "training ones known",
        "95% interval",
        "networks",
        "asked about",
    )
    agents, rollouts = counted(ceiling.agents, "agent"), counted(ceiling.rollouts, "rollout")
    title = f"the ceiling: {agents}, seed {ceiling.seed}, {rollouts}; losses in nats"
    print_table(columns, rows, title)


def _estimate(row: "CeilingRow | None") -> tuple[str, str]:
    return ("–", "–") if row is None else _measured(row.estimate)


def _measured(estimate: "Estimate") -> tuple[str, str]:
    """A mean and its interval."""
    return _number(estimate.mean), " … ".join(map(_number, estimate.interval))


def _number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.3f}"


def print_measurement(row: "Measurement") -> None:
    """By itself, as soon as it is there: the next one may take a minute."""
    print(f"{row.what:<46}{row.median:>14,.0f} {row.unit}")
    print("    " + ", ".join(f"{name} {value}" for name, value in row.notes.items()), flush=True)
