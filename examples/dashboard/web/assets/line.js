// A time line: for each lock a lane, in which a bar is a time of holding. Bars stand where they are; what moves is the
// lane that they are in.

import { make, mark, lockLink, say, theirs } from "./dom.js";
import { known, now, span, timeOfDay } from "./clock.js";
import { Rows } from "./rows.js";

export class Line {
  // spans are how many milliseconds may be shown: the shortest that has all that was seen, or else the last; title
  // says which; single, that there is one lane, without a name.
  constructor(parent, title, spans, single) {
    this.spans = spans;
    this.title = title;
    this.start = 0;
    this.open = new Set();
    this.bars = new Map(); // from a bar's id to its element, its lane and its row
    this.gaps = new Map(); // from a gap's id to its row: no server answered then
    this.lanes = new Map(); // from a path to the element that moves, and when each of its tracks is free
    this.body = make("div", { class: "lanes" });
    this.empty = make("p", { class: "empty" }, "Nobody has held a lock here.");
    this.crowded = make("p", { class: "note", hidden: true }, "Where more than four hold a lock at a time, four of them are drawn.");
    this.marks = [1, 2 / 3, 1 / 3].map((part) => [part, make("span")]);
    parent.append(this.body, this.empty, make("div", { class: "axis", "aria-hidden": "true" }, ...this.marks.map(([, at]) => at), make("span", {}, "now")), this.crowded);
    this.scale(0);
    this.rows = new Rows(this.body, (lane) => this.makeLane(lane, single), () => {});
    setInterval(() => this.tick(), matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 250);
  }

  makeLane(lane, single) {
    const mover = make("div", { class: "mover" });
    this.lanes.set(lane.path, { mover, free: [], gaps: new Map() });
    const track = make("div", { class: "track" }, mover);
    if (single) return make("div", { class: "lane" }, track);
    return make("div", { class: "lane" }, make("a", { href: lockLink(lane.path), class: "name", title: lane.path }, theirs(lane.path)), track);
  }

  // scale shows as much as has been seen since a moment.
  scale(first) {
    const seen = first ? now() - first : 0;
    const back = this.spans.find((s) => s >= seen) ?? this.spans.at(-1);
    if (back === this.back) return;
    this.back = back;
    say(this.title, "The last " + (back < 60_000 ? back / 1000 + " seconds" : back === 60_000 ? "minute" : back / 60_000 + " minutes"));
    for (const [part, at] of this.marks) say(at, "−" + short(back * part));
    for (const bar of this.bars.values()) this.lay(bar);
  }

  apply(lanes, holds, gaps, beginning) {
    if (beginning) {
      this.gaps.clear();
      for (const id of [...this.bars.keys()]) this.drop(id);
      for (const lane of this.lanes.values()) { // it is laid out anew
        lane.free = [];
        delete lane.mover.parentElement.dataset.tracks;
      }
      this.crowded.hidden = true;
      this.start = now();
    }
    this.rows.apply(lanes, beginning);
    for (const path of this.lanes.keys()) if (!this.rows.elements.has(path)) this.lanes.delete(path);
    for (const id of holds?.gone ?? []) this.drop(id);
    for (const row of holds?.set ?? []) this.show(row);
    for (const id of gaps?.gone ?? []) this.gaps.delete(id);
    for (const row of gaps?.set ?? []) this.gaps.set(row.id, row);
    this.empty.hidden = this.bars.size > 0;
    this.tick();
  }

  drop(id) {
    this.bars.get(id)?.element.remove();
    this.bars.delete(id);
    this.open.delete(id);
  }

