// Colors code with highlight.js, which is loaded for files of code only.
import { el } from "./dom.js";

const KNOWN = {
  python: "python", javascript: "javascript", typescript: "typescript", tsx: "typescript", java: "java", c: "c", cpp: "cpp",
  csharp: "csharp", go: "go", rust: "rust", ruby: "ruby", php: "php", bash: "bash", perl: "perl", objc: "objectivec",
  kotlin: "kotlin", swift: "swift", lua: "lua", sql: "sql", css: "css", scss: "scss", json: "json", jsonl: "json",
  notebook: "json", yaml: "yaml", toml: "ini", ini: "ini", xml: "xml", html: "xml", markdown: "markdown",
};
const EXTRA = ["scala", "haskell", "elixir", "julia", "dart", "powershell", "latex"];
const LIMIT = 200_000; // the maximum number of characters that are colored together

// A function that returns the colored elements of each of some lines, or null for a format that is not code.
export async function highlighter(format) {
  const language = KNOWN[format] ?? (EXTRA.includes(format) ? format : null);
  if (!language) return null;
  const { default: library } = await import("./vendor/highlight.min.js");
  if (!library.getLanguage(language)) library.registerLanguage(language, (await import(`./vendor/${language}.min.js`)).default);
  return (lines) => {
    const text = lines.join("\n");
    if (text.length > LIMIT) return null;
    const { value } = library.highlight(text, { language, ignoreIllegals: true });
    return linesOf(new DOMParser().parseFromString(`<pre>${value}</pre>`, "text/html").querySelector("pre"));
  };
}

// Copies only texts and the names of colors from what the library made, which is never part of the page.
function linesOf(made) {
  const lines = [[]];
  const visit = (node, color) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE) visit(child, (child.className.match(/\bhljs-([a-z_-]+)/) ?? [])[1] ?? color);
      else
        child.data.split("\n").forEach((text, i) => {
          if (i) lines.push([]);
          if (text) lines.at(-1).push(color ? el("span", { class: `code-${color}` }, text) : text);
        });
    }
  };
  visit(made, "");
  return lines;
}
