// Chapters of books, one at a time, as clean HTML in a frame in which nothing runs.
import { get, link } from "./api.js";
import { button, el, say } from "./dom.js";
import { markText, unmark } from "./marking.js";
import { letters } from "./place.js";
import { t } from "./strings.js";

const LONGEST = 40_000; // letters of a part that is marked as a whole

export class Chapters {
  constructor(map, select) {
    this.map = map;
    this.select = select;
    this.number = 0;
    this.label = el("span", { class: "grow" });
    this.before = button("‹", () => this.go(this.number - 1), { "aria-label": t("previous") });
    this.after = button("›", () => this.go(this.number + 1), { "aria-label": t("next") });
    this.frame = el("iframe", { class: "chapter", sandbox: "allow-same-origin", title: t("chapter", 1) });
    this.element = el("div", { class: "reader" }, el("div", { class: "bar", role: "toolbar" }, this.before, this.label, this.after), this.frame);
  }

  go(number) {
    this.select({ fragment: `chapter=${number}`, quote: "" });
  }

  async show(place) {
    this.place = place;
    const number = place.chapter ?? 1;
    await this.open(number);
    const inside = this.frame.contentDocument;
    if (this.place !== place || !inside?.body) return;
    unmark(inside.body);
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

  here() {
    return { kind: "chapter", at: this.number };
  }

  open(number) {
    if (number === this.number) return this.loaded;
    this.number = number;
    this.label.textContent = this.map.chapters ? `${t("chapter", number)} / ${this.map.chapters}` : t("chapter", number);
    this.before.disabled = number <= 1;
    this.after.disabled = number >= (this.map.chapters ?? number);
    this.frame.title = t("chapter", number);
    this.loaded = new Promise((done) => {
      this.frame.onload = () => {
        const inside = this.frame.contentDocument;
        inside?.addEventListener("mouseup", () => setTimeout(() => this.selected()));
        done();
      };
    });
    this.frame.src = link("chapter", { id: this.map.id, number, v: this.map.version });
    return this.loaded;
  }

  selected() {
    const text = this.frame.contentDocument.getSelection()?.toString().trim();
    if (text) this.select({ fragment: `chapter=${this.number}`, quote: text });
  }
}
