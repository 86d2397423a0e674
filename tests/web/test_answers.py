"""What the page asks, answered for real files over HTTP."""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from base64 import b64encode
from http.client import HTTPResponse
from importlib.resources import files
from pathlib import Path
from threading import Thread
from urllib.parse import quote, urlencode

import pytest
from openpyxl import Workbook
from PIL import Image

from citekit.container import bootstrap
from citekit.domain.library.ledger import Deed
from tests.contracts.test_ledger import entry
from tests.formats.pdf.test_scans import scan
from tests.made_files import NAMES
from tests.web.browser import until
from tests.web.conftest import Server, free_port, started, stop

LAYOUTS = {
    "r-intro": "pages",
    "imagetextn": "pages",
    "book": "chapters",
    "notes_md": "lines",
    "pddocument_java": "lines",
    "run": "recording",
    "lena": "recording",
}


def test_everything_mapped_is_listed_and_filtered(page: Server) -> None:
    found = page.get("resources")
    assert len(NAMES) == found["total"] == len(found["resources"])
    assert ["r-intro"] == [each["id"] for each in page.get("resources", query="introduction to r")["resources"]]
    assert str(page.home) == page.get("home")["home"]
    assert {"state": "unchanged"} == page.get("state", id="r-intro")


@pytest.mark.long
@pytest.mark.parametrize(("name", "layout"), LAYOUTS.items())
def test_a_map_has_its_layout_and_nodes(page: Server, name: str, layout: str) -> None:
    found = page.get("map", id=name)
    assert layout == found["layout"]
    stored = bootstrap(home=page.home).maps.get(name)
    assert [node.id for node in stored.walk()] == [row[0] for row in found["nodes"]]
    assert all(row[1] == 0 or found["nodes"][place - 1][1] >= row[1] - 1 for place, row in enumerate(found["nodes"]))


def test_pictures_of_pages_have_the_size_of_the_page(page: Server) -> None:
    sizes = page.get("map", id="r-intro")["sizes"]
    assert 113 == sum(count for *_, count in sizes)
    response, body = page.ask("GET", "/api/picture?id=r-intro&page=17&width=600")
    assert "immutable" in (response.getheader("cache-control") or "")
    with Image.open(io.BytesIO(body)) as picture:
        assert 640 == picture.width  # rounded up to one of the widths
        assert picture.height == pytest.approx(640 * sizes[0][1] / sizes[0][0], abs=2)
    missing, _ = page.ask("GET", "/api/picture?id=r-intro&page=114&width=600")
    assert 404 == missing.status


def test_words_lie_on_their_ink(page: Server) -> None:
    _, body = page.ask("GET", "/api/picture?id=r-intro&page=17&width=1600")
    with Image.open(io.BytesIO(body)) as opened:
        picture = opened.convert("L")
    words = page.get("words", id="r-intro", page=17)
    assert ["Chapter", "2:", "Simple"] == [word[0] for word in words[:3]]
    for text, left, top, width, height, _ in words:
        box = (
            left * picture.width,
            top * picture.height,
            (left + width) * picture.width,
            (top + height) * picture.height,
        )
        shades = picture.crop((round(box[0]), round(box[1]), round(box[2]), round(box[3]))).tobytes()
        assert min(shades) < 128, text


def test_a_quote_is_marked_where_its_words_are_and_nothing_else_is(page: Server) -> None:
    words = page.get("words", id="r-intro", page=17)
    wanted = [word for word in words if word[0] in ("coerced", "numeric")][:2]
    found = page.post("marks", id="r-intro", pages=[17], quote="coerced numeric")["17"]["boxes"]
    assert 1 == len(found)
    left, _, width, _ = found[0]
    assert wanted[0][1] == pytest.approx(left, abs=1e-4)
    assert wanted[1][1] + wanted[1][3] == pytest.approx(left + width, abs=1e-4)
    assert {} == page.post("marks", id="r-intro", pages=[17], quote="numeric coerced")
    over = page.post(
        "marks",
        id="r-intro",
        pages=[16, 17],
        quote="However there are situations where logical vectors and their coerced numeric counterparts are not equivalent",
    )
    assert ["16", "17"] == sorted(over)
    assert 400 == page.refused("marks", id="r-intro", pages=list(range(1, 40)), quote="words")[0]
    said = page.post("marks", id="r-intro", pages=[17], quote="coerced numeric", said="coerced logical")["17"]
    (box,) = said["differing"]
    assert wanted[1][1:5] == pytest.approx(box, abs=1e-4)


