// Making elements. All text goes in as text: none of it is ever read as markup.

export const byID = (id) => document.getElementById(id);

// make makes an element with attributes and children, which are elements or text.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

// say sets an element's text where it is another one.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// mark sets an attribute, or takes it away where the value is not true or a text.
export function mark(element, name, value) {
  if (value === true) value = "";
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
