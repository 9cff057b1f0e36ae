// Time by the server's clock, and how long things last, which grows while one looks.

import { say } from "./dom.js";

let ahead = 0; // how far the server's clock is ahead of ours, in milliseconds
let stopped = 0; // when nothing has been heard any more: time stands still then

export function setClock(server) {
  ahead = server - Date.now();
  stopped = 0;
}

export function stopClock() {
  stopped ||= now();
}

export const now = () => stopped || Date.now() + ahead;

const two = (n) => String(n).padStart(2, "0");

// span writes a duration of so many milliseconds.
export function span(ms) {
  if (ms < 1000) return Math.max(0, Math.round(ms)) + " ms";
  const s = Math.floor(ms / 1000);
  if (s < 10) return (Math.floor(ms / 100) / 10).toFixed(1) + " s";
  if (s < 60) return s + " s";
  if (s < 3600) return Math.floor(s / 60) + " min " + two(s % 60) + " s";
  if (s < 86400) return Math.floor(s / 3600) + " h " + two(Math.floor(s / 60) % 60) + " min";
  return Math.floor(s / 86400) + " d " + Math.floor(s / 3600) % 24 + " h";
}

// age is span for what still goes on: it counts whole seconds, so that it stands still between them.
export const age = (since) => {
  const ms = now() - since;
  return ms < 1000 ? "0 s" : span(ms < 10_000 ? Math.floor(ms / 1000) * 1000 : ms).replace(".0 s", " s");
};

// timeOfDay writes a moment.
export function timeOfDay(ms) {
  const d = new Date(ms);
  return two(d.getHours()) + ":" + two(d.getMinutes()) + ":" + two(d.getSeconds());
}

// setAge has an element show how long ago a moment was, from now on. Nothing is shown for 0.
export function setAge(element, since, least) {
  if (!since) {
    delete element.dataset.since;
    say(element, "");
    return;
  }
  element.dataset.since = since;
  element.dataset.least = least ? "≥ " : "";
  if (least) element.title = "It held before the dashboard first looked: it has held for this long, or longer.";
  else element.removeAttribute("title");
  say(element, element.dataset.least + age(since));
}

setInterval(() => {
  for (const element of document.querySelectorAll("[data-since]")) {
    say(element, element.dataset.least + age(Number(element.dataset.since)));
  }
}, 500);
