"""Bits flipped and files cut short: whatever has a checksum is refused by name, all else refused or validly read."""

import random
from pathlib import Path

import pytest
from faults.files import CHECKSUMMED, PLAIN, Kind

from tomnet.support.array_files import PREVIOUS_SUFFIX
from tomnet.support.errors import BadFile, TomnetError


def flipped(raw: bytes, draw: random.Random) -> bytes:
    spoilt = bytearray(raw)
    spoilt[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
    return bytes(spoilt)


def cut_short(raw: bytes, draw: random.Random) -> bytes:
    return raw[: draw.randrange(len(raw))]


DAMAGES = {"bit flipped": (flipped, 20, 1000), "cut short": (cut_short, 10, 500)}


def made(kind: Kind, folder: Path) -> Path:
    """A file of this kind that is read without complaint."""
    path = folder / "there" / kind.file
    path.parent.mkdir()
    kind.write(path)
    kind.read(path)
    return path


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", CHECKSUMMED)
def test_what_has_a_checksum_is_refused_by_name(name, damage, cases, tally, tmp_path):
    kind, (spoil, few, many) = CHECKSUMMED[name], DAMAGES[damage]
    path, draw = made(kind, tmp_path), random.Random(0)
    whole = path.read_bytes()
    for _ in range(cases(few, many)):
        path.write_bytes(spoil(whole, draw))
        with pytest.raises(BadFile, match=path.name):
            kind.read(path)
        tally(f"{name}, {damage}", "refused by name")


@pytest.mark.parametrize("name", [name for name in CHECKSUMMED if name.startswith("checkpoint")])
def test_the_previous_checkpoint_is_offered(name, cases, tally, tmp_path):
    kind, draw = CHECKSUMMED[name], random.Random(0)
    path = made(kind, tmp_path)
    kind.write(path)
    previous = path.with_name(path.name + PREVIOUS_SUFFIX)
    whole = path.read_bytes()
    path.unlink()  # or a write would reach the hard link too
    for _ in range(cases(5, 100)):
        path.write_bytes(flipped(whole, draw))
        with pytest.raises(BadFile, match=f"an intact earlier copy is {previous}"):
            kind.read(path)
        tally(f"{name}, bit flipped, one before it", "refused, the one before offered")


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", PLAIN)
def test_what_has_none_is_refused_in_one_line_or_validly_read(name, damage, cases, tally, tmp_path):
    kind, (spoil, few, many) = PLAIN[name], DAMAGES[damage]
    path, draw = made(kind, tmp_path), random.Random(0)
    whole = path.read_bytes()
    for _ in range(cases(few, many)):
        path.write_bytes(spoil(whole, draw))
        refusal = None
        try:
            kind.read(path)
        except TomnetError as error:
            refusal = str(error)
        assert refusal is None or str(path.parent) in refusal
        assert refusal is None or "\n" not in refusal
        tally(f"{name}, {damage}", "read" if refusal is None else "refused in one line")
