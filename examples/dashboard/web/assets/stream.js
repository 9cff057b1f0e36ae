// The stream of events that keeps a page up to date, and what the page says while there is none.

import { byID, make, say, theirs } from "./dom.js";
import { now, setClock, setSilence, stopClock, timeOfDay } from "./clock.js";

const silence = 9_000; // the server is heard every three seconds
const pauses = [500, 1000, 2000, 5000];

// follow opens the stream at an address that url gives, again and again, and calls take with each message; beginning
// is true for the first of a stream, which has everything. It gives a function that opens the stream anew.
export function follow(url, take) {
  let source, watch, retry;
  let failed = 0;
  let heard = 0;
  let silent; // since when no server has answered the dashboard

  const lost = (why) => {
    source?.close();
    source = undefined;
    clearTimeout(watch);
    clearTimeout(retry);
    stopClock();
    showLink("lost", "Not connected");
    showAlert("stream", why + (heard ? " What you see is as it was at " + timeOfDay(now()) + "." : "") + " Trying again…");
    document.body.classList.add("stale");
    retry = setTimeout(open, pauses[Math.min(failed++, pauses.length - 1)]);
  };

  const open = () => {
    source?.close();
    clearTimeout(watch);
    clearTimeout(retry);
    let beginning = true;
    const mine = new EventSource(url());
    source = mine;
    const listen = () => {
      clearTimeout(watch);
      watch = setTimeout(() => lost("The dashboard's server has gone silent."), silence);
    };
    listen();
    mine.addEventListener("view", (event) => {
      if (source !== mine) return;
      listen();
      const message = JSON.parse(event.data);
      failed = 0;
      heard = Date.now();
      setClock(message.now);
      if (message.figures) setSilence((silent = message.figures.silent));
      if (silent) showLink("lost", "No answer since " + timeOfDay(silent));
      else showLink("live", "Live");
      showAlert("stream");
      document.body.classList.toggle("stale", Boolean(silent));
      take(message, beginning);
      beginning = false;
    });
    mine.addEventListener("error", async () => {
      if (source !== mine) return;
      const why = mine.readyState === EventSource.CLOSED ? await refusal(mine.url) : "";
      if (source === mine) lost(why || "The dashboard's server cannot be reached.");
    });
  };

  // A page that nobody sees needs no stream, and browsers open only a few to one server.
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") {
      if (!source) open();
      return;
    }
    source?.close();
    source = undefined;
    clearTimeout(watch);
    clearTimeout(retry);
    showLink("paused", "Paused while hidden");
  });

  showLink("waiting", "Connecting…");
  open();
  return open;
}

// refusal asks the server why it gives no stream, which an EventSource does not say.
async function refusal(url) {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(silence) });
    if (!answer.ok) return (await answer.json()).error;
    await answer.body.cancel(); // it does now
  } catch { /* it cannot be reached */ }
  return "";
}

const shapes = { live: "●", lost: "✕", paused: "‖", waiting: "○" };

function showLink(state, text) {
  const link = byID("link");
  if (link.dataset.state === state && link.dataset.text === text) return;
  link.dataset.state = state;
  link.dataset.text = text;
  link.replaceChildren(make("span", { "aria-hidden": "true" }, shapes[state]), " " + text);
}

// showAlert shows a sentence above the page, or takes it away without one.
export function showAlert(name, ...sentence) {
  let alert = byID("alert-" + name);
  if (!sentence.length) {
    alert?.remove();
    return;
  }
  if (!alert) {
    alert = make("p", { class: "alert", id: "alert-" + name });
    byID("alerts").append(alert);
  }
  say(alert, ...sentence);
}

export function showTrouble({ trouble, silent }) {
  const old = silent ? ". What you see is as it was at " + timeOfDay(silent) : ", so what you see may be old";
  showAlert("trouble", ...(trouble || silent ? ["ZooKeeper does not answer" + old, trouble ? ": " : ".", theirs(trouble ?? "")] : []));
}

let told = 0;
let telling;

// tell has screen readers say a sentence, not more often than every five seconds: of what is told between, the last
// is said when they are over.
export function tell(...sentence) {
  clearTimeout(telling);
  telling = setTimeout(() => {
    told = Date.now();
    say(byID("news"), ...sentence);
  }, Math.max(0, told + 5000 - Date.now()));
}
