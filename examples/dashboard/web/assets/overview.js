// The page of all locks.

import { byID, count, flag, list, lockLink, make, mark, say, theirs, typed } from "./dom.js";
import { setAge } from "./clock.js";
import { Chain } from "./chain.js";
import { Line, showRate, sparkline } from "./line.js";
import { Rows } from "./rows.js";
import { follow, showTrouble, tell } from "./stream.js";
import { deadlockItem, eventItem, showMore, showState } from "./words.js";

const step = 100;
const most = 2000;
let shown = 50;
let word = "";
let deadlocks = 0;
const collapsed = new Set();
const at = new Map(); // from a row's id to its path

const line = new Line(byID("line"), byID("line-name"), [30_000, 60_000], false);

const waits = new Rows(byID("wait-rows"), () => make("tr", {}, make("td"), make("td"), make("td", { class: "number" })), (tr, w) => {
  const [who, lock, since] = tr.children;
  say(who, theirs(w.who));
  mark(who, "title", w.who);
  if (!lock.firstChild) lock.append(make("a", { href: lockLink(w.path), title: w.path, class: "name" }, theirs(w.path)));
  setAge(since, w.since);
});

const sessions = new Rows(byID("session-rows"), () => make("tr", {}, make("th", { scope: "row" }, make("bdi", { class: "who" }), make("span", { class: "note" })),
  make("td", { class: "number" }), make("td", { class: "number" })), (tr, s) => {
  const [who, nodes, weight] = tr.children;
  say(who.firstChild, s.who || s.id);
  say(who.lastChild, [s.who && "session " + s.id, s.library === "turnstile" ? "" : s.library || "unknown library", s.own && "the dashboard"].filter(Boolean).join(" · "));
  say(nodes, count(s.nodes));
  say(weight, bytes(s.bytes));
  mark(weight, "data-heavy", s.bytes > 512 * 1024);
});

const bytes = (n) => (n < 10_000 ? count(n) + " B" : count(Math.round(n / 1024)) + " KiB");

const chain = new Chain();

const events = new Rows(byID("event-rows"), eventItem, () => {});
const stuck = new Rows(byID("deadlock-list"), deadlockItem, () => {});
const possible = new Rows(byID("possible-list"), deadlockItem, () => {});

const labelled = (label, ...rest) => make("td", { role: "cell", "data-label": label }, ...rest);

function buildLock(row) {
  at.set(row.id, row.path);
  const name = make("th", { scope: "row", role: "rowheader", "data-depth": Math.min(row.depth, 8) });
  if (row.folder) {
    mark(name, "colspan", 7);
    const button = make("button", { type: "button", class: "folder", "aria-expanded": String(!collapsed.has(row.path)) },
      make("span", { class: "turn", "aria-hidden": "true" }, "▾"), theirs(row.name));
    button.addEventListener("click", () => {
      const closed = !collapsed.delete(row.path);
      if (closed) collapsed.add(row.path);
      button.setAttribute("aria-expanded", String(!closed));
      fold();
    });
    name.append(button);
    return make("tr", { role: "row", class: "folder" }, name);
  }
  name.append(make("a", { href: lockLink(row.path), title: row.path }, theirs(row.name)), make("span", { class: "note kind" }));
  const number = (label) => {
    const cell = labelled(label);
    cell.classList.add("number");
    return cell;
  };
  const waiting = number("waiting");
  waiting.append(make("span"), make("span", { class: "crowd", "aria-hidden": "true" }));
  return make("tr", { role: "row" }, name, labelled("", make("span")), labelled("held by"), number("for"), number("token"), waiting, number("/s"));
}

function updateLock(tr, row) {
  if (row.folder) {
    mark(tr.firstChild, "data-depth", Math.min(row.depth, 8));
    say(tr.querySelector("bdi"), row.name);
    return;
  }
  const [name, state, who, since, token, waiting, rate] = tr.children;
  mark(name, "data-depth", Math.min(row.depth, 8));
  say(name.querySelector("bdi"), row.name);
  say(name.querySelector(".kind"), row.kind ?? "");
  showState(state.firstChild, row.deadlock ? "deadlock" : row.state);
  const others = row.holders - 1;
  say(who, ...(row.who ? [theirs(row.who), others > 0 ? " and " + count(others) + " more" : ""] : [row.holders ? count(row.holders) + " hold" : ""]));
  mark(who, "title", who.textContent);
  setAge(since, row.since, row.least);
  say(token, row.token ?? "");
  say(waiting.firstChild, row.waiters ? count(row.waiters) : "");
  // Each step is about four times as long a queue.
  mark(waiting.lastChild, "data-crowd", row.waiters ? Math.min(8, Math.ceil(Math.log2(row.waiters + 1) / 1.7)) : null);
  say(rate, row.rate ? (row.rate < 10 ? row.rate.toFixed(1) : count(Math.round(row.rate))) : "");
  mark(tr, "data-empty", !row.holders && !row.waiters);
}

