/** Elements of HTML and SVG, in a line each. */

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

/** Make an element of HTML. */
export function html(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** Make an element of SVG. */
export function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}
