/** Answers to requests: searches, proofs, levels and counts by one engine, in the service's JSON. */

import { EXACT, FULL_WIDTH, REASONS } from "./engine.js";
import { ServiceError } from "./errors.js";
import { described, ending, movesOf, quoted, read, readAfter } from "./positions.js";
import { MOST_DEPTH } from "./requests.js";

const USUAL_SECONDS = 1;
const PROGRESS_SECONDS = 1;
const PLAYOUTS_SECONDS = 0.2;
const SMALL_PERFT = 4;

/** The scale of scores in decisive games: a win in N plies scores WIN - N. */
const WIN = 30000;
const MOST_ESTIMATE = 25000;
const FAR = 2000;

/** The part of an export that a request needs, by its kind. */
const PARTS = {
  search: "search",
  solve: "solve",
  analyse: "solve",
  move: "search",
  perft: "rules",
};

/**
 * Answer a request that is checked.  `watch` are `{stopped, report, pause}`: whether to end the
 * search, what to call with events, and a promise to wait for now and then, so that the thread can
 * take messages.
 */
export async function answer(engine, kind, request, watch) {
  const part = request.engine === "mcts" ? "mcts" : PARTS[kind];
  require(engine, part);
  const job = new Job(engine, kind, request, watch);
  try {
    return await job[kind]();
  } finally {
    engine.progress = () => true;
  }
}

function require({ about }, part) {
  if (!about.parts.includes(part)) {
    const has = about.parts.join(", ");
    throw new ServiceError(
      "refused by the game",
      `this export of ${about.game} has no ${part}; it has ${has}`,
      "path.game",
    );
  }
}

class Job {
  #started = performance.now();
  #nodes = 0;

  constructor(engine, kind, request, watch) {
    this.engine = engine;
    this.about = engine.about;
    this.kind = kind;
    this.asked = request;
    this.watch = watch;
    engine.progress = () => !watch.stopped();
  }

  get seconds() {
    return (performance.now() - this.#started) / 1000;
  }

  /** The limits that are left; null if none is. */
  #left({ nodes, seconds }) {
    const left = {
      nodes: nodes && nodes - this.#nodes,
      seconds: seconds && seconds - this.seconds,
    };
    return left.nodes !== null && left.nodes <= 0
      ? null
      : left.seconds !== null && left.seconds <= 0
        ? null
        : left;
  }

