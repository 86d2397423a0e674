"""Builds a release into `dist`: the source distribution, the wheel, the bundle, and the entry for the MCP registry.

Usage: python -m release [--bundle] [MCP_NAME]. Without `MCP_NAME` (`io.github.OWNER/citekit`), no `server.json` is written.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from release.artifacts import ROOT, project, server_json, write_bundle

CHANGELOG = ROOT / "CHANGELOG.md"


def problems(dist: Path) -> list[str]:
    """Return what is not ready for a release: sections, names, and files that disagree with the version."""
    version = project()["version"]
    heading = re.search(r"(?m)^## (\S+)(.*)$", CHANGELOG.read_text("utf-8"))
    found = []
    if heading is None or heading[1] != version:
        found.append(f"CHANGELOG.md begins with the section of {heading and heading[1]}, not of {version}.")
    elif "unreleased" in heading[2]:
        found.append(f"The section of {version} in CHANGELOG.md is still called unreleased; put the date there.")
    wanted = (f"*-{version}-*.whl", f"*-{version}.tar.gz", f"*-{version}.mcpb")
    found += [f"dist must have exactly one file {each}." for each in wanted if len(list(dist.glob(each))) != 1]
    return found


def main(words: list[str]) -> int:
    """Build everything that `words` ask for, check it, and return the exit code."""
    dist = ROOT / "dist"
    dist.mkdir(exist_ok=True)
    facts = project()
    bundle = dist / f"{facts['name']}-{facts['version']}.mcpb"
    write_bundle(bundle)
    print(f"{bundle.relative_to(ROOT)}: {bundle.stat().st_size / 1e6:.1f} MB")
    if words == ["--bundle"]:
        return 0
    for each in [*dist.glob("*.whl"), *dist.glob("*.tar.gz")]:
        each.unlink()
    subprocess.run([sys.executable, "-m", "build", "--outdir", str(dist), str(ROOT)], check=True)
    built = sorted(str(path) for kind in ("*.whl", "*.tar.gz") for path in dist.glob(kind))
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *built], check=True)
    if words:
        (dist / "server.json").write_text(json.dumps(server_json(words[0]), indent=2) + "\n", "utf-8")
    else:
        print("No server.json: name the server in the registry, such as make dist MCP_NAME=io.github.OWNER/citekit.")
    left = problems(dist)
    for problem in left:
        print(f"Not ready: {problem}")
    return 1 if left and "unreleased" not in " ".join(left) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
