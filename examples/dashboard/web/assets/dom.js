// Making elements. All text goes in as text: none of it is ever read as markup.

export const byID = (id) => document.getElementById(id);

// make makes an element with attributes and children, which are elements or text.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    mark(element, name, value);
  }
  element.append(...children);
  return element;
}

// theirs is text that others wrote: names, labels, paths. It turns no words around it round.
export const theirs = (text) => make("bdi", {}, text);

// plain is such text where there are no elements: in titles.
export const plain = (text) => text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "·");

// say sets what an element says, in texts and in elements such as theirs, where that is something else.
export function say(element, ...parts) {
  parts = parts.map((part) => part ?? "");
  if (element.textContent !== parts.map((part) => part.textContent ?? part).join("")) element.replaceChildren(...parts);
}

// list gives parts with something between them; those that are empty are left out.
export const list = (parts, between) => parts.filter(Boolean).flatMap((part, i) => (i ? [between, part] : [part])).flat();

// mark sets an attribute, or takes it away where the value is not true or a text.
export function mark(element, name, value) {
  if (value === true) value = "";
  if (name === "title" && value) value = plain(value);
  if (value === false || value === undefined || value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

export const lockLink = (path) => "/lock?path=" + encodeURIComponent(path);

export const count = (n) => n.toLocaleString("en-GB").replaceAll(",", "\u202f");

// flag is a command's flag, which is never broken in two.
export const flag = (name) => make("code", { class: "flag" }, name);

// typed calls take with what has been typed into a field, when nothing more is typed for a moment.
export function typed(field, take) {
  let waiting;
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => take(field.value.trim()), 200);
  });
}
