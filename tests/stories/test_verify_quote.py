"""Is that text really there? On real files of every kind, made here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import pymupdf
import pypdfium2
import pytest
from attrs import define, field
from PIL import Image

from citekit.adapters.quotes.cache import KeptQuotableTexts
from citekit.adapters.quotes.stored_form import from_plain, to_plain
from citekit.domain.errors import LocationOutside, RequestRefused, SourceChanged, SourceMoved, SourceUnsupported
from citekit.domain.library.extracted_text import ExtractedText, UnitKind
from citekit.domain.locations import Pages
from citekit.domain.progress import Progress, silent
from citekit.domain.quotes.quotable import Quotable
from citekit.domain.quotes.verdict_finding import Finding
from citekit.domain.source import Source
from citekit.entrypoints.sdk import CiteKit
from tests.faults.bill_shapes import nested_forms
from tests.formats.epub.books import write_book
from tests.formats.media.media_samples import write_audio
from tests.formats.office.office_files import paragraph, write_docx, write_pptx

MUPDF: Any = pymupdf  # the library has no types
PAGES = (
    "The Trace Book\nThe first page speaks of jour-\nneys, and of a well-\nknown road that goes on\n1",
    "The Trace Book\nuntil the river is reached. It is not deep there.\n2",
    "The Trace Book\nNobody has ever crossed it at night.\n3",
    "The Trace Book\nThe end came soon.\n4",
)


@pytest.fixture
def kit(tmp_path: Path) -> CiteKit:
    return CiteKit(tmp_path)


@pytest.fixture(scope="module")
def traced(tmp_path_factory: pytest.TempPathFactory) -> CiteKit:
    """A home in which a PDF is mapped as `trace`; tests only ask there."""
    folder = tmp_path_factory.mktemp("traced")
    kit = CiteKit(folder)
    kit.ingest(write_pdf(folder / "trace.pdf"), resource_id="trace")
    return kit


def write_pdf(path: Path, pages: Sequence[str] = PAGES) -> Path:
    with MUPDF.open() as document:
        for text in pages:
            document.new_page().insert_text((72, 72), text, fontname="tiro")
        document.save(path)
    return path


@pytest.mark.parametrize(
    ("place", "quote", "finding", "where"),
    [
        ("doc://trace#pages=2", "It is not deep there.", Finding.EXACT, "doc://trace#pages=2"),
        ("doc://trace#pages=1", "speaks of journeys, and of a well-known", Finding.NORMALISED, "doc://trace#pages=1"),
        ("doc://trace#pages=1-2", "road that goes on until the river", Finding.NORMALISED, "doc://trace#pages=1-2"),
        ("doc://trace#pages=1", "road that goes on until the river", Finding.ELSEWHERE, "doc://trace#pages=1-2"),
        ("doc://trace#pages=3", "It is not deep there.", Finding.ELSEWHERE, "doc://trace#pages=2"),
        ("doc://trace#pages=1,3", "it is not deep there.", Finding.ELSEWHERE, "doc://trace#pages=2"),
        ("doc://trace", "NOBODY has ever crossed", Finding.NORMALISED, "doc://trace#pages=3"),
        ("trace", "The first page ... well-known road", Finding.NORMALISED, "doc://trace#pages=1"),
        ("trace", "It is deep there.", Finding.ABSENT, None),
        ("trace", "Nobody has never crossed it", Finding.ABSENT, None),
    ],
)
def test_a_quote_of_a_pdf_is_found_on_its_page(
    traced: CiteKit, place: str, quote: str, finding: Finding, where: str | None
) -> None:
    verdict = traced.verify_quote(place, quote)

    assert finding is verdict.finding
    assert (where is None) is (not verdict.places)
    assert where is None or where == str(verdict.places[0].address)


def test_the_evidence_of_the_address_holds_the_quote(traced: CiteKit) -> None:
    (place,) = traced.verify_quote("trace", "crossed it at night").places
    evidence = traced.resolve(str(place.address))

    assert evidence.output_path is not None
    cut = pypdfium2.PdfDocument(evidence.output_path)
    assert 1 == len(cut)
    assert "crossed it at night" in cut[0].get_textpage().get_text_range()


def test_a_quote_outside_of_a_region_is_not_in_it(traced: CiteKit) -> None:
    upper = traced.verify_quote("doc://trace#pages=2&bbox=0,0,1,0.3", "not deep")
    lower = traced.verify_quote("doc://trace#pages=2&bbox=0,0.5,1,1", "not deep")

    assert Finding.EXACT is upper.finding
    assert (Finding.ELSEWHERE, "doc://trace#pages=2") == (lower.finding, str(lower.places[0].address))


def test_a_passage_that_is_only_similar_is_called_so(traced: CiteKit) -> None:
    verdict = traced.verify_quote("trace", "Nobody has often crossed it at night.")

    assert (Finding.ABSENT, ()) == (verdict.finding, verdict.places)
    assert verdict.near is not None
    assert "doc://trace#pages=3" == str(verdict.near.address)
    assert "Nobody has ever crossed it at night" in verdict.near.text


def test_a_quote_of_a_book_is_found_in_its_characters(kit: CiteKit, tmp_path: Path) -> None:
    book = write_book(
        tmp_path / "book.epub", ["<h1>One</h1><p>Nothing here.</p>", "<p>She <i>never</i> came\u00a0back.</p>"]
    )
    kit.ingest(book, resource_id="book")

    (place,) = kit.verify_quote("doc://book#chapter=2", "never came back").places
    evidence = kit.resolve(str(place.address), form="text")

    assert "doc://book#chapter=2&chars=4-19" == str(place.address)
    assert evidence.output_path is not None
    assert "never came\u00a0back" in evidence.output_path.read_text("utf-8")


def test_a_quote_of_a_text_is_found_on_its_lines_with_or_without_its_markup(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Notes\n\nIt is **really**\nso. See [there](http://x.test/y).\n")
    kit.ingest(tmp_path / "notes.md", resource_id="notes")

    shown = kit.verify_quote("notes", "It is really so.").places[0]
    marked = kit.verify_quote("notes", "It is **really**").places[0]

    assert ("text://notes#lines=3-4", ("white space",)) == (str(shown.address), shown.differences)
    assert ("text://notes#lines=3", "in the source with its markup") == (str(marked.address), marked.note)


def test_what_a_page_of_the_web_hides_is_not_found_as_markup(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p>Seen words.</p><p style="display:none">Hidden for $5 at AT&amp;T.</p>')
    kit.ingest(tmp_path / "a.html", resource_id="a")

    assert Finding.ABSENT is kit.verify_quote("a", "Hidden for $5").finding
    assert "in the source with its tags" == kit.verify_quote("a", "<p>Seen words.</p>").places[0].note


@pytest.mark.parametrize(
    ("name", "source", "quote"),
    [
        ("a.html", '<p>Seen.</p><p style="display:none">We hold that p > 0.05 here.</p>', "We hold that p > 0.05"),
        ("a.html", "<p>Seen.</p><!-- The revenue was > 9 million -->", "The revenue was > 9 million"),
        ("a.html", "<p>Profit &lt; 3 million</p><p hidden>Profit > 3 million in May</p>", "Profit > 3 million in May"),
        ("a.html", "<p>Seen.</p><p hidden>Tom &amp; Ann agree</p>", "Tom &amp; Ann agree"),
        ("a.md", "Seen.\n\n<!-- The revenue was > 9 million -->\n", "The revenue was > 9 million"),
    ],
)
def test_hidden_words_next_to_a_sign_of_markup_are_not_visible(
    kit: CiteKit, tmp_path: Path, name: str, source: str, quote: str
) -> None:
    (tmp_path / name).write_text(source)
    kit.ingest(tmp_path / name, resource_id="a")

    verdict = kit.verify_quote("a", quote)

    assert not verdict.holds
    assert not any(place.visible for place in verdict.places)


@pytest.mark.parametrize("name", ["a.html", "a.txt", "a.md"])
def test_a_file_cannot_use_the_marks_of_hidden_text_and_of_notes(kit: CiteKit, tmp_path: Path, name: str) -> None:
    text = "The drug is\ufdd3 not\nsafe for children. The limit is 10\ufdd2\u207b\u00b3\ufdd2 molar. It ends here.\n"
    (tmp_path / name).write_text(text)
    kit.ingest(tmp_path / name, resource_id="a")

    assert not kit.verify_quote("a", "The drug is safe for children").holds
    assert not kit.verify_quote("a", "The limit is 10 molar").holds
    assert kit.verify_quote("a", "It ends here.").holds


@pytest.mark.parametrize("name", ["a.html", "a.txt"])
def test_words_that_an_override_reverses_are_not_visible(kit: CiteKit, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(
        "The dose is \u202e12\u202c mg for \u202aall\u202c adults.\n\u202e\nThe end is here.\n"
    )
    kit.ingest(tmp_path / name, resource_id="a")

    assert not kit.verify_quote("a", "The dose is 12 mg").holds
    assert kit.verify_quote("a", "mg for all adults").holds
    assert kit.verify_quote("a", "The end is here").holds is (name == "a.txt")  # HTML has no lines


def test_a_quote_does_not_leave_out_a_negation_at_the_edge_of_pages(kit: CiteKit, tmp_path: Path) -> None:
    pages = [
        f"Words of page {each}.\nThe drug is safe for\nno more than a few, and never for young,\n{number}"
        for number, each in enumerate("abcd", 1)
    ]
    kit.ingest(write_pdf(tmp_path / "a.pdf", pages), resource_id="a")

    assert not kit.verify_quote("a", "The drug is safe for Words of page b").holds


def test_a_quote_of_a_node_and_one_beside_it(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# First\n\nOne thing.\n\n# Second\n\nAnother thing.\n")
    first, second = kit.ingest(tmp_path / "notes.md", resource_id="notes").nodes

    assert Finding.EXACT is kit.verify_quote("notes", "Another thing.", second.id).finding
    assert Finding.ELSEWHERE is kit.verify_quote("notes", "Another thing.", first.id).finding


@pytest.mark.long
def test_what_is_said_in_a_recording_is_found_by_its_time(kit: CiteKit, tmp_path: Path) -> None:
    write_audio(tmp_path / "talk.wav", seconds=6.0)
    beside = tmp_path / "talk.srt"
    beside.write_text(
        "1\n00:00:01,000 --> 00:00:02,500\nWe hold these\n\n2\n00:00:02,500 --> 00:00:04,000\ntruths dear\n"
    )
    kit.ingest(tmp_path / "talk.wav", resource_id="talk")

    verdict = kit.verify_quote("talk", "hold these truths")
    wrong = kit.verify_quote("audio://talk#t=4.5-6", "truths dear")
    beside.write_text("1\n00:00:01,000 --> 00:00:02,500\nWe hold those\n")
    changed = kit.verify_quote("talk", "hold these truths")

    assert (Finding.NORMALISED, "audio://talk#t=1-4") == (verdict.finding, str(verdict.places[0].address))
    assert (Finding.ELSEWHERE, "audio://talk#t=2.5-4") == (wrong.finding, str(wrong.places[0].address))
    assert Finding.ABSENT is changed.finding
    assert kit.resolve(str(verdict.places[0].address)).output_path is not None


RAISED = (
    "<p>The tide<sup>12</sup> rises to 10<sup>6</sup> m of CO<sub>2</sub>, 2<sup>n</sup> times.</p>"
    '<p>Shown <b hidden="">secret one </b>words, <i style="color:red; display: none">secret two</i>not hidden.</p>'
    "<template>secret three</template><script>secret four</script>"
)
"""What a page shows with numbers that stand higher or lower, and with text that nobody sees."""


def write_raised(folder: Path, kind: str) -> Path:
    if kind == "epub":
        return write_book(folder / "a.epub", [RAISED])
    if kind == "html":
        (folder / "a.html").write_text(f"<html><body>\n{RAISED}\n</body></html>")
        return folder / "a.html"
    return write_raised_pdf(folder / "a.pdf") if kind == "pdf" else write_raised_docx(folder / "a.docx")


def write_raised_docx(path: Path) -> Path:
    runs = (("The tide", ""), ("12", "super"), (" rises to 10", ""), ("6", "super"), (" m of CO", ""), ("2", "sub"))
    said = (
        "".join(
            f'<w:r><w:rPr><w:vertAlign w:val="{level}script"/></w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'
            for text, level in (*runs, (", 2", "base"), ("n", "super"), (" times.", "base"))
        )
        .replace('"script', '"basescript')
        .replace("basescript", "baseline")
    )
    hidden = paragraph("secret one", run="<w:vanish/>") + paragraph("secret two", style="Ghost")
    style = '<w:style w:type="paragraph" w:styleId="Ghost"><w:name w:val="g"/><w:rPr><w:vanish/></w:rPr></w:style>'
    styles = f'<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">{style}</w:styles>'
    body = f"<w:p>{said}</w:p>{hidden}{paragraph('Shown words, not hidden.')}"
    return write_docx(path, body, **{"word__styles.xml": styles})


def write_raised_pdf(path: Path) -> Path:
    font, down = MUPDF.Font("tiro"), {"": 0, "super": -5, "sub": 3}
    runs = (("The tide", ""), ("12", "super"), (" rises to 10", ""), ("6", "super"), (" m of CO", ""), ("2", "sub"))
    with MUPDF.open() as document:
        page = document.new_page()
        writer, left = MUPDF.TextWriter(page.rect), 72.0
        for text, level in (*runs, (", 2", ""), ("n", "super"), (" times.", "")):
            _, end = writer.append((left, 100 + down[level]), text, font=font, fontsize=7 if level else 12)
            left = end.x
        writer.write_text(page)
        page.insert_text((72, 200), "secret one", oc=document.add_ocg("off", on=False))
        page.insert_text((72, 20), "secret two")
        page.insert_text((72, 300), "Shown words, not hidden.", render_mode=3)
        page.set_cropbox(MUPDF.Rect(0, 50, 500, 800))
        document.save(path)
    return path


@pytest.mark.parametrize("kind", ["epub", "html", "docx", "pdf"])
def test_what_a_page_shows_is_quotable_and_nothing_else(kit: CiteKit, tmp_path: Path, kind: str) -> None:
    kit.ingest(write_raised(tmp_path, kind), resource_id="a")
    expected = {
        "The tide rises": Finding.NORMALISED,
        "tide\u00b9\u00b2 rises to 10\u2076 m of CO\u2082, 2\u207f times.": Finding.EXACT,
        "m of CO2": Finding.NORMALISED,
        "rises to 10": Finding.ABSENT,
        "106": Finding.ABSENT,
        "2n times": Finding.ABSENT,
        "Shown words, not hidden.": Finding.EXACT,
        **{f"secret {number}": Finding.ABSENT for number in ("one", "two", "three", "four")},
    }

    found = {quote: kit.verify_quote("a", quote).finding for quote in expected}

    assert expected == found


def test_a_label_of_ours_is_no_word_of_a_slide(kit: CiteKit, tmp_path: Path) -> None:
    kit.ingest(write_pptx(tmp_path / "deck.pptx"), resource_id="deck")
    quotes = ("say 3", "Notes: say 3", "Notes")

    found = [kit.verify_quote("deck", quote).finding for quote in quotes]

    assert [Finding.EXACT, Finding.ABSENT, Finding.ABSENT] == found


def test_hidden_text_moves_no_place_of_a_book(kit: CiteKit, tmp_path: Path) -> None:
    kit.ingest(write_raised(tmp_path, "epub"), resource_id="a")

    (place,) = kit.verify_quote("a", "not hidden.").places
    evidence = kit.resolve(str(place.address), form="text")

    assert evidence.output_path is not None
    assert "not hidden." == evidence.output_path.read_text("utf-8").strip()


def test_a_number_in_a_region_is_what_it_is_on_its_page(kit: CiteKit, tmp_path: Path) -> None:
    kit.ingest(write_raised(tmp_path, "pdf"), resource_id="a")

    finding = kit.verify_quote("doc://a#pages=1&bbox=0,0,1,0.3", "rises to 106 m").finding

    assert Finding.ABSENT is finding


def test_subtitles_inside_a_film_are_found_in_every_track(kit: CiteKit, tmp_path: Path) -> None:
    tracks = {
        "english": "1\n00:00:00,500 --> 00:00:01,500\nIf a < b then\n\n2\n00:00:01,500 --> 00:00:02,000\n<i>we hold</i> it\n",
        "german": "1\n00:00:00,500 --> 00:00:01,500\nWir halten\n\n2\n00:00:06,000 --> 00:00:07,000\nEin anderes Wort\n",
    }
    for name, text in tracks.items():
        (tmp_path / f"{name}.txt").write_text(text)
    read = [part for name in tracks for part in ("-f", "srt", "-i", str(tmp_path / f"{name}.txt"))]
    sound = ("-f", "lavfi", "-i", "sine=d=8")
    maps = ("-map", "0", "-map", "1", "-map", "2", "-c:a", "aac", "-c:s", "ass", "-disposition:s:0", "default")
    command = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", *sound, *read, *maps, str(tmp_path / "talk.mka")]
    subprocess.run(command, check=True)
    kit.ingest(tmp_path / "talk.mka", resource_id="talk")

    first = kit.verify_quote("talk", "If a < b then we hold it").places[0]
    second = kit.verify_quote("talk", "Wir halten").places[0]
    apart = kit.verify_quote("talk", "Wir halten Ein anderes Wort")

    assert ("audio://talk#t=0.5-2", "") == (str(first.address), first.note)
    assert ("audio://talk#t=0.5-1.5", "in another subtitle track") == (str(second.address), second.note)
    assert Finding.ABSENT is apart.finding


def test_lines_of_subtitles_far_apart_are_no_sentence(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "a.srt").write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nWe hold\n\n2\n00:00:03,000 --> 00:00:04,000\nit dear.\n\n"
        "3\n00:01:00,000 --> 00:01:02,000\nAnother topic\n"
    )
    kit.ingest(tmp_path / "a.srt", resource_id="a")

    joined = kit.verify_quote("a", "We hold it dear.").places[0]
    apart = kit.verify_quote("a", "it dear. Another topic")

    assert "text://a#lines=3-7" == str(joined.address)
    assert Finding.ABSENT is apart.finding


@pytest.mark.parametrize(
    ("quote", "said"), [("", "empty"), ("?!", "no letters or digits"), ("a" * 20_001, "maximum is 20,000")]
)
def test_a_quote_without_words_is_refused(kit: CiteKit, tmp_path: Path, quote: str, said: str) -> None:
    (tmp_path / "a.txt").write_text("words\n")
    kit.ingest(tmp_path / "a.txt", resource_id="a")

    with pytest.raises(RequestRefused, match=said):
        kit.verify_quote("a", quote)


def test_files_without_text_are_refused(kit: CiteKit, tmp_path: Path) -> None:
    Image.new("RGB", (40, 40)).save(tmp_path / "picture.png")
    with MUPDF.open() as document:
        document.new_page().insert_image(MUPDF.Rect(0, 0, 99, 99), filename=tmp_path / "picture.png")
        document.save(tmp_path / "scan.pdf")
    write_audio(tmp_path / "tone.wav", seconds=1.0)
    names = [kit.ingest(tmp_path / name).resource_id for name in ("picture.png", "scan.pdf", "tone.wav")]

    for name, said in zip(names, ("is an image", "contains no text", "no subtitles"), strict=True):
        with pytest.raises(SourceUnsupported, match=said):
            kit.verify_quote(name, "words")


def test_a_source_that_changed_or_went_is_said_so(kit: CiteKit, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("these words\n")
    kit.ingest(path, resource_id="a")
    assert kit.verify_quote("a", "these words").holds

    with pytest.raises(LocationOutside):
        kit.verify_quote("text://a#lines=7", "these words")
    path.write_text("other words\n")
    with pytest.raises(SourceChanged):
        kit.verify_quote("a", "these words")
    path.unlink()
    with pytest.raises(SourceMoved):
        kit.verify_quote("a", "these words")


@define
class Counting:
    """Reads a text that it is given, and counts how often it is asked to."""

    text: str
    reads: int = field(default=0)

    def version(self, _source: Source) -> str:
        return "1"

    def reader_version(self) -> str:
        return "1"

    def region(self, source: Source, place: Pages) -> Quotable:
        raise AssertionError

    def drawn(self, source: Source, pages: Sequence[int]) -> Mapping[int, str]:
        raise AssertionError

    def read(self, _source: Source, _progress: Progress = silent) -> Sequence[Quotable]:
        self.reads += 1
        return [Quotable.of(ExtractedText.joined(UnitKind.PAGE, self.text.split("\f"), "\n"), "as it is")]


def test_a_text_is_read_once_and_a_damaged_file_of_it_is_as_none(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("words\n")
    source = kit.app.sources.identify(tmp_path / "a.txt")
    inner = Counting("one \u201ctwo\u201d\fthree")

    def read_anew() -> Sequence[Quotable]:
        return KeptQuotableTexts(inner, tmp_path / "kept").read(source)

    first, again = read_anew(), read_anew()
    (kept,) = (tmp_path / "kept").glob("*/*.json")
    kept.write_bytes(kept.read_bytes().replace(b"three", b"there"))
    mended = read_anew()
    os.truncate(kept, 50)
    read_anew()

    assert (
        [to_plain(each) for each in first] == [to_plain(each) for each in again] == [to_plain(each) for each in mended]
    )
    assert 3 == inner.reads


def test_kept_texts_take_no_more_room_than_allowed(kit: CiteKit, tmp_path: Path) -> None:
    inner = Counting("words " * 1000)
    for number in range(6):
        path = tmp_path / f"{number}.txt"
        path.write_text(f"words {number}\n")
        KeptQuotableTexts(inner, tmp_path / "kept", limit=30_000).read(kit.app.sources.identify(path))

    sizes = [path.stat().st_size for path in (tmp_path / "kept").glob("*/*.json")]

    assert 0 < sum(sizes) <= 30_000


def test_many_texts_are_kept_without_looking_at_all_of_them_each_time(
    kit: CiteKit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Path] = []
    iterdir = Path.iterdir

    def counted(path: Path) -> Iterator[Path]:
        looks.append(path)
        return iterdir(path)

    monkeypatch.setattr(Path, "iterdir", counted)
    kept = KeptQuotableTexts(Counting("words " * 1000), tmp_path / "kept", limit=2_000_000)
    for number in range(40):
        path = tmp_path / f"{number}.txt"
        path.write_text(f"words {number}\n")
        kept.read(kit.app.sources.identify(path))

    assert 40 == len(list((tmp_path / "kept").glob("*/*.json")))
    assert looks.count(tmp_path / "kept") < 20
    kept.limit = 30_000
    path.write_text("other words\n")
    kept.read(kit.app.sources.identify(path))
    assert 30_000 >= sum(each.stat().st_size for each in (tmp_path / "kept").glob("*/*.json"))


def test_a_text_as_plain_data_is_the_same_text() -> None:
    quotable = Quotable.of(ExtractedText.joined(UnitKind.CHAPTER, ["caf\u00e9 \ud800", "two"], "\n\n"))

    assert quotable == from_plain(json.loads(json.dumps(to_plain(quotable))))


@pytest.mark.long
def test_an_ellipsis_over_a_negation_is_altered_everywhere(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "leaflet.txt").write_text("Read this.\n\nYou must not take it with wine. Take 5 mg daily.\n")
    kit.ingest(tmp_path / "leaflet.txt", resource_id="leaflet")

    verdict = kit.verify_quote("leaflet", "You must ... take it with wine.")
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "citekit",
            "--home",
            tmp_path,
            "verify-quote",
            "leaflet",
            "You must ... take it with wine.",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    plain = subprocess.run(
        [sys.executable, "-m", "citekit", "--home", tmp_path, "--json", "verify-quote", "leaflet", "take 5 MG daily"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (Finding.ALTERED, False) == (verdict.finding, verdict.holds)
    assert ("not", ("not",)) == (verdict.places[0].gaps[0].text, verdict.places[0].gaps[0].qualifiers)
    assert 1 == done.returncode
    assert "omits 3 characters (may qualify the statement: not): not" in done.stdout
    assert 1 == plain.returncode
    assert "'MG' for 'mg'" in plain.stdout


def test_a_faithful_passage_comes_before_one_with_another_meaning(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text(
        "You must not ever take it.\n\n" + "Filler. " * 80 + "\n\nYou must always take it.\n"
    )
    kit.ingest(tmp_path / "two.txt", resource_id="two")

    verdict = kit.verify_quote("two", "must ... take it")

    assert (Finding.NORMALISED, "always") == (verdict.finding, verdict.places[0].gaps[0].text)
    assert Finding.ELSEWHERE is kit.verify_quote("text://two#lines=1", "must ... take it").finding


@pytest.fixture(scope="module")
def complex_page(tmp_path_factory: pytest.TempPathFactory) -> CiteKit:
    """A home in which page 2 of the PDF `complex` would take hours to be executed; pages 1 and 3 are plain."""
    folder = tmp_path_factory.mktemp("complex")
    with MUPDF.open() as document, MUPDF.open(stream=nested_forms(12, 12)) as endless:
        document.new_page().insert_text((72, 72), "The ferry leaves\nat the end of")
        document.insert_pdf(endless, to_page=0)
        document.new_page().insert_text((72, 72), "the summer.\nNobody returns.")
        document.save(folder / "complex.pdf")
    kit = CiteKit(folder)
    kit.ingest(folder / "complex.pdf", resource_id="complex")
    return kit


def test_words_that_may_be_on_a_page_that_was_not_read_are_not_called_absent(complex_page: CiteKit) -> None:
    verdict = complex_page.verify_quote("complex", "A quote of the second page.")

    assert (verdict.finding, verdict.holds, tuple(verdict.unread)) == (Finding.UNREAD, False, (2,))


def test_words_on_a_page_that_was_read_are_found_beside_one_that_was_not(complex_page: CiteKit) -> None:
    verdict = complex_page.verify_quote("complex", "Nobody returns.")

    assert (verdict.finding, tuple(verdict.unread)) == (Finding.EXACT, (2,))


def test_no_quote_runs_across_a_page_that_was_not_read(complex_page: CiteKit) -> None:
    assert complex_page.verify_quote("complex", "at the end of the summer").finding is Finding.UNREAD


def test_a_kept_text_remembers_which_pages_were_not_read() -> None:
    text = ExtractedText.joined(UnitKind.PAGE, ["one", "", "three"], "\n", unread=[2])

    kept = from_plain(json.loads(json.dumps(to_plain(Quotable.of(text))))).placed

    assert isinstance(kept, ExtractedText)
    assert kept.unread == (2,)


def test_a_file_of_which_no_page_is_read_says_so(kit: CiteKit, tmp_path: Path) -> None:
    with MUPDF.open(stream=nested_forms(12, 12)) as document:
        document.select([0])
        document.save(tmp_path / "all.pdf")
    kit.ingest(tmp_path / "all.pdf", resource_id="all")

    with pytest.raises(SourceUnsupported, match="too complex to read"):
        kit.verify_quote("all", "A word.")


@pytest.mark.parametrize("gutter", [15, 90])
def test_nothing_holds_that_is_read_across_columns(kit: CiteKit, tmp_path: Path, gutter: float) -> None:
    """A file may write two columns line by line: what follows in it does not follow on the page."""
    left = ("Our study shows that aspirin", "causes no harm to children when", "taken daily in small amounts.")
    right = ("does not work for grown people", "and should never be prescribed", "to anybody above sixty years.")
    with MUPDF.open() as document:
        page = document.new_page()
        width = max(MUPDF.get_text_length(line, fontsize=11) for line in left)
        for row, (one, other) in enumerate(zip(left, right, strict=True)):
            page.insert_text((72, 72 + 14 * row), one)
            page.insert_text((72 + width + gutter, 72 + 14 * row), other)
        document.save(tmp_path / "columns.pdf")
    kit.ingest(tmp_path / "columns.pdf", resource_id="columns")

    assert not kit.verify_quote("columns", "aspirin does not work for grown people").holds
    assert not kit.verify_quote("columns", "grown people causes no harm to children").holds
    assert all(kit.verify_quote("columns", line).holds for line in (*left, *right))
    assert Finding.ABSENT is kit.verify_quote("columns", f"{left[1]} and should never").finding


@pytest.mark.long
def test_a_quote_of_pieces_that_occur_everywhere_is_refused_in_one_sentence(kit: CiteKit, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("some words of an ordinary text about many things\n" * 18_000)
    kit.ingest(tmp_path / "notes.txt", resource_id="notes")

    with pytest.raises(RequestRefused, match=r"in too many places .*\. Quote more words in a row, or give the node"):
        kit.verify_quote("notes", " ... ".join("nrtdnrtdnrtdnrtd"))
    assert kit.verify_quote("notes", "words ... ordinary ... things").holds
