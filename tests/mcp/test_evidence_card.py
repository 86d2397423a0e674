"""The card of MCP Apps: its tools with the official client, and the card itself in a browser that plays the host."""

from __future__ import annotations

import io
import os
import sys
from base64 import b64decode
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.extension import advertise
from mcp_types import CallToolResult
from PIL import Image

from citekit.container import bootstrap
from citekit.entrypoints.mcp.evidence_card import CARD, CARD_TYPE, EXTENSION, PICTURE
from tests.made_files import make_all
from tests.web.conftest import started, stop

pytestmark = pytest.mark.long

_Result = TypeVar("_Result")

APPS = advertise(EXTENSION, {"mimeTypes": [CARD_TYPE]})


@pytest.fixture(scope="module")
def many_kinds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("cards")
    app = bootstrap(home=home)
    made = make_all(home)
    for name in ("r-intro.pdf", "notes.md", "book.epub", "imageTextN.png", "lena.ogg", "run.mp4"):
        app.ingest(made[name])
    bare = home / "bare.json"
    bare.write_text('{"type": "text", "nodes": []}')
    app.adapt(bare, app.adapter_called("generic"))
    return home


def parameters(home: Path) -> StdioServerParameters:
    state = {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}
    return StdioServerParameters(
        command=sys.executable, args=["-m", "citekit", "serve", "--home", str(home)], env=state
    )


def ask(
    home: Path, work: Callable[[Client], Awaitable[_Result]], mode: Any = "auto", extensions: Any = (APPS,)
) -> _Result:
    async def session() -> _Result:
        with anyio.fail_after(60):
            async with Client(parameters(home), mode=mode, extensions=extensions) as client:
                return await work(client)

    return anyio.run(session)


@pytest.fixture(scope="module")
def call(many_kinds: Path) -> Iterator[Callable[..., CallToolResult]]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(parameters(many_kinds), extensions=[APPS])) as client,
    ):
        yield lambda tool, **arguments: portal.call(client.call_tool, tool, arguments)


@pytest.fixture(scope="module")
def read(many_kinds: Path) -> Iterator[Callable[[str], Any]]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(parameters(many_kinds), extensions=[APPS])) as client,
    ):
        yield lambda uri: portal.call(client.read_resource, uri).model_dump(
            mode="json", by_alias=True, exclude_none=True
        )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_only_clients_with_apps_are_offered_the_card(many_kinds: Path, mode: str) -> None:
    async def work(client: Client) -> tuple[dict[str, Any], Any]:
        tools = {tool.name: tool.meta for tool in (await client.list_tools()).tools}
        read = await client.read_resource(CARD)
        return tools, read.contents[0]

    tools, card = ask(many_kinds, work, mode)
    assert {"ui": {"resourceUri": CARD, "visibility": ["model", "app"]}} == tools["showEvidence"]
    assert {"ui": {"visibility": ["app"]}} == tools["evidencePage"]
    assert CARD_TYPE == card.mime_type
    assert card.text.startswith("<!doctype html>")
    assert len(card.text) < 20_000

    async def names(client: Client) -> set[str]:
        return {tool.name for tool in (await client.list_tools()).tools}

    other = advertise(EXTENSION, {"mimeTypes": ["text/plain"]})
    for extensions in ((), (other,)):
        assert {"showEvidence", "evidencePage"}.isdisjoint(ask(many_kinds, names, mode, extensions))


def test_a_map_without_nodes_has_no_first_part_to_show(call: Callable[..., CallToolResult]) -> None:
    found = call("showEvidence", resource_id="bare")
    assert found.is_error
    assert "The map of 'bare' has no nodes." in found.content[0].text  # type: ignore[union-attr]


