// The part of an address after "#", such as pages=12-15&bbox=0.1,0.2,0.9,0.4, the quote that a link marks, and what a model
// said instead of it.

// The path of the home that this page shows; empty where no home is chosen.
export const base = location.pathname.match(/^\/h\/[^/]+/)?.[0] ?? "";

const numbers = (text) => text.split(",").flatMap((run) => {
  const [first, last] = run.split("-").map(Number);
  return Array.from({ length: Math.min((last ?? first) - first + 1, 100_000) }, (_, i) => first + i);
});

// The number of a column from its letters, and its letters from the number.
const column = (name) => [...name.toUpperCase()].reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0);
export function columnName(number) {
  let name = "";
  for (let left = number; left > 0; left = Math.floor((left - 1) / 26)) name = String.fromCharCode(65 + ((left - 1) % 26)) + name;
  return name;
}

const clock = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

export function read(fragment) {
  const place = { fragment: "", quote: "", said: "" };
  const kept = [];
  for (const part of fragment.replace(/^#/, "").split("&").filter(Boolean)) {
    const [name, ...rest] = part.split("=");
    let value = rest.join("=");
    try {
      value = decodeURIComponent(value);
    } catch {
      // kept as it is
    }
    if (name === "quote" || name === "said") place[name] = value;
    else kept.push(part);
    if (name === "pages") place.pages = numbers(value);
    if (name === "bbox") place.box = value.split(",").map(Number);
    if (name === "chapter") [place.chapter, place.lastChapter] = value.split("-").map(Number);
    if (name === "chars") place.chars = value.split("-").map(Number);
    if (name === "lines") [place.first, place.last] = value.split("-").map(Number);
    if (name === "t") [place.start, place.end] = value.split("-").map(clock);
    if (name === "sheet") place.sheet = value;
    if (name === "cells") {
      const found = value.match(/([A-Z]+)(\d+)(?::([A-Z]+)(\d+))?/i);
      if (found) {
        [place.first, place.last] = [Number(found[2]), Number(found[4] ?? found[2])];
        [place.left, place.right] = [column(found[1]), column(found[3] ?? found[1])];
      }
    }
  }
  if (place.first && !place.last) place.last = place.first;
  place.fragment = kept.join("&");
  return place;
}

// The first and the last page, line, chapter, or second of a place, and the kind of that number.
function range({ pages, first, last, sheet = "", chapter, lastChapter, chars, start, end }) {
  if (pages) return ["pages", pages[0], pages.at(-1)];
  if (chapter && chars) return [`chars ${chapter}`, ...chars];
  if (chapter) return ["chapter", chapter, lastChapter || chapter];
  if (first) return [`lines ${sheet}`, first, last];
  return start === undefined ? ["", 0, 0] : ["t", start, end || start];
}

// The index of the deepest node that contains a place, or -1.
export function around(nodes, place) {
  const [kind, first, last] = range(place);
  let best = -1;
  nodes.forEach(([, depth, , , fragment], i) => {
    if (!fragment || (best >= 0 && depth < nodes[best][1])) return;
    const node = read(fragment);
    const [own, from, to] = range(node);
    const holds = own === kind ? from <= first && last <= to : own === "chapter" && !node.chars && place.chapter === from;
    if (kind && holds && (!node.box || fragment === place.fragment)) best = i;
  });
  return best;
}

const withQuote = (fragment, quote, said) =>
  [fragment, quote && `quote=${encodeURIComponent(quote)}`, said && `said=${encodeURIComponent(said)}`].filter(Boolean).join("&");

// The resource and the fragment of an address, or null.
export function ofAddress(address) {
  const found = address.match(/^[a-z]+:\/\/([^#]*)#?(.*)$/s);
  return found ? { id: decodeURIComponent(found[1]), fragment: found[2] } : null;
}

export const path = (id, fragment = "", quote = "", said = "") =>
  `${base}/r/${encodeURIComponent(id)}${fragment || quote ? `#${withQuote(fragment, quote, said)}` : ""}`;

export function span(first, last) {
  return first === last ? `${first}` : `${first}-${last}`;
}

export function time(seconds) {
  const whole = Math.floor(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const shown = parts[0] ? parts : parts.slice(1);
  return shown.map((part, i) => (i ? String(part).padStart(2, "0") : String(part))).join(":");
}

// The letters and digits of a text, by which quotes are found in chapters whose white space differs.
export const letters = (text) => text.normalize("NFKC").toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
