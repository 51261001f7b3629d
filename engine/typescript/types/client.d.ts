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
    /**
     * @param {string | URL} url - Such as `"http://localhost:8000"`; in a page, it may be relative.
     * @param {Transport} [transport]
     */
    constructor(url: string | URL, transport?: Transport);
    /**
     * Return all games, the levels, and which games are compiled.
     *
     * @param {Options} [options]
     * @returns {Promise<Games>}
     */
    games(options?: Options): Promise<Games>;
    /**
     * Return the description of a game.
     *
     * @param {string} game
     * @param {Options} [options]
     * @returns {Promise<GameView>}
     */
    game(game: string, options?: Options): Promise<GameView>;
    /**
     * Return the layout and contents of a board, for drawing it; null if the game declares none.
     *
     * @param {string} game
     * @param {Options} [options]
     * @returns {Promise<BoardView | null>}
     */
    board(game: string, options?: Options): Promise<BoardView | null>;
    /**
     * Return a position: its board, its moves and what they change, and the result if the game is
     * over.
     *
     * @param {string} game
     * @param {string} [position] - The starting position by default.
     * @param {Options} [options]
     * @returns {Promise<PositionView>}
     */
    position(game: string, position?: string, options?: Options): Promise<PositionView>;
    /**
     * Return the position of a board given cell by cell.
     *
     * @param {string} game
     * @param {SetupRequest} request
     * @param {Options} [options]
     * @returns {Promise<PositionView>}
     */
    setup(game: string, request: SetupRequest, options?: Options): Promise<PositionView>;
    /**
     * Return the positions of a recorded game, with its comments and variations.
     *
     * @param {string} game
     * @param {RecordRequest} request
     * @param {Options} [options]
     * @returns {Promise<RecordView>}
     */
    record(game: string, request: RecordRequest, options?: Options): Promise<RecordView>;
    /**
     * Return a recorded game in the game's own format, such as PGN.
     *
     * @param {string} game
     * @param {RecordRequest} request
     * @param {Options} [options]
     * @returns {Promise<OwnRecord>}
     */
    ownRecord(game: string, request: RecordRequest, options?: Options): Promise<OwnRecord>;
    /**
     * Return the best moves and their scores, searched as deep as the limits allow.
     *
     * @param {string} game
     * @param {SearchRequest} [request] - Without a limit it takes one second.
     * @param {Options} [options]
     * @returns {Promise<Searched>}
     */
    search(game: string, request?: SearchRequest, options?: Options): Promise<Searched>;
    /**
     * Return the proven value, a best move, and the principal variation.
     *
     * @param {string} game
     * @param {SolveRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Solved>}
     */
    solve(game: string, request?: SolveRequest, options?: Options): Promise<Solved>;
    /**
     * Return the proven values of the position and of every move.
     *
     * @param {string} game
     * @param {AnalyseRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Solved>}
     */
    analyse(game: string, request?: AnalyseRequest, options?: Options): Promise<Solved>;
    /**
     * Return reasons: who is ahead, what threatens, and what is wrong with a move.
     *
     * @param {string} game
     * @param {ExplainRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Explained>}
     */
    explain(game: string, request?: ExplainRequest, options?: Options): Promise<Explained>;
    /**
     * Return the marks and the turning points of a whole game.
     *
     * @param {string} game
     * @param {ReviewRequest} request
     * @param {Options} [options]
     * @returns {Promise<Reviewed>}
     */
    review(game: string, request: ReviewRequest, options?: Options): Promise<Reviewed>;
    /**
     * Return positions with exactly one solution, from games of the engine against itself.
     *
     * @param {string} game
     * @param {PuzzlesRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Puzzles>}
     */
    puzzles(game: string, request?: PuzzlesRequest, options?: Options): Promise<Puzzles>;
    /**
     * Return the number of lines of play (perft).
     *
     * @param {string} game
     * @param {PerftRequest} request
     * @param {Options} [options]
     * @returns {Promise<Counted>}
     */
    perft(game: string, request: PerftRequest, options?: Options): Promise<Counted>;
    /**
     * Return the static evaluation, without a search.
     *
     * @param {string} game
     * @param {EvaluateRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Estimated>}
     */
    evaluate(game: string, request?: EvaluateRequest, options?: Options): Promise<Estimated>;
    /**
     * Return the move chosen by a level.
     *
     * @param {string} game
     * @param {LevelRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<Moved>}
     */
    move(game: string, request?: LevelRequest, options?: Options): Promise<Moved>;
    /**
     * Return the tree of a small search, and why each branch ended.
     *
     * @param {string} game
     * @param {TreeRequest} [request]
     * @param {Options} [options]
     * @returns {Promise<TreeView>}
     */
    tree(game: string, request?: TreeRequest, options?: Options): Promise<TreeView>;
    /**
     * Return whether the service is ready, and its load.
     *
     * @param {Options} [options]
     * @returns {Promise<Health>}
     */
    health(options?: Options): Promise<Health>;
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
    stream<Kind extends keyof Streams>(kind: Kind, game: string, request?: Streams[Kind]["request"], { signal }?: Options): Stream<Kind>;
    #private;
}
/**
 * Aborting the signal ends the search of the service, and the call throws the signal's reason.
 */
export type Options = {
    signal?: AbortSignal | undefined;
};
/**
 * Replacements for the `fetch` and the `WebSocket` of the runtime.
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
import type { RecordRequest } from "../types/schema.js";
import type { RecordView } from "../types/schema.js";
import type { OwnRecord } from "../types/schema.js";
import type { SearchRequest } from "../types/schema.js";
import type { Searched } from "../types/schema.js";
import type { SolveRequest } from "../types/schema.js";
import type { Solved } from "../types/schema.js";
import type { AnalyseRequest } from "../types/schema.js";
import type { ExplainRequest } from "../types/schema.js";
import type { Explained } from "../types/schema.js";
import type { ReviewRequest } from "../types/schema.js";
import type { Reviewed } from "../types/schema.js";
import type { PuzzlesRequest } from "../types/schema.js";
import type { Puzzles } from "../types/schema.js";
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
