"""What every page of the report has in common, and the pages that its first one links to: model cards and docs."""

import re
from collections.abc import Mapping
from html import escape
from pathlib import Path

from ..support.files import write_atomically
from .markdown import title_of, to_html

STYLE = Path(__file__).with_name("page.css")
DOCS = Path(__file__).parents[2] / "docs"  # beside the code, not in an installed package
DOCUMENTS = ("deviations", "performance")
FOLDER = "pages"
BACK = '<nav class="back"><a href="../index.html">← the report</a></nav>\n'


def html_page(title: str, body: str) -> str:
    """A single file that asks nothing of the network: the style is inside it."""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>
{STYLE.read_text()}</style>
</head>
<body>
{body}
</body>
</html>
"""


def write_pages(folder: Path, cards: Mapping[str, str | Path]) -> dict[str, str]:
    """The cards, and those docs that are here, as pages below `folder`; where each lies, by name."""
    docs = {name: DOCS / f"{name}.md" for name in DOCUMENTS if (DOCS / f"{name}.md").exists()}
    texts = {name: one.read_text() if isinstance(one, Path) else one for name, one in {**docs, **cards}.items()}
    for name, text in texts.items():
        body = BACK + to_html(text, lambda target: _leads(target, texts))
        write_atomically(folder / FOLDER / f"{name}.html", html_page(title_of(text) or name, body).encode())
    return {name: f"{FOLDER}/{name}.html" for name in texts}


def _leads(target: str, names: Mapping[str, str]) -> str | None:
    """From one page to another: a card was NAME/README.md, a page of the docs NAME.md; a claim of docs/results.md is
    decided anew on the report's first page. Nowhere else."""
    if claim := re.fullmatch(r"(?:\.\./)*docs/results\.md#(\w+)", target):
        return f"../index.html#claim-{claim[1].upper()}"
    found = re.fullmatch(r"(?:\.\./)*([\w-]+)(?:/README)?\.md(#[\w-]+)?", target)
    return f"{found[1]}.html{found[2] or ''}" if found and found[1] in names else None
