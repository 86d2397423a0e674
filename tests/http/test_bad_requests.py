"""What hostile and unlucky clients get: one clear answer each, while others are served."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx2
import pytest

from citekit.container import bootstrap
from citekit.container.http_access import subjects_of
from citekit.domain.subject import READ, Subject
from tests.http.conftest import HttpServer, Start, token_of
from tests.warm_start.command import python

pytestmark = [pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="needs POSIX"), pytest.mark.long]


def refused(home: Path, *options: str) -> str:
    """What a server that does not start prints."""
    done = subprocess.run(
        python("-m", "citekit", "--home", str(home), "serve", *options), capture_output=True, text=True, timeout=60
    )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    return done.stderr


def test_requests_without_a_valid_token_are_refused(server: HttpServer) -> None:
    missing = server.post(None, "tools/list")
    wrong = server.post("citekit_" + "x" * 43, "tools/list")
    endless = server.post("y" * 20_000, "tools/list")
    basic = server.post(None, "tools/list", authorization="Basic YTpi")
    in_url = httpx2.post(f"{server.url}/mcp?token={server.tokens['alice']}", json={})

    assert [401, 401, 401, 401] == [each.status_code for each in (missing, wrong, basic, in_url)]
    assert endless.status_code in (400, 401)
    assert missing.headers["www-authenticate"] == "Bearer"
    assert 'error="invalid_token"' in wrong.headers["www-authenticate"]
    assert wrong.json()["error_description"] == "The token is unknown or was revoked."


def test_an_expired_and_a_revoked_token_are_refused_at_once(server: HttpServer) -> None:
    subjects = subjects_of(bootstrap(home=server.home))
    old = token_of(server.home, "old", expires=time.time() - 10)
    gone = token_of(server.home, "gone")
    before = server.post(gone, "tools/list")
    subjects.revoke("gone")

    expired, after = server.post(old, "tools/list"), server.post(gone, "tools/list")
    subjects.revoke("old")

    assert (before.status_code, expired.status_code, after.status_code) == (200, 401, 401)
    assert expired.json()["error_description"] == "The token has expired."


def test_a_token_file_that_others_can_read_stops_the_start_and_a_running_server(start: Start, tmp_path: Path) -> None:
    token = token_of(tmp_path, "alice")
    server = start(tmp_path)
    (tmp_path / ".citekit_tokens.json").chmod(0o644)

    running = server.post(token, "tools/list")
    starting = refused(tmp_path, "--http", "127.0.0.1:1")

    assert running.status_code == 503
    assert str(tmp_path) not in running.text
    assert "chmod 600" in starting


def test_a_damaged_token_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / ".citekit_tokens.json"
    path.touch(0o600)
    for text in ("", "[]", "{}", '{"subjects": [{"name": "a"}]}', "\x00\xff"):
        path.write_text(text)
        assert "damaged" in refused(tmp_path, "--http", "127.0.0.1:1")


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--http", "0.0.0.0:1"), "needs authorization"),
        (("--http", "nowhere:x"), "is not an address"),
        (("--http", "127.0.0.1:1", "--issuer", "https://id.test"), "must be given together"),
        (("--http", "127.0.0.1:1", "--tls-cert", "x.pem"), "must be given together"),
        (("--http", "127.0.0.1:1", "--issuer", "http://id.test", "--audience", "x"), "https"),
        (("--http", "127.0.0.1:1", "--token-file", "none.json"), "no token file"),
        (("--http", "127.0.0.1:1", "--tools", "alexandria"), "only --tools citekit is possible"),
        (("--http", "127.0.0.1:1", "--view", "--workers", "2"), "--view"),
        (("--workers", "2"), "needs --http"),
    ],
)
@pytest.mark.slow
def test_a_server_does_not_start_with_options_that_are_not_safe(
    tmp_path: Path, options: tuple[str, ...], reason: str
) -> None:
    assert reason in refused(tmp_path, *options)


def test_off_this_computer_a_server_needs_tokens_and_encryption(tmp_path: Path) -> None:
    assert "needs authorization" in refused(tmp_path, "--http", "0.0.0.0:1")
    token_of(tmp_path, "alice")
    assert "--public-url" in refused(tmp_path, "--http", "0.0.0.0:1")
    assert "without encryption" in refused(tmp_path, "--http", "0.0.0.0:1", "--public-url", "http://cite.test")


def test_strangers_cannot_fill_the_disk_with_refusals(start: Start, tmp_path: Path) -> None:
    token_of(tmp_path, "alice")
    server = start(tmp_path)

    answers = {server.post("citekit_wrong", "tools/list").status_code for _ in range(100)}

    assert answers == {401}
    assert 0 < len([each for each in server.audit() if "refused" in each]) < 100


def test_other_names_and_pages_are_refused(server: HttpServer) -> None:
    token = server.tokens["bob"]
    rebound = server.post(token, "tools/list", host="evil.test")
    page = server.post(token, "tools/list", origin="https://evil.test")
    own = server.post(token, "tools/list", origin=server.url)

    assert (rebound.status_code, page.status_code, own.status_code) == (421, 403, 200)


def test_a_body_of_a_gigabyte_is_refused_before_it_is_sent(server: HttpServer) -> None:
    token = server.tokens["bob"]
    with socket.create_connection(("127.0.0.1", server.port), 30) as raw:
        raw.sendall(
            f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nauthorization: Bearer {token}\r\n"
            f"content-type: application/json\r\ncontent-length: {2**30}\r\n\r\n".encode()
        )
        answer = raw.recv(4096)

    assert answer.startswith(b"HTTP/1.1 413")


def test_a_body_without_a_length_is_refused_when_it_becomes_too_large(server: HttpServer) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(200):
            yield b"x" * 65_536

    headers = {"authorization": f"Bearer {server.tokens['bob']}", "content-type": "application/json"}
    with suppress(httpx2.WriteError):  # the answer came before the whole body was sent, and the connection was closed
        assert httpx2.post(f"{server.url}/mcp", content=pieces(), headers=headers).status_code == 413
    assert server.post(server.tokens["bob"], "tools/list").status_code == 200


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"[" * 100_000, b'{"jsonrpc":"2.0"}', b"\xff\xfe", b"1" * 5000])
def test_a_body_that_is_not_a_request_is_a_client_error(server: HttpServer, data: bytes) -> None:
    for version in ("2026-07-28", "2025-11-25"):
        headers = {
            "authorization": f"Bearer {server.tokens['bob']}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": version,
        }
        answer = httpx2.post(f"{server.url}/mcp", content=data, headers=headers)
        assert 400 <= answer.status_code < 500
        assert "Traceback" not in answer.text


def test_other_methods_and_paths_are_refused(server: HttpServer) -> None:
    headers = {"authorization": f"Bearer {server.tokens['bob']}"}
    found = [
        httpx2.get(f"{server.url}/mcp", headers=headers).status_code,
        httpx2.delete(f"{server.url}/mcp", headers=headers).status_code,
        httpx2.get(f"{server.url}/h/x/api/home", headers=headers).status_code,
        httpx2.get(f"{server.url}/", headers=headers).status_code,
        httpx2.post(f"{server.url}/evidence/x", headers=headers).status_code,
        httpx2.get(f"{server.url}/.well-known/oauth-protected-resource").status_code,
    ]

    assert found == [405, 405, 404, 404, 405, 404]


def test_a_thousand_connections_that_say_nothing_do_not_stop_the_others(server: HttpServer) -> None:
    with ExitStack() as held:
        opened = 0
        for _ in range(1000):
            with suppress(OSError):
                held.enter_context(socket.create_connection(("127.0.0.1", server.port), 10))
                opened += 1
        answer = server.post(server.tokens["bob"], "tools/list").status_code

    assert opened > 500
    assert answer in (200, 503)
    assert _recovered(server)


def _recovered(server: HttpServer) -> bool:
    for _ in range(200):
        with suppress(httpx2.TransportError):
            if server.post(server.tokens["bob"], "tools/list").status_code == 200:
                return True
        time.sleep(0.1)
    return False


def test_slow_clients_are_cut_off(start: Start, tmp_path: Path) -> None:
    """A client that sends a part of the head, and one that sends a part of the body."""
    token = token_of(tmp_path, "alice")
    server = start(tmp_path, CITEKIT_TEST_SLOW="1")
    with (
        socket.create_connection(("127.0.0.1", server.port), 60) as head,
        socket.create_connection(("127.0.0.1", server.port), 60) as body,
    ):
        head.sendall(b"POST /mcp HTTP/1.1\r\nhost: ")
        body.sendall(
            f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{server.port}\r\nauthorization: Bearer {token}\r\n"
            "content-type: application/json\r\ncontent-length: 100\r\n\r\n{".encode()
        )
        assert server.post(token, "tools/list").status_code == 200
        assert head.recv(100) == b""
        assert body.recv(100).startswith(b"HTTP/1.1 408")


def test_a_subject_that_asks_too_often_has_to_wait_and_others_do_not(start: Start, tmp_path: Path) -> None:
    tokens = {name: token_of(tmp_path, name) for name in ("alice", "bob")}
    server = start(tmp_path, "--rate", "5")

    answers = [server.post(tokens["alice"], "tools/list") for _ in range(12)]

    limited = [each for each in answers if each.status_code == 429]
    assert limited
    assert int(limited[0].headers["retry-after"]) >= 1
    assert server.post(tokens["bob"], "tools/list").status_code == 200


@pytest.mark.slow
def test_a_killed_worker_is_replaced(start: Start, tmp_path: Path) -> None:
    token = token_of(tmp_path, "alice")
    bootstrap(home=tmp_path / ".citekit_subjects" / "alice").ingest(tmp_path / ".citekit_subjects/alice/notes.txt")
    server = start(tmp_path, "--workers", "2", tokens={"bob": token})
    seen = _workers(server)
    assert len(seen) == 2
    os.kill(seen[0], signal.SIGKILL)

    assert _recovered(server)
    cut = server.call(token, "resolve", resource_id="notes_txt", node_id="text://notes_txt#lines=1")
    assert httpx2.get(cut["structuredContent"]["download"]).text == "A secret of alice.\n"
    for _ in range(100):
        if len(_workers(server)) == 2 and seen[0] not in _workers(server):
            break
        time.sleep(0.2)
    assert seen[0] not in _workers(server)
    assert len(_workers(server)) == 2


def _workers(server: HttpServer) -> list[int]:
    """The processes that listen on the port of the server, but for their parent."""
    inodes = {
        line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines() if f":{server.port:04X} " in line
    }
    holders = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            links = [os.readlink(each) for each in (folder / "fd").iterdir()]
            if any(f"socket:[{inode}]" in links for inode in inodes if inode != "0"):
                holders.append(int(folder.name))
    parents = {int((Path("/proc") / str(each) / "stat").read_text().rpartition(")")[2].split()[1]) for each in holders}
    return [each for each in holders if each not in parents and _is_spawned(each)]


def _is_spawned(process: int) -> bool:
    return b"spawn_main" in (Path("/proc") / str(process) / "cmdline").read_bytes()


def test_tls_with_a_certificate_in_files(start: Start, tmp_path: Path) -> None:
    certificate, key = _certificate(tmp_path)
    token = token_of(tmp_path, "alice")
    server = start(tmp_path, "--tls-cert", str(certificate), "--tls-key", str(key))
    trusting = ssl.create_default_context(cafile=str(certificate))

    answer = httpx2.post(f"{server.url}/mcp", headers={"authorization": f"Bearer {token}"}, verify=trusting)

    assert server.url.startswith("https://")
    assert answer.status_code == 400


def _certificate(folder: Path) -> tuple[Path, Path]:
    import datetime
    import ipaddress

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    paths[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return paths


def test_without_tokens_the_server_is_for_this_computer_and_can_show_the_viewer(start: Start, tmp_path: Path) -> None:
    (tmp_path / "own.txt").write_text("Mine.\n")
    bootstrap(home=tmp_path).ingest(tmp_path / "own.txt")
    server = start(tmp_path, "--view")

    listed = server.call(None, "listResources")
    page = httpx2.get(f"{server.url}/")

    assert listed["structuredContent"] == {"resources": ["own_txt"]}
    assert page.status_code == 403  # the viewer needs its own link


def test_the_names_of_subjects_and_scopes_are_checked(tmp_path: Path) -> None:
    from citekit.domain.errors import RequestRefused

    subjects = subjects_of(bootstrap(home=tmp_path))
    for name in ("", "a/b", "../x", ".hidden", "x" * 100):
        with pytest.raises(RequestRefused):
            subjects.add(Subject(name=name, home=tmp_path / "a", scopes=frozenset({READ})))
    assert subjects.entries() == []
    assert not (tmp_path / ".citekit_tokens.json").exists()
