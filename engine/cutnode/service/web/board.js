/** The drawing of a board as the game declares it, and its handling of pointer and keys. */

import { svg } from "./elements.js";

const CELL = 100;
const SPACING = {
  grid: [CELL, CELL],
  hexagons: [CELL, CELL * Math.sqrt(0.75)],
  triangles: [CELL, CELL * Math.sqrt(3)],
  points: [CELL, CELL],
};
const RADIUS = { grid: 39, hexagons: 38, triangles: 36, points: 38 };
const PART = { grid: [-37, -35], hexagons: [0, -46], triangles: [0, -44], points: [-32, -32] };
const TINTS = 5;
const MARGIN = 12;
const NAMES = 46;
const LETTER = 15;
const DRAG = 8;
const LEAST_CELL = 24.5; // pixels: large enough for a finger
const PHONE = 320;
const CORNER = CELL / Math.sqrt(3);
const EDGE = 8;
const KING = /[⛁⛃]/;
const DRAUGHTSMEN = /[⛀-⛃]/;
const SHADES = { white: "light", light: "light", black: "dark", dark: "dark" };
const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class BoardDrawing {
  #drag = null;
  #focus = 0;
  #groups = [];
  #pointed = false; // the focus came by a pointer: arrow keys step through the game

  /**
   * Draw in `place`; `onCell(cell, dropped)` is called for each cell that is clicked, or on which
   * a piece is dropped, and `onEscape()` to cancel clicks.
   */
  constructor(place, board, { onCell, onEscape, canDrag }) {
    this.board = board;
    this.onCell = onCell;
    this.onEscape = onEscape;
    this.canDrag = canDrag;
    this.flipped = false;
    const kinds = [0, 1].map((owner) => board.contents.filter((c) => c.owner === owner).length);
    this.lettered = Math.max(...kinds) > 1;
    this.root = svg("svg", { class: `board ${board.shape}`, role: "group" });
    this.root.addEventListener("pointerdown", (event) => this.#down(event));
    this.root.addEventListener("pointermove", (event) => this.#move(event));
    this.root.addEventListener("pointerup", (event) => this.#up(event));
    this.root.addEventListener("pointercancel", () => this.#endDrag());
    this.root.addEventListener("keydown", (event) => this.#key(event));
    this.root.addEventListener("focusin", (event) => {
      const { cell } = event.target.dataset;
      if (cell !== undefined) this.#focus = Number(cell);
    });
    this.root.addEventListener("focusout", (event) => {
      const other = event.relatedTarget; // null if the board is drawn anew
      if (other && !this.root.contains(other)) this.#pointed = false;
    });
    place.replaceChildren(this.root);
  }

  /**
   * Show `cells`, the contents, and mark cells: the `last` changed or, at the end of a game, the ones
   * that `won` it; the `chosen`, and the possible `next` ones; `parts`, the cells of each; `marks`,
   * `{label, kind, best, words}` by cell; `arrows`, `[from, to]`; and `steps`, numbers of moves by
   * cell.
   */
  show({ cells, label, last = [], won = [], chosen = [], next = [], parts = [], marks, arrows = [], steps }) {
    const focused = this.root.contains(document.activeElement);
    const centres = this.board.places.map((_, cell) => this.centre(cell));
    const box = this.#box(centres);
    this.root.setAttribute("viewBox", box.join(" "));
    this.root.setAttribute("aria-label", label);
    const least = (LEAST_CELL / CELL) * box[2];
    this.root.style.minWidth = `${least}px`;
    this.root.classList.toggle("large", least > PHONE);
    this.root.style.setProperty("--ratio", String(box[2] / box[3]));
    this.#groups = cells.map((content, cell) => {
      const classes = ["cell"];
      if (chosen.includes(cell)) classes.push("chosen");
      if (next.includes(cell)) classes.push("next");
      const mark = marks?.get(cell) ?? null;
      const part = parts.length > 1 ? parts.findIndex((its) => its.includes(cell)) : -1;
      if (won.includes(cell)) classes.push("winning");
      return this.#cell(cell, content, centres[cell], classes, part, mark);
    });
    this.root.replaceChildren(
      svg("defs", {}, arrowhead()),
      ...this.#lines(centres),
      ...this.#edges(centres),
      ...this.#names(centres),
      ...this.#groups,
      ...this.#frames(centres, { last, won, next, chosen }),
      ...arrows.map(([from, to]) => arrow(centres[from], centres[to])),
      ...[...(steps ?? [])].map(([cell, number]) => step(centres[cell], number)),
    );
    if (focused) this.#groups[this.#focus]?.focus();
    if (this.#drag?.ghost) {
      this.#groups[this.#drag.cell].classList.add("lifted");
      this.root.append(this.#drag.ghost);
    }
  }

  /** The centre of a cell, in the units of the drawing. */
  centre(cell) {
    const [across, down] = SPACING[this.board.shape];
    const [x, y] = this.board.places[cell];
    return this.flipped ? [-x * across, -y * down] : [x * across, y * down];
  }

  /** The name of a cell, such as a1 if rows and columns have names. */
  nameOf(cell) {
    const { places, row_names: rows, column_names: columns } = this.board;
    const [x, y] = places[cell];
    const xs = distinct(places.map((place) => place[0]));
    const ys = distinct(places.map((place) => place[1]));
    const column = columns.length === xs.length ? columns[xs.indexOf(x)] : null;
    const row = rows.length === ys.length ? rows[ys.indexOf(y)] : null;
    if (row && column) return `${column}${row}`;
    const inRow = places.filter((place) => place[1] === y && place[0] <= x).length;
    return `row ${ys.indexOf(y) + 1}, column ${column ?? inRow}`;
  }

  #box(centres) {
    const xs = centres.map(([x]) => x);
    const ys = centres.map(([, y]) => y);
    const half = this.board.shape === "triangles" ? 100 : this.board.shape === "hexagons" ? 58 : 50;
    const longest = Math.max(0, ...this.board.row_names.map((name) => name.length));
    const clear = this.board.edges.length ? 2 * EDGE : 0;
    const names = (longest ? NAMES / 2 + LETTER * longest : 0) + clear;
    const below = this.board.column_names.length ? NAMES : 0;
    const left = Math.min(...xs) - Math.max(half, 50) - MARGIN - names;
    const top = Math.min(...ys) - half - MARGIN;
    const right = Math.max(...xs) + Math.max(half, 50) + MARGIN;
    const bottom = Math.max(...ys) + half + MARGIN + below;
    return [left, top, right - left, bottom - top];
  }

  #names(centres) {
    const { places, row_names: rows, column_names: columns } = this.board;
    const ys = distinct(places.map((place) => place[1]));
    const xs = distinct(places.map((place) => place[0]));
    const texts = [];
    const text = (x, y, name, kind) =>
      svg("text", { class: `name ${kind}`, x, y, "aria-hidden": "true" }, name);
    const bottom = Math.max(...centres.map(([, y]) => y)) + 50 + NAMES / 2 + 6;
    if (rows.length === ys.length) {
      ys.forEach((y, number) => {
        const inRow = centres.filter((_, cell) => places[cell][1] === y);
        const clear = this.board.edges.length ? 2 * EDGE : 0;
        const x = Math.min(...inRow.map((place) => place[0])) - 50 - NAMES / 3 - clear;
        texts.push(text(x, inRow[0][1], rows[number], "row-name"));
      });
    }
    if (columns.length === xs.length) {
      xs.forEach((x, number) => {
        const column = centres[places.findIndex((place) => place[0] === x)][0];
        texts.push(text(column, bottom, columns[number], "column-name"));
      });
    }
    return texts;
  }

  #lines(centres) {
    return this.board.lines.map(([one, other]) => {
      const [[x1, y1], [x2, y2]] = [centres[one], centres[other]];
      return svg("line", { class: "line", x1, y1, x2, y2 });
    });
  }

  /** The edges for stones to connect, in the colours of their owners. */
  #edges(centres) {
    const middle = mean(centres);
    const edges = this.board.edges.map((edge) => {
      const [start, end] = [edge.cells[0], edge.cells.at(-1)].map((cell) => centres[cell]);
      return { ...edge, out: normal(start, end, middle), sides: [] };
    });
    const isCell = ([x, y]) => centres.some(([left, top]) => Math.hypot(left - x, top - y) < CELL / 4);
    for (const [cell, [x, y]] of centres.entries()) {
      const its = edges.filter((edge) => edge.cells.includes(cell));
      for (let n = 0; n < 6 && its.length; ++n) {
        const [one, other] = [n - 0.5, n + 0.5].map((at) => (at * Math.PI) / 3);
        const out = [Math.cos((n * Math.PI) / 3), Math.sin((n * Math.PI) / 3)];
        if (isCell([x + CELL * out[0], y + CELL * out[1]])) continue;
        const along = (edge) => out[0] * edge.out[0] + out[1] * edge.out[1];
        const nearest = its.reduce((best, edge) => (along(edge) > along(best) ? edge : best));
        const at = (angle) => [x, y].map((from, axis) => from + (CORNER + EDGE) * [Math.cos, Math.sin][axis](angle));
        nearest.sides.push(`M${at(one)}L${at(other)}`);
      }
    }
    return edges.map(({ owner, sides }) => {
      const players = owner === null ? [0, 1] : [owner];
      const paths = players.map((player, number) =>
        svg("path", { class: `edge ${this.#side(player)} ${number ? "shared" : ""}`, d: sides.join("") }),
      );
      const whose = owner === null ? "both players" : this.board.names[owner];
      return svg("g", { role: "img", "aria-label": `Edge of ${whose}` }, ...paths);
    });
  }

  /** The class for a player's colour. */
  #side(owner) {
    const piece = this.board.contents.find((content) => content.owner === owner);
    return SHADES[piece?.name.split(" ")[0]] ?? ["first", "second"][owner];
  }

  #cell(cell, content, [x, y], classes, part, mark) {
    const about = this.board.contents[content];
    const hidden = about.symbol.trim() === "";
    const words = [this.nameOf(cell), about.name, mark?.words].filter(Boolean);
    if (part >= 0) {
      words.push(`part ${part + 1}`);
      classes.push("part", `tint${part % TINTS}`);
    }
    if (classes.includes("chosen")) words.push("selected");
    if (classes.includes("winning")) words.push("won the game");
    if (classes.includes("next")) words.push("possible move");
    const group = svg("g", {
      class: [...classes, ...(hidden ? ["void"] : []), `tone${this.#tone(cell)}`].join(" "),
      transform: `translate(${x} ${y})`,
      "data-cell": cell,
      ...(hidden ? {} : { role: "button", "aria-label": words.join(", ") }),
      tabindex: hidden ? null : cell === this.#focus ? 0 : -1,
    });
    const [middle, outline] = this.#outline(cell);
    group.append(...outline);
    if (part >= 0) {
      const [left, up] = PART[this.board.shape];
      group.append(svg("text", { class: "part-number", x: left, y: middle + up }, String(part + 1)));
    }
    const inside = svg("g", { transform: `translate(0 ${middle})` });
    inside.append(...this.#content(content));
    if (mark !== null) inside.append(chip(mark, content !== 0));
    group.append(inside);
    return group;
  }

  /** Frames around cells, above all cells, so that neighbours do not hide them. */
  #frames(centres, cellsOf) {
    return Object.entries(cellsOf).flatMap(([kind, cells]) =>
      cells.map((cell) => {
        const transform = `translate(${centres[cell].join(" ")})`;
        return svg("g", { class: `frame ${kind}`, transform }, this.#outline(cell)[1][0]);
      }),
    );
  }

  /** Squares alternate in tone on boards with several kinds of pieces, as in chess. */
  #tone(cell) {
    const [x, y] = this.board.places[cell];
    return this.board.shape === "grid" && this.lettered ? (x + y) % 2 : 0;
  }

  /** Return how far the middle of a cell is below its centre, and its outline. */
  #outline(cell) {
    const { shape, lines, places } = this.board;
    if (shape === "grid") return [0, [square(50, 0)]];
    if (shape === "hexagons") return [0, [polygon(6, CELL / Math.sqrt(3), Math.PI / 2)]];
    if (shape === "triangles") {
      const [x, y] = places[cell];
      const up = ((x + y) % 2 === 0) !== this.flipped;
      const height = CELL * Math.sqrt(0.75);
      const [tip, base] = up ? [-height, height] : [height, -height];
      const points = `0,${tip} ${CELL},${base} ${-CELL},${base}`;
      return [base / 3, [svg("polygon", { class: "outline", points })]];
    }
    if (!lines.length) return [0, [square(46, 14)]];
    return [0, [svg("circle", { class: "reach", r: 46 }), svg("circle", { class: "outline", r: 13 })]];
  }

  /** Draw the content of a cell: a disc, a letter or a glyph, or a number. */
  #content(content) {
    const { symbol, name, glyph, owner } = this.board.contents[content];
    const number = symbol.match(/^\[?(\d+)\]?$/);
    if (owner !== null) {
      const side = SHADES[name.split(" ")[0]] ?? ["first", "second"][owner];
      const radius = RADIUS[this.board.shape];
      const disc = [svg("circle", { class: `disc ${side}`, r: radius })];
      const rim = svg("circle", { class: `rim ${side}`, r: radius * 0.62 });
      if (DRAUGHTSMEN.test(glyph)) {
        const crown = svg("text", { class: `crown ${side}` }, "♛");
        return [...disc, KING.test(glyph) ? crown : rim];
      }
      if (glyph && this.lettered) return [svg("text", { class: `glyph ${side}` }, solid(glyph))];
      if (this.lettered) return [...disc, svg("text", { class: `letter ${side}` }, symbol)];
      return [...disc, rim];
    }
    if (number) {
      const none = number[1] === "0" ? "none" : "";
      return [svg("text", { class: `number ${none}` }, number[1])];
    }
    if (content === 0 || symbol.trim() === "") return [];
    if (symbol === "#") return [svg("rect", { class: "covered", x: -44, y: -44, width: 88, height: 88, rx: 10 })];
    return [svg("text", { class: "sign" }, glyph || (symbol === "*" ? "✶" : symbol))];
  }

  // Pointer and keys

  #cellAt(event) {
    const found = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
    return found && this.root.contains(found) ? Number(found.dataset.cell) : null;
  }

  #point(event) {
    const point = new DOMPoint(event.clientX, event.clientY);
    return point.matrixTransform(this.root.getScreenCTM().inverse());
  }

  #down(event) {
    if (event.button !== 0) return;
    this.#pointed = true;
    const cell = this.#cellAt(event);
    if (cell === null) return;
    this.root.setPointerCapture(event.pointerId);
    this.#drag = { cell, x: event.clientX, y: event.clientY, ghost: null };
  }

  #move(event) {
    const drag = this.#drag;
    if (drag === null) return;
    const far = Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > DRAG;
    if (drag.ghost === null && far && this.canDrag(drag.cell)) {
      this.onCell(drag.cell, false);
      const piece = this.#groups[drag.cell].querySelector("g").cloneNode(true);
      piece.querySelector(".chip")?.remove();
      drag.ghost = svg("g", { class: "dragged" }, piece);
      this.#groups[drag.cell].classList.add("lifted");
      this.root.append(drag.ghost);
    }
    if (drag.ghost !== null) {
      const { x, y } = this.#point(event);
      drag.ghost.setAttribute("transform", `translate(${x} ${y})`);
    }
  }

  #up(event) {
    const drag = this.#drag;
    const cell = this.#cellAt(event);
    this.#endDrag();
    if (drag === null) return;
    if (drag.ghost === null && cell === drag.cell) this.#choose(cell);
    else if (drag.ghost !== null && cell === null) this.onEscape();
    else if (drag.ghost !== null && cell !== drag.cell) this.onCell(cell, true);
  }

  #endDrag() {
    this.#drag?.ghost?.remove();
    this.root.querySelector(".lifted")?.classList.remove("lifted");
    this.#drag = null;
  }

  #choose(cell) {
    this.#focus = cell;
    this.onCell(cell, false);
  }

  #key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in DIRECTIONS) {
      if (this.#pointed) return;
      this.#step(DIRECTIONS[event.key]);
    } else if (event.key === "Enter" || event.key === " ") this.#choose(this.#focus);
    else if (event.key === "Escape") this.onEscape();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Move the focus to the nearest cell in a direction. */
  #step([right, down]) {
    const [x, y] = this.centre(this.#focus);
    let nearest = null;
    let least = Infinity;
    this.#groups.forEach((group, cell) => {
      if (!group.hasAttribute("tabindex")) return;
      const [dx, dy] = [this.centre(cell)[0] - x, this.centre(cell)[1] - y];
      const ahead = dx * right + dy * down;
      const aside = Math.abs(dx * down) + Math.abs(dy * right);
      if (ahead > 1 && ahead >= aside * 0.5 && ahead + 2 * aside < least) {
        [nearest, least] = [cell, ahead + 2 * aside];
      }
    });
    if (nearest === null) return;
    this.#groups[this.#focus]?.setAttribute("tabindex", "-1");
    this.#focus = nearest;
    this.#groups[nearest].setAttribute("tabindex", "0");
    this.#groups[nearest].focus();
  }
}

