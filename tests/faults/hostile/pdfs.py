"""Hostile PDFs: actions and embedded things that evidence must not carry on, bombs, loops, and lies about the structure."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.hostile.case import Bait, Case
from tests.faults.hostile.pdf_files import CONTENT, packed, pages, pdf, stream

_SPELL = "app.launchURL('http://127.0.0.1/bait')"
_MARKER = b"EvilMarker"
"""Stands in every active thing: evidence whose bytes, unpacked, hold it has carried the thing along."""

_JS = "<</S/JavaScript/JS(EvilMarker)>>"
_RECT = "/Rect[10 10 200 200]"


def _annotated(annotation: str, catalog: str = "", **more: Any) -> Callable[[Bait], bytes]:
    return lambda bait: pdf(
        pages(catalog, "/Annots[20 0 R]", o20=annotation.format(path=bait.file, url=bait.url), **more)
    )


def _catalogued(catalog: str, **more: Any) -> Callable[[Bait], bytes]:
    return lambda bait: pdf(pages(catalog.replace("@path", str(bait.file)).replace("@url", bait.url), **more))


def _paged(page: str, **more: Any) -> Callable[[Bait], bytes]:
    return lambda bait: pdf(pages("", page.replace("@path", str(bait.file)).replace("@url", bait.url), **more))


_LINK = f"<</Type/Annot/Subtype/Link{_RECT}/Border[0 0 1]/A{{}}>>"


def _action(action: str) -> Callable[[Bait], bytes]:
    return _annotated(
        _LINK.replace(
            "{}", action.replace("{", "{{").replace("}", "}}").replace("@path", "{path}").replace("@url", "{url}")
        )
    )


_FILE = "<</Type/Filespec/F(EvilMarker.exe)/UF(EvilMarker.exe)/EF<</F 31 0 R>>>>"
_EMBEDDED = stream(b"MZ EvilMarker", "/Type/EmbeddedFile")

ACTIVE: dict[str, Callable[[Bait], bytes]] = {
    "open-action-script": _catalogued(f"/OpenAction{_JS}"),
    "open-action-launch": _catalogued("/OpenAction<</S/Launch/F(EvilMarker.exe)/Win<</F(EvilMarker)/P(@path)>>>>"),
    "document-actions": _catalogued(f"/AA<</WC{_JS}/WP{_JS}/DS{_JS}>>"),
    "names-script": _catalogued(f"/Names<</JavaScript<</Names[(a){_JS}]>>>>"),
    "names-embedded": _catalogued("/Names<</EmbeddedFiles<</Names[(a) 30 0 R]>>>>", o30=_FILE, o31=_EMBEDDED),
    "associated-files": _catalogued("/AF[30 0 R]", o30=_FILE, o31=_EMBEDDED),
    "page-associated-files": _paged("/AF[30 0 R]", o30=_FILE, o31=_EMBEDDED),
    "collection": _catalogued("/Collection<</Type/Collection/D(EvilMarker)>>/Names<</EmbeddedFiles<</Names[(a) 30 0 R]>>>>", o30=_FILE, o31=_EMBEDDED),
    "page-actions": _paged(f"/AA<</O{_JS}/C{_JS}>>"),
    "link-script": _action(_JS),
    "link-launch": _action("<</S/Launch/F(EvilMarker.exe)>>"),
    "link-next-script": _action(f"<</S/URI/URI(http://example.org)/Next{_JS}>>"),
    "link-uri-script": _action("<</S/URI/URI(javascript:EvilMarker)>>"),
    "link-uri-script-spaced": _action("<</S/URI/URI( \\tJaVa\\nScript:EvilMarker)>>"),
    "link-uri-script-entity": _action("<</S/URI/URI(\\001javascript:EvilMarker)>>"),
    "link-uri-file": _action("<</S/URI/URI(file:///EvilMarker)>>"),
    "link-uri-unc": _action("<</S/URI/URI(\\\\\\\\EvilMarker\\\\share)>>"),
    "link-uri-slashes": _action("<</S/URI/URI(//EvilMarker/share)>>"),
    "link-uri-smb": _action("<</S/URI/URI(smb://EvilMarker/share)>>"),
    "link-uri-search": _action("<</S/URI/URI(search-ms:query=EvilMarker)>>"),
    "link-uri-handler": _action("<</S/URI/URI(ms-msdt:EvilMarker)>>"),
    "link-uri-data": _action("<</S/URI/URI(data:text/html,EvilMarker)>>"),
    "link-uri-utf16": _action("<</S/URI/URI<FEFF006A006100760061007300630072006900700074003A004500760069006C004D00610072006B00650072>>>"),
    "link-submit": _action("<</S/SubmitForm/F<</FS/URL/F(http://EvilMarker/)>>/Fields[]>>"),
    "link-import": _action("<</S/ImportData/F(EvilMarker.fdf)>>"),
    "link-remote": _action("<</S/GoToR/F(EvilMarker.pdf)/D[0/Fit]>>"),
    "link-embedded": _action("<</S/GoToE/F(EvilMarker.pdf)/D[0/Fit]/T<</R/C/N(EvilMarker)>>>>"),
    "link-remote-unc": _action("<</S/GoToR/F(\\\\\\\\EvilMarker\\\\a.pdf)/D[0/Fit]>>"),
    "link-thread": _action("<</S/Thread/F(EvilMarker.pdf)/D 0>>"),
    "link-named": _action("<</S/Named/N/EvilMarker>>"),
    "link-rendition": _action("<</S/Rendition/OP 0/JS(EvilMarker)/AN 20 0 R/R<</S/MR/C<</S/MCD/D<</F(EvilMarker)>>>>>>>>"),
    "link-hide": _action("<</S/Hide/T(EvilMarker)/H true>>"),
    "link-trans": _action("<</S/Trans/Trans<</EvilMarker 1>>>>"),
    "link-state": _action("<</S/SetOCGState/State[/ON/EvilMarker]>>"),
    "link-actions": _annotated(f"<</Type/Annot/Subtype/Link{_RECT}/AA<</E{_JS}/D{_JS}/PO{_JS}>>>>"),
    "link-previous-uri": _annotated(f"<</Type/Annot/Subtype/Link{_RECT}/Border[0 0 1]/PA<</S/URI/URI(javascript:EvilMarker)>>>>"),
    "screen": _annotated(f"<</Type/Annot/Subtype/Screen{_RECT}/A<</S/Rendition/JS(EvilMarker)>>/AA<</PV{_JS}>>/MK<</EvilMarker 1>>>>"),
    "rich-media": _annotated(f"<</Type/Annot/Subtype/RichMedia{_RECT}/RichMediaContent<</Assets<</Names[(EvilMarker) 30 0 R]>>>>/RichMediaSettings<</Activation<</Condition/PO>>>>>>", o30=_FILE, o31=_EMBEDDED),
    "movie": _annotated(f"<</Type/Annot/Subtype/Movie{_RECT}/Movie<</F(EvilMarker)>>/A true>>"),
    "sound": _annotated(f"<</Type/Annot/Subtype/Sound{_RECT}/Sound 31 0 R>>", o31=_EMBEDDED),
    "three-d": _annotated(f"<</Type/Annot/Subtype/3D{_RECT}/3DD<</Type/3D/Subtype/U3D/OnInstantiate 31 0 R>>>>", o31=_EMBEDDED),
    "file-attachment": _annotated(f"<</Type/Annot/Subtype/FileAttachment{_RECT}/FS 30 0 R/Contents(note)>>", o30=_FILE, o31=_EMBEDDED),
    "free-text-rich": _annotated(f"<</Type/Annot/Subtype/FreeText{_RECT}/Contents(t)/DA(/Helv 9 Tf)/RC(<body><a href=\"javascript:EvilMarker\">x</a></body>)>>"),
    "printer-mark": _annotated(f"<</Type/Annot/Subtype/PrinterMark{_RECT}/MN/EvilMarker>>"),
    "unknown-annotation": _annotated(f"<</Type/Annot/Subtype/Evil{_RECT}/EvilMarker(x)>>"),
    "form-script": _annotated(f"<</Type/Annot/Subtype/Widget{_RECT}/FT/Tx/T(a)/V(b)/A{_JS}/AA<</K{_JS}/F{_JS}/C{_JS}>>>>".replace("{", "{{").replace("}", "}}"), "/AcroForm<</Fields[20 0 R]/CO[20 0 R]/DR<</Font<</Helv 3 0 R>>>>/DA(/Helv 12 Tf)>>"),
    "form-button-submit": _annotated(f"<</Type/Annot/Subtype/Widget{_RECT}/FT/Btn/Ff 65536/T(a)/MK<</CA(b)>>/A<</S/SubmitForm/F(http://EvilMarker/)>>>>".replace("{", "{{").replace("}", "}}"), "/AcroForm<</Fields[20 0 R]>>"),
    "xfa": _catalogued("/AcroForm<</Fields[]/XFA 30 0 R>>/NeedsRendering true", o30=stream(b"<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'><script>EvilMarker</script></xdp:xdp>")),
    "signature": _annotated(f"<</Type/Annot/Subtype/Widget{_RECT}/FT/Sig/T(s)/V 30 0 R>>", "/AcroForm<</Fields[20 0 R]/SigFlags 3>>/Perms<</DocMDP 30 0 R>>", o30="<</Type/Sig/Filter/Adobe.PPKLite/Contents<4576696C4D61726B6572>/ByteRange[0 1 2 3]/Reason(EvilMarker)>>"),
    "metadata": _catalogued("/Metadata 30 0 R", o30=stream(b"<x:xmpmeta>EvilMarker</x:xmpmeta>", "/Type/Metadata/Subtype/XML")),
    "piece-info": _paged("/PieceInfo<</EvilMarker<</Private 31 0 R>>>>", o31=_EMBEDDED),
    "object-embedded-in-resources": _paged("/Resources<</XObject<</X 30 0 R>>>>", o30=stream(b"q Q", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/PieceInfo<</EvilMarker 1>>/Metadata 31 0 R"), o31=_EMBEDDED),
    "reference-object": _paged("/Resources<</XObject<</X 30 0 R>>>>/Contents 32 0 R", o30=stream(b"q Q", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Ref<</F(EvilMarker.pdf)/Page 0>>"), o32=stream(b"/X Do")),
    "external-stream": _paged("/Contents 30 0 R", o30="<</F(@path)/Length 0/FDecodeParms<</EvilMarker 1>>>>\nstream\n\nendstream"),
    "external-image": _paged("/Resources<</XObject<</X 30 0 R>>>>", o30="<</Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray/F(/etc/EvilMarker)/Length 0>>\nstream\n\nendstream"),
    "alternate-presentation": _catalogued("/Names<</AlternatePresentations<</Names[(a)<</Type/SlideShow/EvilMarker 1>>]>>>>"),
    "uri-base": _catalogued("/URI<</Base(javascript:EvilMarker)>>"),
    "outline-script": _catalogued("/Outlines 30 0 R", o30="<</Type/Outlines/First 31 0 R/Last 31 0 R/Count 1>>", o31=f"<</Title(One)/Parent 30 0 R/A{_JS}>>"),
    "outline-launch": _catalogued("/Outlines 30 0 R", o30="<</Type/Outlines/First 31 0 R/Last 32 0 R/Count 2>>", o31="<</Title(One)/Parent 30 0 R/Next 32 0 R/A<</S/Launch/F(EvilMarker)>>>>", o32="<</Title(Two)/Parent 30 0 R/Prev 31 0 R/Dest[5 0 R/Fit]/SE<</EvilMarker 1>>>>"),
    "layers": _catalogued("/OCProperties<</OCGs[30 0 R]/D<</AS[<</Event/View/OCGs[30 0 R]/Category[/EvilMarker2]>>]>>>>", o30="<</Type/OCG/Name(a)/Usage<</User<</Name(x)>>>>>>"),
    "layers-carry-script": _catalogued(f"/OCProperties<</OCGs[30 0 R]/D<</Order[30 0 R]>>/X{_JS}>>", o30=f"<</Type/OCG/Name(a)/AA{_JS}/EF 31 0 R>>", o31=_EMBEDDED),
    "info-carries-stream": lambda _: pdf(pages(o30="<</Title(T)/EvilMarker 31 0 R>>", o31=_EMBEDDED), "/Info 30 0 R"),
    "in-resources-properties": _paged(f"/Resources<</Font<</F1 3 0 R>>/Properties<</P<</JS{_JS}/AF 30 0 R>>>>>>", o30=_FILE, o31=_EMBEDDED),
}  # fmt: skip


def _many(count: int) -> Callable[[Bait], bytes]:
    return lambda _: pdf(pages(count=count))


def _claimed(count: int) -> Callable[[Bait], bytes]:
    def make(_: Bait) -> bytes:
        objects = pages()
        objects[2] = f"<</Type/Pages/Kids[5 0 R 6 0 R]/Count {count}>>"
        return pdf(objects)

    return make


def _tree(second: str, **more: str) -> Callable[[Bait], bytes]:
    return lambda _: pdf({**pages(), 2: second, **{int(name[1:]): value for name, value in more.items()}})


def _deep_tree(levels: int) -> Callable[[Bait], bytes]:
    def make(_: Bait) -> bytes:
        objects = pages()
        objects[2] = "<</Type/Pages/Kids[100 0 R]/Count 1>>"
        for number in range(100, 100 + levels):
            below = number + 1 if number + 1 < 100 + levels else 5
            objects[number] = (
                f"<</Type/Pages/Parent {number - 1 if number > 100 else 2} 0 R/Kids[{below} 0 R]/Count 1>>"
            )
        return pdf(objects)

    return make


def _laughing_tree(_: Bait) -> bytes:
    """A page tree of 12 levels whose every node lists the next one ten times."""
    objects = pages()
    objects[2] = "<</Type/Pages/Kids[" + "100 0 R " * 10 + "]/Count 1000000000>>"
    for number in range(100, 112):
        below = number + 1 if number < 111 else 5
        objects[number] = "<</Type/Pages/Kids[" + f"{below} 0 R " * 10 + "]/Count 1000000000>>"
    return pdf(objects)


def _laughing_forms(_: Bait) -> bytes:
    """Form XObjects each of which draws the next one ten times."""
    objects = pages("", "/Resources<</XObject<</X 100 0 R>>>>/Contents 99 0 R")
    objects[99] = stream(b"/X Do")
    for number in range(100, 112):
        below = f"/Resources<</XObject<</X {number + 1} 0 R>>>>" if number < 111 else ""
        objects[number] = stream(
            b"/X Do\n" * 10 if below else b"0 0 9 9 re f", f"/Type/XObject/Subtype/Form/BBox[0 0 9 9]{below}"
        )
    return pdf(objects)


def _own_form(_: Bait) -> bytes:
    objects = pages("", "/Resources<</XObject<</X 100 0 R>>>>/Contents 99 0 R", o99=stream(b"/X Do"))
    objects[100] = stream(b"/X Do", "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 100 0 R>>>>")
    return pdf(objects)


def _laughing_outline(_: Bait) -> bytes:
    objects = pages("/Outlines 100 0 R")
    for number in range(100, 120):
        objects[number] = (
            f"<</Title(a)/First {number + 1} 0 R/Last {number + 1} 0 R/Next {number + 1} 0 R/Count 5/Dest[5 0 R/Fit]>>"
        )
    objects[120] = "<</Title(a)/Next 100 0 R/First 100 0 R/Dest[5 0 R/Fit]>>"
    return pdf(objects)


def _deep_outline(_: Bait) -> bytes:
    objects = pages("/Outlines 100 0 R")
    for number in range(100, 20_100):
        objects[number] = (
            f"<</Title(a)/Parent {number - 1} 0 R/First {number + 1} 0 R/Last {number + 1} 0 R/Count 1/Dest[5 0 R/Fit]>>"
        )
    objects[20_100] = "<</Title(a)/Parent 20099 0 R/Dest[5 0 R/Fit]>>"
    return pdf(objects)


def _long_outline(_: Bait) -> bytes:
    objects = pages("/Outlines 100 0 R", o100="<</First 101 0 R/Last 60100 0 R/Count 60000>>")
    for number in range(101, 60_101):
        objects[number] = f"<</Title({'t' * 50})/Parent 100 0 R/Next {number + 1} 0 R/Dest[5 0 R/Fit]>>"
    return pdf(objects)


def _label_bomb(_: Bait) -> bytes:
    return pdf(pages("/PageLabels<</Nums[0<</S/r/St 2000000000>>1<</S/A/St 2000000000/P(" + "p" * 100_000 + ")>>]>>"))


def _flate(size: int) -> Callable[[Bait], bytes]:
    """A content stream of `size` bytes of spaces."""

    def make(_: Bait) -> bytes:
        packer = zlib.compressobj(9)
        data = b"".join([packer.compress(b" " * (1 << 20)) for _ in range(size >> 20)] + [packer.flush()])
        return pdf({**pages(), 4: stream(data, "/Filter/FlateDecode")})

    return make


def _flate_twice(_: Bait) -> bytes:
    packer = zlib.compressobj(9)
    inner = b"".join([packer.compress(b" " * (1 << 20)) for _ in range(2**11)] + [packer.flush()])
    return pdf({**pages(), 4: stream(zlib.compress(inner, 9), "/Filter[/FlateDecode/FlateDecode]")})


def _filters(_: Bait) -> bytes:
    return pdf({**pages(), 4: stream(CONTENT, "/Filter[" + "/ASCIIHexDecode" * 5000 + "]")})


def _run_lengths(_: Bait) -> bytes:
    return pdf(
        {
            **pages(),
            4: packed(b"\x81 " * 4_000_000, "").replace(
                b"/Filter/FlateDecode", b"/Filter[/FlateDecode/RunLengthDecode]"
            ),
        }
    )


def _operators(_: Bait) -> bytes:
    return pdf({**pages(), 4: packed(CONTENT + b"\nq " * 1_000_000 + b"0 0 9 9 re f\n" * 500_000)})


def _words(_: Bait) -> bytes:
    return pdf({**pages(), 4: packed(b"BT /F1 1 Tf " + b"1 0 0 1 5 5 Tm (word ) Tj\n" * 400_000 + b"ET")})


def _paths(_: Bait) -> bytes:
    return pdf({**pages(), 4: packed(CONTENT + b"\n0 0 m " + b"595 842 l 0 842 l 595 0 l 3 3 l\n" * 200_000 + b"f*")})


def _dashes(_: Bait) -> bytes:
    return pdf({**pages(), 4: packed(CONTENT + b"\n[0.00001 0.00001] 0 d 100 w 0 0 m 59500000 84200000 l S\n" * 100)})


def _image(width: int, height: int, filters: str = "/FlateDecode") -> Callable[[Bait], bytes]:
    def make(_: Bait) -> bytes:
        from tests.faults.hostile.pictures import zeros

        data = zeros(min(width * height, 2**29)) if filters == "/FlateDecode" else b"\xff" * 1000
        picture = stream(
            data,
            f"/Type/XObject/Subtype/Image/Width {width}/Height {height}/BitsPerComponent 8/ColorSpace/DeviceGray/Filter{filters}",
        )
        return pdf(
            pages(
                "",
                "/Resources<</XObject<</X 30 0 R>>>>/Contents 31 0 R",
                o30=picture,
                o31=stream(b"500 0 0 500 0 0 cm /X Do"),
            )
        )

    return make


def _box(box: str, extra: str = "") -> Callable[[Bait], bytes]:
    return lambda _: pdf(pages("", f"/MediaBox[{box}]{extra}"))


def _pattern(_: Bait) -> bytes:
    tile = stream(
        b"0 0 1 1 re f",
        "/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 1 1]/XStep 0.001/YStep 0.001/Resources<<>>",
    )
    return pdf(
        pages(
            "",
            "/Resources<</Pattern<</P 30 0 R>>>>/Contents 31 0 R",
            o30=tile,
            o31=stream(b"/Pattern cs /P scn 0 0 595 842 re f"),
        )
    )


def _function(_: Bait) -> bytes:
    body = b"{" + b"dup mul " * 100_000 + b"}"
    shade = "<</ShadingType 1/ColorSpace/DeviceGray/Domain[0 1 0 1]/Matrix[595 0 0 842 0 0]/Function 32 0 R>>"
    return pdf(
        pages(
            "",
            f"/Resources<</Shading<</S {shade}>>>>/Contents 31 0 R",
            o31=stream(b"/S sh"),
            o32=stream(body, "/FunctionType 4/Domain[0 1 0 1]/Range[0 1]"),
        )
    )


def _sampled(_: Bait) -> bytes:
    shade = "<</ShadingType 1/ColorSpace/DeviceGray/Domain[0 1 0 1]/Matrix[595 0 0 842 0 0]/Function 32 0 R>>"
    sizes = "/FunctionType 0/Domain[0 1 0 1]/Range[0 1]/Size[65535 65535]/BitsPerSample 32"
    return pdf(
        pages(
            "", f"/Resources<</Shading<</S {shade}>>>>/Contents 31 0 R", o31=stream(b"/S sh"), o32=stream(b"x", sizes)
        )
    )


def _object_stream(size: int, count: int) -> Callable[[Bait], bytes]:
    """An object stream that claims `count` objects and unpacks to `size` bytes."""

    def make(_: Bait) -> bytes:
        packer = zlib.compressobj(9)
        data = (
            packer.compress(b"7 0 ")
            + b"".join(packer.compress(b" " * (1 << 20)) for _ in range(size >> 20))
            + packer.flush()
        )
        objects = pages(o30=stream(data, f"/Type/ObjStm/N {count}/First 4/Filter/FlateDecode"))
        body = pdf(objects, table=False)
        rows = b"".join(
            struct.pack(">BIH", 1, max(body.find(b"\n%d 0 obj" % n) + 1, 0), 0)
            if n in objects
            else struct.pack(">BIH", 2, 30, 0)
            for n in range(40)
        )
        place = body.index(b"trailer")
        table = stream(rows, "/Type/XRef/Size 40/W[1 4 2]/Root 1 0 R")
        return body[:place] + b"40 0 obj\n" + table + b"\nendobj\nstartxref\n%d\n%%%%EOF\n" % place

    return make


def _table(rest: bytes) -> Callable[[Bait], bytes]:
    """The table of references is something else."""

    def make(_: Bait) -> bytes:
        data = pdf(pages())
        place = data.index(b"xref\n")
        return data[:place] + rest.replace(b"@", b"%d" % place) + b"\nstartxref\n%d\n%%%%EOF\n" % place

    return make


def _updates(count: int) -> Callable[[Bait], bytes]:
    """A file that was updated `count` times."""

    def make(_: Bait) -> bytes:
        out = bytearray(pdf(pages()))
        before = out.rindex(b"xref\n0")
        for number in range(count):
            place = len(out)
            out += b"xref\n0 0\ntrailer\n<</Size 7/Root 1 0 R/Prev %d>>\nstartxref\n%d\n%%%%EOF\n" % (before, place)
            before = place if number % 1 == 0 else before
        return bytes(out)

    return make


def _deep_array(_: Bait) -> bytes:
    return pdf(pages("/Names " + "[" * 100_000 + "]" * 100_000))


def _deep_dictionary(_: Bait) -> bytes:
    return pdf(pages("", "/Resources " + "<</X" * 50_000 + " 1" + ">>" * 50_000))


def _loop(_: Bait) -> bytes:
    return pdf({**pages(), 4: "4 0 R", 3: "30 0 R", 30: "3 0 R"})


def _length_loop(_: Bait) -> bytes:
    return pdf({**pages(), 4: b"<</Length 4 0 R>>\nstream\n" + CONTENT + b"\nendstream"})


def _inherited(_: Bait) -> bytes:
    objects = pages()
    objects[2] = "<</Type/Pages/Kids[5 0 R 6 0 R]/Count 2/Parent 2 0 R/MediaBox 2 0 R/Resources 2 0 R/Rotate 2 0 R>>"
    return pdf(objects)


def _font(_: Bait) -> bytes:
    glyph = stream(b"1000 0 d0 (a) Tj /F1 9 Tf (a) Tj")
    font = (
        "<</Type/Font/Subtype/Type3/FontBBox[0 0 1 1]/FontMatrix[1 0 0 1 0 0]/FirstChar 0/LastChar 255/CharProcs<</a 31 0 R>>/Encoding<</Differences[97/a]>>/Widths["
        + "1 " * 256
        + "]/Resources<</Font<</F1 30 0 R>>>>>>"
    )
    return pdf(
        pages(
            "",
            "/Resources<</Font<</F1 30 0 R>>>>",
            content=b"BT /F1 9 Tf (aaaaaaaaaaaaaaaaaaaa) Tj ET",
            o30=font,
            o31=glyph,
        )
    )


def _to_unicode(_: Bait) -> bytes:
    cmap = (
        b"begincmap 1 beginbfrange <0000> <ffff> <"
        + b"0041" * 2000
        + b"> endbfrange 100 begincidrange "
        + b"<00000000> <ffffffff> 0 " * 100_000
        + b"endcmap"
    )
    return pdf({**pages(o30=packed(cmap)), 3: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 30 0 R>>"})


def _encrypted(_: Bait) -> bytes:
    import pymupdf

    with pymupdf.open() as document:  # type: ignore[no-untyped-call]
        document.new_page().insert_text((72, 72), "Chapter One")
        document.embfile_add("EvilMarker.exe", b"MZ EvilMarker")
        document.xref_set_key(document.pdf_catalog(), "OpenAction", _JS)
        out = io.BytesIO()
        document.save(out, encryption=pymupdf.mupdf.PDF_ENCRYPT_AES_256, owner_pw="o", user_pw="")
        return out.getvalue()


def _encryption(entries: str) -> Callable[[Bait], bytes]:
    return lambda _: pdf(pages(o30=f"<</Filter/Standard{entries}>>"), "/Encrypt 30 0 R/ID[<00><00>]")


STRUCTURES: dict[str, Callable[[Bait], bytes]] = {
    "claims-2-to-31-pages": _claimed(2**31 - 1),
    "claims-minus-one-page": _claimed(-1),
    "has-50000-pages": _many(50_000),
    "tree-lists-itself": _tree("<</Type/Pages/Kids[2 0 R 5 0 R]/Count 2>>"),
    "tree-in-a-circle": _tree("<</Type/Pages/Kids[30 0 R]/Count 2>>", o30="<</Type/Pages/Kids[2 0 R]/Count 2/Parent 2 0 R>>"),
    "tree-of-3000-levels": _deep_tree(3000),
    "tree-of-50000-levels": _deep_tree(50_000),
    "tree-that-grows": _laughing_tree,
    "tree-of-one-page-100000-times": _tree("<</Type/Pages/Kids[" + "5 0 R " * 100_000 + "]/Count 100000>>"),
    "tree-kids-missing": _tree("<</Type/Pages/Kids[900 0 R 901 0 R null (x) 5]/Count 5>>"),
    "forms-that-grow": _laughing_forms,
    "form-that-draws-itself": _own_form,
    "outline-that-grows": _laughing_outline,
    "outline-of-20000-levels": _deep_outline,
    "outline-of-60000-entries": _long_outline,
    "labels-of-a-billion": _label_bomb,
    "content-of-1-gigabyte": _flate(2**30),
    "content-of-2-gigabytes-packed-twice": _flate_twice,
    "content-of-5000-filters": _filters,
    "content-of-run-lengths": _run_lengths,
    "content-of-a-million-operators": _operators,
    "content-of-400000-words": _words,
    "content-of-800000-lines": _paths,
    "content-of-endless-dashes": _dashes,
    "image-of-100000-squared": _image(100_000, 100_000),
    "image-of-20000-squared": _image(20_000, 20_000),
    "image-jbig2": _image(60_000, 60_000, "/JBIG2Decode"),
    "image-fax": _image(60_000, 60_000, "/CCITTFaxDecode/DecodeParms<</K -1/Columns 60000/Rows 60000>>"),
    "image-jpeg2000": _image(60_000, 60_000, "/JPXDecode"),
    "box-of-2-to-31": _box("0 0 2147483647 2147483647"),
    "box-of-10-to-30": _box("0 0 1e30 1e30"),
    "box-of-nothing": _box("0 0 0 0"),
    "box-upside-down": _box("842 842 -595 -595"),
    "box-not-numbers": _box("/a (b) [] null"),
    "unit-of-a-million": _box("0 0 595 842", "/UserUnit 1000000"),
    "unit-negative": _box("0 0 595 842", "/UserUnit -1/Rotate 37"),
    "strip-page": _box("0 0 1 100000000"),
    "pattern-of-tiny-tiles": _pattern,
    "function-of-100000-steps": _function,
    "function-of-claimed-samples": _sampled,
    "object-stream-of-500-megabytes": _object_stream(500 * 2**20, 1),
    "object-stream-of-claimed-objects": _object_stream(2**20, 2**31 - 1),
    "table-previous-is-itself": _table(b"xref\n0 1\n0000000000 65535 f \ntrailer\n<</Size 7/Root 1 0 R/Prev @>>"),
    "table-claims-a-billion": _table(b"xref\n0 1000000000\n0000000000 65535 f \ntrailer\n<</Size 1000000000/Root 1 0 R>>"),
    "table-size-negative": _table(b"xref\n-5 9\n0000000000 65535 f \ntrailer\n<</Size -1/Root 1 0 R>>"),
    "table-is-missing": _table(b"nothing"),
    "table-stream-is-itself": _table(b"1 0 obj\n<</Type/XRef/Size 99999999/W[9 9 9]/Prev @/Index[0 99999999]/Length 3>>\nstream\nabc\nendstream\nendobj"),
    "updated-20000-times": _updates(20_000),
    "array-of-100000-levels": _deep_array,
    "dictionary-of-50000-levels": _deep_dictionary,
    "object-that-is-itself": _loop,
    "length-that-is-itself": _length_loop,
    "parent-that-is-itself": _inherited,
    "font-that-uses-itself": _font,
    "characters-that-grow": _to_unicode,
    "encrypted-with-empty-password": _encrypted,
    "encryption-unknown": _encryption("/V 99/R 99/O(x)/U(x)/P -1"),
    "encryption-of-huge-key": _encryption("/V 4/R 4/Length 999999999/O(x)/U(x)/P -1/StmF/X/CF<</X<</CFM/AESV2/Length 99999>>>>"),
    "trailing-gigabyte-of-nothing": lambda _: pdf(pages()) + b"\0" * 50_000_000,
    "leading-junk": lambda _: b"\x7fELF" + b"x" * 900 + pdf(pages()),
    "only-a-head": lambda _: b"%PDF-1.7\n" + b"1 0 obj\n" * 500_000,
    "broken-objects": lambda _: b"%PDF-1.7\n" + b"1 0 obj\n<</Type/Page/Parent 1 0 R/Kids[1 0 R]>>\nendobj\n" * 50_000,
}  # fmt: skip

_BRIEF = {"link-launch"}


def _case(name: str, content: Callable[[Bait], bytes], absent: tuple[bytes, ...]) -> Case:
    def make(folder: Path, bait: Bait) -> Path:
        path = folder / "a.pdf"
        path.write_bytes(content(bait))
        return path

    return Case(
        "pdfs",
        name,
        make,
        absent=absent,
        seconds=60,
        megabytes=1536,
        brief=name in _BRIEF,
        refused=False if absent else None,
    )


CASES = [
    *(_case(name, content, (_MARKER,)) for name, content in ACTIVE.items()),
    *(_case(name, content, ()) for name, content in STRUCTURES.items()),
]
