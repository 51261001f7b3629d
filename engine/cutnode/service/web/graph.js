/** The graph of a game: who is better at each ply. */

import { keepChildren, svg } from "./elements.js";

const HEIGHT = 100;
const WIDTH = 400;

/**
 * Draw the first player's share of the game at each ply, from -1 to 1, or null where it is
 * unknown; `go(ply)` is called with the ply that is clicked.
 */
export function drawGraph(place, shares, at, go) {
  const x = (ply) => (shares.length < 2 ? WIDTH / 2 : 8 + ((WIDTH - 16) * ply) / (shares.length - 1));
  const y = (share) => HEIGHT / 2 - share * (HEIGHT / 2 - 8);
  const known = shares.map((share, ply) => [share, ply]).filter(([share]) => share !== null);
  const points = known.map(([share, ply]) => `${x(ply)},${y(share)}`).join(" ");
  const width = WIDTH / Math.max(shares.length, 1);
  const drawn = svg(
    "g",
    {},
    svg("rect", { class: "upper", width: WIDTH, height: HEIGHT / 2 }),
    svg("rect", { class: "lower", y: HEIGHT / 2, width: WIDTH, height: HEIGHT / 2 }),
    svg("line", { class: "now", x1: x(at), x2: x(at), y1: 0, y2: HEIGHT }),
    svg("polyline", { class: "course", points }),
    ...known.map(([share, ply]) => svg("circle", { class: "dot", cx: x(ply), cy: y(share), r: 3.5 })),
  );
  const reach = place.querySelector("g.reaches") ?? svg("g", { class: "reaches" });
  if (reach.isConnected) place.firstElementChild.replaceWith(drawn);
  else place.replaceChildren(drawn, reach);
  keepChildren(
    reach,
    shares.map((_, ply) => [ply, ply]),
    (ply) => {
      const title = svg("title", {}, `ply ${ply}`);
      return svg("rect", { class: "reach", height: HEIGHT, onclick: () => go(ply) }, title);
    },
    (rect, ply) => {
      rect.setAttribute("x", x(ply) - width / 2);
      rect.setAttribute("width", width);
    },
  );
  place.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
}
