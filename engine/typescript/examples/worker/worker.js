/**
 * The worker: it keeps the game, sends requests to the service, and plays the moves of the level, so
 * that the page only has to draw.
 */

import { Client } from "../../src/index.js";

/** @import { BoardView, LevelRequest, PositionView } from "cutnode-client" */

/**
 * The messages from the page.
 *
 * @typedef {{ do: "open", service: string, game: string }
 *   | { do: "begin", level: LevelRequest["level"], yours: boolean }
 *   | { do: "play", move: string }} Order
 */

/**
 * The messages to the page.
 *
 * @typedef {{ told: "game", board: BoardView | null, levels: string[] }
 *   | { told: "position", view: PositionView, yours: boolean }
 *   | { told: "hint" | "status", text: string }} Told
 */

const HINT_SECONDS = 5;

const tell = (/** @type {Told} */ message) => postMessage(message);

/** @type {Client} */
let client;
let game = "";
let seed = 0;

/** @type {LevelRequest["level"]} */
let level;

/** @type {PositionView} */
let view;

/** Ends the requests of the previous order when the next one arrives. */
let asking = new AbortController();

onmessage = async (/** @type {MessageEvent<Order>} */ { data }) => {
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  try {
    if (data.do === "open") await open(data.service, data.game, signal);
    else if (data.do === "begin") await begin(data.level, data.yours, signal);
    else await play(data.move, true, signal);
  } catch (error) {
    if (!signal.aborted) tell({ told: "status", text: String(error) });
  }
};

/**
 * @param {string} service
 * @param {string} name
 * @param {AbortSignal} signal
 */
async function open(service, name, signal) {
  client = new Client(service);
  game = name;
  const [board, { levels }] = await Promise.all([
    client.board(game, { signal }),
    client.games({ signal }),
  ]);
  tell({ told: "game", board, levels });
}

/**
 * @param {LevelRequest["level"]} chosen
 * @param {boolean} yours - Whether you make the first move.
 * @param {AbortSignal} signal
 */
async function begin(chosen, yours, signal) {
  level = chosen;
  seed = Math.floor(Math.random() * 2 ** 32);
  await show("", yours, signal);
}

/**
 * @param {string} text
 * @param {boolean} yours - Whether it is your move, not the level's.
 * @param {AbortSignal} signal
 */
async function play(text, yours, signal) {
  const move = view.moves.find(({ move }) => move === text);
  if (move) await show(move.position, move.again ? yours : !yours, signal);
}

/**
 * Continue from a position: with a hint for you, a move of the level, or a roll of the dice.
 *
 * @param {string} position
 * @param {boolean} yours
 * @param {AbortSignal} signal
 */
async function show(position, yours, signal) {
  view = await client.position(game, position, { signal });
  tell({ told: "position", view, yours });
  if (view.over) return;
  if (view.chance.length > 0) {
    const outcome = drawn(view.chance);
    await show(outcome.position, outcome.again ? yours : !yours, signal);
  } else if (yours) {
    await hint(signal);
  } else {
    const { move } = await client.move(game, { position: view.position, level, seed }, { signal });
    await play(move, false, signal);
  }
}

/**
 * Report the best move at each depth, until you move.
 *
 * @param {AbortSignal} signal
 */
async function hint(signal) {
  const request = { position: view.position, seconds: HINT_SECONDS };
  for await (const event of client.stream("search", game, request, { signal })) {
    if (event.event !== "iteration") continue;
    const [line] = event.lines;
    if (line === undefined) continue;
    const { pv, value, verdict } = line;
    const found = `${pv.join(" ")} (${verdict ?? `score ${value}`}, depth ${event.depth})`;
    tell({ told: "hint", text: found });
  }
}

/**
 * Choose one of the outcomes of chance at random.
 *
 * @param {PositionView["chance"]} outcomes
 */
function drawn(outcomes) {
  let left = Math.random();
  const found = outcomes.find(({ probability }) => (left -= probability) < 0);
  return found ?? /** @type {PositionView["chance"][0]} */ (outcomes.at(-1));
}