def test_a_quote_is_shown_on_its_page_and_told_in_words(call: Callable[..., CallToolResult]) -> None:
    found = call("showEvidence", resource_id="r-intro", quote="coerced numeric counterparts")
    plain = found.structured_content or {}
    assert ("doc://r-intro#pages=17", "pages", [17], True) == tuple(
        plain[key] for key in ("address", "kind", "pages", "holds")
    )
    ((left, top, width, height),) = plain["boxes"]["17"]
    assert 0 < left < left + width < 1
    assert 0 < top < top + height < 1
    assert "doc://r-intro#pages=17" in found.content[0].text  # type: ignore[union-attr]
    assert "holds: exact" in found.content[0].text  # type: ignore[union-attr]
    altered = call("showEvidence", resource_id="r-intro", node_id="pages=17", quote="coerced alphabetic counterparts")
    plain = altered.structured_content or {}
    assert (False, "altered") == (plain["holds"], plain["finding"])
    assert [
        [True, "coerced", "coerced"],
        [False, "alphabetic", "numeric"],
        [True, "counterparts", "counterparts"],
    ] == plain["wording"]
    assert len(plain["differing"]["17"]) == 1
    assert "The source has: coerced numeric counterparts" in altered.content[0].text  # type: ignore[union-attr]
    absent = call(
        "showEvidence", resource_id="r-intro", node_id="pages=17", quote="a slow collection of cooking programs"
    )
    plain = absent.structured_content or {}
    assert (False, "absent", {}) == (plain["holds"], plain["finding"], plain.get("boxes", {}))


@pytest.mark.parametrize(
    ("resource", "part", "kind"),
    [
        ("notes_md", "lines=7-9", "text"),
        ("book", "chapter=1", "text"),
        ("lena", "t=1-2", "recording"),
        ("run", "t=1-2", "recording"),
        ("imagetextn", "bbox=0.1,0.1,0.5,0.5", "pages"),
        ("r-intro", "pages=3-5", "pages"),
    ],
)
def test_every_kind_of_part_is_shown(call: Callable[..., CallToolResult], resource: str, part: str, kind: str) -> None:
    plain = call("showEvidence", resource_id=resource, node_id=part).structured_content or {}
    assert kind == plain["kind"]
    assert part in plain["address"] or kind == "pages"


def test_a_picture_of_a_page_fits_into_an_answer(call: Callable[..., CallToolResult]) -> None:
    found = call("evidencePage", resource_id="r-intro", page=17, width=3000)
    data = b64decode(found.content[-1].data)  # type: ignore[union-attr]
    assert len(data) <= PICTURE
    with Image.open(io.BytesIO(data)) as picture:
        assert picture.width > 600
    refused = call("evidencePage", resource_id="r-intro", page=1000)
    assert refused.is_error
    assert refused.content[0].text.startswith("Error: ")  # type: ignore[union-attr]
    assert call("showEvidence", resource_id="nothing").is_error
    assert call("evidencePage", resource_id="notes_md", page=1).is_error


HOST = """<!doctype html><html><head><meta charset="utf-8"></head><body><script>
window.seen = [];
const frame = document.createElement("iframe");
frame.sandbox = "allow-scripts";
frame.style.cssText = "width:600px;height:800px;border:0";
frame.src = "/card";
document.body.append(frame);
window.addEventListener("message", async (event) => {
  if (event.source !== frame.contentWindow) return;
  const { id, method, params } = event.data;
  window.seen.push(method);
  const reply = (result) => frame.contentWindow.postMessage({ jsonrpc: "2.0", id, result }, "*");
  if (method === "ui/initialize") reply({ protocolVersion: "2026-01-26", hostInfo: { name: "test", version: "1" }, hostCapabilities: { openLinks: {}, serverResources: {} },
    hostContext: { theme: "light", styles: { variables: { "--color-text-primary": "#222" } } } });
  if (method === "resources/read") reply(await window.readResource(params.uri));
  if (method === "ui/open-link") { window.opened = params.url; reply({}); }
  if (method === "tools/call") reply(await window.callTool(params.name, params.arguments));
  if (method === "ui/notifications/initialized") {
    const values = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    const send = (name, params) => frame.contentWindow.postMessage({ jsonrpc: "2.0", method: name, params }, "*");
    send("ui/notifications/tool-input", { arguments: values });
    send("ui/notifications/tool-result", await window.callTool("showEvidence", values));
  }
  if (id !== undefined && method === "ui/update-model-context") reply({});
});
</script></body></html>"""

