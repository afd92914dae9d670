"""Scenes ready to be looked at: levels, agents and pasts whose answers a person can guess before asking."""

from typing import Any

from ..experiments.sally_anne.scenarios import drawing

FREE = "..........."

TRAPPED = "\n".join(
    (
        "..#........",
        "D.#...A....",
        "..#........",
        "#######....",
        "......#....",
        ".@....#..B.",
        "......#....",
        "......#....",
        "....C.#....",
        "......#....",
        "......#....",
    )
)
A_FAN_OF_B = (
    "\n".join((FREE, ".@.A.......", *(FREE,) * 6, "..D......B.", FREE, "C.........."))
    + "\n\n"
    + "\n".join(["right", "down"] + ["right"] * 7 + ["down"] * 6)
)
GLIMPSES = [  # each of them on its way to B; an observer of snapshots sees the step in the middle
    "\n".join((*(FREE,) * 2, "..A....@...", *(FREE,) * 3, "....D......", FREE, "C........B.", FREE, FREE))
    + "\n\n"
    + "\n".join(["down"] * 6 + ["right"] * 2),
    "\n".join(("B..........", *(FREE,) * 3, "....C......", ".........D.", FREE, "A....@.....", *(FREE,) * 3))
    + "\n\n"
    + "\n".join(["left"] * 3 + ["up"] * 7 + ["left"] * 2),
    "\n".join((FREE, ".D.......C.", *(FREE,) * 3, "@..A......B", *(FREE,) * 5))
    + "\n\n"
    + "\n".join(["down"] + ["right"] * 10 + ["up"]),
]
OPEN = "\n".join((FREE, "...@..A....", *(FREE,) * 3, "..........C", FREE, FREE, "D..........", FREE, ".......B..."))
FAR = (
    "\n".join(("@.C........", FREE, "D..........", *(FREE,) * 5, FREE, "..........A", "B.........."))
    + "\n\n"
    + "\n".join(["down", *["right"] * 10, *["down"] * 8])
)
NEAR = (
    "\n".join(("@...A......", FREE, FREE, *(FREE,) * 5, "..........C", FREE, "B.........D"))
    + "\n\n"
    + "\n".join(["right"] * 4)
)
AHEAD = "\n".join(
    (FREE, "..B........", FREE, "...@.......", *(FREE,) * 3, ".C.........", FREE, ".........A.", "...D.......")
)
LOCKED_UP = "\n".join(
    (
        "..........*",
        *(FREE,) * 2,
        "...####....",
        "...#..#....",
        "...#A.#....",
        "...####....",
        ".@.........",
        *(FREE,) * 2,
        "DB........C",
    )
)


def planner(favourite: int, move_cost: float = 0.01) -> dict[str, Any]:
    return {"kind": "planner", "rewards": [float(kind == favourite) for kind in range(4)], "move_cost": move_cost}


def habit(*policy: float) -> dict[str, Any]:
    return {"kind": "random", "policy": list(policy)}


def deep(condition: str) -> dict[str, Any]:
    return {"kind": "deep", "condition": condition, "network": 0, "preferred": 0}


def scene(name: str, title: str, about: str, level: str, agent: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "title": title, "about": about, "level": level, "agent": agent, "past": [], **more}


def scenes() -> list[dict[str, Any]]:
    sally = "The agent passes what it likes and is led to the star. Press swap when it stands there."
    return [
        scene(
            "favourite",
            "One past episode",
            "It passed A and went all the way to B. Where will it go now?",
            OPEN,
            planner(1),
            observer="goal-inference/2d",
            past=[A_FAN_OF_B],
        ),
        scene(
            "glimpses",
            "Three glimpses",
            "One step is all that was seen of each episode. A click on an episode shows another of its steps.",
            OPEN,
            planner(1),
            observer="goal-snapshots/all-heads",
            past=GLIMPSES,
        ),
        scene(
            "trapped",
            "Trapped chamber",
            "C is the only object in reach: whatever the agent likes best, it will take C rather than wander.",
            TRAPPED,
            planner(1),
            observer="goal-snapshots/all-heads",
        ),
        scene(
            "far",
            "A far trip",
            "It passed nearer objects and went far for A: it must like A, and will go far again.",
            AHEAD,
            planner(0),
            observer="greedy-agents/greedy",
            past=[FAR],
        ),
        scene(
            "near",
            "A near trip",
            "A was nearest when it took it. Does it like A, or is it greedy and takes what is near?",
            AHEAD,
            planner(0, 0.5),
            observer="greedy-agents/greedy",
            past=[NEAR],
        ),
        scene(
            "random",
            "A random agent",
            "It looks at nothing and rolls a die. Of four steps that were seen, three went left: what will come next?",
            OPEN,
            habit(0.2, 0.0, 0.7, 0.1, 0.0),
            observer="random-agents/mixture",
            past=[f"{OPEN}\n\n{step}" for step in ("left", "left", "up", "left")],
        ),
        scene(
            "walls",
            "Wall follower",
            "This agent sees 5×5 and remembers nothing. A is locked up. Play: it goes round along the walls.",
            LOCKED_UP,
            deep("stateless-5x5"),
        ),
        scene(
            "in-view",
            "Sally and Anne, in view",
            f"{sally} A is 2 cells away then, where it can see the swap.",
            drawing(2)[0],
            deep("5x5"),
            view="sally",
            way=list(drawing(2)[1]),
        ),
        scene(
            "out-of-view",
            "Sally and Anne, out of view",
            f"{sally} A is 4 cells away then, behind its back.",
            drawing(4)[0],
            deep("5x5"),
            view="sally",
            way=list(drawing(4)[1]),
        ),
    ]
