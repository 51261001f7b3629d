/** The client: requests to a service, and its answers. */

import { ConnectionError, ServiceError, isErrorBody, parse } from "./errors.js";
import { Stream } from "./stream.js";

/**
 * @import {
 *   AnalyseRequest, BoardView, Counted, Estimated, EvaluateRequest, ExplainRequest, Explained,
 *   GameView, Games, Health, LevelRequest, Moved, OwnRecord, PerftRequest, PositionView,
 *   Puzzles, PuzzlesRequest, RecordRequest, RecordView, ReviewRequest, Reviewed, SearchRequest,
 *   Searched, SetupRequest, SolveRequest, Solved, TreeRequest, TreeView
 * } from "../types/schema.js"
 * @import { Socket, Streams } from "./stream.js"
 */

/**
 * @typedef {{ signal?: AbortSignal | undefined }} Options
 * Aborting the signal ends the search of the service, and the call throws the signal's reason.
 */

/**
 * @typedef {{
 *   fetch?: (url: string, init?: RequestInit) => Promise<Response>,
 *   WebSocket?: new (url: string) => Socket,
 * }} Transport
 * Replacements for the `fetch` and the `WebSocket` of the runtime.
 */

/**
 * A client of a service, whose address `cutnode serve` prints.
 *
 * Games are named as on the command line, with a variant after a colon: `"connect4:8x7"`.  Positions
 * and moves are strings in the game's own notation.  Values and scores are for the player to move.
 *
 * A call throws a {@link ServiceError} if the service refuses the request, and a
 * {@link ConnectionError} if the service cannot be reached.
 */
export class Client {
  #url;
  #transport;

  /**
   * @param {string | URL} url - Such as `"http://localhost:8000"`; in a page, it may be relative.
   * @param {Transport} [transport]
   */
  constructor(url, transport = {}) {
    const base = globalThis.location?.href;
    if (!URL.canParse(url, base) || !/^https?:/.test(new URL(url, base).protocol)) {
      throw new TypeError(`"${url}" is not the URL of a service, such as http://localhost:8000`);
    }
    const { origin, pathname } = new URL(url, base);
    this.#url = origin + pathname.replace(/\/*$/, "/");
    this.#transport = transport;
  }

  /**
   * Return all games, the levels, and which games are compiled.
   *
   * @param {Options} [options]
   * @returns {Promise<Games>}
   */
  games(options) {
    return this.#ask("games", options);
  }

  /**
   * Return the description of a game.
   *
   * @param {string} game
   * @param {Options} [options]
   * @returns {Promise<GameView>}
   */
  game(game, options) {
    return this.#get(game, "", options);
  }

  /**
   * Return the layout and contents of a board, for drawing it; null if the game declares none.
   *
   * @param {string} game
   * @param {Options} [options]
   * @returns {Promise<BoardView | null>}
   */
  board(game, options) {
    return this.#get(game, "/board", options);
  }

  /**
   * Return a position: its board, its moves and what they change, and the result if the game is
   * over.
   *
   * @param {string} game
   * @param {string} [position] - The starting position by default.
   * @param {Options} [options]
   * @returns {Promise<PositionView>}
   */
  position(game, position = "", options = {}) {
    return this.#get(game, `/position?${new URLSearchParams({ position })}`, options);
  }

  /**
   * Return the position of a board given cell by cell.
   *
   * @param {string} game
   * @param {SetupRequest} request
   * @param {Options} [options]
   * @returns {Promise<PositionView>}
   */
  setup(game, request, options) {
    return this.#post(game, "setup", request, options);
  }

  /**
   * Return the positions of a recorded game, with its comments and variations.
   *
   * @param {string} game
   * @param {RecordRequest} request
   * @param {Options} [options]
   * @returns {Promise<RecordView>}
   */
  record(game, request, options) {
    return this.#post(game, "record", request, options);
  }

  /**
   * Return a recorded game in the game's own format, such as PGN.
   *
   * @param {string} game
   * @param {RecordRequest} request
   * @param {Options} [options]
   * @returns {Promise<OwnRecord>}
   */
  ownRecord(game, request, options) {
    return this.#post(game, "record/own", request, options);
  }

  /**
   * Return the best moves and their scores, searched as deep as the limits allow.
   *
   * @param {string} game
   * @param {SearchRequest} [request] - Without a limit it takes one second.
   * @param {Options} [options]
   * @returns {Promise<Searched>}
   */
  search(game, request, options) {
    return this.#post(game, "search", request, options);
  }

  /**
   * Return the proven value, a best move, and the principal variation.
   *
   * @param {string} game
   * @param {SolveRequest} [request]
   * @param {Options} [options]
   * @returns {Promise<Solved>}
   */
  solve(game, request, options) {
    return this.#post(game, "solve", request, options);
  }

  /**
   * Return the proven values of the position and of every move.
   *
   * @param {string} game
   * @param {AnalyseRequest} [request]
   * @param {Options} [options]
   * @returns {Promise<Solved>}
   */
  analyse(game, request, options) {
    return this.#post(game, "analyse", request, options);
  }

