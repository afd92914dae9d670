"""Pieces of a page: links, cells, tables, and figures whose panels a phone can set one below the other."""

import base64
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from ..figures.measured import number_text
from ..figures.numbers import NumberTable
from ..figures.panels import Panel, compose, render
from ..figures.style import NOTHING


def link(to: str | None, text: str) -> str:
    """A link, or only its text where it would lead nowhere."""
    return f'<a href="{escape(to)}">{escape(text)}</a>' if to else escape(text)


LONG = 24  # characters: more than a number with its interval has


def cell(label: str, text: str) -> str:
    """A cell; one without content is dropped where a phone turns the row into a card, and a long one is wrapped."""
    kind = ' class="empty"' if text == NOTHING else _wrapped(text)
    return f'<td{kind} data-label="{escape(label)}">{escape(text)}</td>'


def _wrapped(text: str) -> str:
    return ' class="long"' if len(text) > LONG else ""


def definitions(values: Mapping[str, Any], kind: str = "") -> str:
    items = "".join(
        f"<dt>{escape(str(name).replace('_', ' '))}</dt><dd>{escape(_words(value))}</dd>"
        for name, value in values.items()
    )
    return f'<dl class="{kind}">{items}</dl>' if kind else f"<dl>{items}</dl>"


def _words(value: Any) -> str:
    """Whatever a detail holds, as a reader would write it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_words(inner)}" for name, inner in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return NOTHING if value is None else str(value)


def figure(stem: str, panels: Iterable[Panel], caption: str, command: str, *, title: str | None = None) -> str:
    """Its title is the number that it has in the paper, unless it is told."""
    panels = list(panels)
    title = f"Figure {stem.removeprefix('figure-')}." if title is None else title
    images = "\n".join(_image(panel) for panel in panels)
    single = " single" if len(panels) == 1 else ""
    return f"""<figure id="{escape(stem)}">
<div class="panels{single}">
{images}
</div>
<figcaption><strong>{escape(title)}</strong> {escape(caption)}
<span class="files"><span>{link(f"figures/{stem}.svg", "SVG")}, {link(f"figures/{stem}.png", "PNG")}, drawn by</span>
<code>{escape(command)}</code></span>
</figcaption>
</figure>"""


def _image(panel: Panel) -> str:
    """A panel as an image of its own, so that a phone can set them one below the other."""
    svg = base64.b64encode(render(compose([panel], columns=1), "svg")).decode()
    alt = f"Panel {panel.letter}. {panel.alt}" if panel.letter else panel.alt
    return f'<img src="data:image/svg+xml;base64,{svg}" alt="{escape(alt)}">'


def number_table(table: NumberTable) -> str:
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in table.columns)
    rows = []
    for name, *cells in table.rows:
        labelled = zip(table.columns[1:], cells, strict=True)
        filled = "".join(cell(label, text) for label, text in labelled)
        rows.append(f'<tr><th scope="row"{_wrapped(name)}>{escape(name)}</th>{filled}</tr>')
    body = "\n".join(rows)
    return f"""<div class="scroll">
<table class="numbers">
<caption>{escape(table.title)}</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>"""
