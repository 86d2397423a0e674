// Shows what the address of the page names: everything mapped, or a part of a file.
import { get, post } from "./api.js";
import { Chapters } from "./chapters.js";
import { button, el, say } from "./dom.js";
import { Editing } from "./editing.js";
import { Homes } from "./homes.js";
import { Library } from "./library.js";
import { markDiffering } from "./marking.js";
import { Page } from "./page.js";
import { Pages } from "./pages.js";
import { Check, Found, Part } from "./panels.js";
import { around, base, path, read } from "./place.js";
import { Recording } from "./recording.js";
import { Sheet } from "./sheet.js";
import { t } from "./strings.js";
import { Text } from "./text.js";
import { Tree } from "./tree.js";

const VIEWS = { pages: Pages, slides: Chapters, html: Page, lines: Text, rows: Sheet, chapters: Chapters, recording: Recording };
const [side, main, query] = ["side", "main", "query"].map((id) => document.getElementById(id));
const narrow = matchMedia("(max-width: 50rem)");

const app = {
  map: null,
  view: null,
  tree: null,
  library: null,
  found: new Found((href) => go(href)),
  check: new Check((href) => go(href)),
  part: new Part((href) => go(href)),
};

const panels = el("div", { class: "panels" });
const tabs = el("div", { role: "tablist", class: "tabs" });
const names = ["contents", "found", "check"];

