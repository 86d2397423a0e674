"""AsciiDoc, Org, LaTeX, captions of reStructuredText, long Markdown and printed contents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citekit.adapters.formats.markdown import outliner
from citekit.adapters.formats.markdown.outliner import MarkdownOutliner
from citekit.adapters.formats.markup.latex_words import plain
from citekit.adapters.formats.markup.rst import RstOutliner
from citekit.adapters.formats.plain_text.outliner import PlainTextOutliner
from citekit.adapters.formats.registry import handler_of
from citekit.adapters.formats.shared.outline import Outline
from citekit.container.parsers import Parsers
from citekit.domain.progress import silent
from tests.formats.texts import assert_sound, source, spans


def outline(path: Path, content: str) -> Outline:
    given = source(path, content)
    return handler_of(given.format).outliner(given.format, Parsers()).outline(given, silent)


ASCIIDOC = """= The *Guide*
:version: 2

Hello.

== First {version}

----
== no title
----

.Plan of it
image::plan.png[]

[discrete]
== Discrete

////
== hidden
////

=== Deep

.Costs
|===
|a |b
|===

Second
------

Text.
"""


def test_asciidoc(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.adoc", ASCIIDOC)

    assert [
        ("The Guide", 1, 32),
        ("First 2", 6, 28),
        ("Plan of it", 12, 13),
        ("Deep", 22, 28),
        ("Costs", 24, 27),
        ("Second", 29, 32),
    ] == spans(found)
    assert "The Guide" == found.title


def test_org(tmp_path: Path) -> None:
    text = "#+TITLE: My Notes\n#+TODO: WAIT | DONE\n* TODO [#A] First [1/2] :tag:\n:PROPERTIES:\n:ID: x\n:END:\n#+begin_src org\n* no\n#+end_src\n** WAIT [[http://x][A link]] here\n* Last\n"

    found = outline(tmp_path / "a.org", text)

    assert [("First", 3, 10), ("A link here", 10, 10), ("Last", 11, 11)] == spans(found)[-3:]
    assert "My Notes" == found.title


LATEX = r"""\documentclass{article}
\newcommand{\mysection}[1]{\section{#1}}
\title{On {\em Things} \& More\thanks{x}}
\begin{document}
\begin{abstract}
Short.
\end{abstract}
\section[short]{A \textbf{bold} title with $x^2$\label{sec:a}}
% \section{no}
\begin{verbatim}
\section{no}
\end{verbatim}
\subsection*{Split
over {two} lines}
\begin{figure}
\caption[s]{A figure\footnote{y}}
\end{figure}
\appendix
\section{Extra}
\end{document}
"""


def test_latex(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.tex", LATEX)

    assert [
        ("Abstract", 5, 7),
        ("A bold title with x^2", 8, 18),
        ("Split over two lines", 13, 18),
        ("A figure", 15, 17),
        ("Extra", 19, 20),
    ] == spans(found)[-5:]
    assert ("On Things & More", "appendix") == (found.title, found.items[-1].type)


RST = """Title
=====

.. figure:: a.png
   :alt: x

   A *caption* of
   two lines.

   Legend.

The title says what this is, which no figure does. Literally::

   .. figure:: no.png

      None.

Sub
---

.. note::

   .. list-table:: The :ref:`big <x>` table
      :header-rows: 1

      * - a

.. code-block:: python
   :caption: some.py

   .. figure:: no.png

      None.

.. figure:: plain.png

.. comment
   .. table:: None

.. table:: A title
   goes on

   == ==
   a  b
   == ==
"""


def test_captions_of_restructured_text_are_nodes_of_their_sections(tmp_path: Path) -> None:
    found = RstOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.rst", RST), silent)

    assert [
        ("Title", 1, 45),
        ("A caption of two lines.", 4, 10),
        ("Sub", 18, 45),
        ("The big table", 23, 26),
        ("some.py", 28, 33),
        ("A title goes on", 40, 45),
    ] == spans(found)
    assert "The title says what this is, which no figure does." == found.items[0].summary
    assert ["table", "listing", "table"] == [outline_item.type for outline_item in found.items[0].children[1].children]


ORG = """* Results
#+NAME: fig
#+CAPTION: The *first*
#+CAPTION[short]: figure
[[file:a.png]]
Text.
#+CAPTION: Costs
| a | b |
|---+---|
| 1 | 2 |
#+TBLFM: $2=1
#+CAPTION: Code of it
#+BEGIN_SRC python
* no
#+END_SRC
#+CAPTION: of nothing

[[file:b.png]]
"""


def test_captions_of_org_are_nodes_of_their_sections(tmp_path: Path) -> None:
    found = outline(tmp_path / "a.org", ORG)

    assert [("Results", 1, 18), ("The first figure", 2, 5), ("Costs", 7, 11), ("Code of it", 12, 15)] == spans(found)
    assert ["figure", "table", "listing"] == [outline_item.type for outline_item in found.items[0].children]


def test_captions_of_listings_are_nodes_too(tmp_path: Path) -> None:
    tex = "\\section{S}\n\\begin{lstlisting}[language=C, caption={Some \\C code}, label=x]\n\\section{no}\n\\end{lstlisting}\n"
    tex += "\\begin{figure}\n\\captionsetup{font=small}\n\\caption[short]{A\nfigure}\\end{figure}\nText.\n"

    in_latex, in_asciidoc = (
        outline(tmp_path / "a.tex", tex),
        outline(tmp_path / "a.adoc", "== S\n\n.Code\n----\nx\n----\n"),
    )

    assert [("S", 1, 9), ("Some code", 2, 4), ("A figure", 5, 8)] == spans(in_latex)
    assert [("S", 1, 6), ("Code", 3, 6)] == spans(in_asciidoc)


def test_commands_in_titles_leave_what_they_say() -> None:
    assert "Über die Größe – 100 % of {all}" == plain(r"\"Uber die Gr\"o\ss e -- 100 \% of \{all\}\cite{a}")


@pytest.mark.parametrize("text", ["\\section{" * 2000, "\\begin{figure}\\caption{\n" * 2000, "\\" * 5000])
def test_hostile_latex_ends_in_a_map(tmp_path: Path, text: str) -> None:
    assert spans(outline(tmp_path / "a.tex", text))


pieces = st.sampled_from(
    ["= A", "== B", "----", "====", "* H", "** I", "#+begin_src", "#+end_src", "\\section{S}", "\\begin{figure}", "\\caption{C}",
     "\\end{figure}", ".T", "|===", ".. figure:: x", "   C", "=====", "#+CAPTION: C", "| a |", "[[x]]", "::", "---",
     "\\begin{lstlisting}[caption=L]", "\\end{lstlisting}", "image::x[]", "", "text", "[discrete]"]
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(pieces, min_size=1, max_size=25).map("\n".join), st.sampled_from(["adoc", "org", "tex", "rst"]))
def test_every_outline_is_sound(tmp_path_factory: pytest.TempPathFactory, text: str, suffix: str) -> None:
    path = tmp_path_factory.getbasetemp() / f"law.{suffix}"
    found = RstOutliner(PlainTextOutliner()).outline(source(path, f"{text}\nx"), silent) if suffix == "rst" else None

    assert_sound(found or outline(path, f"{text}\nx"))


MARKDOWN = "---\ntitle: T\n---\n# One\n\n- item\n  ```\n  # no\n  ```\n\nTwo\n---\n\n<!--\n# no\n-->\n\n## Three ##\n\n    # code\n"


def test_long_markdown_is_read_as_a_parser_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = MarkdownOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.md", MARKDOWN), silent)
    monkeypatch.setattr(outliner, "LINES_LIMIT", 1)

    scanned = MarkdownOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.md"), silent)

    assert parsed == scanned


def test_printed_contents_are_not_the_sections(tmp_path: Path) -> None:
    body = "Words are here. Many of them are here.\n\n"
    text = f"CONTENTS\n\nChapter 1. Dawn ...... 3\n\nChapter 2. Dusk ...... 9\n\nChapter 1. Dawn\n\n{body}Chapter 2. Dusk\n\n{body}"

    found = PlainTextOutliner().outline(source(tmp_path / "a.txt", text), silent)

    assert [("Chapter 1. Dawn", 7, 10), ("Chapter 2. Dusk", 11, 14)] == spans(found)[-2:]
    assert 1 == sum(title.startswith("Chapter 1") for title, _, _ in spans(found))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (r"How \ltx\ sets \url{a.b} and \cs{frac}", "How ltx sets a.b and frac"),
        (r"Fran\c{c}ois \v{S}koda \'\i n", "François Škoda ín"),
        (r"\LaTeXe{} for \XeTeX\ users, 50\,\%", "LaTeX2e for XeTeX users, 50 %"),
        (r"\cmd{\def} and \verb|\x{y}|", "\\def and \\x{y}"),
        (r"\textcolor{red}{Red} \href{http://x}{link}\\[2pt] below", "Red link below"),
    ],
)
def test_latex_says_words_not_commands(written: str, said: str) -> None:
    assert said == plain(written)


def test_slides_begin_where_their_frame_does_and_setup_is_no_text(tmp_path: Path) -> None:
    tex = (
        "\\title{Talk}\n\\AtBeginSection{\\begin{frame}{Outline}\\end{frame}}\n\\begin{document}\nHello.\n"
        "\\section<presentation>*{One}\n\\begin{frame}[t]\n\\frametitle{First}\n\\end{frame}\n"
        "\\begin{frame}<1>{Second,\nlonger}\n\\end{frame}\n"
    )

    found = outline(tmp_path / "a.tex", tex)

    assert [("Hello.", 1, 4), ("One", 5, 11), ("First", 6, 8), ("Second, longer", 9, 11)] == spans(found)


def test_verbatim_latex_that_never_ends_is_read_all_the_same(tmp_path: Path) -> None:
    tex = "\\section{A}\n\\begin{myverbatim}\n\\section{B}\n\\begin{verbatim}\n\\section{no}\n\\end{verbatim}\n"

    assert [("A", 1, 2), ("B", 3, 6)] == spans(outline(tmp_path / "a.tex", tex))


def test_titles_of_two_lines_may_follow_one_another_in_asciidoc(tmp_path: Path) -> None:
    text = "= {name} Manual\n:name: My\n\nDesign\n------\nFormat\n~~~~~~\nText.\n"

    assert [("My Manual", 1, 8), ("Design", 4, 8), ("Format", 6, 8)] == spans(outline(tmp_path / "a.adoc", text))


def test_code_in_a_markdown_heading_is_kept_as_it_is(tmp_path: Path) -> None:
    text = "# `get(x) -> Map<A>` &amp; `__init__`\n\nText.\n"

    found = MarkdownOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.md", text), silent)

    assert [("get(x) -> Map<A> & __init__", 1, 3)] == spans(found)


def test_code_below_a_plot_is_no_caption(tmp_path: Path) -> None:
    text = "Sec\n===\n\n.. plot::\n\n   draw()\n\n.. plot::\n   :caption: Seen.\n\n   draw()\n"

    found = RstOutliner(PlainTextOutliner()).outline(source(tmp_path / "a.rst", text), silent)

    assert [("Sec", 1, 11), ("Seen.", 8, 11)] == spans(found)
