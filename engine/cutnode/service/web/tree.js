/** The tree that a search visited, to expand and collapse. */

import { html } from "./elements.js";
import { short } from "./values.js";

const SIGNS = { exact: "=", lower: "≥", upper: "≤", none: "?" };
const KINDS = {
  pv: "PV node",
  cut: "cut-node (fails high)",
  all: "all-node (fails low)",
  leaf: "leaf",
  chance: "chance",
};

/** Draw a tree; `go(moves)` shows on the board the node to which the moves lead. */
export function drawTree(place, tree, go) {
  const line = tree.pv.length ? `, best line ${tree.pv.join(" ")}` : "";
  const about = `Depth ${tree.depth}, score ${tree.score}, ${short(tree.nodes)} nodes${line}.`;
  place.replaceChildren(html("p", {}, about), html("ul", { class: "tree" }, node(tree.root, [], go)));
}

function node(shown, before, go) {
  const path = shown.move ? [...before, shown.move] : before;
  const window = shown.window.map((bound, at) => bound ?? (at ? "∞" : "−∞")).join(" … ");
  const title = html(
    "span",
    { class: `node ${shown.kind} ${shown.principal ? "principal" : ""}` },
    html("b", {}, shown.move || "root"),
    ` ${SIGNS[shown.bound]} ${shown.score} `,
    html("span", { class: "kind" }, KINDS[shown.kind]),
  );
  const facts = [shown.reason, ...shown.notes, `window ${window}`, `depth ${shown.depth}`];
  facts.push(`${short(shown.nodes)} nodes`);
  const look = html("button", { type: "button", class: "small", onclick: () => go(path) }, "show on board");
  const about = html("div", { class: "facts" }, facts.filter(Boolean).join(" · "), " ", look);
  const left = shown.unsearched.map((unsearched) =>
    html("li", { class: "unsearched" }, `not searched: ${unsearched.moves.join(" ")} (${unsearched.reason})`),
  );
  if (shown.more && shown.children.length) {
    left.push(html("li", { class: "unsearched" }, `${shown.more} more not shown, ${short(shown.more_nodes)} nodes`));
  }
  const inside = [...shown.children.map((child) => node(child, path, go)), ...left];
  const open = shown.principal || shown.ply === 0;
  const below = inside.length ? html("ul", {}, ...inside) : null;
  return html("li", {}, html("details", { open }, html("summary", {}, title), about, below));
}
