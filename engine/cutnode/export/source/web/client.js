/** The client: requests to exported games, and their answers, as from a service. */

import { searched, solved } from "./answers.js";
import { Engine } from "./engine.js";
import { ConnectionError, ServiceError } from "./errors.js";
import { read, view } from "./positions.js";
import { checked } from "./requests.js";
import { Stream } from "./stream.js";

/** The milliseconds in which a search has to end before its worker is ended instead. */
const GRACE = 300;
const SHARED_GRACE = 3000;

const STREAMED = ["search", "solve", "analyse"];

/**
 * A client of exported games, with the methods of the client of a service.
 *
 * Searches run in workers, so that the page or the program stays responsive.  What only the
 * service can do is refused: static evaluations, trees, and positions set up cell by cell.
 */
export class Client {
  #games;
  #options;

  /**
   * `games` are `{about, load}`: `load()` promises the content of a `game.wasm`, or a module of
   * it; `about` is the description of the game, null to take it from there.  The options are
   * `table`, the MiB of the transposition table of each engine; `tree`, the MiB of the tree of
   * Monte Carlo tree search; `workers`, the most engines of a game that run at once; and
   * `start()`, which promises a worker: `{post, listen, end, hold}`.
   */
  constructor(games, { table = 64, tree = 64, workers = 1, start }) {
    for (const [name, value] of Object.entries({ table, tree, workers })) {
      if (!Number.isInteger(value) || value < 1) {
        throw new TypeError(`${name} must be a whole number from 1, got ${value}`);
      }
    }
    this.#options = { table, tree, workers, start };
    this.#games = games.map((source) => new Game(source, this.#options));
  }

