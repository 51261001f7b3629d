/** The analysis of a position: a search, reported as it runs, then a proof of every move. */

import { byScore } from "./values.js";

const SLOW = 1500;

/** An unguessable name for the session whose tables this page's searches share. */
const SESSION = Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join("");

/**
 * Analyses positions, one at a time.  `known.get(position)` holds the results so far:
 * `{engine, scores, best, phase, depth, nodes, seconds, lower, upper, why, done}`, where `scores`
 * maps each move to `{move, value, verdict, distance, points, pv}`, with `points` where `verdict` is
 * null, and `best` is the set of best moves, empty if all moves are equal.
 * Dispatches a "change" event on each update.
 */
export class Analysis extends EventTarget {
  known = new Map();
  error = null;
  waiting = false;
  /** The last event about code that the search waits for, or null. */
  compiling = null;

  constructor(searches) {
    super();
    this.searches = searches;
  }

  /**
   * Analyse a position; resolves when the analysis ends.  `choice` has the `engine`, the `seconds`,
   * the number of `lines`, and perhaps `threads` and the `table`, in MiB.
   */
  async run(game, view, history, { engine, seconds, lines, ...sizes }) {
    this.error = null;
    if (view.over || view.chance.length || !view.moves.length) return this.stop();
    let before = this.known.get(view.position);
    // Scores of different engines are not comparable.
    if (before?.engine !== engine || before.lines !== lines) before = null;
    if (before?.done >= seconds) return this.stop();
    const slow = setTimeout(() => this.#wait(true), SLOW);
    const found = { engine, lines, scores: new Map(), depth: 0, ...before, phase: "search", done: 0 };
    const hear = (event) => {
      if (event.event === "started") {
        clearTimeout(slow);
        this.#wait(false);
      } else if (event.event === "compiling") {
        clearTimeout(slow);
        this.compiling = event;
        this.waiting = true;
        this.#tell();
      } else this.#hear(found, event, view.position);
    };
    try {
      const { position } = view;
      const asked = { position, seconds, session: SESSION, ...sizes };
      const request = { ...asked, history, engine, lines: Math.min(view.moves.length, lines) };
      let result = await this.searches.run({ kind: "search", game: game.name, request }, hear);
      if (result === null) return;
      const unheard = result.proven || !found.scores.size;
      const last = unheard || engine !== "alphabeta"; // the last playouts were not reported
      if (last) this.#hear(found, { ...result, event: "iteration", bound: 0 }, position);
      found.why = result.why;
      if (game.solvable) {
        found.phase = "proof";
        const prover = engine === "alphabeta" ? engine : "auto";
        const proof = { kind: "analyse", game: game.name, request: { ...asked, engine: prover } };
        result = await this.searches.run(proof, hear);
        if (result === null) return;
        if (result.scores !== null) this.#prove(found, result);
      }
      found.done = seconds;
      this.#keep(found, position);
    } catch (error) {
      this.error = error.message;
      this.#tell();
    } finally {
      clearTimeout(slow);
      this.#wait(false);
    }
  }

  stop() {
    this.searches.cancel();
    this.#wait(false);
  }

  #hear(found, event, position) {
    const { nodes, seconds } = event;
    Object.assign(found, { nodes, seconds });
    if (event.event === "progress") {
      Object.assign(found, { lower: event.lower, upper: event.upper });
    } else if (event.bound === 0 && event.lines.length) {
      // Scores of different depths are not comparable: replace all of them, by a complete depth.
      if (found.engine === "alphabeta" && event.depth < found.depth) return;
      found.depth = event.depth;
      found.scores = new Map(event.lines.map((line) => [line.move, line]));
      found.line = event.lines[0].pv;
    }
    this.#keep(found, position);
  }

  /**
   * Take over the values of a proof.  If they tell how soon a win comes, use them alone; if they
   * only tell who wins, keep the distances that the search found.
   */
  #prove(found, result) {
    const sized = Object.values(result.scores).some((value) => Math.abs(value) > 1);
    for (const [move, value] of Object.entries(result.scores)) {
      if (value === null) continue;
      const searched = found.scores.get(move);
      const verdict = value > 0 ? "win" : value < 0 ? "loss" : "draw";
      const distance = !sized && searched?.verdict === verdict ? searched.distance : null;
      const pv = move === result.best_move ? result.pv : (searched?.pv ?? [move]);
      found.scores.set(move, { move, value, verdict, distance, pv });
    }
    if (result.pv.length) found.line = result.pv;
    if (result.proven) found.meaning = result.meaning;
    found.nodes += result.nodes;
    found.seconds += result.seconds;
  }

  #keep(found, position) {
    const ordered = [...found.scores.values()].sort(byScore);
    const equal = ordered.filter((score) => byScore(ordered[0], score) === 0);
    const best = new Set(equal.length < ordered.length ? equal.map((score) => score.move) : []);
    this.known.set(position, { ...found, ordered, best });
    this.#tell();
  }

  #wait(waiting) {
    if (waiting === this.waiting) return;
    this.waiting = waiting;
    this.compiling = null;
    this.#tell();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}
