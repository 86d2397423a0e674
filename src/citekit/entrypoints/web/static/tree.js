// The map as a tree: only the rows in view exist, so that 20,000 nodes scroll smoothly.
import { el } from "./dom.js";
import { t } from "./strings.js";

const ROW = 28;

export class Tree {
  constructor(nodes, choose) {
    this.nodes = nodes; // [ID, depth, title, type, fragment, summary]
    this.choose = choose;
    this.closed = new Set();
    this.current = -1;
    this.filter = "";
    this.ends = endsOf(nodes);
    if (nodes.length > 400) nodes.forEach((node, i) => node[1] > 0 && this.ends[i] > i + 1 && this.closed.add(i));
    this.space = el("div", { class: "space" });
    this.list = el(
      "div",
      { class: "tree", role: "tree", tabindex: "0", "aria-label": t("contents"), onscroll: () => this.draw(), onkeydown: (e) => this.key(e) },
      this.space,
    );
    this.input = el("input", {
      type: "search",
      class: "filter",
      placeholder: t("filterNodes"),
      "aria-label": t("filterNodes"),
      oninput: () => {
        this.filter = this.input.value.trim().toLowerCase();
        this.update();
      },
    });
    this.element = el("div", { class: "contents" }, this.input, this.list);
    new ResizeObserver(() => this.draw()).observe(this.list);
    this.update();
  }

  update() {
    this.rows = [];
    for (let i = 0; i < this.nodes.length; ) {
      const shown = !this.filter || this.nodes[i][2].toLowerCase().includes(this.filter);
      if (shown) this.rows.push(i);
      i = !this.filter && this.closed.has(i) ? this.ends[i] : i + 1;
    }
    this.space.style.height = `${this.rows.length * ROW}px`;
    this.draw();
  }

  draw() {
    const top = this.list.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW) - 5);
    const last = Math.min(this.rows.length, Math.ceil((top + this.list.clientHeight) / ROW) + 5);
    this.space.replaceChildren(...this.rows.slice(first, last).map((i, k) => this.row(i, first + k)));
  }

  row(i, at) {
    const [, depth, title, type, , summary] = this.nodes[i];
    const opens = this.ends[i] > i + 1 && !this.filter;
    const open = !this.closed.has(i);
    const made = el(
      "div",
      {
        id: `node-${i}`,
        role: "treeitem",
        class: `node type-${type.replace(/\W/g, "")}${i === this.current ? " current" : ""}`,
        "aria-level": String(depth + 1),
        "aria-expanded": opens ? String(open) : undefined,
        "aria-selected": String(i === this.current),
        "aria-setsize": String(this.rows.length),
        "aria-posinset": String(at + 1),
        title: summary ? `${title}\n${summary}` : title,
        style: { top: `${at * ROW}px`, paddingLeft: `${8 + Math.min(depth, 12) * 14}px` },
        onclick: (e) => (e.target.classList.contains("twist") ? this.toggle(i) : this.pick(i)),
      },
      el("span", { class: "twist", "aria-hidden": "true" }, opens ? (open ? "▾" : "▸") : ""),
      el("span", { class: "label" }, title || this.nodes[i][0]),
    );
    return made;
  }

  toggle(i) {
    if (this.closed.has(i)) this.closed.delete(i);
    else this.closed.add(i);
    this.update();
  }

  pick(i) {
    this.mark(i);
    this.choose(this.nodes[i]);
  }

  // Marks a node as the current one, and opens the nodes above it.
  mark(i, scroll = false) {
    this.current = i;
    if (i >= 0 && scroll) {
      for (let above = i, depth = this.nodes[i][1]; above >= 0 && depth > 0; above--) {
        if (this.nodes[above][1] < depth) {
          this.closed.delete(above);
          depth = this.nodes[above][1];
        }
      }
      this.update();
      const at = this.rows.indexOf(i);
      const top = at * ROW;
      if (top < this.list.scrollTop || top > this.list.scrollTop + this.list.clientHeight - ROW)
        this.list.scrollTop = top - this.list.clientHeight / 2;
    }
    this.list.setAttribute("aria-activedescendant", i >= 0 ? `node-${i}` : "");
    this.draw();
  }

  key(event) {
    const at = this.rows.indexOf(this.current);
    const i = this.current;
    const move = (to) => to >= 0 && to < this.rows.length && this.mark(this.rows[to], true);
    const act = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      Home: () => move(0),
      End: () => move(this.rows.length - 1),
      PageDown: () => move(Math.min(at + 15, this.rows.length - 1)),
      PageUp: () => move(Math.max(at - 15, 0)),
      ArrowRight: () => (this.closed.has(i) ? this.toggle(i) : move(at + 1)),
      ArrowLeft: () => {
        if (i >= 0 && this.ends[i] > i + 1 && !this.closed.has(i)) this.toggle(i);
        else for (let k = at - 1; k >= 0; k--) if (this.nodes[this.rows[k]][1] < this.nodes[i][1]) return move(k);
      },
      Enter: () => i >= 0 && this.pick(i),
      " ": () => i >= 0 && this.pick(i),
    }[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  }
}

// For each node, the index after its last descendant.
function endsOf(nodes) {
  const ends = new Array(nodes.length).fill(nodes.length);
  const open = [];
  nodes.forEach(([, depth], i) => {
    while (open.length && nodes[open.at(-1)][1] >= depth) ends[open.pop()] = i;
    open.push(i);
  });
  return ends;
}
