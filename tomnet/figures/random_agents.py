"""Figures 2 and 3: random agents, and how near the observer comes to exact Bayesian inference about them."""

import numpy as np
from matplotlib.figure import SubFigure

from ..experiments.analysis.random_policies import BayesDivergence, CrossSpecies, Embedding, Example, Likelihood
from ..experiments.random_agents import BAYES_OPTIMAL, Tables
from ..world.gridworld import ACTIONS
from . import style
from .gridworld import draw_query, draw_trajectory
from .panels import Panel, Panels

SERIES_MARKERS = ("o", "s", "^", "D", "v", "P")


def alpha_of(observer: str) -> str:
    """`alpha-0.01` → `0.01`, `alpha-1-2d` → `1, 2-D`; the mixture keeps its name."""
    return observer.removeprefix("alpha-").replace("-2d", ", 2-D")


def trained_on(observer: str) -> str:
    return "the mixture" if observer == "mixture" else f"α = {alpha_of(observer)}"


def bayes_predictive(alpha: float, seen: int | None, action: int) -> float:
    """The exact prediction after one seen action: (alpha + n) / (5 alpha + N)."""
    return (alpha + (seen == action)) / (len(ACTIONS) * alpha + (seen is not None))


def panels(tables: Tables) -> Panels:
    past, tested = tables.cross_species[0].past, tables.mixture[0].past
    return {
        "figure-2": (
            Panel(
                "a–b",
                "One past episode, and a new state",
                "Two gridworlds. Left: a past episode with the one action taken as an arrow. Right: the query state.",
                lambda place: _example(place, tables.example),
                2.15,
            ),
            Panel(
                "c",
                "Predicted next action",
                "Bars: probability of each action given by two observers, trained on near-deterministic "
                "and on stochastic agents, with the exact Bayesian prediction as open marks.",
                lambda place: _predictions(place, tables.example),
                2.15,
            ),
        ),
        "figure-3": (
            Panel(
                "a",
                "An action seen again and again",
                "Probability of an action against alpha, after seeing it 0, 1 and 5 times: dots for "
                "ToMnet, lines for the exact posterior.",
                lambda place: _likelihood(place, tables.likelihood),
            ),
            Panel(
                "b",
                f"2-D character embeddings, α = {tables.embedding.alpha:g}",
                "Scatter of two-dimensional embeddings: colour and shape show the action seen most, "
                "darkness how often.",
                lambda place: _embedding(place, tables.embedding),
            ),
            Panel(
                "c",
                f"Trained on one species, tested on another, $N_{{past}}$ = {past}",
                "KL from the true policy against the tested species, one series for each species trained "
                "on: dots for ToMnet, lines for exact inference.",
                lambda place: _cross_species(place, tables.cross_species),
                2.9,
            ),
            Panel(
                "d",
                f"Trained on a mixture, $N_{{past}}$ = {tested}",
                "The same for observers of the two extreme species and of their mixture.",
                lambda place: _cross_species(place, tables.mixture),
                2.9,
            ),
            Panel(
                "e",
                "Distance from exact inference on its own species",
                "KL from the exact Bayesian predictive for each species and number of past episodes, on a "
                f"logarithmic scale, with the goal of {BAYES_OPTIMAL} nats as a line.",
                lambda place: _bayes_divergence(place, tables.bayes_divergence),
            ),
        ),
    }


def _example(place: SubFigure, example: Example) -> None:
    left, right = place.subplots(1, 2)
    draw_trajectory(left, example.past, title="past episode")
    draw_query(right, example.query, title="query state")


