// The side panels: search results, the check of an answer, and the chosen part with its evidence.
import { link, post, send } from "./api.js";
import { button, copy, el, say } from "./dom.js";
import { base, ofAddress, path } from "./place.js";
import { t } from "./strings.js";

// A link that opens an address with a marked quote inside this page.
function place(address, quote, go, said = "") {
  const found = ofAddress(address);
  if (!found) return el("span", {}, address);
  const href = path(found.id, found.fragment, quote, said);
  return el(
    "a",
    {
      href,
      class: "place",
      onclick: (e) => {
        if (e.ctrlKey || e.metaKey || e.shiftKey || e.button) return;
        e.preventDefault();
        go(href);
      },
    },
    address,
  );
}

export class Found {
  constructor(go) {
    this.go = go;
    this.list = el("div", { class: "results" });
    this.element = el("div", { class: "panel" }, this.list);
  }

  async search(query, id, tag = "") {
    this.list.replaceChildren(el("p", {}, t("loading")), el("p", { class: "note late" }, t("firstSearch")));
    this.stop?.abort();
    this.stop = new AbortController();
    try {
      this.draw(await post("find", { query, id, tag, limit: 50 }, this.stop.signal));
    } catch (error) {
      if (error.name !== "AbortError") this.list.replaceChildren(el("p", { class: "bad" }, error.message));
    }
  }

  draw(found) {
    const all = [...found.titled, ...found.hits];
    if (!all.length) {
      this.list.replaceChildren(el("p", {}, t("nothingFound")));
      return;
    }
    const groups = Map.groupBy ? Map.groupBy(all, (hit) => hit.id) : groupBy(all);
    const count = found.total > found.hits.length ? t("onlySome", found.hits.length, found.total) : t("matches", found.total);
    this.list.replaceChildren(
      el("p", { class: "note" }, found.partial && !found.titled.length ? t("noneHasAll") : count),
      ...[...groups.values()].map((hits) =>
        el(
          "section",
          {},
          el("h3", {}, hits[0].title),
          hits.map((hit) => this.hit(hit)),
        ),
      ),
    );
  }

  hit(hit) {
    const where = ofAddress(hit.address);
    const href = path(where.id, where.fragment, hit.hidden ? "" : hit.kind ? hit.text : hit.quote);
    return el(
      "a",
      {
        class: "hit",
        href,
        onclick: (e) => {
          if (e.ctrlKey || e.metaKey || e.shiftKey) return;
          e.preventDefault();
          this.go(href);
        },
      },
      el("span", { class: "line" }, hit.text),
      el("span", { class: "where" }, [hit.titles.at(-1), decodeURI(where.fragment)].filter(Boolean).join(" · ")),
      hit.hidden && el("span", { class: "bad" }, t("hidden")),
    );
  }
}

function groupBy(hits) {
  const groups = new Map();
  for (const hit of hits) groups.set(hit.id, [...(groups.get(hit.id) ?? []), hit]);
  return groups;
}

const RECEIPT = 20_000; // the maximum size in bytes of a receipt that is sent with its evidence

export class Check {
  constructor(go) {
    this.go = go;
    this.input = el("textarea", { rows: "8", "aria-label": t("answer"), placeholder: t("pasteAnswer") });
    this.list = el("div", { class: "results" });
    this.chooser = el("input", { type: "file", multiple: true, hidden: true, onchange: () => this.verify([...this.chooser.files]) });
    this.zone = el("div", { class: "zone" }, el("p", { class: "note" }, t("dropEvidence")), button(t("verifyFile"), () => this.chooser.click()), this.chooser);
    this.element = el("div", { class: "panel" }, this.input, button(t("checkAnswer"), () => this.check(), { class: "main" }), this.list, this.zone);
    this.zone.addEventListener("dragover", (e) => e.preventDefault());
    this.zone.addEventListener("drop", (e) => {
      e.preventDefault();
      e.stopPropagation();
      if (e.dataTransfer.files.length) this.verify([...e.dataTransfer.files]);
    });
  }

