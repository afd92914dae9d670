"""The card of the pretrained deep RL agents: what they are, how they were trained, what was measured, where it ends."""

from collections.abc import Mapping

from ..agents.actor_critic import NetworkConfig, Rewards
from ..agents.population import Part, Population
from ..experiments.analysis.handedness import HAND_GOALS, Handedness, Hands
from ..experiments.analysis.performance import Performance
from ..experiments.analysis.population_evaluation import RETURN_GOALS, PopulationTables
from ..experiments.analysis.statistics import Estimate
from ..experiments.experiment import Result
from ..experiments.sally_anne.acts_on_memory import TURNING_GOALS
from ..figures.measured import number_text
from ..figures.style import NOTHING
from ..support.named_arrays import named_arrays
from ..support.words import counted
from .observers import claim_link, claims_table, code, interval_text, machine, shortfalls, table, versions

MEASURES = {
    "returns": "return",
    "subgoal_first": "subgoal, if in reach",
    "preferred": "preferred",
    "preferred_if_reachable": "preferred, if in reach",
    "time_out": "time-outs",
    "steps": "steps",
}


ALL_NETWORKS = (
    "Over all networks, those that observers are trained on included. The ledger's own verdicts are of held-out ones\n"
    "alone, and come with `tomnet evaluate false-beliefs-mixed`, once there is an observer."
)


def compose_agents_card(populations: dict[str, Population], result: Result[PopulationTables]) -> str:
    sections = (
        _what_they_are(populations),
        _training(populations),
        _split(populations),
        _architecture(populations),
        _evaluation(result),
        _memory(result.tables),
        _hands(result.tables.handedness),
        _use_and_limits(populations),
        shortfalls(result),
    )
    return "\n\n".join(sections) + "\n"


def _what_they_are(populations: dict[str, Population]) -> str:
    first = "5x5" if "5x5" in populations else next(iter(populations))
    rewards = Rewards()
    return f"""# Pretrained deep RL agents

Agents for sections 3.3 to 3.5 of "Machine Theory of Mind", to be watched by observers: {_names(populations)}.
Each sees a square around itself (the blind: nothing), remembers or not, and is after one of the objects. It earns
{rewards.subgoal:g} for the subgoal, {rewards.preferred:g} for its preferred object, {rewards.move:g} for every step, \
{rewards.wall:g} more for walking into a wall and
{rewards.time_out:g} when time runs out.

    agent = tomnet.load_agents("{first}").agent(network=0, preferred=1)     # in Python

    tomnet agents show {first}
    tomnet agents evaluate     # measures them on levels they have never met

Licence: Apache-2.0, as the code. They learned from simulated episodes; no other data were used."""


def _names(populations: dict[str, Population]) -> str:
    return ", ".join(f"`{name}`" for name in populations)


def _training(populations: dict[str, Population]) -> str:
    rows = []
    for name, population in populations.items():
        about = population.about
        place = about.get("environment", {})
        rows.append(
            (
                name,
                about.get("preset", NOTHING),
                f"{len(population)} of {about.get('trained', NOTHING)}",
                len(about.get("diverged", ())),
                f"{about.get('steps', 0):,}",
                about.get("discount", NOTHING),
                f"{about.get('seconds', 0):,.0f}",
                about.get("seed", NOTHING),
                f"{place.get('device', NOTHING)}, {place.get('cores', NOTHING)} cores",
                versions(place),
            )
        )
    columns = ("condition", "preset", "kept", "diverged", "steps of each", "discount", "seconds (all)", "seed")
    commands = sorted({str(population.about.get("command", NOTHING)) for population in populations.values()})
    how = (
        "Recurrent proximal policy optimisation, all networks side by side. The best of each condition were kept, by "
        "their return on levels that were never trained on; weights are stored in bf16."
    )
    return "\n\n".join(["## Training", how, table((*columns, "device", "versions"), rows), code(commands)])


def _split(populations: dict[str, Population]) -> str:
    rows = [
        (name, _indices(population.training), _indices(population.held_out)) for name, population in populations.items()
    ]
    return f"""## Split

Observers are trained on the agents of the training networks and tested on those of the others. Numbers count the
kept networks, best first; each is as many agents as there are objects to prefer.

{table(("condition", "training", "held out"), rows)}"""


def _indices(indices: tuple[int, ...]) -> str:
    return ", ".join(map(str, indices)) or NOTHING


def _architecture(populations: dict[str, Population]) -> str:
    rows = []
    for name, population in populations.items():
        config = population.networks.config
        count = sum(array[0].size for array in named_arrays(population.networks).values())
        rows.append((name, _encoder(config), config.memory_channels, config.hidden, f"{count:,}"))
    columns = ("condition", "encoder", "channels of the convolutional LSTM", "hidden units", "parameters of each")
    return "## Architecture\n\n" + table(columns, rows)


def _encoder(config: NetworkConfig) -> str:
    return f"{counted(config.depth, 'convolution')}, {counted(config.channels, 'channel')}"


