"""Evidence of HTML, SVG and books runs and loads nothing in a browser, whatever the source holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import html

from citekit.adapters.formats.book_reader import AnyBookReader
from citekit.adapters.formats.html.part import html_part
from citekit.adapters.formats.xhtml.chapter_html import POLICY
from citekit.domain.evidence import Form
from citekit.domain.locations import Lines
from citekit.domain.progress import silent
from citekit.entrypoints.sdk import CiteKit
from tests.formats.epub.books import write_book
from tests.formats.mobi.kindle import write_fb2, write_mobi

FAR = "http://192.0.2.1/canary"

CONSTRUCTS = (
    f"<script src='{FAR}'></script><script>fetch('{FAR}')</script>",
    f"<iframe src='{FAR}' srcdoc='<script>1</script>'></iframe>",
    f"<object data='{FAR}'></object><embed src='{FAR}'><applet code='{FAR}'></applet>",
    f"<img src='{FAR}' srcset='{FAR} 2x' onerror='alert(1)'><picture><source srcset='{FAR}'><img></picture>",
    f"<video poster='{FAR}' src='{FAR}'></video><audio src='{FAR}'><track src='{FAR}'></audio>",
    f"<link rel='stylesheet' href='{FAR}'><style>@import '{FAR}'; p {{ background: url({FAR}) }}</style>",
    f"<meta http-equiv='refresh' content='0;url={FAR}'><base href='{FAR}'>",
    f"<form action='{FAR}'><input formaction='{FAR}' autofocus onfocus='x()'><button>b</button></form>",
    f"<p style=\"background:url('{FAR}')\" onclick='x()'>styled</p><body background='{FAR}'>",
    "<a href='javascript:x()'>a</a><a href='JaVaScript:x()'>b</a><a href='&#106;avascript:x()'>c</a>",
    "<a href='java\tscript:x()'>d</a><a href='\x01javascript:x()'>e</a><a href='java&NewLine;script:x()'>f</a>",
    "<a href='vbscript:x()'>g</a><a href='data:text/html,<script>1</script>'>h</a><a ping='x' href='file:///x'>i</a>",
    f"<svg onload='x()'><script>1</script><use href='{FAR}'/><use xlink:href='{FAR}#a'/><image xlink:href='{FAR}'/></svg>",
    f"<svg><foreignObject><iframe src='{FAR}'></iframe></foreignObject><a xlink:href='javascript:x()'><text>t</text></a></svg>",
    f"<svg><rect fill='url({FAR})' filter='u\\72l({FAR})' mask='image({FAR})' style='fill:url({FAR})'/></svg>",
    "<svg><animate attributeName='href' values='javascript:x()'/><set attributeName='onload' to='x()'/></svg>",
    f"<math><maction actiontype='statusline' xlink:href='javascript:x()'>m</maction><mtext href='{FAR}'>n</mtext></math>",
    "<img src='data:text/html;base64,PHNjcmlwdD4=' alt='x'><img src='data:image/png;base64,!!'>",
    "<template><script>1</script></template><noscript><p title='</noscript><img src=x onerror=x()>'>q</noscript>",
    "<p title='><script>1</script>'>r</p><!--><script>1</script>--><![CDATA[<script>1</script>]]>",
    "<xmp><script>1</script></xmp><plaintext><script>1</script>",
)
ALLOWED_LINK = re.compile(r"(?:https?://|mailto:|#)", re.IGNORECASE)
LIVE_ELEMENTS = frozenset(
    """
    script iframe frame object embed applet form input button select textarea link base video audio source track use
    foreignobject animate set animatetransform template noscript portal picture maction
    """.split()  # noqa: SIM905
)
LOADING = frozenset(
    [
        "src",
        "srcset",
        "poster",
        "data",
        "background",
        "action",
        "formaction",
        "ping",
        "style",
        "code",
        "codebase",
        "manifest",
        "xlink:href",
    ]
)


def problems(markup: str) -> list[str]:
    """Everything in the body of a document that could run or load something, and a missing policy."""
    root = html.document_fromstring(markup)
    found = []
    policies = [
        each.get("content") for each in root.iter("meta") if each.get("http-equiv") == "Content-Security-Policy"
    ]
    if policies != [POLICY] or markup.index("Content-Security-Policy") > markup.index("<title>"):
        found.append("no policy")
    for element in (each for body in root.iter("body") for each in body.iterdescendants()):
        name = str(element.tag).lower().rpartition(":")[2]
        if not isinstance(element.tag, str) or name in LIVE_ELEMENTS or name in ("meta", "style"):
            found.append(f"<{name}>")
            continue
        attributes = [(str(key), str(value)) for key, value in element.attrib.items()]
        found += [f"{name} {key}={value}" for key, value in attributes if not _is_inert(name, key, value)]
    return found


def _is_inert(name: str, key: str, value: str) -> bool:
    if key == "href" and name == "a":
        return bool(ALLOWED_LINK.match(value))
    if key in ("src", "href") and name in ("img", "image"):
        return value.startswith("data:image/")
    if key == "style":
        return value == "display:none"
    loads = key in LOADING or key == "href" or key.startswith("on")
    return not loads and "url(" not in value.replace("url(#", "") and "script:" not in value and "\\" not in value


def test_the_check_sees_what_is_live() -> None:
    for construct in CONSTRUCTS[:10]:
        assert len(problems(f"<html><head><title>x</title></head><body>{construct}</body></html>")) > 1


def _upper_tags(construct: str) -> str:
    return re.sub(r"</?[a-zA-Z]+", lambda found: found[0].upper(), construct)


MUTATIONS = (
    str,
    _upper_tags,
    lambda each: each.replace(" ", "\n"),
    lambda each: each.replace(" ", "/"),
    lambda each: each.replace("'", ""),
    lambda each: each.replace("javascript", "jav&#x09;ascript"),
    lambda each: each.replace("javascript:", "javascript&colon;"),
    lambda each: each.replace("<", "<\ufdd0\ufde1"),
    lambda each: each.replace("url(", "u\ufdd0\ufde1rl("),
    lambda each: each[: len(each) * 2 // 3],
    lambda each: each[len(each) // 3 :],
    lambda each: f"<table>{each}<tr><td>",
    lambda each: f"<svg>{each}</svg>",
    lambda each: f"<a title='>\n{each}",
)
live = st.builds(lambda construct, mutate: mutate(construct), st.sampled_from(CONSTRUCTS), st.sampled_from(MUTATIONS))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(st.one_of(live, st.just("<p>words</p>")), min_size=1, max_size=6), data=st.data())
def test_no_lines_of_html_are_live(tmp_path: Path, pieces: list[str], data: st.DataObject) -> None:
    path = tmp_path / "a.html"
    path.write_text("\n".join(pieces), "utf-8", newline="")
    count = len(re.split(r"\r\n|\r|\n", "\n".join(pieces)))
    first = data.draw(st.integers(1, max(1, count - 1)))
    last = data.draw(st.integers(first, max(first, count - 1)))

    markup, _ = html_part(path, Lines(first, last), silent)

    assert [] == problems(markup)


@pytest.mark.parametrize("kind", ["epub", "fb2", "mobi"])
@pytest.mark.parametrize("mutate", [str, _upper_tags])
def test_no_chapter_of_a_book_is_live(tmp_path: Path, kind: str, mutate: type[str]) -> None:
    bodies = [f"<p>Words before.</p>{mutate(each)}<p>Words after.</p>" for each in CONSTRUCTS]
    reader = AnyBookReader()
    if kind == "epub":
        book = write_book(tmp_path / "a.epub", bodies)
    elif kind == "mobi":
        book = write_mobi(tmp_path / "a.mobi", bodies)
    else:
        book = write_fb2(tmp_path / "a.fb2", "".join(f"<body><section>{each}</section></body>" for each in bodies))
    chapters = len(reader.read(book).chapters)

    assert chapters
    assert [] == [each for number in range(1, chapters + 1) for each in problems(reader.html(book, number))]


@pytest.mark.long
def test_a_page_too_deep_for_a_parser_gives_its_text(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text("<b>" * 300_000 + "\nwords &lt;script&gt;\n<script>1</script>\nmore\n")

    markup, has_elements = html_part(path, Lines(2, 3), silent)

    assert not has_elements
    assert [] == problems(markup)
    assert "words &lt;script&gt;" in markup
    assert "more" not in markup


def test_a_section_shows_its_own_words_with_their_elements(tmp_path: Path) -> None:
    path = tmp_path / "a.html"
    path.write_text(
        "<html lang='de'><body>\n<h1>One</h1>\n<p>first <b>bold</b>\n<table><tr><td>cell\n</table>\n<h1>Two</h1>\n<p>second"
    )

    markup, _ = html_part(path, Lines(2, 5), silent)

    assert "<h1>One</h1>" in markup
    assert "<b>bold</b>" in markup
    assert "<td>cell</td>" in markup
    assert 'lang="de"' in markup
    assert "Two" not in markup
    assert "second" not in markup


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.html", ".html.txt"), ("a.xhtml", ".xhtml.txt"), ("a.svg", ".svg.txt"), ("a.xsl", ".xsl.txt")],
)
def test_exact_bytes_of_live_files_are_plain_text(tmp_path: Path, name: str, suffix: str) -> None:
    data = (
        f'<?xml version="1.0"?>\n<?xml-stylesheet href="{FAR}"?>\n<svg xmlns="http://www.w3.org/2000/svg">\n'
        "<script>x()</script>\n<title>Words</title></svg>\n"
    ).encode()
    (tmp_path / name).write_bytes(data)
    kit = CiteKit(tmp_path / "home")
    kit.ingest(tmp_path / name, resource_id="live")

    forms = [Form.SOURCE] if suffix in (".html.txt", ".xhtml.txt") else [Form.SOURCE, Form.NATIVE]
    for form in forms:
        evidence = kit.resolve("text://live#lines=1-5", form=form)

        assert evidence.output_path is not None
        assert evidence.receipt is not None
        assert evidence.output_path.name.endswith(suffix)
        assert "text/plain" == evidence.receipt.media_type
        assert data == evidence.output_path.read_bytes()
        assert kit.verify(evidence.output_path).genuine


def test_the_usual_evidence_of_html_is_clean_and_genuine(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<h1>One</h1>\n" + "\n".join(CONSTRUCTS[:14]) + "\n<h1>Two</h1>\n<p>Words.</p>\n")
    kit = CiteKit(tmp_path / "home")
    kit.ingest(tmp_path / "a.html", resource_id="live")

    for form in (Form.NATIVE, Form.HTML):
        evidence = kit.resolve("text://live#lines=1-15", form=form)

        assert evidence.output_path is not None
        assert evidence.receipt is not None
        assert (".html", "text/html") == (evidence.output_path.suffix, evidence.receipt.media_type)
        assert [] == problems(evidence.output_path.read_text("utf-8"))
        assert kit.verify(evidence.output_path).genuine
