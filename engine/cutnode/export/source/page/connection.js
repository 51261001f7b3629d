/** The connection of the page to its engines: the same requests and searches as to a service. */

import { Client } from "../engine/client.js";
import { portOf } from "../engine/port.js";
import { games, worker } from "./games.js";

const TABLE = 64;
const TREE = 64;
const WORKERS = 2; // a level may choose its move during an analysis

/** An error whose message the page shows. */
class Refusal extends Error {}

/** Return an error as the page shows it; errors of the program stay as they are. */
function shown(error) {
  const expected = ["ServiceError", "ConnectionError"].includes(error.name);
  return expected ? new Refusal(error.message) : error;
}

const script = URL.createObjectURL(new Blob([worker], { type: "text/javascript" }));
const sources = games.map(({ about, file }) => {
  return { about, load: () => load(file).then(() => unpacked(globalThis.cutnode[about.game])) };
});
const client = new Client(sources, {
  table: TABLE,
  tree: TREE,
  workers: WORKERS,
  start: async () => portOf(new Worker(script)),
});

/** Load a script: unlike other files, browsers load them also where the page is on a disk. */
function load(file) {
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.onload = resolve;
    element.onerror = () => reject(new Error(`${file} is not there`));
    element.src = file;
    document.head.append(element);
  });
}

/** Return the bytes of a text in base64, decompressed. */
function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** Answers requests; it is never lost. */
export class Connection extends EventTarget {
  online = true;

  get(path, { position } = {}) {
    const [, game, what] = path.split("/");
    const name = game && decodeURIComponent(game);
    if (!name) return this.#ask(client.games());
    if (what === "board") return this.#ask(client.board(name));
    if (what === "position") return this.#ask(client.position(name, position));
    return this.#ask(client.game(name));
  }

  post(path, body) {
    const [, game, kind] = path.split("/");
    return this.#ask(client[kind](decodeURIComponent(game), body));
  }

  async #ask(answer) {
    try {
      return await answer;
    } catch (error) {
      throw shown(error);
    }
  }
}

/** Searches, one at a time: a new one ends the previous one. */
export class Searches {
  #running = null;

  /**
   * Search; `hear` is called with each event.  Resolves to the result, or to null if another
   * search or `cancel` came first.
   */
  async run({ kind, game, request }, hear) {
    this.cancel();
    const running = new AbortController();
    this.#running = running;
    try {
      for await (const event of client.stream(kind, game, request, { signal: running.signal })) {
        if (running.signal.aborted) return null;
        if (event.event === "result") return event.result;
        hear(event);
      }
    } catch (error) {
      if (!running.signal.aborted) throw shown(error);
    }
    return null;
  }

  /** End the running search, and forget it. */
  cancel() {
    this.#running?.abort();
    this.#running = null;
  }
}