/** Return the solid form of a chess piece; its colour shows its owner. */
function solid(glyph) {
  return glyph.replace(/[♔-♙]/, (piece) => String.fromCodePoint(piece.codePointAt(0) + 6));
}

function mean(points) {
  return [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
}

/** The unit normal of a line of cells, pointing away from a point; of one cell, straight away. */
function normal([x1, y1], [x2, y2], [x, y]) {
  const away = [(x1 + x2) / 2 - x, (y1 + y2) / 2 - y];
  const [across, down] = x1 === x2 && y1 === y2 ? away : [y1 - y2, x2 - x1];
  const sign = across * away[0] + down * away[1] < 0 ? -1 : 1;
  const length = Math.hypot(across, down) || 1;
  return [(sign * across) / length, (sign * down) / length];
}

function distinct(numbers) {
  return [...new Set(numbers)].sort((one, other) => one - other);
}

function square(half, rx) {
  const [x, width] = [-half, 2 * half];
  return svg("rect", { class: "outline", x, y: x, width, height: width, rx });
}

function polygon(corners, radius, turned) {
  const corner = (n) => turned + (2 * Math.PI * n) / corners;
  const at = (n) => `${radius * Math.cos(corner(n))},${radius * Math.sin(corner(n))}`;
  const points = Array.from({ length: corners }, (_, n) => at(n)).join(" ");
  return svg("polygon", { class: "outline", points });
}

/** The value of a move: in the middle of an empty cell, lower on an occupied one. */
function chip({ label, kind, best }, low) {
  const width = Math.max(34, 15 * label.length + 14);
  return svg(
    "g",
    { class: `chip ${kind} ${best ? "best" : ""}`, transform: `translate(0 ${low ? 30 : 0})` },
    svg("rect", { x: -width / 2, y: -16, width, height: 32, rx: 10 }),
    svg("text", {}, label),
  );
}

function arrowhead() {
  const path = svg("path", { d: "M0 0 10 5 0 10Z" });
  const size = { markerWidth: 4, markerHeight: 4, refX: 7, refY: 5, viewBox: "0 0 10 10" };
  return svg("marker", { id: "arrowhead", orient: "auto", ...size }, path);
}

function arrow([x1, y1], [x2, y2]) {
  return svg("line", { class: "arrow", x1, y1, x2, y2, "marker-end": "url(#arrowhead)" });
}

function step([x, y], number) {
  return svg(
    "g",
    { class: "step", transform: `translate(${x + 30} ${y - 30})` },
    svg("circle", { r: 17 }),
    svg("text", {}, String(number)),
  );
}
