"""Named arrays in a file that knows its own checksum: what a flipped bit has touched is refused.

It is a plain safetensors file, readable by anyone, with one metadata entry of ours:

    {"__metadata__": {"tomnet": "{\"sha256\": …, \"format\": …, \"version\": …, \"header\": {…}}"}, …tensors…}

The checksum lives inside the file, so there is no second file that a kill could leave out of step. It covers
every byte of the file, itself taken as zeros.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from operator import methodcaller
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

from .errors import BadFile
from .files import FilePath, read_whole, write_atomically

LENGTH_BYTES = 8  # a safetensors file opens with the length of its JSON header
STAMP = rb'{"__metadata__":{"tomnet":"{\"sha256\":\"'  # how that header opens when we wrote the file
DIGEST = slice(LENGTH_BYTES + len(STAMP), LENGTH_BYTES + len(STAMP) + 64)
NO_DIGEST = b"0" * 64
FORMAT_SAID = re.compile(re.escape(STAMP) + rb'[0-9a-f]{64}\\",\\"format\\":\\"([a-z ]+)\\"')
LARGEST_HEADER = 2**10  # bytes that are looked at for it

PREVIOUS_SUFFIX = ".previous"

# safetensors' own numpy reader has no bfloat16.
DTYPES = {
    "BOOL": np.dtype(bool),
    "BF16": np.dtype(ml_dtypes.bfloat16),
    "C64": np.dtype("<c8"),
    **{f"{kind}{8 * size}": np.dtype(f"<{kind.lower()}{size}") for kind in "IU" for size in (1, 2, 4, 8)},
    **{f"F{8 * size}": np.dtype(f"<f{size}") for size in (2, 4, 8)},
}

# Only to say what the file is. None of these is ever opened as such, because unpickling runs code.
FOREIGN_MAGIC = {
    b"PK\x03\x04": "a zip archive (.npz or PyTorch)",
    b"\x93NUMPY": "a .npy array",
    **{b"\x80" + bytes([protocol]): "a pickle" for protocol in range(2, 6)},
}


def save_arrays(
    path: FilePath,
    arrays: Mapping[str, Any],
    header: Mapping[str, Any],
    format: str,
    version: int,
    *,
    keep_previous: bool = False,
) -> None:
    """Write named arrays (numpy or JAX) and a JSON header as one checksummed safetensors file.

    The same content always gives the same bytes. With `keep_previous`, the file replaced stays, as
    `<path>.previous`.
    """
    path = Path(path)
    # Only a file that loads is worth keeping: a damaged one would push out a good `.previous`.
    previous = _previous(path) if keep_previous and _loads(path, format, version) else None
    write_atomically(path, _encode(arrays, header, format, version), previous=previous)


def load_arrays(path: FilePath, format: str, version: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and the header that `save_arrays` wrote, or a `BadFile` that says why not."""
    path = Path(path)
    try:
        return _load(path, format, version)
    except BadFile as error:
        previous = _previous(path)
        if _loads(previous, format, version):
            raise BadFile(path, error.why, f"an intact earlier copy is {previous}") from None
        raise


