"""Only the browser of the user who started the server gets anything, and nothing of a file acts in it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import urlsplit

import pytest
from attrs import evolve

from citekit.container import bootstrap
from citekit.entrypoints.web.admission import SECONDS, Codes, Keys
from citekit.entrypoints.web.server import running_viewer
from tests.web.conftest import Server, free_port, started, stop

PATHS = ("/", "/r/r-intro", "/api/homes", "{0}/", "{0}/api/home", "{0}/api/media?id=run", "/h/x/", "/static/x/main.js")


@pytest.mark.parametrize("path", PATHS)
def test_a_stranger_gets_nothing(page: Server, path: str) -> None:
    path = path.format(page.base)
    response, body = page.ask("GET", path, admitted=False)
    assert 403 == response.status
    assert b"citekit view" in body
    wrong = page.cookie[:-1] + ("0" if page.cookie[-1] != "0" else "1")
    assert 403 == page.ask("GET", path, headers={"Cookie": wrong}, admitted=False)[0].status
    assert 403 == page.ask("GET", f"{path}{'&' if '?' in path else '?'}token=guess", admitted=False)[0].status


def test_the_link_becomes_a_cookie_and_the_token_leaves_the_address(page: Server) -> None:
    response, _ = page.ask("GET", f"/r/r-intro?{urlsplit(page.link).query}&q=bees", admitted=False)
    assert (303, "/r/r-intro?q=bees") == (response.status, response.getheader("location"))
    cookie = response.getheader("set-cookie") or ""
    assert page.cookie in cookie
    assert "httponly" in cookie.lower()
    assert "samesite=lax" in cookie.lower()
    elsewhere, _ = page.ask("GET", f"//evil.example/x?{urlsplit(page.link).query}", admitted=False)
    assert "/evil.example/x" == elsewhere.getheader("location")


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", ""])
def test_other_names_of_this_computer_are_refused(page: Server, host: str) -> None:
    response, _ = page.ask("GET", "/api/home", headers={"Host": host.format(port=page.port)})
    assert 421 == response.status


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
@pytest.mark.parametrize("path", ["/api/find", "/api/add", "/api/verify", "/api/edit", "/api/resolve"])
def test_other_pages_cannot_act(page: Server, origin: str, path: str) -> None:
    headers = {"Origin": origin.format(port=page.port)}
    assert 403 == page.ask("POST", path, b"{}", headers)[0].status


@pytest.mark.long
def test_the_policies_let_only_the_page_itself_act(page: Server) -> None:
    shell, _ = page.ask("GET", f"{page.base}/r/r-intro")
    policy = shell.getheader("content-security-policy") or ""
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "nosniff" == shell.getheader("x-content-type-options")
    chapter, _ = page.ask("GET", "/api/chapter?id=book&number=1")
    policy = chapter.getheader("content-security-policy") or ""
    assert policy.endswith("sandbox allow-same-origin")
    assert "script" not in policy
    assert "default-src 'none'" in policy


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2f..%2fserver.py",
        "/api/media?id=../../etc/passwd",
        "/api/media?id=notes_md",
        "/api/media?id=r-intro",
        "/api/evidence?digest=" + "0" * 64,
        "/api/evidence?digest=..%2F..",
    ],
)
def test_only_recordings_evidence_and_the_page_are_files(page: Server, path: str) -> None:
    response, body = page.ask("GET", path)
    assert response.status in (400, 404, 422)
    assert b"import" not in body


@pytest.mark.long
def test_the_token_stays_and_is_not_readable_by_others(page: Server, many_kinds: Path) -> None:
    process, again = started(many_kinds, "--port", str(free_port()))
    try:
        assert urlsplit(page.link).query == urlsplit(again.link).query
    finally:
        stop(process)
    kept = [path for path in (Path(os.environ["XDG_STATE_HOME"]) / "citekit-viewer").iterdir() if path.is_file()]
    assert {"homes.json", "seal"} <= {path.name.partition("-")[0] for path in kept}
    assert all(0 == path.stat().st_mode & 0o077 for path in kept)


@pytest.mark.long
def test_a_port_in_use_is_one_sentence(page: Server, many_kinds: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "citekit", "view", "--home", str(many_kinds), "--no-open", "--port", str(page.port)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert 2 == answer.returncode
    assert f"Port {page.port} is in use. To use another port, run: citekit view --port PORT" in answer.stderr


@pytest.mark.long
def test_ctrl_c_ends_the_server(many_kinds: Path) -> None:
    process, _ = started(many_kinds, "--port", str(free_port()))
    assert 0 == stop(process)


@pytest.mark.long
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("view", "text://notes_md#lines=1-2"), "/r/notes_md?{token}#lines=1-2"),
        (("view", "notes_md"), "/r/notes_md?{token}"),
        (("view", "added", "changed"), "/?q=added+changed&{token}"),
        (("resolve", "text://notes_md#lines=1-2", "--open"), "/r/notes_md?{token}#lines=1-2"),
        (("find", "added", "--open"), "/?q=added&{token}"),
        (("find", "added", "--open", "--resource", "notes_md"), "/r/notes_md?q=added&{token}"),
    ],
)
def test_a_command_opens_what_it_names_in_the_viewer_that_runs(
    tmp_path: Path, words: tuple[str, ...], expected: str
) -> None:
    (tmp_path / "notes.md").write_text("# Added\n\nchanged and added\n")
    bootstrap(home=tmp_path).ingest(tmp_path / "notes.md")
    opened = tmp_path / "opened"
    (tmp_path / "browser").write_text(f'#!/bin/sh\necho "$1" > "{opened}"\n')
    (tmp_path / "browser").chmod(0o755)
    process, server = started(tmp_path)
    try:
        answer = subprocess.run(
            [sys.executable, "-m", "citekit", words[0], "--home", str(tmp_path), *words[1:]],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "BROWSER": str(tmp_path / "browser")},
        )
        assert 0 == answer.returncode, answer.stderr
        link = server.root + expected.format(token=urlsplit(server.link).query)
        assert link == answer.stdout.splitlines()[-1]
        end = time.monotonic() + 10
        while not opened.exists() and time.monotonic() < end:
            time.sleep(0.05)
        shown = urlsplit(opened.read_text().strip())
        assert urlsplit(server.link).query.removeprefix("token=") not in shown.geturl()
        code = f"{shown.path}?{shown.query}"
        admitted, _ = server.ask("GET", code, admitted=False)
        assert (303, server.cookie) == (admitted.status, (admitted.getheader("set-cookie") or "").partition(";")[0])
        assert "code=" not in (admitted.getheader("location") or "")
        assert urlsplit(link).fragment == shown.fragment
        assert 403 == server.ask("GET", code, admitted=False)[0].status  # a code is valid once
    finally:
        stop(process)


def test_a_server_that_took_our_port_learns_nothing(tmp_path: Path) -> None:
    asked: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(f"{self.path} {self.headers}")
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"0" * 64)

        def log_message(self, *_: object) -> None:
            pass

    app = bootstrap(home=tmp_path)
    with HTTPServer(("127.0.0.1", 0), Other) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        assert running_viewer(app, [server.server_port]) is None
        server.shutdown()
    assert 1 == len(asked)
    assert app.view_token not in asked[0]


def test_codes_are_valid_once_on_one_port_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    keys, other = Keys("secret", 8640), Keys("secret", 8641)
    codes = Codes(keys)
    code = keys.code()
    assert codes.accept(code)
    assert not codes.accept(code)
    forged = (
        "",
        "x",
        "9999999999-00-00",
        code[:-1] + ("0" if code[-1] != "0" else "1"),
        other.code(),
        Keys("x", 8640).code(),
    )
    assert not any(map(codes.accept, forged))
    late = keys.code()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + SECONDS + 1)
    assert not codes.accept(late)
    assert keys.proves(keys.proof("n"), "n")
    assert not keys.proves(other.proof("n"), "n")
    assert "secret" not in keys.proof("n") + code


@pytest.mark.long
def test_one_server_shows_all_homes(tmp_path: Path) -> None:
    homes = [tmp_path / name for name in ("first", "second", "unseen")]
    for home in homes:
        home.mkdir()
        (home / f"{home.name}.md").write_text(f"# Of {home.name}\n")
        (home / "both.md").write_text("# Both\n")
        app = bootstrap(home=home)
        app.ingest(home / f"{home.name}.md")
        app.ingest(home / "both.md")
    process, server = started(homes[0])
    try:
        listed = json.loads(server.ask("GET", "/api/homes")[1])
        assert str(homes[0]) in [each["home"] for each in listed]
        again = subprocess.run(
            [sys.executable, "-m", "citekit", "view", "--home", str(homes[1]), "--no-open", "second_md"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        link = urlsplit(again.stdout.strip())
        assert (server.port, urlsplit(server.link).query) == (link.port, link.query)
        second = Server(homes[1], again.stdout.strip())
        assert "Of second" == second.get("map", id="second_md")["nodes"][0][2]
        assert str(homes[1]) == second.get("home")["home"]
        assert 200 == server.ask("GET", link.path)[0].status
        response, body = second.ask("GET", "/api/map?id=first_md")
        assert (404, "ResourceMissing") == (response.status, json.loads(body)["error"])

        def having(name: str) -> list[str]:
            return [each["home"] for each in json.loads(server.ask("GET", f"/api/homes?id={name}")[1])]

        assert [str(homes[1])] == having("second_md")
        assert {str(homes[0]), str(homes[1])} == set(having("both_md"))
        assert str(homes[2]) not in having("both_md")
        (homes[1] / ".resource_maps" / "both_md.json").write_text("{}")
        assert {str(homes[0]), str(homes[1])} == set(having("both_md"))
        shutil.rmtree(homes[1])
        assert [str(homes[0])] == having("both_md")
        response, body = server.ask("GET", "/h/0123456789/api/home")
        assert 400 == response.status
        assert b"To show a home here, run: citekit view --home DIR" in body
    finally:
        stop(process)


@pytest.mark.long
def test_a_home_that_somebody_planted_shows_no_other_files_and_does_not_act(tmp_path: Path) -> None:
    secret, home = tmp_path / "secret.txt", tmp_path / "home"
    secret.write_text("The password is 1234.\n")
    home.mkdir()
    (home / "notes.md").write_text("# Notes\n")
    app = bootstrap(home=home)
    made = app.ingest(home / "notes.md").resource_map
    for name, source in (("stolen", str(secret)), ("link", str(home / "link.md"))):
        app.maps.put(evolve(made, resource_id=name, source_path=source, title="<script>parent.stolen = 1</script>"))
    (home / "link.md").symlink_to(secret)
    shutil.rmtree(home / ".citekit_cache", ignore_errors=True)
    process, server = started(home, "--port", str(free_port()))
    try:
        for name in ("stolen", "link"):
            for path in ("text?first=1&last=1", "media?", "chapter?number=1", "picture?page=1&width=100", "map?"):
                _, body = server.ask("GET", f"/api/{path}&id={name}")
                assert b"1234" not in body
            _, body = server.ask("POST", "/api/find", json.dumps({"query": "password", "id": name}).encode())
            assert b"1234" not in body
            place = json.dumps({"address": f"text://{name}#lines=1", "form": "native"}).encode()
            _, body = server.ask("POST", "/api/resolve", place)
            if digest := json.loads(body).get("digest"):  # of the file that has the digest of the map
                assert b"# Notes\n" == server.ask("GET", f"/api/evidence?digest={digest}&name=a")[1]
    finally:
        stop(process)
