"""How long the observer of a page without a server takes to answer, in Node and from disk in Chromium.

    python benchmarks/page_answers.py [--answers 200]

`open`: to read the weights; `snapshot`: to embed one snapshot of the past, once for each; `answer`: everything said
about one state. The first of each, not yet optimised by the engine, is told apart. The load of the machine is printed,
because other jobs may share it.
"""

import argparse
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from tomnet.explorer import static_observer

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-headless-shell")
WEIGHTS, FORWARD, MEASURE = "weights.js", "observer.js", "measure.js"
MEASURED = """
const took = (call) => { const start = performance.now(); call(); return performance.now() - start; };
const said = (what, [first, ...times]) => {
  times.sort((a, b) => a - b);
  const [median, late] = [0.5, 0.99].map((share) => times[Math.floor(share * (times.length - 1))].toFixed(1));
  return `${what}: first ${first.toFixed(1)} ms, then ${median} ms (median), ${late} ms (99th percentile)`;
};
let observer;
const opening = took(() => { observer = TomnetObserver.create(TOMNET_OBSERVER); });
const walls = Array.from({ length: observer.size }, (_, row) => Array(observer.size).fill(false).fill(row === 4, 2, 7));
const state = (number) => ({ walls, agent_cell: number % 40, object_cells: [60, 75, 90, 105], action: number % 5 });
const numbers = Array.from({ length: ANSWERS + 1 }, (_, number) => number);
const snapshots = numbers.map((number) => took(() => observer.embed(state(number))));
const seen = [1, 2, 3].map((number) => observer.embed(state(number)));
const answers = numbers.map((number) => took(() => observer.ask(seen, state(number))));
const report = [`open: ${opening.toFixed(1)} ms`, said("snapshot", snapshots), said("answer", answers)].join("\\n");
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--answers", type=int, default=200)
    answers = options.parse_args().answers
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / WEIGHTS).write_text(static_observer.static_observer())
        shutil.copy(Path(static_observer.__file__).parent / "page" / FORWARD, folder)
        (folder / MEASURE).write_text(MEASURED.replace("ANSWERS", str(answers)))
        print(f"weights {(folder / WEIGHTS).stat().st_size} bytes, script {(folder / FORWARD).stat().st_size} bytes")
        engines = {"node": (shutil.which("node"), in_node), "chromium": (CHROMIUM, in_chromium)}
        for engine, (program, measure) in engines.items():
            lines = measure(folder).splitlines() if program else ["is not installed"]
            print("\n".join(f"{engine}, {line}" for line in lines), flush=True)


def in_node(folder: Path) -> str:
    scripts = [(folder / name).read_text() for name in (WEIGHTS, FORWARD, MEASURE)]
    (folder / "all.js").write_text("\n".join([*scripts, "console.log(report);"]))
    return subprocess.check_output(["node", str(folder / "all.js")], text=True)


def in_chromium(folder: Path) -> str:
    tags = "".join(f'<script src="{name}"></script>' for name in (WEIGHTS, FORWARD, MEASURE))
    (folder / "page.html").write_text(f"<pre></pre>{tags}<script>document.querySelector('pre').append(report)</script>")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--dump-dom", (folder / "page.html").as_uri()]
    dom = subprocess.check_output(command, text=True, stderr=subprocess.DEVNULL)
    return re.findall(r"<pre>(.*?)</pre>", dom, re.DOTALL)[0]


if __name__ == "__main__":
    main()
