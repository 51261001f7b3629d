/** Helpers that create elements of HTML and SVG. */

const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

/** Create an HTML element. */
export function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Create an SVG element. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

const kept = new WeakMap();

/**
 * Give an element one child for each `[key, item]`, in this order.  `make(item)` creates the child
 * of a new key, and `update(child, item)` updates every child.  A child keeps its element as long
 * as its key stays, so a click that has begun on it is not lost.
 */
export function keepChildren(place, entries, make, update) {
  const before = kept.get(place) ?? new Map();
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const now = new Map();
  for (const [key, item] of entries) {
    const child = before.get(key) ?? make(item);
    update(child, item);
    now.set(key, child);
  }
  kept.set(place, now);
  const wanted = new Set(now.values());
  for (const child of [...place.children]) if (!wanted.has(child)) child.remove();
  let next = place.firstElementChild;
  for (const child of now.values()) {
    if (child === next) next = next.nextElementSibling;
    else place.insertBefore(child, next);
  }
  if (focused?.isConnected && focused !== document.activeElement) focused.focus();
}
