// Creates elements without HTML, so that no text of a file is ever read as markup.

export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name === "class") made.className = value;
    else if (name === "style") Object.assign(made.style, value);
    else if (name in made && typeof value !== "string") made[name] = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

// Scrolls to an element, also if the heights above it change when they are first drawn (`content-visibility`).
export async function bringIntoView(element, block, isCurrent) {
  for (let turn = 0; turn < 5 && isCurrent(); turn++) {
    element.scrollIntoView({ block });
    await new Promise(requestAnimationFrame);
  }
}

export const button = (label, onclick, properties = {}) => el("button", { type: "button", onclick, ...properties }, label);

let timer = 0;
export function say(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.add("shown");
  clearTimeout(timer);
  timer = setTimeout(() => status.classList.remove("shown"), 6000);
}

export async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = el("textarea", {}, text);
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(done);
}
