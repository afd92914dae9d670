"""What is asked for, checked before the work begins."""

import operator
import os
import tempfile
from pathlib import Path

from .errors import BadFile, BadSetting

ELSEWHERE = "--out names another folder"
LARGEST_SEED = 2**32 - 1


def check_seed(seed: int) -> None:
    check_between("seed", seed, 0, LARGEST_SEED)


def check_between(name: str, value: int, least: int, most: int) -> None:
    """What would take all memory is refused too, before the machine is brought to its knees."""
    try:
        value = operator.index(value)  # numpy's whole numbers are some as well
    except TypeError:
        raise BadSetting(name, value, f"must be a whole number between {least} and {most}") from None
    if not least <= value <= most:
        raise BadSetting(name, value, f"must lie between {least} and {most}")


def check_path(name: str, path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        raise BadSetting(name, path, "must be the path of a file or folder")


def check_writable(folder: Path) -> None:
    """That files can be written there is found out before the work begins, not after it."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise BadFile(folder, f"cannot be written to: {there} is not a folder")
    if not os.access(there, os.W_OK | os.X_OK):
        raise BadFile(folder, f"cannot be written to: {there} is read-only")
    try:  # what root may do by the mode, the file system may refuse
        tempfile.TemporaryDirectory(prefix=".tomnet-", dir=there).cleanup()
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadFile(folder, f"cannot be written to: nothing can be made in {there}, {why}") from None


def check_made_by_us(folder: Path, made: str) -> None:
    """What a command makes goes into a folder that is new or empty, or to where it was made before, which is what the
    file `made` tells: it is the first that is written."""
    check_writable(folder)
    if folder.is_dir() and not (folder / made).is_file() and any(folder.iterdir()):
        raise BadFile(folder, f"holds other files, and no {made} from an earlier time", ELSEWHERE)


def check_writable_file(path: Path) -> None:
    """The same of a single file."""
    if path.is_dir():
        raise BadFile(path, "cannot be written to: it is a folder")
    check_writable(path.parent)
