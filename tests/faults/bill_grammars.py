"""The pieces that expensive files of each format are bred from, and how a body made of them becomes a file."""

from __future__ import annotations

import json
from collections.abc import Callable

from attrs import frozen

from tests.faults.bill_shapes import zipped
from tests.faults.hostile.pdf_files import packed, pages, pdf
from tests.faults.hostile.zips import PAGE, book, cells, docx, words, xlsx


@frozen
class Grammar:
    """`pieces` are what a body repeats; `wrap` makes the file called `file` of a body; `density` is how many bytes of a body
    make about one byte of the file."""

    file: str
    pieces: tuple[bytes, ...]
    wrap: Callable[[bytes], bytes] = lambda body: body
    density: int = 1


_BRACKETS = (
    b"(",
    b")",
    b"[",
    b"]",
    b"{",
    b"}",
    b"<",
    b">",
    b'"',
    b"'",
    b"`",
    b"\\",
    b"\n",
    b" ",
    b"a",
    b"0",
    b",",
    b";",
    b":",
    b"=",
)
_CODE = (*_BRACKETS, b"/*", b"*/", b"//", b"#", b"<<A\n", b"<<A", b'<<"', b"A\n", b"a<", b"a(", b"if (", b"else ", b"${", b"$(", b"?",
         b"->", b"=>", b"@a ", b"def a():\n", b"class a {", b"function a() {", b"    ", b"<a>", b"r#\"", b"`${", b"template<", b"#if a\n", b"#endif\n",
         b"A(a)\n", b"begin\n", b"end\n", b"case a of\n", b"let a = ", b"'''", b'"""', b"a.", b"&", b"*", b"-", b"!", b"\\\n")  # fmt: skip
_LIGHT = (*_BRACKETS, b"# a\n", b"## a\n", b"=\n", b"a\n=\n", b"a\n---\n", b"> ", b"* ", b"- a\n", b"1. a\n", b"```\n", b"~~~", b"[a](", b"![", b"[^1]: ",
          b"|a", b"|-", b"|\n", b"<b>", b"</b>", b"<!--", b"-->", b"&amp;", b"**", b"_", b"\t", b"    a\n", b"---\n", b"a: b\n", b"$$", b"<h1>", b"\n\n")  # fmt: skip
_HTML = (b"<b>", b"</b>", b"<div>", b"</div>", b"<p>", b"</p>", b"<h1>a</h1>", b"<h2>", b"<table><tr><td>", b"</table>", b"<ul><li>", b"<a href='#a'>", b"<svg>",
         b"<span id='a'/>", b"a ", b"&amp;", b"&lt", b"<!-- -->", b"<br/>", b"<section>", b"<sup>1</sup>", b"<math>", b"<img alt='a'/>", b"<pre>", b"</pre>",
         b"<a id='x'></a>", b"\n", b"<figure><figcaption>a", b"<ruby>a<rt>b", b"<details>", b"<i>", b"<template>", b"<select><option>", b"<p><b><i><u>")  # fmt: skip
_XML = (
    *_HTML[:6],
    b"<a>",
    b"</a>",
    b"<a b='c'/>",
    b"<![CDATA[a]]>",
    b"<?a b?>",
    b"a",
    b"&#65;",
    b"\n",
    b"<a xmlns='b'>",
    b"<a:b/>",
)
_PDF = (b"(a) Tj ", b"1 0 0 1 9 9 Tm ", b"5 5 Td ", b"T* ", b"0 0 9 9 re f ", b"0 0 m 9 9 l S ", b"q ", b"Q ", b"(a b c d e f g h) Tj\n", b"[(a) 9 (b)] TJ ",
        b"1 0 0 1 99 700 Tm (1.1 Aa) Tj ", b"/F1 18 Tf ", b"/F1 6 Tf ", b"BT ", b"ET ", b"2 Tr ", b"9 9 9 9 9 9 c ", b"W n ", b"1 0 0 rg ", b"0 -9 Td (Figure 1) Tj ",
        b"BI /W 1 /H 1 /BPC 8 /CS /G ID a EI ", b"/a BMC ", b"EMC ", b"0 1 -1 0 300 300 Tm ", b" ", b"<< ", b"[ ", b"( ", b"100 700 m 400 700 l S ", b"1 0 0 1 40 500 cm ")  # fmt: skip
_WORD = (b"<w:p><w:r><w:t>a</w:t></w:r></w:p>", b"<w:p><w:pPr><w:pStyle w:val='Heading1'/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>",
         b"<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>", b"<w:p/>", b"<w:p><w:r><w:br/></w:r></w:p>", b"<w:p>" + b"<w:r><w:t>a</w:t></w:r>" * 9 + b"</w:p>",
         b"<w:sdt><w:sdtContent><w:p/></w:sdtContent></w:sdt>", b"<w:p><w:bookmarkStart w:id='1' w:name='a'/></w:p>")  # fmt: skip
_CELLS = (b"<row><c><v>1</v></c></row>", b"<c><v>1</v></c>", b"<row/>", b"<row>", b"</row>", b"<c/>", b"<c t='str'><v>a</v></c>", b"<c t='inlineStr'><is><t>a</t></is></c>",
          b"<c><f>A1</f><v>1</v></c>", b"<row><c/><c><v>1</v></c></row>", b"<row><c><v>1</v></c><c/><c><v>1</v></c></row>")  # fmt: skip
