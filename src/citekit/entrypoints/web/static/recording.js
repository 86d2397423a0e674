// Videos and sound recordings: a player with captions, a timeline of the parts, and the transcript.
import { get, link } from "./api.js";
import { button, el, say } from "./dom.js";
import { markText, unmark } from "./marking.js";
import { letters, time } from "./place.js";
import { t } from "./strings.js";

const AHEAD = "600px"; // how far outside the view the words of a subtitle become elements
const OPENED = 200; // subtitles of a part whose words become elements when it is shown

export class Recording {
  constructor(map, select) {
    this.map = map;
    this.select = select;
    this.until = Infinity;
    this.start = 0;
    const { id, version } = map;
    this.player = el("audio video".split(" ")[map.type === "video" ? 1 : 0], {
      controls: true,
      preload: "metadata",
      src: link("media", { id, v: version }),
    });
    this.player.addEventListener("error", () => this.note.replaceChildren(t("cannotPlay")));
    this.player.addEventListener("timeupdate", () => this.moved());
    this.note = el("p", { class: "note" });
    this.line = el("div", { class: "timeline", role: "group", "aria-label": t("timeline") });
    this.heard = el("p", { class: "note", hidden: true });
    this.words = el("div", { class: "transcript", role: "group", "aria-label": t("transcript"), "aria-description": t("transcriptKeys") });
    this.words.addEventListener("mouseup", () => setTimeout(() => this.selected()));
    this.words.addEventListener("click", (e) => document.getSelection().isCollapsed && this.seek(e.target.closest(".word")));
    this.words.addEventListener("focusin", (e) => this.stopAt(e.target));
    this.words.addEventListener("keydown", (e) => this.key(e));
    const bar = el(
      "div",
      { class: "bar", role: "toolbar" },
      button(t("setStart"), () => this.begin()),
      button(t("setEnd"), () => this.cut()),
    );
    this.element = el("div", { class: "reader recording" }, this.player, this.note, this.line, bar, this.heard, this.words);
    this.drawLine();
    this.ready = this.load();
    this.drawWave();
  }

  async load() {
    const found = await get("subtitles", { id: this.map.id, v: this.map.version }).catch(() => ({ cues: [], transcriber: "" }));
    this.cues = found.cues;
    if (!this.cues.length) {
      this.words.replaceChildren(el("p", { class: "note" }, t("noTranscript")));
      return;
    }
    const track = el("track", { kind: "captions", src: link("captions", { id: this.map.id, v: this.map.version }), default: true });
    this.player.append(track);
    this.heard.hidden = !found.transcriber;
    this.heard.textContent = t("heard", found.transcriber);
    this.lines = this.cues.map(([start, end, text], i) =>
      el(
        "div",
        { class: "cue", "data-number": String(i) },
        button(time(start), () => this.select({ fragment: `t=${start}-${end}`, quote: "" }), { class: "number", tabindex: "-1", "data-unmarked": true }),
        el("span", { class: "said" }, text),
      ),
    );
    this.words.replaceChildren(...this.lines);
    const near = new IntersectionObserver(
      (found) => found.forEach((each) => each.isIntersecting && this.divide(each.target)),
      { root: this.words, rootMargin: AHEAD },
    );
    this.lines.forEach((line) => near.observe(line));
    this.stopAt(this.divide(this.lines[0]).querySelector(".word"));
  }

  // Makes an element of each word of a line, and returns the line. An hour of talk has 10,000 words, so that only the
  // lines near the view are divided. A line with marks stays as it is.
  divide(line) {
    if (!line.querySelector(".word, mark")) {
      const [, , text, words] = this.cues[line.dataset.number];
      line.querySelector(".said").replaceChildren(...wordsOf(text, words));
    }
    return line;
  }

  drawLine() {
    const length = this.map.seconds || 1;
    const parts = this.map.nodes.filter(([, depth, , , fragment]) => depth <= 1 && fragment.startsWith("t=")).slice(0, 500);
    this.line.replaceChildren(
      ...parts.map(([, depth, title, , fragment]) => {
        const [start, end] = fragment.slice(2).split("-").map(Number);
        return button("", () => this.select({ fragment, quote: "" }), {
          class: `span depth-${depth}`,
          title: `${time(start)} ${title}`,
          "aria-label": `${time(start)} ${title}`,
          style: { left: `${(start / length) * 100}%`, width: `${Math.max(0.2, ((end - start) / length) * 100)}%` },
        });
      }),
    );
    this.wave = el("canvas", { class: "wave", "aria-hidden": "true" });
    this.line.prepend(this.wave);
    this.chosen = el("div", { class: "chosen", hidden: true });
    this.head = el("div", { class: "head" });
    this.line.append(this.chosen, this.head);
  }

  // Draws the amplitudes of the sound behind the parts.
  async drawWave() {
    let levels = [];
    try {
      levels = await get("waveform", { id: this.map.id, v: this.map.version });
    } catch {
      return; // the parts are shown without it
    }
    Object.assign(this.wave, { width: levels.length, height: 128 });
    const drawing = this.wave.getContext("2d");
    drawing.fillStyle = getComputedStyle(this.line).color;
    levels.forEach((level, i) => drawing.fillRect(i, 64 - level / 4, 1, Math.max(1, level / 2)));
    this.wave.dataset.levels = String(levels.length);
  }