  async check() {
    this.list.replaceChildren(el("p", {}, t("loading")));
    try {
      const { results, left_out: left } = await post("check", { text: this.input.value });
      this.list.replaceChildren(
        ...results.map((result) => this.result(result)),
        ...(results.length ? [] : [el("p", {}, t("noQuotes"))]),
        ...(left ? [el("p", {}, t("leftOut", left))] : []),
      );
    } catch (error) {
      this.list.replaceChildren(el("p", { class: "bad" }, error.message));
    }
  }

  result(result) {
    if (result.problem)
      return el("article", {}, badge("problem"), result.quote && el("blockquote", {}, result.quote), el("p", { class: "bad" }, result.problem), result.address && el("p", {}, result.address));
    if (!result.quote) return el("article", {}, badge("address"), place(result.address, "", this.go), el("p", { class: "note" }, result.titles.join(" › ")));
    return el("article", {}, verdictOf(result.verdict, this.go));
  }

  // Verifies evidence, a receipt, or evidence with its receipt.
  async verify(files) {
    this.list.replaceChildren(el("p", {}, t("loading")));
    try {
      const receipt = files.length > 1 ? files.find((each) => each.name.endsWith(".json") && each.size < RECEIPT) : null;
      const found = await send("verify", files.find((each) => each !== receipt), receipt ? await receipt.text() : "");
      const isReceipt = found.ruling === "receipt-only";
      const said = found.genuine ? t("genuine") : found.refuted ? t("refuted") : isReceipt ? t("receiptOnly") : t("open_");
      this.list.replaceChildren(
        el(
          "article",
          {},
          el("p", { class: found.genuine || isReceipt ? "good" : "bad" }, said),
          place(found.address, "", this.go),
          el(
            "ul",
            {},
            found.checks
              .filter((each) => !isReceipt || each.passed !== null)
              .map((each) => el("li", { class: each.passed ? "good" : "bad" }, `${each.name}: ${each.detail}`)),
          ),
        ),
      );
    } catch (error) {
      this.list.replaceChildren(el("p", { class: "bad" }, error.message));
    }
  }
}

function badge(finding) {
  return el("span", { class: `badge ${finding}` }, t("findings")[finding]);
}

// The verdict on a quote, with links to the places that have its words.
export function verdictOf(verdict, go) {
  const near = verdict.near;
  const isReworded = near && verdict.finding === "absent";
  const finding = isReworded ? "altered" : verdict.visible ? verdict.finding : "hidden";
  const parts = [
    badge(finding),
    el("blockquote", {}, near ? worded(near.wording, 1, "del") : verdict.quote),
    el("p", { class: "note" }, t("explains")[isReworded ? "reworded" : finding]),
  ];
  for (const each of verdict.places.slice(0, 10)) {
    parts.push(el("p", {}, place(each.address, each.text, go, finding === "altered" ? verdict.quote : "")));
    if (finding === "altered" || finding === "normalised") parts.push(el("p", { class: "source" }, `${t("source")}: “${each.text}”`));
    for (const gap of each.gaps ?? []) parts.push(el("p", { class: gap.changes_meaning ? "bad" : "note" }, `${t("leftOutWords")}: “${gap.text}”`));
    if (each.changes) parts.push(el("p", { class: "bad" }, each.changes.join("; ")));
  }
  if (near) {
    parts.push(el("p", {}, place(near.address, near.text, go, verdict.quote)));
    parts.push(el("p", { class: "source" }, `${t(isReworded ? "source" : "nearest")}: “`, worded(near.wording, 2, "ins"), "”"));
  }
  return parts;
}

// The words of a quote (1) or of the passage (2); those that differ are in `name` elements.
function worded(wording, side, name) {
  return wording.filter((each) => each[side]).flatMap((each, i) => [i ? " " : "", each[0] ? each[side] : el(name, {}, each[side])]);
}

