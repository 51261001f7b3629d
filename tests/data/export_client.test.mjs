/** The client of an exported game: hexapawn on a board of 3x4, and a game whose searches are long. */

import assert from "node:assert/strict";
import { after, test } from "node:test";

const { PACKAGE, GAME, LONG_PACKAGE, LONG_GAME, UNSHARED } = process.env;
if (UNSHARED) globalThis.crossOriginIsolated = false; // as in a page without isolation
const { Client, ConnectionError, ServiceError } = await import(PACKAGE);
const long = await import(LONG_PACKAGE);

const client = new Client({ table: 2, tree: 2, workers: 2 });
const slow = new long.Client({ table: 2, workers: 2 });
after(() => {
  client.close();
  slow.close();
});

async function refused(promise, kind, message, where) {
  await assert.rejects(promise, (error) => {
    assert.equal(error.message, message);
    assert.ok(error instanceof ServiceError || error instanceof long.ServiceError);
    assert.equal(error.kind, kind);
    if (where) assert.equal(error.where, where);
    return true;
  });
}

test("the game is described", async () => {
  const { games, levels } = await client.games();
  assert.deepEqual(
    games.map((game) => game.name),
    [GAME],
  );
  assert.deepEqual(levels, ["easy", "medium", "hard", "expert"]);
  const game = await client.game(GAME);
  assert.equal(game.solvable, true);
  const board = await client.board(GAME);
  assert.equal(board.places.length, 12);
  assert.equal(board.editable, false);
  assert.equal((await client.health()).status, "ready");
});

test("positions are the moves that lead there", async () => {
  const start = await client.position(GAME);
  assert.equal(start.position, "");
  assert.equal(start.player, 0);
  assert.equal(start.over, false);
  const [move] = start.moves;
  assert.equal(move.position, move.move);
  assert.equal(move.again, false);
  const next = await client.position(GAME, move.position);
  assert.equal(next.player, 1);
  for (const [cell, content] of move.changes) assert.equal(next.cells[cell], content);
  assert.equal(
    next.cells.filter((content, cell) => content !== start.cells[cell]).length,
    move.changes.length,
  );
  const more = await client.position(GAME, next.moves[0].position.replace(" ", ", "));
  assert.equal(more.position, next.moves[0].position);
});

test("a game is played to its end", async () => {
  let view = await client.position(GAME);
  while (!view.over) view = await client.position(GAME, view.moves[0].position);
  assert.equal(typeof view.value, "number");
  assert.deepEqual(view.moves, []);
  const solved = await client.solve(GAME, { position: view.position });
  assert.equal(solved.value, view.value);
  assert.equal(solved.proven, true);
  const found = await client.search(GAME, { position: view.position, depth: 3 });
  assert.equal(found.best_move, null);
  assert.equal(found.proven, true);
  await refused(
    client.move(GAME, { position: view.position }),
    "refused by the game",
    "no move to choose: the game is over, or chance decides",
  );
});

test("the values of all moves agree with the value of the position", async () => {
  const solved = await client.analyse(GAME);
  assert.equal(Math.max(...Object.values(solved.scores)), solved.value);
  assert.equal(solved.scores[solved.best_move], solved.value);
  const found = await client.search(GAME, { depth: 40, lines: 20 });
  assert.equal(found.reason, "proven");
  assert.equal(found.lines.length, Object.keys(solved.scores).length);
  for (const { move, value, verdict, points } of found.lines) {
    assert.equal(points, (1 + Math.sign(value)) / 2);
    assert.equal(Math.sign(value), Math.sign(solved.scores[move]));
    assert.equal(verdict, value > 0 ? "win" : value < 0 ? "loss" : "draw");
  }
  const one = await client.search(GAME, { depth: 40 });
  assert.equal(one.value, found.value);
});

test("moves can be chosen, and earlier positions given", async () => {
  const { moves } = await client.position(GAME);
  const found = await client.search(GAME, { depth: 4, moves: [moves.at(-1).move] });
  assert.equal(found.best_move, moves.at(-1).move);
  const position = (await client.position(GAME, moves[0].position)).moves[0].position;
  const history = ["", moves[0].position];
  assert.equal((await client.search(GAME, { depth: 4, position, history })).position, position);
  await refused(
    client.search(GAME, { depth: 4, position, history: [""] }),
    "no such position",
    "position does not follow by a move from history[0]",
    "body.position",
  );
});

test("levels, counts and playouts", async () => {
  const { moves } = await client.position(GAME);
  const texts = moves.map((move) => move.move);
  for (const level of ["easy", "medium", "hard"]) {
    assert.ok(texts.includes((await client.move(GAME, { level })).move));
  }
  assert.equal((await client.perft(GAME, { depth: 1 })).lines, moves.length);
  const [five, six] = await Promise.all([5, 6].map((depth) => client.perft(GAME, { depth })));
  assert.ok(six.lines > five.lines);
  const found = await client.search(GAME, { engine: "mcts", playouts: 100 });
  assert.ok(found.playouts > 0 && found.playouts <= 100);
  assert.ok(texts.includes(found.best_move));
});

test("a stream reports each depth", async () => {
  const events = [];
  for await (const event of client.stream("search", GAME, { depth: 4, lines: 2 }))
    events.push(event);
  assert.deepEqual([events[0].event, events.at(-1).event], ["started", "result"]);
  const depths = events.filter((event) => event.event === "iteration").map((event) => event.depth);
  assert.deepEqual(depths, [2, 3, 4]);
  assert.deepEqual(events.at(-2).lines, events.at(-1).result.lines);
});

