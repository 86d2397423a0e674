// Marks a text among the text nodes of an element. Only letters and digits are compared, because white space, hyphens,
// and typography differ between a file and its view.
import { letters } from "./place.js";

const OUTER = /^(TABLE|TBODY|THEAD|TR|UL|OL|DL|BODY|SECTION|ARTICLE|DIV|MAIN)$/; // white space in these is not shown
const FRAMED = { part: { background: "rgba(29, 78, 216, 0.12)" }, differs: { background: "rgba(179, 38, 30, 0.3)", borderBottom: "2px solid #b3261e" } };
const LIMIT = 2_000_000; // the maximum number of letters of a view that are searched

export function unmark(root) {
  for (const mark of root.querySelectorAll("mark[data-citekit]")) {
    mark.replaceWith(...mark.childNodes);
  }
  root.normalize();
}

// Marks the occurrence of `text` nearest to the letter `near`. Returns the first marked element, or null if there is none.
export function markText(root, text, near = 0, kind = "quote") {
  const wanted = letters(text);
  if (!wanted) return null;
  const { all, nodes, starts } = gathered(root);
  let best = -1;
  for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + 1)) {
    if (best < 0 || Math.abs(at - near) < Math.abs(best - near)) best = at;
    if (at > near) break;
  }
  return best < 0 ? null : wrapped(nodes, starts, best, best + wanted.length, kind);
}

// Marks those words of a marked quote in which a model differs. `wording` has [same, said, passage] for each run of words.
export function markDiffering(root, wording) {
  const quoted = [...root.querySelectorAll("mark[data-citekit=quote]")];
  const nodes = quoted.flatMap((mark) => gathered(mark).nodes);
  const starts = [];
  let length = 0;
  for (const node of nodes) {
    starts.push(length);
    length += letters(node.data).length;
  }
  if (letters(wording.map((each) => each[2]).join("")).length !== length) return; // the marks are not those of the passage
  const spans = [];
  let at = 0;
  for (const [isSame, , passage] of wording) {
    const end = at + letters(passage).length;
    if (!isSame && end > at) spans.unshift([at, end]);
    at = end;
  }
  for (const [from, to] of spans) wrapped(nodes, starts, from, to, "differs"); // the last first, because nodes are split
}

const PIECES = 5_000; // the maximum number of text nodes that are marked in a part

// Marks the text after the element `from` and before the element `to`, or to the end if that is null.
export function markBetween(root, from, to, kind) {
  const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  walker.currentNode = from;
  const found = [];
  for (let node = walker.nextNode(); node && found.length < PIECES; node = walker.nextNode()) {
    if (to && to.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) break;
    if (node.data.trim()) found.push(node);
  }
  for (const node of found) {
    const mark = marked(node.ownerDocument, kind);
    node.replaceWith(mark);
    mark.append(node);
  }
}

function marked(inside, kind) {
  const mark = inside.createElement("mark");
  mark.dataset.citekit = kind;
  mark.className = kind;
  if (inside !== document) Object.assign(mark.style, FRAMED[kind]);
  return mark;
}

function gathered(root) {
  const walker = root.ownerDocument.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  const starts = []; // the number of letters before each node
  const pieces = [];
  let length = 0;
  for (let node = walker.nextNode(); node && length < LIMIT; node = walker.nextNode()) {
    if (node.parentElement?.closest("style,script,title,[data-unmarked]")) continue;
    const found = letters(node.data);
    if (!node.data.trim() && OUTER.test(node.parentElement?.tagName)) continue;
    nodes.push(node);
    starts.push(length);
    pieces.push(found);
    length += found.length;
  }
  return { all: pieces.join(""), nodes, starts };
}

function wrapped(nodes, starts, start, end, kind) {
  let first = null;
  for (let i = nodes.length - 1; i >= 0; i--) {
    if (starts[i] >= end) continue;
    const node = nodes[i];
    const next = starts[i + 1] ?? Infinity;
    let [a, b] = next === starts[i] ? [0, 0] : offsets(node.data, Math.max(0, start - starts[i]), end - starts[i]);
    if (starts[i] > start) a = 0; // the quote began in an earlier node
    if (next < end) b = node.length; // and continues in a later node
    if (a < b) {
      const mark = marked(node.ownerDocument, kind);
      const range = node.ownerDocument.createRange();
      range.setStart(node, a);
      range.setEnd(node, b);
      range.surroundContents(mark);
      first = mark;
    }
    if (starts[i] <= start) break;
  }
  return first;
}

// The offsets in `text` of its letters number `from` to `to`.
function offsets(text, from, to) {
  let count = 0;
  let [a, b] = [-1, 0];
  for (let at = 0; at < text.length && count < to; ) {
    const character = String.fromCodePoint(text.codePointAt(at));
    const found = letters(character).length;
    if (found && count + found > from) {
      if (a < 0) a = at;
      b = at + character.length;
    }
    count += found;
    at += character.length;
  }
  return [a < 0 ? b : a, b];
}
