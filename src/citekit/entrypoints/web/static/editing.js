// Corrects the map by hand: titles, starts, levels, new and removed nodes. The server keeps the original.
import { link, post } from "./api.js";
import { button, el, say } from "./dom.js";
import { columnName, read, span } from "./place.js";
import { t } from "./strings.js";

export class Editing {
  // `current` returns the chosen node, `here` where the reader is, and `changed` takes the new map and the ID of a node.
  constructor(map, current, here, changed) {
    Object.assign(this, { map, current, here, changed });
    this.title = el("input", { type: "text", "aria-label": t("nodeTitle"), placeholder: t("nodeTitle") });
    this.bar = el(
      "form",
      {
        class: "editing",
        hidden: true,
        onsubmit: (e) => {
          e.preventDefault();
          this.send("rename", { title: this.title.value });
        },
      },
      this.title,
      el("button", {}, t("rename")),
      button("←", () => this.send("raise"), { "aria-label": t("raise"), title: t("raise") }),
      button("→", () => this.send("lower"), { "aria-label": t("lower"), title: t("lower") }),
      button(t("startsHere"), () => this.send("move", { place: this.from() })),
      button(t("addHere"), () => this.send("add", { title: this.title.value, place: this.from() })),
      button(t("remove"), () => this.send("remove")),
      button(t("undo"), () => this.send("undo"), { disabled: !map.edits }),
      button(t("original"), () => this.send("original"), { disabled: !map.edited }),
      el("a", { href: link("export", { id: map.id }), download: `${map.id}.json` }, t("export")),
    );
    this.toggle = button(t("edit"), () => this.show(this.bar.hidden), { "aria-pressed": "false", class: "quiet" });
    this.element = el("div", {}, this.toggle, map.edited && el("span", { class: "badge edited" }, t("edited")), this.bar);
  }

  show(shown) {
    this.bar.hidden = !shown;
    this.toggle.setAttribute("aria-pressed", String(shown));
    this.chosen();
  }

  chosen() {
    const node = this.current();
    if (node) this.title.value = node[2];
  }

  // The place from where the reader is to the end of the chosen node.
  from() {
    const { kind, at, sheet, columns } = this.here();
    const own = read(this.current()?.[4] ?? "");
    const end = { pages: own.pages?.at(-1), lines: own.last, rows: own.last, t: own.end }[kind];
    if (kind === "rows") return `sheet=${encodeURIComponent(sheet)}&cells=A${at}:${columnName(columns)}${Math.max(at, end ?? at)}`;
    if (kind === "t") return end > at ? `t=${at}-${end}` : `t=${at}`;
    return kind === "chapter" ? `chapter=${at}` : `${kind}=${span(at, Math.max(at, end ?? at))}`;
  }

  async send(edit, values = {}) {
    const node = this.current();
    if (!node && edit !== "undo" && edit !== "original") {
      say(t("chooseNode"));
      return;
    }
    try {
      const known = new Set(this.map.nodes.map(([id]) => id));
      const map = await post("edit", { id: this.map.id, edit, node: node?.[0] ?? "", ...values });
      const added = edit === "add" ? map.nodes.find(([id]) => !known.has(id)) : null;
      this.changed(map, (added ?? node)?.[0]);
    } catch (error) {
      say(error.message);
    }
  }
}
