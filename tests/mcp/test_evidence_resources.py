"""Evidence as MCP resources and inline, asked by the official Python client of a real server process."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from base64 import b64decode
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)
from PIL import Image

from citekit.application.evidence_content import BINARY_LIMIT, TEXT_LIMIT
from citekit.container import bootstrap
from citekit.domain.address import parse_address
from citekit.domain.errors import RequestRefused
from citekit.entrypoints.mcp.resources import READ_LIMIT, evidence_in
from citekit.wire import receipts
from tests.mcp.server_process import Home, Served, node

SAMPLES = Path(__file__).parents[2] / "src" / "citekit" / "samples"


@pytest.fixture(scope="module")
def mapped(served: Served) -> Served:
    """A server with a manual, a picture, a sound, and a text of odd characters."""
    app = bootstrap(home=served.home.folder)
    for name in ("r-intro.pdf", "lena.ogg", "run.mp4"):
        shutil.copy(SAMPLES / name, served.home.folder / name)
        app.ingest(served.home.folder / name)
    noise = Image.effect_noise((1400, 1100), 90).convert("RGB")
    noise.save(served.home.folder / "noise.png")
    app.ingest(served.home.folder / "noise.png")
    (served.home.folder / "odd.txt").write_text("Zero\u200bwidth ![x](http://a/b.png)\n", "utf-8")
    app.ingest(served.home.folder / "odd.txt")
    return served


def others(result: CallToolResult) -> list[Any]:
    assert not result.is_error, result.content
    return list(result.content[1:])


def plain(result: CallToolResult) -> dict[str, Any]:
    assert isinstance(result.structured_content, dict), result.content
    return result.structured_content


def read(served: Served, uri: str) -> Any:
    async def work(client: Client) -> Any:
        (found,) = (await client.read_resource(uri)).contents
        return found

    return served.ask(work)


def refusal(served: Served, uri: str) -> str:
    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return str(caught.value)

    return served.ask(work)


def test_the_link_of_an_answer_can_be_read(mapped: Served) -> None:
    result = mapped.call("resolve", resource_id="r-intro", node_id="doc://r-intro#pages=12-13")

    link, note = others(result)  # a PDF is not shown inline
    assert "Not shown here (application/pdf, " in note.text
    assert isinstance(link, ResourceLink)
    assert (
        "Call resolve with as: text for the words or, for a few pages, as: png for a picture. The complete evidence is at "
        f"{link.uri}" in note.text
    )
    found = read(mapped, link.uri)
    assert isinstance(found, BlobResourceContents)
    data = b64decode(found.blob)
    assert Path(plain(result)["output_path"]).read_bytes() == data
    assert "application/pdf" == found.mime_type == link.mime_type
    with pymupdf.open(stream=data) as document:  # type: ignore[no-untyped-call]
        assert 2 == document.page_count


def test_a_text_is_shown_inline_and_is_a_text_resource(mapped: Served) -> None:
    result = mapped.call("resolve", resource_id="r-intro", node_id="doc://r-intro#pages=12", **{"as": "text"})

    link, inline = others(result)
    found = read(mapped, link.uri)
    assert isinstance(found, TextResourceContents)
    assert isinstance(inline, TextContent)
    assert Path(plain(result)["output_path"]).read_text("utf-8") == found.text == inline.text


def test_a_long_text_is_cut_at_a_line_and_says_where_the_whole_is(mapped: Served) -> None:
    mapped.home.add("long", node("all", 1, 400))
    mapped.home.source("long").write_text("wide line of words here\n" * 400)
    (mapped.home.folder / ".resource_maps" / "long.json").unlink()
    bootstrap(home=mapped.home.folder).ingest(mapped.home.source("long"), wanted_id="long")

    link, inline, note = others(mapped.call("resolve", resource_id="long", node_id="text://long#lines=1-400"))

    assert TEXT_LIMIT - 30 < len(inline.text) <= TEXT_LIMIT
    assert inline.text.endswith("here\n")
    assert f"of {400 * 24:,} bytes" in note.text
    assert link.uri in note.text
    assert 400 * 24 == len(read(mapped, link.uri).text)


def test_a_page_as_a_picture_is_shown_and_reduced_on_request(mapped: Served) -> None:
    asked = {"resource_id": "r-intro", "node_id": "doc://r-intro#pages=12", "as": "png"}

    link, shown = others(mapped.call("resolve", **asked))
    assert isinstance(shown, ImageContent)
    assert "image/png" == shown.mime_type
    assert hashlib.sha256(b64decode(shown.data)).hexdigest() == link.uri.rpartition("/")[2]
    again, reduced, note = others(mapped.call("resolve", **asked, width=300))
    assert again.uri == link.uri
    with Image.open(io.BytesIO(b64decode(reduced.data))) as picture:
        assert 300 == max(picture.size)
    assert "300 x 300 pixels" in note.text


@pytest.mark.long
def test_a_picture_over_the_budget_is_reduced(mapped: Served) -> None:
    result = mapped.call("resolve", resource_id="noise", node_id="image://noise#xywh=percent:0,0,100,100")

    link, shown, _ = others(result)
    assert plain(result)["receipt"]["evidence_size"] > BINARY_LIMIT >= len(b64decode(shown.data))
    with Image.open(io.BytesIO(b64decode(shown.data))) as picture:
        assert 1400 > picture.size[0] > 300
    assert plain(result)["receipt"]["evidence_size"] > READ_LIMIT
    refused = refusal(mapped, link.uri)
    assert "at most 2,097,152" in refused
    assert "Call resolve with width for a smaller picture." in refused


def test_a_short_sound_can_be_heard(mapped: Served) -> None:
    result = mapped.call("resolve", resource_id="lena", node_id="audio://lena#t=0-2")

    link, shown = others(result)
    assert isinstance(shown, AudioContent)
    assert b64decode(shown.data) == Path(plain(result)["output_path"]).read_bytes()
    assert shown.mime_type == link.mime_type


def test_a_clip_that_is_not_shown_says_which_form_is(mapped: Served) -> None:
    clip = others(mapped.call("resolve", resource_id="run", node_id="video://run#t=0-2"))[-1]
    assert "as: frame" in clip.text
    picture = others(mapped.call("resolve", resource_id="run", node_id="video://run#t=0-2", **{"as": "frame"}))[1]
    assert isinstance(picture, ImageContent)


def test_inline_text_shows_odd_characters_and_the_resource_has_the_exact_bytes(mapped: Served) -> None:
    result = mapped.call("resolve", resource_id="odd_txt", node_id="text://odd_txt#lines=1")

    link, inline = others(result)
    assert "\u200b" not in inline.text
    assert "![" not in inline.text
    found = read(mapped, link.uri)
    assert isinstance(found, BlobResourceContents)
    assert Path(plain(result)["output_path"]).read_bytes() == b64decode(found.blob)


def test_parts_and_the_whole_receipt_are_resources(mapped: Served) -> None:
    result = mapped.call("resolve", resource_id="notes", node_id="intro.aim")
    uri = plain(result)["uri"]

    assert b"ine 3" == b64decode(read(mapped, f"{uri}/1-5").blob)
    assert b"\n" == b64decode(read(mapped, f"{uri}/20-900").blob)
    assert "21 bytes" in refusal(mapped, f"{uri}/21-22")
    assert "no such bytes" in refusal(mapped, f"{uri}/9-2")
    receipt = receipts.from_json(read(mapped, f"{uri}/receipt").text, "the receipt")
    assert uri.rpartition("/")[2] == receipt.evidence_digest.hex
    assert "text://notes#lines=3-5" == str(receipt.address)


def test_a_receipt_verifies_the_bytes(mapped: Served, tmp_path: Path) -> None:
    uri = plain(mapped.call("resolve", resource_id="notes", node_id="body.first"))["uri"]
    (tmp_path / "evidence.txt").write_text(read(mapped, uri).text)
    receipt = receipts.from_json(read(mapped, f"{uri}/receipt").text, "the receipt")

    verify = bootstrap(home=mapped.home.folder).verify
    assert verify.file(tmp_path / "evidence.txt", receipt=receipt).genuine


@pytest.mark.parametrize(
    "rest", ["", "x", "A" * 64, "0" * 63, f"{'0' * 64}/", f"{'0' * 64}/..", f"{'0' * 64}/1-", "../maps/notes"]
)
def test_what_is_no_evidence_is_refused(served: Served, rest: str) -> None:
    assert "is not the URI of evidence" in refusal(served, f"citekit://evidence/{rest}")


@pytest.mark.long
def test_unknown_and_removed_evidence_says_what_to_do(home: Home) -> None:
    async def work(client: Client) -> tuple[str, str]:
        said = []
        uri = plain(await client.call_tool("resolve", {"resource_id": "notes", "node_id": "intro.aim"}))["uri"]
        bootstrap(home=home.folder).evidence.clear()
        for each in (f"citekit://evidence/{'0' * 64}", uri):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(each)
            said.append(str(caught.value))
        return said[0], said[1]

    assert all("Resolve the part again" in each for each in home.ask(work))


@pytest.mark.long
def test_the_object_of_a_forged_receipt_is_not_given_out(home: Home) -> None:
    """A receipt in the home that names other evidence does not open it."""

    async def work(client: Client) -> str:
        answers = [
            plain(await client.call_tool("resolve", {"resource_id": "notes", "node_id": name}))["receipt"]
            for name in ("intro.aim", "body.first")
        ]
        one, other = (each["evidence_digest"] for each in answers)
        for path in (home.folder / ".citekit_output" / ".receipts").rglob("*.json"):
            path.write_text(path.read_text().replace(one, other))
        with pytest.raises(MCPError) as caught:
            await client.read_resource(f"citekit://evidence/{one}")
        return str(caught.value)

    assert "has no evidence" in home.ask(work)


@pytest.mark.long
def test_evidence_of_a_file_that_agents_may_not_read_is_not_given_out(
    home: Home, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.txt"
    outside.write_text("The secret.\n")
    plain_map = json.loads(home.map_file("notes").read_text("utf-8"))
    digest = hashlib.sha256(outside.read_bytes()).hexdigest()
    facts = {"source_hash": digest, "source_size": outside.stat().st_size, "line_count": 1}
    stranger = {**plain_map, "resource_id": "secret", "source_path": str(outside), "metadata": facts, "nodes": []}
    home.map_file("secret").write_text(json.dumps(stranger))
    evidence = bootstrap(home=home.folder).resolve(parse_address("text://secret#lines=1"))
    assert evidence.receipt is not None
    uri = f"citekit://evidence/{evidence.receipt.evidence_digest.hex}"

    async def work(client: Client) -> str:
        with pytest.raises(MCPError) as caught:
            await client.read_resource(uri)
        return str(caught.value)

    assert "has no evidence" in home.ask(work)


@pytest.mark.long
def test_evidence_over_the_limit_is_read_in_parts(home: Home) -> None:
    source = home.folder / "big.csv"
    source.write_text("a,b\n" + "1234567,7654321\n" * (READ_LIMIT // 12))
    app = bootstrap(home=home.folder)
    app.ingest(source, wanted_id="big")
    lines = len(source.read_text().splitlines())

    async def work(client: Client) -> tuple[str, int, bytes]:
        answer = plain(
            await client.call_tool(
                "resolve", {"resource_id": "big", "node_id": f"text://big#lines=1-{lines}", "as": "source"}
            )
        )
        with pytest.raises(MCPError) as caught:
            await client.read_resource(answer["uri"])
        data, size = b"", answer["receipt"]["evidence_size"]
        while len(data) < size:
            (part,) = (await client.read_resource(f"{answer['uri']}/{len(data)}-{len(data) + READ_LIMIT - 1}")).contents
            assert isinstance(part, BlobResourceContents)
            data += b64decode(part.blob)
        return str(caught.value), size, data

    said, size, data = home.ask(work)

    assert f"{size:,} bytes" in said
    assert "/0-2097151" in said
    assert source.read_bytes() == data


@given(st.text())
def test_a_text_is_a_uri_of_evidence_or_refused_or_of_something_else(text: str) -> None:
    try:
        found = evidence_in(f"citekit://evidence/{text}")
    except RequestRefused:
        return
    assert found is not None
    assert text.startswith(found.digest.hex)


def test_the_structured_answer_is_the_same_as_before_but_for_the_short_receipt(mapped: Served) -> None:
    answer = mapped.call("resolve", resource_id="notes", node_id="intro.aim")

    required = {"output_path", "modality", "address", "node", "resource_id"}
    assert required <= set(plain(answer))
    assert len(json.dumps(plain(answer)["receipt"])) < 500
