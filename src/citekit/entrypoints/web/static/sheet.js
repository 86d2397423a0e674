// Sheets of workbooks as grids, loaded in blocks while scrolling.
import { get } from "./api.js";
import { button, el, say } from "./dom.js";
import { markText, unmark } from "./marking.js";
import { columnName } from "./place.js";
import { t } from "./strings.js";

export class Sheet {
  constructor(map, select) {
    this.map = map;
    this.select = select;
    this.head = el("tr");
    this.body = el("tbody");
    this.end = el("div", { class: "end" });
    this.scroller = el("div", { class: "grid", tabindex: "0" }, el("table", {}, el("thead", {}, this.head), this.body), this.end);
    this.tabs = map.sheets.map((name) => button(name, () => this.select({ fragment: `sheet=${encodeURIComponent(name)}`, quote: "" })));
    this.element = el("div", { class: "reader" }, el("div", { class: "bar", role: "toolbar", "aria-label": t("sheet") }, this.tabs), this.scroller);
    this.watcher = new IntersectionObserver((found) => found.some((each) => each.isIntersecting) && this.more(), { root: this.scroller, rootMargin: "1000px" });
    this.body.addEventListener("click", (e) => this.pick(e));
    this.scroller.addEventListener("mouseup", () => setTimeout(() => this.selected()));
  }

  open(sheet) {
    if (this.sheet === sheet) return this.ready;
    this.sheet = sheet;
    this.tabs.forEach((tab) => tab.setAttribute("aria-pressed", String(tab.textContent === sheet)));
    this.body.replaceChildren();
    this.next = 1;
    this.columns = 0;
    this.watcher.disconnect();
    this.ready = this.more().then(() => this.watcher.observe(this.end));
    return this.ready;
  }

  async more() {
    if (!this.next || this.loading) return this.loading;
    const { sheet } = this;
    this.loading = get("rows", { id: this.map.id, sheet, first: this.next, v: this.map.version });
    try {
      const found = await this.loading;
      if (sheet !== this.sheet) return;
      if (!this.columns) {
        this.columns = found.columns;
        const names = Array.from({ length: found.columns }, (_, i) => el("th", { scope: "col" }, columnName(i + 1)));
        this.head.replaceChildren(el("td"), ...names);
      }
      this.next = found.next;
      this.body.append(...found.rows.map(([number, cells]) => this.row(number, new Map(cells))));
      this.outline();
    } catch (error) {
      this.next = null;
      say(error.message);
    } finally {
      this.loading = null;
    }
  }

  row(number, cells) {
    const shown = Array.from({ length: this.columns }, (_, i) => el("td", { "data-column": String(i + 1) }, cells.get(i + 1) ?? ""));
    return el("tr", { "data-number": String(number) }, el("th", { scope: "row", "data-unmarked": true }, String(number)), shown);
  }

  async show(place) {
    await this.open(place.sheet ?? this.sheet ?? this.map.sheets[0]);
    this.place = place;
    while (this.next && place.last >= this.next) await this.more();
    unmark(this.body);
    this.outline();
    const first = this.body.querySelector(".part");
    (first ?? this.body.firstElementChild)?.scrollIntoView({ block: first ? "center" : "start", inline: "nearest" });
    if (!place.quote) return;
    const rows = [...this.body.children].filter((row) => row.dataset.number >= place.first && row.dataset.number <= place.last);
    const row = rows.find((each) => markText(each, place.quote));
    if (row) row.querySelector("mark").scrollIntoView({ block: "center", inline: "center" });
    else say(t("notMarked"));
  }

  // Outlines the cells that the address names.
  outline() {
    const { first, last, left = 1, right = Infinity } = this.place ?? {};
    for (const row of this.body.children) {
      const inside = row.dataset.number >= first && row.dataset.number <= last;
      if (!inside && !row.marked) continue;
      row.marked = inside;
      for (const cell of row.querySelectorAll("td")) {
        cell.classList.toggle("part", inside && cell.dataset.column >= left && cell.dataset.column <= right);
      }
    }
  }

  pick(event) {
    const row = event.target.closest("tr");
    if (!row || document.getSelection()?.toString()) return;
    const number = Number(row.dataset.number);
    const of = event.target.closest("td")?.dataset.column;
    const [left, right] = of ? [Number(of), Number(of)] : [1, this.columns];
    const from = event.shiftKey && this.picked ? this.picked : { number, left, right };
    if (!event.shiftKey) this.picked = from;
    this.choose([from.number, number], [from.left, from.right, left, right], "");
  }

  choose(rows, columns, quote) {
    const name = (pick) => `${columnName(pick(...columns))}${pick(...rows)}`;
    const [first, last] = [name(Math.min), name(Math.max)];
    const cells = first === last ? first : `${first}:${last}`;
    this.select({ fragment: `sheet=${encodeURIComponent(this.sheet)}&cells=${cells}`, quote });
  }

  selected() {
    const chosen = document.getSelection();
    const quote = chosen?.toString().replace(/\s+/g, " ").trim();
    if (!quote || !this.body.contains(chosen.anchorNode)) return;
    const ends = [chosen.anchorNode, chosen.focusNode].map((node) => (node.nodeType === 1 ? node : node.parentElement)?.closest("tr"));
    if (ends.every(Boolean)) this.choose(ends.map((row) => Number(row.dataset.number)), [1, this.columns], quote);
  }

  here() {
    const top = this.scroller.getBoundingClientRect().top;
    const row = [...this.body.children].find((each) => each.getBoundingClientRect().bottom > top + 40);
    return { kind: "rows", at: Number(row?.dataset.number ?? 1), sheet: this.sheet, columns: this.columns };
  }
}
