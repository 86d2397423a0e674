"""Defines file formats with their names, modalities, media types, and suffixes."""

from __future__ import annotations

from pathlib import PurePath

from attrs import frozen

from citekit.domain.modality import Modality


@frozen
class Format:
    """A file format. `name` selects the code that handles it, and `media_type` is the IANA name."""

    name: str
    modality: Modality
    media_type: str

    @property
    def suffix(self) -> str:
        """The usual suffix of the format, including its dot, or `.txt` if no suffix is known."""
        return _USUAL.get(self.name, ".txt")


def _table(modality: Modality, rows: str) -> dict[str, Format]:
    formats = {}
    for row in rows.strip().splitlines():
        name, media_type, *suffixes = row.split()
        for suffix in suffixes:
            formats[f".{suffix}"] = Format(name, modality, media_type)
    return formats


BY_SUFFIX: dict[str, Format] = {
    **_table(
        Modality.DOCUMENT,
        """
        pdf application/pdf pdf
        epub application/epub+zip epub
        mobi application/x-mobipocket-ebook mobi prc azw azw3
        fb2 application/x-fictionbook+xml fb2
        cbz application/vnd.comicbook+zip cbz
        eml message/rfc822 eml
        mbox application/mbox mbox mbx
        docx application/vnd.openxmlformats-officedocument.wordprocessingml.document docx docm dotx dotm
        pptx application/vnd.openxmlformats-officedocument.presentationml.presentation pptx pptm ppsx ppsm potx potm
        xlsx application/vnd.openxmlformats-officedocument.spreadsheetml.sheet xlsx xlsm xltx xltm
        """,
    ),
    **_table(
        Modality.VIDEO,
        """
        mp4 video/mp4 mp4 m4v
        quicktime video/quicktime mov qt
        matroska video/x-matroska mkv
        webm video/webm webm
        avi video/x-msvideo avi
        mpeg video/mpeg mpg mpeg m2v
        mpegts video/mp2t m2ts
        flv video/x-flv flv
        wmv video/x-ms-wmv wmv
        3gp video/3gpp 3gp
        ogv video/ogg ogv
        """,
    ),
    **_table(
        Modality.AUDIO,
        """
        mp3 audio/mpeg mp3
        wav audio/wav wav
        m4a audio/mp4 m4a m4b
        aac audio/aac aac
        flac audio/flac flac
        ogg audio/ogg ogg oga spx
        opus audio/ogg opus
        aiff audio/aiff aiff aif
        wma audio/x-ms-wma wma
        caf audio/x-caf caf
        wavpack audio/x-wavpack wv
        """,
    ),
    **_table(
        Modality.IMAGE,
        """
        jpeg image/jpeg jpg jpeg jpe
        png image/png png apng
        gif image/gif gif
        tiff image/tiff tif tiff
        webp image/webp webp
        bmp image/bmp bmp dib
        avif image/avif avif
        heic image/heic heic heif hif
        ico image/vnd.microsoft.icon ico
        ppm image/x-portable-anymap ppm pgm pbm pnm
        jpeg2000 image/jp2 jp2 j2k
        """,
    ),
    **_table(
        Modality.TEXT,
        """
        markdown text/markdown md markdown mdown mkd
        html text/html html htm xhtml
        python text/x-python py pyi pyw
        javascript text/javascript js mjs cjs jsx
        typescript text/x-typescript ts mts cts
        tsx text/x-typescript tsx
        java text/x-java java
        c text/x-c c h
        cpp text/x-c++ cpp cc cxx hpp hh hxx
        csharp text/x-csharp cs
        go text/x-go go
        rust text/x-rust rs
        ruby text/x-ruby rb
        php text/x-php php
        bash text/x-shellscript sh bash
        perl text/x-perl pl pm t
        objc text/x-objective-c m mm
        kotlin text/x-kotlin kt kts
        swift text/x-swift swift
        scala text/x-scala scala sc sbt
        dart text/x-dart dart
        zig text/x-zig zig
        lua text/x-lua lua
        powershell text/x-powershell ps1 psm1 psd1
        elixir text/x-elixir ex exs
        julia text/x-julia jl
        haskell text/x-haskell hs
        sql application/sql sql
        css text/css css
        scss text/x-scss scss
        rst text/x-rst rst
        subtitles text/vtt vtt srt
        ssa text/x-ssa ass ssa
        asciidoc text/asciidoc adoc asciidoc asc
        org text/org org
        latex text/x-tex tex ltx latex
        json application/json json geojson jsonc webmanifest
        jsonl application/x-ndjson jsonl ndjson
        notebook application/x-ipynb+json ipynb
        yaml application/yaml yaml yml
        toml application/toml toml
        ini text/x-ini ini cfg
        csv text/csv csv
        tsv text/tab-separated-values tsv
        log text/plain log
        calendar text/calendar ics ical
        bibtex text/x-bibtex bib
        xml text/xml xml svg xsd xsl xslt rss atom
        text text/plain txt text rttm r
        """,
    ),
}

_USUAL = {format.name: suffix for suffix, format in reversed(BY_SUFFIX.items())} | {"subtitles": ".srt"}
"""The first suffix of each format in the tables. Subtitles use `.srt`, which needs no header."""

PLAIN_TEXT = BY_SUFFIX[".txt"]

BOOK_SUFFIXES = (
    ".epub", ".fb2", ".azw3", ".mobi", ".azw", ".prc", ".docx", ".pdf", ".pptx", ".xlsx", ".html", ".htm", ".md", ".markdown",
    ".rst", ".txt",
    *(suffix for suffix, each in BY_SUFFIX.items() if each.modality in (Modality.VIDEO, Modality.AUDIO)),
)  # fmt: skip
"""Suffixes of files in a folder that count as books, the preferred format first."""

MAIL = frozenset(("eml", "mbox"))
"""Names of the formats of mail. A message or an attachment is a chapter."""

BOOKS = frozenset(("epub", "mobi", "fb2", "docx")) | MAIL
"""Names of the formats of reflowable books, Word documents, and mail. Their locations are chapters."""

FRAMED = frozenset(("calendar", "notebook", "ssa", "subtitles"))
"""Names of text formats in which some lines are not a valid file by themselves, because they need a header or enclosing
elements.
"""

ACTIVE_CONTENT = frozenset(("html", "xml"))
"""Names of text formats that a browser can execute (HTML, SVG, and other XML)."""

OFFICE = frozenset(("docx", "pptx", "xlsx"))
"""Names of the formats of Office files: packages of the Open Packaging Conventions (ECMA-376 part 2)."""


def by_name(file_name: str) -> Format | None:
    """Return the format for the suffix of a file name, or None if the suffix is unknown."""
    return BY_SUFFIX.get(PurePath(file_name).suffix.lower())


def format_named(name: str) -> Format | None:
    """Return the format with that name, or None if there is no such format."""
    return BY_SUFFIX.get(_USUAL.get(name, ""))
