// The list of everything mapped.
import { get, send } from "./api.js";
import { button, el, say } from "./dom.js";
import { path } from "./place.js";
import { t } from "./strings.js";

export class Library {
  constructor(open) {
    this.open = open;
    this.sort = ["title", 1];
    this.rows = [];
    this.input = el("input", {
      type: "search",
      placeholder: t("filterResources"),
      "aria-label": t("filterResources"),
      oninput: () => {
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.load(), 150);
      },
    });
    this.chooser = el("input", { type: "file", multiple: true, hidden: true, onchange: () => this.add([...this.chooser.files]) });
    this.count = el("span", { class: "grow" });
    this.body = el("tbody");
    this.foot = el("div", { class: "foot" });
    this.home = el("p", { class: "note" });
    const heads = ["title", "type", "size", "state", "source"].map((key) =>
      el(
        "th",
        { scope: "col" },
        key === "state" ? t("state") : button(t({ title: "name", source: "file" }[key] ?? key), () => this.by(key), { class: "quiet" }),
      ),
    );
    this.element = el(
      "section",
      { class: "library" },
      el("h1", {}, t("library")),
      this.home,
      el("div", { class: "bar" }, this.input, this.count, button(t("addFile"), () => this.chooser.click()), this.chooser),
      el("p", { class: "note" }, t("drop")),
      el("table", {}, el("thead", {}, el("tr", {}, heads)), this.body),
      this.foot,
    );
    this.load();
    this.name();
  }

  async name() {
    const { home, others } = await get("home");
    this.home.append(home, " ", others && el("a", { href: "/" }, t("otherHomes")));
  }

  async load(cursor = "") {
    const query = this.input.value.trim();
    try {
      const found = await get("resources", { query, cursor });
      if (query !== this.input.value.trim()) return;
      this.rows = cursor ? [...this.rows, ...found.resources] : found.resources;
      this.total = found.total;
      this.next = found.next;
      this.draw();
    } catch (error) {
      say(error.message);
    }
  }

  by(key) {
    this.sort = [key, this.sort[0] === key ? -this.sort[1] : 1];
    this.draw();
  }

  draw() {
    const [key, way] = this.sort;
    const value = (row) => (key === "size" ? (row.bytes ?? 0) : String(row[key] ?? "").toLowerCase());
    const order = (a, b) => (value(a) > value(b) ? way : value(a) < value(b) ? -way : 0);
    this.count.textContent = t("resources", this.total);
    this.body.replaceChildren(...[...this.rows].sort(order).map((row) => this.row(row)));
    this.foot.replaceChildren(...(this.next ? [button(t("more"), () => this.load(this.next))] : []));
    if (!this.total) this.foot.replaceChildren(el("p", {}, this.input.value ? t("nothingFound") : t("nothingMapped")));
  }

  row(row) {
    if (row.problem) return el("tr", {}, el("td", {}, row.id), el("td", { colspan: "4" }, row.problem));
    const name = row.source.split(/[\\/]/).at(-1);
    const state = el("td", { class: "state" }, "…");
    this.check(row, state);
    const link = el("a", { href: path(row.id), onclick: (e) => this.open(e, row.id) }, row.title || row.id);
    return el(
      "tr",
      {},
      el("td", { class: "title" }, link),
      el("td", {}, row.format ?? row.type),
      el("td", {}, row.size ?? ""),
      state,
      el("td", { class: "path", title: row.source }, name),
    );
  }

  async check(row, cell) {
    try {
      const found = await get("state", { id: row.id });
      cell.textContent = t(found.state);
      cell.classList.add(found.state);
      if (found.message) cell.title = found.message;
    } catch (error) {
      cell.textContent = t("error");
      cell.title = error.message;
    }
  }

  async add(files) {
    for (const file of files) {
      say(t("adding", file.name));
      try {
        const made = await send("add", file);
        say(t("added", made.title));
        await this.load();
      } catch (error) {
        say(error.message);
      }
    }
  }
}
