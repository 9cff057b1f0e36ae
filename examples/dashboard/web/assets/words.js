// The names of states, transitions and deadlocks, and the shape that each of them has besides.

import { lockLink, make, mark, say, count, theirs } from "./dom.js";
import { span, timeOfDay } from "./clock.js";

const states = {
  held: "●",
  free: "○",
  "revoking": "↩",
  unreadable: "⊘",
  counted: "…",
  deadlock: "▲",
  "may hold": "◐",
};

const meanings = {
  counted: "Only the numbers are known: there are more locks than are followed at a time. Open it to follow it.",
  unreadable: "ZooKeeper does not let the dashboard read it.",
  "revoking": "Somebody has asked the holder to give it back.",
  "may hold": "It waits by the rule of this queue, and may hold by its own library's, beside the holder: kazoo's locks see no names but their own.",
};

// showState writes a state into an element: its shape and its word.
export function showState(element, state) {
  if (element.dataset.state === state) return;
  element.dataset.state = state;
  element.className = "state";
  mark(element, "title", meanings[state]);
  element.replaceChildren(make("span", { class: "shape", "aria-hidden": "true" }, states[state] ?? "·"), " " + state);
}

const happenings = {
  came: ["+", "came"],
  holds: ["●", "holds"],
  ended: ["○", "ended"],
  left: ["−", "left"],
  asked: ["↩", "revoking"],
  more: ["…", "more"],
};

const explained = {
  ended: "Its node is gone: it gave the lock back, or lost it.",
  more: "So much has happened between two looks that it is only counted here.",
  left: "Its node is gone, and it was not seen to hold: it gave up waiting, or held between two looks.",
};

// after says what a transition's duration is of.
export function after(e) {
  if (e.what === "more") return "";
  const lasted = (e.least ? "≥ " : "") + span(e.for ?? 0);
  return { holds: "waited " + lasted, ended: "held " + lasted, left: "waited " + lasted }[e.what] ?? "";
}

// happened is a transition's shape and word.
export function happened(e) {
  const [shape, word] = happenings[e.what] ?? ["·", e.what];
  return make("span", { class: "what", "data-what": e.what, title: explained[e.what] },
    make("span", { class: "shape", "aria-hidden": "true" }, shape), " " + word);
}

// whoOf is who a transition is of, or what is only counted of it.
export function whoOf(e) {
  if (e.what !== "more") return e.who;
  return [e.cameMore && count(e.cameMore) + " came", e.leftMore && count(e.leftMore) + " left"].filter(Boolean).join(", ") || "others changed places";
}

// eventItem is a transition as an item of a list.
export function eventItem(e) {
  const rest = after(e);
  return make("li", { "data-what": e.what },
    make("time", {}, timeOfDay(e.at)), happened(e),
    make("span", { class: "who", title: whoOf(e) }, theirs(whoOf(e))),
    make("a", { href: lockLink(e.path), class: "name", title: e.path }, theirs(e.path)),
    make("span", { class: "note" }, rest));
}

// deadlockItem is a circle in words.
export function deadlockItem(d) {
  const circle = make("ol");
  for (const m of d.members) {
    circle.append(make("li", {}, make("b", {}, theirs(m.who)), m.holds ? " holds " : " is before others in the queue of ", link(m.keeps), " and waits for ", link(m.waits)));
  }
  if (d.more) circle.append(make("li", {}, "and " + count(d.more) + " more"));
  return make("li", {}, circle);
}

const link = (path) => make("a", { href: lockLink(path) }, theirs(path));

// showMore has a button offer more rows, where there are any.
export function showMore(button, shown, all, step, most) {
  const left = Math.min(all, most) - shown;
  button.hidden = left <= 0;
  say(button, "Show " + count(Math.min(step, left)) + " more");
}