_DATA = (*_BRACKETS, b'{"a":', b"[[", b'"a",', b"1,", b"a: b\n", b"- a\n", b"- ", b"a:\n ", b"[a]\n", b"[[a]]\n", b"a = 1\n", b"a.b.", b"&a ", b"*a ", b"!!a ",
         b"? ", b"| \n", b"null,", b"a,b,c\n", b'"a\n', b"a\tb\n", b"2025-01-01 00:00:00 INFO a\n", b"ERROR b\n", b"  at a.b(c:1)\n")  # fmt: skip
_CUES = (b"1\n00:00:01,000 --> 00:00:03,000\na\n\n", b"00:01.000 --> 00:03.000\n<c>a\n\n", b"NOTE a\n\n", b"\n", b"a", b"<i>", b"&amp;", b"STYLE\n", b"{\\an8}",
         b"99:59:59,999 --> 00:00:00,000\n")  # fmt: skip
_LATEX = (
    *_BRACKETS,
    b"\\section{a}\n",
    b"\\begin{a}",
    b"\\end{a}",
    b"\\a{",
    b"%a\n",
    b"\\verb|",
    b"$",
    b"$$",
    b"\\def\\a{",
    b"\\caption{",
    b"\\\\",
    b"\\begin{figure}",
)
_REST = (
    *_LIGHT,
    b".. a::\n\n",
    b"a\n~\n",
    b":a: b\n",
    b"|a|",
    b"``",
    b"+-+\n",
    b"| |\n",
    b"====\n",
    b"::\n\n   a\n",
    b".. _a:\n",
    b"`a`_ ",
)
_ORG = (
    *_LIGHT,
    b"* a\n",
    b"** a\n",
    b"#+begin_src\n",
    b"#+end_src\n",
    b":PROPERTIES:\n",
    b":END:\n",
    b"== a\n",
    b"----\n",
    b"|===\n",
    b"[[a]]",
    b"include::a[]\n",
)
_SUFFIXES = ("py", "js", "ts", "tsx", "c", "cpp", "java", "go", "rs", "rb", "php", "sh", "lua", "pl", "ps1", "ex", "jl", "cs", "kt", "swift", "scala", "dart",
             "hs", "sql", "css", "scss", "zig", "m")  # fmt: skip


def _page(body: bytes) -> bytes:
    return pdf({**pages(count=2), 4: packed(b"BT /F1 9 Tf 40 700 Td " + body + b" ET")})


def _objects(body: bytes) -> bytes:
    return pdf({**pages(count=1), 20: body})


def _chapter(body: bytes) -> bytes:
    return zipped(book(page=PAGE.format(body.decode("latin-1"))))


def _document(body: bytes) -> bytes:
    return zipped(docx(words("x").replace("</w:body>", body.decode("latin-1") + "</w:body>")))


def _notebook(body: bytes) -> bytes:
    half = body[: len(body) // 2].decode("latin-1")
    found: list[dict[str, object]] = [
        {"cell_type": kind, "metadata": {}, "source": half.splitlines(keepends=True)} for kind in ("markdown", "code")
    ]
    return json.dumps({"cells": found, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _mail(body: bytes) -> bytes:
    return b"From: a@example.org\nSubject: a\nMIME-Version: 1.0\nContent-Type: text/plain\n\n" + body


def _between(before: bytes, after: bytes = b"") -> Callable[[bytes], bytes]:
    return lambda body: before + body + after


GRAMMARS: tuple[Grammar, ...] = (
    Grammar("a.pdf", _PDF, _page, 8),
    Grammar("objects.pdf", (*_BRACKETS, b"<<", b">>", b"/A ", b"5 0 R ", b"stream\n", b"endobj\n", b"1 0 obj\n", b"xref\n"), _objects),
    Grammar("a.epub", _HTML, _chapter, 20),
    Grammar("a.docx", _WORD, _document, 40),
    Grammar("a.xlsx", _CELLS, lambda body: zipped(xlsx(cells(body.decode("latin-1")))), 40),
    Grammar("a.html", _HTML, _between(b"<!DOCTYPE html><html><body>")),
    Grammar("a.md", _LIGHT), Grammar("a.txt", _LIGHT), Grammar("a.rst", _REST), Grammar("a.tex", _LATEX), Grammar("a.org", _ORG), Grammar("a.adoc", _ORG),
    Grammar("a.json", _DATA), Grammar("a.jsonl", _DATA), Grammar("a.yaml", _DATA), Grammar("a.toml", _DATA), Grammar("a.ini", _DATA),
    Grammar("a.csv", _DATA), Grammar("a.log", _DATA), Grammar("a.xml", _XML, _between(b"<r>", b"</r>")),
    Grammar("a.fb2", _XML, _between(b'<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><body><section>', b"</section></body></FictionBook>")),
    Grammar("a.ipynb", _LIGHT, _notebook), Grammar("a.srt", _CUES), Grammar("a.vtt", _CUES, _between(b"WEBVTT\n\n")), Grammar("a.eml", _LIGHT, _mail),
    Grammar("a.svg", _XML, _between(b'<svg xmlns="http://www.w3.org/2000/svg">', b"</svg>")),
    *(Grammar(f"a.{suffix}", _CODE) for suffix in _SUFFIXES),
)  # fmt: skip
"""Every format that has a grammar of its own here. The files of others (pictures, presentations, comics, recordings) are only
mutated."""

BRIEF = ("a.md", "a.sh")
"""The files that the suite breeds on every run."""