def test_lines_keep_their_markup_and_indentation(page: Server) -> None:
    found = page.get("text", id="module_py")
    assert found["units"][3] == [4, "    def add(self, book):"]
    assert "# First" in [text for _, text in page.get("text", id="notes_md")["units"]]
    assert "<h1>One</h1>" in [text for _, text in page.get("text", id="page_html")["units"]]
    part = page.get("text", id="pddocument_java", first=100, last=102)
    assert [100, 101, 102] == [number for number, _ in part["units"]]
    assert 103 == part["next"]
    response, body = page.ask("GET", "/api/text?id=module_py&first=5000")
    assert 404 == response.status, body


@pytest.mark.long
def test_a_chapter_is_clean_html(page: Server, tmp_path: Path) -> None:
    path = tmp_path / "hostile.epub"
    with zipfile.ZipFile(page.home / "book.epub") as book, zipfile.ZipFile(path, "w") as made:
        for name in book.namelist():
            data = book.read(name)
            if name == "a.xhtml":
                data = data.replace(
                    b"<h1>",
                    b'<script>parent.document.title="stolen"</script><img src="http://evil.example/x.png" onerror="alert(1)"/>'
                    b'<a href="javascript:alert(2)">x</a><iframe src="http://evil.example"></iframe><h1>',
                )
            made.writestr(name, data)
    bootstrap(home=tmp_path).ingest(path)
    process, server = started(tmp_path, "--port", str(free_port()))
    try:
        response, body = server.ask("GET", "/api/chapter?id=hostile&number=1")
    finally:
        stop(process)
    assert 200 == response.status
    assert b"It begins with" in body
    for bad in (b"<script", b"evil.example", b"javascript:", b"onerror", b"<iframe"):
        assert bad not in body.lower()


def test_a_recording_is_served_in_pieces(page: Server) -> None:
    data = Path(bootstrap(home=page.home).maps.get("run").source_path).read_bytes()
    response, body = page.ask("GET", "/api/media?id=run", headers={"Range": "bytes=100-299"})
    assert (206, data[100:300]) == (response.status, body)
    assert f"bytes 100-299/{len(data)}" == response.getheader("content-range")
    assert "default-src 'none'" in (response.getheader("content-security-policy") or "")


@pytest.mark.long
def test_a_search_leads_to_the_file_and_the_page(page: Server) -> None:
    everywhere = page.post("find", query="logical vectors")
    assert {"id": "r-intro", "title": "An Introduction to R"}.items() <= everywhere["hits"][0].items()
    here = page.post("find", query="logical vectors", id="notes_md")
    assert not here["hits"] or here["partial"]
    assert 400 == page.refused("find", query="")[0]


@pytest.mark.long
def test_the_quotes_of_an_answer_are_checked_one_by_one(page: Server) -> None:
    text = (
        'R is "an integrated suite of software facilities for data manipulation" (doc://r-intro#pages=8), '
        'it is "a slow suite of software for cooking dinner" (doc://r-intro#pages=8), and "It begins with words". '
        'Also "one two three" in doc://nothing#pages=1, and see text://notes_md#lines=7-9.'
    )
    results = page.post("check", text=text)["results"]
    assert ["exact", "absent", "exact"] == [each["verdict"]["finding"] for each in results[:3]]
    assert "book" == results[2]["verdict"]["resource_id"]
    assert "nothing" in results[3]["problem"]
    assert ["First"] == results[4]["titles"]
    for each in results:
        assert text[each["start"] : each["end"]].strip('"').startswith(each["quote"] or each["address"])
    assert [] == page.post("check", text="no quotes here")["results"]
    (outside,) = page.post("check", text="See doc://r-intro#pages=500.")["results"]
    assert "500" in outside["problem"]
    assert 400 == page.refused("check", text="x" * 200_001)[0]


