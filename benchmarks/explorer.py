"""How quickly the page's server answers, and whether any question brings it down.

    python benchmarks/explorer.py latency [--times 200] [--only PART]   # of the questions' names
    python benchmarks/explorer.py hostile [--cases 10000]
    python benchmarks/explorer.py crowd [--clients 50]

Each starts a server of its own and asks over HTTP, as the page does. Latencies are after the first question of a kind,
which compiles. Hostile questions are made by schemathesis from the server's schema, right and wrong ones, most of the
right ones with real levels in them. The load of the machine is printed, because other jobs may share it.
"""

import argparse
import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import numpy as np

from tomnet.support.cpu import prepare_cpu

prepare_cpu()  # before JAX starts

import httpx  # noqa: E402
import hypothesis  # noqa: E402
import schemathesis  # noqa: E402
from schemathesis import GenerationMode  # noqa: E402

from tomnet.explorer.serve import served  # noqa: E402

LEVEL = "@...A......\n" + "...........\n" * 5 + "B..........\n" + "...........\n" * 3 + "......D...C"
WITH_STAR = LEVEL.replace("@...A", "@..*A")
PAST = LEVEL + "\n\n" + "down\n" * 9 + "right\n" * 9
PLANNER = {"kind": "planner", "rewards": [0.0, 0.0, 1.0, 0.0], "move_cost": 0.01}
RANDOM = {"kind": "random", "policy": [0.1, 0.1, 0.6, 0.1, 0.1]}
DEEP = {"kind": "deep", "condition": "5x5", "network": 0, "preferred": 0}
OBSERVERS = ("goal-inference/2d", "goal-snapshots/all-heads", "greedy-agents/greedy")
WATCHERS = ("deep-rl-agents/both", "explicit-beliefs/mixed")  # observers that follow the current episode
ROUND = ["down"] * 5 + ["right"] * 2 + ["up"] * 4 + ["left"] * 2 + ["up"]  # past no object, and back
FULL_PAST = [{"text": f"{WITH_STAR}\n\n" + "\n".join(ROUND * 3)}] * 4  # as many as such observers are used to
WARM_UP = 3
NEW_PAST = ", a new past"
STEP_FURTHER = ", a step further"
PORT = 28765


# --- Latency


def questions() -> dict[str, tuple[str, dict[str, Any]]]:
    me = {"client": "benchmark1"}
    asked = {}
    for name in OBSERVERS:
        about = me | {"observer": name, "past": [{"text": PAST}], "now": LEVEL}
        asked[f"ask {name}"] = "ask", about
        asked[f"ask {name}{NEW_PAST}"] = "ask", about
        asked[f"ask {name}, every cell"] = "ask", about | {"everywhere": True}
        asked[f"ask {name}, every cell{STEP_FURTHER}"] = "ask", about | {"everywhere": True}
        asked[f"ideal observer and planner, as {name}"] = "beside", about | {"agent": PLANNER}
        asked[f"the same as {name}{NEW_PAST}"] = "beside", about | {"agent": PLANNER}
    asked["ideal observer and planner, every cell"] = "beside", about | {"agent": PLANNER, "everywhere": True}
    random = me | {"observer": "random-agents/mixture", "past": [{"text": PAST}], "now": LEVEL}
    asked["ask random-agents/mixture"] = "ask", random
    asked["ideal observer and random agent"] = "beside", random | {"agent": RANDOM}
    asked["a planner's step"] = "act", me | {"agent": PLANNER, "now": LEVEL, "steps": 1, "seed": 1}
    asked["a planner's episode"] = "watch", me | {"agent": PLANNER, "seed": 1}
    asked["a deep RL agent's step"] = "act", me | {"agent": DEEP, "now": WITH_STAR, "steps": 1, "seed": 1}
    asked["a deep RL agent's episode"] = "watch", me | {"agent": DEEP, "seed": 1}
    begun = f"{WITH_STAR}\n\n" + "\n".join(ROUND[:2])
    for name in WATCHERS:
        about = me | {"observer": name, "past": FULL_PAST, "now": begun}
        asked[f"ask {name}"] = "ask", about
        asked[f"ask {name}{NEW_PAST}"] = "ask", about
        asked[f"ask {name}{STEP_FURTHER}"] = "ask", about
        asked[f"ask {name}, every cell"] = "ask", about | {"everywhere": True}
        asked[f"ask {name}, every cell{STEP_FURTHER}"] = "ask", about | {"everywhere": True}
    mind = {"observer": None, "past": [], "now": begun, "agent": DEEP}
    asked["what a deep RL agent believes"] = "beside", me | mind
    asked["a random level"] = "level", me | {"subgoal": True, "seed": 1}
    asked["an episode file"] = "read", {"text": PAST}
    return asked


