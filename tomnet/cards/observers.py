"""Model cards: what a pretrained observer is, how it was trained, what was measured, where it ends."""

from typing import Any

from ..experiments import (
    deep_rl_agents,
    goal_inference,
    goal_snapshots,
    greedy_agents,
    partial_observers,
    random_agents,
)
from ..experiments.analysis.comparison import Comparison
from ..experiments.analysis.statistics import Estimate
from ..experiments.claims.claim import Claim, beside
from ..experiments.description import Description
from ..experiments.experiment import Experiment, ObserverSpec, Result
from ..figures.measured import number_text
from ..figures.style import NOTHING
from ..observer.tomnet import ToMnet
from ..support.named_arrays import named_arrays
from .descriptions import (
    character_embedding,
    character_net,
    convolutions,
    mental_net,
    pieces,
    predicts,
    seen_before,
    world_words,
)

Observers = dict[str, tuple[ToMnet, Description]]
"""By name, each with what it says about itself."""


def compose_card(experiment: Experiment, observers: Observers, result: Result) -> str:
    specs = {name: spec_of(experiment, description) for name, (_, description) in observers.items()}
    losses = _losses(result.tables, next(iter(specs.values())))
    sections = (
        _what_it_is(experiment, observers, specs),
        _training(observers),
        _architecture(observers, specs),
        _evaluation(experiment, result),
        losses,
        _use_and_limits(experiment, observers, specs, result, bool(losses)),
    )
    return "\n\n".join(section for section in sections if section) + "\n"


def spec_of(experiment: Experiment, description: Description) -> ObserverSpec:
    """How an observer that says this of itself was trained."""
    return next(spec for spec in experiment.specs(description.preset) if spec.name == description.observer)


def _what_it_is(experiment: Experiment, observers: Observers, specs: dict[str, ObserverSpec]) -> str:
    names = ", ".join(f"`{name}`" for name in observers)
    figures = f"figure{'s' if len(experiment.figures) > 1 else ''} {', '.join(experiment.figures)}"
    place = f"{experiment.place} ({figures})"
    rows = [
        (name, specs[name].species.words(), seen_before(specs[name], observer.config), predicts(observer.config))
        for name, (observer, _) in observers.items()
    ]
    columns = ("observer", "trained on", "has seen of an agent when asked", "predicts")
    return f"""# {experiment.title}: pretrained observers

Observers (ToMnets) for {place} of "Machine Theory of Mind": {names}.
Each is shown a state and predicts what the agent will do from there, by what it has seen of that agent before.
{_snapshots(specs)}
{table(columns, rows)}

    tomnet evaluate {experiment.name}     # measures them on agents they have never met

Licence: Apache-2.0, as the code. The training data are simulated episodes; no other data were used."""


def _snapshots(specs: dict[str, ObserverSpec]) -> str:
    some = any(spec.encounter_spec.snapshots for spec in specs.values())
    return "A snapshot is a single state and the action taken there, one of each past episode.\n" if some else ""


def _training(observers: Observers) -> str:
    rows = []
    for name, (_, description) in observers.items():
        place = description.environment
        rows.append(
            (
                name,
                description.preset,
                encounters_text(description),
                f"{description.seconds:,.0f}",
                NOTHING if description.seed is None else description.seed,
                f"{place.get('device', NOTHING)}, {place.get('cores', NOTHING)} cores",
                versions(place),
            )
        )
    columns = ("observer", "preset", "encounters", "seconds", "seed", "device", "versions")
    commands = sorted({description.command or NOTHING for _, description in observers.values()})
    notes = [note for mark, note in MARKS.items() if any(mark in row[-1] for row in rows)]
    return "\n\n".join(["## Training", table(columns, rows), *notes, code(commands)])


MARKS = {
    "-dirty": "`-dirty`: that commit with changes that were not committed, so that nobody can check out what was run.",
    "(told)": "`(told)`: the commit that whoever ran it said it was, of a copy that came without its history.",
}
"""What stands beside a commit, in words."""