def _evaluation(result: Result[PopulationTables]) -> str:
    tables = result.tables
    how = (
        f"One episode of each network on each of {tables.levels} levels of its own, drawn with seed {result.seed}, "
        f"none of them met in training; swaps on {tables.swap_levels} others "
        f"({machine(result.environment)}). "
        "The first networks of all conditions meet the same levels, and so on. Intervals are over networks and so hold "
        "the luck of the levels; those of the oracle, which sees everything, and of the random walk are over levels."
    )
    rows = [_performance_row(name, row) for name, row in tables.performance.items()]
    columns = ("condition", "networks", *MEASURES.values())
    parts = ["## Evaluation", how, table(columns, rows), returns_hoped_for(tables.performance)]
    if result.claims:
        parts += [claims_table(result), ALL_NETWORKS]
    largest = {claim.id: claim.detail.get("largest_out_of_view") for claim in result.claims}
    parts += [
        f"{claim_link(id)}: the largest effect of any swap out of view was {effect:g} nats."
        for id, effect in largest.items()
        if effect is not None
    ]
    return "\n\n".join(part for part in parts if part)


def returns_hoped_for(performance: dict[str, Performance]) -> str:
    """Who earns what was hoped for, and who does not."""
    return _hoped_for("Returns", RETURN_GOALS, {name: row.returns for name, row in performance.items()})


def _hoped_for(what: str, goals: dict[str, float], measured: Mapping[str, Estimate]) -> str:
    """Empty where nobody was measured of whom something was hoped."""
    rows = []
    for name, goal in goals.items():
        if name in measured:
            low, high = measured[name].interval
            verdict = "reached" if low >= goal else "missed" if high < goal else "on the line"
            rows.append(f"{name} {goal:g} ({verdict})")
    return f"{what} hoped for, judged by the interval: {', '.join(rows)}." if rows else ""


def _memory(tables: PopulationTables) -> str:
    acting, past = tables.acts_on_memory, tables.depends_on_past
    how = (
        "Each network is led past its object to the subgoal, in hand-made levels towards all four sides, and asked for "
        "its next step: the probability of stepping back to where it last saw the object, where that is beyond its "
        "view, and of the same step in the same levels where the object never was. Beside them, the largest change of "
        "any action's probability when a state is met with another past: other memories, previous actions and rewards. "
        "Exactly 0 where nothing of the past is kept."
    )
    rows = []
    for name, row in acting.items():
        told = (_with_interval(row.beyond_view), _with_interval(row.never_there))
        rows.append((name, row.scenarios, *told, f"{past[name].largest_change:.3g}"))
    columns = ("condition", "levels beyond its view", "steps back", "where it never was", "change by another past")
    goals = _hoped_for(
        "Steps back beyond the view", TURNING_GOALS, {name: row.beyond_view for name, row in acting.items()}
    )
    return "\n\n".join(
        part for part in ("## Do they act on what they remember?", how, table(columns, rows), goals) if part
    )


def _hands(handedness: dict[str, Handedness]) -> str:
    """Of those who are split into parts: not of the references."""
    told = {name: row for name, row in handedness.items() if row.hands}
    how = (
        "The handedness index of a network is 1 if all its moves along walls have the wall at the left hand, and -1 at "
        "the right. Its mean size, and how many networks are left- and right-handed, observers' training networks and "
        "held-out ones apart."
    )
    rows = [
        (name, _with_interval(row.size), *(f"{hands.left}, {hands.right}" for hands in row.hands.values()))
        for name, row in told.items()
    ]
    columns = ("condition", "size of the index", "training: left, right", "held out: left, right")
    goals = _hoped_for("Sizes", HAND_GOALS, {name: row.size for name, row in told.items()})
    both = [_both_hands(name, told[name].hands) for name in HAND_GOALS if name in told]
    parts = ("## Which hand do they follow walls with?", how, table(columns, rows), goals, *both)
    return "\n\n".join(part for part in parts if part)


def _both_hands(name: str, hands: dict[Part, Hands]) -> str:
    short = [part for part, counts in hands.items() if not (counts.left and counts.right)]
    verdict = f"missed among {' and '.join(short)} networks" if short else "reached"
    return f"Both hands hoped for among training and among held-out networks: {name} ({verdict})."


def _with_interval(estimate: Estimate) -> str:
    return f"{number_text(estimate.mean)} ({interval_text(estimate.interval)})"


def _performance_row(name: str, row: Performance) -> tuple:
    first, *others = (getattr(row, measure) for measure in MEASURES)
    return (name, row.networks, _with_interval(first), *(number_text(other.mean) for other in others))


def _use_and_limits(populations: dict[str, Population]) -> str:
    one = next(iter(populations.values()))
    config, steps = one.networks.config, one.about.get("steps")
    trained = NOTHING if steps is None else f"{steps:,}"
    world = f"{config.size}×{config.size} gridworlds with {config.kinds - 1} objects and a subgoal"
    return f"""## Intended use and limits

For research and teaching: as someone for an observer to watch, and to compare with other agents.
They know {world}, and are good at nothing else.
Their reported beliefs were trained beside their behaviour and need not be what it rests on. They had {trained} steps
each and {config.channels} channels; the paper's had over 100 million and 64."""