def latency(times: int, only: str) -> None:
    """Each time another level is asked about, so that nothing is answered from what is kept; a step further on the same
    level, what can be kept is. A new past is one episode more, which takes the place of the last."""
    print(f"{'':56} {'median':>8} {'99%':>8} ms")
    with served(PORT) as address, httpx.Client(base_url=address, timeout=600) as page:
        for name, (path, question) in questions().items():
            if only not in name:
                continue
            took = []
            for number in range(times + WARM_UP):
                body = _further(question, number) if STEP_FURTHER in name else _another(question, number)
                if NEW_PAST in name:
                    body |= _another_past(question, number)
                start = time.perf_counter()
                page.post(f"/api/{path}", json=body).raise_for_status()
                took.append(1e3 * (time.perf_counter() - start))
            middle, worst = np.percentile(took[WARM_UP:], (50, 99))
            print(f"{name:56} {middle:8.1f} {worst:8.1f}", flush=True)


def _another(question: dict[str, Any], number: int) -> dict[str, Any]:
    changed = {"now": _walled(question["now"], number)} if "now" in question else {}
    return question | changed | ({"seed": number} if "seed" in question else {})


def _another_past(question: dict[str, Any], number: int) -> dict[str, Any]:
    *before, last = question["past"]
    return {"past": [*before, {"text": _walled(last["text"], number)}]}


def _further(question: dict[str, Any], number: int) -> dict[str, Any]:
    """One step after the other; then it begins anew, later each time, so that nobody saw it before."""
    rounds, steps = divmod(number, len(ROUND))
    walked = ["stay"] * (rounds % 16) + ROUND[: 1 + steps]  # 30 steps at most: a maze's episodes have 31
    level = question["now"].partition("\n\n")[0]
    return question | {"now": f"{level}\n\n" + "\n".join(walked)}


def _walled(text: str, number: int) -> str:
    """With a wall somewhere on the right, where nobody walks: as many different levels as are asked about."""
    rows = text.split("\n")
    for row, col in {(1 + number % 4, 4 + number // 4 % 6), (7 + number // 24 % 2, 4 + number // 48 % 6)}:
        rows[row] = rows[row][:col] + "#" + rows[row][col + 1 :]
    return "\n".join(rows)


# --- Hostile questions


def hostile(cases: int) -> Counter[int]:
    with served(PORT) as address:
        return hostile_cases(address, cases)


def hostile_cases(address: str, cases: int) -> Counter[int]:
    """How often each status was answered."""
    schema = schemathesis.openapi.from_url(f"{address}/api/openapi.json")
    operations = [each.ok() for each in schema.get_all_operations()]
    statuses: Counter[int] = Counter()
    each = -(-cases // (2 * len(operations)))
    while sum(statuses.values()) < cases:  # of some operations there are fewer different questions
        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _ask_about(operation, mode, each, statuses)
    return statuses


def _ask_about(operation: Any, mode: GenerationMode, cases: int, statuses: Counter[int]) -> None:
    quiet = list(hypothesis.HealthCheck)
    settings = hypothesis.settings(max_examples=cases, deadline=None, database=None, suppress_health_check=quiet)
    generated = operation.as_strategy(generation_mode=mode)
    real = hypothesis.strategies.sampled_from((None, LEVEL, WITH_STAR, PAST))

    @settings
    @hypothesis.given(generated, real)
    def ask(case: Any, text: str | None) -> None:
        if text is not None and mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
            case.body |= {name: text for name in ("now", "text", "level") if name in case.body}
        statuses[case.call(timeout=600).status_code] += 1

    with suppress(hypothesis.errors.Unsatisfiable):  # an operation that takes nothing cannot be asked wrongly
        ask()


# --- A crowd


def crowd(clients: int) -> None:
    """All at once, each with questions of its own."""

    def one(number: int) -> Counter[int]:
        with httpx.Client(base_url=address, timeout=600) as page:
            client = {"client": f"crowd{number:05}"}
            bodies = [client | {"observer": OBSERVERS[0], "past": [], "now": LEVEL} for _ in range(4)]
            return Counter(page.post("/api/ask", json=_another(body, number)).status_code for body in bodies)

    with served(PORT) as address, ThreadPoolExecutor(clients) as everybody:
        start = time.perf_counter()
        statuses = sum(everybody.map(one, range(clients)), Counter())
    print(f"{clients} clients, 4 questions each: {dict(statuses)} in {time.perf_counter() - start:.1f} s")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=("latency", "hostile", "crowd"))
    options.add_argument("--times", type=int, default=200)
    options.add_argument("--only", default="")
    options.add_argument("--cases", type=int, default=10_000)
    options.add_argument("--clients", type=int, default=50)
    asked = options.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at first")
    start = time.perf_counter()
    if asked.what == "latency":
        latency(asked.times, asked.only)
    elif asked.what == "crowd":
        crowd(asked.clients)
    else:
        statuses = hostile(asked.cases)
        print(f"{sum(statuses.values())} cases: {dict(sorted(statuses.items()))}")
    print(f"{time.perf_counter() - start:.0f} s, load {os.getloadavg()[0]:.1f} at last")


if __name__ == "__main__":
    main()
