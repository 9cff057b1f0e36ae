// Time by the server's clock, and how long things last, which grows while one looks.

import { mark, say } from "./dom.js";

let ahead = 0; // how far the server's clock is ahead of ours, in milliseconds
let stopped = 0; // when nothing has been heard any more: time stands still then
let silent = 0; // since when no server has answered the dashboard: what it shows is as it was then

export function setClock(server) {
  ahead = server - Date.now();
  stopped = 0;
}

export function stopClock() {
  stopped ||= now();
}

export const now = () => stopped || Date.now() + ahead;

export function setSilence(since) {
  if (silent === (since ?? 0)) return;
  silent = since ?? 0;
  showAges();
}

// known is until when it is known who holds and who waits.
export const known = () => (silent ? Math.min(silent, now()) : now());

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
export const age = (since, until = known()) => {
  const ms = Math.max(0, until - since);
  return ms < 1000 ? "0 s" : span(ms < 10_000 ? Math.floor(ms / 1000) * 1000 : ms).replace(".0 s", " s");
};

// timeOfDay writes a moment.
export function timeOfDay(ms) {
  const d = new Date(ms);
  return two(d.getHours()) + ":" + two(d.getMinutes()) + ":" + two(d.getSeconds());
}

// setAge has an element show how long ago a moment was, from now on. Nothing is shown for 0. What is of the dashboard's own
// goes on while no server answers.
export function setAge(element, since, least, own) {
  if (!since) {
    delete element.dataset.since;
    say(element, "");
    return;
  }
  element.dataset.since = since;
  element.dataset.least = least ? "≥ " : "";
  mark(element, "data-own", Boolean(own));
  if (least) element.title = "It held before the dashboard first looked: it has held for this long, or longer.";
  else element.removeAttribute("title");
  showAge(element);
}

function showAge(element) {
  say(element, element.dataset.least + age(Number(element.dataset.since), "own" in element.dataset ? now() : known()));
}

function showAges() {
  for (const element of document.querySelectorAll("[data-since]")) showAge(element);
}

setInterval(showAges, 500);
