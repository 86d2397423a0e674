// An HTML file, as a page or as its numbered lines. An SVG file is a picture until lines of it are shown.
import { link } from "./api.js";
import { Chapters } from "./chapters.js";
import { button, el, say } from "./dom.js";
import { t } from "./strings.js";
import { Text } from "./text.js";

export class Page {
  constructor(map, select) {
    this.map = map;
    this.select = select;
    this.page = new Chapters(map, select);
    this.toggle = button(t("showSource"), () => this.turn(), { "aria-pressed": "false" });
    this.holder = el("div", { class: "reader" }, this.page.element);
    this.element = el("div", { class: "reader" }, el("div", { class: "bar", role: "toolbar" }, el("span", { class: "grow" }), this.toggle), this.holder);
    this.view = this.page;
    this.ready = this.check();
  }

  // Files that are too large to be shown as a page are shown as lines.
  async check() {
    const answer = await fetch(link("chapter", { id: this.map.id, number: 1, v: this.map.version }));
    if (answer.ok) return;
    say((await answer.json()).message);
    this.toggle.hidden = true;
    this.swap();
  }

  swap() {
    const isPage = this.view === this.page;
    this.view = isPage ? (this.lines ??= new Text({ ...this.map, layout: "lines" }, this.select)) : this.page;
    this.toggle.setAttribute("aria-pressed", String(isPage));
    this.holder.replaceChildren(this.view.element);
    this.page.number = 0; // a frame that was taken out of the page is loaded again
  }

  turn() {
    this.swap();
    if (this.place) this.view.show(this.place);
  }

  async show(place) {
    this.place = place;
    await this.ready;
    if (this.map.format === "xml" && place.first && this.view === this.page) this.swap();
    return this.view.show(place);
  }

  here() {
    return this.view.here();
  }
}
