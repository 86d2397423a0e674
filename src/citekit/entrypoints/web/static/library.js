// The list of everything mapped.
import { get, post, upload } from "./api.js";
import { button, el, say } from "./dom.js";
import { path } from "./place.js";
import { t } from "./strings.js";

export class Library {
  constructor(open) {
    this.open = open;
    this.sort = ["title", 1];
    this.rows = [];
    this.states = new Map(); // the state of each resource, asked when its row comes into view
    this.watcher = new IntersectionObserver((seen) => seen.forEach((each) => each.isIntersecting && this.check(each.target)));
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
    this.tag = new URLSearchParams(location.search).get("tag") ?? "";
    this.tags = el("div", { class: "tags", role: "group", "aria-label": t("tags") });
    this.home = el("p", { class: "note" });
    this.heads = ["title", "type", "size", "tags", "state", "source"].map((key) =>
      el(
        "th",
        { scope: "col", "data-key": key },
        button(t({ title: "name", source: "file" }[key] ?? key), () => this.by(key), { class: "quiet" }),
      ),
    );
    this.element = el(
      "section",
      { class: "library" },
      el("h1", {}, t("library")),
      this.home,
      el("div", { class: "bar" }, this.input, this.count, button(t("addFile"), () => this.chooser.click()), this.chooser),
      this.tags,
      el("p", { class: "note" }, t("drop")),
      el("table", {}, el("thead", {}, el("tr", {}, this.heads)), this.body),
      this.foot,
    );
    this.load();
    this.name();
    this.listTags();
  }

  // The tags, by which the list and the search are narrowed.
  async listTags() {
    const tags = await get("tags");
    const chip = ([tag, count]) => {
      const chosen = tag.toLowerCase() === this.tag.toLowerCase();
      return button(`${tag} ${count}`, () => this.choose(chosen ? "" : tag), { "aria-pressed": String(chosen), class: "tag" });
    };
    this.tags.replaceChildren(...tags.map(chip));
    this.tags.hidden = !tags.length;
  }

  choose(tag) {
    this.tag = tag;
    history.replaceState(null, "", tag ? `?tag=${encodeURIComponent(tag)}` : location.pathname);
    this.load();
    this.listTags();
  }

  async change(row, values) {
    try {
      row.tags = await post("tag", { id: row.id, ...values });
      this.draw();
      await this.listTags();
    } catch (error) {
      say(error.message);
    }
  }

  tagsOf(row) {
    const added = el("input", { type: "text", class: "new-tag", maxlength: "60", "aria-label": t("addTag", row.title || row.id), placeholder: "+" });
    const chips = row.tags.map((tag) =>
      el("span", { class: "tag" }, tag, button("×", () => this.change(row, { remove: tag }), { class: "quiet", "aria-label": t("removeTag", tag) })),
    );
    return el(
      "form",
      {
        class: "tags",
        onsubmit: (e) => {
          e.preventDefault();
          if (added.value.trim()) this.change(row, { add: added.value });
        },
      },
      chips,
      added,
    );
  }

  async name() {
    const { home, others } = await get("home");
    this.home.append(home, " ", ...(others ? [el("a", { href: "/" }, t("otherHomes"))] : []));
  }

  async load(cursor = "") {
    const query = this.input.value.trim();
    try {
      const tag = this.tag;
      const found = await get("resources", { query, cursor, tag });
      if (query !== this.input.value.trim() || tag !== this.tag) return;
      this.rows = cursor ? [...this.rows, ...found.resources] : found.resources;
      this.total = found.total;
      this.next = found.next;
      if (!cursor) this.states.clear();
      this.draw();
    } catch (error) {
      say(error.message);
    }
  }

  // Sorts all files, not only those that were loaded.
  async by(key) {
    this.sort = [key, this.sort[0] === key ? -this.sort[1] : 1];
    for (let next = ""; this.next && this.next !== next && this.sort[0] === key; ) {
      next = this.next;
      await this.load(next);
    }
    if (key === "state") for (const row of this.rows) await this.stateOf(row.id);
    this.draw();
  }

  draw() {
    const [key, way] = this.sort;
    const value = (row) =>
      key === "size" ? (row.bytes ?? 0) : String((key === "state" ? this.states.get(row.id)?.text : (row[key] ?? row.id)) ?? "").toLowerCase();
    const order = (a, b) => (value(a) > value(b) ? way : value(a) < value(b) ? -way : 0);
    for (const head of this.heads) head.setAttribute("aria-sort", head.dataset.key !== key ? "none" : way > 0 ? "ascending" : "descending");
    this.count.textContent = t("resources", this.total);
    this.watcher.disconnect();
    this.body.replaceChildren(...[...this.rows].sort(order).map((row) => this.row(row)));
    for (const row of this.body.children) if (row.dataset.id) this.watcher.observe(row);
    this.foot.replaceChildren(...(this.next ? [button(t("more"), () => this.load(this.next))] : []));
    if (!this.total) this.foot.replaceChildren(el("p", {}, this.input.value ? t("nothingFound") : t("nothingMapped")));
  }

  row(row) {
    if (row.problem) return el("tr", {}, el("td", {}, row.id), el("td", { colspan: "5" }, row.problem));
    const name = row.source.split(/[\\/]/).at(-1);
    const link = el("a", { href: path(row.id), onclick: (e) => this.open(e, row.id) }, row.title || row.id);
    return el(
      "tr",
      { "data-id": row.id },
      el("td", { class: "title" }, link),
      el("td", {}, row.format ?? row.type),
      el("td", {}, row.size ?? ""),
      el("td", { class: "tagged" }, this.tagsOf(row)),
      el("td", { class: "state" }, "…"),
      el("td", { class: "path", title: row.source }, name),
    );
  }

  async check(row) {
    this.watcher.unobserve(row);
    const cell = row.querySelector(".state");
    const { state, text, message } = await this.stateOf(row.dataset.id);
    cell.textContent = text;
    if (state) cell.classList.add(state);
    cell.title = message ?? "";
  }

  async stateOf(id) {
    if (!this.states.has(id)) {
      const found = await get("state", { id }).catch((error) => ({ message: error.message }));
      this.states.set(id, { ...found, text: t(found.state ?? "error") });
    }
    return this.states.get(id);
  }

  async add(files) {
    for (const file of files) await this.addOne(file);
  }

  // Sends and maps a file, with a bar: first the share that was sent, then that of the mapping.
  async addOne(file) {
    const job = crypto.randomUUID();
    const stop = new AbortController();
    const bar = el("progress", { max: 1, value: 0, "aria-label": file.name });
    const step = el("span", { class: "note" }, t("sending"));
    const cancel = () => {
      stop.abort();
      post("cancel", { job });
    };
    const line = el("div", { class: "adding" }, el("span", {}, file.name), bar, step, button(t("cancel"), cancel));
    this.foot.before(line);
    say(t("adding", file.name));
    const asking = setInterval(async () => {
      const found = await get("progress", { job }).catch(() => null);
      if (!found?.[2] && !found?.[1]) return;
      step.textContent = found[2];
      if (found[1]) bar.value = found[0] / found[1];
      else bar.removeAttribute("value");
    }, 500);
    const told = (share) => {
      bar.value = share;
      if (share === 1) {
        bar.removeAttribute("value");
        step.textContent = t("mapping");
      }
    };
    try {
      const made = await upload("add", file, job, told, stop.signal);
      say(t("added", made.title));
      await this.load();
    } catch (error) {
      say(`${file.name}: ${error.message}`);
    } finally {
      clearInterval(asking);
      line.remove();
    }
  }
}
