"""The report: one page with every claim, verdict and figure, and the numbers behind it as JSON.

    build_report([load_result(folder) for folder in runs], "report")     # report/index.html, figures/ …

The page is a single file that asks nothing of the network: style and figures are inside it. Model cards and docs lie
beside it as pages of their own.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from html import escape
from pathlib import Path

from ..experiments.claims.claim import Claim, beside
from ..experiments.claims.statements import STATEMENTS
from ..experiments.experiment import Experiment, Result
from ..experiments.registry import EXPERIMENTS
from ..figures import architecture_figure, captions, figures_for, panels_for, save
from ..figures.architecture import CAPTION, architecture_panel
from ..figures.measured import measured, number_text
from ..figures.numbers import numbers_for
from ..figures.style import NOTHING
from ..support.files import write_atomically
from ..support.json_files import write_json
from .pages import html_page, write_pages
from .parts import cell, definitions, figure, link, number_table
from .results_file import WAITS, environment_of, summary
from .results_page import SIGNS
from .seeds import Seeds, on_seeds

TITLE = "Machine Theory of Mind: the report"
ABOUT = (
    "An observer, ToMnet, watches what an agent does and learns to predict what it will do next. This page "
    "checks the claims of “Machine Theory of Mind” (Rabinowitz et al., 2018), one by one, on agents that "
    "the observer has never met: in sections 3.1 and 3.2 beside an ideal observer that knows how such agents are "
    "made and reasons exactly, further on beside the agents themselves. The rule that decides each claim stands "
    "beside it; what was changed after a trial is in {deviations}."
)
DATA = "The data: {results} has every claim and the tables behind every figure."
LEDGER = ("id", "claim", "verdict", "measured [95% interval]", "ideal, or the agents themselves", "paper")
BEYOND = "It goes beyond the paper, and decides none of its claims."


def build_report(
    results: list[Result],
    folder: str | Path,
    *,
    cards: Mapping[str, str | Path] | None = None,
    seconds: float | Mapping[str, float] | None = None,
    waiting: Collection[str] = (),
    seeds: Seeds | None = None,
) -> Path:
    """Write `index.html`, `results.json`, `figures/` and `pages/` into `folder`; the page's path.

    `cards` holds the observers' model cards by experiment, and that of the `agents`, as text or as files. `seconds` is
    how long it all took, or each experiment; without it, the page gives the time that each result reports. `waiting`
    names experiments without an observer of the agents that are here: their claims have no verdict. `seeds` holds what
    came of the same observers with other seeds.
    """
    folder = Path(folder)
    by_name = {result.experiment: result for result in results}
    save({"figure-1": architecture_figure()}, folder / "figures")
    for result in results:
        save(figures_for(result), folder / "figures")
    write_json(folder / "results.json", summary(results, waiting))
    pages = write_pages(folder, cards or {})
    told = {
        claim.id: on_seeds(claim.id, claim.verdict, (seeds or Seeds()).of(result.experiment, result.observers))
        for result in results
        for claim in result.claims
    }
    parts = [_head(pages), _counts(by_name, waiting), _contents(), _ledger(by_name, waiting, told), _architecture()]
    spent = seconds if isinstance(seconds, Mapping) else {}
    for experiment in EXPERIMENTS.values():
        result = by_name.get(experiment.name)
        if result is None:
            parts.append(_missing(experiment, experiment.name in waiting))
        else:
            took = spent.get(experiment.name, result.seconds)
            parts.append(_experiment(experiment, result, took, pages))
    total = seconds if isinstance(seconds, int | float) else None
    parts.append(_environment(results, total))
    page = folder / "index.html"
    write_atomically(page, html_page(TITLE, "\n".join(parts)).encode())
    return page


# --- The page


def _head(pages: Mapping[str, str]) -> str:
    return f"""<header>
<h1>{escape(TITLE)}</h1>
<p>{escape(ABOUT).format(deviations=link(pages.get("deviations"), "docs/deviations.md"))}</p>
<p>{escape(DATA).format(results=link("results.json", "results.json"))}</p>
</header>
"""


def _counts(by_name: Mapping[str, Result], waiting: Collection[str]) -> str:
    counts = Counter(claim.verdict for result in by_name.values() for claim in result.claims)
    for name in EXPERIMENTS.keys() - by_name.keys():
        counts["waiting" if name in waiting else "not evaluated"] += len(EXPERIMENTS[name].claims)
    shown = [word for word in SIGNS if counts[word] or word == "reproduced"]
    items = "".join(f"<li>{_verdict(word)}: <strong>{counts[word]}</strong></li>" for word in shown)
    return f'<ul class="counts" aria-label="Verdicts">{items}</ul>'


def _contents() -> str:
    links = {"claims": "Claims", "architecture": "The observer"}
    links |= {name: experiment.title for name, experiment in EXPERIMENTS.items()} | {"environment": "Environment"}
    items = "".join(f'<li><a href="#{escape(to)}">{escape(text)}</a></li>' for to, text in links.items())
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _verdict(word: str) -> str:
    kind, sign = escape(word.replace(" ", "-")), SIGNS.get(word, "?")
    return f'<span class="verdict {kind}"><span aria-hidden="true">{sign}</span> {escape(word)}</span>'


# --- The ledger of claims


def _ledger(by_name: Mapping[str, Result], waiting: Collection[str], told: Mapping[str, str]) -> str:
    """`told`: on how many seeds each verdict is the same."""
    rows = {}
    for name, experiment in EXPERIMENTS.items():
        if name in by_name:
            rows |= {claim.id: _claim(claim, experiment, told[claim.id]) for claim in by_name[name].claims}
        else:
            rows |= {id: _unknown_claim(id, experiment, name in waiting) for id in experiment.claims}
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in LEDGER)
    sections = list(dict.fromkeys(id[:1] for id in rows))  # R before G, as in the paper
    body = "\n".join(rows[id] for id in sorted(rows, key=lambda id: (sections.index(id[:1]), len(id), id)))
    return f"""<section id="claims">
