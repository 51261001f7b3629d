/** Puzzles: positions with exactly one solution, to be solved on the board. */

import { html } from "./elements.js";
import { textOf } from "./exchange.js";

const REPLY_PAUSE = 600;
const COUNT = 5;
const SECONDS = 30;
const KEEPING = ["best", "good"];

const part = (id) => document.getElementById(id);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/**
 * Shows puzzles one at a time, judges moves, and answers them with the line of the puzzle.
 *
 * `page` has the `record` and the `view` that are shown, and the functions `act`, `open`, `go`,
 * `play`, `extend` and `draw`.
 */
export class Puzzles {
  #list = [];
  #at = 0;
  #solved = new Set();
  #hints = 0;
  #record = null;
  #said = [];

  constructor(connection, page) {
    this.connection = connection;
    this.page = page;
    const on = (id, action) => part(id).addEventListener("click", () => page.act(action));
    on("find-puzzles", () => this.#find());
    on("puzzle-hint", () => this.hint());
    on("puzzle-again", () => this.#show(this.#at));
    on("puzzle-previous", () => this.step(-1));
    on("puzzle-next", () => this.step(1));
    const input = part("puzzle-file");
    input.addEventListener("change", async () => {
      const [file] = input.files;
      if (file) await page.act(() => this.#read(file));
      input.value = ""; // the same file may be opened again
    });
    const panel = part("puzzle-panel");
    panel.addEventListener("dragover", (event) => event.preventDefault());
    panel.addEventListener("drop", (event) => {
      event.preventDefault();
      const [file] = event.dataTransfer.files;
      if (file) page.act(() => this.#read(file));
    });
  }

  /** Whether the board shows the puzzle. */
  get active() {
    return this.#record !== null && this.page.record === this.#record;
  }

  /** Whether the board shows an unsolved puzzle, whose solution nothing may give away. */
  get unsolved() {
    return this.active && !this.#solved.has(this.#puzzle);
  }

  get #puzzle() {
    return this.#list[this.#at];
  }

  /** Judge the last move that was played. */
  async judge() {
    if (!this.unsolved) return;
    const puzzle = this.#puzzle;
    const { line } = puzzle;
    const { record } = this.page;
    const made = record.plies.slice(1, record.at + 1).map((ply) => ply.move);
    const last = made.length - 1;
    const known = made.findIndex((move, ply) => move !== line[ply]);
    if (last % 2 || (known >= 0 && known < last)) return; // a reply, or a move after a wrong one
    if (known === last) await this.#judgeOther(puzzle, record, made);
    else if (made.length >= movesToFind(puzzle)) await this.#solve(puzzle.claim, line.slice(made.length));
    else {
      this.#say("Right.");
      await pause(REPLY_PAUSE);
      const reply = this.page.view?.moves.find((move) => move.move === line[made.length]);
      if (reply && this.active && record.at === made.length) await this.page.play(reply);
    }
  }

  /** Judge a move that is not in the line: the first is proven wrong, others may be as good. */
  async #judgeOther(puzzle, record, made) {
    const move = made.at(-1);
    const goal = puzzle.within === null ? `keep the ${puzzle.aim}` : `win in ${puzzle.within}`;
    if (made.length === 1) this.#say(`${move} is wrong: it does not ${goal}.`);
    const path = `games/${encodeURIComponent(record.game)}/explain`;
    const { position } = record.ply.parent;
    const answer = await this.connection.post(path, { position, move });
    if (!this.unsolved || this.#puzzle !== puzzle || record.ply.move !== move) return;
    const reasons = answer.text.filter((sentence) => sentence.startsWith(`${move} (`));
    const note = answer.explanation.notes.find((each) => each.move === move);
    if (made.length > 1 && KEEPING.includes(note?.grade)) await this.#solve(reasons.join(" "), []);
    else this.#say(`${move} is wrong: it does not ${goal}.`, ...reasons);
  }

  async #solve(claim, rest) {
    this.#solved.add(this.#puzzle);
    this.#say(`Solved. ${claim}`);
    await this.page.extend(rest);
  }

  /** Show one hint more; the last one is the solution. */
  hint() {
    if (!this.#puzzle) return;
    this.#hints = Math.min(this.#hints + 1, this.#puzzle.hints.length);
    this.page.draw();
  }

  /** Go to the next (1) or previous (-1) puzzle. */
  async step(by) {
    if (this.#list[this.#at + by]) await this.#show(this.#at + by);
  }

  async #show(at) {
    const puzzle = this.#list[at];
    const before = this.page.record;
    await this.page.open(puzzle.game, puzzle.position);
    if (this.page.record === before) return; // the user has opened something else meanwhile
    this.#at = at;
    this.#hints = 0;
    this.#said = [];
    this.#record = this.page.record;
    this.page.draw();
    part("puzzle").scrollIntoView({ block: "nearest" });
  }

  #say(...sentences) {
    this.#said = sentences;
    this.page.draw();
  }

  async #find() {
    const { game } = this.page.record;
    const state = part("puzzles-found");
    state.textContent = `Finding puzzles of ${game}, for at most ${SECONDS} seconds …`;
    part("find-puzzles").disabled = true;
    try {
      const asked = { count: COUNT, seconds: SECONDS, seed: Math.floor(Math.random() * 2 ** 31) };
      const { puzzles } = await this.connection.post(`games/${encodeURIComponent(game)}/puzzles`, asked);
      state.textContent = puzzles.length ? "" : `No puzzle was found in ${SECONDS} seconds.`;
      if (puzzles.length) await this.#take(puzzles);
    } catch (error) {
      state.textContent = "";
      throw error;
    } finally {
      part("find-puzzles").disabled = false;
    }
  }

  async #read(file) {
    await this.#take(puzzlesOf(await textOf(file)));
    part("puzzles-found").textContent = "";
  }