HOST_POLICY = (
    "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "media-src 'self' data:; connect-src 'none'"
)
"""What hosts set where a card declares nothing (MCP Apps 2026-01-26)."""


def test_the_card_shows_the_marked_page_in_a_host(
    call: Callable[..., CallToolResult], read: Callable[[str], Any], many_kinds: Path
) -> None:
    """The host is imitated: its policy, its sandbox, and its messages. The tools are those of a real server."""
    from tests.web.browser import opened_browser, until

    html = Path(sys.modules["citekit.entrypoints.mcp"].__path__[0], "evidence_card.html").read_text()
    with opened_browser() as browser:
        tab = browser.new_page()
        faults: list[str] = []
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)

        def answer(name: str, arguments: dict[str, Any]) -> Any:
            return call(name, **arguments).model_dump(mode="json", by_alias=True, exclude_none=True)

        tab.expose_function("callTool", answer)
        tab.expose_function("readResource", read)
        tab.route(
            "http://host.test/card",
            lambda route: route.fulfill(
                body=html, content_type="text/html", headers={"content-security-policy": HOST_POLICY}
            ),
        )
        tab.route("http://host.test/", lambda route: route.fulfill(body=HOST, content_type="text/html"))
        shown = tab.frame_locator("iframe")

        tab.goto('http://host.test/#{"resource_id":"r-intro","quote":"coerced numeric counterparts"}')
        shown.locator(".mark").wait_for()
        assert "An Introduction to R" == shown.locator("#title").inner_text()
        assert "exact" == shown.locator("#finding").inner_text()
        picture, mark = shown.locator("#picture").bounding_box(), shown.locator(".mark").bounding_box()
        assert picture["x"] < mark["x"] < picture["x"] + picture["width"]
        assert mark["y"] > picture["y"]
        until(lambda: picture["height"] > 500)
        shown.locator("#on").click()
        until(lambda: "Page 18 of 113" == shown.locator("#number").inner_text())
        assert 0 == shown.locator(".mark").count()
        assert {"ui/initialize", "ui/notifications/initialized", "ui/notifications/size-changed"} <= set(
            tab.evaluate("window.seen")
        )

        tab.goto("about:blank")
        tab.goto(
            'http://host.test/#{"resource_id":"r-intro","quote":"logical vectors and their coerced alphabetic counterparts"}'
        )
        shown.locator(".differs").wait_for()
        assert "altered" == shown.locator("#finding").inner_text()
        assert ["alphabetic"] == shown.locator("#quote del").all_inner_texts()
        assert ["numeric"] == shown.locator("#source ins").all_inner_texts()

        for values, selector in (
            ('{"resource_id":"lena","node_id":"t=1-2"}', "#sound"),
            ('{"resource_id":"run","node_id":"t=1-2"}', "#still"),
            ('{"resource_id":"notes_md","node_id":"lines=7-9"}', "#text"),
        ):
            tab.goto("about:blank")
            tab.goto(f"http://host.test/#{values}")
            shown.locator(f"{selector}:visible").wait_for()
            assert not shown.locator("#problem").is_visible()
            if selector == "#still":
                shown.locator("#play").click()
                shown.locator("#clip:visible").wait_for()
                until(lambda: shown.locator("#clip").evaluate("clip => clip.duration") > 0.5)
        process, server = started(many_kinds)
        try:
            tab.goto("about:blank")
            tab.goto('http://host.test/#{"resource_id":"r-intro","quote":"coerced numeric counterparts"}')
            shown.locator("#viewer").click()
            wanted = f"{server.root}/r/r-intro#pages=17&quote=coerced%20numeric%20counterparts"
            until(lambda: wanted == tab.evaluate("window.opened"))
            assert "token" not in wanted
        finally:
            stop(process)
        tab.goto("about:blank")
        tab.goto('http://host.test/#{"resource_id":"nothing"}')
        until(lambda: "nothing" in shown.locator("#problem").inner_text())
        assert [] == faults
