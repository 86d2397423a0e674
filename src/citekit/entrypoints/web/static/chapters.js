// Chapters of books, slides, and HTML files as clean HTML, one at a time, in a frame in which nothing runs.
import { get, link } from "./api.js";
import { button, el, say } from "./dom.js";
import { markBetween, markText, unmark } from "./marking.js";
import { letters } from "./place.js";
import { t } from "./strings.js";

const dark = matchMedia("(prefers-color-scheme: dark)");
const LONGEST = 40_000; // the maximum number of letters of a part that is marked as a whole
const MARKER = /\ufdd0([\ufde0-\ufde9]+)/g; // the number of a line in the file; see PageViews.document
const digits = (marker) => Number([...marker].map((digit) => digit.charCodeAt(0) - 0xfde0).join(""));

export class Chapters {
  constructor(map, select) {
    this.map = map;
    this.select = select;
    this.number = 0;
    this.kind = { slides: "pages", html: "lines" }[map.layout] ?? "chapter";
    this.count = this.kind === "pages" ? map.pages : map.chapters;
    this.name = (number) => t(this.kind === "pages" ? "slide" : "chapter", number);
    this.label = el("span", { class: "grow" });
    this.before = button("‹", () => this.go(this.number - 1), { "aria-label": t("previous") });
    this.after = button("›", () => this.go(this.number + 1), { "aria-label": t("next") });
    // Slides keep their colors. Other text has its colors inverted in a dark window, by style.css.
    this.isText = this.kind !== "pages";
    this.frame = el("iframe", { class: `chapter${this.isText ? " reflowed" : ""}`, sandbox: "allow-same-origin", title: this.name(1) });
    this.bar = el("div", { class: "bar", role: "toolbar", hidden: this.kind === "lines" }, this.before, this.label, this.after);
    this.waits = el("p", { class: "waits", hidden: true }, t("loading"));
    this.element = el("div", { class: "reader" }, this.bar, this.frame, this.waits);
  }

  go(number) {
    this.select({ fragment: `${this.kind}=${number}`, quote: "" });
  }

  async show(place) {
    this.place = place;
    const number = { chapter: place.chapter, pages: place.pages?.[0], lines: 1 }[this.kind] ?? 1;
    await this.open(number);
    const inside = this.frame.contentDocument;
    if (this.place !== place || !inside?.body) return;
    unmark(inside.body);
    inside.querySelector("[data-citekit=box]")?.remove();
    if (this.kind === "lines") return this.showLines(inside, place);
    if (this.kind === "pages" && place.box && !place.quote) outline(inside, place.box);
    if (!place.chars && !place.quote) {
      inside.documentElement.scrollTop = 0;
      return;
    }
    let [part, near] = [place.quote, 0];
    if (place.chars) {
      const { units } = await get("text", { id: this.map.id, first: number, last: number, v: this.map.version });
      const text = [...units[0][1]];
      near = letters(text.slice(0, place.chars[0]).join("")).length;
      part ||= text.slice(...place.chars).join("");
    }
    const isLong = part.length > LONGEST;
    const found = markText(inside.body, isLong ? part.slice(0, 80) : part, near, place.quote ? "quote" : "part");
    if (found) found.scrollIntoView({ block: place.quote ? "center" : "start" });
    else if (place.quote) say(t("notMarked"));
  }

  // Marks lines of an HTML file, or the quote in them.
  showLines(inside, { first, last, quote }) {
    const start = first && this.markers.findIndex(({ line }) => line >= first && line <= last);
    if (!first || start < 0) {
      const before = this.markers.findLast(({ line }) => line <= first)?.at.parentElement; // a line without text
      if (before) before.scrollIntoView({ block: "center" });
      else inside.documentElement.scrollTop = 0;
      return;
    }
    const from = this.markers[start].at;
    const to = this.markers.slice(start).find(({ line }) => line > last)?.at ?? null;
    if (!quote) {
      markBetween(inside.body, from, to, "part");
      from.parentElement.scrollIntoView({ block: "start" });
      return;
    }
    const before = inside.createRange();
    before.setStart(inside.body, 0);
    before.setEndBefore(from);
    const found = markText(inside.body, quote, letters(before.toString()).length, "quote");
    if (found) found.scrollIntoView({ block: "center" });
    else say(t("notMarked"));
  }

