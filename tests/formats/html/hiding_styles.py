"""Pages that contain words which browsers do not show, and pages that show them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Shape(NamedTuple):
    """A page: its body, where `{}` stands for the words, a style sheet, and more of the head and the body tag."""

    body: str
    css: str = ""
    head: str = ""
    attributes: str = ""
    doctype: str = "<!DOCTYPE html>"

    def page(self, words: str) -> str:
        return (
            f"{self.doctype}<html><head><title>Page</title>{self.head}<style>{self.css}</style></head>\n"
            f"<body {self.attributes}>\n<h1>Report</h1>\n{self.body.replace('{}', words)}\n</body></html>"
        )


HIDDEN: Mapping[str, Shape] = {
    "ctl_none": Shape('<p style="display:none">{}</p>'),
    "ctl_class": Shape("<p class=x>{}</p>", css=".x{display:none}"),
    "invalidvalue": Shape('<p style="display:none;display:foo">{}</p>'),
    "invalidcolor": Shape('<p style="color:#fff;color:foo">{}</p>'),
    "hsl": Shape('<p style="color:hsl(0 0% 100%)">{}</p>'),
    "rgbpct": Shape('<p style="color:rgb(100%,100%,100%)">{}</p>'),
    "var": Shape("<p class=x>{}</p>", css=":root{--d:none} .x{display:var(--d)}"),
    "varcolor": Shape('<p style="--c:#fff;color:var(--c)">{}</p>'),
    "floralwhite_bg": Shape('<p style="color:ivory;background:floralwhite"> {}</p>'),
    "azure": Shape('<p style="color:mintcream">{}</p>'),
    "attr_op": Shape('<p class="x y">{}</p>', css="[class~=x]{display:none}"),
    "attr_pre": Shape('<p class="xyz">{}</p>', css="[class^=xy]{display:none}"),
    "brace_string": Shape('<p class="x">{}</p>', css='.a{content:"@media print{"} .x{display:none}'),
    "comment_string": Shape('<p class="x">{}</p>', css='.a{content:"/*"} .x{display:none}'),
    "media_list": Shape('<p class="x">{}</p>', css="@media screen,print{.x{display:none}}"),
    "style_media_list": Shape('<p class="x">{}</p>', head='<style media="screen,print">.x{display:none}</style>'),
    "style_wrongtype": Shape(
        '<p class="x">{}</p>', css=".x{display:none}", head='<style type="text/foo">.x{display:block!important}</style>'
    ),
    "supports_false": Shape(
        '<p class="x">{}</p>', css=".x{display:none} @supports (display:nonsense){.x{display:block!important}}"
    ),
    "badlist": Shape('<p class="x">{}</p>', css=".x{display:none} .x,:::{display:block!important}"),
    "greedy": Shape(
        "<div class=a><div class=b><div><div class=b><p class=c>{}</p></div></div></div></div>",
        css=".a > .b .c{display:none}",
    ),
    "gradient": Shape('<p style="color:#fff;background:linear-gradient(#fff,#fff)">{}</p>'),
    "missingurl": Shape('<p style="color:#fff;background:url(nothing.png)">{}</p>'),
    "mark_yellow": Shape('<p><mark style="color:#ff0">{}</mark></p>'),
    "body_text": Shape("<p>{}</p>", attributes='text="white"'),
    "font_nohash": Shape('<p><font color="ffffff">{}</font></p>'),
    "font_white_sp": Shape('<p><font color="#fffffe">{}</font></p>'),
    "translate3d": Shape('<p style="transform:translate3d(-9999px,0,0)">{}</p>'),
    "translateprop": Shape('<p style="translate:-9999px">{}</p>'),
    "scaleprop": Shape('<p style="scale:0">{}</p>'),
    "matrix": Shape('<p style="transform:matrix(0,0,0,0,0,0)">{}</p>'),
    "rotateY": Shape('<p style="transform:rotateY(90deg)">{}</p>'),
    "scale3d": Shape('<p style="transform:scale3d(0,0,0)">{}</p>'),
    "scale001": Shape('<p style="transform:scale(.001)">{}</p>'),
    "zoom": Shape('<p style="zoom:0.01">{}</p>'),
    "filter": Shape('<p style="filter:opacity(0)">{}</p>'),
    "mask": Shape('<p style="mask:linear-gradient(transparent,transparent)">{}</p>'),
    "clippath_inset": Shape('<p style="clip-path:inset(100% 0 0 0)">{}</p>'),
    "clippath_poly": Shape('<p style="clip-path:polygon(0 0,0 0,0 0)">{}</p>'),
    "clip_rect": Shape('<p style="position:absolute;clip:rect(1px,1px,1px,1px)">{}</p>'),
    "clip_rect2": Shape('<p style="position:absolute;clip:rect(2px,2px,2px,2px)">{}</p>'),
    "h0_overflowy": Shape('<p style="height:0;overflow-y:hidden">{}</p>'),
    "h0_overflow2": Shape('<p style="height:0;overflow:hidden hidden">{}</p>'),
    "h0_auto": Shape('<p style="height:0;overflow:auto">{}</p>'),
    "h0_blocksize": Shape('<p style="block-size:0;overflow:hidden">{}</p>'),
    "h0_calc": Shape('<p style="height:calc(0px);overflow:hidden">{}</p>'),
    "h_2px": Shape('<p style="height:2px;overflow:hidden">{}</p>'),
    "indent_em": Shape('<p style="text-indent:-999em;overflow:hidden">{}</p>'),
    "inset": Shape('<p style="position:absolute;inset:-9999px auto auto auto">{}</p>'),
    "margin": Shape('<p style="margin:0 0 0 -9999px">{}</p>'),
    "marginil": Shape('<p style="margin-inline-start:-9999px">{}</p>'),
    "fontcalc": Shape('<p style="font-size:calc(0px)">{}</p>'),
    "font_nest": Shape(
        '<div style="font-size:.3em"><div style="font-size:.3em"><p style="font-size:.3em">{}</p></div></div>'
    ),
    "letterspacing": Shape('<p style="letter-spacing:-2em">{}</p>'),
    "popover": Shape("<div popover>{}</div>"),
    "opacity_nest": Shape('<div style="opacity:.1"><p style="opacity:.1">{}</p></div>'),
    "opacity_calc": Shape('<p style="opacity:calc(0)">{}</p>'),
    "datalist": Shape("<datalist id=a><option>{}</datalist>"),
    "object": Shape('<object data="data:text/plain,hi">{}</object>'),
    "svg0": Shape("<svg width=0 height=0><text>{}</text></svg>"),
    "svgdefs": Shape("<svg><defs><text>{}</text></defs></svg>"),
    "svgfill": Shape('<svg><text y=10 fill="none">{}</text></svg>'),
    "svgdisp": Shape('<svg><text y=10 display="none">{}</text></svg>'),
    "svgopacity": Shape('<svg><text y=10 opacity="0">{}</text></svg>'),
    "svgfar": Shape("<svg><text x=-9999>{}</text></svg>"),
    "svgfillwhite": Shape('<svg><text y=10 fill="white">{}</text></svg>'),
    "quirks": Shape("<p class=HIDE>{}</p>", css=".hide{display:none}", doctype=""),
    "scope": Shape("<div class=x><p>{}</p></div>", css="@scope (.x){p{display:none}}"),
    "nesting": Shape("<div class=x><p>{}</p></div>", css=".x{& p{display:none}}"),
    "nesting2": Shape("<div class=x><p>{}</p></div>", css=".x{color:red;p{display:none}}"),
    "dataimport": Shape("<p class=x>{}</p>", css="@import url('data:text/css,.x{display:none}');"),
    "datalink": Shape("<p class=x>{}</p>", head='<link rel=stylesheet href="data:text/css,.x{display:none}">'),
    "animation": Shape('<p style="animation:a 1ms forwards">{}</p>', css="@keyframes a{to{opacity:0}}"),
    "attr_gt": Shape("<p style=\"--x:'>';\ndisplay:none\">{}</p>"),
    "class_gt": Shape('<p class=">\nhide">{}</p>', css=".hide{display:none}"),
    "unicode": Shape('<p style="display:no\\6e e">{}</p>'),
    "comment_in_val": Shape('<p style="display:/**/none">{}</p>'),
    "semicolon_str": Shape("<p style=\"--a:';';display:none\">{}</p>"),
    "uppercase": Shape('<P STYLE="DISPLAY:NONE">{}</P>'),
    "tinyvw": Shape('<p style="font-size:.1vw">{}</p>'),
    "shorthandfont": Shape('<p style="font:italic 1px/1 serif">{}</p>'),
    "table_col": Shape('<table><colgroup><col style="visibility:collapse"></colgroup><tr><td>{}</td></tr></table>'),
    "contentvis": Shape('<p style="content-visibility:hidden">{}</p>'),
    "frameset": Shape("<frameset><p>{}</p></frameset>"),
    "xmp_title": Shape("<svg><title>{}</title></svg>"),
    "area": Shape("<video src=x>{}</video>"),
    "progress": Shape("<progress>{}</progress>"),
    "meter": Shape("<meter>{}</meter>"),
    "mathanno": Shape('<math><semantics><mi>x</mi><annotation encoding="a">{}</annotation></semantics></math>'),
    "maction": Shape("<math><maction selection=1><mi>x</mi><mtext>{}</mtext></maction></math>"),
    "mphantom": Shape("<math><mphantom><mtext>{}</mtext></mphantom></math>"),
    "textfill": Shape('<p style="-webkit-text-fill-color:transparent">{}</p>'),
    "rgba0pct": Shape('<p style="color:rgb(0 0 0 / 0%)">{}</p>'),
    "position_fixed_bottom": Shape('<p style="position:fixed;top:9999px">{}</p>'),
    "width0": Shape('<p style="display:inline-block;width:0;overflow:hidden;white-space:nowrap">{}</p>'),
    "cdo_cdc": Shape('<p class="x">{}</p>', css="<!--\n.x{display:none}\n-->"),
    "comment_in_string": Shape('<p class="x">{}</p>', css='b{content:"/*"} .x{display:none} i{content:"*/"}'),
    "brace_in_string": Shape('<p class="x">{}</p>', css='@media print{b{content:"{"}} .x{display:none}'),
    "attr_tilde": Shape('<p class="x">{}</p>', css="[class~=x]{display:none}"),
    "attr_prefix": Shape('<p class="x">{}</p>', css='p[class^="x"]{display:none}'),
    "attr_spaced": Shape('<p class="x">{}</p>', css='p[class = "x"]{display:none}'),
    "greedy_desc": Shape(
        '<div class="a"><div class="b"><div><div class="b"><p class="c">{}</p></div></div></div></div>',
        css=".a > .b .c {display:none}",
    ),
    "invalid_after": Shape('<p class="x">{}</p>', css=".x{display:none;display:bogus}"),
    "invalid_inline": Shape('<p style="display:none;display:bogus">{}</p>'),
    "invalid_opacity": Shape('<p style="opacity:0;opacity:lots">{}</p>'),
    "invalid_important": Shape('<p class="x">{}</p>', css=".x{display:none} .x{display:foo!important}"),
    "cssvar": Shape('<p class="x">{}</p>', css=":root{--h:none} .x{display:var(--h)}"),
    "cssvar2": Shape('<p class="x">{}</p>', css=".x{--h:none;display:var(--h)}"),
    "color_var": Shape('<p style="--w:#fff;color:var(--w)">{}</p>'),
    "hsl_white": Shape('<p style="color:hsl(0,0%,100%)">{}</p>'),
    "floralwhite": Shape('<p style="color:white;background:white">{}</p>'),
    "namedcolor_same": Shape('<p style="color:tomato;background:tomato">{}</p>'),
    "scale_.0": Shape('<p style="transform:scale(.0)">{}</p>'),
    "filter0p": Shape('<p style="filter:opacity(0%)">{}</p>'),
    "sci_op": Shape('<p style="opacity:1e-9">{}</p>'),
    "neg_op": Shape('<p style="opacity:-1">{}</p>'),
    "maxh0": Shape('<p style="max-height:0;overflow:hidden">{}</p>'),
    "clip_inset": Shape('<p style="clip-path:inset(0 0 100% 0)">{}</p>'),
    "clip_inset60": Shape('<p style="clip-path:inset(60%)">{}</p>'),
    "clip_circ": Shape('<p style="clip-path:circle(0px at 0 0)">{}</p>'),
    "font0": Shape('<p style="font:0/0 a">{}</p>'),
    "font_e": Shape('<p style="font-size:1e-5px">{}</p>'),
    "far_rem": Shape('<p style="position:absolute;left:-9999q">{}</p>'),
    "far_calc": Shape('<p style="position:absolute;left:calc(-9999px)">{}</p>'),
    "far_inset": Shape('<p style="position:absolute;inset:-9999px auto auto -9999px">{}</p>'),
    "far_margin": Shape('<p style="margin:-9999px">{}</p>'),
    "translate2nd": Shape('<p style="transform:translate(0,-9999px)">{}</p>'),
    "float_abs_right": Shape('<p style="position:fixed;top:-100vh">{}</p>'),
    "indent_hide": Shape('<p style="text-indent:200%;white-space:nowrap;overflow:hidden">{}</p>'),
    "svgtitle": Shape('<svg width="10" height="10"><title>{}</title></svg>'),
    "svgdesc": Shape('<svg width="10" height="10"><desc>{}</desc></svg>'),
    "svgdisplay": Shape('<svg width="10" height="10"><text display="none">{}</text></svg>'),
    "svgmeta": Shape('<svg width="10" height="10"><metadata>{}</metadata></svg>'),
    "mathann": Shape("<math><semantics><mi>x</mi><annotation>{}</annotation></semantics></math>"),
    "rp": Shape("<ruby>Visible<rp>{}</rp><rt>x</rt></ruby>"),
    "link_text": Shape('<p><a href="#">{}</a></p>', css="a{color:white}"),
    "link_css": Shape('<p class="x">{}</p>', head='<link rel="stylesheet" href="data:text/css,.x%7Bdisplay:none%7D">'),
    "import_css": Shape('<p class="x">{}</p>', css='@import url("data:text/css,.x%7Bdisplay:none%7D");'),
    "is_sel": Shape('<p class="x">{}</p>', css="p.x.y, p.x{display:none}"),
    "css_escape_cls": Shape('<p class="x">{}</p>', css=".\\78 {display:none}"),
    "style_in_noscript": Shape(
        '<p class="x">{}</p>', head='<noscript></noscript><style type="text/css">.x{display:none}</style>'
    ),
    "fontface_invisible": Shape('<p style="font-family:x;color:transparent">{}</p>'),
    "hidden_until": Shape("<p hidden=until-found>{}</p>"),
    "display_contents": Shape('<p style="display:none !important;display:block">{}</p>'),
    "font_inherit_hide": Shape('<p style="visibility:hidden">{}</p>'),
    "bg_grad_same": Shape('<p style="color:#111;background:linear-gradient(#111,#111)">{}</p>'),
    "mixed": Shape('<p style="color:rgb(255 255 255 / 100%)">{}</p>'),
    "rgba_comma": Shape('<p style="color:rgba(0,0,0,0)">{}</p>'),
    "color_fn": Shape('<p style="color:color(srgb 1 1 1)">{}</p>'),
    "lab": Shape('<p style="color:lab(100% 0 0)">{}</p>'),
    "opacity_svg": Shape('<svg width="900" height="100"><text y="20" opacity="0">{}</text></svg>'),
}

SHOWN: Mapping[str, Shape] = {
    "variable_color": Shape('<p class="x">{}</p>', css=":root { --text: #222 } .x { color: var(--text) }"),
    "variable_fallback": Shape('<p class="x">{}</p>', css=".x { color: var(--none, #222) }"),
    "undefined_variable": Shape('<p class="x">{}</p>', css=".x { color: var(--none) }"),
    "calculated_margin": Shape('<p style="margin: calc(1rem + 2px) calc(-1 * var(--gap, 3px))">{}</p>'),
    "calculated_size": Shape('<p style="font-size: clamp(1rem, 0.5rem + 2vw, 3rem)">{}</p>'),
    "print_only": Shape('<p class="x">{}</p>', css="@media print { .x { display: none } }"),
    "narrow_only": Shape('<p class="x">{}</p>', css="@media (max-width: 700px) { .x { display: none } }"),
    "wide_again": Shape(
        '<p class="x">{}</p>', css=".x { display: none } @media (min-width: 60em) { .x { display: block } }"
    ),
    "dark_theme": Shape("<p>{}</p>", css="@media (prefers-color-scheme: dark) { body { background: #000 } }"),
    "while_hovering": Shape('<p class="x">{}</p>', css=".x:hover { display: none } .x:not(:hover) { color: #333 }"),
    "before": Shape('<p class="x">{}</p>', css='.x::before { content: ""; display: none }'),
    "invalid": Shape('<p style="display: none; display: block; display: bogus">{}</p>'),
    "other_child": Shape('<p class="x">{}</p>', css=".x:nth-child(7) { display: none } p + p + p.x { opacity: 0 }"),
    "not_scoped": Shape("<p>{}</p>", css="@scope (.y) { p { display: none } }"),
    "other_attribute": Shape('<p class="xy">{}</p>', css="[class~=x], [class$=z], [lang|=de] { display: none }"),
    "dark_card": Shape('<div style="background: hsl(210 50% 20%)"><p style="color: white">{}</p></div>'),
    "dark_gradient": Shape(
        '<div style="background: linear-gradient(90deg, #123, navy)"><p style="color: #fff">{}</p></div>'
    ),
    "gradient_text": Shape(
        '<h2 style="background: linear-gradient(90deg, #f00, #00f); -webkit-background-clip: text; color: transparent">{}</h2>'
    ),
    "centered": Shape('<p style="position: absolute; left: 50%; top: 50%; transform: translate(-50%, -50%)">{}</p>'),
    "accelerated": Shape('<p style="transform: translateZ(0); will-change: transform; filter: none">{}</p>'),
    "old_browsers": Shape('<p style="*display: none; filter: alpha(opacity=0); -ms-filter: none; zoom: 1">{}</p>'),
    "cleared": Shape('<p style="overflow: hidden; height: 1%">{}</p>'),
    "row": Shape('<div style="padding-left: 900px"><p style="margin-left: -800px">{}</p></div>'),
    "details": Shape("<details><summary>More</summary><p>{}</p></details>"),
    "layers": Shape('<p class="x">{}</p>', css="@layer base { .x { display: none } } .x { display: block }"),
    "no_wrap": Shape('<p style="overflow: hidden; text-overflow: ellipsis; max-width: 20em">{}</p>'),
    "svg": Shape('<svg width="300" height="50"><text x="10" y="20" fill="#333">{}</text></svg>'),
    "noscript_style": Shape('<p class="x">{}</p>', head="<noscript><style>.x { display: none }</style></noscript>"),
    "legacy_color": Shape('<table bgcolor="336699"><tr><td><font color="ffffff">{}</font></td></tr></table>'),
    "important": Shape('<p class="x" style="display: none">{}</p>', css=".x { display: block !important }"),
}
