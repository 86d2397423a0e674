// Pages of documents, comics, and images: pictures with selectable words and marks. Only the pages in view exist.
import { get, link, post } from "./api.js";
import { button, el, say } from "./dom.js";
import { span } from "./place.js";
import { t } from "./strings.js";

const GAP = 12;
const BEYOND = 800; // pixels above and below the view in which pages exist
const WIDE = 1000; // pixels of a view in which a quote over two pages shows them side by side
const canvas = document.createElement("canvas").getContext("2d");

export class Pages {
  constructor(map, select) {
    this.map = map;
    this.select = select;
    const isWhole = ([width, height]) => width > 1 || height > 1; // a damaged page has 1 x 1 pixels
    const usual = map.sizes.find(isWhole) ?? [1, 1];
    this.sizes = map.sizes.flatMap(([width, height, count]) => Array(count).fill(isWhole([width, height]) ? [width, height] : usual.slice(0, 2)));
    this.isImage = map.type === "image"; // addresses name boxes of its first page
    this.zoom = this.isImage ? "fit" : 1;
    this.shown = new Map();
    this.marks = new Map();
    this.place = {};
    this.columns = 1;
    this.shift = 0; // 1 if page 1 is alone, so that even pages are on the left
    this.space = el("div", { class: "space" });
    this.scroller = el("div", { class: "pages", tabindex: "0", onscroll: () => this.draw() }, this.space);
    this.number = el("input", {
      type: "number",
      min: "1",
      max: String(this.sizes.length),
      "aria-label": t("goToPage"),
      oninput: () => (this.typing = true),
      onblur: () => (this.typing = false),
      onchange: () => {
        this.typing = false;
        this.scrollTo(Number(this.number.value));
      },
    });
    this.boxing = button(t("drawBox"), () => this.toggleBox(), { "aria-pressed": "false" });
    const several = this.sizes.length > 1;
    this.paired = button(t("twoPages"), () => this.pair(this.columns === 1), { class: "pairs", "aria-pressed": "false" });
    this.bar = el(
      "div",
      { class: "bar", role: "toolbar" },
      several && el("label", {}, t("goToPage"), " ", this.number, ` / ${this.sizes.length}`),
      button("−", () => this.scale(1 / 1.2), { "aria-label": t("zoomOut") }),
      button("+", () => this.scale(1.2), { "aria-label": t("zoomIn") }),
      button(t("fitWidth"), () => this.setZoom("fit")),
      several && this.paired,
      this.boxing,
    );
    this.element = el("div", { class: "reader" }, this.bar, this.scroller);
    this.scroller.addEventListener("pointerdown", (e) => this.startBox(e));
    this.scroller.addEventListener("mouseup", () => setTimeout(() => this.selected()));
    this.scroller.addEventListener("keyup", (e) => e.shiftKey && this.selected());
    new ResizeObserver(() => this.layout()).observe(this.scroller);
  }

  layout() {
    const keep = this.first ?? 1;
    const inside = this.tops ? this.scroller.scrollTop - this.tops[keep - 1] : 0;
    const widest = this.sizes.reduce((most, [width]) => Math.max(most, width), 1);
    const fit = this.fit(widest);
    const scale = this.zoom === "fit" ? fit : Math.min(fit, 96 / 72) * this.zoom;
    const arranged = `${scale} ${this.columns} ${this.shift}`;
    const changed = this.arranged !== arranged;
    this.arranged = arranged;
    this.px = scale;
    let [top, bottom] = [0, 0];
    this.tops = this.sizes.map(([, height], i) => {
      if (!i || !this.isRight(i + 1)) top = bottom + GAP;
      bottom = Math.max(bottom, top + Math.round(height * scale));
      return top;
    });
    this.space.style.height = `${bottom + GAP}px`;
    this.space.style.width = `${Math.ceil(widest * scale) * this.columns + GAP * (this.columns - 1)}px`;
    if (changed) this.clear();
    if (this.pending) this.show(this.pending);
    else if (changed) this.scroller.scrollTop = this.tops[keep - 1] + inside;
    this.draw();
  }

  // The pixels for each point at which all pages, or pairs of pages, are as wide as the view.
  fit(widest) {
    return (Math.max(200, this.scroller.clientWidth - 32) - GAP * (this.columns - 1)) / this.columns / widest;
  }

  isRight(number) {
    return this.columns === 2 && (number - 1 + this.shift) % 2 === 1;
  }

  leftOf(number) {
    return number > 1 && this.isRight(number) ? number - 1 : number;
  }

  // Shows two pages side by side, with the page `left`, or else the first marked page, on the left.
  pair(paired, left = [...this.marks.keys()][0] ?? 1) {
    this.columns = paired ? 2 : 1;
    this.shift = paired ? (left - 1) % 2 : 0;
    this.paired.setAttribute("aria-pressed", String(paired));
    this.layout();
  }

  clear() {
    for (const page of this.shown.values()) page.remove();
    this.shown.clear();
    this.goal = null; // its height has changed
  }

