import re
from html import unescape

import pytest

from tomnet import zoo
from tomnet.report.markdown import anchor, title_of, to_html


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("two\nlines", "<p>two\nlines</p>"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        (
            "## A card, of 2\n- a\n  b\n- c",
            '<h2 id="a-card-of-2">A card, of 2</h2>\n<ul><li>a\n  b</li><li>c</li></ul>',
        ),
        ("`<b>` **b *or* c** *d*", "<p><code>&lt;b&gt;</code> <strong>b <em>or</em> c</strong> <em>d</em></p>"),
        ("(L0 − L*): L0 without, L* with it; 2 * 3 * 4", "<p>(L0 − L*): L0 without, L* with it; 2 * 3 * 4</p>"),
        ("    tomnet list\n      --claims", "<pre>tomnet list\n  --claims</pre>"),
        ("```python\nx = 1\n\n# no heading\n```", "<pre>x = 1\n\n# no heading</pre>"),
        ("<script>", "<p>&lt;script&gt;</p>"),
    ],
)
def test_what_our_pages_use(text, html):
    assert to_html(text) == html


def test_a_table_tells_each_cell_its_column():
    table = to_html("| | steps/s |\n|---|---|\n| maze | **3** |")
    assert '<th scope="col">steps/s</th>' in table
    assert '<tr><th scope="row">maze</th><td class="short" data-label="steps/s"><strong>3</strong></td></tr>' in table


def test_links_lead_where_the_page_says_or_nowhere():
    text = "[a *card*](../agents/README.md) and [another](javascript:alert(1))"
    link = {"../agents/README.md": "agents.html"}.get
    assert '<a href="agents.html">a <em>card</em></a> and another' in to_html(text, link)
    assert "<a" not in to_html(text)


def test_titles_and_anchors_are_those_of_github():
    assert title_of("text\n\n# The title\n\n## not this") == "The title"
    assert title_of("no heading") == ""
    assert anchor("Deep RL agents, section 3.3") == "deep-rl-agents-section-33"


@pytest.mark.parametrize("name", [path.parent.name for path in zoo.FOLDER.glob("*/README.md")])
def test_nothing_of_a_card_is_lost_and_no_mark_is_left(name):
    text = (zoo.FOLDER / name / "README.md").read_text()
    html = to_html(text)
    assert not re.search(r"^\|? ?---|^#|^- |\*\*|`|\]\(", html, flags=re.MULTILINE)
    words = re.findall(r"\w+", re.sub(r"\]\([^)]*\)", "]", text))
    assert re.findall(r"\w+", unescape(re.sub(r"<[^>]*>", " ", html))) == words
