"""Hostile texts: endless lines, broken encodings, depth without end, directives that include other files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.faults.hostile.case import Bait, Case, Maker

_DEEP = 100_000
_WIDE = 1_000_000


def _content(name: str, content: Callable[[Bait], bytes] | Callable[[], bytes], *, plain: bool = True) -> Maker:
    def make(folder: Path, bait: Bait) -> Path:
        path = folder / name
        path.write_bytes(content() if plain else content(bait))  # type: ignore[call-arg]
        return path

    return make


def _text(name: str, content: Callable[[], bytes], file: str, **more: object) -> Case:
    return Case("texts", name, _content(file, content), **more)  # type: ignore[arg-type]


def _including(name: str, file: str, text: str, *, brief: bool = False) -> Case:
    """A directive that names the bait, as `{path}` and `{url}`."""

    def content(bait: Bait) -> bytes:
        return text.format(path=bait.file, url=bait.url, folder=bait.file.parent, etc="/etc/passwd").encode()

    return Case("texts", name, _content(file, content, plain=False), brief=brief)


def _notebook(depth: int) -> bytes:
    html = "<script>alert(1)</script><img src=x onerror=alert(1)>" * 10
    shown = {"text/html": [html], "image/png": "A" * 200_000}
    output = json.dumps({"output_type": "display_data", "data": shown, "metadata": {}})
    cell = '{"cell_type":"code","source":["# t"],"outputs":[' + ",".join([output] * 50) + "]}"
    deep = '{"a":' * depth + "1" + "}" * depth
    return f'{{"nbformat":4,"nbformat_minor":5,"metadata":{deep},"cells":[{cell}]}}'.encode()


CASES = [
    _text("line-of-100-megabytes", lambda: b"a" * 100_000_000, "long.txt", seconds=30, output=300),
    _text(
        "json-line-of-100-megabytes",
        lambda: b'{"a":"' + b"a" * 100_000_000 + b'"}',
        "long.json",
        seconds=40,
        output=300,
    ),
    _text("markdown-line-of-30-megabytes", lambda: b"# " + b"a" * 30_000_000, "long.md", seconds=30, output=100),
    _text(
        "html-text-of-30-megabytes", lambda: b"<h1>t</h1><p>" + b"a" * 30_000_000, "long.html", seconds=30, output=100
    ),
    _text("nul-bytes", lambda: b"one\n" * 3000 + b"\0" * 100_000 + b"\ntwo\n", "nul.txt"),
    _text(
        "mixed-encodings",
        lambda: b"\xef\xbb\xbf# a\n\xff\xfe\x00\x00\n" + "ä".encode("cp1252") * 99 + "\u0416".encode("koi8-r") * 9,
        "mixed.md",
    ),
    _text("two-byte-order-marks", lambda: b"\xff\xfe\xef\xbb\xbf" + b"a\n" * 99, "bom.txt"),
    _text("utf16-odd-length", lambda: b"\xff\xfe" + "a\n".encode("utf-16-le") * 99 + b"x", "odd.txt"),
    _text("utf16-lone-surrogates", lambda: b"\xff\xfe" + b"\x00\xd8" * 500 + b"\n\x00", "lone.txt"),
    _text("utf16-without-mark", lambda: "eins\nzwei\n".encode("utf-16-le") * 99, "nomark.txt"),
    _text("overlong-utf8", lambda: b"\xc0\xaf\xe0\x80\xaf\xf0\x80\x80\xaf/etc/passwd\n" * 99, "overlong.txt"),
    _text("bidi-overrides", lambda: "# \u202eevil\u2066 \u200b\u202d\n\ntext\n".encode() * 99, "bidi.md"),
    _text("declared-utf7", lambda: b'<?xml version="1.0" encoding="utf-7"?><a>+ADw-script+AD4-\xe4</a>', "utf7.xml"),
    _text("declared-codec-bomb", lambda: b'<?xml version="1.0" encoding="zlib_codec"?><a>\xe4</a>', "zlib.xml"),
    _text(
        "declared-unicode-escape",
        lambda: b'<?xml version="1.0" encoding="unicode_escape"?><a>\\x41\xe4</a>',
        "escape.xml",
    ),
    _text("declared-idna", lambda: b'<meta charset="idna"><p>' + b"a." * 50_000 + b"\xe4", "idna.html"),
    _text("csv-of-a-million-columns", lambda: b"a," * _WIDE + b"b\n" + b"1," * _WIDE + b"2\n", "wide.csv", output=128),
    _text("csv-quote-never-closed", lambda: b'a,b\n"' + b"x,y\n" * 500_000, "open.csv", output=128),
    _text("csv-of-quotes", lambda: b'"' * 3_000_001 + b"\n", "quotes.csv"),
    _text("tsv-of-tabs", lambda: b"\t" * 5_000_000, "tabs.tsv"),
    _text("yaml-anchors", lambda: _laughing_yaml(), "laugh.yaml", brief=True),
    _text("yaml-deep", lambda: b"".join(b" " * n + b"a:\n" for n in range(4000)), "deep.yaml", output=80),
    _text("yaml-deep-flow", lambda: b"a: " + b"[" * _DEEP, "flow.yaml"),
    _text("yaml-tag-of-python", lambda: b'!!python/object/apply:os.system ["touch /tmp/citekit-owned"]\n', "tag.yaml"),
    _text("toml-deep", lambda: b"[" + b".".join([b"a"] * 50_000) + b"]\nx = " + b"[" * 50_000, "deep.toml"),
    _text("toml-long-key", lambda: b"[a" + b"." * _WIDE + b"]\n", "dots.toml"),
    _text(
        "ini-million-sections", lambda: b"".join(b"[s%d]\na=1\n" % n for n in range(300_000)), "many.ini", output=128
    ),
    _text("json-deep", lambda: b"[" * _DEEP + b"]" * _DEEP, "deep.json"),
    _text("json-deep-objects", lambda: b'{"a":' * _DEEP + b"1" + b"}" * _DEEP, "objects.json"),
    _text(
        "json-million-keys",
        lambda: b"{" + b",\n".join(b'"k%d":1' % n for n in range(_WIDE)) + b"}",
        "keys.json",
        seconds=40,
        output=256,
    ),
    _text("json-same-keys", lambda: b"{" + b",\n".join([b'"k":{"a":1}'] * 100_000) + b"}", "same.json"),
    _text(
        "json-huge-number",
        lambda: b'{"a": ' + b"9" * 1_000_000 + b', "b": 1e999999, "c": NaN, "d": "\\ud800"}',
        "number.json",
    ),
    _text("jsonl-deep-lines", lambda: (b"[" * 20_000 + b"\n") * 100, "deep.jsonl"),
    _text("xml-deep", lambda: b"<a>" * _DEEP + b"</a>" * _DEEP, "deep.xml"),
    _text(
        "xml-million-attributes",
        lambda: b"<a " + b" ".join(b'a%d="1"' % n for n in range(_WIDE)) + b"/>",
        "attributes.xml",
    ),
    _text("html-deep", lambda: b"<div>" * _WIDE, "deep.html", seconds=40),
    _text("html-deep-within", lambda: b"<h1>x</h1>" + b"<div>" * 400_000 + b"<h2>y</h2>", "within.html", seconds=40),
    _text("html-deep-formatting", lambda: b"<h1>x</h1>" + b"<p><b><i><font>" * 30_000, "formatting.html", seconds=40),
    _text("html-deep-tables", lambda: b"<h1>x</h1>" + b"<table><tr><td>" * 30_000, "tables.html", seconds=40),
    _text(
        "html-million-attributes",
        lambda: b"<p " + b" ".join(b"a%d=1" % n for n in range(_WIDE)) + b">x<h1>t</h1>",
        "attributes.html",
        seconds=40,
    ),
    _text("html-unclosed", lambda: b"<h1>a" * 200_000, "unclosed.html", seconds=40, output=128),
    _text("html-open-tags", lambda: b"<" * 2_000_000, "brackets.html"),
    _text("html-open-comment", lambda: b"<!--" * 500_000, "comments.html"),
    _text("html-script-never-closed", lambda: b"<script>" + b"</scrip" * 500_000, "script.html"),
    _text("html-ampersands", lambda: b"<p>" + b"&" * 3_000_000, "amps.html"),
    _text("html-doctype-brackets", lambda: b"<!DOCTYPE " + b"[" * 30_000 + b"<h1>x</h1>", "doctype.html"),
    _text("html-self-closed-quadratic", lambda: b"<p>" + b"<a " * 300_000, "selfclosed.html"),
    _text("markdown-brackets", lambda: b"# t\n" + b"[" * 300_000, "brackets.md"),
    _text("markdown-links", lambda: b"# t\n\n" + b"[a](" * 100_000, "links.md"),
    _text("markdown-emphasis", lambda: b"# t\n\n" + b"*a **a " * 100_000, "emphasis.md"),
    _text("markdown-heading-emphasis", lambda: b"# " + b"*a **a _" * 100_000 + b"\n\ntext\n", "heading.md"),
    _text("markdown-heading-links", lambda: b"# " + b"[a](b" * 100_000 + b"\n# " + b"![" * 100_000, "headlinks.md"),
    _text("markdown-heading-hashes", lambda: b"# a " + b"# " * 200_000 + b"x\n", "hashes.md"),
    _text("markdown-heading-html", lambda: b"# " + b"<a " * 200_000 + b"\n## " + b"<!--" * 100_000, "headhtml.md"),
    _text("markdown-heading-backticks", lambda: b"# " + b"".join(b"`" * n + b"a" for n in range(900)), "ticks.md"),
    _text("markdown-deep-quotes", lambda: b">" * 300_000 + b" # a\n", "quotes.md"),
    _text("markdown-deep-lists", lambda: b"- " * 300_000 + b"# a\n", "lists.md"),
    _text("markdown-table", lambda: b"|" * 500_000 + b"\n" + b"|-" * 500_000 + b"\n", "table.md"),
    _text("markdown-million-headings", lambda: b"# a\n" * 300_000, "many.md", seconds=40, output=256),
    _text("markdown-front-matter-never-closed", lambda: b"---\n" + b"a: b\n" * 300_000, "front.md"),
    _text("markdown-setext-spaces", lambda: b"a\n" + b"= " * 400_000 + b"\n" + b" " * 400_000 + b"-x\n", "setext.md"),
    _text("latex-braces", lambda: b"\\section" + b"{" * 500_000, "braces.tex"),
    _text("latex-million-macros", lambda: b"\\section{" + b"\\a" * 500_000 + b"}", "macros.tex"),
    _text(
        "latex-nested-macros", lambda: b"\\section{" + b"\\emph{" * 50_000 + b"x" + b"}" * 50_000 + b"}", "nested.tex"
    ),
    _text("org-deep-stars", lambda: b"*" * 500_000 + b" a\n", "stars.org"),
    _text("org-tags", lambda: b"* a " + b":a" * 300_000 + b"\n", "tags.org"),
    _text("asciidoc-delimiters", lambda: b"====\n" * 200_000 + b"== a\n", "delimiters.adoc"),
    _text("asciidoc-equals", lambda: b"=" * 500_000 + b" a\n", "equals.adoc"),
    _text(
        "rst-underlines",
        lambda: b"".join(b"a%d\n" % n + bytes([33 + n % 15]) * 9 + b"\n\n" for n in range(60_000)),
        "lines.rst",
        output=128,
    ),
    _text("rst-backticks", lambda: b"`" * 500_000 + b"\n=====\n", "ticks.rst"),
    _text("python-brackets", lambda: b"x = " + b"(" * _DEEP + b")" * _DEEP + b"\n", "deep.py"),
    _text(
        "python-deep-classes", lambda: b"".join(b" " * n + b"class A:\n" for n in range(3000)), "classes.py", seconds=30
    ),
    _text("python-operators", lambda: b"x = " + b"-" * 200_000 + b"1\n", "minus.py"),
    _text("javascript-brackets", lambda: b"x = " + b"[" * _DEEP, "deep.js"),
    _text("javascript-arrows", lambda: b"a=>" * _DEEP, "arrows.js"),
    _text("javascript-templates", lambda: b"`${" * _DEEP, "templates.js", seconds=30),
    _text("javascript-nested-functions", lambda: b"function a(){" * 20_000, "functions.js", seconds=30),
    _text("typescript-generics", lambda: b"let a: A" + b"<A" * 50_000, "generics.ts", seconds=30),
    _text("cpp-templates", lambda: b"a" + b"<a" * 50_000 + b">" * 50_000 + b" x;", "templates.cpp", seconds=40),
    _text("c-parentheses", lambda: b"int a = " + b"(" * _DEEP + b";", "deep.c", seconds=30),
    _text("java-nested-classes", lambda: b"class A {" * 20_000, "Deep.java", seconds=30),
    _text("bash-substitutions", lambda: b"x=" + b"$(" * 50_000, "deep.sh", seconds=30),
    _text("bash-heredocs", lambda: b"cat <<A" * 20_000 + b"\n", "heredocs.sh", seconds=30),
    _text("ruby-heredocs", lambda: b"a(<<~A" * 5000 + b"\n", "heredocs.rb", seconds=30),
    _text("php-nested", lambda: b"<?php " + b"if(1){" * 30_000, "deep.php", seconds=30),
    _text("perl-quotes", lambda: b"q(" * 100_000, "deep.pl", seconds=30),
    _text("haskell-layout", lambda: b"a = " + b"do " * 30_000, "deep.hs", seconds=40),
    _text(
        "haskell-indents", lambda: b"".join(b" " * n + b"where a = do\n" for n in range(2000)), "where.hs", seconds=40
    ),
    _text("kotlin-generics", lambda: b"val a = a" + b"<a" * 20_000, "deep.kt", seconds=40),
    _text("swift-closures", lambda: b"{" * 50_000, "deep.swift", seconds=40),
    _text("scala-blocks", lambda: b"object A {" * 20_000, "deep.scala", seconds=40),
    _text("rust-raw-string", lambda: b"let a = r" + b"#" * 100_000 + b'"a"', "raw.rs", seconds=30),
    _text("rust-brackets", lambda: b"fn a() { let a = " + b"[" * 50_000, "deep.rs", seconds=30),
    _text("sql-parentheses", lambda: b"SELECT " + b"(" * 50_000, "deep.sql", seconds=40),
    _text("css-nested", lambda: b"a {" * 50_000, "deep.css", seconds=30),
    _text("lua-long-brackets", lambda: b"a = [" + b"=" * 100_000 + b"[", "deep.lua"),
    _text("powershell-nested", lambda: b"$(" * 20_000, "deep.ps1", seconds=40),
    _text("julia-strings", lambda: b'"$(' * 20_000, "deep.jl", seconds=40),
    _text("elixir-nested", lambda: b"do " * 20_000 + b'"#{' * 10_000, "deep.ex", seconds=40),
    _text("csharp-interpolations", lambda: b'$"{' * 20_000, "deep.cs", seconds=40),
    _text("notebook-hostile-outputs", lambda: _notebook(3), "hostile.ipynb", output=64),
    _text("notebook-deep-metadata", lambda: _notebook(50_000), "deep.ipynb"),
    _text("notebook-odd-shapes", lambda: b'{"nbformat":4,"metadata":[],"cells":{"a":1},"x":null}', "odd.ipynb"),
    _text(
        "notebook-odd-cells",
        lambda: (
            b'{"nbformat":4,"metadata":{},"cells":[1,null,[],{"cell_type":7,"source":{"a":1}},{"cell_type":"markdown","source":[1,null,["# a"]]}]}'
        ),
        "cells.ipynb",
    ),
    _text("log-of-one-character", lambda: b"\n" * 3_000_000, "empty.log", output=128),
    _text("text-of-form-feeds", lambda: b"\f\v\x85\xe2\x80\xa8" * 300_000, "feeds.txt", output=64),
    _text("text-of-combining-marks", lambda: ("CHAPTER 1" + "\u0301" * 500_000 + "\n\ntext\n").encode(), "marks.txt"),
    _text(
        "subtitles-million-cues",
        lambda: b"".join(b"%d\n00:00:01,000 --> 00:00:02,000\nx\n\n" % n for n in range(300_000)),
        "many.srt",
        seconds=60,
        output=256,
    ),
    _text(
        "subtitles-negative-times",
        lambda: (
            b"1\n-00:00:01,000 --> -99:99:99,999\na\n\n2\n99999999999999999999:00:00,000 --> 00:00:01,000\nb\n\n3\n00:00:09,000 --> 00:00:01,000\nc\n"
        ),
        "odd.srt",
    ),
    _text(
        "subtitles-huge-hours",
        lambda: b"WEBVTT\n\n" + b"9" * 100_000 + b":00:00.000 --> " + b"9" * 100_000 + b":00:01.000\na\n",
        "huge.vtt",
    ),
    _text(
        "subtitles-markup",
        lambda: (
            b"WEBVTT\n\nSTYLE\n::cue { background: url(http://127.0.0.1/bait) }\n\n00:01.000 --> 00:02.000\n<script>alert(1)</script><c"
            + b".a" * 100_000
            + b">\n"
        ),
        "markup.vtt",
    ),
    _text(
        "subtitles-open-tags",
        lambda: b"WEBVTT\n\n00:01.000 --> 00:02.000\n" + b"<" * 500_000 + b"{\\" * 100_000 + b"\n",
        "tags.vtt",
    ),
    _text(
        "rss-with-stylesheet",
        lambda: b'<?xml-stylesheet href="http://127.0.0.1/bait"?><rss><channel><title>t</title></channel></rss>',
        "feed.rss",
    ),
    _including(
        "latex-input",
        "input.tex",
        "\\section{{a}}\n\\input{{{path}}}\n\\include{{{folder}/bait}}\n\\lstinputlisting{{{etc}}}\n\\write18{{touch x}}\n",
    ),
    _including(
        "latex-main-file",
        "main.tex",
        '\\documentclass{{article}}\\begin{{document}}\\input|"cat {path}"\\subfile{{{path}}}\n\\section{{a}}\n\\end{{document}}\n',
    ),
    _including("org-include", "include.org", '#+INCLUDE: "{path}"\n#+SETUPFILE: {url}\n* a\n#+INCLUDE: "{etc}" src\n'),
    _including(
        "asciidoc-include",
        "include.adoc",
        "= a\n\ninclude::{path}[]\n\ninclude::{url}[]\n\n== b\ninclude::{etc}[]\n",
    ),
    _including(
        "rst-include",
        "include.rst",
        "a\n=\n\n.. include:: {path}\n\n.. raw:: html\n   :file: {path}\n\n.. csv-table::\n   :url: {url}\n\n.. literalinclude:: {etc}\n",
    ),
    _including(
        "markdown-include",
        "include.md",
        "# a\n\n!include {path}\n--8<-- \"{path}\"\n![a](file://{path})\n![b]({url})\n{{{{ include('{etc}') }}}}\n",
    ),
    _including(
        "html-include",
        "include.html",
        "<base href='{url}'><link rel=stylesheet href='{path}'><iframe src='file://{path}'></iframe><object data='{path}'></object><h1>a</h1><!--#include file='{path}'--><img src='{url}'>",
    ),
    _including("yaml-include", "include.yaml", "a: !include {path}\nb: !!python/name:os.system\n"),
    _including(
        "notebook-attachment",
        "include.ipynb",
        '{{"nbformat":4,"metadata":{{}},"cells":[{{"cell_type":"markdown","source":["# a\\n","![x](file://{path})","%run {path}","!cat {etc}"]}}]}}',
    ),
]


def _laughing_yaml() -> bytes:
    rows = [b'a: &a ["x","x","x","x","x","x","x","x","x"]']
    rows += [b"%c: &%c [%s]" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(12)]
    return b"\n".join(rows) + b"\n"
