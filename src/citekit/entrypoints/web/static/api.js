// Requests to the server of this page about the home that it shows.
import { base } from "./place.js";

export class Failed extends Error {}

async function answered(response) {
  if (response.ok) return response.json();
  let message = `${response.status} ${response.statusText}`;
  try {
    message = (await response.json()).message ?? message;
  } catch {
    // not an answer of ours
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

export const send = async (name, file) =>
  answered(
    await fetch(`${base}/api/${name}`, {
      method: "POST",
      headers: { "content-type": "application/octet-stream", "x-name": encodeURIComponent(file.name) },
      body: file,
    }),
  );
