"""docs/results.md: what came of every claim, written from a report's results.json and from nothing else.

tomnet results report/results.json --out docs/results.md --readme README.md
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from ..experiments.claims.claim import beside
from ..experiments.claims.statements import STATEMENTS
from ..experiments.experiment import Experiment
from ..experiments.registry import EXPERIMENTS
from ..figures.measured import measured, number_text
from ..figures.style import NOTHING
from ..support.errors import TomnetError
from .results_file import ClaimResult, Results
from .seeds import SeedResult, Seeds, all_on_seeds, on_seeds, seeds_table, trained_again

SIGNS = {"reproduced": "✓", "partly": "◐", "not reproduced": "✗", "waiting": "…", "not evaluated": "–"}
BEGIN, END = "<!-- written by `tomnet results` -->", "<!-- up to here -->"
BEYOND = "It decides none of the paper's claims; what it measures is drawn in the report, and in its results.json."
HEADLINES = {"false-beliefs-mixed": "F5"}  # whose number stands for the experiment; otherwise that of its first claim


def results_markdown(
    results: Results, data: str = "results.json", seeds: Seeds | None = None, retrained: Seeds | None = None
) -> str:
    """`data` is where the page finds what it was made from; `seeds` and `retrained`, what lies beside it as seeds.json
    and retrained.json."""
    kept = _of_seeds(results, seeds)
    parts = [_opening(results, data), summary_table(results, seeds=seeds)]
    for experiment in (*_shown(results), *_beyond_paper(results)):
        again = _of_others(experiment.name, results, retrained)
        parts.append(_experiment(experiment, results, kept.get(experiment.name, {}), again))
    return "\n\n".join([*parts, *_seeds_section(kept)]) + "\n"


def _of_seeds(results: Results, seeds: Seeds | None) -> dict[str, dict[str, SeedResult]]:
    """By experiment and seed: of the very observers that the results are about."""
    kept = {each.name: results.experiments.get(each.name) for each in _shown(results)}
    return {name: (seeds or Seeds()).of(name, own.observers) if own else {} for name, own in kept.items()}


def _of_others(name: str, results: Results, retrained: Seeds | None) -> SeedResult | None:
    own = results.experiments.get(name)
    if own is None or retrained is None:
        return None
    return retrained.of_others(name, own.observers, own.seed)


def _seeds_section(kept: Mapping[str, Mapping[str, SeedResult]]) -> list[str]:
    rows = seeds_table(kept)
    if not rows:
        return []
    columns = [("experiment", "seeds", "the last of them by", "device", "commit"), ("---",) * 5]
    table = "\n".join(f"| {' | '.join(row)} |" for row in [*columns, *rows])
    words = "On how many seeds a verdict is the same comes from [seeds.json](seeds.json), which has every number."
    return ["## Seeds", words, table]


def _opening(results: Results, data: str) -> str:
    names = ("seed", "tomnet", "jax", "device", "cores", "commit")
    seed, version, jax, device, cores, commit = (_agreed(results.environment.get(name)) for name in names)
    agents = _agents(results.environment.get("agents"))
    return f"""# Results

Written by `tomnet results` from [{data}]({data}): no number here is typed by hand.
The pretrained observers on agents that they have never met, with {agents} and `--seed {seed}`
(tomnet {version}, jax {jax}, {device}, {cores} cores, commit {commit}).

A number is a mean over agents, of deep RL agents over networks, or what its unit says, with its 95% interval in
brackets. Losses and divergences are in nats: 0 is perfect, and calling a fair coin costs 0.69. What a verdict needs is
the claim's rule, written down before the result was seen ([exceptions](deviations.md#claims)): *reproduced*, *partly*,
or else *not reproduced*. What is *waiting* has not been measured.