  here() {
    if (this.kind !== "lines") return { kind: this.kind, at: this.number };
    const seen = this.markers?.find(({ at }) => at.parentElement.getBoundingClientRect().bottom > 0);
    return { kind: "lines", at: seen?.line ?? 1 };
  }

  open(number) {
    if (number === this.number) return this.loaded;
    this.number = number;
    this.label.textContent = this.count ? `${this.name(number)} / ${this.count}` : this.name(number);
    this.before.disabled = number <= 1;
    this.after.disabled = number >= (this.count ?? number);
    this.frame.title = this.kind === "lines" ? this.map.title : this.name(number);
    this.loaded = new Promise((done) => {
      this.waits.hidden = false;
      this.frame.onload = () => {
        const inside = this.frame.contentDocument;
        this.waits.hidden = true;
        if (this.isText) keepPictures(inside);
        inside?.addEventListener("mouseup", () => setTimeout(() => this.selected()));
        for (const kind of ["click", "auxclick"]) inside?.addEventListener(kind, keep);
        if (this.kind === "lines" && inside?.body) this.markers = markersIn(inside);
        done();
      };
    });
    this.frame.src = link("chapter", { id: this.map.id, number, v: this.map.version });
    return this.loaded;
  }

  selected() {
    const chosen = this.frame.contentDocument.getSelection();
    const text = chosen?.toString().trim();
    if (!text) return;
    let fragment = `${this.kind}=${this.number}`;
    if (this.kind === "lines") {
      const range = chosen.getRangeAt(0);
      const first = this.lineBefore(range.startContainer, range.startOffset);
      fragment = `lines=${first}-${Math.max(first, this.lineBefore(range.endContainer, range.endOffset))}`;
    }
    this.select({ fragment, quote: text });
  }

  // The number of the line in the file that has the text before a position.
  lineBefore(node, offset) {
    let line = this.markers[0]?.line ?? 1;
    const at = node.ownerDocument.createRange();
    at.setStart(node, offset);
    for (const marker of this.markers) {
      if (at.comparePoint(marker.at, 0) > 0) break;
      line = marker.line;
    }
    return line;
  }
}

// Inverts pictures once more in a dark window, so that they keep their colors.
function keepPictures(inside) {
  const style = inside?.createElement("style");
  if (!style || !inside.head) return;
  style.textContent = "img, video { filter: invert(1) hue-rotate(180deg); color: #eee; } mark.quote { background: #af9d4b; color: inherit; }";
  const turn = () => (style.media = dark.matches ? "all" : "not all");
  turn();
  dark.addEventListener("change", turn);
  inside.defaultView?.addEventListener("pagehide", () => dark.removeEventListener("change", turn));
  inside.head.append(style);
}

// Keeps the frame where it is: a link out of the file would leave it empty, because the policy lets nothing else load.
function keep(event) {
  const href = event.target.closest?.("a[href], area[href]")?.getAttribute("href");
  if (href === undefined || href.startsWith("#")) return;
  event.preventDefault();
  say(t("leadsOutside", href));
}

// Draws a box around a region (left, top, right, bottom, in fractions) of a slide.
function outline(inside, [left, top, right, bottom]) {
  const box = inside.createElement("div");
  box.dataset.citekit = "box";
  const edges = { left, top, width: right - left, height: bottom - top };
  for (const [name, value] of Object.entries(edges)) box.style[name] = `${value * 100}%`;
  Object.assign(box.style, { position: "absolute", outline: "3px solid #1d4ed8", background: "rgba(29, 78, 216, 0.08)", pointerEvents: "none" });
  inside.querySelector(".slide")?.append(box);
}

// Replaces the markers in the text by empty elements. Returns these with the numbers of their lines, in order.
function markersIn(inside) {
  const found = [];
  const walker = inside.createTreeWalker(inside.body, NodeFilter.SHOW_TEXT);
  const texts = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) if (node.data.includes("\ufdd0")) texts.push(node);
  for (const node of texts) {
    const pieces = [];
    let end = 0;
    for (const match of node.data.matchAll(MARKER)) {
      const at = inside.createElement("i");
      pieces.push(node.data.slice(end, match.index), at);
      found.push({ line: digits(match[1]), at });
      end = match.index + match[0].length;
    }
    node.replaceWith(...pieces.filter((piece) => piece !== ""), node.data.slice(end));
  }
  return found;
}
