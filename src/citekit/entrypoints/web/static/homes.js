// The page for an address without a home: lists the homes that were viewed, or only those that have the resource.
import { get } from "./api.js";
import { el } from "./dom.js";
import { t } from "./strings.js";

export class Homes {
  constructor(id) {
    this.list = el("ul", { class: "homes" }, el("li", {}, t("loading")));
    this.element = el("section", { class: "library" }, el("h1", {}, id ? t("homesWith", id) : t("homes")), this.list);
    document.body.classList.add("no-side");
    this.load(id).catch((error) => this.list.replaceChildren(el("li", { class: "bad" }, error.message)));
  }

  async load(id) {
    const homes = await get("homes", { id });
    const href = ({ key }) => `/h/${key}${location.pathname}${location.search}${location.hash}`;
    if (homes.length === 1) {
      location.replace(href(homes[0]));
      return;
    }
    this.list.replaceChildren(
      ...homes.map((home) => el("li", {}, el("a", { href: href(home) }, home.name), " ", el("span", { class: "path" }, home.home))),
      ...(homes.length ? [] : [el("li", {}, t("nothingFound"))]),
    );
  }
}