  show(row) {
    const lane = this.lanes.get(row.lane);
    if (!lane) return;
    let bar = this.bars.get(row.id);
    if (!bar) {
      const element = make("div", { class: "bar" }, make("span", {}, theirs(row.who)));
      bar = { element };
      this.bars.set(row.id, bar);
      let track = lane.free.findIndex((until) => until <= row.from);
      if (track < 0) track = lane.free.push(0) - 1;
      bar.track = Math.min(track, 3);
      if (track > 3) this.crowded.hidden = false;
      lane.free[track] = row.to || Infinity;
      bar.slot = track;
      element.dataset.track = bar.track;
      if (bar.track > 0) lane.mover.parentElement.dataset.tracks = Math.max(Number(lane.mover.parentElement.dataset.tracks ?? 0), bar.track);
      lane.mover.append(element);
    }
    bar.row = row;
    if (row.to) {
      lane.free[bar.slot] = row.to;
      this.open.delete(row.id);
    } else {
      this.open.add(row.id);
    }
    bar.element.classList.toggle("asked", Boolean(row.asked));
    bar.element.classList.toggle("open", !row.to);
    bar.element.classList.toggle("least", Boolean(row.least));
    this.lay(bar);
  }

  // lay puts a bar where it belongs.
  lay(bar) {
    bar.element.style.left = this.place(bar.row.from - this.start) + "%";
    this.size(bar);
  }

  place(ms) {
    return (ms / this.back) * 100;
  }

  size(bar) {
    const { row, element } = bar;
    const lasted = Math.max(0, (row.to || known()) - row.from);
    element.style.width = Math.max(0, this.place(lasted)) + "%";
    mark(element, "title", row.who + (row.to ? " held for " : " has held for ") + (row.least ? "at least " : "") + span(lasted) +
      (row.token ? ", token " + row.token : "") + (row.asked ? ", revoke requested" : ""));
  }

  // showGaps covers in a lane what is not known.
  showGaps({ mover, gaps }) {
    for (const [id, element] of gaps) {
      if (this.gaps.has(id)) continue;
      element.remove();
      gaps.delete(id);
    }
    for (const [id, row] of this.gaps) {
      if (!gaps.has(id)) gaps.set(id, mover.appendChild(make("div", { class: "gap" })));
      const element = gaps.get(id);
      element.style.left = this.place(row.from - this.start) + "%";
      element.style.width = this.place((row.to || now()) - row.from) + "%";
      mark(element, "title", "ZooKeeper did not answer from " + timeOfDay(row.from) + (row.to ? " to " + timeOfDay(row.to) : " on") + ": who held is not known");
    }
  }

  tick() {
    if (!this.start) return;
    for (const lane of this.lanes.values()) this.showGaps(lane);
    for (const id of this.open) this.size(this.bars.get(id));
    const shift = 100 - this.place(now() - this.start);
    for (const { mover } of this.lanes.values()) mover.style.transform = "translateX(" + shift + "%)";
  }
}

// short writes a round duration.
const short = (ms) => (ms < 60_000 ? Math.round(ms / 1000) + " s" : Math.floor(ms / 60_000) + " min" + (ms % 60_000 ? " " + Math.round((ms % 60_000) / 1000) + " s" : ""));

// sparkline draws numbers, one a second, into an element.
export function sparkline(element, seconds) {
  const ns = "http://www.w3.org/2000/svg";
  let svg = element.firstElementChild;
  if (!svg) {
    svg = document.createElementNS(ns, "svg");
    svg.setAttribute("viewBox", "0 0 100 24");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    for (const kind of ["area", "stroke"]) {
      const path = document.createElementNS(ns, "path");
      path.setAttribute("class", kind);
      svg.append(path);
    }
    element.append(svg);
  }
  const most = Math.max(1, ...seconds);
  const at = seconds.map((n, i) => ((i / (seconds.length - 1)) * 100).toFixed(2) + " " + (23 - (n / most) * 21).toFixed(2));
  svg.children[0].setAttribute("d", "M0 24L" + at.join("L") + "L100 24Z");
  svg.children[1].setAttribute("d", "M" + at.join("L"));
  svg.setAttribute("aria-label", "Hand-offs in each second of the last minute: at most " + Math.max(0, ...seconds));
}

export function showRate(element, rate) {
  const n = rate.mean;
  say(element, n === 0 ? "0" : n < 10 ? n.toFixed(1) : Math.round(n).toLocaleString("en-GB").replaceAll(",", "\u202f"));
}