def test_evidence_is_downloaded_with_its_receipt_and_verified(page: Server, tmp_path: Path) -> None:
    made = page.post("resolve", address="doc://r-intro#pages=17", form="native")
    response, body = page.ask("GET", f"/api/evidence?{urlencode({'digest': made['digest'], 'name': made['name']})}")
    assert made["digest"] == hashlib.sha256(body).hexdigest()
    assert "attachment" in (response.getheader("content-disposition") or "")
    assert "application/octet-stream" == response.getheader("content-type")
    named = {"x-name": quote(made["name"])}
    assert "genuine" == json.loads(page.ask("POST", "/api/verify", body, named)[1])["ruling"]
    forged = json.loads(page.ask("POST", "/api/verify", body + b" ", named)[1])
    assert forged.get("genuine") is not True
    receipt = page.ask("GET", f"/api/receipt?digest={made['digest']}")[1]
    only = json.loads(page.ask("POST", "/api/verify", receipt, {"x-name": "receipt.json"})[1])
    assert ("receipt-only", "doc://r-intro#pages=17") == (only["ruling"], only["address"])
    both = {"x-name": "from elsewhere.pdf", "x-receipt": b64encode(receipt).decode()}
    assert "genuine" == json.loads(page.ask("POST", "/api/verify", body, both)[1])["ruling"]
    assert json.loads(page.ask("POST", "/api/verify", body + b" ", both)[1])["refuted"]
    refused = page.ask("POST", "/api/verify", b"other", {"x-name": "from elsewhere.pdf"})[1]
    assert (
        "This home has no receipt for from elsewhere.pdf. Drop the file and its receipt together."
        == json.loads(refused)["message"]
    )
    for wrong in ("no Base64", b64encode(b"{}").decode()):
        assert 400 == page.ask("POST", "/api/verify", body, {**both, "x-receipt": wrong})[0].status


def test_a_place_is_cited_in_the_forms_that_people_use(page: Server) -> None:
    made = page.post("cite", address="doc://r-intro#pages=17", quote="coerced numeric")
    assert "/r/r-intro#pages=17&quote=coerced%20numeric" == made["link"]
    assert made["markdown"].startswith("> coerced numeric\n")
    assert "doc://r-intro" == made["annotation"]["target"]["source"]
    fragment, words = made["annotation"]["target"]["selector"]
    assert ("page=17", "coerced numeric") == (fragment["value"], words["exact"])
    assert "[^1]: “coerced numeric” An Introduction to R > " in made["footnote"]
    assert made["html"].startswith('<a href="/r/r-intro#pages=17&amp;quote=')
    assert ("17", "page") == (made["csl"]["locator"], made["csl"]["label"])
    assert made["bibtex"].startswith("@misc{r-intro,\n  title = {{An Introduction to R}},\n")


@pytest.mark.long
def test_a_dropped_file_is_kept_in_the_home_and_mapped(own_page: Server) -> None:
    data = b"# Wasps\n\nThey do not make honey.\n"
    response, body = own_page.ask("POST", "/api/add", data, {"x-name": quote("Wasps & co.md")})
    assert 200 == response.status, body
    added = json.loads(body)
    assert "Wasps" == added["title"]
    path = own_page.home / ".citekit_uploads" / "Wasps & co.md"
    assert data == path.read_bytes()
    assert added == json.loads(own_page.ask("POST", "/api/add", data, {"x-name": quote("Wasps & co.md")})[1])
    other = json.loads(own_page.ask("POST", "/api/add", data + b"More.\n", {"x-name": quote("Wasps & co.md")})[1])
    assert added["id"] != other["id"]
    assert data == path.read_bytes()
    assert ["Wasps & co 2.md", "Wasps & co.md"] == sorted(each.name for each in path.parent.iterdir())


@pytest.mark.long
@pytest.mark.parametrize("name", ["", "..", ".hidden.md", "no-kind.xyz1", "a\nb.md", "broken.pdf"])
def test_a_file_that_cannot_be_mapped_leaves_nothing(own_page: Server, name: str) -> None:
    response, body = own_page.ask("POST", "/api/add", b"nothing", {"x-name": quote(name)})
    assert response.status in (400, 422), body
    assert json.loads(body)["message"].endswith((".", ")"))
    folder = own_page.home / ".citekit_uploads"
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.long
def test_names_do_not_lead_out_of_the_folder(own_page: Server) -> None:
    response, body = own_page.ask("POST", "/api/add", b"# Out\n", {"x-name": quote("../../out.md")})
    assert 200 == response.status, body
    assert (own_page.home / ".citekit_uploads" / "out.md").is_file()
    assert not (own_page.home.parent / "out.md").exists()


