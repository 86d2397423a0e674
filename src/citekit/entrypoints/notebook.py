"""Shows results of the SDK in notebooks: evidence, maps as trees, hits as a list, and verdicts on quotes.

The HTML is self-contained and runs nothing.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from html import escape
from pathlib import Path

from citekit.container import Container, bootstrap
from citekit.domain.address import Address, fragment_of
from citekit.domain.errors import CiteKitError
from citekit.domain.evidence import Evidence, Receipt
from citekit.domain.formats import by_name
from citekit.domain.locations import Virtual
from citekit.domain.node import Node
from citekit.domain.page_view import PagePicture
from citekit.domain.quotes.verdict import QuoteVerdict
from citekit.domain.resource_map import ResourceMap
from citekit.domain.source import Source
from citekit.domain.text_search.found import FoundText
from citekit.settings.places import OUTPUT
from citekit.wire.quotes import plain_wording

PICTURE_WIDTH = 640
"""The width in pixels of a picture in a notebook."""

EMBEDDED_LIMIT = 2 * 2**20
"""The maximum size in bytes of a recording that is embedded."""

TEXT_LIMIT = 4_000
"""The maximum number of characters of a text that is shown."""

NODE_LIMIT = 500
"""The maximum number of nodes of a map that are shown."""


def evidence_html(evidence: Evidence) -> str:
    """Return evidence as HTML, with the address and the digests."""
    receipt = evidence.receipt
    lines = [_code(evidence.address)]
    if evidence.node is not None:
        lines.append(f"<b>{escape(evidence.node.title)}</b>")
    if receipt is not None and evidence.output_path is not None:
        lines.append(_content(evidence.address, evidence.output_path, receipt))
        lines.append(
            f"<small>{escape(evidence.output_path.name)}, {escape(receipt.media_type)}, {receipt.evidence_size:,} bytes, "
            f"SHA-256 {receipt.evidence_digest.hex[:16]}…, from {receipt.source_digest.hex[:16]}…</small>"
        )
        lines += (f"<small>{escape(note)}</small>" for note in receipt.notes)
    lines += (f"<small>{escape(said)}</small>" for said in (evidence.stale, evidence.moved, evidence.unchecked) if said)
    return _block(lines)


def map_html(resource_map: ResourceMap) -> str:
    """Return a map as an HTML tree with at most `NODE_LIMIT` nodes."""
    left = [NODE_LIMIT]
    outline = resource_map.outline
    tree = _tree(outline.nodes, left)
    more = outline.node_count - NODE_LIMIT
    lines = [f"<b>{escape(resource_map.title)}</b> {_code(resource_map.resource_id)}", tree]
    return _block([*lines, f"<small>{more:,} more node{'' if more == 1 else 's'}</small>"] if more > 0 else lines)


def hits_html(found: FoundText) -> str:
    """Return the hits of a search as HTML."""
    items = (
        f"<li>{_code(hit.address)} <small>{escape(' › '.join(hit.titles))}</small><br>{escape(hit.text[:TEXT_LIMIT])}</li>"
        for hit in found.hits
    )
    matches = f"{found.total:,} match{'' if found.total == 1 else 'es'}"
    files = f"{found.searched:,} file{'' if found.searched == 1 else 's'}"
    return _block([f"{matches} in {files}", f"<ol>{''.join(items)}</ol>"])


def verdict_html(verdict: QuoteVerdict) -> str:
    """Return the verdict on a quote as HTML, with its places and a similar passage, if any."""
    items = (f"<li>{_code(place.address)}<br>{escape(place.text[:TEXT_LIMIT])}</li>" for place in verdict.places)
    quote, near = escape(verdict.quote), list[str]()
    if verdict.near is not None:
        wording = plain_wording(verdict.quote, verdict.near.text[:TEXT_LIMIT])
        quote = _worded([(same, said) for same, said, _ in wording], "del")
        near = [
            _code(verdict.near.address),
            f"The source has: {_worded([(same, has) for same, _, has in wording], 'ins')}",
        ]
    return _block([f"<b>{verdict.label}</b>", f"<blockquote>{quote}</blockquote>", f"<ul>{''.join(items)}</ul>", *near])


def _worded(wording: Iterable[tuple[object, object]], name: str) -> str:
    """Return (is same, words) pairs as HTML, with differing words in `name` elements."""
    shown = ((same, escape(str(words))) for same, words in wording if words)
    return " ".join(words if same else f"<{name}>{words}</{name}>" for same, words in shown)


def _content(address: Address, path: Path, receipt: Receipt) -> str:
    kind = receipt.media_type.partition(";")[0]
    picture = _picture(path, receipt)
    if picture is not None:
        data = _data(picture.data, picture.media_type)
        return f'<img alt="{escape(str(address))}" style="max-width:100%" src="{data}">'
    with suppress(OSError):
        if kind.startswith(("audio/", "video/")) and receipt.evidence_size <= EMBEDDED_LIMIT:
            tag = kind.partition("/")[0]
            return f'<{tag} controls style="max-width:100%" src="{_data(path.read_bytes(), kind)}"></{tag}>'
        if kind.startswith("text/") or kind == "application/json":
            with path.open(encoding="utf-8", errors="replace") as file:
                text = file.read(TEXT_LIMIT + 1)
            shown = f"{text[:TEXT_LIMIT]}…" if len(text) > TEXT_LIMIT else text
            return f'<pre style="white-space:pre-wrap">{escape(shown)}</pre>'
    return ""


def _picture(path: Path, receipt: Receipt) -> PagePicture | None:
    """Return a picture of evidence that has pages or is an image, drawn in a worker of its home.

    Return None for other evidence, for files outside the output folder of a home, and if drawing fails.
    """
    format = by_name(path.name)
    if format is None or path.parent.name != OUTPUT:
        return None
    views = _container(path.parents[1]).page_views
    if not views.supports(format):
        return None
    with suppress(CiteKitError, OSError):
        return views.picture(Source(path, receipt.evidence_digest, receipt.evidence_size, format), 1, PICTURE_WIDTH)
    return None


@lru_cache(4)
def _container(home: Path) -> Container:
    return bootstrap(home=home)


def _tree(nodes: Sequence[Node], left: list[int]) -> str:
    """Return nodes as nested lists in HTML. `left` has the number of nodes that can still be shown, and is decreased."""
    items = []
    for node in nodes:
        if left[0] <= 0:
            break
        left[0] -= 1
        place = "" if isinstance(node.location, Virtual) else fragment_of(node.location)
        label = f"{escape(node.title)} <small>{escape(place)}</small>"
        below = _tree(node.children, left) if node.children else ""
        items.append(f"<li><details><summary>{label}</summary>{below}</details></li>" if below else f"<li>{label}</li>")
    return f"<ul>{''.join(items)}</ul>"


def _block(lines: Iterable[str]) -> str:
    return f"<div>{''.join(f'<div>{line}</div>' for line in lines if line)}</div>"


def _code(text: object) -> str:
    return f"<code>{escape(str(text))}</code>"


def _data(data: bytes, media_type: str) -> str:
    return f"data:{escape(media_type)};base64,{b64encode(data).decode()}"