def encounters_text(description: Description) -> str:
    """Current episodes, and how many queries there were about them where there were more."""
    encounters, queries = description.encounters, description.queries
    return f"{encounters:,}" + (f", {queries:,} queries" if queries > encounters else "")


def versions(place: dict[str, Any]) -> str:
    """What something was trained with, as its environment says."""
    commit = place.get("commit") or NOTHING
    return f"tomnet {place.get('tomnet', NOTHING)}, jax {place.get('jax', NOTHING)}, commit {commit}"


def _architecture(observers: Observers, specs: dict[str, ObserverSpec]) -> str:
    rows = []
    for name, (observer, _) in observers.items():
        config = observer.config
        count = sum(array.size for array in named_arrays(observer).values())
        rows.append(
            (
                name,
                character_net(config),
                character_embedding(specs[name], config),
                mental_net(specs[name], config),
                f"{convolutions(config.torso_depth)}, {config.channels} channels",
                ", ".join(config.heads),
                f"{count:,}",
            )
        )
    columns = ("observer", "character net", "embedding", "mental net", "prediction torso", "heads", "parameters")
    return "## Architecture\n\n" + table(columns, rows)


def _evaluation(experiment: Experiment, result: Result) -> str:
    agents = result.environment.get("agents", NOTHING)
    if experiment.about_networks:
        whose = (
            f"With `--agents {agents}` and seed {result.seed}, on agents of held-out networks: none of them was met in "
            "training. Agents that were serve for comparison and to fit read-outs only"
        )
    else:
        whose = f"On {agents} agents drawn with seed {result.seed}, none of them met in training"
    how = f"{whose} ({machine(result.environment)})."
    claims = [] if experiment.beyond_paper else [claims_table(result)]
    return "\n\n".join(["## Evaluation", how, *claims])


def machine(place: dict[str, Any]) -> str:
    """What something was measured on, as its environment says."""
    commit = place.get("commit") or NOTHING
    return f"{place.get('device', NOTHING)}, {place.get('cores', NOTHING)} cores, commit {commit}"


def claim_link(id: str) -> str:
    """To the ledger of all claims; a card lies three folders below it."""
    return f"[{id}](../../../docs/results.md#{id.lower()})"


def claims_table(result: Result) -> str:
    """Every claim with its verdict, and the rule that decides it."""
    rows = [_claim_row(claim) for claim in result.claims]
    rules = "\n".join(
        f"- {claim_link(claim.id)}: {claim.unit}. {claim.decided_by}.{_beside_text(claim)}" for claim in result.claims
    )
    columns = ("claim", "verdict", "value", "95% interval", "ideal, or the agents themselves", "what the paper says")
    return "\n\n".join([table(columns, rows), "How each is decided:", rules])


def _claim_row(claim: Claim) -> tuple[str, ...]:
    value, interval = number_text(claim.value), interval_text(claim.interval)
    return (claim_link(claim.id), claim.verdict, value, interval, number_text(claim.reference), claim.statement)


def _beside_text(claim: Claim) -> str:
    told = [f"{who}: {number_text(value)}" for who, value in beside(claim.control, claim.ceiling).items()]
    return f" Beside it: {'; '.join(told)}." if told else ""


