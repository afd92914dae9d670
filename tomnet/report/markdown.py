"""Markdown as our cards and docs write it, in HTML.

    to_html("Observers of *one* trajectory: `2d`.")     # <p>Observers of <em>one</em> trajectory: …

Headings, paragraphs, lists, tables, code, emphasis and links. Whatever else Markdown knows stays the text that it is.
"""

import re
from collections.abc import Callable
from html import escape

Link = Callable[[str], str | None]
"""Where a link's target lies for the reader of the page. None: nowhere, and only the link's text is left."""

INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|\[(?P<text>[^\]]+)\]\((?P<target>[^)\s]+)\)"
    r"|\*\*(?P<strong>\S(?:.*?\S)?)\*\*"
    r"|(?<![\w*])\*(?P<em>[^\s*](?:[^*]*[^\s*])?)\*(?![\w*])",  # the stars of L* are none
    re.DOTALL,
)

SHORT = 16  # characters: a number with its interval, say, which is not to be broken into two lines


def to_html(text: str, link: Link = lambda target: None) -> str:
    """Links lead nowhere unless told: a page decides what it trusts."""
    parts = []
    for number, part in enumerate(re.split(r"^```\w*\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)):
        if number % 2:
            parts.append(_code(part))
        else:
            headings_apart = re.sub(r"^(#+ .*)$", r"\n\1\n", part, flags=re.MULTILINE)
            blocks = re.split(r"\n\s*?\n", headings_apart)
            parts += [_block(block.strip("\n"), link) for block in blocks if block.strip()]
    return "\n".join(parts)


def title_of(text: str) -> str:
    """The first heading."""
    found = re.search(r"^# (.*)$", text, flags=re.MULTILINE)
    return found[1] if found else ""


def _block(block: str, link: Link) -> str:
    if heading := re.fullmatch(r"(#{1,6}) (.*)", block):
        level, words = len(heading[1]), heading[2]
        return f'<h{level} id="{escape(anchor(words))}">{inline(words, link)}</h{level}>'
    if all(line.startswith("    ") for line in block.splitlines()):
        return _code(re.sub(r"^    ", "", block, flags=re.MULTILINE))
    if block.startswith("|"):
        return _table(block, link)
    if block.startswith("- "):
        items = re.split(r"^- ", block, flags=re.MULTILINE)[1:]
        return "<ul>" + "".join(f"<li>{inline(item.strip(), link)}</li>" for item in items) + "</ul>"
    return f"<p>{inline(block, link)}</p>"


def anchor(heading: str) -> str:
    """As GitHub names it, so that a link to a part of a page works there and here."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def inline(text: str, link: Link) -> str:
    done, end = [], 0
    for found in INLINE.finditer(text):
        done += [escape(text[end : found.start()]), _marked(found, link)]
        end = found.end()
    return "".join([*done, escape(text[end:])])


def _marked(found: re.Match[str], link: Link) -> str:
    if found["code"]:
        return f"<code>{escape(found['code'])}</code>"
    if found["text"]:
        words, to = inline(found["text"], link), link(found["target"])
        return words if to is None else f'<a href="{escape(to)}">{words}</a>'
    mark = "strong" if found["strong"] else "em"
    return f"<{mark}>{inline(found[mark], link)}</{mark}>"


def _code(text: str) -> str:
    return f"<pre>{escape(text.strip(chr(10)))}</pre>"


def _cell(label: str, text: str, link: Link) -> str:
    short = ' class="short"' if len(text) <= SHORT else ""
    return f'<td{short} data-label="{escape(label)}">{inline(text, link)}</td>'


def _table(block: str, link: Link) -> str:
    """Each cell knows its column: on a phone, a row becomes a card."""
    columns, _, *rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in block.splitlines()]
    head = "".join(f'<th scope="col">{inline(column, link)}</th>' for column in columns)
    body = []
    for first, *cells in rows:
        labelled = zip(columns[1:], cells)
        filled = "".join(_cell(label, cell, link) for label, cell in labelled)
        body.append(f'<tr><th scope="row">{inline(first, link)}</th>{filled}</tr>')
    lines = "\n".join(body)
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>'
