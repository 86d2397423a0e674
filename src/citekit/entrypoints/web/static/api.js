// Requests to the server of this page about the home that it shows.
import { base } from "./place.js";
import { t } from "./strings.js";

export class Failed extends Error {}

async function answered(response) {
  if (response.ok) return response.json();
  let message = `${response.status} ${response.statusText}`;
  try {
    message = (await response.json()).message ?? message;
  } catch {
    // the answer is not from CiteKit
  }
  throw new Failed(message);
}

const query = (values) => new URLSearchParams(Object.entries(values).filter(([, value]) => value !== undefined));

export const link = (name, values = {}) => `${base}/api/${name}?${query(values)}`;

export const get = async (name, values = {}, signal = undefined) => answered(await fetch(link(name, values), { signal }));

export const post = async (name, values, signal = undefined) =>
  answered(
    await fetch(`${base}/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(values),
      signal,
    }),
  );

// Sends a file. `told` gets the share that was sent, and the upload ends when `stop` is aborted.
export const upload = (name, file, job, told, stop) =>
  new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("POST", link(name));
    request.setRequestHeader("content-type", "application/octet-stream");
    request.setRequestHeader("x-name", encodeURIComponent(file.name));
    request.setRequestHeader("x-job", job);
    request.upload.onprogress = (e) => told(e.loaded / e.total);
    request.onerror = () => failed(new Failed(t("error")));
    request.onabort = () => failed(new Failed(t("cancelled")));
    request.onload = () => answered(new Response(request.response, { status: request.status, statusText: request.statusText })).then(done, failed);
    stop.addEventListener("abort", () => request.upload && request.readyState < 2 && request.abort());
    request.send(file);
  });

// Sends a file, with the text of its receipt if there is one.
export const send = async (name, file, receipt = "") =>
  answered(
    await fetch(`${base}/api/${name}`, {
      method: "POST",
      headers: {
        "content-type": "application/octet-stream",
        "x-name": encodeURIComponent(file.name),
        ...(receipt && { "x-receipt": btoa(String.fromCharCode(...new TextEncoder().encode(receipt))) }),
      },
      body: file,
    }),
  );
