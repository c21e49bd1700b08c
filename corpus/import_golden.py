"""Bring the golden files of ExecuTorch releases into the corpus.

``SOURCE`` holds one folder per release. In it each file ``NAME`` (.pte, .bpte or .ptd) has its
facts in ``NAME.json``. What the corpus already holds stays: a new release can be imported alone,
and importing the same sources again changes nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]

CORPUS = Path(__file__).parent / "pte_corpus"
KINDS = ("pte", "bpte", "ptd")

# The part of a file's facts that only its bytes decide, in the order in which it is written.
# The key of a source's facts is followed by the key of the corpus where the two differ.
FACTS = {
    "file_identifier": "file_identifier",
    "extended_header": "header",
    "flat_tensor_header": "header",
    "counts": "counts",
    "bundled": "bundled",
    "flat_tensor": "flat_tensor",
}
PROVENANCE = {"release", "torch", "how", "file", "sha256", "size", "schema_used"}


class ImportProblemError(Exception):
    """A source whose files and facts do not fit together."""


@dataclass(frozen=True)
class Sighting:
    """One release writing one file: where the bytes come from, and what is known of them."""

    release: str
    name: str
    how: str
    torch: str
    data: bytes
    facts: Json

    @property
    def sha256(self) -> str:
        """The hash of the bytes, which decides what counts as the same file."""
        return hashlib.sha256(self.data).hexdigest()


def release_key(release: str) -> tuple[int, ...]:
    """Order releases by number: 0.10.0 comes after 0.9.0."""
    return tuple(int(part) for part in release.split("."))


def read_source(source: Path) -> Iterator[Sighting]:
    """Yield what a source folder holds; every file must have facts that agree with it."""
    for path in sorted(source.glob("*/*")):
        if path.suffix == ".json":
            if not path.with_suffix("").exists():
                raise ImportProblemError(f"{path}: facts of a file that is not there")
            continue
        if path.suffix.removeprefix(".") not in KINDS:
            raise ImportProblemError(f"{path}: not one of {', '.join(KINDS)}")
        yield source_sighting(path)


def source_sighting(path: Path) -> Sighting:
    """Read one file of a source with its facts."""
    facts: Json = json.loads(path.with_name(path.name + ".json").read_text("utf-8"))
    sighting = Sighting(
        release=path.parent.name,
        name=path.name,
        how=facts["how"],
        torch=facts["torch"],
        data=path.read_bytes(),
        facts={ours: facts[theirs] for theirs, ours in FACTS.items() if theirs in facts},
    )
    claims = {
        "release": sighting.release,
        "file": sighting.name,
        "sha256": sighting.sha256,
        "size": len(sighting.data),
        # The facts of a .ptd depend on the schema it is read with: it must be the writer's own.
        "schema_used": sighting.release,
    }
    for key, value in claims.items():
        if facts.get(key, value) != value:
            raise ImportProblemError(f"{path}: {key} is {value!r}, its facts say {facts[key]!r}")
    if unknown := facts.keys() - FACTS.keys() - PROVENANCE:
        raise ImportProblemError(f"{path}: facts of an unknown kind: {sorted(unknown)}")
    return sighting


def read_corpus(corpus: Path) -> Iterator[Sighting]:
    """Yield what the corpus already holds, one sighting per release and name."""
    for path in sorted(corpus.glob("golden/*/*.json")):
        entry: Json = json.loads(path.read_text("utf-8"))
        data = path.with_suffix("").read_bytes()
        facts = {key: entry[key] for key in FACTS.values() if key in entry}
        for made in entry["made"]:
            for release in made["releases"]:
                yield Sighting(release, made["name"], made["how"], made["torch"], data, facts)


def merge(first: Any, second: Any, where: str) -> Any:
    """Unite two descriptions of the same bytes; a key that one of them lacks is no contradiction."""
    if isinstance(first, dict) and isinstance(second, dict):
        union = dict(first)
        for key, value in second.items():
            union[key] = merge(first[key], value, f"{where}.{key}") if key in first else value
        return union
    if first != second:
        raise ImportProblemError(f"{where}: one release says {first!r}, another {second!r}")
    return first


def canonical_name(sightings: list[Sighting], since: dict[str, tuple[int, ...]]) -> str:
    """Choose among the names that the first release gave the bytes the one in use for longest."""
    first = sightings[0].release
    names = {sighting.name for sighting in sightings if sighting.release == first}
    return min(names, key=lambda name: (since[name], name))


def describe(sightings: list[Sighting], name: str) -> Json:
    """Build the entry of one distinct file from all sightings of it, oldest release first."""
    facts: Json = {}
    made: dict[tuple[str, str, str], list[str]] = {}
    for sighting in sightings:
        facts = merge(facts, sighting.facts, f"{sighting.release}/{sighting.name}")
        key = (sighting.name, sighting.how, sighting.torch)
        made.setdefault(key, []).append(sighting.release)
    return {
        "path": f"golden/{sightings[0].release}/{name}",
        "sha256": sightings[0].sha256,
        "size": len(sightings[0].data),
        "kind": name.rpartition(".")[2],
        "releases": list(dict.fromkeys(sighting.release for sighting in sightings)),
        "made": [
            {"name": name, "how": how, "torch": torch, "releases": releases}
            for (name, how, torch), releases in made.items()
        ],
        **facts,
    }


def golden_entries(sightings: Iterable[Sighting]) -> dict[str, tuple[Json, bytes]]:
    """Group sightings by their bytes and return, per path, the entry and the bytes."""
    # A later sighting of the same release and name replaces an earlier one.
    unique = {(sighting.release, sighting.name): sighting for sighting in sightings}
    ordered = sorted(unique.values(), key=lambda seen: (release_key(seen.release), seen.name))
    since: dict[str, tuple[int, ...]] = {}
    by_bytes: dict[bytes, list[Sighting]] = {}
    for sighting in ordered:
        since.setdefault(sighting.name, release_key(sighting.release))
        by_bytes.setdefault(sighting.data, []).append(sighting)
    entries: dict[str, tuple[Json, bytes]] = {}
    for data, group in by_bytes.items():
        entry = describe(group, canonical_name(group, since))
        entries[entry["path"]] = (entry, data)
    return entries


def as_json(value: Json) -> str:
    """Write JSON the one way that the corpus has it."""
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def write_corpus(corpus: Path, entries: dict[str, tuple[Json, bytes]]) -> None:
    """Replace the golden files and their part of the manifest."""
    manifest_path = corpus / "manifest.json"
    listed: list[Json] = []
    if manifest_path.exists():
        listed = json.loads(manifest_path.read_text("utf-8"))["files"]
    listed = [entry for entry in listed if not entry["path"].startswith("golden/")]
    shutil.rmtree(corpus / "golden", ignore_errors=True)
    for path, (entry, data) in entries.items():
        target = corpus / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.with_name(target.name + ".json").write_text(as_json(entry), "utf-8", newline="\n")
        listed.append({key: entry[key] for key in ("path", "sha256", "size", "kind", "releases")})
    listed.sort(key=lambda entry: str(entry["path"]))
    manifest = {"format": 1, "files": listed}
    manifest_path.write_text(as_json(manifest), "utf-8", newline="\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the import and say how many files the corpus now holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", type=Path, nargs="*", metavar="SOURCE")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="folder to write to")
    options = parser.parse_args(arguments)
    try:
        sightings = list(read_corpus(options.corpus))
        for source in options.source:
            if not source.is_dir():
                raise ImportProblemError(f"{source}: no such folder")
            sightings.extend(read_source(source))
        entries = golden_entries(sightings)
    except ImportProblemError as problem:
        parser.exit(1, f"{problem}\n")
    write_corpus(options.corpus, entries)
    sys.stdout.write(f"{len(entries)} golden files\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
