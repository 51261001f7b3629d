/** A board game with its solver and searches; see README.md. */

/** Aborting the signal ends the search, and the call throws the signal's reason. */
export interface Options {
  signal?: AbortSignal | undefined;
}

/** The memory and the threads of a client. */
export interface ClientOptions {
  /** The size of the transposition table of each engine in MiB; 64 by default, at most 3840. */
  table?: number;
  /** The size of the tree of Monte Carlo tree search in MiB; 64 by default. */
  tree?: number;
  /** The most engines that run at once, each in a worker; 1 by default. */
  workers?: number;
}

/**
 * A client of the game.  It has the methods of the client of a cutnode service, with the same
 * requests and answers; `game` is the name of the game that {@link Client.games} gives.
 *
 * Positions are the moves that lead there, such as `"4 4 3"`; `""` is the start.  Values and scores
 * are for the player to move.  A call throws a {@link ServiceError} if the request is refused, and a
 * {@link ConnectionError} if the engine cannot be loaded.
 */
export class Client {
  constructor(options?: ClientOptions);
  games(options?: Options): Promise<Games>;
  game(game: string, options?: Options): Promise<GameView>;
  board(game: string, options?: Options): Promise<BoardView | null>;
  position(game: string, position?: string, options?: Options): Promise<PositionView>;
  search(game: string, request?: SearchRequest, options?: Options): Promise<Searched>;
  solve(game: string, request?: SolveRequest, options?: Options): Promise<Solved>;
  analyse(game: string, request?: AnalyseRequest, options?: Options): Promise<Solved>;
  perft(game: string, request: PerftRequest, options?: Options): Promise<Counted>;
  move(game: string, request?: LevelRequest, options?: Options): Promise<Moved>;
  health(options?: Options): Promise<Health>;
  stream<Kind extends keyof Streams>(
    kind: Kind,
    game: string,
    request?: Streams[Kind]["request"],
    options?: Options,
  ): Stream<Kind>;
  /** Always rejects: only a service sets up positions cell by cell. */
  setup(game: string, request?: unknown, options?: Options): Promise<never>;
  /** Always rejects: only a service reads recorded games. */
  record(game: string, request?: unknown, options?: Options): Promise<never>;
  /** Always rejects: only a service writes games in formats of their own. */
  ownRecord(game: string, request?: unknown, options?: Options): Promise<never>;
  /** Always rejects: only a service has static evaluations. */
  evaluate(game: string, request?: unknown, options?: Options): Promise<never>;
  /** Always rejects: only a service records trees. */
  tree(game: string, request?: unknown, options?: Options): Promise<never>;
  /** End all searches and their workers. */
  close(): void;
}

/** A search that reports while it runs; it starts when the first event is requested. */
export class Stream<Kind extends keyof Streams> implements AsyncIterable<StreamEvent<Kind>> {
  private constructor();
  [Symbol.asyncIterator](): AsyncGenerator<StreamEvent<Kind>, void, void>;
  /** End the search; the stream then ends with the best result so far. */
  stop(): void;
}

/** The requests that can be streamed, the events until they are answered, and the answers. */
export interface Streams {
  search: { request: SearchRequest; meanwhile: DepthDone; answer: Searched };
  solve: { request: SolveRequest; meanwhile: Progressed; answer: Solved };
  analyse: { request: AnalyseRequest; meanwhile: Progressed; answer: Solved };
}

export type StreamEvent<Kind extends keyof Streams> =
  Started | Streams[Kind]["meanwhile"] | { event: "result"; result: Streams[Kind]["answer"] };

/** A request that is refused; its message says what is wrong with it. */
export class ServiceError extends Error {
  constructor(kind: string, message: string, where?: string | null);
  /** The kind of error, such as `"no such position"`. */
  kind: string;
  /** The place in the request, such as `"body.position"`; null if there is none in particular. */
  where: string | null;
  status: null;
  retryAfter: null;
}

/** The engine cannot be loaded, or its worker has broken down. */
export class ConnectionError extends Error {}

