/** Setting up a position, cell by cell. */

import { html } from "./elements.js";

const MOST_BUTTONS = 16;
const STORE = /^\[\d+\]$/;

export class Editor {
  #content = 1;

  /** `parts` are the elements of the form; `change()` is called whenever the board changes. */
  constructor(parts, { change, finish, cancel }) {
    this.parts = parts;
    this.change = change;
    this.cells = null;
    parts.clear.onclick = () => {
      const isCell = (content) => this.board.contents[content].symbol.trim() !== "";
      this.cells = this.cells.map((content) => (isCell(content) ? this.#fitting(0, content) : content));
      change();
    };
    parts.done.onclick = () => finish(this.cells, parts.mover.value);
    parts.cancel.onclick = cancel;
  }

  get open() {
    return this.cells !== null;
  }

  /** Start with a position in which `player` is to move. */
  begin(board, cells, player) {
    this.board = board;
    this.cells = [...cells];
    const movers = Object.entries(board.players);
    this.parts.mover.replaceChildren(
      ...movers.map(([symbol, name], at) =>
        html("option", { value: symbol, selected: at === player }, name),
      ),
    );
    this.parts.label.hidden = !movers.length;
    this.#palette();
    this.parts.form.hidden = false;
  }

  end() {
    this.cells = null;
    this.parts.form.hidden = true;
  }

  /** Place the chosen content on a cell; empty the cell if it holds that content already. */
  put(cell) {
    const before = this.cells[cell];
    const content = this.#fitting(this.#content, before);
    this.cells[cell] = content === before ? this.#fitting(0, before) : content;
    this.change();
  }

  /** Return a content for the cell of another: stores hold numbers in brackets. */
  #fitting(content, before) {
    const { contents } = this.board;
    if (!STORE.test(contents[before].symbol)) return content;
    return contents.findIndex(({ symbol }) => symbol === `[${contents[content].symbol}]`);
  }

  #palette() {
    const choose = (content) => {
      this.#content = content;
      this.#palette();
    };
    const known = [...this.board.contents.entries()].filter(
      ([, { symbol }]) => symbol.trim() !== "" && !STORE.test(symbol),
    );
    if (!known.some(([content]) => content === this.#content)) this.#content = known[0][0];
    const areMany = known.length > MOST_BUTTONS;
    this.parts.palette.setAttribute("role", areMany ? "group" : "radiogroup");
    if (areMany) {
      const options = known.map(([content, { name }]) => {
        return html("option", { value: content, selected: content === this.#content }, name);
      });
      const select = html("select", { onchange: () => choose(Number(select.value)) }, ...options);
      this.parts.palette.replaceChildren(html("label", {}, "Place ", select));
      return;
    }
    const buttons = known.map(([content, { symbol, name, glyph }]) =>
      html(
        "button",
        {
          type: "button",
          role: "radio",
          "aria-checked": String(content === this.#content),
          onclick: () => choose(content),
        },
        `${glyph || symbol} ${name}`,
      ),
    );
    this.parts.palette.replaceChildren(...buttons);
  }
}
