/** Tests against a running service; `CUTNODE_SERVICE` is its address. */

import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

import { Client } from "cutnode-client";

const url = process.env.CUTNODE_SERVICE;
const options = { skip: url ? false : "CUTNODE_SERVICE is not set", timeout: 60_000 };
const game = "tictactoe";
const position = "1245"; // the first player completes a column with 7

test("every request is answered", options, async () => {
  const client = new Client(url);
  assert.equal((await client.health()).status, "ready");
  assert((await client.games()).games.some(({ name }) => name === game));
  assert.equal((await client.game(game)).start, ".../.../...");
  assert.equal((await client.board(game)).places.length, 9);
  assert.deepEqual((await client.position(game, position)).cells, [1, 2, 0, 1, 2, 0, 0, 0, 0]);
  const set = await client.setup(game, { cells: [1, 2, 0, 0, 0, 0, 0, 0, 0] });
  assert.equal(set.position, "xo./.../...");
  assert.equal((await client.search(game, { position, depth: 3 })).best_move, "7");
  assert.equal((await client.solve(game, { position })).value, 1);
  assert.equal((await client.analyse(game, { position })).scores["7"], 1);
  assert.equal((await client.perft(game, { depth: 3 })).lines, 504);
  assert.equal((await client.evaluate(game)).value, 0);
  assert.equal((await client.move(game, { position, level: "hard" })).move, "7");
  assert.equal((await client.tree(game, { position, depth: 2 })).score, "win in 1");
});

test("refusals have the service's message", options, async () => {
  const client = new Client(url);
  const line = "move 2 of '55': cell 5 is marked already";
  const wrong = { position: "55" };
  const refused = { name: "ServiceError", kind: "no such position", message: line };
  await assert.rejects(client.position(game, "55"), { ...refused, where: "query.position" });
  await assert.rejects(client.solve(game, wrong), { ...refused, status: 404 });
  const events = client.stream("solve", game, wrong)[Symbol.asyncIterator]();
  await assert.rejects(events.next(), { ...refused, status: null });
  await assert.rejects(client.search("go"), { kind: "no such game" });
  await assert.rejects(client.search(game, { depth: 3.5 }), { status: 422, where: "body.depth" });
});

test("a search is reported depth by depth", options, async () => {
  const client = new Client(url);
  const told = [];
  for await (const event of client.stream("search", game, { depth: 3 })) told.push(event);
  assert.deepEqual([told[0].event, told.at(-1).event], ["started", "result"]);
  assert.equal(told.at(-1).result.depth, told.at(-2).depth);
  for await (const event of client.stream("analyse", game, { position })) told.push(event);
  assert.equal(told.at(-1).result.scores["7"], 1);
});

test("a search ends when it is stopped or left", options, async () => {
  const client = new Client(url);
  const search = client.stream("search", game, { engine: "mcts", seconds: 30 });
  let last;
  for await (const event of search) {
    last = event;
    search.stop();
  }
  assert.notEqual(last.result.reason, "time limit");
  const long = { engine: "mcts", seconds: 30 };
  for await (const event of client.stream("search", game, long)) {
    if (event.event === "started") break;
  }
  while ((await client.health()).searching > 0);
  const signal = AbortSignal.timeout(100);
  await client.search(game, long, { signal }).catch((error) => {
    assert.equal(error.name, "TimeoutError");
  });
  while ((await client.health()).searching > 0);
});

test("the examples of the README and the guide print what they show", options, async (context) => {
  const folder = await mkdtemp(join(tmpdir(), "cutnode-"));
  context.after(() => rm(folder, { recursive: true }));
  const pages = ["../README.md", "../../docs/howto/serve.md"];
  const texts = await Promise.all(
    pages.map((page) => readFile(new URL(page, import.meta.url), "utf8")),
  );
  const examples = [...texts.join("\n").matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code);
  assert.equal(examples.length, 4);
  for (const [number, code] of examples.entries()) {
    const file = join(folder, `${number}.mjs`);
    const client = JSON.stringify(import.meta.resolve("cutnode-client"));
    const text = code.replaceAll('"cutnode-client"', client).replaceAll("http://localhost:8000", url);
    await writeFile(file, text);
    const log = context.mock.method(console, "log", () => {});
    await import(pathToFileURL(file).href);
    const printed = log.mock.calls.map(({ arguments: said }) => said.map(textOf).join(" "));
    log.mock.restore();
    const shown = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
    assert.deepEqual(printed.slice(0, shown.length), shown);
  }
});

const textOf = (said) => (typeof said === "string" ? said : JSON.stringify(said));
