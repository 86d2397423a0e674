"""Describes CiteKit for the MCP registry (`server.json`) and for clients that install bundles (`.mcpb`).

Every fact comes from `pyproject.toml`, so that a release has one version.
"""

from __future__ import annotations

import json
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXTRAS = "media"
"""The extras with which clients install CiteKit."""

SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
SUMMARY = "Maps files, cuts out the pages, lines, or seconds that prove a point, and verifies quotes."
"""At most 100 characters, as the registry demands."""

FOLDER = "The folder with your files. CiteKit stores its maps and the evidence there, too."
_STAMP = (1980, 1, 1, 0, 0, 0)


def project() -> dict[str, Any]:
    """Return the table `project` of `pyproject.toml`."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def server_json(name: str) -> dict[str, Any]:
    """Return the entry for the MCP registry. `name` is the server's name there, such as `io.github.OWNER/citekit`."""
    facts = project()
    wanted = f"{facts['name']}[{EXTRAS}]=={facts['version']}"
    return {
        "$schema": SERVER_SCHEMA,
        "name": name,
        "title": "CiteKit",
        "description": SUMMARY,
        "version": facts["version"],
        "packages": [
            {
                "registryType": "pypi",
                "registryBaseUrl": "https://pypi.org",
                "identifier": facts["name"],
                "version": facts["version"],
                "runtimeHint": "uvx",
                "runtimeArguments": [
                    {"type": "named", "name": "--from", "value": wanted},
                    {"type": "positional", "value": "citekit"},
                ],
                "packageArguments": [
                    {"type": "positional", "value": "serve"},
                    {
                        "type": "named",
                        "name": "--home",
                        "value": "{folder}",
                        "variables": {"folder": {"description": FOLDER, "format": "filepath", "isRequired": True}},
                    },
                ],
                "transport": {"type": "stdio"},
            }
        ],
    }


def manifest() -> dict[str, Any]:
    """Return the manifest of the bundle. The client's uv installs Python and the dependencies on the first start."""
    facts = project()
    words = ["run", "--directory", "${__dirname}", "--extra", EXTRAS, "citekit", "serve", "--home"]
    return {
        "manifest_version": "0.4",
        "name": facts["name"],
        "display_name": "CiteKit",
        "version": facts["version"],
        "description": SUMMARY,
        "author": {"name": facts["authors"][0]["name"]},
        "license": facts["license"],
        "keywords": facts["keywords"],
        "server": {
            "type": "uv",
            "entry_point": "src/citekit/__main__.py",
            "mcp_config": {"command": "uv", "args": [*words, "${user_config.folder}"]},
        },
        "tools_generated": True,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": facts["requires-python"]},
        },
        "user_config": {
            "folder": {"type": "directory", "title": "Folder", "description": FOLDER, "required": True},
        },
    }


def write_bundle(path: Path) -> None:
    """Write the bundle to `path`. The same files give the same bytes."""
    source = ROOT / "src" / "citekit"
    files = sorted(each for each in source.rglob("*") if each.is_file() and "__pycache__" not in each.parts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, "manifest.json", json.dumps(manifest(), indent=2).encode())
        for each in (*(ROOT / name for name in ("pyproject.toml", "README.md", "LICENSE")), *files):
            _add(archive, each.relative_to(ROOT).as_posix(), each.read_bytes())


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _STAMP)
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    archive.writestr(entry, data)
