// The page of one lock.

import { byID, count, list, make, mark, plain, say, theirs, typed } from "./dom.js";
import { setAge, timeOfDay } from "./clock.js";
import { Line, showRate, sparkline } from "./line.js";
import { offerRevoke } from "./revoke.js";
import { Rows } from "./rows.js";
import { follow, showTrouble, tell } from "./stream.js";
import { after, deadlockItem, happened, showMore, showState, whoOf } from "./words.js";

const step = 200;
const most = 2000;
const path = new URLSearchParams(location.search).get("path") ?? "";
const shown = { holders: 50, waiters: 50, events: 50 };
let word = "";
let canRevoke = false;
let figures;
let holder; // the only one, where there is one
let announced;

say(byID("path"), theirs(path || "No lock"));
document.title = plain(path || "No lock") + " · Turnstile";

const line = new Line(byID("line"), byID("line-name"), [30_000, 60_000, 120_000, 300_000], true);
setInterval(() => line.scale(figures?.first ?? 0), 1000);
const stuck = new Rows(byID("deadlock-list"), deadlockItem, () => {});
const possible = new Rows(byID("possible-list"), deadlockItem, () => {});

// about is what there is to say of a contender besides its name.
function about(c) {
  return list([c.process && theirs(c.process), "session " + c.session, c.library === "turnstile" ? "" : c.library || "unknown library",
    c.queue && ["queue ", theirs(c.queue)], c.unread && "its data may not be read"], " · ");
}

const asks = (c) => ({ exclusive: "", contest: "", semaphore: count(c.weight ?? 1) + (c.weight > 1 ? " permits" : " permit") })[c.mode] ?? c.mode;

const whoCell = () => make("th", { scope: "row", role: "rowheader" }, make("bdi", { class: "who" }), make("span", { class: "note" }));

function showWho(cell, c) {
  say(cell.firstChild, c.who);
  say(cell.lastChild, ...about(c));
  mark(cell, "title", "node " + c.id);
}

const cell = (label, number) => make("td", { role: "cell", "data-label": label, class: number ? "number" : null });

const holders = new Rows(byID("holder-rows"),
  () => make("tr", { role: "row" }, whoCell(), make("td", { role: "cell" }, make("span"), " ", make("span", { class: "note" })), cell("for", true), cell("token", true)),
  (tr, c) => {
    const [who, state, since, token] = tr.children;
    showWho(who, c);
    showState(state.firstChild, c.stuck ? "deadlock" : c.asked ? "revoking" : "held");
    say(state.lastChild, asks(c));
    setAge(since, c.from, c.least);
    say(token, c.token ?? "");
    tr.row = c;
  });

const waiters = new Rows(byID("waiter-rows"),
  () => make("tr", { role: "row" }, cell("place", true), whoCell(), cell("wants"), cell("waits for", true)),
  (tr, c) => {
    const [, who, kind, since] = tr.children;
    showWho(who, c);
    const text = asks(c);
    const state = c.stuck ? "deadlock" : c.mayHold ? "may hold" : "";
    if (state) {
      kind.replaceChildren(make("span"), " " + text);
      showState(kind.firstChild, state);
    } else say(kind, text);
    tr.mayHold = Boolean(c.mayHold);
    setAge(since, c.since);
  });

const events = new Rows(byID("event-rows"), (e) => {
  const rest = after(e);
  return make("tr", { "data-what": e.what }, make("td", {}, make("time", {}, timeOfDay(e.at))), make("td", {}, happened(e)),
    make("td", {}, theirs(whoOf(e)), e.what === "holds" && e.token ? make("span", { class: "note" }, "token " + e.token) : ""),
    make("td", { class: "number" }, rest));
}, () => {});

function showPlaces() {
  waiters.ids.forEach((id, i) => {
    const tr = waiters.elements.get(id);
    if (tr) say(tr.firstChild, count(waiters.positions?.[i] ?? i + 1));
  });
}

