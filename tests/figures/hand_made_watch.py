"""What watching might have found, made by hand."""

import numpy as np

from tomnet.watch.result import Moment, Resemblance, Step, Watched, WatchedAgent, WatchedEpisode
from tomnet.watch.surprise import by_past, surprise_interval

ACTIONS = ("up", "down", "left", "right", "stay")


def step(time: int = 0, done: str | None = "up", sure: float = 0.9) -> Step:
    """`sure` that it goes left."""
    action = {name: sure if name == "left" else (1 - sure) / 4 for name in ACTIONS}
    return Step(time, action, {"A": 0.7, "nothing": 0.3}, done, None if done is None else -float(np.log(action[done])))


def episode(number: int, *steps: Step, counted: bool = True) -> WatchedEpisode:
    known = [each.nats for each in steps if each.nats is not None]
    return WatchedEpisode(f"{number}", number, counted, ["A"], list(steps), float(np.mean(known)) if known else None)


def agent(name: str, place: tuple[float, float], cluster: int | None, *episodes: WatchedEpisode) -> WatchedAgent:
    counted = [each.nats for each in episodes if each.counted and each.nats is not None]
    unknown = sum(one.done is None for each in episodes for one in each.steps)
    where = [float(place[0]), float(place[1])]
    return WatchedAgent(name, surprise_interval(counted), unknown, where, None, where, cluster, [], [], list(episodes))


def watched(agents: int = 3, clusters: int = 2, moments: int = 3) -> Watched:
    """Names that a page or a figure might trip over, an episode that does not count, and an action that is unknown."""
    every = [
        agent(
            f"<{number}> $x$ & co",
            (number % 3 / 2, number // 3 / 2),
            number % clusters + 1 if clusters else None,
            episode(0, step(0), step(1, None), counted=False),
            episode(1, step(0, "left"), step(1, sure=0.3 + 0.6 * number / agents)),
        )
        for number in range(agents)
    ]
    where = Moment("ann", "1", step(1), np.eye(4, 6, k=2, dtype=bool), [0, 6, 12], [("A", 18), ("E", 1), ("*", 23)])
    return Watched(
        observer="by hand",
        chosen="It was made up.",
        kinds=["*", "A", "B", "C", "D", "E"],
        actions=list(ACTIONS),
        episodes=2 * agents,
        nats=surprise_interval([each.nats.mean for each in every if each.nats.count]),
        by_past=by_past(every),
        agents=every,
        resemblance=Resemblance(["x", "y"], clusters, 0.5, "They fall into clusters."),
        moments=[where] * moments,
        remarks=["a <remark>"],
        environment={"device": "paper"},
    )