  moved() {
    const now = this.player.currentTime;
    this.head.style.left = `${(now / (this.map.seconds || 1)) * 100}%`;
    if (now >= this.until && !this.player.paused) {
      this.player.pause();
      this.until = Infinity;
    }
    this.cues?.forEach(([start, end], i) => this.lines[i].classList.toggle("now", now >= start && now < end));
  }

  async show(place) {
    await this.ready;
    unmark(this.words);
    this.chosen.hidden = place.start === undefined;
    if (place.start === undefined) return;
    const end = place.end || this.map.seconds || place.start;
    const length = this.map.seconds || 1;
    Object.assign(this.chosen.style, { left: `${(place.start / length) * 100}%`, width: `${((end - place.start) / length) * 100}%` });
    this.player.currentTime = place.start;
    this.until = end;
    this.lines?.forEach((line, i) => {
      const [start, stop] = this.cues[i];
      line.classList.toggle("part", start < end && stop > place.start);
    });
    const parts = (this.lines ?? []).filter((line) => line.classList.contains("part"));
    parts.slice(0, OPENED).forEach((line) => this.divide(line));
    const [first] = parts;
    first?.scrollIntoView({ block: "center" });
    if (place.quote && this.lines && !markText(this.words, place.quote, this.lettersBefore(first))) say(t("notMarked"));
    this.stopAt(this.words.querySelector("mark")?.closest(".word") ?? first?.querySelector(".word"));
  }

  // The number of letters of the transcript before a line.
  lettersBefore(line) {
    const before = this.cues.slice(0, Number(line?.dataset.number ?? 0));
    return letters(before.map(([, , text]) => text).join("")).length;
  }

  // Moves the player to a word, or to the start of its subtitle if single words have no times.
  seek(word) {
    if (!word) return;
    this.player.currentTime = Number(word.dataset.since);
    this.until = Infinity;
  }

  // Lets the Tab key focus only one word or time of the transcript. The arrow keys focus the others.
  stopAt(element) {
    if (!element) return;
    this.stop?.setAttribute("tabindex", "-1");
    this.stop = element;
    element.setAttribute("tabindex", "0");
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.shiftKey) return;
    if (e.key === "Enter" && this.stop.matches(".word")) {
      e.preventDefault();
      this.seek(this.stop);
      return;
    }
    const kind = this.stop.matches(".word") ? ".word" : ".number";
    const line = this.stop.closest(".cue");
    const stops = (of) => (of ? [...this.divide(of).querySelectorAll(".word, .number")] : []);
    const at = stops(line).indexOf(this.stop);
    const next = {
      ArrowRight: () => stops(line)[at + 1] ?? stops(line.nextElementSibling)[0],
      ArrowLeft: () => stops(line)[at - 1] ?? stops(line.previousElementSibling).at(-1),
      ArrowDown: () => stops(line.nextElementSibling).find((each) => each.matches(kind)),
      ArrowUp: () => stops(line.previousElementSibling).find((each) => each.matches(kind)),
      Home: () => stops(this.lines[0]).find((each) => each.matches(kind)),
      End: () => stops(this.lines.at(-1)).find((each) => each.matches(kind)),
    }[e.key];
    if (!next) return;
    e.preventDefault();
    next()?.focus();
  }

  here() {
    return { kind: "t", at: Number(this.player.currentTime.toFixed(3)) };
  }

  begin() {
    this.start = this.player.currentTime;
    say(t("startIs", time(this.start)));
  }

  cut() {
    const end = this.player.currentTime;
    if (end <= this.start) say(t("endIsBefore", time(this.start)));
    else this.select({ fragment: `t=${this.start.toFixed(3)}-${end.toFixed(3)}`, quote: "" });
  }

  selected() {
    const chosen = document.getSelection();
    const text = chosen?.toString().replace(/\s+/g, " ").trim();
    if (!text || !this.words.contains(chosen.anchorNode)) return;
    const numbers = [chosen.anchorNode, chosen.focusNode]
      .map((node) => (node.nodeType === 1 ? node : node.parentElement)?.closest(".cue")?.dataset.number)
      .filter(Boolean)
      .map(Number)
      .sort((a, b) => a - b);
    if (numbers.length === 2) this.select({ fragment: `t=${this.cues[numbers[0]][0]}-${this.cues[numbers[1]][1]}`, quote: text });
  }
}

// The elements for the words of a subtitle, each of which has [offset, seconds].
function wordsOf(text, words) {
  const letters = [...text];
  return words.flatMap(([offset, since], i) => {
    const [word, space = ""] = letters.slice(offset, words[i + 1]?.[0]).join("").split(/(\s*)$/);
    return [el("span", { class: "word", tabindex: "-1", "data-since": String(since) }, word), space];
  });
}
