/**
 * The worker: one engine in a thread of its own, which answers one request at a time.
 *
 * Messages to it: `{load: {module, table, tree, flag}}` first, `{ask: {id, kind, request}}`, and
 * `{stop: id}`.  With shared memory, `flag` holds the number of the last request to end.  Messages
 * from it: `{id, event}`, then `{id, result}` or `{id, error}`.
 */

import { answer } from "./answers.js";
import { Engine } from "./engine.js";

const PATIENCE = 50;

/** Serve the messages of a port, which `listen(hear)` receives and `post(message)` sends. */
function serve(listen, post) {
  let engine = null;
  let given = null;
  let session = "";
  let stopped = 0;

  const take = ({ load, ask, stop }) => {
    if (load) given = load;
    else if (stop) stopped = stop;
    else if (ask) run(ask);
  };

  /** Return an engine with tables of the sizes that a request asks for, the old one if it has. */
  async function engineFor({ engine: kind, table, memory, session: wanted = "" }) {
    if (engine?.broken) engine = null;
    const sizes = {
      table: table ?? given.table,
      tree: kind === "mcts" ? (memory ?? given.tree) : 0,
    };
    if (engine?.sizes.table !== sizes.table || engine.sizes.tree !== sizes.tree) {
      engine = null; // its memory is free for the next one
      engine = await Engine.create(given.module, sizes);
    } else if (!wanted || wanted !== session) engine.forget();
    session = wanted;
    return engine;
  }

  async function run({ id, kind, request }) {
    let paused = performance.now();
    const watch = {
      stopped: () => stopped === id || (given.flag && Atomics.load(given.flag, 0) === id),
      report: (event) => post({ id, event }),
      pause: () => {
        if (given.flag || performance.now() - paused < PATIENCE) return null;
        return new Promise((resolve) => setTimeout(resolve)).then(
          () => (paused = performance.now()),
        );
      },
    };
    try {
      post({ id, result: await answer(await engineFor(request), kind, request, watch) });
    } catch (error) {
      const { name, kind: its, message, where } = error;
      post({
        id,
        error:
          name === "ServiceError"
            ? { kind: its, message, where }
            : { message: `${name}: ${message}` },
      });
    }
  }

  listen(take);
}

if (typeof WorkerGlobalScope === "undefined") {
  import("node:worker_threads").then(({ parentPort }) => {
    serve(
      (hear) => parentPort.on("message", hear),
      (message) => parentPort.postMessage(message),
    );
  });
} else {
  serve(
    (hear) => (self.onmessage = ({ data }) => hear(data)),
    (message) => self.postMessage(message),
  );
}
