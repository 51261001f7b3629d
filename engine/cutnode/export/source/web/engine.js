/**
 * An engine in WebAssembly: `game.wasm` with typed calls.
 *
 * Calls are synchronous, so a search holds up its thread.  Memory is laid out as the
 * structs in `engine.h`, with pointers of 32 bits.
 */

import { ConnectionError, ServiceError } from "./errors.js";

/** Why a search ended, by the numbers of `engine.h`. */
export const REASONS = {
  0: "depth limit",
  1: "stopped",
  2: "node limit",
  3: "time limit",
  4: "stack limit",
  9: "playout limit",
};

/** How a game ended, by the numbers of `engine.h`; 0 while it runs. */
export const BY_REPETITION = 2;
export const BY_LENGTH = 3;

/** Search with no technique that looks less deep at some moves. */
export const FULL_WIDTH = 1;
/** Search with no technique that changes a score. */
export const EXACT = 2;

/** The kinds of errors, by the codes of `engine.h`. */
const KINDS = {
  [-1]: "too large",
  [-2]: "bad request",
  [-3]: "no such position",
  [-4]: "no such move",
  [-5]: "refused by the game",
  [-6]: "broken game",
};

const LIMITS = 40;
const LINE = 68;
const MOST_LINE = 512;
const RESULT = LINE + 4 * MOST_LINE;
const STATE = 32;
const COUNT = 8;
const MOST_MIB = 65536;

/**
 * An engine: a game in progress, and the searches of its position.  An instance of WebAssembly has
 * one engine, whose memory is freed with it.  Methods throw a `ServiceError` with the engine's message.
 */
export class Engine {
  /** The description of the game that the export contains. */
  about;
  /** The sizes of its table and its tree in MiB. */
  sizes;
  /** Whether a search ended in a state that no other search should begin in. */
  broken = false;
  /** Called by running searches with the result so far; returns whether to continue. */
  progress = () => true;
  #calls;
  #engine = 0;
  /** Memory for arguments and answers of the rules, and of searches, which may ask the rules. */
  #room = 0;
  #search = 0;

