"""HTML and reStructuredText sections."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from citekit.adapters.formats.html.outliner import HtmlOutliner
from citekit.adapters.formats.html.sections import read_page
from citekit.adapters.formats.markup.rst import RstOutliner
from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner
from citekit.adapters.formats.shared.outline import Outline
from citekit.domain.locations import Lines
from citekit.domain.progress import silent
from tests.formats.texts import assert_sound, source, spans

pieces = st.sampled_from(
    [
        "<h1>A</h1>",
        "<h2 class='x'>B\nb</h2>",
        "<H3>C",
        "<p>text</p>",
        "\n",
        "<!-- <h1>no</h1> -->",
        "<script>'<h1>'</script>",
        "</div>",
        "<div>",
        "plain",
        "<h2></h2>",
        "<table><tr><td><h4>D</h4>",
        "<br/>",
        "<h1",
        "&amp;",
        "<section>",
        "</section>",
        "<aside aria-label='E'>",
        "<div role='navigation'>",
        "<summary>",
        "</summary>",
        "</aside>",
        "<figure><figcaption>F",
        "</figcaption></figure>",
        "<svg>",
    ]
)


def outline(path: Path, content: str | bytes | None = None) -> Outline:
    return HtmlOutliner(PlainTextOutliner()).outline(source(path, content), silent)


def test_headings_nest_and_begin_on_their_lines(tmp_path: Path) -> None:
    head = "<html><head><title>Page</title></head>\n<body>\n"
    page = head + "<h1>One</h1>\n<p>x</p>\n<div>\n<h2\nid=a>Two <b>b</b></h2>\n<h1>Three</h1>\n"

    found = outline(tmp_path / "a.html", page)

    assert "Page" == found.title
    assert [("One", 3, 7), ("Two b", 6, 7), ("Three", 8, 8)] == spans(found)


def test_headings_in_comments_and_scripts_are_none(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.html", "<h1>One</h1>\n<!--\n<h1>no</h1> -->\n<script>x = '<h1>no</h1>'</script>\n")

    assert [("One", 1, 4)] == spans(found)


def test_lines_beyond_65535_are_counted(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.html", "<h1>One</h1>\n" + "\n" * 70_000 + "<h1>Two</h1>\n")

    assert [("One", 1, 70_001), ("Two", 70_002, 70_002)] == spans(found)


def test_summaries_are_what_is_shown(tmp_path: Path) -> None:
    found = outline(
        tmp_path / "a.html", "<h1>One</h1><style>p{}</style><p>It is <i>a truth</i> universally known. Yes.</p>"
    )

    assert "It is a truth universally known." == found.items[0].summary


def test_a_page_without_headings_is_one_node(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.html", "<title>Page</title>\n<p>Some words that say something.</p>")

    assert [("Page", 1, 2)] == spans(found)
    assert "Some words that say something." == found.items[0].summary


def test_the_declared_encoding_counts_where_the_bytes_are_not_utf_8(tmp_path: Path) -> None:
    page = '<meta charset="windows-1251"><h1>Глава</h1>'.encode("windows-1251")

    assert [("Глава", 1, 1)] == spans(outline(tmp_path / "a.html", page))


def test_sectioning_elements_with_a_heading_or_a_label_are_nodes_from_tag_to_tag(tmp_path: Path) -> None:
    page = """<h1>Site</h1>
<nav aria-label="Ways">
<a href="/">home</a>
</nav>
<article>
<h2>Story</h2>
<section>
<h3>Inner</h3>
</section>
<p>end</p>
</article>
<div>after</div>
"""

    found = outline(tmp_path / "a.html", page)

    assert [("Site", 1, 12), ("Story", 5, 11), ("Inner", 7, 9)] == spans(found)
    assert ["article"] == [outline_item.type for outline_item in found.items[0].children]


def test_navigation_and_the_footer_of_a_page_are_no_parts(tmp_path: Path) -> None:
    page = """<a href="#main">Skip to the content</a>
<nav aria-label="breadcrumb"><h2>Where</h2><a href="/">Home</a></nav>
<aside><h2>Brand</h2>
<nav><a href="/">Home</a></nav>
</aside>
<main id="main">
<h1>Story</h1>
<nav aria-label="On this page"><a href="#end">End</a></nav>
<p>It begins here. It goes on.</p>
<h2 id="end">End</h2>
<footer><p>Notes of the story.</p></footer>
</main>
<footer>
<h3>Company</h3>
<nav aria-label="Footer"><a href="/jobs">Jobs</a></nav>
</footer>
<div role="contentinfo"><h3>Legal</h3></div>
"""

    found = outline(tmp_path / "a.html", page)

    assert [("Story", 6, 12), ("End", 10, 12)] == spans(found)
    assert "It begins here." == found.items[0].summary


def test_navigation_that_is_never_closed_hides_nothing(tmp_path: Path) -> None:
    page = "<div><nav><a href='/'>Home</a></div>\n<h1>One</h1>\n<p>x</p>\n<h1>Two</h1>\n"

    assert [("One", 2, 3), ("Two", 4, 4)] == [span for span in spans(outline(tmp_path / "a.html", page)) if span[1] > 1]


def test_text_between_sections_is_a_part_of_its_own(tmp_path: Path) -> None:
    page = """<style>p {}</style>

