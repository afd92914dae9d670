"""Figure 14: character embeddings behind a bottleneck, by field of view and by preferred object."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.patches import Ellipse

from ..experiments.belief_embeddings import Cloud, Clouds, FieldsOfView, MixedUp, Tables
from ..world.levels import LETTERS
from . import style
from .panels import Panel, Panels

OBJECT_MARKERS = ("o", "s", "^", "D")
CONTOUR = 1.794  # standard deviations: the ellipse that holds 80% of a Gaussian in the plane


def panels(tables: Tables) -> Panels:
    clouds, fields = tables.clouds, tables.fields
    return {
        "figure-14": (
            Panel(
                "a",
                "Fields of view",
                "Scatter of character embeddings on the two axes along which fields of view differ most, an ellipse "
                "for each field of view.",
                lambda place: _fields(place, clouds.fields, fields.conditions),
                3.0,
            ),
            Panel(
                "",
                "Field of view, told from the embedding",
                "Confusion matrix: true field of view in rows, the one told by nearest neighbours in columns.",
                lambda place: _confusion(place, fields),
                3.0,
            ),
            Panel(
                "b",
                "Preferred objects of blind agents and of sighted ones",
                "Scatters of embeddings on the axes along which preferred objects differ most: blind agents left, all "
                "in one cloud; sighted agents right, on two pairs of axes.",
                lambda place: _objects(place, clouds),
                2.5,
            ),
        )
    }


def _cloud(axes: Axes, cloud: Cloud, pair: tuple[int, int], marker: str, colour: style.Colour) -> None:
    axes.scatter(
        cloud.points[:, pair[0]], cloud.points[:, pair[1]], s=7, marker=marker, color=colour, linewidth=0, alpha=0.55
    )
    covariance = cloud.covariance[np.ix_(pair, pair)]
    widths, directions = np.linalg.eigh(covariance)
    long = directions[:, 1]
    axes.add_patch(
        Ellipse(
            (cloud.mean[pair[0]], cloud.mean[pair[1]]),
            *(2 * CONTOUR * np.sqrt(np.maximum(widths[::-1], 0))),
            angle=float(np.degrees(np.arctan2(long[1], long[0]))),
            fill=False,
            edgecolor=colour,
            linewidth=1.1,
            zorder=4,
        )
    )


def _fields(place: SubFigure, clouds: list[Cloud], conditions: tuple[str, ...]) -> None:
    axes = place.subplots()
    for name, cloud in zip(conditions, clouds, strict=True):
        _cloud(axes, cloud, (0, 1), *style.CONDITION_SIGNS[name])
    axes.set(xticks=[], yticks=[], xlabel="1st axis of fields of view", ylabel="2nd axis", aspect="equal")
    axes.set_adjustable("datalim")
    handles = [style.sign(style.condition_name(name), *style.CONDITION_SIGNS[name]) for name in conditions]
    place.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _objects(place: SubFigure, clouds: Clouds) -> None:
    grid = place.subplots(1, 3, sharex=True)
    shown = (("blind", clouds.blind, (0, 1)), ("sighted", clouds.sighted, (0, 1)), ("sighted", clouds.sighted, (0, 2)))
    for axes, (who, by_object, pair) in zip(grid, shown):
        for kind, cloud in enumerate(by_object):
            _cloud(axes, cloud, pair, OBJECT_MARKERS[kind % len(OBJECT_MARKERS)], style.object_colour(kind))
        axes.set_title(f"{who} agents", fontsize=7.5)
        axes.set(xticks=[], yticks=[], xlabel="1st axis of objects", ylabel=f"{('2nd', '3rd')[pair[1] - 1]} axis")
    grid[0].set(xlim=grid[1].get_xlim(), ylim=grid[1].get_ylim())  # on the same scale, or a dot would look like a cloud
    handles = [
        style.sign(f"prefers {LETTERS[kind]}", OBJECT_MARKERS[kind % len(OBJECT_MARKERS)], style.object_colour(kind))
        for kind in range(len(clouds.sighted))
    ]
    place.legend(handles=handles, loc="outside lower center", ncols=len(handles))


def _confusion(place: SubFigure, fields: FieldsOfView) -> None:
    axes = place.subplots()
    axes.imshow(fields.confusion, cmap="Blues", vmin=0, vmax=1)
    for (row, col), share in np.ndenumerate(fields.confusion):
        colour = "white" if share > 0.55 else style.IDEAL
        axes.text(col, row, style.percent(share), ha="center", va="center", fontsize=7, color=colour)
    names = [style.condition_name(name) for name in fields.conditions]
    axes.set_xticks(range(len(names)), names)
    axes.set_yticks(range(len(names)), names)
    axes.set(xlabel="told", ylabel="field of view")
    axes.tick_params(length=0)
    for spine in axes.spines.values():
        spine.set_visible(False)


def captions(tables: Tables) -> dict[str, str]:
    fields, objects = tables.fields, tables.objects

    def pair(one: MixedUp) -> str:
        return " and ".join(style.condition_name(name) for name in one.pair)

    return {
        "figure-14": (
            "Character embeddings behind a bottleneck, of held-out agents after four past episodes; ellipses hold 80% "
            f"of each class. The field of view is told in {style.percent(fields.accuracy)} of encounters: "
            f"{pair(fields.hard)} are taken for each other in {style.percent(fields.hard.taken.mean)}, "
            f"{pair(fields.easy)} in {style.percent(fields.easy.taken.mean)} (a). The preferred object of "
            f"sighted agents is told in {style.percent(objects.accuracy.mean)}; the longest distance between class "
            f"means is {style.plain(objects.unevenness.mean, 2)} times the shortest. In the dimensions that carry the "
            f"object, blind agents hold {style.plain(objects.blind_nats)} nats each and sighted ones "
            f"{style.plain(objects.sighted_nats)} (b)."
        )
    }