export class Part {
  constructor(go) {
    this.go = go;
    this.body = el("div");
    this.element = el("div", { id: "part", hidden: true }, button("×", () => this.hide(), { class: "quiet close", "aria-label": t("close") }), this.body);
  }

  hide() {
    this.element.hidden = true;
  }

  // Shows what can be done with a part of a file, and with the words that were selected in it. `wording` compares these
  // with what a model said.
  show(map, fragment, quote, wording = null) {
    const address = `${map.scheme}://${encodeURIComponent(map.id)}#${fragment}`;
    const answer = el("div", { class: "results" });
    const cite = async (use) => {
      try {
        use(await post("cite", { address, quote, origin: location.origin + base }));
      } catch (error) {
        say(error.message);
      }
    };
    this.element.hidden = false;
    this.body.replaceChildren(
      el("h2", {}, quote ? t("selection") : t("thisPart")),
      ...(wording ? [el("p", { class: "note" }, t("said")), el("blockquote", {}, worded(wording, 1, "del")), el("p", { class: "note" }, t("source"))] : []),
      ...(quote ? [el("blockquote", { class: wording && "source" }, wording ? worded(wording, 2, "ins") : quote)] : []),
      el("code", { class: "address" }, address),
      el(
        "div",
        { class: "actions" },
        quote && map.type !== "image" && button(t("checkQuote"), () => this.check(quote, address, answer), { class: "main" }),
        button(t("copyAddress"), () => cite((found) => copy(found.address, t("copied")))),
        button(t("copyLink"), () => cite((found) => copy(location.origin + base + found.link, t("copied")))),
        el(
          "label",
          {},
          `${t("copyAs")} `,
          el(
            "select",
            {
              onchange: (e) => {
                const form = e.target.value;
                e.target.value = "";
                cite((found) => copy(typeof found[form] === "string" ? found[form] : JSON.stringify(found[form], null, 2), t("copied")));
              },
            },
            el("option", { value: "" }, "…"),
            Object.entries(t("citations")).map(([form, name]) => el("option", { value: form }, name)),
          ),
        ),
      ),
      el(
        "div",
        { class: "actions", role: "group", "aria-label": t("download") },
        el("span", { class: "note" }, t("download")),
        formsOf(map).map(([form, name]) => button(name, () => this.download(address, form, answer), { "aria-label": `${t("download")} ${name}` })),
      ),
      answer,
    );
  }

  async check(quote, address, answer) {
    answer.replaceChildren(el("p", {}, t("loading")));
    try {
      answer.replaceChildren(...verdictOf(await post("quote", { quote, where: address }), this.go));
    } catch (error) {
      answer.replaceChildren(el("p", { class: "bad" }, error.message));
    }
  }

  async download(address, form, answer) {
    answer.replaceChildren(el("p", {}, t("loading")));
    try {
      const made = await post("resolve", { address, form });
      const file = link("evidence", { digest: made.digest, name: made.name });
      answer.replaceChildren(
        el("p", {}, el("a", { href: file, download: made.name }, `${made.name} (${bytes(made.size)})`)),
        el("p", {}, el("a", { href: link("receipt", { digest: made.digest }), download: `${made.name}.receipt.json` }, t("receipt"))),
        ...made.notes.map((note) => el("p", { class: "note" }, note)),
      );
      el("a", { href: file, download: made.name }).click();
    } catch (error) {
      answer.replaceChildren(el("p", { class: "bad" }, error.message));
    }
  }
}

// The forms of evidence with their names. The mini-PDF of a PDF has one name only.
function formsOf(map) {
  const own = t("native")[map.format] ?? t("native")[map.type] ?? t("native").other;
  return map.forms.filter((form) => form !== map.format).map((form) => [form, form === "native" ? own : (t("forms")[form] ?? form)]);
}

function bytes(size) {
  for (const [limit, unit] of [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"]]) if (size >= limit) return `${(size / limit).toFixed(1)} ${unit}`;
  return `${size} B`;
}