  /** Return all games, and the levels. */
  async games({ signal } = {}) {
    signal?.throwIfAborted();
    const abouts = await Promise.all(this.#games.map((game) => game.about()));
    const levels = abouts.flatMap((about) => Object.keys(about.levels));
    const names = abouts.map((about) => about.game);
    return { games: abouts.map(gameView), levels: [...new Set(levels)], compiled: names };
  }

  /** Return the description of a game. */
  async game(game, { signal } = {}) {
    signal?.throwIfAborted();
    return gameView(await (await this.#find(game)).about());
  }

  /** Return the layout and contents of a board; null if the game declares none. */
  async board(game, { signal } = {}) {
    signal?.throwIfAborted();
    const { board } = await (await this.#find(game)).about();
    return board && { ...board, editable: false };
  }

  /** Return a position: its board, its moves and what they change, and how the game ended. */
  async position(game, position = "", { signal } = {}) {
    signal?.throwIfAborted();
    const engine = await (await this.#find(game)).rules();
    return view(engine, read(engine, String(position), "query.position"));
  }

  async setup(game) {
    await this.#find(game);
    throw refusal("an export cannot set up positions cell by cell; give the moves that lead there");
  }

  async record(game) {
    await this.#find(game);
    throw refusal("an export does not read recorded games");
  }

  ownRecord(game) {
    return this.record(game);
  }

  /** Return the best moves and their scores, searched as deep as the limits allow. */
  search(game, request, options) {
    return this.#ask("search", game, request, options);
  }

  /** Return the proven value, a best move, and the principal variation. */
  solve(game, request, options) {
    return this.#ask("solve", game, request, options);
  }

  /** Return the proven values of the position and of every move. */
  analyse(game, request, options) {
    return this.#ask("analyse", game, request, options);
  }

  /** Return the number of lines of play (perft). */
  perft(game, request, options) {
    return this.#ask("perft", game, request, options);
  }

  async evaluate(game) {
    await this.#find(game);
    throw refusal("an export has no static evaluation; search with a depth instead");
  }

  /** Return the move chosen by a level. */
  move(game, request, options) {
    return this.#ask("move", game, request, options);
  }

  async tree(game) {
    await this.#find(game);
    throw refusal("an export does not record search trees");
  }

  /** Return that the games are ready, and what they are doing. */
  async health({ signal } = {}) {
    signal?.throwIfAborted();
    const { table, tree, workers } = this.#options;
    const sum = (count) => this.#games.map(count).reduce((one, other) => one + other, 0);
    return {
      status: "ready",
      version: (await this.#games[0].about()).version ?? "",
      searching: sum((game) => game.searching),
      waiting: sum((game) => game.waiting),
      engines: sum((game) => game.engines),
      megabytes: sum((game) => game.engines) * table,
      room: this.#games.length * workers * (table + tree),
      games: this.#games.length,
      most_games: this.#games.length,
    };
  }

  /** Stream the events of a `"search"`, `"solve"` or `"analyse"`. */
  stream(kind, game, request = {}, { signal } = {}) {
    const run = async (ears) => {
      if (!STREAMED.includes(kind)) {
        throw new ServiceError(
          "bad request",
          `a ${kind} cannot be streamed; ${STREAMED.join(", ")} can`,
          "kind",
        );
      }
      return (await this.#find(game)).ask(kind, checked(kind, request), ears);
    };
    return new Stream(run, signal);
  }

  /** End all searches and their workers. */
  close() {
    for (const game of this.#games) game.close();
  }

  async #ask(kind, name, request = {}, { signal } = {}) {
    signal?.throwIfAborted();
    const game = await this.#find(name);
    const answer = game.ask(kind, checked(kind, request), { stop: signal });
    if (!signal) return answer;
    answer.catch(() => {}); // after an abort nobody waits for it
    return new Promise((resolve, reject) => {
      const abort = () => reject(signal.reason);
      if (signal.aborted) abort();
      signal.addEventListener("abort", abort, { once: true });
      answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
    });
  }

  async #find(name) {
    for (const game of this.#games) if ((await game.about()).game === name) return game;
    const known = await Promise.all(this.#games.map(async (game) => (await game.about()).game));
    throw new ServiceError(
      "no such game",
      `unknown game '${name}'; games are ${known.join(", ")}`,
      "path.game",
    );
  }
}

function refusal(detail) {
  return new ServiceError("refused by the game", detail);
}

function gameView(about) {
  return {
    name: about.game,
    about: about.about,
    variants: "",
    examples: [],
    start: "",
    chance: about.chance,
    solvable: about.parts.includes("solve"),
    tablebase: false,
    decisive: about.decisive,
    limit: about.valueLimit,
    unit: about.unit ?? null,
    repetitions: null, // the engine knows the moves that led to a position, and ends the game
    repetition: "draw",
    evaluations: [],
  };
}

/** A game: its code, an engine for its rules, and workers that search. */
class Game {
  #source;
  #options;
  #module = null;
  #rules = null;
  #slots = new Set();
  #queue = [];
  #last = 0;

  constructor(source, options) {
    this.#source = source;
    this.#options = options;
  }

  async about() {
    return this.#source.about ?? (await this.rules()).about;
  }

  /** Return an engine in this thread that makes moves and reads positions. */
  rules() {
    this.#rules ??= this.#code().then((module) => Engine.create(module));
    this.#rules.catch(() => (this.#rules = null)); // it may be possible to load it later
    return this.#rules;
  }

  #code() {
    this.#module ??= this.#source
      .load()
      .then((source) =>
        source instanceof WebAssembly.Module ? source : WebAssembly.compile(source),
      );
    return this.#module.catch((error) => {
      this.#module = null;
      throw new ConnectionError(`the engine cannot be loaded: ${error.message}`, { cause: error });
    });
  }

  get searching() {
    return [...this.#slots].filter((slot) => slot.job).length;
  }

  get waiting() {
    return this.#queue.length;
  }

  get engines() {
    return this.#slots.size;
  }

  /** Answer a request; `stop` ends it with its best so far, and `hear` is called with events. */
  ask(kind, request, { hear = () => {}, stop = null }) {
    return new Promise((resolve, reject) => {
      const job = { id: ++this.#last, kind, request, hear, resolve, reject, last: null };
      stop?.addEventListener("abort", () => this.#stop(job), { once: true });
      this.#queue.push(job);
      if (stop?.aborted) this.#stop(job);
      else this.#next();
    });
  }

  close() {
    const error = new ConnectionError("the client is closed");
    for (const job of this.#queue.splice(0)) job.reject(error);
    for (const slot of [...this.#slots]) this.#drop(slot, error);
  }

  /** Start the jobs that wait, as far as there are workers. */
  #next() {
    while (this.#queue.length) {
      const slot = this.#free(this.#queue[0].request.session);
      if (!slot) return;
      const job = this.#queue.shift();
      slot.job = job;
      slot.session = job.request.session ?? "";
      this.#begin(slot, job);
    }
  }

  /** Return a worker that is free, at best one that has served the session; null if none is. */
  #free(session) {
    const free = [...this.#slots].filter((slot) => !slot.job);
    const known = session && free.find((slot) => slot.session === session);
    if (known) return known;
    if (this.#slots.size < this.#options.workers) {
      const slot = { job: null, session: "", flag: sharedFlag(), worker: null };
      slot.worker = this.#hire(slot);
      this.#slots.add(slot);
      return slot;
    }
    return free[0] ?? null;
  }

  async #hire(slot) {
    const { start, table, tree } = this.#options;
    const [module, worker] = await Promise.all([this.#code(), start()]);
    if (!this.#slots.has(slot)) worker.end();
    worker.listen(
      (message) => this.#take(slot, message),
      (error) =>
        this.#drop(slot, new ConnectionError(`the worker has broken down: ${error.message}`)),
    );
    worker.post({ load: { module, table, tree, flag: slot.flag } });
    return worker;
  }

  async #begin(slot, job) {
    const { id, kind, request } = job;
    try {
      const worker = await slot.worker;
      if (slot.job !== job) return;
      worker.hold(true);
      const { nodes = null, seconds = null, depth = null, playouts = null } = request;
      const table = request.table ?? this.#options.table;
      job.hear({
        event: "started",
        limits: { depth, playouts, nodes, seconds, table, threads: 1 },
      });
      worker.post({ ask: { id, kind, request } });
    } catch (error) {
      this.#drop(slot, error);
    }
  }

  #take(slot, { id, event, result, error }) {
    const { job } = slot;
    if (job?.id !== id) return;
    if (event) {
      job.last = event;
      job.hear(event);
      return;
    }
    slot.job = null;
    clearTimeout(job.timer);
    slot.worker.then((worker) => slot.job || worker.hold(false));
    if (result) job.resolve(result);
    else if (error.kind) job.reject(new ServiceError(error.kind, error.message, error.where));
    else {
      // The state of an engine that broke down is unknown.
      slot.job = job;
      this.#drop(slot, new ConnectionError(`the engine has broken down: ${error.message}`));
    }
    this.#next();
  }

  /** End a worker, and the job that it has. */
  #drop(slot, error) {
    if (!this.#slots.delete(slot)) return;
    slot.worker.then(
      (worker) => worker.end(),
      () => {},
    );
    clearTimeout(slot.job?.timer);
    slot.job?.reject(error);
    slot.job = null;
    this.#next();
  }

  /** End a job with its best so far. */
  #stop(job) {
    const slot = [...this.#slots].find((its) => its.job === job);
    if (!slot) {
      const at = this.#queue.indexOf(job);
      if (at < 0) return;
      this.#queue.splice(at, 1);
      this.#cut(job);
      return;
    }
    if (slot.flag) Atomics.store(slot.flag, 0, job.id);
    else
      slot.worker.then(
        (worker) => worker.post({ stop: job.id }),
        () => {},
      );
    job.timer = setTimeout(
      () => {
        slot.job = null;
        this.#drop(slot, null);
        this.#cut(job);
      },
      slot.flag ? SHARED_GRACE : GRACE,
    );
  }

  /** Answer with what a job that was cut off has reported. */
  async #cut({ kind, request, last, resolve, reject }) {
    try {
      const engine = await this.rules();
      const { about } = engine;
      const text = read(engine, request.position, "body.position");
      const state = engine.state();
      const { table } = this.#options;
      const { depth = null, playouts = null, nodes = null, seconds = null } = request;
      const limits = { depth, playouts, nodes, seconds, table, threads: 1 };
      const facts = {
        text,
        state,
        proven: false,
        nodes: 0,
        seconds: 0,
        depth: 0,
        ...last,
        reason: "stopped",
      };
      if (kind === "search") {
        const found = { value: 0, lines: [], iterations: [], playouts: 0, ...facts };
        resolve(searched(about, found, limits, request.exact));
      } else {
        const { valueLimit: most } = about;
        const found = {
          lower: -most,
          upper: most,
          pv: [],
          scores: null,
          at_least: request.at_least ?? null,
          ...facts,
        };
        resolve(solved(about, found, limits));
      }
    } catch (error) {
      reject(error);
    }
  }
}

/** Memory that a worker shares, where pages and programs may have it; null elsewhere. */
function sharedFlag() {
  const allowed =
    typeof SharedArrayBuffer !== "undefined" && (globalThis.crossOriginIsolated ?? true);
  return allowed ? new Int32Array(new SharedArrayBuffer(4)) : null;
}