function showFigures(f) {
  say(byID("waiting"), count(f.waiters));
  say(byID("kind"), f.kind);
  if (f.longest) setAge(byID("longest"), f.longest);
  else {
    setAge(byID("longest"), 0);
    say(byID("longest"), "–");
  }
  byID("deadlocks").hidden = !f.deadlock;
  byID("possible").hidden = !f.possible;
  showTrouble(f);
  line.scale(f.first ?? 0);
  showMore(byID("holders-more"), Math.min(shown.holders, f.holders), f.holders, step, most);
  showMore(byID("waiters-more"), Math.min(shown.waiters, f.matching), f.matching, step, most);
  showMore(byID("events-more"), Math.min(shown.events, f.events), f.events, step, 500);
  const part = (n, of) => (of > n ? "first " + count(n) + " of " + count(of) : of > 1 ? count(of) : "");
  say(byID("holders-note"), part(shown.holders, f.holders));
  say(byID("waiters-note"), part(shown.waiters, f.matching));
  say(byID("history-note"), f.first ? "since " + timeOfDay(f.first) : "");
  showEmpty(f);
}

function showEmpty(f) {
  const set = (id, rows, text) => {
    const empty = byID(id);
    empty.hidden = rows > 0;
    empty.parentElement.querySelector("table").hidden = rows === 0;
    if (f.known || !f.why) say(empty, f.known ? text : "Looking…");
    else say(empty, "It cannot be read: " + f.why + ". ", theirs(f.detail ?? ""));
  };
  set("holders-empty", f.holders, "Nobody holds this lock.");
  set("waiters-empty", f.matching, word ? "No waiter matches “" + plain(word) + "”." :
    f.kind === "contest" ? "Waiters for a contest leave no trace." : "Nobody waits.");
  set("events-empty", f.events, "Nothing has changed since the dashboard first looked, at " + timeOfDay(f.first) + ". What was before that is not known.");
}

// showHolder says in one sentence who holds.
function showHolder() {
  const f = figures;
  const rows = holders.ids.map((id) => holders.elements.get(id)?.row).filter(Boolean);
  const newest = rows.at(-1);
  holder = rows.length === 1 && f.holders === 1 ? rows[0] : undefined;
  showState(byID("state"), f.deadlock ? "deadlock" : f.why ? "unreadable" : f.known ? f.state : "counted");
  say(byID("token"), newest?.token ?? "–");
  const sentence = byID("sentence");
  const who = f.holders > 1 ? count(f.holders) + " hold it" : holder ? holder.who : "";
  if (holder) {
    if (sentence.dataset.who !== holder.id) {
      sentence.dataset.who = holder.id;
      sentence.replaceChildren("by ", make("b", {}, theirs(holder.who)), " for ", make("span", { class: "for" }));
    }
    say(sentence.querySelector("bdi"), holder.who);
    setAge(sentence.lastChild, holder.from, holder.least);
  } else {
    delete sentence.dataset.who;
    say(sentence, f.why ? "ZooKeeper does not let the dashboard read it." : !f.known ? "Looking…" :
      f.holders ? "by " + count(f.holders) : f.waiters ? "Nobody holds it yet." : "Nobody holds this lock, and nobody waits for it.");
  }
  if (who !== announced) {
    announced = who;
    tell(...(holder ? [theirs(who), " holds the lock"] : [who || "Nobody holds the lock"]));
  }
  offerRevoke({ path, canRevoke, holders: f.holders, holder });
}

function take(message, beginning) {
  if (message.page) {
    say(byID("servers"), theirs(message.page.servers));
    canRevoke = message.page.revoke;
  }
  const lists = message.lists ?? {};
  holders.apply(lists.holders, beginning);
  waiters.apply(lists.waiters, beginning);
  if (lists.waiters || beginning) showPlaces();
  events.apply(lists.events, beginning);
  stuck.apply(lists.deadlocks, beginning);
  possible.apply(lists.possible, beginning);
  line.apply(beginning ? { set: [{ id: path, path }], order: [path] } : undefined, lists.holds, lists.gaps, beginning);
  if (message.figures) figures = message.figures;
  if (message.figures) showFigures(figures);
  const marked = [...waiters.elements.values()].some((tr) => tr.mayHold);
  byID("waiter-rows").parentElement.classList.toggle("plain", figures?.kind === "exclusive" && !figures.deadlock && !marked);
  showHolder();
  if (message.rate) {
    showRate(byID("rate"), message.rate);
    sparkline(byID("spark"), message.rate.seconds);
  }
}

if (!path.startsWith("/")) {
  say(byID("sentence"), "The address names no lock path: go back to all locks and open one there.");
} else {
  const open = follow(() => "/events/lock?" + new URLSearchParams({ path, word, ...shown }), take);
  for (const list of Object.keys(shown)) {
    byID(list + "-more").addEventListener("click", () => {
      shown[list] = Math.min(most, shown[list] + step);
      open();
    });
  }
  typed(byID("find"), (text) => {
    word = text;
    open();
  });
}
