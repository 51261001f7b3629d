/**
 * The page: it draws the positions that the worker sends, and sends the worker what is clicked.
 *
 * Its address names the service and the game: `?service=http://localhost:8000&game=connect4`.
 */

/**
 * @import { BoardView, MoveView, PositionView } from "cutnode-client"
 * @import { Order, Told } from "./worker.js"
 */

const asked = new URLSearchParams(location.search);
const service = asked.get("service") ?? "http://localhost:8000";
const game = asked.get("game") ?? "tictactoe";

const EMPTY = 0;

const part = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const settings = /** @type {HTMLFormElement} */ (part("settings"));
const buttons = /** @type {HTMLFieldSetElement} */ (part("game"));

/** @type {BoardView | null} */
let board = null;

const worker = new Worker(new URL("worker.js", import.meta.url), { type: "module" });
const order = (/** @type {Order} */ message) => worker.postMessage(message);

worker.onmessage = (/** @type {MessageEvent<Told>} */ { data }) => {
  if (data.told === "game") {
    board = data.board;
    settings["level"].replaceChildren(...data.levels.map((level) => new Option(level)));
    begin();
  } else if (data.told === "position") {
    draw(data.view, data.yours);
  } else {
    part(data.told).textContent = data.text;
  }
};

settings.addEventListener("submit", (event) => {
  event.preventDefault();
  begin();
});

order({ do: "open", service, game });

function begin() {
  const { level, first } = Object.fromEntries(new FormData(settings));
  order(/** @type {Order} */ ({ do: "begin", level, yours: first === "you" }));
}

/** @param {string} move */
function play(move) {
  buttons.disabled = true; // until the worker sends the next position
  order({ do: "play", move });
}

/**
 * Draw a position; if it is your turn, its moves can be clicked.
 *
 * @param {PositionView} view
 * @param {boolean} yours
 */
function draw(view, yours) {
  const { onCells, others } = placed(yours ? view.moves : [], view.cells);
  buttons.disabled = false;
  part("board").replaceChildren(...(board ? drawCells(board, view, onCells) : [drawText(view)]));
  part("moves").replaceChildren(...others.map(({ move }) => button(move, move)));
  part("hint").textContent = "";
  part("status").textContent = statusOf(view, yours);
}

/**
 * Separate the moves that fill one empty cell, a different one for each, from all others.
 *
 * @param {MoveView[]} moves
 * @param {number[] | null} cells
 */
function placed(moves, cells) {
  /** @type {Map<number, string>} */
  const onCells = new Map();
  const others = moves.filter(({ move, changes }) => {
    const filled = changes.filter(([cell, content]) => content !== EMPTY && cells?.[cell] === EMPTY);
    const cell = filled[0]?.[0];
    if (filled.length !== 1 || cell === undefined || onCells.has(cell)) return true;
    onCells.set(cell, move);
    return false;
  });
  return { onCells, others };
}

/**
 * @param {BoardView} board
 * @param {PositionView} view
 * @param {Map<number, string>} moves
 */
function drawCells({ places, contents }, { cells }, moves) {
  const left = Math.min(...places.map(([x]) => x));
  const top = Math.min(...places.map(([, y]) => y));
  const rows = Math.max(...places.map(([, y]) => y)) - top + 1;
  part("board").style.height = `calc(${rows} * var(--cell))`;
  return places.map(([x, y], cell) => {
    const content = contents[cells?.[cell] ?? EMPTY];
    const shown = content?.owner === null ? "" : content?.glyph || content?.symbol;
    const drawn = button(shown ?? "", moves.get(cell));
    drawn.style.left = `calc(${x - left} * var(--cell))`;
    drawn.style.top = `calc(${y - top} * var(--cell))`;
    drawn.ariaLabel = `${moves.get(cell) ?? `cell ${cell + 1}`}: ${content?.name}`;
    return drawn;
  });
}

/** @param {PositionView} view */
function drawText(view) {
  const drawn = document.createElement("pre");
  drawn.textContent = view.board;
  return drawn;
}

/**
 * @param {string} text
 * @param {string} [move] - The move to play; without one, the button is disabled.
 */
function button(text, move) {
  const drawn = document.createElement("button");
  drawn.textContent = text;
  drawn.disabled = move === undefined;
  if (move !== undefined) drawn.onclick = () => play(move);
  return drawn;
}

/**
 * @param {PositionView} view
 * @param {boolean} yours
 */
function statusOf({ over, value }, yours) {
  if (!over) return yours ? "Your move." : "The level is thinking.";
  if (!value) return "Draw.";
  return value > 0 === yours ? "You won." : "The level won.";
}
