import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, ConnectionError, ServiceError } from "cutnode-client";

import { serveSockets } from "./fake.js";

const STARTED = { event: "started" };
const RESULT = { event: "result", result: { value: 1 } };
const iteration = (depth) => ({ event: "iteration", depth });

/** Call `use` with a client of a server that runs `converse` on each connection. */
async function streaming(converse, use) {
  const failures = [];
  const peers = [];
  const server = await serveSockets((peer) => {
    peers.push(peer);
    converse(peer).catch((error) => failures.push(error));
  });
  try {
    await use(new Client(server.url), peers);
  } finally {
    server.close();
  }
  assert.deepEqual(failures, []);
}

async function all(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

test("events arrive in order, ending with the result", () => {
  const asked = [];
  return streaming(
    async (peer) => {
      asked.push(await peer.hear());
      for (const event of [STARTED, iteration(1), iteration(2), RESULT]) peer.say(event);
    },
    async (client, peers) => {
      const heard = await all(client.stream("search", "hex", { depth: 2 }));
      assert.deepEqual(heard, [STARTED, iteration(1), iteration(2), RESULT]);
      const question = { do: "start", kind: "search", game: "hex", request: { depth: 2 } };
      assert.deepEqual(asked, [question]);
      await peers[0].left;
    },
  );
});

test("a stream does not start before its events are requested", () =>
  streaming(
    async () => assert.fail("nobody asked"),
    async (client) => {
      client.stream("solve", "hex");
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
  ));

test("a search that is stopped gives its result", () =>
  streaming(
    async (peer) => {
      await peer.hear();
      peer.say(STARTED);
      assert.deepEqual(await peer.hear(), { do: "stop" });
      peer.say(RESULT);
    },
    async (client) => {
      const search = client.stream("search", "hex");
      const heard = [];
      for await (const event of search) {
        heard.push(event);
        search.stop();
      }
      assert.deepEqual(heard, [STARTED, RESULT]);
      const early = client.stream("search", "hex");
      early.stop();
      assert.deepEqual(await all(early), [STARTED, RESULT]);
      early.stop();
      assert.deepEqual(await all(early), []);
    },
  ));

test("leaving the loop ends the search", () =>
  streaming(
    async (peer) => {
      await peer.hear();
      peer.say(STARTED);
    },
    async (client, peers) => {
      for await (const event of client.stream("analyse", "hex")) {
        assert.deepEqual(event, STARTED);
        break;
      }
      await peers[0].left;
    },
  ));

test("a signal ends the search at once", () =>
  streaming(
    async (peer) => {
      await peer.hear();
      for (const event of [STARTED, iteration(1), iteration(2)]) peer.say(event);
    },
    async (client, peers) => {
      const given = new AbortController();
      const heard = [];
      const asked = (async () => {
        for await (const event of client.stream("search", "hex", {}, given)) {
          heard.push(event);
          if (heard.length === 2) given.abort();
        }
      })();
      await assert.rejects(asked, { name: "AbortError" });
      assert.deepEqual(heard, [STARTED, iteration(1)]);
      await peers[0].left;

      const idle = new AbortController();
      const left = client.stream("solve", "hex", {}, idle)[Symbol.asyncIterator]();
      await left.next();
      idle.abort();
      await peers[1].left;
      await assert.rejects(left.next(), { name: "AbortError" });

      const waiting = client.stream("solve", "hex", {}, { signal: AbortSignal.timeout(30) });
      await assert.rejects(all(waiting), { name: "TimeoutError" });
    },
  ));

test("nothing starts with a signal that is already aborted", async () => {
  const WebSocket = () => assert.fail("nobody asked");
  const client = new Client("http://localhost", { WebSocket });
  const stream = client.stream("solve", "hex", {}, { signal: AbortSignal.abort() });
  await assert.rejects(all(stream), { name: "AbortError" });
});

test("a refusal is an error with the service's message", () =>
  streaming(
    async (peer) => {
      await peer.hear();
      const detail = "move 2 of '55': cell 5 is marked already";
      peer.say({ event: "error", error: "no such position", detail, where: "body.position" });
    },
    async (client) => {
      await assert.rejects(all(client.stream("solve", "hex", { position: "55" })), (error) => {
        assert(error instanceof ServiceError);
        const { message, kind, where, status } = error;
        assert.equal(message, "move 2 of '55': cell 5 is marked already");
        assert.deepEqual([kind, where, status], ["no such position", "body.position", null]);
        return true;
      });
    },
  ));

test("a lost connection is an error after the events that arrived", () =>
  streaming(
    async (peer) => {
      await peer.hear();
      peer.say(STARTED);
      peer.close("going home");
    },
    async (client) => {
      const heard = [];
      const asked = (async () => {
        for await (const event of client.stream("search", "hex")) heard.push(event);
      })();
      await assert.rejects(asked, (error) => {
        assert(error instanceof ConnectionError);
        assert.match(error.message, /^lost the connection to ws:.*\/stream: going home$/);
        return true;
      });
      assert.deepEqual(heard, [STARTED]);
    },
  ));

test("an answer that is not from a cutnode service is an error", async () => {
  for (const said of ["hello", "null", "{}"]) {
    await streaming(
      async (peer) => {
        await peer.hear();
        peer.say(said);
      },
      (client) =>
        assert.rejects(all(client.stream("search", "hex")), {
          name: "ConnectionError",
          message: /\/stream answered, but not as a cutnode service$/,
        }),
    );
  }
});

test("a service that is not there cannot be reached", async () => {
  const server = await serveSockets(async () => {});
  server.close();
  const asked = all(new Client(server.url).stream("search", "hex"));
  const url = server.url.replace("http", "ws");
  await assert.rejects(asked, { name: "ConnectionError", message: `cannot reach ${url}/stream` });
});

test("a missing WebSocket is an error", (context) => {
  const { WebSocket } = globalThis;
  context.after(() => Object.assign(globalThis, { WebSocket }));
  Object.assign(globalThis, { WebSocket: undefined });
  assert.throws(() => new Client("http://localhost").stream("search", "hex"), {
    message: /new Client\(url, { WebSocket }\)/,
  });
});
