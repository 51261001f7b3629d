/**
 * @import {
 *   AnalyseRequest, BoardView, Counted, Estimated, EvaluateRequest, GameView, Games, Health,
 *   LevelRequest, Moved, PerftRequest, PositionView, SearchRequest, Searched, SetupRequest,
 *   SolveRequest, Solved, TreeRequest, TreeView
 * } from "../types/schema.js"
 * @import { Socket, Streams } from "./stream.js"
 */
/**
 * @typedef {{ signal?: AbortSignal | undefined }} Options
 * With a signal that is aborted the service ends the search, and the call throws its reason.
 */
/**
 * @typedef {{
 *   fetch?: (url: string, init?: RequestInit) => Promise<Response>,
 *   WebSocket?: new (url: string) => Socket,
 * }} Transport
 * What to ask with, where it is not to be the `fetch` and the `WebSocket` of the runtime.
 */
/**
 * A client of a service: `cutnode serve` prints its address.
 *
 * Games are named as on the command line, with a variant after a colon: `"connect4:8x7"`.  Positions
 * and moves are texts in the game's own notation.  Values and scores are for the player to move.
 *
 * A call throws a {@link ServiceError} if the service refuses the question, and a
 * {@link ConnectionError} if the service cannot be reached.
 */
export class Client {
    /**
     * @param {string | URL} url - Such as `"http://localhost:8000"`; in a page it may be relative to it.
     * @param {Transport} [transport]
     */
    constructor(url: string | URL, transport?: Transport);
    /**
     * Return the games, the levels that move, and which games are compiled.
     *
     * @param {Options} [options]
     * @returns {Promise<Games>}
     */
    games(options?: Options): Promise<Games>;
    /**
     * Return what there is to know about a game.
     *
     * @param {string} game
     * @param {Options} [options]
     * @returns {Promise<GameView>}
     */
    game(game: string, options?: Options): Promise<GameView>;
    /**
     * Return the board of a game, from which it can be drawn; null if it declares none.
     *
     * @param {string} game
     * @param {Options} [options]
     * @returns {Promise<BoardView | null>}
     */
    board(game: string, options?: Options): Promise<BoardView | null>;
    /**
     * Return a position: what stands where, its moves with what they change, and the result if the
     * game is over.
     *
     * @param {string} game
     * @param {string} [position] - Left out, the start.
     * @param {Options} [options]
     * @returns {Promise<PositionView>}
     */
    position(game: string, position?: string, options?: Options): Promise<PositionView>;
    /**
     * Return the position of a board that is given cell by cell.
     *
     * @param {string} game
     * @param {SetupRequest} request
     * @param {Options} [options]
     * @returns {Promise<PositionView>}
     */
    setup(game: string, request: SetupRequest, options?: Options): Promise<PositionView>;
    /**
     * Search as deep as limits allow: the best moves and their scores.
     *
     * @param {string} game
     * @param {SearchRequest} [request] - Without a limit it takes one second.
     * @param {Options} [options]
     * @returns {Promise<Searched>}
     */
    search(game: string, request?: SearchRequest, options?: Options): Promise<Searched>;
    /**
     * Prove the value: a best move, and the line of best play.
     *
     * @param {string} game
     * @param {SolveRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Solved>}
     */
    solve(game: string, request?: SolveRequest, options?: Options): Promise<Solved>;
    /**
     * Prove the value, and that of every move.
     *
     * @param {string} game
     * @param {AnalyseRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Solved>}
     */
    analyse(game: string, request?: AnalyseRequest, options?: Options): Promise<Solved>;
    /**
     * Count the lines of play.
     *
     * @param {string} game
     * @param {PerftRequest} request
     * @param {Options} [options]
     * @returns {Promise<Counted>}
     */
    perft(game: string, request: PerftRequest, options?: Options): Promise<Counted>;
    /**
     * Return the static estimate, without any search.
     *
     * @param {string} game
     * @param {EvaluateRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Estimated>}
     */
    evaluate(game: string, request?: EvaluateRequest, options?: Options): Promise<Estimated>;
    /**
     * Return the move that a level chooses.
     *
     * @param {string} game
     * @param {LevelRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Moved>}
     */
    move(game: string, request?: LevelRequest, options?: Options): Promise<Moved>;
    /**
     * Return the tree that a small search visits, and why it went no further.
     *
     * @param {string} game
     * @param {TreeRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<TreeView>}
     */
    tree(game: string, request?: TreeRequest, options?: Options): Promise<TreeView>;
    /**
     * Return whether the service answers questions, and how much it has to do.
     *
     * @param {Options} [options]
     * @returns {Promise<Health>}
     */
    health(options?: Options): Promise<Health>;
    /**
     * Search, and tell how it goes: `for await (const event of client.stream("search", "connect4"))`.
     *
     * @template {keyof Streams} Kind
     * @param {Kind} kind - `"search"`, `"solve"` or `"analyse"`.
     * @param {string} game
     * @param {Streams[Kind]["request"]} [request]
     * @param {Options} [options]
     * @returns {Stream<Kind>}
     */
    stream<Kind extends keyof Streams>(kind: Kind, game: string, request?: Streams[Kind]["request"], { signal }?: Options): Stream<Kind>;
    #private;
}
/**
 * With a signal that is aborted the service ends the search, and the call throws its reason.
 */
export type Options = {
    signal?: AbortSignal | undefined;
};
/**
 * What to ask with, where it is not to be the `fetch` and the `WebSocket` of the runtime.
 */
export type Transport = {
    fetch?: (url: string, init?: RequestInit) => Promise<Response>;
    WebSocket?: new (url: string) => Socket;
};
import type { Games } from "../types/schema.js";
import type { GameView } from "../types/schema.js";
import type { BoardView } from "../types/schema.js";
import type { PositionView } from "../types/schema.js";
import type { SetupRequest } from "../types/schema.js";
import type { SearchRequest } from "../types/schema.js";
import type { Searched } from "../types/schema.js";
import type { SolveRequest } from "../types/schema.js";
import type { Solved } from "../types/schema.js";
import type { AnalyseRequest } from "../types/schema.js";
import type { PerftRequest } from "../types/schema.js";
import type { Counted } from "../types/schema.js";
import type { EvaluateRequest } from "../types/schema.js";
import type { Estimated } from "../types/schema.js";
import type { LevelRequest } from "../types/schema.js";
import type { Moved } from "../types/schema.js";
import type { TreeRequest } from "../types/schema.js";
import type { TreeView } from "../types/schema.js";
import type { Health } from "../types/schema.js";
import type { Streams } from "./stream.js";
import { Stream } from "./stream.js";
import type { Socket } from "./stream.js";
