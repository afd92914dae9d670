"""Files made to do harm, one of every format: refused in one line, nothing of them run, memory capped.

All readers work in a process of their own that may take at most 1 GiB more than it has.
"""

import json
import os
import pickle
import resource
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import safetensors.numpy

ROOM = 2**30
HUGE = 2**40  # bytes of a sparse file, which takes no room on the disk
CHECKSUM_OVER = {
    "observer": ("tomnet observer", 2, "config"),
    "population": ("tomnet agents", 3, "network"),
    "fitted observer": ("tomnet fitted observer", 2, "network"),
}


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("boom",)


def sealed(format: str, version: int, header: dict) -> bytes:
    """Rubbish under a right checksum: whoever means harm can compute one too."""
    from tomnet.support.array_files import DIGEST, NO_DIGEST, _digest

    about = {"sha256": NO_DIGEST.decode(), "format": format, "version": version, "header": header}
    raw = bytearray(safetensors.numpy.save({}, metadata={"tomnet": json.dumps(about, separators=(",", ":"))}))
    raw[DIGEST] = _digest(raw)
    return bytes(raw)


def deep_header(name: str) -> dict:
    """All as it should be, but for layers without end."""
    from faults.files import CHECKSUMMED

    from tomnet.support.array_files import load_arrays

    format, version, field = CHECKSUM_OVER[name]
    kind, path = CHECKSUMMED[name], Path("sound.safetensors")
    kind.write(path)
    header = load_arrays(path, format, version)[1]
    depths = [each for each in header[field] if each.endswith("depth")]
    assert depths
    return header | {field: header[field] | dict.fromkeys(depths, 10**9 + 1)}


def hostile_arrays(name: str, path: Path) -> Iterator[str]:
    """Puts one file after the other at a path, each with a word of what it is."""
    lengths = {"a header of 2⁶³ bytes": 2**63, "a header of 2⁴⁰ bytes": HUGE, "a header longer than all": 2**64 - 1}
    for word, length in lengths.items():
        path.write_bytes(length.to_bytes(8, "little") + b'{"__metadata__":{}}')
        yield word
    claimed = {"w": {"dtype": "F32", "shape": [2**40], "data_offsets": [0, 2**42]}}
    text = json.dumps(claimed).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text)
    yield "an array of 4 TiB in 100 bytes"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        path.write_bytes(pickle.dumps(Bomb(), protocol=protocol))
        yield f"a pickle of protocol {protocol}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("weights.npy", b"\0" * 50_000_000)
    yield "a zip archive that unpacks to 50 MB"
    if name in CHECKSUM_OVER:
        path.write_bytes(sealed(*CHECKSUM_OVER[name][:2], deep_header(name)))
        yield "a billion layers under a right checksum"
        if name == "fitted observer":
            deep = dict.fromkeys(("kinds", "actions", "seen_features", "episode_features", "asked_features"), 2)
            header = deep_header(name) | {"kind": "network", "network": deep | {"depth": 10**9 + 1}}
            path.write_bytes(sealed(*CHECKSUM_OVER[name][:2], header))
            yield "a billion layers in a network of its own"
        path.write_bytes(sealed(*CHECKSUM_OVER[name][:2], {"config": [], "network": {}}))
        yield "nonsense under a right checksum"


def hostile_plain(name: str, path: Path) -> Iterator[str]:
    from faults.files import hostile_json

    for word, raw in hostile_json().items():
        path.write_bytes(raw)
        yield word
    path.write_bytes(b"@" * 10_000_000)
    yield "a line of ten million characters"
    path.write_bytes(b"\n" * 100_000)
    yield "100,000 empty lines"
    path.write_bytes(pickle.dumps(Bomb()))
    yield "a pickle"
    path.write_bytes(bytes(range(256)) * 100)
    yield "every byte there is"


def hostile_places(path: Path) -> Iterator[str]:
    """Names that lead to something else than a file, and one that is larger than all memory."""
    path.unlink(missing_ok=True)
    with path.open("wb") as file:
        file.truncate(HUGE)
    yield "a sparse file of 1 TiB"
    ways: dict[str, Callable[[], None]] = {
        "a pipe that nobody writes to": lambda: os.mkfifo(path),
        "a link to /dev/zero": lambda: path.symlink_to("/dev/zero"),
        "a link to itself": lambda: path.symlink_to(path.name),
    }
    for word, make in ways.items():
        path.unlink()
        make()
        yield word
    path.unlink()


def nothing_there(kind: str, file: str) -> bool:
    """The last line of a log that no newline ends was cut short by a kill; a run that left no file has not begun."""
    return kind == "metrics.jsonl of a run" or (kind, file) == ("config.json of a run", "a link to itself")


def attack() -> None:
    """In the other process: reads them all, and prints what came of each as JSON."""
    from faults.files import CHECKSUMMED, PLAIN

    from tomnet.support.errors import TomnetError

    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + ROOM,) * 2)
    found = []
    for kinds, hostile in ((CHECKSUMMED, hostile_arrays), (PLAIN, hostile_plain)):
        for name, kind in kinds.items():
            path = Path(kind.file)
            path.unlink(missing_ok=True)
            for words in (hostile(name, path), hostile_places(path)):
                for word in words:
                    try:
                        kind.read(path)
                        said = "read"
                    except TomnetError as error:
                        said = str(error)
                    except BaseException as error:
                        said = f"{type(error).__name__}: {error}"
                        found.append({"kind": name, "file": word, "said": said, "fault": True})
                        continue
                    found.append({"kind": name, "file": word, "said": said, "fault": False})
    print(json.dumps(found))


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    root = Path(__file__).parents[2]
    folder = tmp_path_factory.mktemp("hostile")
    code = "import faults.files; from faults.test_hostile import attack; attack()"
    paths = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), str(root / "tests")])}
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, env=paths, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1]), folder


def test_hostile_files_of_every_format_are_refused_in_one_line(attacked, tally):
    found, _ = attacked
    assert [each for each in found if each["fault"]] == []
    for each in found:
        refused = each["said"] != "read"
        assert "\n" not in each["said"]
        assert refused or nothing_there(each["kind"], each["file"]), each
        tally("hostile files, every reader", "refused in one line" if refused else "taken for nothing")


def test_nothing_of_them_is_run(attacked):
    assert not (attacked[1] / "boom").exists()