const locks = new Rows(byID("lock-rows"), buildLock, updateLock);

// fold hides what is below folders that are closed.
function fold() {
  for (const [id, element] of locks.elements) {
    const path = at.get(id);
    element.hidden = [...collapsed].some((folder) => path.startsWith(folder + "/"));
  }
}

let first = 0; // the first look
setInterval(() => line.scale(first), 1000);

function showFigures(f) {
  first = f.first ?? 0;
  line.scale(first);
  say(byID("root"), theirs(f.root));
  say(byID("held"), count(f.held));
  say(byID("held-note"), f.locks ? "of " + count(f.locks) + (f.locks === 1 ? " lock" : " locks") + " in use" : "none in use");
  say(byID("waiting"), count(f.waiting));
  say(byID("waiting-note"), f.holders > f.held ? count(f.holders) + " hold" : "");
  say(byID("sessions-note"), f.sessions > 1 ? "of " + count(f.sessions) : "");
  say(byID("deadlock-count"), count(f.deadlocks));
  say(byID("deadlock-note"), f.deadlocks ? "▲ nothing moves there" : f.possible ? "△ " + count(f.possible) + " possible" : "none");
  byID("deadlock-count").parentElement.classList.toggle("bad", f.deadlocks > 0);
  byID("deadlocks").hidden = f.deadlocks === 0;
  byID("possible").hidden = f.possible === 0;
  if (f.deadlocks !== deadlocks) tell(f.deadlocks ? count(f.deadlocks) + (f.deadlocks === 1 ? " deadlock" : " deadlocks") : "No deadlock any more");
  deadlocks = f.deadlocks;
  document.title = (f.deadlocks ? "▲ " + f.deadlocks + " deadlocked · " : "") + "Locks · Turnstile";
  showTrouble(f);
  showMore(byID("locks-more"), f.shown, f.matching, step, most);
  const notes = [];
  if (f.matching > f.shown) notes.push("first " + count(f.shown) + " of " + count(f.matching));
  if (f.truncated) notes.push("there are more than are looked at: choose a -root further down");
  if (f.unread) notes.push([count(f.unread) + " nodes may not be read, such as ", theirs(f.unreadAt)]);
  say(byID("locks-note"), ...list(notes, " · "));
  const empty = byID("locks-empty");
  empty.hidden = f.matching > 0;
  const state = !f.looked ? "looking" : word || "nobody";
  if (empty.dataset.state === state) return;
  empty.dataset.state = state;
  if (!f.looked) say(empty, "Looking…");
  else if (word) say(empty, "No lock has “", theirs(word), "” in its path or in its first holder's name.");
  else empty.replaceChildren("Nobody holds a lock below ", theirs(f.root), ", and nobody waits for one. As soon as a program locks, it shows here. If you expected locks, check ",
    flag("-zk"), " and ", flag("-root"), "; to see what they look like, start the dashboard with ", flag("-demo"), ".");
}

const open = follow(() => "/events?" + new URLSearchParams({ locks: shown, word }), (message, beginning) => {
  if (message.page) say(byID("servers"), theirs(message.page.servers));
  const lists = message.lists ?? {};
  locks.apply(lists.locks, beginning);
  if (lists.locks || beginning) {
    for (const id of [...at.keys()]) if (!locks.elements.has(id)) at.delete(id);
    fold();
  }
  waits.apply(lists.waits, beginning);
  events.apply(lists.events, beginning);
  stuck.apply(lists.deadlocks, beginning);
  possible.apply(lists.possible, beginning);
  line.apply(lists.lanes, lists.holds, lists.gaps, beginning);
  sessions.apply(lists.sessions, beginning);
  byID("sessions-empty").hidden = sessions.size > 0;
  byID("session-rows").parentElement.hidden = sessions.size === 0;
  if (message.figures) showFigures(message.figures);
  chain.apply(message.figures?.own, lists.phases, lists.proofs, beginning);
  if (message.rate) {
    showRate(byID("rate"), message.rate);
    sparkline(byID("spark"), message.rate.seconds);
  }
  byID("waits-empty").hidden = waits.size > 0;
  byID("wait-rows").parentElement.hidden = waits.size === 0;
  byID("events-empty").hidden = events.size > 0;
  const longest = waits.elements.get(waits.ids[0]);
  if (longest) setAge(byID("longest"), Number(longest.lastChild.dataset.since));
  else {
    setAge(byID("longest"), 0);
    say(byID("longest"), "–");
  }
  say(byID("longest-note"), theirs(longest ? longest.firstChild.textContent : ""));
});

byID("locks-more").addEventListener("click", () => {
  shown = Math.min(most, shown + step);
  open();
});

typed(byID("find"), (text) => {
  word = text;
  open();
});
