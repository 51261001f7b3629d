/** Setting up a position, cell by cell. */

import { html } from "./elements.js";

export class Editor {
  #content = 1;

  /** `parts` are the elements of the form; `change()` is called whenever the board changes. */
  constructor(parts, { change, finish, cancel }) {
    this.parts = parts;
    this.change = change;
    this.cells = null;
    parts.clear.onclick = () => {
      const isCell = (content) => this.board.contents[content].symbol.trim() !== "";
      this.cells = this.cells.map((content) => (isCell(content) ? 0 : content));
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
    this.cells[cell] = this.cells[cell] === this.#content ? 0 : this.#content;
    this.change();
  }

  #palette() {
    const choose = (content) => {
      this.#content = content;
      this.#palette();
    };
    const buttons = this.board.contents.map(({ symbol, name, glyph }, content) =>
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
    this.parts.palette.replaceChildren(
      ...buttons.filter((_, content) => this.board.contents[content].symbol.trim() !== ""),
    );
  }
}
