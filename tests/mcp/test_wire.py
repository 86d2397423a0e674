"""The wire: one message a line and nothing else, whatever comes in, until the client leaves or a signal comes."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.entrypoints.mcp import stdio
from citekit.entrypoints.mcp.stdio import refused_request
from tests.mcp.server_process import PATIENCE, Home, Wire, node
from tests.representatives import representatives

HEAVY = ("mupdf", "/av/", "PIL", "lxml", "selectolax", "tree_sitter", "numpy")


def libraries(process: int) -> set[str]:
    """The shared objects in the memory of a process that belong to heavy drivers."""
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    paths = {line.split()[-1] for line in lines if ".so" in line}
    return {path for path in paths if any(name in path for name in HEAVY)}


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_heavy_is_loaded_before_something_is_cut(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(home.cold_server)

    client.call("listResources")
    client.call("getStructure", resource_id="notes")
    client.call("getNode", resource_id="notes", node_id="intro")
    cited = client.call("resolve", resource_id="notes", node_id="intro", virtual=True)

    assert "text://notes#lines=1-20" == cited["structuredContent"]["address"]
    assert set() == libraries(client.process.pid)


def test_the_answer_to_a_null_keeps_it(wire: Callable[..., Wire]) -> None:
    result = wire().call("resolve", resource_id="notes", node_id="intro", virtual=True)

    assert {"output_path": None} == {"output_path": result["structuredContent"]["output_path"]}
    assert '"output_path":null' in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("version", "kinds"),
    representatives(
        [
            ("2024-11-05", ["text", "text"]),
            ("2025-03-26", ["text", "text"]),
            ("2025-06-18", ["text", "resource_link", "text"]),
            ("2025-11-25", ["text", "resource_link", "text"]),
        ],
        2,
    ),
)
def test_links_go_only_to_clients_that_know_them(wire: Callable[..., Wire], version: str, kinds: list[str]) -> None:
    client = wire(hands=version)

    result = client.call("resolve", resource_id="notes", node_id="intro.aim")

    assert kinds == [item["type"] for item in result["content"]]
    assert Path(json.loads(result["content"][0]["text"])["output_path"]).read_bytes() == b"line 3\nline 4\nline 5\n"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"{",
        b"not json",
        b"[]",
        b"null",
        b'"text"',
        b"\xff\xfe\x00",
        b'{"jsonrpc": "2.0"}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "no/such"}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": 1}}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": {"name": "getNode", "arguments": []}}',
        b'{"jsonrpc": "2.0", "id": 99, "method": "resources/read", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 99, "result": {}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 12345}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}',
        b'{"jsonrpc": "2.0", "method": "notifications/what", "params": {"x": 1}}',
        b"[" * 100_000,
        b'{"a": "' + b"x" * 1_000_000,
    ],
    ids=lambda line: line[:30].decode("latin-1"),
)
def test_no_line_ends_the_session(noisy: Wire, line: bytes) -> None:
    noisy.send(line)

    answer = noisy.call("getNode", resource_id="notes", node_id="intro")

    assert "intro" == answer["structuredContent"]["id"]


@pytest.fixture(scope="module")
def noisy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    home = Home.with_notes(tmp_path_factory.mktemp("noisy"))
    with Popen(home.server, stdin=PIPE, stdout=PIPE) as process:
        client = Wire(process)
        client.shake_hands()
        yield client


def test_a_line_that_is_no_message_is_answered_as_the_protocol_has_it(wire: Callable[..., Wire]) -> None:
    client = wire()

    client.send(b'{"jsonrpc": "2.0", "id": 1, "method"')

    assert {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "This line is not a valid JSON-RPC message."},
    } == client.read()


@pytest.mark.parametrize("depth", [5, 190, 197, 198, 199, 1000, 100_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_a_call_of_any_depth_is_answered_under_its_own_id(noisy: Wire, depth: int, opened: str, closed: str) -> None:
    nested = opened * depth + "1" + closed * depth
    noisy.number += 1
    params = f'{{"name": "getNode", "arguments": {{"resource_id": "notes", "node_id": {nested}}}}}'

    noisy.send(f'{{"jsonrpc": "2.0", "method": "tools/call", "params": {params}, "id": {noisy.number}}}'.encode())
    answer = noisy.read()

    assert noisy.number == answer["id"]
    if depth < 197:
        assert "must be a string" in answer["result"]["content"][0]["text"]
    if depth > 197:
        assert (-32600, True) == (answer["error"]["code"], "nested too deeply" in answer["error"]["message"])


def test_a_refused_request_under_a_used_id_leaves_the_other_answer_whole(wire: Callable[..., Wire]) -> None:
    client = wire()
    client.number += 1
    listed = {"jsonrpc": "2.0", "id": client.number, "method": "tools/call", "params": {"name": "listResources"}}
    deep = f'{{"jsonrpc": "2.0", "id": {client.number}, "method": "x", "params": {{"a": {"[" * 500 + "]" * 500}}}}}'

    client.send(json.dumps(listed).encode() + b"\n" + deep.encode())
    answers = [client.read(), client.read()]

    (result,) = [each["result"] for each in answers if "result" in each]
    assert "notes" in json.dumps(result["structuredContent"])
    assert {client.number} == {each["id"] for each in answers}


_IDS = st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=["Cs"]))
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(alphabet='[]{}:,"\\ id'),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["id", "method", 'a"{', "x"]), inner),
    max_leaves=10,
)


@pytest.mark.long
@given(_IDS, st.lists(_VALUES, max_size=3), st.permutations(["id", "method", "params", "jsonrpc"]), st.booleans())
def test_the_id_is_found_whatever_is_beside_it(
    request_id: str | int, values: list[object], order: list[str], spaced: bool
) -> None:
    deep: object = values
    for _ in range(stdio.NESTING_LIMIT):
        deep = [deep]
    members = {"id": request_id, "method": "tools/call", "params": {"id": 1, "x": deep}, "jsonrpc": "2.0"}
    separators = None if spaced else (",", ":")

    line = json.dumps({name: members[name] for name in order}, separators=separators).encode()

    found = refused_request(line)
    assert found is not None
    assert (request_id, True) == (found.id, found.is_nested_too_deeply)
    assert refused_request(line[:-1]) is None


@pytest.mark.long
def test_the_id_of_a_line_of_any_length_is_found_in_bounded_work() -> None:
    deep = b'{"a":' * 2_000_000 + b"1" + b"}" * 2_000_000
    began = time.process_time()

    first = refused_request(b'{"id": 7, "method": "x", "params": ' + deep + b"}")
    last = refused_request(b'{"method": "x", "params": ' + deep + b', "id": 7}')

    assert (first, None) == (stdio.RefusedRequest(7, is_nested_too_deeply=True), last)
    assert time.process_time() - began < 20  # without a limit it takes many times as long


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"[]",
        b'"id"',
        b'{"id": 1}',
        b'{"method": "x"}',
        b'{"id": null, "method": "x"}',
        b'{"id": true, "method": "x"}',
        b'{"id": [1], "method": "x"}',
        b'{"id": 1.5, "method": "x"}',
        b'{"a": {"id": 1, "method": "x"}}',
        b'{"id": 1, "method": 5}',
        b'{"id": "\xff", "method": "x"}',
        b'{"id": 1, "method": "x',
        b'{"id": ' + b"1" * 5000 + b', "method": "x"}',
    ],
)
def test_a_line_without_a_request_has_no_id(line: bytes) -> None:
    assert refused_request(line) is None


def test_a_message_beyond_all_measure_ends_the_session(wire: Callable[..., Wire]) -> None:
    client = wire()
    assert client.process.stdin is not None

    with pytest.raises(BrokenPipeError):  # noqa: PT012 - which of the chunks meets the closed pipe is not known
        for _ in range(3 * stdio.MESSAGE_LIMIT // 65536):
            client.process.stdin.write(b"x" * 65536)

    assert 0 == client.process.wait(PATIENCE)


def test_the_server_ends_when_the_input_does(wire: Callable[..., Wire]) -> None:
    client = wire()
    client.call("listResources")

    left = client.leave()

    assert (0, b"") == left


@pytest.mark.long
def test_requests_piped_in_at_once_are_all_answered(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire(home.cold_server, hands=None)
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": "resolve", "arguments": part}}
            for number, part in enumerate(
                [{"resource_id": "notes", "node_id": name} for name in ("intro", "intro.aim", "body", "nope")], start=2
            )
        ),
    ]

    client.send("\n".join(json.dumps(message) for message in messages).encode())
    code, output = client.leave()

    answers = {answer["id"]: answer for answer in map(json.loads, output.splitlines())}
    assert (0, {1, 2, 3, 4, 5}) == (code, set(answers))
    assert [False, False, False, True] == [answers[number]["result"]["isError"] for number in range(2, 6)]


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_server_cleanly(home: Home, wire: Callable[..., Wire], number: signal.Signals) -> None:
    client = wire(home.cold_server)
    client.call("listResources")

    client.process.send_signal(number)

    assert 0 == client.process.wait(PATIENCE)
    assert "Traceback" not in (home.folder / "stderr.txt").read_text()


def test_a_client_that_reads_no_more_ends_the_server(home: Home, wire: Callable[..., Wire]) -> None:
    client = wire()
    assert client.process.stdout is not None
    client.process.stdout.close()

    client.start("tools/call", {"name": "listResources", "arguments": {}})

    assert 0 == client.process.wait(PATIENCE)
    assert "Traceback" not in (home.folder / "stderr.txt").read_text()


def test_a_large_answer_waits_for_a_slow_reader(home: Home, wire: Callable[..., Wire]) -> None:
    home.add("large", *(node(f"n{number}", 1, 400, summary="x" * 200) for number in range(200)))
    client = wire()

    numbers = [
        client.start("tools/call", {"name": "getStructure", "arguments": {"resource_id": "large"}}) for _ in range(5)
    ]
    found: dict[int, int] = {}
    while len(found) < len(numbers):
        answer = client.read()
        found[answer["id"]] = len(answer["result"]["structuredContent"]["nodes"])

    assert dict.fromkeys(numbers, 200) == found


@given(st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line)), st.integers(1, 50))
def test_lines_are_lines_however_they_are_cut(lines: list[bytes], width: int) -> None:
    source, end = os.pipe()
    data = b"".join(line + b"\n" for line in lines)
    for start in range(0, len(data), width):
        os.write(end, data[start : start + width])
    os.close(end)

    found = list(stdio.Wire(source, -1).lines())

    os.close(source)
    assert lines == found


@pytest.mark.long
def test_a_signal_ends_the_server_though_nobody_reads_its_answers(home: Home, wire: Callable[..., Wire]) -> None:
    home.add("large", *(node(f"n{number}", 1, 400, summary="x" * 200) for number in range(200)))
    client = wire()
    for _ in range(60):  # more than a pipe holds
        client.start("tools/call", {"name": "getStructure", "arguments": {"resource_id": "large"}})
    assert client.process.stdout is not None
    assert select.select([client.process.stdout], [], [], PATIENCE)[0]
    time.sleep(0.5)

    client.process.send_signal(signal.SIGTERM)

    assert 0 == client.process.wait(PATIENCE / 2)