def _losses(tables: Any, spec: ObserverSpec) -> str:
    """Empty where an evaluation measured none."""
    parts = []
    match tables:
        case goal_inference.Tables():
            for name, heads in tables.comparison.items():
                parts += [f"Observer `{name}`", _loss_table(heads)]
        case goal_snapshots.Tables() | greedy_agents.Tables():
            for row in tables.curve:
                parts += [f"After {pieces(row.past, spec)}", _loss_table(row.heads)] if row.heads else []
        case random_agents.Tables():
            rows = [(row.observer, row.past, *_with_interval(row.kl)) for row in tables.bayes_divergence]
            parts.append("KL from the exact Bayesian predictive, on the species that each was trained on")
            parts.append(table(("observer", pieces(0, spec).removeprefix("0 "), "KL", "95% interval"), rows))
        case deep_rl_agents.Tables():
            own = [row for row in tables.losses if not row.shuffled]
            rows = [(row.observer, row.part, row.head, *_with_interval(row.loss)) for row in own]
            parts.append(table(("observer", "agents", "prediction", "loss", "95% interval"), rows))
        case partial_observers.Tables():
            named = {"all": tables.all_seen}
            named |= {f"{kind} {severity:g}": scores for (kind, severity), scores in tables.each().items()}
            rows = [
                (name, *_with_interval(scores.observer.loss), number_text(scores.ideal.loss.mean))
                for name, scores in named.items()
            ]
            parts.append("What will be eaten, by how badly the past was seen")
            parts.append(table(("seen", "ToMnet", "95% interval", "ideal observer"), rows))
    return "\n\n".join(["## Losses, in nats", *parts]) if parts else ""


def _loss_table(heads: dict[str, Comparison]) -> str:
    """ToMnet's losses beside the ideal observer's."""
    rows = [
        (head, *map(number_text, (row.observer.mean, row.ideal, row.no_past, row.captured.mean)))
        for head, row in heads.items()
    ]
    return table(("prediction", "ToMnet", "ideal observer", "no past", "captured"), rows)


def _with_interval(estimate: Estimate) -> tuple[str, str]:
    return number_text(estimate.mean), interval_text(estimate.interval)


def _use_and_limits(
    experiment: Experiment, observers: Observers, specs: dict[str, ObserverSpec], result: Result, losses: bool
) -> str:
    configs = [observer.config for observer, _ in observers.values()]
    worlds = "; ".join(dict.fromkeys(world_words(spec.world) for spec in specs.values()))
    lines = [
        "For research and teaching: to redraw the paper's figures, to compare with other observers, to start from.",
        f"They know {worlds}; and agents like those they were trained on.",
        "About other agents, other worlds, animals or people they say nothing.",
    ]
    if experiment.about_networks:
        lines.append("Those agents have [a card of their own](../agents/README.md), and limits of their own.")
    if losses:
        lines.append("Their probabilities are calibrated only as far as the losses above show.")
    if any(config.character_size for config in configs):
        lines.append("An embedding groups agents by what they did, not by what they are.")
    if any("belief" in config.heads for config in configs):
        lines.append("A predicted belief is what such an agent would report, which need not be what it acts on.")
    return "\n\n".join(["## Intended use and limits", "\n".join(lines), shortfalls(result)])


def shortfalls(result: Result) -> str:
    """What an evaluation says that the paper's claims do not hold of, or not wholly."""
    if not result.claims:
        return "None of the paper's claims was evaluated."
    short = [claim for claim in result.claims if claim.verdict != "reproduced"]
    if not short:
        return "All of the paper's claims that were evaluated are reproduced."
    rows = [
        f"- {claim_link(claim.id)}, {claim.verdict}. {claim.statement}: {number_text(claim.value)} "
        f"({interval_text(claim.interval)}), {claim.unit}; {claim.decided_by}.{detail_text(claim)}"
        for claim in short
    ]
    return "\n".join(["Short of the paper's claims:", "", *rows])


def detail_text(claim: Claim) -> str:
    """What else was measured, where it is a number or a yes or no: the value alone may look like a pass."""
    plain = {name.replace("_", " "): value for name, value in claim.detail.items()}
    told = [f"{name} {_plainly(value)}" for name, value in plain.items() if isinstance(value, bool | int | float)]
    return f" Measured besides: {', '.join(told)}." if told else ""


def _plainly(value: bool | int | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if isinstance(value, int) else number_text(value)


def table(columns: tuple[str, ...], rows: list[tuple]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def code(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def interval_text(interval: tuple[float, float] | None) -> str:
    if interval is None or any(end != end for end in interval):  # it could not be measured
        return NOTHING
    return f"{number_text(interval[0])} … {number_text(interval[1])}"
