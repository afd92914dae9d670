"""The software bill of materials: requirements.lock as CycloneDX JSON, with every hash that an installation checks.

    python tools/sbom.py requirements.lock sbom.cdx.json

The same lock gives the same bytes: no date, and a serial number that is the lock's own digest.
"""

import hashlib
import json
import re
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PINNED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^\s;\\]+)(?:\s*;\s*(?P<marker>[^\\]+?))?\s*\\?$")
HASH = re.compile(r"\s+--hash=sha256:(?P<digest>[0-9a-f]{64})\s*\\?$")
VIA = re.compile(r"\s+# via (?P<parents>.+)$")
OWN = "tomnet"


@dataclass
class Package:
    name: str
    version: str
    marker: str | None  # where it is installed at all; None: everywhere
    hashes: list[str] = field(default_factory=list)  # of its files, one for each platform and Python
    needed_by: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"pkg:pypi/{self.name.lower().replace('_', '-')}@{self.version}"


def read_lock(text: str) -> list[Package]:
    """Every line is understood, or it is an error: nothing is left out of the bill."""
    packages: list[Package] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if pinned := PINNED.match(line):
            packages.append(Package(pinned["name"], pinned["version"], pinned["marker"]))
        elif found := HASH.match(line):
            packages[-1].hashes.append(found["digest"])
        elif via := VIA.match(line):
            packages[-1].needed_by += [name.partition(" ")[0] for name in via["parents"].split(", ")]
        elif line.strip():
            raise SystemExit(f"line {number} of the lock is not understood: {line}")
    bare = [package.name for package in packages if not package.hashes]
    if bare:
        raise SystemExit(f"without a hash in the lock: {', '.join(bare)}")
    return packages


def bill(lock: str) -> dict[str, Any]:
    packages = read_lock(lock)
    serial = uuid.UUID(bytes=hashlib.sha256(lock.encode()).digest()[:16], version=4)
    own = f"pkg:pypi/{OWN}"
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": own, "name": OWN, "purl": own}},
        "components": [_component(package) for package in packages],
        "dependencies": [_needs(own, OWN, packages)] + [_needs(each.url, each.name, packages) for each in packages],
    }


def _component(package: Package) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "library", "bom-ref": package.url, "name": package.name}
    told |= {"version": package.version, "purl": package.url}
    told["hashes"] = [{"alg": "SHA-256", "content": digest} for digest in package.hashes]
    if package.marker:
        told["properties"] = [{"name": "python:marker", "value": package.marker}]
    return told


def _needs(url: str, name: str, packages: list[Package]) -> dict[str, Any]:
    return {"ref": url, "dependsOn": [package.url for package in packages if name in package.needed_by]}


def main(lock: str, out: str) -> None:
    text = json.dumps(bill(Path(lock).read_text()), indent=1) + "\n"
    Path(out).write_text(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
