"""Answers requests of the viewer about quotes and evidence."""

from __future__ import annotations

import shlex
import tempfile
from base64 import b64decode
from binascii import Error as BinasciiError
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote

from attrs import frozen
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Route

from citekit.application.verify import Verdict
from citekit.application.verify_quote import resource_named
from citekit.container import Container
from citekit.domain.address import Address, parse_address
from citekit.domain.digest import Digest
from citekit.domain.errors import Cancelled, CiteKitError, FormUnsupported, ReceiptMissing, RequestRefused
from citekit.domain.evidence import Options
from citekit.domain.quotes.quoted_passages import quoted_passages
from citekit.entrypoints.export import annotation_target
from citekit.entrypoints.sdk import read_form
from citekit.entrypoints.web.links import place_of
from citekit.entrypoints.web.requests import Asked, acting, body_of, failed, message_of, plain, reading
from citekit.wire import quotes, receipts
from citekit.wire.citations import bibtex_citation, csl_citation, html_citation, markdown_citation, markdown_footnote
from citekit.wire.receipt_documents import read_document

ANSWER_LIMIT = 200_000
"""The maximum number of characters of an answer that is checked."""

QUOTES_LIMIT = 100
"""The maximum number of quotes and addresses that are checked."""

EVIDENCE_LIMIT = 512 * 2**20
"""The maximum size in bytes of a file to verify."""

_RECEIPT_LIMIT = 10_000_000