def _predictions(place: SubFigure, example: Example) -> None:
    (seen,) = example.past.actions[:1]
    both = place.subplots(1, 2, sharey=True)
    for axes, (observer, predicted) in zip(both, example.predictions.items(), strict=True):
        alpha = float(alpha_of(observer))
        x = range(len(predicted))
        axes.bar(x, predicted, width=0.7, color=style.TOMNET)
        style.ideal_marks(axes, x, [bayes_predictive(alpha, seen, action) for action in x])
        axes.set_xticks(x, style.ACTION_SIGNS)
        axes.set(ylim=(0, 1.05), title=f"trained on α = {alpha:g}")
        axes.get_xticklabels()[seen].set(color=style.HAPPENED, weight="bold")
    both[0].set_ylabel("probability")
    handles = [style.sign("ToMnet", "s"), style.sign("exact Bayes", "D", style.IDEAL, filled=False)]
    handles.append(style.sign("action seen", "$\\rightarrow$", style.HAPPENED))
    place.legend(handles=handles, loc="outside lower center", ncols=3)


def _likelihood(place: SubFigure, rows: list[Likelihood]) -> None:
    axes = place.subplots()
    counts, species = sorted({row.past for row in rows}), sorted({row.alpha for row in rows})
    alphas = np.geomspace(species[0], species[-1], 100)
    shades = style.blues(len(counts))
    for seen, shade in zip(counts, shades, strict=True):
        style.ideal_line(axes, alphas, (alphas + seen) / (len(ACTIONS) * alphas + seen))
        mine = {row.alpha: row.probability for row in rows if row.past == seen}
        style.tomnet_points(axes, list(mine), list(mine.values()), colour=shade)
    axes.set(xscale="log", ylim=(0, 1.05), xlabel="α of the species", ylabel="probability of that action")
    axes.set_xticks(species, [f"{alpha:g}" for alpha in species])
    handles = [
        style.sign(f"{seen}×" if seen else "seen 0×", "o", shade) for seen, shade in zip(counts, shades, strict=True)
    ]
    style.legend_above(axes, [*handles, style.sign("exact Bayes", "", style.IDEAL, line=True)])


def _embedding(place: SubFigure, embedding: Embedding) -> None:
    axes = place.subplots()
    points, counts = np.asarray(embedding.points, float), np.asarray(embedding.counts, float)
    most, often = counts.argmax(1), counts.max(1) / counts.sum(1).max()
    for action, (colour, marker) in enumerate(zip(style.ACTION_COLOURS, style.ACTION_MARKERS, strict=True)):
        mine = most == action
        shades = [style.tint(colour, strength) for strength in 0.15 + 0.85 * often[mine]]
        axes.scatter(*points[mine, :2].T, s=16, marker=marker, c=shades, edgecolor="white", linewidth=0.25)
    axes.set(xticks=[], yticks=[], xlabel="$e_{char}$, 1st dimension", ylabel="2nd dimension")
    signs = zip(ACTIONS, style.ACTION_MARKERS, style.ACTION_COLOURS, strict=True)
    style.legend_above(axes, [style.sign(*named) for named in signs])


def _cross_species(place: SubFigure, rows: list[CrossSpecies]) -> None:
    axes = place.subplots()
    trained = list(dict.fromkeys(row.trained for row in rows))
    ticks = sorted({row.tested for row in rows})
    if "mixture" in trained:
        colours = dict(zip(trained, (style.SKY_BLUE, style.GREEN, style.VERMILLION), strict=True))
    else:
        colours = dict(zip(trained, style.graded(len(trained)), strict=True))
    handles = []
    for observer, marker in zip(trained, SERIES_MARKERS, strict=False):
        mine = [row for row in rows if row.trained == observer]
        x = [row.tested for row in mine]
        style.ideal_line(axes, x, [row.bayes for row in mine], color=colours[observer])
        style.tomnet_points(axes, x, [row.kl for row in mine], colour=colours[observer], marker=marker)
        named = observer if observer == "mixture" else f"α = {alpha_of(observer)}"
        handles.append(style.sign(named, marker, colours[observer], line=True))
    axes.set(xscale="log", xlabel="α of the agents tested on", ylabel="KL(true ‖ predicted), nats")
    axes.set_ylim(bottom=0)
    axes.set_xticks(ticks, [f"{alpha:g}" for alpha in ticks])
    axes.legend(
        handles=handles,
        title="trained on (marks: ToMnet; lines: exact)",
        ncols=3,
        loc="lower left",
        bbox_to_anchor=(0, 1),
    )