test("an abort ends a search", async () => {
  const signal = AbortSignal.timeout(200);
  await assert.rejects(slow.search(LONG_GAME, { depth: 60 }, { signal }), { name: "TimeoutError" });
  await assert.rejects(slow.solve(LONG_GAME, {}, { signal }), { name: "TimeoutError" });
  const found = await slow.search(LONG_GAME, { depth: 2 });
  assert.equal(found.depth, 2);
});

test("a stopped stream ends with its best so far", async () => {
  const search = slow.stream("search", LONG_GAME, { depth: 60 });
  let result = null;
  for await (const event of search) {
    if (event.event === "iteration" && event.depth >= 3) search.stop();
    if (event.event === "result") ({ result } = event);
  }
  assert.equal(result.reason, "stopped");
  assert.ok(result.depth >= 3);
  assert.ok(result.best_move !== null);
  const proof = slow.stream("solve", LONG_GAME, {});
  for await (const event of proof) {
    if (event.event === "started") setTimeout(() => proof.stop(), 200);
    if (event.event === "result") ({ result } = event);
  }
  assert.equal(result.proven, false);
  assert.equal(result.reason, "stopped");
});

test("leaving the loop ends the search", async () => {
  for await (const event of slow.stream("search", LONG_GAME, { depth: 60 })) {
    if (event.event === "iteration") break;
  }
  assert.equal((await slow.search(LONG_GAME, { depth: 2 })).depth, 2);
});

test("several engines run at once, and the others wait", async () => {
  const asked = Array.from({ length: 5 }, () => slow.search(LONG_GAME, { depth: 6 }));
  const nodes = (await Promise.all(asked)).map((found) => found.nodes);
  assert.equal(new Set(nodes).size, 1);
  assert.ok((await slow.health()).engines <= 2);
});

test("limits end a search", async () => {
  const found = await slow.search(LONG_GAME, { nodes: 5000 });
  assert.equal(found.reason, "node limit");
  assert.ok(found.nodes <= 5000);
  assert.equal((await slow.search(LONG_GAME, { seconds: 0.1, lines: 3 })).reason, "time limit");
  assert.equal((await slow.perft(LONG_GAME, { depth: 30, seconds: 0.1 })).lines, null);
});

test("wrong input gets one line", async () => {
  const limits = "a whole number from 1 to 63";
  await refused(
    client.search(GAME, { depth: "8" }),
    "bad request",
    `depth must be ${limits}, got "8"`,
    "body.depth",
  );
  await refused(
    client.search(GAME, { depth: NaN }),
    "bad request",
    `depth must be ${limits}, got NaN`,
  );
  await refused(
    client.search(GAME, { seconds: 0 }),
    "bad request",
    "seconds must be a positive number, got 0",
  );
  await refused(
    client.search(GAME, { engine: "mcts", depth: 3 }),
    "bad request",
    "depth is an option of alphabeta, not of mcts",
  );
  await refused(
    client.search(GAME, { lines: 0 }),
    "bad request",
    "lines must be a whole number from 1 to 256, got 0",
  );
  await refused(client.search(GAME, "4"), "bad request", 'a request must be an object, got "4"');
  await refused(
    client.move(GAME, { level: "god" }),
    "bad request",
    "there is no level 'god'; levels are easy, medium, hard, expert",
  );
  await refused(client.perft(GAME, {}), "bad request", "depth is missing");
  await refused(
    client.game("chess"),
    "no such game",
    `unknown game 'chess'; games are ${GAME}`,
    "path.game",
  );
  await refused(
    client.position(GAME, "words:1.2"),
    "no such position",
    "'words:1.2': a position has 3 words, got 2",
  );
  await refused(
    client.position(GAME, "words:1.2.3"),
    "no such position",
    "'words:1.2.3': the words are no position of this game: their seal does not fit",
  );
  await refused(
    client.position(GAME, "words:z"),
    "no such position",
    "'words:z': these are no hexadecimal words",
  );
  await refused(
    client.evaluate(GAME),
    "refused by the game",
    "an export has no static evaluation; search with a depth instead",
  );
  await refused(client.tree(GAME), "refused by the game", "an export does not record search trees");
  await refused(
    client.search(GAME, { depth: 1, table: 65000 }),
    "too large",
    "there is not enough memory for a table of 65000 MiB",
  );
  await refused(
    slow.search(LONG_GAME, { engine: "mcts" }),
    "refused by the game",
    `this export of ${LONG_GAME} has no mcts; it has rules, search, solve`,
  );
  await assert.rejects(
    client.position(GAME, "x"),
    /^ServiceError: move 1 of 'x': 'x' is not a legal move; /,
  );
  assert.throws(
    () => new Client({ workers: 0 }),
    /^TypeError: workers must be a whole number from 1, got 0/,
  );
  for await (const event of client.stream("solve", GAME)) assert.ok(event.event);
  await assert.rejects(async () => {
    for await (const event of client.stream("move", GAME)) assert.fail(event.event);
  }, /a move cannot be streamed; search, solve, analyse can/);
});

test("a closed client ends its searches", async () => {
  const other = new long.Client({ table: 1 });
  const asked = other.search(LONG_GAME, { depth: 60 });
  setTimeout(() => other.close(), 200);
  await assert.rejects(asked, { name: "ConnectionError", message: "the client is closed" });
  assert.equal(ConnectionError.name, "ConnectionError");
});
