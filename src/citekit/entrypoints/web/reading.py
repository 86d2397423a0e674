"""Answers requests of the viewer for content of files."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from attrs import frozen
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute

from citekit.application.show_resource import ShowResource
from citekit.container import Container
from citekit.domain.errors import SourceUnsupported
from citekit.domain.modality import Modality
from citekit.domain.page_view import Corners
from citekit.entrypoints.web.access import DOCUMENT_POLICY
from citekit.entrypoints.web.requests import FOREVER, Asked, acting, kept, plain, reading
from citekit.wire.quotes import plain_wording
from citekit.wire.subtitles import webvtt

LISTED = 1_000
"""The maximum number of rows in one answer."""


@frozen
class ReadingRoutes:
    """The routes for content of files, some of which the browser caches."""

    app: Container

    @property
    def show(self) -> ShowResource:
        """The use case that shows files."""
        return self.app.show

    def routes(self) -> Sequence[BaseRoute]:
        """Return the routes, relative to the path of a home."""
        return [
            reading("/api/picture", self.picture),
            reading("/api/words", self.words),
            acting("/api/marks", self.marks),
            acting("/api/wording", self.wording),
            reading("/api/text", self.text),
            reading("/api/rows", self.rows),
            reading("/api/chapter", self.chapter),
            reading("/api/subtitles", self.subtitles),
            reading("/api/captions", self.captions),
            reading("/api/media", self.media),
            reading("/api/waveform", self.waveform),
        ]

    def picture(self, asked: Asked) -> Response:
        """Return a picture of a page."""
        drawn = self.show.page_picture(asked.text("id"), asked.number("page"), asked.number("width"))
        return kept(drawn.data, drawn.media_type)

    def words(self, asked: Asked) -> Response:
        """Return the words of a page as [text, left, top, width, height, line], in fractions."""
        rows = []
        for word in self.show.page_words(asked.text("id"), asked.number("page")):
            left, top, right, bottom = word.box
            rows.append([word.text, *(round(each, 5) for each in (left, top, right - left, bottom - top)), word.line])
        return plain(rows, forever=True)

    def marks(self, asked: Asked) -> Response:
        """Return the boxes of a quote on pages as [left, top, width, height], by page number.

        With `said`, the text of a model, also return the boxes of the words that differ.
        """
        name, pages, quote = asked.text("id"), asked.numbers("pages"), asked.text("quote")
        found = self.show.marks(name, pages, quote, asked.text("said", ""))
        return plain(
            {str(each.page): {"boxes": _sized(each.boxes), "differing": _sized(each.differing)} for each in found}
        )

    def wording(self, asked: Asked) -> Response:
        """Return compared words of a passage and of a model's text, as [same, said, passage]."""
        return plain(plain_wording(asked.text("said"), asked.text("quote")))

    def text(self, asked: Asked) -> Response:
        """Return the lines, pages, or chapters of text from `first` to `last`, or as many as one answer can have."""
        last = asked.number("last", 0) or None
        part = self.show.text(asked.text("id"), asked.number("first", 1), last)
        return plain(
            {
                "kind": part.kind.value,
                "units": [[each.number, each.text] for each in part.units],
                "total": part.total,
                "next": part.next,
            }
        )

    def rows(self, asked: Asked) -> Response:
        """Return up to `LISTED` rows of a sheet from `first` as [number, [[column, text], ...]]."""
        rows = self.show.rows(asked.text("id"), asked.text("sheet"))
        first = asked.number("first", 1)
        start = bisect_left(rows, first, key=lambda row: row.number)
        listed = rows[start : start + LISTED]
        return plain(
            {
                "rows": [[row.number, [list(cell) for cell in row.cells]] for row in listed],
                "next": rows[start + LISTED].number if start + LISTED < len(rows) else None,
                "total": rows[-1].number if rows else 0,
                "columns": max((row.cells[-1][0] for row in rows), default=0),
            }
        )

    def chapter(self, asked: Asked) -> Response:
        """Return a chapter, a slide, or an HTML file as a page that runs nothing and loads nothing."""
        html = self.show.chapter(asked.text("id"), asked.number("number"))
        headers = {"content-security-policy": DOCUMENT_POLICY, "cache-control": FOREVER}
        return Response(html.encode("utf-8", "replace"), media_type="text/html; charset=utf-8", headers=headers)

    def subtitles(self, asked: Asked) -> Response:
        """Return the subtitles or recognized passages of a recording as [start, end, text, words], and the transcriber,
        if any.

        `words` has [offset in the text, start in seconds] for each recognized word.
        """
        try:
            transcript = self.show.transcript(asked.text("id"))
        except SourceUnsupported:
            return plain({"cues": [], "transcriber": ""})
        cues = [[*cue, words] for cue, words in zip(transcript.cues(), transcript.word_starts(), strict=True)]
        return plain({"cues": cues, "transcriber": transcript.transcriber})

    def captions(self, asked: Asked) -> Response:
        """Return the subtitles of a recording as WebVTT for a player."""
        return Response(
            webvtt(list(self.show.transcript(asked.text("id")).cues())), media_type="text/vtt; charset=utf-8"
        )

    def waveform(self, asked: Asked) -> Response:
        """Return the amplitudes of a recording, from 0 to 255."""
        return plain(list(self.show.waveform(asked.text("id"))), forever=True)

    def media(self, asked: Asked) -> Response:
        """Return the file of a recording, or the requested bytes of it."""
        _, source = self.show.source(asked.text("id"))
        format = source.format
        if format.modality not in (Modality.VIDEO, Modality.AUDIO):
            return Response("Only recordings can be played.\n", 404, media_type="text/plain")
        media_type: Any = format.media_type
        return FileResponse(source.path, media_type=media_type, headers={"content-security-policy": DOCUMENT_POLICY})


def _sized(boxes: Sequence[Corners]) -> list[list[float]]:
    return [[left, top, right - left, bottom - top] for left, top, right, bottom in boxes]