  /** Open the puzzles with which the service was started. */
  async openOffered() {
    const { puzzles } = await this.connection.get("puzzles");
    await this.#take(puzzles);
  }

  /** Begin with the first of some puzzles. */
  async #take(puzzles) {
    if (!puzzles.length) throw new Error("there are no puzzles");
    this.#list = puzzles.map(checked);
    this.#solved.clear();
    await this.#show(0);
  }

  draw() {
    const { active } = this;
    const puzzle = this.#puzzle;
    part("puzzle").hidden = !active;
    if (!active) return;
    const count = this.#list.length;
    part("puzzle-goal").textContent = puzzle.goal;
    part("puzzle-place").textContent =
      `Puzzle ${this.#at + 1} of ${count} · ${puzzle.grade} · ${this.#solved.size} solved`;
    part("puzzle-said").replaceChildren(...this.#said.map((sentence) => html("p", {}, sentence)));
    const hints = puzzle.hints.slice(0, this.#hints);
    part("puzzle-hints").replaceChildren(...hints.map((text) => html("li", {}, text)));
    const left = puzzle.hints.length - this.#hints;
    part("puzzle-hint").disabled = !left;
    part("puzzle-hint").textContent = left === 1 ? "Solution" : "Hint";
    part("puzzle-again").disabled = this.page.record.plies.length < 2;
    part("puzzle-previous").disabled = this.#at === 0;
    part("puzzle-next").disabled = this.#at === count - 1;
  }
}

/** Return the number of plies until a puzzle is solved: to a forced win, or else the only move. */
function movesToFind({ within, line }) {
  return within === null ? 1 : Math.min(2 * within - 1, line.length);
}

/** Return the puzzles of a text of JSON lines. */
function puzzlesOf(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.map((line) => {
    try {
      return JSON.parse(line);
    } catch {
      return null; // which is no puzzle
    }
  });
}

/** Return a puzzle for this page; throws an error that tells its number if it is none. */
function checked(puzzle, at) {
  const isText = (text) => typeof text === "string";
  const isList = (list) => Array.isArray(list) && list.length && list.every(isText);
  const texts = ["game", "position", "goal", "aim", "grade", "claim"].map((name) => puzzle?.[name]);
  if (!texts.every(isText) || ![puzzle.line, puzzle.hints].every(isList)) {
    throw new Error(`line ${at + 1} is no puzzle: open a file that cutnode puzzles wrote (.jsonl)`);
  }
  // The service knows a game of a file by the name of the file.
  const game = puzzle.game.replace(/^.*[/\\]/, "").replace(/\.py(?=:|$)/, "");
  return { ...puzzle, game, within: puzzle.within ?? null };
}