<p>Before everything. Really.</p>

<section><h2>A</h2>
</section>
<p style="display:none">not seen</p>
<p>between</p>

<section><h2>B</h2>
</section>
<p>after</p>
"""

    found = outline(tmp_path / "a.html", page)

    assert [
        ("Before everything. Really.", 3, 3),
        ("A", 5, 6),
        ("Lines 7-8", 7, 8),
        ("B", 10, 11),
        ("Line 12", 12, 12),
    ] == spans(found)
    assert ["preamble", "section", "lines", "section", "lines"] == [item.type for item in found.items]


def test_a_number_and_the_heading_after_it_are_one_title(tmp_path: Path) -> None:
    page = """<h2>CHAPTER I.</h2>
<h3>The Violin.</h3>
<p>x</p>
<h3>II</h3>
<h3>The Bow</h3>
<p>x</p>
<h2>CHAPTER II.</h2>
<p>x</p>
<h3>The Case</h3>
<h2>2024</h2>
<h3>May</h3>
<h3>June</h3>
"""

    titles = [title for title, _, _ in spans(outline(tmp_path / "a.html", page))]

    assert ["CHAPTER I.", "The Violin.", "II The Bow", "CHAPTER II.", "The Case", "2024", "May", "June"] == titles
    one = outline(tmp_path / "b.html", page.replace("<h3>II</h3>\n<h3>The Bow</h3>", "<h4>The Bow</h4>"))
    assert [("CHAPTER I. The Violin.", 1, 5), ("The Bow", 4, 5)] == spans(one)[:2]


@pytest.mark.parametrize(
    ("title", "heading", "shown"),
    [
        ("2 Old methods \u2013 The Whole Report", "2 Old methods", "2 Old methods"),
        ("Site | Our story", "Our story", "Our story"),
        ("Overview - The Library", "Overview", "Overview - The Library"),
        ("Report 2024 - Draft", "Introduction", "Report 2024 - Draft"),
        ("The Project Gutenberg eBook of Katrine, by Elinor Lane.", "KATRINE", "Katrine"),
        ("The Project Gutenberg eBook, The Log, by H. B", "THE LOG", "The Log"),
    ],
)
def test_the_title_leaves_out_the_name_of_the_site(tmp_path: Path, title: str, heading: str, shown: str) -> None:
    page = f"<title>{title}</title>\n<h1>{heading}</h1>\n<p>x</p>\n"

    assert shown == outline(tmp_path / "a.html", page).title


def test_a_heading_without_letters_and_digits_is_none(tmp_path: Path) -> None:
    assert [("One", 1, 3)] == spans(outline(tmp_path / "a.html", "<h1>One</h1>\n<h2>...</h2>\n<p>x</p>"))


def test_a_page_without_headings_shows_no_markup(tmp_path: Path) -> None:
    page = "<title>Page</title>\n" + "<style>p { color: red }\n\np { margin: 0 }\n\n</style>\n" * 100 + "<p>Words."

    titles = [title for title, _, _ in spans(outline(tmp_path / "a.html", page))]
    assert "Page" == titles[0]
    assert len(titles) > 1
    assert all(title == "Page" or title.startswith("Lines ") for title in titles)


def test_headings_of_navigation_and_bars_of_links_are_no_sections(tmp_path: Path) -> None:
    links = "".join(f"<a href='{letter}'>{letter}</a>" for letter in "ABCD")
    page = f"""<div role="navigation">
<h3>Ways</h3><div>x</div>
<h3>More</h3>
</div>
<h2>{links}</h2>
<h2><span>Ada</span> <span>Byron</span></h2>
<nav><p>no title</p></nav>
"""

    found = outline(tmp_path / "a.html", page)

    assert [("Ada Byron", 6, 7)] == spans(found)


def test_a_section_in_a_summary_ends_nothing(tmp_path: Path) -> None:
    page = "<details><summary>\n<section><h4>push</h4></section>\n</summary>\n<h5>Panics</h5>\n</details>\n"

    assert [("push", 2, 5), ("Panics", 4, 5)] == spans(outline(tmp_path / "a.html", page))


def test_an_element_without_a_title_ends_the_sections_inside_it(tmp_path: Path) -> None:
    page = "<main>\n<h2>A</h2>\n<h2>B</h2>\n</main>\n<footer>x</footer>\n"

    assert [("A", 2, 2), ("B", 3, 4)] == spans(outline(tmp_path / "a.html", page))


def test_figures_and_tables_with_a_caption_are_nodes(tmp_path: Path) -> None:
    page = """<h1>One</h1>