@pytest.mark.long
def test_a_folder_of_uploads_that_leads_elsewhere_is_refused(
    own_page: Server, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    os.symlink(elsewhere, own_page.home / ".citekit_uploads")
    response, _ = own_page.ask("POST", "/api/add", b"# Out\n", {"x-name": "out.md"})
    assert 422 == response.status
    assert [] == list(elsewhere.iterdir())


@pytest.mark.long
def test_a_changed_and_a_missing_file_are_told(own_page: Server) -> None:
    source = own_page.home / "notes.md"
    source.write_text("# Changed\n")
    assert "changed" == own_page.get("state", id="notes_md")["state"]
    found = own_page.get("map", id="notes_md")
    assert "nothing" == found["layout"]
    assert "changed" in found["problem"]
    assert found["nodes"]
    source.unlink()
    assert "missing" == own_page.get("state", id="notes_md")["state"]


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("find", b""),
        ("find", b"[]"),
        ("find", b'{"query": 3}'),
        ("quote", b"{"),
        ("marks", b'{"id": "r-intro", "pages": "1"}'),
        ("cite", b'{"address": "doc://r-intro#pages=1", "quote": "\\ud800"}'),
    ],
)
def test_malformed_requests_get_one_sentence(page: Server, name: str, body: bytes) -> None:
    response, answer = page.ask("POST", f"/api/{name}", body)
    assert 400 == response.status
    assert json.loads(answer)["message"].endswith(".")


def test_a_huge_request_is_refused(page: Server) -> None:
    response, answer = page.ask("POST", "/api/check", b'{"text": "' + b"x" * 3_000_000 + b'"}')
    assert 400 == response.status
    assert b"larger than 2 MB" in answer


@pytest.mark.long
def test_a_map_is_corrected_undone_and_exported(own_page: Server) -> None:
    rows = own_page.get("map", id="notes_md")["nodes"]
    node = rows[1]
    changed = own_page.post("edit", id="notes_md", edit="rename", node=node[0], title="Better")
    assert (True, "Better") == (changed["edited"], changed["nodes"][1][2])
    assert rows == own_page.post("edit", id="notes_md", edit="undo")["nodes"]
    added = own_page.post("edit", id="notes_md", edit="add", node=node[0], title="New", place="lines=3-4")
    assert "New" in [row[2] for row in added["nodes"]]
    response, body = own_page.ask("GET", "/api/export?id=notes_md")
    assert "attachment" in (response.getheader("content-disposition") or "")
    assert "edited" == json.loads(body)["metadata"]["mapper"]["name"]
    assert rows == own_page.post("edit", id="notes_md", edit="original")["nodes"]
    for edit in ("nonsense", "undo", "original"):
        assert 400 == own_page.refused("edit", id="notes_md", edit=edit, node=node[0])[0]
    assert 400 == own_page.refused("edit", id="notes_md", edit="move", node=node[0], place="lines=9-1")[0]


@pytest.mark.long
def test_a_sheet_is_a_grid_with_its_empty_cells(own_page: Server) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Q1"
    for row in range(1, 2_500):
        sheet.cell(row=row, column=3, value=f"value {row}")
    book.save(own_page.home / "budget.xlsx")
    bootstrap(home=own_page.home).ingest(own_page.home / "budget.xlsx")
    found = own_page.get("rows", id="budget", sheet="Q1")
    assert ([1, [[3, "value 1"]]], 1001, 2499, 3) == (found["rows"][0], found["next"], found["total"], found["columns"])
    rest = own_page.get("rows", id="budget", sheet="Q1", first=2001)
    assert (499, None) == (len(rest["rows"]), rest["next"])
    response, _ = own_page.ask("GET", "/api/rows?id=budget&sheet=Q9")
    assert 404 == response.status

    made = own_page.post("cite", address="doc://budget#sheet=Q1&cells=C1:C2", quote="value 1")
    target = made["annotation"]["target"]  # cells have no selector
    assert ("doc://budget#sheet=Q1&cells=C1:C2", "value 1") == (target["source"], target["selector"][0]["exact"])


def test_the_scripts_of_others_are_unchanged() -> None:
    folder = Path(str(files("citekit.entrypoints.web"))) / "static" / "vendor"
    lines = (line.split("  ") for line in (folder / "README.md").read_text().splitlines() if "  " in line)
    listed = {name: digest for digest, name in lines}
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.js")}
    assert listed == found