  #limitReached({ nodes }) {
    return nodes !== null && this.#nodes >= nodes ? "node limit" : "time limit";
  }

  // Searches

  async search() {
    const { engine, asked } = this;
    const text = readAfter(engine, asked.position, asked.history);
    const state = engine.state();
    const limits = {
      depth: asked.depth,
      nodes: asked.nodes,
      seconds: asked.seconds,
      playouts: asked.playouts,
    };
    if (Object.values(limits).every((limit) => limit === null)) limits.seconds = USUAL_SECONDS;
    const found = { text, state, limits, iterations: [], depth: 0, lines: [], playouts: 0 };
    if (state.ending) {
      const value = this.#final(state, 0);
      return this.#searched({ ...found, value, proven: true, reason: "proven" });
    }
    const chosen = asked.moves && asked.moves.map((move, n) => this.#named(move, n, state.side));
    if (asked.engine === "mcts") return this.#playouts(found);
    if ((asked.lines > 1 || chosen) && !state.outcomes) return this.#compare(found, chosen);
    return this.#single(found);
  }

  #named(text, number, side) {
    const named = movesOf(this.engine, side);
    const move = named.find((its) => its.text === text);
    if (move) return move.move;
    const some = named.map((its) => its.text).join(", ");
    throw new ServiceError(
      "no such move",
      `${quoted(text)} is not a legal move; ${some}`,
      `body.moves[${number}]`,
    );
  }

  /** The best move and its line. */
  #single(found) {
    const techniques = this.asked.exact ? EXACT : 0;
    const result = this.#ask("search", { ...found.limits, techniques }, (sofar) => {
      if (sofar.depth > found.depth) this.#iterate(found, sofar, this.#lines(sofar));
    });
    if (result.depth > found.depth) this.#iterate(found, result, this.#lines(result));
    const lines = this.#lines(result);
    return this.#searched({ ...found, ...result, lines, reason: reasonOf(result) });
  }

  #playouts(found) {
    let last = 0;
    const { seed } = this.asked;
    const result = this.#ask("playouts", { ...found.limits, seed }, (sofar) => {
      if (sofar.move < 0 || sofar.seconds - last < PLAYOUTS_SECONDS) return;
      last = sofar.seconds;
      this.#iterate(found, sofar, this.#lines(sofar));
    });
    const lines = this.#lines(result);
    return this.#searched({ ...found, ...result, lines, iterations: [], reason: reasonOf(result) });
  }

  /** Call a search of the engine; `hear` is called with the results so far. */
  #ask(kind, limits, hear = () => {}) {
    const { engine, watch } = this;
    engine.progress = (sofar) => {
      hear(sofar);
      return !watch.stopped();
    };
    const result = engine.ask(kind, limits);
    this.#nodes += result.nodes;
    return result;
  }

  /**
   * The values of all moves, or of the `chosen` ones: at each depth each move is made, and the
   * position after it searched.
   */
  async #compare(found, chosen) {
    const { engine, asked, watch } = this;
    const { limits, state } = found;
    const moves = chosen ?? engine.moves();
    const known = new Map();
    let order = moves;
    found.reason = "depth limit";
    for (let depth = 2; depth <= Math.max(2, limits.depth ?? MOST_DEPTH); ++depth) {
      const values = new Map();
      for (const move of order) {
        await watch.pause();
        const one = watch.stopped()
          ? "stopped"
          : (known.get(move) ?? this.#valueAfter(move, state.side, depth, limits));
        if (typeof one === "string") {
          found.reason = one;
          break;
        }
        if (one.proven) known.set(move, one);
        values.set(move, one);
      }
      if (values.size < moves.length) break;
      order = [...moves].sort((one, other) => values.get(other).value - values.get(one).value);
      const proven = known.size === moves.length;
      const lines = order.slice(0, asked.lines).map((move) => this.#view(values.get(move), proven));
      const { value } = values.get(order[0]);
      this.#iterate(
        found,
        { depth, value, proven, nodes: this.#nodes, seconds: this.seconds },
        lines,
      );
      if (proven) {
        found.reason = "proven";
        break;
      }
    }
    if (!found.depth) {
      // Not even the first depth is complete.
      Object.assign(found, {
        value: 0,
        proven: false,
        lines: [this.#view({ value: 0, line: [order[0]] }, false)],
      });
    }
    return this.#searched({ ...found, nodes: this.#nodes });
  }

  /** Return the value of a move for `side`, `{value, proven, line}`, or why the search ended. */
  #valueAfter(move, side, depth, limits) {
    const { engine } = this;
    engine.play(move);
    try {
      const found = this.#valueHere(side, depth - 1, limits);
      return typeof found === "string" ? found : { ...found, line: [move, ...found.line] };
    } finally {
      engine.undo();
    }
  }

  #valueHere(side, depth, limits) {
    const { engine } = this;
    const state = engine.state();
    const sign = state.side === side ? 1 : -1;
    if (state.ending) return { value: signed(sign, this.#final(state, 1)), proven: true, line: [] };
    const left = this.#left(limits);
    if (left === null) return this.#limitReached(limits);
    const techniques = this.asked.exact ? EXACT : 0;
    const result = this.#ask("search", { ...left, depth, techniques });
    if (result.reason !== 0) return reasonOf(result);
    return {
      value: signed(sign, this.#further(result.value)),
      proven: result.proven,
      line: result.line,
    };
  }

  /** The score of a finished game, some plies from the root. */
  #final({ value }, ply) {
    return this.about.decisive ? Math.sign(value) * (value === 0 ? 0 : WIN - ply) : value;
  }

  /** A score of the position after a move, as a score of the position before it. */
  #further(value) {
    const decided = this.about.decisive && Math.abs(value) > MOST_ESTIMATE;
    return decided ? value - Math.sign(value) : value;
  }

  /** Take over a completed depth, and report it. */
  #iterate(found, { depth, value, proven, nodes, seconds }, lines) {
    Object.assign(found, { depth, value, proven, lines });
    const best_move = lines[0]?.move ?? null;
    found.iterations.push({ depth, value, best_move, nodes, seconds });
    this.watch.report({
      event: "iteration",
      depth,
      value,
      proven,
      bound: 0,
      lines,
      nodes,
      seconds,
    });
  }

  /** Describe the best line of a search; there is none where chance decides. */
  #lines({ value, line, move, proven }) {
    return move < 0 ? [] : [this.#view({ value, line: line.length ? line : [move] }, proven)];
  }

  /** Describe a line of a search; `proven` says whether the best line's score is proven. */
  #view({ value, line }, proven) {
    const pv = this.#texts(line);
    const { decisive, chance } = this.about;
    const foreseen = decisive && Math.abs(value) > MOST_ESTIMATE ? WIN - Math.abs(value) : null;
    const certain = foreseen !== null || (proven && !chance);
    const verdict = certain ? ["loss", "draw", "win"][Math.sign(value) + 1] : null;
    const counted = foreseen !== null && foreseen < FAR && Number.isInteger(foreseen);
    const distance = counted ? foreseen : null;
    return { move: pv[0], value, verdict, distance, points: this.#points(value, certain), pv };
  }

  /** The expected points of the mover, from 0 to 1: see `cutnode/explaining/points.py`. */
  #points(value, certain) {
    const { oddsScale: scale, valueLimit } = this.about;
    if (certain) return (1 + Math.sign(value)) / 2;
    if (scale === null) return Math.max(0, Math.min(1, 0.5 + value / valueLimit / 2));
    return 1 / (1 + Math.exp(-value / scale));
  }

  /** Return a line in the notation of the game. */
  #texts(line) {
    const { engine } = this;
    const texts = [];
    try {
      for (const move of line) {
        const { side, outcomes, ending } = engine.state();
        if (outcomes || ending) break;
        texts.push(engine.moveText(move, side));
        engine.play(move);
      }
    } finally {
      for (const _ of texts) engine.undo();
    }
    return texts;
  }

  #searched(found) {
    return searched(
      this.about,
      { ...found, nodes: this.#nodes, seconds: this.seconds },
      this.#limits(found.limits),
      this.asked.exact,
    );
  }

  #limits(limits) {
    const { depth = null, playouts = null, nodes = null, seconds = null } = limits;
    return { depth, playouts, nodes, seconds, table: this.engine.sizes.table, threads: 1 };
  }

  // Proofs

  solve() {
    const { engine, asked } = this;
    const text = read(engine, asked.position, "body.position");
    const limits = { nodes: asked.nodes, seconds: asked.seconds };
    return this.#solved(text, limits, this.#proof(engine.state(), limits), null);
  }

  async analyse() {
    const { engine, asked, watch } = this;
    const text = read(engine, asked.position, "body.position");
    const limits = { nodes: asked.nodes, seconds: asked.seconds };
    const state = engine.state();
    const found = this.#proof(state, limits);
    const scores = {};
    const open = state.ending || state.outcomes ? [] : movesOf(engine, state.side);
    for (const { text: its } of open) scores[its] = null;
    for (const { move, text: its } of open) {
      await watch.pause();
      const left = this.#left(limits);
      if (left === null || watch.stopped() || typeof found.reason === "string") break;
      engine.play(move);
      const after = engine.state();
      const one = this.#proof(after, left);
      engine.undo();
      if (one.proven) scores[its] = signed(after.side === state.side ? 1 : -1, one.value);
    }
    return this.#solved(text, limits, found, scores);
  }

  #proof(state, limits) {
    const { value } = state;
    const known = {
      value,
      lower: value,
      upper: value,
      proven: true,
      reason: 0,
      move: -1,
      line: [],
      depth: 0,
    };
    if (state.ending) return known;
    let [last, lower, upper] = [this.seconds, -this.about.valueLimit, this.about.valueLimit];
    const hear = (sofar) => {
      const { seconds } = this;
      if (seconds - last < PROGRESS_SECONDS) return;
      if (sofar.lower >= sofar.upper) return; // a search precedes the proof
      ({ lower, upper } = sofar);
      last = seconds;
      const nodes = this.#nodes + sofar.nodes;
      this.watch.report({ event: "progress", lower, upper, nodes, seconds, fill: 0 });
    };
    try {
      return this.#ask("solve", limits, hear);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      return { ...known, lower, upper, proven: false, reason: "stack limit" };
    }
  }

  #solved(text, limits, found, scores) {
    const { engine, asked } = this;
    const state = engine.state();
    const pv = this.#texts(found.line.length ? found.line : found.move < 0 ? [] : [found.move]);
    const facts = { ...found, text, pv, scores, nodes: this.#nodes, seconds: this.seconds };
    facts.reason = found.proven ? "proven" : reasonOf(found);
    facts.at_least = asked.at_least ?? null;
    facts.state = state;
    return solved(this.about, facts, this.#limits(limits));
  }

  // Levels and counts

  move() {
    const { engine, asked, about } = this;
    if (!Object.hasOwn(about.levels, asked.level)) {
      const known = Object.keys(about.levels).join(", ");
      throw new ServiceError(
        "bad request",
        `there is no level ${quoted(asked.level)}; levels are ${known}`,
        "body.level",
      );
    }
    const level = about.levels[asked.level];
    const text = read(engine, asked.position, "body.position");
    const { ending: over, outcomes } = engine.state();
    if (over || outcomes) {
      throw new ServiceError(
        "refused by the game",
        "no move to choose: the game is over, or chance decides",
      );
    }
    const seconds = Math.min(level.seconds ?? Infinity, asked.seconds ?? Infinity);
    const limits = { ...level, seconds: Number.isFinite(seconds) ? seconds : null };
    const result = this.#ask("search", { ...limits, techniques: level.depth ? FULL_WIDTH : 0 });
    const pv = this.#texts(result.line.length ? result.line : [result.move]);
    const { value, depth, nodes } = result;
    const reason = reasonOf(result);
    const spent = this.seconds;
    return {
      game: about.game,
      position: text,
      notes: [],
      level: asked.level,
      move: pv[0],
      value,
      pv,
      depth,
      nodes,
      seconds: spent,
      reason,
    };
  }

  async perft() {
    const { engine, asked, about } = this;
    if (asked.depth === null)
      throw new ServiceError("bad request", "depth is missing", "body.depth");
    const position = read(engine, asked.position, "body.position");
    const { depth } = asked;
    const lines = await this.#count(depth);
    const reason = lines !== null ? "done" : this.watch.stopped() ? "stopped" : "time limit";
    const limits = this.#limits({ depth, seconds: asked.seconds });
    return {
      game: about.game,
      position,
      notes: [],
      depth,
      lines,
      seconds: this.seconds,
      reason,
      limits,
    };
  }

  /** Count lines in small parts, between which the count can be ended; null if it is. */
  async #count(depth) {
    const { engine, watch } = this;
    await watch.pause();
    if (watch.stopped() || (this.asked.seconds ?? Infinity) <= this.seconds) return null;
    const { ending: over, outcomes } = engine.state();
    if (over || outcomes || depth <= SMALL_PERFT) return engine.perft(depth);
    let sum = 0;
    for (const move of engine.moves()) {
      engine.play(move);
      const lines = await this.#count(depth - 1);
      engine.undo();
      if (lines === null) return null;
      sum += lines;
    }
    return sum;
  }
}

