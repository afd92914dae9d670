"""Figure 8: what an observer's embeddings hold behind a bottleneck; and Figure 9, `wall_followers`."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure

from ..experiments.agent_embeddings import Divergence, ShownPosteriors, Tables
from ..experiments.analysis.character_space import COLLAPSED, USED, Dimension
from ..experiments.analysis.three_species import SPECIES_NAMES
from ..world.levels import LETTERS
from . import style
from .panels import Panel, Panels
from .wall_followers import wall_follower_caption, wall_follower_panels

SPECIES_COLOURS = {"blind": style.NO_PAST, "stateless-5x5": style.GREEN, "5x5": style.BLUE}
SPECIES_MARKERS = {"blind": "o", "stateless-5x5": "s", "5x5": "^"}


def panels(tables: Tables) -> Panels:
    posteriors = tables.posteriors
    blind = np.array([name == "blind" for name in posteriors.species])
    return {
        "figure-8": (
            Panel(
                "a",
                "Posteriors by species",
                "Ellipses, one for each held-out agent, in two dimensions of the character embedding, coloured by "
                "species.",
                lambda place: _by_species(place, posteriors),
                3.1,
            ),
            Panel(
                "b",
                "Nats in each dimension",
                "Bars for each dimension of the character embedding: the mean divergence of the posterior from the "
                "prior, for each species, with the thresholds of used and collapsed dimensions.",
                lambda place: _nats(place, tables.divergence, tables.dimensions),
                3.1,
            ),
            Panel(
                "c",
                "Sighted agents by preferred object",
                "Ellipses, one for each sighted held-out agent, in two other dimensions, coloured by preferred object.",
                lambda place: _by_object(place, posteriors, ~blind),
                3.1,
            ),
            Panel(
                "d",
                "Blind agents by preferred object",
                "The same for blind agents, whose preferred object cannot be told; the prior as a dashed circle.",
                lambda place: _by_object(place, posteriors, blind),
                3.1,
            ),
        ),
        "figure-9": wall_follower_panels(tables.subspecies, tables.fields),
    }


def _square(axes: Axes, mean: np.ndarray, deviation: np.ndarray, names: list[int]) -> None:
    """Equal scales, so that a unit Gaussian is a circle, with all ellipses inside."""
    reach = np.abs(mean) + deviation if len(mean) else np.ones((1, 2))
    edge = 1.05 * max(1.2, float(reach.max()))
    axes.set(xlim=(-edge, edge), ylim=(-edge, edge), aspect="equal", xlabel=style.dimension_name(names[0]))
    axes.set_ylabel(style.dimension_name(names[1]) if len(names) > 1 else "")


def _by_species(place: SubFigure, posteriors: ShownPosteriors) -> None:
    axes, pair = place.subplots(), posteriors.pairs["species"]
    mean, deviation, species = pair.mean, pair.deviation, np.asarray(posteriors.species)
    _prior(axes)
    for name, colour in SPECIES_COLOURS.items():
        some = species == name
        style.ellipses(axes, mean[some], deviation[some], colour, marker=SPECIES_MARKERS[name])
    _square(axes, mean, deviation, pair.dimensions)
    signs = [style.sign(SPECIES_NAMES[name], SPECIES_MARKERS[name], SPECIES_COLOURS[name]) for name in SPECIES_COLOURS]
    place.legend(handles=signs, loc="outside lower center", ncols=3)


def _prior(axes: Axes) -> None:
    angle = np.linspace(0, 2 * np.pi, 100)
    axes.plot(np.cos(angle), np.sin(angle), color=style.QUIET, linewidth=0.8, linestyle="--", zorder=1)


def _by_object(place: SubFigure, posteriors: ShownPosteriors, chosen: np.ndarray) -> None:
    axes, pair = place.subplots(), posteriors.pairs["object"]
    mean, deviation, preferred = pair.mean, pair.deviation, np.asarray(posteriors.preferred)
    _prior(axes)
    kinds = sorted(set(preferred.tolist()))
    for kind in kinds:
        some = chosen & (preferred == kind)
        style.ellipses(axes, mean[some], deviation[some], style.object_colour(kind))
    _square(axes, mean, deviation, pair.dimensions)  # of all agents: both panels have one scale
    signs = [style.sign(LETTERS[kind], "o", style.object_colour(kind)) for kind in kinds]
    signs.append(style.sign("prior", "", style.QUIET, line=True))
    signs[-1].set_linestyle("--")
    place.legend(handles=signs, loc="outside lower center", ncols=len(signs))


def _nats(place: SubFigure, divergence: Divergence, dimensions: list[Dimension]) -> None:
    axes = place.subplots()
    order = sorted(range(len(dimensions)), key=lambda i: (_place_of(dimensions[i]), -dimensions[i].nats))
    width = 0.26
    for step, (name, colour) in enumerate(SPECIES_COLOURS.items()):
        nats = [divergence.species[name][i] for i in order]
        x = np.arange(len(order)) + width * (step - 1)
        axes.bar(x, style.means(nats), width=0.92 * width, color=colour)
    axes.set_yscale("symlog", linthresh=0.1, linscale=0.6)
    axes.set_ylim(0, None)
    ticks = [tick for tick in (0, 0.05, 0.1, 0.5, 1, 2, 5, 10) if tick <= axes.get_ylim()[1]]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    style.reference(axes, USED, "used", outside=True)
    style.reference(axes, COLLAPSED, "collapsed", outside=True)
    factors = {"species": "spec.", "object": "obj.", "other": "other", None: "–"}
    axes.set_xticks(np.arange(len(order)), [f"{i + 1}\n{factors[dimensions[i].carries]}" for i in order], fontsize=7)
    axes.set(xlabel="dimension, and what it carries", ylabel="mean KL from the prior, nats")
    signs = [style.sign(SPECIES_NAMES[name], "s", SPECIES_COLOURS[name]) for name in SPECIES_COLOURS]
    place.legend(handles=signs, loc="outside lower center", ncols=3)


def _place_of(dimension: Dimension) -> int:
    return ("species", "object", "other", None).index(dimension.carries)


def captions(tables: Tables) -> dict[str, str]:
    told = tables.read_outs
    carrying = {
        factor: [str(row.dimension + 1) for row in tables.dimensions if row.carries == factor]
        for factor in ("species", "object")
    }
    held, blind = style.means(tables.divergence.all), tables.divergence.blind_in_object
    return {
        "figure-8": (
            "Posteriors over the character embedding of agents never met, one ellipse (one standard deviation) each. "
            f"Of {len(held)} dimensions, {_count(carrying['species'])} the species (a) and "
            f"{_count(carrying['object'])} the preferred object (c); {int((held < COLLAPSED).sum())} hold less than "
            f"{COLLAPSED} nats (b). From those, the species is told in "
            f"{style.percent(told['species'].own_neighbours.accuracy.mean)}, and the object that sighted agents "
            f"prefer in {style.percent(told['object'].own_neighbours.accuracy.mean)}. Blind agents tell "
            f"{style.plain(blind.mean)} nats where the object is told (d)."
        ),
        "figure-9": wall_follower_caption(tables.subspecies, tables.fields),
    }


def _count(dimensions: list[str]) -> str:
    if not dimensions:
        return "none carries"
    one = len(dimensions) == 1
    return f"{'number' if one else 'numbers'} {', '.join(dimensions)} {'carries' if one else 'carry'}"
