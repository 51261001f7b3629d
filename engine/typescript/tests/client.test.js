import assert from "node:assert/strict";
import { test } from "node:test";

import { Client, ConnectionError, ServiceError } from "cutnode-client";

import { serve } from "./fake.js";

/** Call `use` with a client of a server that answers with `answer`. */
async function asking(answer, use, path = "") {
  const server = await serve(answer);
  try {
    await use(new Client(server.url + path));
  } finally {
    server.close();
  }
}

const CALLS = [
  [(client) => client.games(), "GET /games"],
  [(client) => client.health(), "GET /health"],
  [(client) => client.game("connect4:8x7"), "GET /games/connect4%3A8x7"],
  [(client) => client.board("hex"), "GET /games/hex/board"],
  [(client) => client.position("hex"), "GET /games/hex/position?position="],
  [(client) => client.position("chess", "1. e4 &c"), "GET /games/chess/position?position=1.+e4+%26c"],
  [(client) => client.search("hex"), "POST /games/hex/search {}"],
  [(client) => client.search("hex", { depth: 3 }), 'POST /games/hex/search {"depth":3}'],
  [(client) => client.solve("hex"), "POST /games/hex/solve {}"],
  [(client) => client.analyse("hex"), "POST /games/hex/analyse {}"],
  [(client) => client.perft("hex", { depth: 2 }), 'POST /games/hex/perft {"depth":2}'],
  [(client) => client.evaluate("hex"), "POST /games/hex/evaluate {}"],
  [(client) => client.move("hex", { level: "easy" }), 'POST /games/hex/move {"level":"easy"}'],
  [(client) => client.tree("hex"), "POST /games/hex/tree {}"],
  [(client) => client.record("hex", { text: "a1" }), 'POST /games/hex/record {"text":"a1"}'],
  [(client) => client.ownRecord("chess", { text: "e4" }), 'POST /games/chess/record/own {"text":"e4"}'],
  [(client) => client.setup("hex", { cells: [0] }), 'POST /games/hex/setup {"cells":[0]}'],
];

test("each call sends its request", () =>
  asking(
    ({ method, url }, body) => [200, { asked: `${method} ${url} ${body}`.trim() }],
    async (client) => {
      for (const [call, asked] of CALLS) assert.deepEqual(await call(client), { asked });
    },
  ));

test("a service may have a path", async () => {
  for (const path of ["/cutnode", "/cutnode/", "/cutnode/?a=b#c"]) {
    await asking(
      ({ url }) => [200, { url }],
      async (client) => assert.deepEqual(await client.games(), { url: "/cutnode/games" }),
      path,
    );
  }
});

test("a refusal is an error with the service's message", () => {
  const body = { error: "too many", detail: "16 questions wait", where: null };
  return asking(
    () => [503, body, { "retry-after": "2" }],
    async (client) => {
      await assert.rejects(client.solve("hex"), (error) => {
        assert(error instanceof ServiceError);
        assert.equal(String(error), "ServiceError: 16 questions wait");
        const { kind, where, status, retryAfter } = error;
        assert.deepEqual([kind, where, status, retryAfter], ["too many", null, 503, 2]);
        return true;
      });
    },
  );
});

test("an answer that is not from a cutnode service is an error", async () => {
  for (const [status, said] of [[200, "<html>"], [502, "<html>"], [502, { message: "bad gateway" }]]) {
    const message = new RegExp(`/games answered with status ${status}, but not as a cutnode service$`);
    await asking(
      () => [status, said],
      (client) => assert.rejects(client.games(), { name: "ConnectionError", message }),
    );
  }
});

test("a service that is not there cannot be reached", async () => {
  const server = await serve(() => []);
  server.close();
  await assert.rejects(new Client(server.url).games(), (error) => {
    assert(error instanceof ConnectionError);
    assert.equal(error.message, `cannot reach ${server.url}/`);
    assert(error.cause);
    return true;
  });
});

test("a request can be aborted", () =>
  asking(
    () => {},
    async (client) => {
      const given = new AbortController();
      const asked = client.search("hex", {}, { signal: given.signal });
      given.abort();
      await assert.rejects(asked, { name: "AbortError" });
      const late = { signal: AbortSignal.timeout(1) };
      await assert.rejects(client.search("hex", {}, late), { name: "TimeoutError" });
      const before = { signal: AbortSignal.abort("never mind") };
      await assert.rejects(client.games(before), (reason) => reason === "never mind");
    },
  ));

test("another fetch can be used", async () => {
  const fetch = async (url) => new Response(JSON.stringify({ url }));
  const client = new Client("https://its.site/x", { fetch });
  assert.deepEqual(await client.games(), { url: "https://its.site/x/games" });
});

test("invalid arguments are errors before any request", async () => {
  for (const url of ["", "localhost:8000", "ftp://localhost", "http://"]) {
    assert.throws(() => new Client(url), { message: /is not the URL of a service/ });
  }
  const client = new Client("http://localhost:1");
  for (const game of ["", ".", ".."]) {
    await assert.rejects(client.game(game), { message: `"${game}" is not a game, such as "connect4"` });
  }
  await assert.rejects(client.search("hex", { depth: NaN }), { message: "depth is not a number" });
});
