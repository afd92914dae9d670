"""The folder of a population in training: whose it is, and where the run in it comes from."""

from pathlib import Path
from typing import Any

from .errors import BadFile, BadSetting
from .files import LOCK, read_json

CONFIG = "config.json"


def check_folder(folder: Path, settings: dict[str, Any], resume: bool) -> dict[str, Any] | None:
    """What the folder says of the run it holds, None for a new one. A folder that holds another run is left alone."""
    if not (folder / CONFIG).exists():
        if any(path.name != LOCK for path in folder.iterdir()):
            raise BadFile(folder, "holds something else than a population", "--out names another folder")
        return None
    before = read_json(folder / CONFIG)
    if not isinstance(before, dict) or not settings.keys() <= before.keys():
        raise BadFile(folder / CONFIG, "holds no settings of a population", "--out names another folder")
    if not resume:
        raise BadFile(folder, "holds a population already", "--resume goes on with it, --out names another folder")
    for name, now in settings.items():
        was = before.get(name)
        if isinstance(now, dict) and isinstance(was, dict):
            for part in now:
                if now[part] != was.get(part):
                    raise BadSetting(f"{name}.{part}", now[part], f"the run in {folder} has {was.get(part)}")
        elif now != was:
            raise BadSetting(name, now, f"the run in {folder} has {was}")
    return before


def origin_of(before: dict[str, Any] | None, about: dict[str, Any], resumed: bool) -> dict[str, Any]:
    """Where a run comes from: who began it, and who went on with it where there was something left to train."""
    if before is None:
        return {"about": about}
    later = before.get("resumed", []) + ([about] if resumed else [])
    return {"about": before.get("about", about)} | ({"resumed": later} if later else {})