{_verdicts_counted(results)}"""


def _agreed(value: Any) -> str:
    """What the numbers depend on: one value or, where experiments differ, all of theirs."""
    values = value.values() if isinstance(value, Mapping) else [value]
    return ", ".join(dict.fromkeys(NOTHING if one is None else str(one) for one in values))


def _agents(value: Any) -> str:
    """What the command was told, and where experiments differ, to which it was told another number than to most."""
    told = value if isinstance(value, Mapping) else {"": value}
    counts = {name: str(count) for name, count in told.items()}
    usual = max(counts.values(), key=[*counts.values()].count, default=NOTHING)
    others = ", ".join(f"{name}: {count}" for name, count in counts.items() if count != usual)
    return f"`--agents {usual}`{others and f' ({others})'}"


def _verdicts_counted(results: Results) -> str:
    return f"**Of {len(results.claims)} claims: {_counts(results.claims.values())}.**"


def _counts(claims: Iterable[ClaimResult]) -> str:
    counts = Counter(claim.verdict or "waiting" for claim in claims)
    return ", ".join(f"{counts[word]} {word}" for word in SIGNS if counts[word])


def summary_table(results: Results, page: str = "", seeds: Seeds | None = None) -> str:
    """A line for each experiment, with links into `page`, where that is another one, or with what decides its number.
    Without observers there is nothing to evaluate: they are trained by `run`. Elsewhere it is brief: one number, whose
    interval is in the page."""
    kept = _of_seeds(results, seeds)
    columns = ("figure", "command", "verdicts", "the number that counts", *(() if page else ("its rule",)))
    rows = [columns, ("---",) * len(columns)]
    for experiment in _shown(results):
        own = {id: results.claims[id] for id in experiment.claims if id in results.claims}
        id = HEADLINES.get(experiment.name, experiment.claims[0])
        figures = f"[{', '.join(experiment.figures)}]({page}#{experiment.name})"
        known = id in own and own[id].verdict
        number = f"[{id}]({page}#{id.lower()}): {_number(own[id], brief=bool(page))}" if known else NOTHING
        found = {id: claim.verdict for id, claim in own.items() if claim.verdict}
        verdicts = _counts(own.values()) + all_on_seeds(found, kept[experiment.name], brief=bool(page))
        rule = () if page else (own[id].decided_by if known else NOTHING,)
        rows.append((figures, f"`tomnet {'evaluate' if found else 'run'} {experiment.name}`", verdicts, number, *rule))
    return "\n".join(" | ".join(row) if page else f"| {' | '.join(row)} |" for row in rows)


def readme_with(results: Results, readme: str, page: str, seeds: Seeds | None = None) -> str:
    """A README with the table of the results between its marks, and the count of verdicts before it."""
    before, marked, rest = readme.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not marked or not closed:
        raise TomnetError(f"the README has no place for results: {BEGIN} … {END}")
    return f"{before}{BEGIN}\n{_verdicts_counted(results)}\n\n{summary_table(results, page, seeds)}\n{END}{after}"


def _shown(results: Results) -> list[Experiment]:
    return [each for each in EXPERIMENTS.values() if any(id in results.claims for id in each.claims)]


def _beyond_paper(results: Results) -> list[Experiment]:
    """They have no claims by which to be known, and no place in a table of verdicts."""
    return [each for each in EXPERIMENTS.values() if each.beyond_paper and each.name in results.experiments]


def _experiment(
    experiment: Experiment, results: Results, seeds: Mapping[str, SeedResult], again: SeedResult | None
) -> str:
    own = results.experiments.get(experiment.name)
    preset = own and f"Observers of the preset “{own.preset}”, measured in {own.seconds:.0f} s."
    waiting = f"Waiting for pretrained observers; `tomnet run {experiment.name}` trains your own."
    figures = f"figure{'s' if len(experiment.figures) > 1 else ''} {', '.join(experiment.figures)}"
    parts = [
        f"## {experiment.name}",
        f"{experiment.title}: {experiment.place}, {figures}. {preset or waiting}",
        *([BEYOND] if experiment.beyond_paper else []),
    ]
    return "\n\n".join(
        parts + [_claim(id, results.claims[id], seeds, again) for id in experiment.claims if id in results.claims]
    )


def _claim(id: str, claim: ClaimResult, seeds: Mapping[str, SeedResult], again: SeedResult | None = None) -> str:
    verdict = claim.verdict or "waiting"
    told = on_seeds(id, verdict, seeds)
    title = f"### {id}\n\n**{STATEMENTS[id]}.** {SIGNS[verdict]} {verdict}{told and f', {told}'}"
    if not claim.verdict:
        return title
    told = {
        "measured": _number(claim),
        "ideal observer, or the agents themselves": number_text(claim.agents if claim.ideal is None else claim.ideal),
        **{who: number_text(value) for who, value in beside(claim.control, claim.ceiling).items()},
        **trained_again(id, again),
        **_in_detail(claim),
        "the paper": claim.paper or NOTHING,
        "rule": claim.decided_by,
    }
    return f"{title}\n\n" + "\n".join(f"- {name}: {text}" for name, text in told.items())


def _in_detail(claim: ClaimResult) -> dict[str, str]:
    """Of a claim that fell short, what else was measured: the number shown need not be the one that did."""
    if claim.verdict == "reproduced":
        return {}
    told = [f"{name.replace('_', ' ')} {_plainly(value)}" for name, value in claim.detail.items() if _is_plain(value)]
    return {"in detail": "; ".join(told)} if told else {}


def _is_plain(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _plainly(value: bool | int | float) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else number_text(float(value))


def _number(claim: ClaimResult, brief: bool = False) -> str:
    """With its interval and its unit; `brief`ly, without the one and what the other adds after a comma."""
    if brief:
        return f"**{number_text(claim.value)}** {claim.unit.split(',')[0]}"
    return f"**{measured(claim.value, claim.interval)}** {claim.unit}"