/** Return a value with a sign; never the zero of JavaScript that is negative. */
function signed(sign, value) {
  return sign * value + 0;
}

function reasonOf({ reason, proven }) {
  if (typeof reason === "string") return reason;
  return reason === 0 && proven ? "proven" : REASONS[reason];
}

/** Return the answer to a search from what is found; `meaning` is derived. */
export function searched(about, found, limits, exact) {
  const { state, value, proven, depth, lines, playouts } = found;
  return {
    game: about.game,
    position: found.text,
    notes: [],
    value,
    win_rate: null,
    meaning: state.ending ? ending(about, state) : meaningOf(about, found),
    proven,
    exact,
    best_move: lines[0]?.move ?? null,
    lines,
    moves: [],
    playouts,
    depth,
    why: "",
    iterations: found.iterations,
    statistics: {},
    nodes: found.nodes,
    seconds: found.seconds,
    reason: found.reason,
    limits,
  };
}

function meaningOf({ decisive }, { value, proven, depth, playouts }) {
  const distance = decisive && Math.abs(value) > MOST_ESTIMATE ? WIN - Math.abs(value) : null;
  if (distance !== null && (Number.isInteger(distance) || distance === 0)) {
    const winner = value > 0 ? "the player to move" : "the other player";
    if (distance >= FAR) return `${winner} wins`;
    return `${winner} wins in ${distance} ${distance > 1 ? "plies" : "ply"}`;
  }
  if (proven) return "proven";
  if (playouts) return `estimated by ${playouts} playouts`;
  return `estimated ${depth} ${depth === 1 ? "ply" : "plies"} deep`;
}

/** Return the answer to a proof from what is found. */
export function solved(about, found, limits) {
  const { state, proven, lower, upper, at_least, reason } = found;
  const value = proven ? found.value : null;
  const reached =
    at_least === null ? null : lower >= at_least ? true : upper < at_least ? false : null;
  const generic = ["the player to move loses", "draw", "the player to move wins"];
  let meaning = `between ${lower} and ${upper}: ${reason}`;
  if (state.ending) meaning = ending(about, state);
  else if (proven) meaning = described(about, state, value) || generic[Math.sign(value) + 1];
  return {
    game: about.game,
    position: found.text,
    notes: [],
    value,
    meaning,
    proven,
    lower,
    upper,
    weak: false,
    at_least,
    answer: reached,
    best_move: found.pv[0] ?? null,
    scores: found.scores,
    pv: found.pv,
    depth: found.depth,
    nodes: found.nodes,
    seconds: found.seconds,
    table: { probes: 0, hits: 0, cutoffs: 0, stores: 0, overwrites: 0 },
    reason,
    engine: "alphabeta",
    target: null,
    numbers: null,
    why: "",
    limits,
  };
}