// Requests

export interface PositionRequest {
  /** The moves that lead to the position; the start by default. */
  position?: string;
}

export interface LimitedRequest extends PositionRequest {
  nodes?: number | null;
  seconds?: number | null;
  /** The size of the transposition table in MiB; the client's by default. */
  table?: number | null;
  /**
   * A name of your choice: requests of one session build on what earlier ones stored.  Without a
   * session, each starts with an empty table.
   */
  session?: string;
}

/** A search; without a limit it takes one second. */
export interface SearchRequest extends LimitedRequest {
  engine?: "alphabeta" | "mcts";
  depth?: number | null;
  playouts?: number | null;
  /** The size of the tree of playouts in MiB. */
  memory?: number | null;
  /** Whether to leave out techniques that change scores. */
  exact?: boolean;
  /** The number of best moves; with more than one, each is searched on its own. */
  lines?: number;
  seed?: number | null;
  /** Moves to choose from; all legal moves by default. */
  moves?: string[] | null;
  /** Earlier positions of the game, oldest first, one move apart. */
  history?: string[];
}

export interface AnalyseRequest extends LimitedRequest {
  engine?: "alphabeta" | "auto";
}

export interface SolveRequest extends AnalyseRequest {
  at_least?: number | null;
}

export interface LevelRequest extends PositionRequest {
  level?: string;
  seconds?: number | null;
  seed?: number;
}

export interface PerftRequest extends PositionRequest {
  depth: number;
  seconds?: number | null;
  bulk?: boolean;
}

// Answers

export interface LimitsView {
  depth: number | null;
  playouts: number | null;
  nodes: number | null;
  seconds: number | null;
  table: number;
  threads: number;
}

export interface Answer {
  game: string;
  /** The position, as the moves that lead there. */
  position: string;
  notes: string[];
}

/** A move, its score for the mover, and the principal variation that begins with it. */
export interface LineView {
  move: string;
  value: number;
  /** The result for the mover; null for an estimate. */
  verdict: "win" | "draw" | "loss" | null;
  /** The plies to the end of the game, where known. */
  distance: number | null;
  /** The expected points of the mover, from 0 to 1. */
  points: number;
  pv: string[];
}

export interface IterationView {
  depth: number;
  value: number;
  best_move: string | null;
  nodes: number;
  seconds: number;
}

export interface Searched extends Answer {
  value: number;
  win_rate: number | null;
  meaning: string;
  proven: boolean;
  exact: boolean;
  best_move: string | null;
  lines: LineView[];
  moves: never[];
  playouts: number;
  depth: number;
  why: string;
  iterations: IterationView[];
  statistics: Record<string, number>;
  nodes: number;
  seconds: number;
  reason: string;
  limits: LimitsView;
}

export interface Solved extends Answer {
  /** The value for the mover; null if not proven. */
  value: number | null;
  meaning: string;
  proven: boolean;
  lower: number;
  upper: number;
  weak: boolean;
  at_least: number | null;
  answer: boolean | null;
  best_move: string | null;
  /** The value of each move (analyse only). */
  scores: Record<string, number | null> | null;
  pv: string[];
  depth: number;
  nodes: number;
  seconds: number;
  /** Always zero: exports do not count these. */
  table: { probes: number; hits: number; cutoffs: number; stores: number; overwrites: number };
  reason: string;
  engine: string;
  target: number | null;
  numbers: number[] | null;
  why: string;
  limits: LimitsView;
}

export interface Counted extends Answer {
  depth: number;
  /** The number of lines of play; null if not finished. */
  lines: number | null;
  seconds: number;
  reason: "done" | "time limit" | "stopped";
  limits: LimitsView;
}

export interface Moved extends Answer {
  level: string;
  move: string;
  value: number | null;
  pv: string[];
  depth: number;
  nodes: number;
  seconds: number;
  reason: string;
}

export interface MoveView {
  move: string;
  position: string;
  /** Whether the same player moves again. */
  again: boolean;
  /** Cells that it changes, each with its new content. */
  changes: [number, number][];
  recurrence: null;
}

