/** The game of this package: a client of its own, and its engine. */

import { Client as Games } from "./client.js";
import { Engine as Calls } from "./engine.js";
import { portOf } from "./port.js";

export { ConnectionError, ServiceError } from "./errors.js";
export { Stream } from "./stream.js";

const CODE = new URL("./game.wasm", import.meta.url);
const STACK_MIB = 64;
const IN_NODE = typeof process !== "undefined" && Boolean(process.versions?.node);

/** A client of the game; `options` are `{table, tree, workers}`. */
export class Client extends Games {
  constructor(options = {}) {
    super([{ about: null, load: loadCode }], {
      ...options,
      start: IN_NODE ? startInNode : startInPage,
    });
  }
}

/** The engine itself, for programs that call it in their own thread. */
export class Engine extends Calls {
  /** Make an engine; `table` and `tree` are sizes in MiB. */
  static async create(options) {
    return Calls.create(await loadCode(), options);
  }
}

async function loadCode() {
  if (IN_NODE) {
    const { readFile } = await import(
      /* webpackIgnore: true */ /* @vite-ignore */ "node:fs/promises"
    );
    return readFile(CODE);
  }
  const response = await fetch(CODE);
  if (!response.ok) throw new Error(`${CODE} is not there (status ${response.status})`);
  return response.arrayBuffer();
}

async function startInPage() {
  return portOf(new Worker(new URL("./worker.js", import.meta.url), { type: "module" }));
}

/** Start a worker that keeps the program running only while it answers a request. */
async function startInNode() {
  const { Worker } = await import(
    /* webpackIgnore: true */ /* @vite-ignore */ "node:worker_threads"
  );
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    resourceLimits: { stackSizeMb: STACK_MIB },
  });
  worker.unref();
  return {
    post: (message) => worker.postMessage(message),
    listen: (hear, fail) => {
      worker.on("message", hear);
      worker.on("error", fail);
    },
    end: () => worker.terminate(),
    hold: (on) => (on ? worker.ref() : worker.unref()),
  };
}
