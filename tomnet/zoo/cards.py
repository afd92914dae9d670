"""Model cards: what a pretrained observer is, how it was trained, what was measured, where it ends."""

from collections.abc import Iterator
from typing import Any

from ..experiments.claims import Claim
from ..experiments.experiment import Experiment, Result
from ..named_arrays import named_arrays
from ..observer.tomnet import ObserverConfig, ToMnet

LOSSES = ("network", "ideal", "no_past")  # the columns that make a table one of losses
COLUMNS = (*LOSSES, "captured")


def compose_card(experiment: Experiment, observers: dict[str, tuple[ToMnet, dict[str, Any]]], result: Result) -> str:
    sections = (
        _what_it_is(experiment, observers),
        _training(observers),
        _architecture(observers),
        _evaluation(result),
        _losses(result.tables),
        _use_and_limits(observers),
    )
    return "\n\n".join(sections) + "\n"


def _what_it_is(experiment: Experiment, observers: dict) -> str:
    names = ", ".join(f"`{name}`" for name in observers)
    figures = f"figure{'s' if len(experiment.figures) > 1 else ''} {', '.join(experiment.figures)}"
    place = f"section {experiment.section} ({figures})"
    return f"""# {experiment.title}: pretrained observers

Observers (ToMnets) for {place} of "Machine Theory of Mind": {names}.
Each watches what an agent did and predicts what it will do next.

    tomnet evaluate {experiment.name}     # measures them on agents they have never met

Licence: Apache-2.0, as the code. The training data are simulated episodes; no other data were used."""


def _training(observers: dict[str, tuple[ToMnet, dict[str, Any]]]) -> str:
    rows = []
    for name, (_, about) in observers.items():
        place = about.get("environment", {})
        rows.append(
            (
                name,
                about.get("preset", "–"),
                f"{about.get('encounters', 0):,}",
                f"{about.get('seconds', 0):,.0f}",
                about.get("seed", "–"),
                f"{place.get('device', '–')}, {place.get('cores', '–')} cores",
                f"tomnet {place.get('tomnet', '–')}, jax {place.get('jax', '–')}",
            )
        )
    columns = ("observer", "preset", "encounters", "seconds", "seed", "device", "versions")
    commands = sorted({about.get("command", "–") for _, about in observers.values()})
    return "\n\n".join(["## Training", table(columns, rows), code(commands)])


def _architecture(observers: dict[str, tuple[ToMnet, dict[str, Any]]]) -> str:
    rows = []
    for name, (observer, _) in observers.items():
        config = observer.config
        count = sum(array.size for array in named_arrays(observer).values())
        rows.append(
            (
                name,
                _character_net(config),
                config.embedding,
                f"{config.torso_depth} convolutions, {config.channels} channels",
                ", ".join(config.heads),
                f"{count:,}",
            )
        )
    columns = ("observer", "character net", "embedding", "prediction torso", "heads", "parameters")
    return "## Architecture\n\n" + table(columns, rows)


def _character_net(config: ObserverConfig) -> str:
    width = f"{config.character_channels} channels"
    if config.character == "sequence":
        return f"a convolution and a convolutional LSTM, {width}"
    return f"{config.character}, {config.character_depth} convolutions, {width}"


def _evaluation(result: Result) -> str:
    place = result.environment
    how = (
        f"On {place.get('agents', '–')} agents drawn with seed {result.seed}, none of them met in training "
        f"({place.get('device', '–')}, {place.get('cores', '–')} cores, commit {place.get('commit') or '–'})."
    )
    return "\n\n".join(["## Evaluation", how, claims_table(result)])


def claims_table(result: Result) -> str:
    """Every claim with its verdict, and the rule that decides it."""
    rows = [_claim_row(claim) for claim in result.claims]
    rules = "\n".join(f"- {claim.id}: {claim.unit}. {claim.decided_by}." for claim in result.claims)
    columns = ("claim", "verdict", "value", "95% interval", "ideal observer", "what the paper says")
    return "\n\n".join([table(columns, rows), "How each is decided:", rules])


def _claim_row(claim: Claim) -> tuple[str, ...]:
    ideal = "–" if claim.ideal is None else number_text(claim.ideal)
    return (claim.id, claim.verdict, number_text(claim.value), interval_text(claim.interval), ideal, claim.statement)


def _losses(tables: dict[str, Any]) -> str:
    parts = ["## Losses, in nats"]
    for title, heads in _loss_tables("", tables):
        rows = [(head, *(number_text(row.get(name)) for name in COLUMNS)) for head, row in heads.items()]
        parts += [title, table(("prediction", "network", "ideal observer", "no past", "captured"), rows)]
    if "bayes_divergence" in tables:
        rows = [
            (row["member"], row["past"], number_text(row["kl"]), interval_text(row["interval"]))
            for row in tables["bayes_divergence"]
        ]
        parts.append("KL from the exact Bayesian predictive, on the species that each was trained on")
        parts.append(table(("observer", "past episodes", "KL", "95% interval"), rows))
    return "\n\n".join(parts)


def _loss_tables(where: str, value: Any) -> Iterator[tuple[str, dict[str, dict]]]:
    """Every table of the network's losses beside the ideal observer's, wherever an experiment keeps it."""
    if isinstance(value, list):
        for row in value:
            if isinstance(row, dict) and "heads" in row:
                yield f"After {row['past']} past episode{'s' if row['past'] != 1 else ''}", row["heads"]
    if isinstance(value, dict):
        if value and all(isinstance(row, dict) and set(LOSSES) <= row.keys() for row in value.values()):
            yield f"Observer `{where}`", value
            return
        for name, inner in value.items():
            yield from _loss_tables(name, inner)


def _use_and_limits(observers: dict[str, tuple[ToMnet, dict[str, Any]]]) -> str:
    config = next(iter(observers.values()))[0].config
    world = f"{config.size}×{config.size} gridworlds with {config.objects} objects"
    return f"""## Intended use and limits

For research and teaching: to redraw the paper's figures, to compare with other observers, to start from.
They know {world}, and agents of the species they were trained on.
About other agents, other worlds, animals or people they say nothing. Their probabilities are calibrated only
as far as the losses above show, and an embedding groups agents by what they did, not by what they are."""


def table(columns: tuple[str, ...], rows: list[tuple]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def code(lines: list[str]) -> str:
    return "\n".join(f"    {line}" for line in lines)


def number_text(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    return f"{value:.{4 if 0 < abs(value) < 0.01 else 3}f}"


def interval_text(interval: tuple[float, float] | None) -> str:
    return "–" if interval is None else f"{number_text(interval[0])} … {number_text(interval[1])}"
