// Asking a lock back. The token is typed by a person, sent once, and kept nowhere.

import { byID, count, flag, list, make, mark, say, theirs } from "./dom.js";

const dialog = byID("ask");
let lock = {}; // as it was offered last
let target; // as it was when the dialog was opened: who is asked is who was read

// offerRevoke shows the button, or says why there is none.
export function offerRevoke(now) {
  lock = now;
  const button = byID("revoke");
  const note = byID("revoke-note");
  button.hidden = !now.canRevoke;
  note.hidden = now.canRevoke;
  if (!note.firstChild) note.append("This page is read-only. To ask for locks, start the dashboard with ", flag("-revoke-token-file"), ".");
  mark(button, "aria-disabled", now.holders ? null : "true");
  mark(button, "title", now.holders ? null : "Nobody holds the lock.");
}

byID("revoke").addEventListener("click", () => {
  if (!lock.holders) return;
  target = lock;
  say(byID("ask-path"), theirs(target.path));
  const { holder } = target;
  byID("ask-whom").replaceChildren(...(holder ?
    [make("b", {}, theirs(holder.who)), " holds it" + (holder.token ? ", with token " + holder.token : "") + ". Only this holder is asked: if another one has come to hold it since, nobody is."] :
    [count(target.holders) + " hold it. All of them are asked."]));
  say(byID("ask-answer"), "");
  byID("ask-send").disabled = false;
  dialog.showModal();
  byID("ask-token").focus();
});

byID("ask-cancel").addEventListener("click", () => dialog.close());

dialog.addEventListener("close", () => {
  byID("ask-token").value = "";
  byID("revoke").focus();
});

byID("ask-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const answer = byID("ask-answer");
  const send = byID("ask-send");
  send.disabled = true;
  say(answer, "Asking…");
  try {
    const response = await fetch("/revoke", {
      method: "POST",
      headers: { "Content-Type": "application/json", Authorization: "Bearer " + byID("ask-token").value },
      body: JSON.stringify({ path: target.path, holder: target.holder?.token ?? "", node: target.holder?.id ?? "" }),
    });
    const body = await response.json();
    mark(answer, "data-good", response.ok);
    say(answer, ...(response.ok ? ["✓ Asked: ", ...list(body.asked.map(theirs), ", "), "."] : ["✕ ", theirs(body.error)]));
    if (response.ok) {
      byID("ask-token").value = "";
      say(byID("ask-cancel"), "Close");
      byID("ask-cancel").focus();
    } else {
      send.disabled = false;
      byID("ask-token").select(); // so that another one can be typed at once
    }
  } catch {
    mark(answer, "data-good", false);
    say(answer, "✕ The dashboard's server cannot be reached, so it is not known whether anybody was asked.");
    send.disabled = false;
  }
});

dialog.addEventListener("close", () => say(byID("ask-cancel"), "Cancel"));
