// The strip of the dashboard's own session: what state it was in, and when the servers proved that it lives.

import { byID, count, make, mark, say } from "./dom.js";
import { now, setAge, span, timeOfDay } from "./clock.js";
import { Rows } from "./rows.js";

const back = 300_000; // milliseconds that are drawn

const states = {
  connected: ["●", "a server answers"],
  connecting: ["○", "no session is granted yet"],
  unanswered: ["◌", "connected, but a request has been waiting for its answer for long"],
  disconnected: ["×", "no server is connected"],
  lapsed: ["▲", "not proved in time: no lease may rest on this session any more"],
  closed: ["■", "ended"],
};

const shape = (state) => states[state]?.[0] ?? "·";

// after is what follows a state in the words of the history.
function words(p) {
  return [p.session && "session " + p.session + ", the " + nth(p.epoch), p.state === "connected" && p.server && "on " + p.server].filter(Boolean).join(", ");
}

function nth(n) {
  const tail = n % 100 > 10 && n % 100 < 14 ? "th" : { 1: "st", 2: "nd", 3: "rd" }[n % 10] ?? "th";
  return count(n) + tail;
}

// Chain keeps the section up to date.
export class Chain {
  constructor() {
    this.start = 0;
    this.proofs = new Map(); // from an id to its element
    this.phases = new Map(); // from an id to its element and its row
    this.mover = make("div", { class: "mover" });
    byID("chain").append(make("div", { class: "track", role: "img", "aria-labelledby": "chain-title chain-sentence" }, this.mover));
    this.history = new Rows(byID("chain-rows"), (p) => make("li", { "data-state": p.state }, make("time", {}, timeOfDay(p.from)),
      make("span", { class: "what", title: states[p.state]?.[1] }, make("span", { class: "shape", "aria-hidden": "true" }, shape(p.state)), " " + p.state),
      make("span", { class: "note" }), make("span", { class: "number" })), (li, p) => {
      say(li.children[2], words(p));
      if (p.to) {
        setAge(li.lastChild, 0);
        say(li.lastChild, span(p.to - p.from));
      } else setAge(li.lastChild, p.from, false, true);
    });
    setInterval(() => this.tick(), matchMedia("(prefers-reduced-motion: reduce)").matches ? 1000 : 250);
  }

  apply(own, phases, proofs, beginning) {
    if (beginning) {
      this.start = now();
      this.phases.clear();
      this.proofs.clear();
      this.mover.replaceChildren();
    }
    for (const id of phases?.gone ?? []) this.drop(this.phases, id);
    for (const id of proofs?.gone ?? []) this.drop(this.proofs, id);
    for (const p of phases?.set ?? []) this.show(p);
    for (const p of proofs?.set ?? []) {
      const element = make("i", { class: "proof", title: "proved at " + timeOfDay(p.at) });
      element.style.left = this.place(p.at - this.start) + "%";
      this.proofs.set(p.id, { element });
      this.mover.append(element);
    }
    this.history.apply(phases && { ...phases, order: phases.order && [...phases.order].reverse() }, beginning);
    if (own) this.own = own;
    this.tell();
    this.tick();
  }

  drop(from, id) {
    from.get(id)?.element.remove();
    from.delete(id);
  }

  show(p) {
    let known = this.phases.get(p.id);
    if (!known) {
      known = { element: make("div", { class: "phase", "data-state": p.state, "data-epoch": p.epoch % 2 }, make("span", {}, shape(p.state) + " " + p.state)) };
      this.phases.set(p.id, known);
      this.mover.prepend(known.element);
    }
    known.row = p;
    known.element.style.left = this.place(p.from - this.start) + "%";
    mark(known.element, "title", p.state + ": " + (states[p.state]?.[1] ?? "") + (p.session ? ". Session " + p.session : ""));
    this.size(known);
  }

  size({ element, row }) {
    element.style.width = this.place((row.to || now()) - row.from) + "%";
  }

  place(ms) {
    return (ms / back) * 100;
  }

  // tell says the same in words.
  tell() {
    const own = this.own;
    if (!own) return;
    byID("chain-state").dataset.state = own.state;
    say(byID("chain-state"), shape(own.state) + " " + own.state);
    say(byID("chain-sentence"), own.id ? "Session " + own.id + ", the " + nth(own.epoch) + (own.server ? ", on " + own.server : "") + "." : "No session yet.");
    say(byID("chain-proofs"), count(own.proofs) + (own.proofs === 1 ? " proof" : " proofs"));
    say(byID("chain-lapses"), own.lapses ? count(own.lapses) + (own.lapses === 1 ? " lapse" : " lapses") : "no lapse");
    mark(byID("chain-lapses"), "data-some", own.lapses > 0);
    say(byID("chain-epochs"), count(own.epoch) + (own.epoch === 1 ? " session" : " sessions") + " since the start");
    say(byID("chain-weight"), count(own.bytes) + " of " + count(own.most) + " bytes of nodes");
  }

  tick() {
    if (!this.start) return;
    for (const known of this.phases.values()) if (!known.row.to) this.size(known);
    this.mover.style.transform = "translateX(" + (100 - this.place(now() - this.start)) + "%)";
    const left = (this.own?.until ?? 0) - now();
    say(byID("chain-lease"), left > 0 ? "a lease would last " + (left / 1000).toFixed(1) + " s more" : "no lease would be granted");
  }
}