@pytest.mark.long
def test_resources_are_tagged_and_narrowed_by_tags(own_page: Server) -> None:
    bootstrap(home=own_page.home).ingest(_written(own_page.home / "wasps.md", "# Wasps\n\nAdded and changed.\n"))
    assert ["Insects"] == own_page.post("tag", id="wasps_md", add="Insects")
    assert [["Insects", 1]] == own_page.get("tags")
    listed = own_page.get("resources", tag="insects")["resources"]
    assert [("wasps_md", ["Insects"])] == [(each["id"], each["tags"]) for each in listed]
    assert {"wasps_md"} == {hit["id"] for hit in own_page.post("find", query="changed", tag="insects")["hits"]}
    assert (400, "A tag must have 1 to 60 printable characters.") == own_page.refused("tag", id="wasps_md", add="\n")
    assert 404 == own_page.refused("tag", id="nothing", add="x")[0]
    assert [] == own_page.post("tag", id="wasps_md", remove="insects")
    assert [] == own_page.get("tags")


@pytest.mark.long
def test_an_interrupted_ingest_and_scans_are_told(own_page: Server) -> None:
    app = bootstrap(home=own_page.home)
    source = scan(own_page.home / "scan.pdf", 2, hidden="Some text that was recognized long ago by somebody.")
    app.ingest(source)
    told = {"state": "scanned", "message": "CiteKit found scans on 2 of 2 pages. See the notes of the file."}
    assert told == own_page.get("state", id="scan")
    app.alexandria.ledger.append(entry(Deed.STARTED, resource_id="notes_md"))
    assert "unfinished" == own_page.get("state", id="notes_md")["state"]


@pytest.mark.long
def test_a_mapping_is_watched_and_cancelled(own_page: Server) -> None:
    """A long text is mapped in many steps. Cancelled, it leaves nothing."""
    data = "".join(f"{number}. A chapter\n\n{'Words of it. ' * 200}\n\n" for number in range(4000)).encode()
    headers = {"x-name": "long.txt", "x-job": "one"}
    assert own_page.get("progress", job="one") is None
    answers: list[tuple[HTTPResponse, bytes]] = []
    asking = Thread(target=lambda: answers.append(own_page.ask("POST", "/api/add", data, headers)))
    asking.start()
    assert until(lambda: own_page.get("progress", job="one"))
    assert own_page.post("cancel", job="one")
    asking.join(60)
    response, body = answers[0]
    assert (422, "Cancelled") == (response.status, json.loads(body)["error"])
    assert ["notes_md"] == [each["id"] for each in own_page.get("resources")["resources"]]
    assert [] == list((own_page.home / ".citekit_uploads").iterdir())
    assert not own_page.post("cancel", job="one")


@pytest.mark.long
def test_a_file_that_is_added_again_survives_a_cancelled_mapping(own_page: Server) -> None:
    folder = own_page.home / ".citekit_uploads"
    assert 200 == own_page.ask("POST", "/api/add", b"# Wasps\n", {"x-name": "wasps.md"})[0].status
    (own_page.home / ".resource_maps" / "wasps_md.json").write_text("{")
    response, _ = own_page.ask("POST", "/api/add", b"# Wasps\n", {"x-name": "wasps.md"})
    assert 422 == response.status
    assert ["wasps.md"] == [each.name for each in folder.iterdir()]


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_the_forms_of_evidence_are_those_of_the_format(page: Server) -> None:
    assert ["native", "pdf", "png", "text"] == page.get("map", id="r-intro")["forms"]
    assert "html" in page.get("map", id="book")["forms"]
    assert "png" not in page.get("map", id="notes_md")["forms"]
    assert "frame" in page.get("map", id="run")["forms"]
    assert {"cues": [], "transcriber": ""} == page.get("subtitles", id="run")


@pytest.mark.long
def test_a_search_also_finds_titles_that_are_in_no_text(page: Server) -> None:
    found = page.post("find", query="scene 1")
    assert {"run"} <= {each["id"] for each in found["titled"]}
    assert all("scene" in each["text"].lower() for each in found["titled"])


def test_evidence_and_maps_are_opened_by_their_uris(page: Server) -> None:
    made = page.post("resolve", address="doc://r-intro#pages=17")
    for uri in (f"citekit://evidence/{made['digest']}", f"citekit://evidence/{made['digest']}/receipt"):
        assert "/r/r-intro#pages=17" == page.get("place", of=uri)["path"]
    assert "/r/r-intro" == page.get("place", of="citekit://maps/r-intro")["path"]
    for wrong in ("citekit://evidence/12", "citekit://maps/none", "citekit://x", "doc://none#pages=1", "doc://"):
        response, body = page.ask("GET", f"/api/place?{urlencode({'of': wrong})}")
        assert response.status in (400, 404), body