function start() {
  document.getElementById("toggle").setAttribute("aria-label", t("toggleSide"));
  document.getElementById("toggle").addEventListener("click", () => showSide(document.body.classList.contains("no-side")));
  document.querySelector("#search button").textContent = t("search");
  document.getElementById("search").addEventListener("submit", (e) => {
    e.preventDefault();
    search(query.value.trim());
  });
  document.getElementById("home").addEventListener("click", (e) => {
    if (e.ctrlKey || e.metaKey) return;
    e.preventDefault();
    go(`${base}/`);
  });
  document.getElementById("actions").append(button(t("check"), () => tab("check")));
  tabs.append(
    ...names.map((name) => button(t(name), () => tab(name), { role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`, "aria-selected": "false" })),
  );
  panels.append(...names.map((name) => el("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, hidden: true })));
  panels.children[1].append(app.found.element);
  panels.children[2].append(app.check.element);
  side.append(tabs, panels);
  window.addEventListener("popstate", show);
  window.addEventListener("hashchange", show);
  document.addEventListener("dragover", (e) => e.preventDefault());
  document.addEventListener("drop", (e) => {
    e.preventDefault();
    const files = [...e.dataTransfer.files];
    if (files.length) go(`${base}/`).then(() => app.library.add(files));
  });
  document.addEventListener("keydown", (e) => {
    if (e.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(e.target.tagName)) {
      e.preventDefault();
      query.focus();
    }
  });
  const asked = new URLSearchParams(location.search).get("q");
  show().then(() => {
    if (!asked) return;
    query.value = asked;
    search(asked);
  });
}

function tab(name) {
  names.forEach((each, i) => {
    tabs.children[i].setAttribute("aria-selected", String(each === name));
    panels.children[i].hidden = each !== name;
  });
  showSide(true);
  if (name === "check") app.check.input.focus();
}

function showSide(shown) {
  document.body.classList.toggle("no-side", !shown);
  document.getElementById("toggle").setAttribute("aria-expanded", String(shown));
}

function search(words) {
  if (!words) return;
  if (/^[a-z]+:\/\/\S+$/.test(words)) {
    get("place", { of: words }).then(({ path }) => go(base + path), (error) => say(error.message));
    return;
  }
  tab("found");
  app.found.search(words, app.map?.id ?? "", app.map ? "" : app.library?.tag);
}

// Opens a path of this page.
async function go(href) {
  if (href !== location.pathname + location.hash) history.pushState(null, "", href);
  if (narrow.matches) showSide(false);
  await show();
}

let turn = 0;
async function show() {
  const mine = ++turn;
  const here = location.pathname.slice(base.length);
  const id = here.startsWith("/r/") ? decodeURIComponent(here.slice(3)) : "";
  if (!base) {
    main.replaceChildren(new Homes(id).element);
    return;
  }
  tabs.children[0].hidden = !id;
  query.placeholder = id ? t("searchHere") : t("searchEverything");
  query.setAttribute("aria-label", query.placeholder);
  if (!id) return showLibrary();
  try {
    if (app.map?.id !== id) await open(id, mine);
    if (mine !== turn || app.map?.id !== id) return;
    const place = read(location.hash);
    const exact = app.map.nodes.findIndex(([, , , , fragment]) => fragment && fragment === place.fragment);
    const at = exact >= 0 ? exact : around(app.map.nodes, place);
    if (at >= 0) app.tree.mark(at, true);
    const wording = place.said && place.quote ? await post("wording", { said: place.said, quote: place.quote }) : null;
    if (mine !== turn) return;
    if (place.fragment) app.part.show(app.map, place.fragment, place.quote, wording);
    else app.part.hide();
    await app.view?.show(place);
    if (wording && mine === turn) for (const root of [main, main.querySelector("iframe")?.contentDocument]) if (root) markDiffering(root, wording);
  } catch (error) {
    main.replaceChildren(el("section", { class: "problem" }, el("h1", {}, t("error")), el("p", {}, error.message)));
    app.map = null;
  }
}

function showLibrary() {
  app.map = null;
  document.title = t("title");
  app.library = new Library((e, id) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    go(path(id));
  });
  main.replaceChildren(app.library.element);
  const open = names.findIndex((_, i) => !panels.children[i].hidden);
  if (open <= 0) {
    panels.children[0].hidden = true;
    showSide(false);
  }
}

async function open(id, mine) {
  main.replaceChildren(el("p", { class: "loading" }, t("loading")));
  const map = await get("map", { id });
  if (mine !== turn) return;
  app.map = map;
  document.title = `${map.title || map.id} - ${t("title")}`;
  const View = VIEWS[map.layout];
  app.view = View ? new View(map, (chosen) => select(map, chosen)) : null;
  main.replaceChildren(
    el("h1", { class: "hidden-title" }, map.title || map.id),
    app.view?.element ?? el("p", { class: "problem" }, map.problem || t("nothingToShow")),
    app.part.element,
  );
  showMap(map);
  if (panels.children[1].hidden && panels.children[2].hidden) tab("contents");
  if (narrow.matches) showSide(false);
}

// Shows the tree of a map, with the node that has an ID chosen.
function showMap(map, chosen = "") {
  app.map = map;
  app.tree = new Tree(map.nodes, (node) => {
    editing.chosen();
    if (node[4]) go(path(map.id, node[4]));
  });
  const editing = new Editing(map, () => map.nodes[app.tree.current], () => app.view.here(), (changed, node) => {
    showMap(changed, node);
    app.editing.show(true);
  });
  app.editing = editing;
  const notes = map.notes.length && el("details", { class: "notes" }, el("summary", {}, t("notes")), map.notes.map((note) => el("p", {}, note)));
  panels.children[0].replaceChildren(
    el("h2", { class: "title", title: map.source }, map.title || map.id),
    ...(notes ? [notes] : []),
    app.tree.element,
    ...(app.view ? [editing.element] : []),
  );
  const at = map.nodes.findIndex(([id]) => id === chosen);
  if (at >= 0) app.tree.mark(at, true);
}

// Shows a part that was chosen in the document. The words of a selection stay selected; nothing scrolls.
function select(map, { fragment, quote }) {
  if (quote) {
    history.replaceState(null, "", path(map.id, fragment, quote));
    app.part.show(map, fragment, quote);
  } else go(path(map.id, fragment));
}

window.addEventListener("unhandledrejection", (e) => say(e.reason?.message ?? String(e.reason)));
start();