  /**
   * Return reasons: who is ahead, what threatens, and what is wrong with a move.
   *
   * @param {string} game
   * @param {ExplainRequest} [request]
   * @param {Options} [options]
   * @returns {Promise<Explained>}
   */
  explain(game, request, options) {
    return this.#post(game, "explain", request, options);
  }

  /**
   * Return the marks and the turning points of a whole game.
   *
   * @param {string} game
   * @param {ReviewRequest} request
   * @param {Options} [options]
   * @returns {Promise<Reviewed>}
   */
  review(game, request, options) {
    return this.#post(game, "review", request, options);
  }

  /**
   * Return positions with exactly one solution, from games of the engine against itself.
   *
   * @param {string} game
   * @param {PuzzlesRequest} [request]
   * @param {Options} [options]
   * @returns {Promise<Puzzles>}
   */
  puzzles(game, request, options) {
    return this.#post(game, "puzzles", request, options);
  }

  /**
   * Return the number of lines of play (perft).
   *
   * @param {string} game
   * @param {PerftRequest} request
   * @param {Options} [options]
   * @returns {Promise<Counted>}
   */
  perft(game, request, options) {
    return this.#post(game, "perft", request, options);
  }

  /**
   * Return the static evaluation, without a search.
   *
   * @param {string} game
   * @param {EvaluateRequest} [request]
   * @param {Options} [options]
   * @returns {Promise<Estimated>}
   */
  evaluate(game, request, options) {
    return this.#post(game, "evaluate", request, options);
  }

  /**
   * Return the move chosen by a level.
   *
   * @param {string} game
   * @param {LevelRequest} [request]
   * @param {Options} [options]
   * @returns {Promise<Moved>}
   */
  move(game, request, options) {
    return this.#post(game, "move", request, options);
  }

  /**
   * Return the tree of a small search, and why each branch ended.
   *
   * @param {string} game
   * @param {TreeRequest} [request]
   * @param {Options} [options]
   * @returns {Promise<TreeView>}
   */
  tree(game, request, options) {
    return this.#post(game, "tree", request, options);
  }

  /**
   * Return whether the service is ready, and its load.
   *
   * @param {Options} [options]
   * @returns {Promise<Health>}
   */
  health(options) {
    return this.#ask("health", options);
  }

  /**
   * Stream the events of a search: `for await (const event of client.stream("search", "connect4"))`.
   *
   * @template {keyof Streams} Kind
   * @param {Kind} kind - `"search"`, `"solve"` or `"analyse"`.
   * @param {string} game
   * @param {Streams[Kind]["request"]} [request]
   * @param {Options} [options]
   * @returns {Stream<Kind>}
   */
  stream(kind, game, request = {}, { signal } = {}) {
    const WebSocket = this.#transport.WebSocket ?? globalThis.WebSocket;
    if (WebSocket === undefined) {
      throw new TypeError("this runtime has no WebSocket; pass one: new Client(url, { WebSocket })");
    }
    const url = `${this.#url.replace(/^http/, "ws")}stream`;
    const question = textOf({ do: "start", kind, game, request });
    return new Stream(() => new WebSocket(url), url, question, signal);
  }

  /**
   * @param {string} game
   * @param {string} rest
   * @param {Options} [options]
   */
  async #get(game, rest, options) {
    return this.#ask(pathOf(game) + rest, options);
  }

  /**
   * @param {string} game
   * @param {string} question
   * @param {object} [request]
   * @param {Options} [options]
   */
  async #post(game, question, request = {}, options = {}) {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: textOf(request) };
    return this.#ask(`${pathOf(game)}/${question}`, options, init);
  }

  /**
   * @param {string} path
   * @param {Options} [options]
   * @param {RequestInit} [init]
   * @returns {Promise<any>}
   */
  async #ask(path, { signal } = {}, init = {}) {
    const url = this.#url + path;
    const { fetch = globalThis.fetch } = this.#transport;
    let response, text;
    try {
      response = await fetch(url, signal ? { ...init, signal } : init);
      text = await response.text();
    } catch (error) {
      signal?.throwIfAborted();
      throw new ConnectionError(`cannot reach ${this.#url}`, { cause: error });
    }
    const { ok, status, headers } = response;
    const said = parse(text);
    if (ok && said !== undefined) return said;
    if (!isErrorBody(said)) {
      throw new ConnectionError(`${url} answered with status ${status}, but not as a cutnode service`);
    }
    const retryAfter = headers.get("retry-after");
    throw new ServiceError(said, status, retryAfter === null ? null : Number(retryAfter));
  }
}

/**
 * @param {string} game
 * @returns {string}
 */
function pathOf(game) {
  if (/^\.{0,2}$/.test(game)) throw new TypeError(`"${game}" is not a game, such as "connect4"`);
  return `games/${encodeURIComponent(game)}`;
}

/**
 * Return a request as JSON, which cannot represent NaN.
 *
 * @param {object} request
 * @returns {string}
 */
function textOf(request) {
  return JSON.stringify(request, (name, value) => {
    if (Number.isNaN(value)) throw new TypeError(`${name} is not a number`);
    return value;
  });
}
