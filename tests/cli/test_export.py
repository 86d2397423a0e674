"""`citekit export` from a shell, on a real PDF and a text with markup in it."""

from __future__ import annotations

import json
import shlex
import stat
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path

import pytest

from citekit.domain.errors import RequestRefused
from citekit.entrypoints.sdk import CiteKit
from citekit.wire import maps
from tests.cli.program import Cli

PDF = Path(str(files("citekit") / "samples" / "r-intro.pdf"))


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    made = Cli(tmp_path_factory.mktemp("export"))
    made.write(
        "evil.txt", 'CHAPTER 1\n\n<script>x</script><img src=x onerror=alert(1)> & "words"\n\nCHAPTER 2\n\n[page 7]\n'
    )
    assert 0 == made("ingest", str(PDF), "evil.txt").code
    return made


def test_markdown_is_the_whole_text_with_headings_and_pages(cli: Cli) -> None:
    text = cli("export", "r-intro", "-o", "-").out
    lines = text.splitlines()
    assert "# An Introduction to R" == lines[0]
    assert [f"[page {number}]" for number in range(1, 114)] == [line for line in lines if line.startswith("[page ")]
    assert "## 2.4 Logical vectors" in lines
    assert lines.index("## 2.4 Logical vectors") > lines.index("[page 16]")
    kit = CiteKit(cli.here)
    assert text.strip() == kit.export("r-intro").strip()
    with pytest.raises(RequestRefused, match="not an export format"):
        kit.export("r-intro", "docx")


def test_html_shows_the_words_and_runs_nothing(cli: Cli) -> None:
    class Tags(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.seen: set[str] = set()
            self.words = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.seen.add(tag)
            assert not any(name.startswith("on") for name, _ in attrs)

        def handle_data(self, data: str) -> None:
            self.words += data

    tags = Tags()
    tags.feed(cli("export", "evil_txt", "--as", "html", "-o", "-").out)
    assert {"script", "img"}.isdisjoint(tags.seen)
    assert '<script>x</script><img src=x onerror=alert(1)> & "words"' in tags.words
    assert {"h1", "h2", "p"} <= tags.seen


def test_the_map_and_its_annotations_can_be_read_again(cli: Cli) -> None:
    kit = CiteKit(cli.here)
    stored = kit.map("r-intro")
    plain = json.loads(cli("export", "r-intro", "--as", "json", "-o", "-").out)
    assert stored == maps.from_plain_map(plain, "the export")
    page = json.loads(cli("export", "r-intro", "--as", "w3c-annotations", "-o", "-").out)
    assert stored.node_count == len(page["items"])
    for item in page["items"][:20]:
        first = str(kit.from_web_annotation("r-intro", item["target"]))  # a PDF fragment names one page
        assert item["id"].startswith(first)


def test_citations_name_the_file(cli: Cli) -> None:
    assert r"howpublished = {\url{doc://r-intro}}" in cli("export", "r-intro", "--as", "bibtex", "-o", "-").out
    (item,) = json.loads(cli("export", "r-intro", "--as", "csl", "-o", "-").out)
    assert {"id": "r-intro", "title": "An Introduction to R", "URL": "doc://r-intro"}.items() <= item.items()


def test_a_file_is_replaced_only_if_asked(cli: Cli) -> None:
    assert 0 == cli("export", "evil_txt", "-o", "out.md").code
    refused = cli("export", "evil_txt", "-o", "out.md")
    assert (2, True) == (refused.code, "--force" in refused.err)
    assert 0 == cli("export", "evil_txt", "-o", "out.md", "--force", "--as", "json").code
    assert json.loads((cli.here / "out.md").read_text())["resource_id"] == "evil_txt"
    assert 1 == cli("export", "nothing").code
    assert "evil_txt.annotations.json\n" == cli("export", "evil_txt", "--as", "w3c-annotations").out


@pytest.mark.skipif("not hasattr(__import__('os'), 'fork')", reason="needs POSIX")
def test_what_is_exported_of_a_private_file_is_private(tmp_path: Path) -> None:
    own = Cli(tmp_path)
    for name, mode in (("private.txt", 0o600), ("public.txt", 0o644)):
        own.write(name, "Words of the file.\n")
        (tmp_path / name).chmod(mode)
    assert 0 == own("ingest", "private.txt", "public.txt").code

    modes = []
    for name in ("private_txt", "public_txt"):
        assert 0 == own("export", name, "-o", f"{name}.md").code
        modes.append(stat.S_IMODE((tmp_path / f"{name}.md").stat().st_mode))

    assert [0o600, 0o644] == modes


def test_a_folder_is_not_replaced_and_not_created(cli: Cli) -> None:
    (cli.here / "folder").mkdir()
    there = cli("export", "evil_txt", "-o", "folder", "--force")
    nowhere = cli("export", "evil_txt", "-o", "nowhere/evil.md")

    assert (2, True) == (there.code, "folder is a folder. Give the path of a file." in there.err)
    assert (2, True) == (nowhere.code, "There is no folder nowhere. Create it first." in nowhere.err)


def test_a_changed_source_is_reported_with_a_command_for_the_same_home(cli: Cli) -> None:
    source = cli.write("it's.txt", "Some words.\n")
    assert 0 == cli("ingest", "it's.txt", "--home", "other").code
    cli.write("it's.txt", "Other words.\n")
    error = cli("resolve", "text://it_s_txt#lines=1", "--home", "other").err

    assert f"(citekit ingest --force --id it_s_txt {shlex.quote(str(source))} --home {cli.here / 'other'})" in error
