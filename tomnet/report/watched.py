"""The page of `tomnet watch`: who resembles whom, what was expected of each agent, and what nobody expected.

    build_page(watched, "episodes", "page")     # page/index.html, watched.json, figures/

A single file that asks nothing of the network, as the report is.
"""

from collections import Counter
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..experiments.analysis.statistics import Estimate
from ..figures import save
from ..figures.numbers import NumberTable
from ..figures.panels import compose_all
from ..figures.style import NOTHING, percent, plain
from ..figures.violations import likeliest
from ..figures.watch import captions, most_surprising, overview, panels
from ..support.files import write_atomically
from ..support.json_files import write_json
from ..support.words import counted
from ..watch.result import Step, Watched, WatchedAgent, WatchedEpisode
from ..watch.surprise import UNEXPECTED
from .pages import html_page
from .parts import definitions, figure, link, number_table

MOST_AGENTS = 200  # in the table
MOST_TOLD = 24  # agents, step by step
MOST_STEPS = 60  # of an episode
DATA = "watched.json"
TITLES = {
    "characters": "Characters.",
    "surprise": "Surprise.",
    "violations": "Violations of expectation.",
    "courses": "Courses.",
}
SECTIONS = {
    "resemblance": "Who resembles whom",
    "agents": "How surprising they were",
    "unexpected": "What nobody expected",
    "episodes": "What was expected, step by step",
}
NOT_ONE = f"No action that was done had been given less than {percent(UNEXPECTED)}: nothing was unexpected."
ON_STEPS = (
    "The last episode of each agent as it unfolded: what was expected before each step, after the episodes before it "
    "and the steps up to there, and how likely that was; then what was done."
)


def build_page(watched: Watched, path: str, folder: str | Path) -> Path:
    """Write `index.html`, `watched.json` and `figures/`; the page's path."""
    folder = Path(folder)
    drawn, words = panels(watched), captions(watched)
    write_json(folder / DATA, watched)  # first: what else is here is then known to be ours
    save(compose_all(drawn) | {"overview": overview(drawn)}, folder / "figures")
    command = f"tomnet watch PATH --model {watched.observer} --out DIR"
    shown = {stem: figure(stem, some, words[stem], command, title=TITLES[stem]) for stem, some in drawn.items()}
    bodies = {
        "resemblance": shown["characters"],
        "agents": shown["surprise"] + number_table(_agents_table(watched)) + shown.get("courses", ""),
        "unexpected": shown.get("violations", f"<p>{NOT_ONE}</p>"),
        "episodes": f"<p>{ON_STEPS}</p>\n" + "\n".join(map(_last_episode, _told(watched))),
    }
    sections = [
        f'<section id="{name}">\n<h2>{escape(SECTIONS[name])}</h2>\n{body}\n</section>' for name, body in bodies.items()
    ]
    environment = f'<section id="environment">\n<h2>Environment</h2>\n{definitions(watched.environment, "environment")}'
    body = "\n".join([_head(watched, path), _contents(), *sections, f"{environment}\n</section>"])
    page = folder / "index.html"
    write_atomically(page, html_page(f"Watched: {path}", body).encode())
    return page


def _head(watched: Watched, path: str) -> str:
    remarks = "".join(f"<li>{escape(remark)}</li>" for remark in watched.remarks)
    return f"""<header>
<h1>Watched: {escape(path)}</h1>
<p>{escape(" ".join(summary(watched)))}</p>
{f"<ul>{remarks}</ul>" if remarks else ""}
<p>The data: {link(DATA, DATA)} has every probability of every step.</p>
</header>
"""


def summary(watched: Watched) -> list[str]:
    """In a sentence each."""
    whom = f"{counted(watched.episodes, 'episode')} of {counted(len(watched.agents), 'agent')}"
    return [
        f"The observer {watched.observer} watched {whom}, and foretold each from the episodes before it.",
        watched.chosen,
        f"Surprise: {estimate(watched.nats)} nats a step.",
    ]


def estimate(nats: Estimate) -> str:
    """`0.62 [0.50, 0.74]`, without an interval where there is none."""
    interval = f" [{plain(nats.low, 2)}, {plain(nats.high, 2)}]" if nats.measured else ""
    return plain(nats.mean, 2) + interval


def _contents() -> str:
    items = "".join(f"<li>{link(f'#{name}', title)}</li>" for name, title in SECTIONS.items())
    return f'<nav aria-label="Contents"><ul>{items}</ul></nav>'


def _agents_table(watched: Watched) -> NumberTable:
    agents = [*most_surprising(watched), *(agent for agent in watched.agents if not agent.nats.count)]
    title = "The most surprising first; surprise in nats a step [95% interval over episodes]."
    if len(agents) > MOST_AGENTS:
        title += f" {len(agents) - MOST_AGENTS:,} more are in {DATA}."
    clusters = cluster_names(watched)
    return NumberTable(title, AGENT_COLUMNS, tuple(_agent_row(agent, clusters) for agent in agents[:MOST_AGENTS]))


def cluster_names(watched: Watched) -> dict[int | None, str]:
    """`2`, or `2, alone` of a single agent that is apart from all others."""
    sizes = Counter(agent.cluster for agent in watched.agents)
    return {
        cluster: NOTHING if cluster is None else f"{cluster}, alone" if size == 1 else str(cluster)
        for cluster, size in sizes.items()
    }


AGENT_COLUMNS = (
    *("agent", "surprise", "first episode", "last episode", "episodes"),
    *("unknown, skipped", "cluster", "most like"),
)


def _agent_row(agent: WatchedAgent, clusters: dict[int | None, str]) -> tuple[str, ...]:
    return (
        agent.agent,
        estimate(agent.nats),
        plain(agent.episodes[0].nats, 2),
        plain(agent.episodes[-1].nats, 2) if len(agent.episodes) > 1 else NOTHING,
        str(len(agent.episodes)),
        str(agent.unknown) if agent.unknown else NOTHING,
        clusters[agent.cluster],
        ", ".join(agent.nearest) or NOTHING,
    )


def _told(watched: Watched) -> Sequence[WatchedAgent]:
    return (most_surprising(watched) or watched.agents)[:MOST_TOLD]


def _last_episode(agent: WatchedAgent) -> str:
    episode = agent.episodes[-1]
    strange = f"Unlike what the observer met in training: {'; '.join(agent.beyond)}."
    beyond = f"<p>{escape(strange)}</p>" if agent.beyond else ""
    name = f"{agent.agent}, episode {episode.episode}: {_took(episode)}"
    table = NumberTable("", STEP_COLUMNS, tuple(map(_step_row, episode.steps[:MOST_STEPS])))
    return f"<details><summary>{escape(name)}</summary>\n{beyond}{number_table(table)}\n</details>"


STEP_COLUMNS = ("step", "expected next", "will take", "done", "probability", "nats")


def _took(episode: WatchedEpisode) -> str:
    took = f"took {', '.join(episode.took)}" if episode.took else "took nothing"
    seen = f"foretold from {counted(episode.past, 'past episode')}"
    return f"{took}; {seen}, {plain(episode.nats, 2)} nats a step"


def _step_row(step: Step) -> tuple[str, ...]:
    expected = (str(step.time + 1), likeliest(step.action), likeliest(step.taken))
    if step.done is None:
        return *expected, "unknown", NOTHING, NOTHING
    return *expected, step.done, plain(step.action[step.done], 2), plain(step.nats, 2)