  scale(factor) {
    const fit = this.fit(Math.max(...this.sizes.slice(0, 1000).map(([w]) => w)));
    const now = this.zoom === "fit" ? fit / Math.min(fit, 96 / 72) : this.zoom;
    this.setZoom(Math.min(6, Math.max(0.2, now * factor)));
  }

  setZoom(zoom) {
    this.zoom = zoom;
    this.layout();
  }

  draw() {
    if (!this.tops?.length || !this.scroller.clientHeight) return;
    const top = this.scroller.scrollTop;
    const bottom = top + this.scroller.clientHeight;
    const from = this.leftOf(this.at(top - BEYOND));
    const to = this.at(bottom + BEYOND);
    for (const [number, page] of this.shown)
      if (number < from || number > to) {
        page.remove();
        this.shown.delete(number);
      }
    for (let number = from; number <= to; number++) if (!this.shown.has(number)) this.create(number);
    const isGoal = this.goal && Math.abs(top - this.goal.top) < 2; // a last page may be too short to be on top
    this.first = isGoal ? this.goal.number : this.leftOf(this.at(top + this.scroller.clientHeight / 3));
    if (!this.typing) this.number.value = String(this.first);
  }

  // The number of the page at a height, found by bisection; the right one of two pages.
  at(height) {
    let [low, high] = [0, this.tops.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.tops[middle] <= height) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  create(number) {
    const [width, height] = this.sizes[number - 1].map((side) => Math.round(side * this.px));
    const { id, version } = this.map;
    const page = el("div", {
      class: `page ${this.isImage ? "image" : ""} ${this.columns === 1 ? "" : this.isRight(number) ? "right" : "left"}`,
      "data-page": String(number),
      role: "region",
      "aria-label": t("page", number),
      style: { top: `${this.tops[number - 1]}px`, width: `${width}px`, height: `${height}px` },
    });
    const picture = el("img", {
      alt: t("page", number),
      draggable: "false",
      src: link("picture", { id, page: number, width: Math.ceil(width * (window.devicePixelRatio || 1)), v: version }),
    });
    picture.addEventListener("error", () => {
      page.classList.add("broken");
      page.append(el("p", { class: "problem" }, t("brokenPage")));
    });
    page.append(picture, el("div", { class: "words" }), el("div", { class: "marks" }));
    this.shown.set(number, page);
    this.space.append(page);
    this.drawMarks(number);
    this.addWords(number, page, width, height);
  }

  async addWords(number, page, width, height) {
    const { id, version } = this.map;
    let words = [];
    try {
      words = await get("words", { id, page: number, v: version });
    } catch {
      return;
    }
    if (!page.isConnected) return;
    const layer = page.querySelector(".words");
    let line = words[0]?.[5];
    for (const [text, left, top, wide, high, row] of words) {
      if (row !== line) layer.append(el("br"));
      line = row;
      const size = Math.max(1, high * height * 0.85);
      canvas.font = `${size}px sans-serif`;
      const natural = canvas.measureText(text).width || 1;
      layer.append(
        el(
          "span",
          {
            style: {
              left: `${left * width}px`,
              top: `${top * height}px`,
              fontSize: `${size}px`,
              height: `${high * height}px`,
              transform: `scaleX(${(wide * width) / natural})`,
            },
          },
          `${text} `,
        ),
      );
    }
  }

  // Shows the part that an address names, and marks the words of a quote.
  async show(place) {
    this.place = place;
    if (!this.tops || !this.scroller.clientHeight) {
      this.pending = place;
      return;
    }
    this.pending = null;
    this.marks = new Map();
    const pages = place.pages ?? (place.box ? [1] : []);
    if (place.box && pages.length) {
      const [left, top, right, bottom] = place.box;
      this.marks.set(pages[0], { kind: "part", boxes: [[left, top, right - left, bottom - top]] });
    } else for (const number of pages.slice(0, 2000)) this.marks.set(number, { kind: "outline", boxes: [[0, 0, 1, 1]] });
    this.redraw();
    if (pages.length) this.scrollTo(pages[0], place.box?.[1] ?? 0);
    if (!place.quote || !pages.length) return;
    let found = {};
    try {
      found = await post("marks", { id: this.map.id, pages: pages.slice(0, 20), quote: place.quote, said: place.said });
    } catch (error) {
      say(error.message);
    }
    if (this.place !== place) return;
    const numbers = Object.keys(found).map(Number);
    if (!numbers.length) {
      say(t("notMarked"));
      return;
    }
    this.marks = new Map(numbers.map((number) => [number, { kind: "quote", ...found[number] }]));
    if (numbers.length === 2 && this.scroller.clientWidth >= WIDE) this.pair(true);
    this.redraw();
    this.scrollTo(numbers[0], found[numbers[0]].boxes[0][1]);
  }

  here() {
    return { kind: "pages", at: this.first ?? 1 };
  }

  redraw() {
    for (const number of this.shown.keys()) this.drawMarks(number);
  }

  drawMarks(number) {
    const layer = this.shown.get(number)?.querySelector(".marks");
    if (!layer) return;
    const percent = (value) => `${value * 100}%`;
    const { kind, boxes, differing = [] } = this.marks.get(number) ?? { kind: "", boxes: [] };
    const marked = [...boxes.map((box) => [kind, box]), ...differing.map((box) => ["differs", box])];
    const regions = this.isImage && number === 1 ? this.regions() : [];
    layer.replaceChildren(
      ...regions,
      ...marked.map(([name, [left, top, width, height]]) =>
        el("div", {
          class: `mark ${name}`,
          style: { left: percent(left), top: percent(top), width: percent(width), height: percent(height) },
        }),
      ),
    );
  }

  regions() {
    return this.map.nodes
      .filter(([, , , , fragment]) => fragment.startsWith("bbox=") && fragment !== "bbox=0,0,1,1")
      .map(([, , title, , fragment]) => {
        const [left, top, right, bottom] = fragment.slice(5).split(",").map(Number);
        return el("button", {
          type: "button",
          class: "region",
          title,
          "aria-label": title,
          style: { left: `${left * 100}%`, top: `${top * 100}%`, width: `${(right - left) * 100}%`, height: `${(bottom - top) * 100}%` },
          onclick: () => this.select({ fragment, quote: "" }),
        });
      });
  }

  scrollTo(number, inside = 0) {
    const at = Math.min(Math.max(1, number), this.sizes.length);
    const height = this.sizes[at - 1][1] * this.px;
    const above = inside ? this.scroller.clientHeight / 3 : GAP / 2;
    this.scroller.scrollTop = Math.max(0, this.tops[at - 1] + inside * height - above);
    this.goal = { number: at, top: this.scroller.scrollTop };
    this.draw();
  }

  // Reports the address and the words of the selected text.
  selected() {
    const chosen = document.getSelection();
    const text = chosen?.toString().replace(/\s+/g, " ").trim();
    if (!text || !this.space.contains(chosen.anchorNode)) return;
    const pages = [chosen.anchorNode, chosen.focusNode]
      .map((node) => Number((node.nodeType === 1 ? node : node.parentElement)?.closest(".page")?.dataset.page))
      .filter(Boolean)
      .sort((a, b) => a - b);
    if (this.isImage && pages.at(-1) > 1) return say(t("firstPageOnly"));
    if (this.isImage) return this.select({ fragment: `bbox=${this.around(chosen)}`, quote: text });
    if (pages.length === 2) this.select({ fragment: `pages=${span(pages[0], pages[1])}`, quote: text });
  }

  // The corners of the box around the selected words of an image.
  around(chosen) {
    const frame = this.space.querySelector(".page").getBoundingClientRect();
    const words = [...this.space.querySelectorAll(".words span")].filter((word) => chosen.containsNode(word, true));
    const boxes = words.map((word) => word.getBoundingClientRect());
    const share = (value, start, size) => Math.min(1, Math.max(0, (value - start) / size)).toFixed(4);
    const x = (value) => Number(share(value, frame.left, frame.width));
    const y = (value) => Number(share(value, frame.top, frame.height));
    const [lefts, tops, rights, bottoms] = ["left", "top", "right", "bottom"].map((edge) => boxes.map((box) => box[edge]));
    return [x(Math.min(...lefts)), y(Math.min(...tops)), x(Math.max(...rights)), y(Math.max(...bottoms))].join(",");
  }

  toggleBox() {
    this.isBoxing = !this.isBoxing;
    this.boxing.setAttribute("aria-pressed", String(this.isBoxing));
    this.scroller.classList.toggle("boxing", this.isBoxing);
    if (this.isBoxing) say(t("drawing"));
  }

  startBox(event) {
    const page = this.isBoxing && event.target.closest(".page");
    if (!page) return;
    if (this.isImage && page.dataset.page !== "1") return say(t("firstPageOnly"));
    event.preventDefault();
    const frame = page.getBoundingClientRect();
    const point = (e) => [
      Math.min(1, Math.max(0, (e.clientX - frame.left) / frame.width)),
      Math.min(1, Math.max(0, (e.clientY - frame.top) / frame.height)),
    ];
    const start = point(event);
    const shown = el("div", { class: "mark part" });
    page.querySelector(".marks").append(shown);
    let box = null;
    const move = (e) => {
      const end = point(e);
      box = [0, 1].map((i) => Math.min(start[i], end[i])).concat([0, 1].map((i) => Math.max(start[i], end[i])));
      Object.assign(shown.style, {
        left: `${box[0] * 100}%`,
        top: `${box[1] * 100}%`,
        width: `${(box[2] - box[0]) * 100}%`,
        height: `${(box[3] - box[1]) * 100}%`,
      });
    };
    const end = () => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", end);
      if (!box || box[2] - box[0] < 0.005 || box[3] - box[1] < 0.005) {
        shown.remove();
        return;
      }
      this.toggleBox();
      const corners = box.map((edge) => Number(edge.toFixed(4))).join(",");
      const pages = this.isImage ? "" : `pages=${page.dataset.page}&`;
      this.select({ fragment: `${pages}bbox=${corners}`, quote: "" });
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", end);
  }
}