@frozen
class CheckingRoutes:
    """The routes for requests about evidence."""

    app: Container

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes, relative to the path of a home."""
        return [
            acting("/api/quote", self.quote),
            acting("/api/check", self.check),
            acting("/api/resolve", self.resolve),
            acting("/api/cite", self.cite),
            reading("/api/evidence", self.evidence),
            reading("/api/receipt", self.receipt),
            Route("/api/verify", self.verify, methods=["POST"]),
        ]

    def quote(self, asked: Asked) -> Response:
        """Verify a quote at an address, in a resource, or in everything mapped."""
        return plain(self._verdict(asked.text("quote"), asked.text("where", "")))

    def check(self, asked: Asked) -> Response:
        """Verify each quote of a pasted answer at the address that the answer gives for it.

        For an address alone, return the titles of the part. Only the first `QUOTES_LIMIT` quotes and addresses are
        checked; `left_out` counts the others. Raise `RequestRefused` if the answer is too long.
        """
        text = asked.text("text")
        if len(text) > ANSWER_LIMIT:
            raise RequestRefused(f"The answer has more than {ANSWER_LIMIT:,} characters. Paste a part of it.")
        found = quoted_passages(text)
        results = []
        for each in found[:QUOTES_LIMIT]:
            result: dict[str, Any] = {
                "quote": each.quote,
                "address": each.address,
                "start": each.start,
                "end": each.end,
            }
            try:
                if each.quote:
                    result["verdict"] = self._verdict(each.quote, each.address)
                else:
                    result["titles"] = self._titles(self.app.resolve(parse_address(each.address), virtual=True).address)
            except Cancelled:
                raise
            except CiteKitError as error:
                result["problem"] = message_of(error)
            results.append(result)
        return plain({"results": results, "left_out": max(0, len(found) - QUOTES_LIMIT)})

    def resolve(self, asked: Asked) -> Response:
        """Create the evidence for an address, and return its description for the download.

        Raise `FormUnsupported` if the location is virtual.
        """
        address = parse_address(asked.text("address"))
        made = self.app.resolve(address, options=Options(read_form(asked.text("form", "native"))))
        receipt = made.receipt
        if receipt is None or made.output_path is None:
            raise FormUnsupported("This part is not in a file, so there is no evidence to download.")
        return plain(
            {
                "address": str(made.address),
                "name": made.output_path.name,
                "media_type": receipt.media_type,
                "size": receipt.evidence_size,
                "digest": receipt.evidence_digest.hex,
                "notes": list(receipt.notes),
                "path": str(made.output_path),
            }
        )

    def evidence(self, asked: Asked) -> Response:
        """Return evidence as a download."""
        receipt = self.app.evidence_content.receipt(_digest(asked))
        stored = self.app.evidence.find(receipt.key)
        assert stored is not None
        name = PurePath(asked.text("name", "evidence")).name or "evidence"
        return FileResponse(stored.path, media_type="application/octet-stream", filename=name)

    def receipt(self, asked: Asked) -> Response:
        """Return the receipt of evidence as a download."""
        receipt = self.app.evidence_content.receipt(_digest(asked))
        answer = plain(receipts.to_plain(receipt))
        answer.headers["content-disposition"] = 'attachment; filename="receipt.json"'
        return answer

    def cite(self, asked: Asked) -> Response:
        """Return an address, and a quote from it, in common citation formats."""
        address = parse_address(asked.text("address"))
        words = asked.text("quote", "").strip()
        resource_map = self.app.maps.get(address.resource_id)
        titles = self._titles(address)
        target = annotation_target(address, resource_map)
        if words:  # alternatives, as in section 4.2 of the Web Annotation Data Model
            own = target.get("selector", [])
            others = own if isinstance(own, list) else [own]
            target["selector"] = [*others, {"type": "TextQuoteSelector", "exact": words}]
        link = "#".join(place_of(address, words))
        origin = asked.text("origin", "")
        return plain(
            {
                "address": str(address),
                "link": link,
                "markdown": markdown_citation(resource_map, titles, address, words),
                "footnote": markdown_footnote(resource_map, titles, address, words),
                "html": html_citation(resource_map, titles, address, origin + link),
                "bibtex": bibtex_citation(resource_map, address),
                "csl": csl_citation(resource_map, address),
                "annotation": {
                    "@context": "http://www.w3.org/ns/anno.jsonld",
                    "type": "Annotation",
                    "target": target,
                },
            }
        )

    async def verify(self, request: Request) -> Response:
        """Verify an uploaded piece of evidence or a receipt.

        The header `x-name` has the percent-encoded file name, and `x-receipt`, if present, the receipt in Base64.
        """
        name = PurePath(unquote(request.headers.get("x-name", "")).replace("\\", "/")).name or "evidence"
        try:
            given = b64decode(request.headers.get("x-receipt", ""))
            options = (
                f"{'--receipt RECEIPT ' if given else ''}--home {shlex.quote(str(self.app.settings.home.absolute()))}"
            )
            advice = f"To verify a larger file, run: citekit verify FILE {options}"
            data = await body_of(request, EVIDENCE_LIMIT, advice)
            return plain(await run_in_threadpool(self._verified, name, data, given))
        except BinasciiError:
            return failed(RequestRefused("The header x-receipt must be in Base64."))
        except (CiteKitError, OSError) as error:
            return failed(error)

    def _verified(self, name: str, data: bytes, given: bytes) -> dict[str, Any]:
        own = read_document(given, "receipt.json") if given else None
        if given and own is None:
            raise RequestRefused("The JSON file is not a receipt. Drop the other file alone, or with its receipt.")
        with tempfile.TemporaryDirectory(prefix="citekit-") as folder:
            path = Path(folder) / (name[-120:].lstrip(".-") or "evidence")
            path.write_bytes(data)
            if own is not None:
                return _plain_verdict(self.app.verify.file(path, [], receipt=own[0], address=own[1]))
            is_receipt = len(data) <= _RECEIPT_LIMIT and not self.app.verify.knows(path)
            found = read_document(data, name) if is_receipt else None
            if found is None:
                try:
                    return _plain_verdict(self.app.verify.file(path, []))
                except ReceiptMissing:
                    raise ReceiptMissing(
                        f"This home has no receipt for {name}. Drop the file and its receipt together."
                    ) from None
            receipt, address = found
            return _plain_verdict(self.app.verify.receipt(receipt, [], address=address))

    def _verdict(self, words: str, where: str) -> dict[str, Any]:
        if not where:
            return _with_wording(quotes.to_plain_lookup(self.app.look_up_quote(words), words))
        what = resource_named(where, self.app.maps) if "://" in where else where
        return _with_wording(quotes.to_plain_with_lines(self.app.verify_quote(what, words)))

    def _titles(self, address: Address) -> list[str]:
        resource_map = self.app.maps.get(address.resource_id)
        node = resource_map.outline.innermost(address.location)
        return [] if node is None else resource_map.outline.titles(node.id)


def _with_wording(verdict: dict[str, Any]) -> dict[str, Any]:
    """Return a verdict with the wording of the quote and of a similar passage compared."""
    near = verdict["near"]
    if near is None:
        return verdict
    return {**verdict, "near": {**near, "wording": quotes.plain_wording(verdict["quote"], near["text"])}}


def _plain_verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "ruling": verdict.ruling.value,
        "genuine": verdict.genuine,
        "refuted": verdict.refuted,
        "address": str(verdict.receipt.address),
        "checks": [{"name": each.name, "passed": each.passed, "detail": each.detail} for each in verdict.checks],
    }


def _digest(asked: Asked) -> Digest:
    try:
        return Digest(asked.text("digest"))
    except ValueError:
        raise RequestRefused("The digest must have 64 lowercase hexadecimal digits.") from None
