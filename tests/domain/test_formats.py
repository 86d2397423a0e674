from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citekit.domain.detection import HEAD_SIZE, detect, looks_like_text
from citekit.domain.formats import BY_SUFFIX, by_name
from citekit.domain.modality import Modality

NUL = b"\0" * 600
ASF = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")


def box(kind: bytes, brand: bytes = b"") -> bytes:
    return b"\0\0\0\x20" + kind + brand + NUL


@pytest.mark.parametrize(
    ("head", "name", "expected"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "x", "pdf"),
        (b"\xef\xbb\xbf\r\n%PDF-1.4\n" + NUL, "x.bin", "pdf"),
        (b"%PDF-1.4\n1 0 obj\n", "really.txt", "pdf"),
        (b"PK\x03\x04" + b"\0" * 26 + b"mimetypeapplication/epub+zip", "x.zip", "epub"),
        (b"PK\x03\x04" + NUL, "x.epub", "epub"),
        (b"PK\x03\x04" + NUL, "x.zip", None),
        (b"PK\x03\x04" + NUL, "x.docx", "docx"),
        (b"\x89PNG\r\n\x1a\n", "x.jpg", "png"),
        (b"\xff\xd8\xff\xe0", "x.png", "jpeg"),
        (b"GIF87a" + NUL, "x", "gif"),
        (b"GIF89a\x01\0\x01\0", "x", "gif"),
        (b"II*\0", "x", "tiff"),
        (b"MM\0*", "x", "tiff"),
        (b"II+\0\x08\0", "x", "tiff"),
        (b"MM\0+\0\x08", "x", "tiff"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "x", "webp"),
        (b"RIFF\x10\0\0\0WAVEfmt ", "x", "wav"),
        (b"RF64\xff\xff\xff\xffWAVEds64\0", "x", "wav"),
        (b"RIFF\x10\0\0\0AVI LIST", "x", "avi"),
        (b"FORM\0\0\0\x10AIFFCOMM", "x", "aiff"),
        (b"FORM\0\0\0\x10AIFCFVER", "x", "aiff"),
        (b"caff\0\x01\0\0desc", "x", "caf"),
        (b"wvpk\x10\0\0\0", "x", "wavpack"),
        (b"\0\0\x01\0\x01\0", "x", "ico"),
        (b"BM\x36\0\0\0\0\0\0\0\x36\0\0\0", "x", "bmp"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "x", "jpeg2000"),
        (b"\xff\x4f\xff\x51\0", "x", "jpeg2000"),
        (b"P6 3 2 255 \0\0", "x.ppm", "ppm"),
        (b"fLaC\0\0\0\x22", "x", "flac"),
        (b"FLV\x01\x05\0", "x", "flv"),
        (b"OggS\0\x02" + b"\0" * 22 + b"\x01vorbis", "x", "ogg"),
        (b"OggS\0\x02" + b"\0" * 22 + b"OpusHead", "x", "opus"),
        (b"OggS\0\x02" + b"\0" * 22 + b"\x80theora", "x", "ogv"),
        (b"ID3\x03\0\0\0", "x", "mp3"),
        (b"\xff\xfb\x90\0", "x", "mp3"),
        (b"\xff\xf1\x50\x80\0", "x", "aac"),
        (b"\0\0\x01\xba\x44", "x", "mpeg"),
        (b"\0\0\x01\xb3\x44", "x", "mpeg"),
        ((b"\x47" + b"\0" * 187) * 3, "x.ts", "mpegts"),
        (b"\0\0\0\0" + (b"\x47" + b"\0" * 191) * 3, "x", "mpegts"),
        (box(b"ftyp", b"isom"), "x", "mp4"),
        (box(b"ftyp", b"isom"), "x.mov", "quicktime"),
        (box(b"ftyp", b"isom"), "x.m4a", "m4a"),
        (box(b"ftyp", b"M4A "), "x.mp4", "m4a"),
        (box(b"ftyp", b"qt  "), "x.mp4", "quicktime"),
        (box(b"ftyp", b"3gp5"), "x", "3gp"),
        (box(b"ftyp", b"avif"), "x", "avif"),
        (box(b"ftyp", b"mif1\0\0\0\0mif1avif"), "x", "avif"),
        (box(b"ftyp", b"heic"), "x.heic", "heic"),
        (box(b"moov"), "x", "mp4"),
        (box(b"mdat"), "x.mov", "quicktime"),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x84webm", "x", "webm"),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\x82\x88matroska", "x", "matroska"),
        (ASF + NUL, "x.wma", "wma"),
        (ASF + NUL, "x", "wmv"),
        # texts
        (b"# Title\n", "x.md", "markdown"),
        (b"def f(): ...\n", "x.py", "python"),
        (b"let x: number = 1\n", "x.ts", "typescript"),
        (b"plain words", "README", "text"),
        (b"plain words", "x.unknown", "text"),
        (b"plain words", "x.jpg", "text"),
        (b"caf\xe9 \x96 latin", "x.txt", "text"),
        (codecs.BOM_UTF16_LE + "Text".encode("utf-16-le"), "x.txt", "text"),
        (codecs.BOM_UTF16_BE + "# T".encode("utf-16-be"), "x.md", "markdown"),
        (codecs.BOM_UTF32_LE + "Text".encode("utf-32-le"), "x.txt", "text"),
        (codecs.BOM_UTF32_BE + "Text".encode("utf-32-be"), "x.txt", "text"),
        (codecs.BOM_UTF8 + b"Text", "x.txt", "text"),
        # words that only look like signatures
        (b"The free world\n", "x.txt", "text"),
        (b"The free world\n", "LICENSE", "text"),
        (b"Google: WEBP is a format\n", "x.md", "markdown"),
        (b"RIFFraffWAVEs of text\n", "x.txt", "text"),
        (b"ID3 tags are old\n", "x.txt", "text"),
        (b"GIF89a was made in 1989\n", "x.txt", "text"),
        (b"OggS is the magic word\n", "x.txt", "text"),
        (b'if head.startswith(b"%PDF-"):\n', "x.py", "python"),
        (b"P1 and P2 are printers\n", "x.txt", "text"),
        # scripts without a suffix
        (b"#!/bin/sh\necho a\n", "configure", "bash"),
        (b"#! /usr/bin/env python3\n", "tool", "python"),
        (b"#!/usr/bin/env -S node --no-warnings\n", "cli", "javascript"),
        (b"#!/usr/bin/perl -w\n", "x", "perl"),
        (b"\xef\xbb\xbf#!/usr/bin/python3.11\n", "x", "python"),
        (b"#!/bin/sh\n", "x.py", "python"),
        (b"#!/usr/bin/shellfish\n", "x", "text"),
        (b"#!/usr/bin/env\nsh\n", "x", "text"),
        (b"# !/bin/sh\n", "x", "text"),
        # nobody can tell
        (b"", "x.txt", None),
        (b"", "x.mp3", None),
        (NUL, "x.txt", None),
        (NUL, "x.pdf", None),
        (NUL, "x", None),
        (b"\x01\x02\x03\x04binary", "x.jpg", None),
        (NUL, "x.mp3", "mp3"),
    ],
)
def test_a_file_is_what_its_first_bytes_say(head: bytes, name: str, expected: str | None) -> None:
    found = detect(name, head)

    assert expected == (found and found.name)


@given(st.binary(max_size=200), st.sampled_from(["x", *(f"x{suffix}" for suffix in BY_SUFFIX)]))
def test_a_name_of_a_text_never_makes_binary_data_a_text(head: bytes, name: str) -> None:
    found = detect(name, head)

    if found is not None and found.modality is Modality.TEXT:
        assert looks_like_text(head)


@given(st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=HEAD_SIZE // 8))
def test_words_in_utf_8_are_text(words: str) -> None:
    assert looks_like_text(words.encode())


def test_the_suffix_is_read_in_any_case_and_may_be_unknown() -> None:
    assert BY_SUFFIX[".pdf"] == by_name("REPORT.PDF")
    assert by_name("archive.tar.xyz") is None
    assert by_name(".pdf") is None


def test_every_format_has_one_modality_and_a_media_type() -> None:
    by_format = {(each.name, each.modality) for each in BY_SUFFIX.values()}

    assert len(by_format) == len({name for name, _ in by_format})
    assert all(each.media_type.count("/") == 1 for each in BY_SUFFIX.values())