<h2>Claims</h2>
<div class="scroll">
<table>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>
</section>
"""


def _claim(claim: Claim, experiment: Experiment, told: str) -> str:
    value = f'<span class="number">{escape(measured(claim.value, claim.interval))}</span>'
    details = f"<p>{escape(claim.decided_by)}</p>" + (definitions(claim.detail) if claim.detail else "")
    return (
        f"<tr>{_claim_id(claim.id, experiment)}"
        f'<td class="wordy">{escape(claim.statement)}'
        f"<details><summary>how it is decided</summary>{details}</details></td>"
        f'<td class="wordy">{_verdict(claim.verdict)}{_aside(told)}</td>'
        f'<td data-label="measured">{value}<span class="unit">{escape(claim.unit)}</span></td>'
        f"{_reference(claim)}"
        f"{cell('paper', claim.paper or NOTHING)}</tr>"
    )


def _aside(text: str) -> str:
    return f'<span class="unit">{escape(text)}</span>' if text else ""


def _reference(claim: Claim) -> str:
    """What the measured value stands beside."""
    others = beside(claim.control, claim.ceiling)
    more = "".join(_aside(f"{who}: {number_text(value)}") for who, value in others.items())
    alone = cell("ideal, or the agents themselves", number_text(claim.reference))
    return alone.replace(' class="empty"', "").replace("</td>", f"{more}</td>") if more else alone


def _unknown_claim(id: str, experiment: Experiment, waits: bool) -> str:
    why = f"{experiment.title}: {WAITS if waits else 'no observer was evaluated'}"
    return (
        f"<tr>{_claim_id(id, experiment)}"
        f'<td class="wordy">{escape(STATEMENTS[id])}<span class="unit">{escape(why)}</span></td>'
        f'<td class="wordy">{_verdict("waiting" if waits else "not evaluated")}</td>{3 * cell("", NOTHING)}</tr>'
    )


def _claim_id(id: str, experiment: Experiment) -> str:
    """It leads to the figures and numbers that decide it, and is what they lead back to."""
    return f'<th scope="row" id="claim-{escape(id)}">{link(f"#{experiment.name}", id)}</th>'


# --- Figures and experiments


def _architecture() -> str:
    drawn = figure("figure-1", [architecture_panel()], CAPTION, "tomnet report")
    return f'<section id="architecture">\n<h2>The observer</h2>\n{drawn}\n</section>\n'


def _experiment(experiment: Experiment, result: Result, seconds: float, pages: Mapping[str, str]) -> str:
    name = escape(experiment.name)
    agents = result.environment.get("agents", NOTHING)
    words = captions(result)
    command = f"tomnet evaluate {experiment.name} --agents {agents} --seed {result.seed} --out DIR"
    figures = "\n".join(figure(stem, panels, words[stem], command) for stem, panels in panels_for(result).items())
    numbers = "\n".join(map(number_table, numbers_for(result)))
    networks = f"held-out networks in about {agents} encounters or walks"
    whom = networks if experiment.about_networks else f"{agents} agents"
    place = experiment.place[0].upper() + experiment.place[1:]
    about = (
        f"{place} of the paper. Observers of the preset “{result.preset}”, evaluated "
        f"on {whom} (seed {result.seed}) in {seconds:.0f} s."
    )
    return f"""<section id="{name}">
<h2>{escape(experiment.title)}</h2>
<p class="about">{escape(about)}{_cards(experiment, pages)}</p>
{_verdicts(experiment, result)}
{figures}
{numbers}
</section>
"""


def _verdicts(experiment: Experiment, result: Result) -> str:
    """The claims decided here, each a way back to its line of the ledger."""
    if experiment.beyond_paper:
        return f"<p>{escape(BEYOND)}</p>"
    found = {claim.id: claim.verdict for claim in result.claims}
    items = [f"{link(f'#claim-{id}', id)} {_verdict(found.get(id, 'not evaluated'))}" for id in experiment.claims]
    return f'<ul class="counts" aria-label="Claims">{"".join(f"<li>{item}</li>" for item in items)}</ul>'


def _cards(experiment: Experiment, pages: Mapping[str, str]) -> str:
    cards = {experiment.name: "the observers"}
    if experiment.about_networks:
        cards["agents"] = "the agents"
    links = [link(pages[name], text) for name, text in cards.items() if name in pages]
    return f" Model cards: {', '.join(links)}." if links else ""


def _missing(experiment: Experiment, waits: bool) -> str:
    why = f" It {WAITS}." if waits else ""
    figures = f"figure {', '.join(experiment.figures)}"
    left_out = f"{figures} is" if experiment.beyond_paper else f"{figures} and claim {', '.join(experiment.claims)} are"
    return f"""<section id="{escape(experiment.name)}">
<h2>{escape(experiment.title)}</h2>
<p>Missing: there is no result for <code>{escape(experiment.name)}</code>, so that
{escape(left_out)} not in this report.{why}
<code>tomnet run {escape(experiment.name)}</code> trains its observers.</p>
</section>
"""


def _environment(results: list[Result], total: float | None) -> str:
    values = environment_of(results)
    if total is not None:
        values["evaluated and drawn in"] = f"{total:.0f} s"
    shown = definitions(values, "environment")
    return f"""<section id="environment">
<h2>Environment</h2>
{shown}
</section>
"""