def _load(path: Path, format: str, version: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    arrays, about = _decode(path, read_whole(path))
    if about["format"] != format:
        raise BadFile(path, f"holds {about['format']!r}, not {format!r}")
    if about["version"] != version:
        hint = "an earlier tomnet wrote it; train it anew" if about["version"] in range(version) else None
        raise BadFile(path, f"{format} version {about['version']!r}; this tomnet reads version {version}", hint)
    return arrays, about["header"]


def stored_format(path: FilePath) -> str:
    """What kind of arrays a file holds, by what it says itself: nothing in it is checked."""
    path = Path(path)
    try:
        with open(path, "rb") as file:
            length = int.from_bytes(file.read(LENGTH_BYTES), "little")
            opening = file.read(min(length, LARGEST_HEADER))
    except OSError as error:
        raise BadFile(path, (error.strerror or str(error)).lower()) from error
    found = FORMAT_SAID.match(opening)
    return found[1].decode() if found else ""


def _loads(path: Path, format: str, version: int) -> bool:
    try:
        _load(path, format, version)
    except BadFile:
        return False
    return True


def _encode(arrays: Mapping[str, Any], header: Mapping[str, Any], format: str, version: int) -> bytearray:
    about = {"sha256": NO_DIGEST.decode(), "format": format, "version": version, "header": dict(header)}
    # Contiguous, because safetensors copies raw memory. One metadata entry, because it shuffles several, and
    # two files of equal content would differ.
    dense = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    for name, array in dense.items():
        if array.dtype.newbyteorder("=") not in DTYPES.values():
            raise TypeError(f"{name} is {array.dtype}, which would not load again")
    metadata = {"tomnet": json.dumps(about, separators=(",", ":"), default=methodcaller("tolist"))}
    raw = bytearray(safetensors.numpy.save(dense, metadata=metadata))
    assert raw[DIGEST] == NO_DIGEST, "safetensors lays out its header in a new way"
    raw[DIGEST] = _digest(raw)
    return raw


def _digest(raw: bytes | bytearray) -> bytes:
    view = memoryview(raw)
    digest = hashlib.sha256(view[: DIGEST.start])
    digest.update(NO_DIGEST)
    digest.update(view[DIGEST.stop :])
    return digest.hexdigest().encode()


def _decode(path: Path, raw: bytes) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    if raw[LENGTH_BYTES : DIGEST.start] != STAMP:
        raise BadFile(path, _what_else(raw))
    if raw[DIGEST] != _digest(raw):
        raise BadFile(path, _damage(raw))
    try:
        about = _about(raw)
        tensors = sorted(safetensors.deserialize(raw), key=lambda named: named[0])
        return {name: _array(tensor) for name, tensor in tensors}, about
    # A checksum guards against accidents, not against an author who means harm.
    except (safetensors.SafetensorError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadFile(path, "the checksum is right but the contents are not a tomnet file") from error


def _array(tensor: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(tensor["data"], dtype=DTYPES[tensor["dtype"]]).reshape(tensor["shape"])


def _about(raw: bytes) -> dict[str, Any]:
    about = json.loads(_json_header(raw)["__metadata__"]["tomnet"])
    if not isinstance(about["header"], dict):
        raise TypeError("the header is not a JSON object")
    return {name: about[name] for name in ("format", "version", "header")}


def _json_header(raw: bytes) -> dict[str, Any]:
    length = int.from_bytes(raw[:LENGTH_BYTES], "little")
    return json.loads(raw[LENGTH_BYTES : LENGTH_BYTES + length])


def _what_else(raw: bytes) -> str:
    if not raw:
        return "empty"
    # A safetensors header opens with a brace. Looked at first, because its length can start like a pickle.
    opening = raw[LENGTH_BYTES:]
    if opening and STAMP.startswith(opening):
        return _damage(raw)
    if opening.startswith(b"{"):
        return "damaged, or a safetensors file that tomnet did not write"
    for magic, kind in FOREIGN_MAGIC.items():
        if raw.startswith(magic):
            return f"{kind}, which tomnet never opens because such files can run code"
    return "not a tomnet file"


def _damage(raw: bytes) -> str:
    header = LENGTH_BYTES + int.from_bytes(raw[:LENGTH_BYTES], "little")
    if len(raw) < header:  # how long the whole was is in the part that is missing
        return f"truncated: {len(raw)} bytes are there, and its header alone has {header}"
    try:
        tensors = [entry for name, entry in _json_header(raw).items() if name != "__metadata__"]
        expected = header + max((entry["data_offsets"][1] for entry in tensors), default=0)
        if len(raw) < expected:
            return f"truncated: {len(raw)} of {expected} bytes are there"
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        pass  # the header itself is damaged
    return "damaged: its checksum does not match"


def _previous(path: Path) -> Path:
    return path.with_name(path.name + PREVIOUS_SUFFIX)
