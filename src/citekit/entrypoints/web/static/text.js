// Lines of text files, loaded in blocks as they come into view.
import { get } from "./api.js";
import { bringIntoView, el, say } from "./dom.js";
import { highlighter } from "./highlighting.js";
import { markText, unmark } from "./marking.js";
import { t } from "./strings.js";

const BLOCK = 400;
const HEIGHT = 20;
const SEPARATORS = { csv: ",;\t|", tsv: "\t" };

export class Text {
  constructor(map, select) {
    this.map = map;
    this.select = select;
    this.place = {};
    this.scroller = el("div", { class: "text lines", tabindex: "0" });
    this.element = el("div", { class: "reader" }, this.scroller);
    this.watcher = new IntersectionObserver((found) => found.forEach((each) => each.isIntersecting && this.load(each.target)), {
      root: this.scroller,
      rootMargin: "1500px",
    });
    this.scroller.addEventListener("mouseup", () => setTimeout(() => this.selected()));
    this.scroller.addEventListener("keyup", (e) => e.shiftKey && this.selected());
    this.ready = this.open();
  }

  async open() {
    const size = BLOCK;
    this.color = await highlighter(this.map.format).catch(() => null);
    const first = await get("text", { id: this.map.id, first: 1, last: size, v: this.map.version });
    this.total = first.total;
    this.separator = separatorOf(SEPARATORS[this.map.format] ?? "", first.units[0]?.[1] ?? "");
    this.widths = this.separator ? widthsOf(first.units.map(([, text]) => cellsOf(text, this.separator) ?? [])) : [];
    this.scroller.style.setProperty("--row", `calc(4.2rem + ${this.widths.join(" + ") || "0px"})`);
    this.blocks = [];
    for (let number = 1; number <= Math.max(1, this.total); number += size) {
      const last = Math.min(number + size - 1, this.total);
      const block = el("div", { class: "block", "data-first": String(number), "data-last": String(last) });
      block.style.containIntrinsicSize = `auto ${(last - number + 1) * HEIGHT}px`;
      block.style.minHeight = `${(last - number + 1) * HEIGHT}px`;
      this.blocks.push(block);
    }
    this.scroller.replaceChildren(...this.blocks);
    this.fill(this.blocks[0], first);
    this.blocks.slice(1).forEach((block) => this.watcher.observe(block));
  }

  load(block) {
    block.loading ??= (async () => {
      this.watcher.unobserve(block);
      const { first, last } = block.dataset;
      const units = [];
      let next = Number(first);
      while (next && next <= Number(last)) {
        const part = await get("text", { id: this.map.id, first: next, last, v: this.map.version });
        units.push(...part.units);
        next = part.next;
      }
      this.fill(block, { units });
    })().catch((error) => say(error.message));
    return block.loading;
  }

  fill(block, part) {
    block.loading ??= Promise.resolve();
    block.style.minHeight = "";
    const colored = this.color?.(part.units.map(([, text]) => text));
    block.replaceChildren(...part.units.map(([number, text], i) => this.unit(number, text, colored?.[i])));
    const { first, last } = block.dataset;
    if (this.place.first <= Number(last) && this.place.last >= Number(first)) this.outline();
  }

  unit(number, text, colored) {
    const name = el("button", { type: "button", class: "number", "data-unmarked": true, onclick: (e) => this.pick(number, e.shiftKey) }, String(number));
    const cells = this.separator ? cellsOf(text, this.separator) : null;
    const body = cells ? cells.map((cell, i) => el("span", { class: "cell", style: { width: this.widths[i] } }, cell)) : [el("span", { class: "words-of" }, colored?.length ? colored : text || "\u200b")];
    return el("div", { class: cells ? "unit cells" : "unit", "data-number": String(number) }, name, body);
  }

  pick(number, extend) {
    const from = extend && this.picked ? Math.min(this.picked, number) : number;
    const to = extend && this.picked ? Math.max(this.picked, number) : number;
    if (!extend) this.picked = number;
    this.select({ fragment: this.fragment(from, to), quote: "" });
  }

  fragment(first, last) {
    return `lines=${first}-${last}`;
  }

  async show(place) {
    await this.ready;
    this.place = place;
    unmark(this.scroller);
    for (const each of this.scroller.querySelectorAll(".unit.part")) each.classList.remove("part");
    if (!place.first) return;
    const wanted = this.blocks.filter((each) => Number(each.dataset.first) <= place.last && Number(each.dataset.last) >= place.first);
    await Promise.all(wanted.slice(0, 3).map((block) => this.load(block)));
    if (this.place !== place) return;
    this.outline();
    const start = this.scroller.querySelector(`.unit[data-number="${place.first}"]`) ?? wanted[0];
    const isCurrent = () => this.place === place;
    if (!place.quote) return start && bringIntoView(start, "start", isCurrent);
    const units = [...this.scroller.querySelectorAll(".unit.part")].slice(0, 500);
    const near = units.find((unit) => markText(unit, place.quote)) ?? (units.length > 1 && markText(this.wrap(units), place.quote));
    if (!near) say(t("notMarked"));
    await bringIntoView(this.scroller.querySelector("mark") ?? start, "center", isCurrent);
  }

  here() {
    const top = this.scroller.getBoundingClientRect().top;
    const unit = [...this.scroller.querySelectorAll(".unit")].find((each) => each.getBoundingClientRect().bottom > top + 1);
    return { kind: "lines", at: Number(unit?.dataset.number ?? 1) };
  }

  // The element in which a quote over several units is searched: the block, if all units are in one block.
  wrap(units) {
    return units[0].parentElement === units.at(-1).parentElement ? units[0].parentElement : this.scroller;
  }

  outline() {
    for (const unit of this.scroller.querySelectorAll(".unit")) {
      const number = Number(unit.dataset.number);
      unit.classList.toggle("part", number >= this.place.first && number <= this.place.last);
    }
  }

  selected() {
    const chosen = document.getSelection();
    const text = chosen?.toString().trim();
    if (!text || !this.scroller.contains(chosen.anchorNode)) return;
    const numbers = [chosen.anchorNode, chosen.focusNode]
      .map((node) => Number((node.nodeType === 1 ? node : node.parentElement)?.closest(".unit")?.dataset.number))
      .filter(Boolean)
      .sort((a, b) => a - b);
    if (numbers.length === 2) this.select({ fragment: this.fragment(...numbers), quote: text });
  }
}

// The one of the `known` cell separators that occurs most often in a line.
function separatorOf(known, line) {
  const count = (mark) => line.split(mark).length;
  return [...known].sort((a, b) => count(b) - count(a))[0] ?? "";
}

// The widths of the columns, from the longest cell that the first rows have in each.
function widthsOf(rows) {
  const longest = [];
  for (const row of rows) row.forEach((cell, i) => (longest[i] = Math.max(longest[i] ?? 0, cell.length)));
  return longest.map((count) => `calc(${Math.min(Math.max(count, 6), 48)}ch + 1.2rem)`);
}

// The cells of a line, or null if the line is only a part of a record.
function cellsOf(line, separator) {
  const cells = [];
  let cell = "";
  let quoted = false;
  for (let i = 0; i < line.length; i++) {
    const character = line[i];
    if (quoted && character === '"' && line[i + 1] === '"') cell += line[i++];
    else if (character === '"') quoted = !quoted;
    else if (character === separator && !quoted) {
      cells.push(cell);
      cell = "";
    } else cell += character;
  }
  return quoted ? null : [...cells, cell];
}