export interface OutcomeView {
  text: string;
  probability: number;
  position: string;
  again: boolean;
}

export interface PositionView extends Answer {
  board: string;
  /** The content of each cell, as an index into `contents`; null without a board. */
  cells: number[] | null;
  caption: string;
  player: 0 | 1 | null;
  recurrence: string | null;
  over: boolean;
  /** The result for the mover, if the game is over. */
  value: number | null;
  meaning: string;
  /** Always empty: only a service knows the cells that won. */
  winning_line: number[];
  moves: MoveView[];
  chance: OutcomeView[];
}

export interface ContentView {
  symbol: string;
  name: string;
  glyph: string;
  owner: 0 | 1 | null;
}

export interface BoardView {
  shape: "grid" | "hexagons" | "triangles" | "points";
  places: [number, number][];
  lines: [number, number][];
  edges: { owner: 0 | 1 | null; cells: number[] }[];
  row_names: string[];
  column_names: string[];
  contents: ContentView[];
  players: Record<string, string>;
  names: [string, string];
  /** Always false: positions are the moves that lead there. */
  editable: boolean;
}

export interface GameView {
  name: string;
  about: string;
  variants: string;
  examples: string[];
  start: string;
  chance: boolean;
  solvable: boolean;
  tablebase: boolean;
  decisive: boolean;
  limit: number;
  unit: number | null;
  repetitions: number | null;
  repetition: "draw";
  evaluations: string[];
}

export interface Games {
  games: GameView[];
  levels: string[];
  compiled: string[];
}

export interface Health {
  status: "starting" | "ready" | "stopping";
  version: string;
  searching: number;
  waiting: number;
  engines: number;
  megabytes: number;
  room: number;
  games: number;
  most_games: number;
}

// Events

export interface Started {
  event: "started";
  limits: LimitsView;
}

export interface DepthDone {
  event: "iteration";
  depth: number;
  value: number;
  proven: boolean;
  bound: -1 | 0 | 1;
  lines: LineView[];
  nodes: number;
  seconds: number;
}

export interface Progressed {
  event: "progress";
  lower: number | null;
  upper: number | null;
  nodes: number;
  seconds: number;
  fill: number;
}

// The engine itself

export interface Limits {
  depth?: number | null;
  /** 0: all; 1: none that looks less deep at some moves; 2: none that changes a score. */
  techniques?: 0 | 1 | 2;
  nodes?: number | null;
  playouts?: number | null;
  seconds?: number | null;
  seed?: number | null;
}

export interface Result {
  value: number;
  lower: number;
  upper: number;
  seconds: number;
  nodes: number;
  playouts: number;
  /** The best move as a number; -1 for none. */
  move: number;
  depth: number;
  proven: boolean;
  /** 0: complete; 1: stopped; 2: node limit; 3: time limit; 9: playout limit. */
  reason: number;
  line: number[];
}

export interface State {
  value: number;
  /** 0: running; 1: by the rules; 2: by repetition; 3: the longest game. */
  ending: number;
  side: 0 | 1;
  outcomes: number;
  plies: number;
  moves: number;
}

/** The engine in the calling thread, which a search holds up; moves are numbers. */
export class Engine {
  private constructor();
  static create(options?: { table?: number; tree?: number }): Promise<Engine>;
  readonly about: Record<string, unknown>;
  readonly sizes: { table: number; tree: number };
  /** Called by running searches with the result so far; returns whether to continue. */
  progress: (result: Result) => boolean;
  reset(): void;
  play(move: number): void;
  roll(outcome: number): void;
  undo(): void;
  state(): State;
  moves(): number[];
  odds(outcome: number): number;
  cells(): number[];
  moveText(move: number, side: number): string;
  words(): BigUint64Array;
  setWords(words: BigUint64Array): void;
  perft(depth: number): number;
  ask(kind: "search" | "solve" | "mate" | "playouts", limits?: Limits): Result;
  forget(): void;
}
