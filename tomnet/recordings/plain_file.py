"""Opens what people name as a file: a plain one, no larger than was agreed on, that keeps nobody waiting."""

import os
import stat
from io import BufferedReader
from pathlib import Path

from ..support.array_files import FOREIGN_MAGIC
from ..support.errors import BadFile


def open_plain(path: Path, most_bytes: int) -> BufferedReader:
    # not blocking, because a pipe that nobody writes to would keep us waiting for ever
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    try:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise BadFile(path, "not a file")
        if status.st_size > most_bytes:
            raise BadFile(path, f"expected up to {most_bytes} bytes, found {status.st_size}")
    except BaseException:
        file.close()
        raise
    return file


def check_begins_harmlessly(path: Path, file: BufferedReader) -> None:
    """That it does not begin like a file that could run code."""
    for magic, kind in FOREIGN_MAGIC.items():
        if file.peek(len(magic)).startswith(magic):
            raise BadFile(path, f"{kind}, which tomnet never opens because such files can run code")