def _bayes_divergence(place: SubFigure, rows: list[BayesDivergence]) -> None:
    axes = place.subplots()
    observers = list(dict.fromkeys(row.observer for row in rows))
    counts = sorted({row.past for row in rows})
    shades = style.blues(len(counts))
    for step, (past, shade, marker) in enumerate(zip(counts, shades, SERIES_MARKERS, strict=False)):
        mine = [row for row in rows if row.past == past]
        x = [observers.index(row.observer) + 0.18 * (step - (len(counts) - 1) / 2) for row in mine]
        style.tomnet_points(axes, x, [row.kl for row in mine], colour=shade, marker=marker)
    axes.set(yscale="log", xlabel="α of the species", ylabel="KL(Bayes ‖ ToMnet), nats")
    axes.set_ylim(top=max(axes.get_ylim()[1], 3 * BAYES_OPTIMAL))
    style.reference(axes, BAYES_OPTIMAL, f"goal {BAYES_OPTIMAL}", outside=True)
    # broken into lines, because on a phone the last two names would run into each other
    names = ["mix-\nture" if name == "mixture" else alpha_of(name).replace(", ", "\n") for name in observers]
    axes.set_xticks(range(len(observers)), names)
    handles = [
        style.sign(f"$N_{{past}}$ {past}", m, s) for past, m, s in zip(counts, SERIES_MARKERS, shades, strict=False)
    ]
    style.legend_above(axes, handles)


def captions(tables: Tables) -> dict[str, str]:
    example, embedding = tables.example, tables.embedding
    seen = example.past.actions[0]
    given = ", ".join(
        f"α = {alpha_of(observer)}: {style.plain(predicted[seen], 2)} "
        f"(exactly {style.plain(bayes_predictive(float(alpha_of(observer)), seen, seen), 2)})"
        for observer, predicted in example.predictions.items()
    )
    divergence, two_dimensional = tables.bayes_divergence, embedding.observer
    own = [row for row in divergence if row.observer not in ("mixture", two_dimensional)]
    worst = max(own, key=lambda row: row.kl.mean)
    flat = max((row for row in divergence if row.observer == two_dimensional), key=lambda row: row.past)
    off = max(abs(row.probability.mean - row.bayes) for row in tables.likelihood)
    mixture = [row for row in tables.mixture if row.trained == "mixture"]
    ends = (mixture[0], mixture[-1])
    strange = max(tables.mixture, key=lambda row: abs(row.kl.mean - row.bayes))
    return {
        "figure-2": (
            f"A random agent was seen once, doing “{ACTIONS[seen]}”. How surely will it do so again? By the "
            f"species the observer was trained on, {given}."
        ),
        "figure-3": (
            "Random agents. After seeing one action only, ToMnet's probability is at most "
            f"{style.plain(off)} from the Dirichlet posterior (a); a 2-D embedding tells the most-seen action "
            f"in {style.percent(embedding.most_seen.mean)} of agents without a tie (b). On its own species it is at "
            f"most {style.plain(worst.kl.mean, 4)} nats from exact inference (α = {alpha_of(worst.observer)}, "
            f"N_past = {worst.past}; e) with an embedding of 8 dimensions; with 2 it is "
            f"{style.plain(flat.kl.mean)} away (α = {embedding.alpha:g}, N_past = {flat.past}). Trained on a "
            "mixture it has a KL of "
            f"{style.plain(ends[0].kl.mean)} and {style.plain(ends[1].kl.mean)} nats at the two ends, where "
            f"exact mixture inference has {style.plain(ends[0].bayes)} and "
            f"{style.plain(ends[1].bayes)} (d). Marks away from the species trained on are agents of a kind that "
            "the observer never met: the lines are then exact inference from the wrong prior, and ToMnet need not be "
            "wrong in the same way. In (d) the two lie furthest apart for the observer of "
            f"{trained_on(strange.trained)}, on agents of α = {strange.tested:g}: {style.plain(strange.kl.mean)} "
            f"against {style.plain(strange.bayes)}."
        ),
    }