  /**
   * Make an engine.  `source` is the content of `game.wasm`, or a `WebAssembly.Module` of it;
   * `table` is the size of the transposition table in MiB, and `tree` the size of the tree of
   * playouts, 0 if it is not used.
   */
  static async create(source, { table = 1, tree = 0 } = {}) {
    const engine = new Engine();
    try {
      const module =
        source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
      const instance = await WebAssembly.instantiate(module, engine.#imports(module));
      engine.#calls = instance.exports;
    } catch (error) {
      throw new ConnectionError(`the engine cannot be loaded: ${error.message}`, { cause: error });
    }
    engine.about = JSON.parse(engine.#text(engine.#calls.cutnode_about()));
    engine.#begin(table, tree);
    return engine;
  }

  /** The imports of the code: the clock, the progress function, and functions of `Math`. */
  #imports(module) {
    const host = {
      now: () => performance.now() / 1000,
      progress: (result) => (this.progress(this.#result(result)) ? 1 : 0),
    };
    const imports = {};
    for (const { module: from, name } of WebAssembly.Module.imports(module)) {
      (imports[from] ??= {})[name] = host[name] ?? Math[name];
    }
    return imports;
  }

  #begin(table, tree) {
    const calls = this.#calls;
    for (const [name, size, least] of [
      ["table", table, 1],
      ["tree", tree, 0],
    ]) {
      if (Number.isInteger(size) && size >= least && size <= MOST_MIB) continue;
      const range = `a whole number of MiB from ${least} to ${MOST_MIB}`;
      throw new ServiceError("bad request", `${name} must be ${range}, got ${size}`);
    }
    this.#room = calls.cutnode_alloc(this.#most());
    this.#search = calls.cutnode_alloc(LIMITS + RESULT);
    this.#engine = this.#search && calls.cutnode_create(BigInt(table), BigInt(tree));
    if (!this.#engine) {
      const what = tree
        ? `a table of ${table} MiB and a tree of ${tree} MiB`
        : `a table of ${table} MiB`;
      throw new ServiceError("too large", `there is not enough memory for ${what}`, "body.table");
    }
    this.sizes = { table, tree };
  }

  /** The most bytes that an argument or an answer of the rules takes. */
  #most() {
    const { about } = this;
    const cells = about.board?.places.length ?? 0;
    return Math.max(STATE, 4 * about.mostMoves, 8 * (about.words + 1), cells);
  }

  // The game

  /** Go to the first position. */
  reset() {
    this.#call("reset");
  }

  play(move) {
    this.#call("play", move);
  }

  roll(outcome) {
    this.#call("roll", outcome);
  }

  /** Take back the last move or outcome. */
  undo() {
    this.#call("undo");
  }

  /** The position by the rules: `{value, ending, side, outcomes, plies, moves}`. */
  state() {
    this.#call("state_of", this.#room);
    const view = this.#view(STATE);
    const [ending, side, outcomes, plies, moves] = [8, 12, 16, 20, 24].map((at) =>
      view.getInt32(at, true),
    );
    return { value: view.getFloat64(0, true), ending, side, outcomes, plies, moves };
  }

  /** The legal moves, as numbers. */
  moves() {
    const most = this.about.mostMoves;
    const count = this.#call("moves", this.#room, most);
    return [...new Int32Array(this.#buffer, this.#room, Math.min(count, most))];
  }

  /** The probability of an outcome of chance. */
  odds(outcome) {
    this.#call("odds", outcome, this.#room);
    return this.#view(COUNT).getFloat64(0, true);
  }

  /** The content of each cell of the board. */
  cells() {
    const most = this.about.board?.places.length ?? 0;
    if (!most) return [];
    this.#call("cells", this.#room, most);
    return [...new Uint8Array(this.#buffer, this.#room, most)];
  }

  /** A move in the notation of the game; its number if the export has no texts. */
  moveText(move, side) {
    const text = this.about.moveTexts ? this.#calls.cutnode_move_text(move, side) : 0;
    return text ? this.#text(text) : String(move);
  }

  /** The words of the position, the last of which seals them. */
  words() {
    const count = this.#call("words", this.#room, this.about.words + 1);
    return BigUint64Array.from(new BigUint64Array(this.#buffer, this.#room, count));
  }

  /** Begin a new game at the position of some words. */
  setWords(words) {
    const most = this.about.words + 1;
    if (words.length !== most) {
      throw new ServiceError(
        "no such position",
        `a position has ${most} words, got ${words.length}`,
      );
    }
    new BigUint64Array(this.#buffer, this.#room, words.length).set(words);
    this.#call("set_words", this.#room, words.length);
  }

  // Searches

  /** Count the lines of play of a number of moves. */
  perft(depth) {
    this.#call("perft", depth, this.#room);
    return Number(this.#view(COUNT).getBigInt64(0, true));
  }

  /**
   * Search with alpha-beta, solve, look for a forced win, or run playouts: `kind` is `"search"`,
   * `"solve"`, `"mate"` or `"playouts"`.  `limits` are `{depth, techniques, nodes, playouts,
   * seconds, seed}`; what is left out or null is no limit.
   */
  ask(kind, limits = {}) {
    const { depth, techniques, nodes, playouts, seconds, seed } = limits;
    const view = new DataView(this.#buffer, this.#search, LIMITS);
    view.setInt32(0, depth ?? 0, true);
    view.setInt32(4, techniques ?? 0, true);
    view.setBigInt64(8, BigInt(nodes ?? 0), true);
    view.setBigInt64(16, BigInt(playouts ?? 0), true);
    view.setFloat64(24, seconds ?? 0, true);
    view.setBigUint64(32, BigInt(seed ?? 0), true);
    const result = this.#search + LIMITS;
    try {
      this.#call(kind, this.#search, result);
    } catch (error) {
      this.broken ||= !(error instanceof ServiceError);
      throw error;
    }
    return this.#result(result);
  }

  /** Forget what searches have stored and learned: the next one behaves like the first. */
  forget() {
    this.#call("forget");
  }

  #result(pointer) {
    const view = new DataView(this.#buffer, pointer);
    const float = (at) => view.getFloat64(at, true);
    const int = (at) => view.getInt32(at, true);
    return {
      value: float(0),
      lower: float(8),
      upper: float(16),
      seconds: float(24),
      nodes: Number(view.getBigInt64(32, true)),
      playouts: Number(view.getBigInt64(40, true)),
      move: int(48),
      depth: int(52),
      proven: int(56) !== 0,
      reason: int(60),
      line: [...new Int32Array(this.#buffer, pointer + LINE, int(64))],
    };
  }

  // Memory

  #call(name, ...given) {
    const code = this.#calls[`cutnode_${name}`](this.#engine, ...given);
    if (code >= 0) return code;
    const said = this.#text(this.#calls.cutnode_message(this.#engine));
    throw new ServiceError(KINDS[code] ?? "failure", said);
  }

  /** The memory as it is now: its buffer changes when it grows. */
  get #buffer() {
    return this.#calls.memory.buffer;
  }

  #view(bytes) {
    return new DataView(this.#buffer, this.#room, bytes);
  }

  #text(pointer) {
    const bytes = new Uint8Array(this.#buffer, pointer);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
}