<figure>
<img src=x>
<figcaption>A cat</figcaption>
</figure>
<table><tr><td>no caption</table>
<table>
<caption>Prices</caption>
<tr><td>1</table>
"""

    found = outline(tmp_path / "a.html", page)

    assert [("One", 1, 9), ("A cat", 2, 5), ("Prices", 7, 9)] == spans(found)
    assert ["figure", "table"] == [outline_item.type for outline_item in found.items[0].children]


def test_templates_and_drawings_hold_no_headings_and_permalinks_no_title(tmp_path: Path) -> None:
    page = "<template><h1>no</h1></template>\n<svg><title>no</title></svg>\n<h1>Yes<a href='#y'>¶</a></h1>\n"

    found = outline(tmp_path / "a.html", page)

    assert ("Yes", [("Yes", 3, 3)]) == (found.title, spans(found))


@pytest.mark.parametrize("piece", ["<section>", "<svg>", "<h1>a\n", '<a b="x>', "<figure><figcaption>", "<!--", "&lt;"])
def test_a_page_that_closes_nothing_is_read_once(tmp_path: Path, piece: str) -> None:
    assert_sound(outline(tmp_path / "a.html", "<title>T</title><h2>x</h2>\n" + piece * 3000))


@given(st.lists(pieces, min_size=1, max_size=20).map("\n".join))
@example("<figure><figcaption>F\n<aside aria-label='E'>\n</figcaption></figure>")
@example("<aside aria-label='E'>\n<figure><figcaption>F\n</aside>\n</figcaption></figure>")
@example("<figure><figcaption>F\n<h1>A</h1>\n</figcaption></figure>")
@example("<figure><figcaption>F\n<H3>C\n</figcaption></figure>")
@example("<figure><figcaption>F</figcaption>\n<section aria-label='E'>\n</section>\n</figure>")
def test_every_outline_is_sound(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    assert_sound(outline(tmp_path_factory.getbasetemp() / "law.html", content))


@given(st.lists(pieces, min_size=1, max_size=20).map("\n".join))
def test_text_outside_navigation_is_in_a_part(tmp_path_factory: pytest.TempPathFactory, content: str) -> None:
    path = tmp_path_factory.getbasetemp() / "covered.html"
    path.write_text(content)
    assert not uncovered(path, outline(path))


def uncovered(path: Path, found: Outline) -> list[int]:
    """Return the lines with text outside navigation and page footers that are in no part of a page with headings."""
    page = read_page(path.read_text("utf-8", "replace"), found.extent.lines or 1)
    lines = [item.location for item in found.items if isinstance(item.location, Lines)]
    said = [number for number, byte in enumerate(page.said) if byte]
    return [number for number in said if found.items and not any(one.first <= number <= one.last for one in lines)]


def test_titles_of_restructuredtext_nest_by_the_order_of_their_styles(tmp_path: Path) -> None:
    text = "=====\nTitle\n=====\n\nIntro is here.\n\nPart\n====\n\nSub\n---\n\nNext\n====\n\n    Quote\n    -----\n"

    found = RstOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.rst", text), silent)

    assert "Title" == found.title
    assert [("Title", 1, 17), ("Part", 7, 12), ("Sub", 10, 12), ("Next", 13, 17)] == spans(found)


def test_a_line_shorter_than_its_title_is_no_underline(tmp_path: Path) -> None:
    text = "Title\n===\n\nTitle\n=====\n"

    found = RstOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.rst", text), silent)

    assert ("Title", 4, 5) == spans(found)[-1]


@pytest.mark.corpus
def test_real_pages(corpus: Path) -> None:
    for path in sorted((corpus / "text").glob("*.html")):
        found = outline(path)

        assert_sound(found)
        assert found.items
        assert not uncovered(path, found)


@pytest.mark.long
def test_a_heading_that_only_blank_blocks_follow_ends_where_its_first_words_do(tmp_path: Path) -> None:
    given = source(tmp_path / "blank.html", "<h1>" + "<p> \n" * 100_000 + "<p>Words\n<p>More\n")

    outline = HtmlOutliner(PlainTextOutliner()).outline(given, silent)

    assert ["Words"] == [outline_item.title for outline_item in outline.items]
