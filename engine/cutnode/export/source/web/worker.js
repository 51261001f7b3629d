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
    if (load) {
      given = load;
      engine = Engine.create(load.module, load);
      engine.catch(() => {}); // the first request tells
    } else if (stop) stopped = stop;
    else if (ask) run(ask);
  };

  async function run({ id, kind, request }) {
    let paused = performance.now();
    const watch = {
      stopped: () => stopped === id || (given.flag && Atomics.load(given.flag, 0) === id),
      report: (event) => post({ id, event }),
      pause: () => {
        if (given.flag || performance.now() - paused < PATIENCE) return null;
        return new Promise((resolve) => setTimeout(resolve)).then(() => (paused = performance.now()));
      },
    };
    try {
      const own = await engine;
      own.resize(request.table ?? given.table, request.engine === "mcts" ? (request.memory ?? given.tree) : 0);
      if (!request.session || request.session !== session) own.forget();
      session = request.session ?? "";
      post({ id, result: await answer(own, kind, request, watch) });
    } catch (error) {
      const { name, kind: its, message, where } = error;
      post({ id, error: name === "ServiceError" ? { kind: its, message, where } : { message: `${name}: ${message}` } });
    }
  }

  listen(take);
}

if (typeof WorkerGlobalScope === "undefined") {
  import("node:worker_threads").then(({ parentPort }) => {
    serve((hear) => parentPort.on("message", hear), (message) => parentPort.postMessage(message));
  });
} else {
  serve((hear) => (self.onmessage = ({ data }) => hear(data)), (message) => self.postMessage(message));
}
