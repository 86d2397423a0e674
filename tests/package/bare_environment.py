"""An environment like this one, without some of the installed packages."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Collection
from pathlib import Path

ROOT = Path(__file__).parents[2]


def without(folder: Path, modules: Collection[str]) -> Path:
    """Create a virtual environment in `folder` and return its interpreter.

    It has the packages of this environment as links, but for the top-level `modules`.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    (there,) = (folder / "lib").glob("python3*/site-packages")
    (there / "citekit.pth").write_text(f"{ROOT / 'src'}\n")
    for packages in (Path(path) for path in sys.path if path.endswith("site-packages")):
        for each in packages.iterdir():
            if each.name not in modules and each.suffix != ".pth" and not (there / each.name).exists():
                (there / each.name).symlink_to(each)
    return folder / "bin" / "python"


def run(python: Path, home: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `citekit` with that interpreter in the folder `home`, with the variables `environment` in addition."""
    known = {name: value for name, value in os.environ.items() if not name.endswith("API_KEY")}
    return subprocess.run(
        [str(python), "-P", "-m", "citekit", *words],
        capture_output=True,
        text=True,
        cwd=home,
        env={**known, "XDG_DATA_HOME": "/nonexistent", **environment},
        timeout=120,
    )
