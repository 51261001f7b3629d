/** The page: a game, its board, and the handling of user actions. */

import { Analysis } from "./analysis.js";
import { BoardDrawing } from "./board.js";
import { Connection, Searches } from "./connection.js";
import { Editor } from "./editor.js";
import { html } from "./elements.js";
import { Exchange, textOf } from "./exchange.js";
import { cellMeant, gestureOf, matching, meaningOf } from "./gestures.js";
import { drawGraph } from "./graph.js";
import { GameMenu } from "./menu.js";
import {
  MoveList,
  drawBar,
  drawLegend,
  listPlayers,
  listRecord,
  offerChance,
  offerMoves,
  tellAnalysis,
} from "./panels.js";
import { Puzzles } from "./puzzles.js";
import { Reasons } from "./reasons.js";
import { GameRecord, plyOf } from "./record.js";
import { CHOICES, Settings } from "./settings.js";
import { drawTree } from "./tree.js";
import { judged } from "./values.js";

const PERSON = "person";
const ROLL_PAUSE = 500;
const LINE_STEPS = 4;
const LINE_ARROWS = 2;
const MOST_BUTTONS = 64;
const MOST_HISTORY = 512;
const UNDECLARED = 32000; // the limit of values of a game that declares none
const WHOLE_SECONDS = 1;
const EARLY = " · that move came from plain Python: the game is being compiled";

const part = (id) => document.getElementById(id);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

class Page {
  levels = [];
  notes = [];
  game = null;
  board = null;
  drawing = null;
  record = null;
  view = null;
  clicks = [];
  line = { steps: new Map(), arrows: [] };
  players = [PERSON, PERSON];
  seed = 0;
  /** Whether the search for the last move of a level was compiled. */
  compiled = true;
  #address = location.hash;
  #views = new Map();
  #opening = 0;
  #turn = 0;
  #drawn = false;
  #whole = false;
  #listed = null;

  constructor() {
    this.connection = new Connection();
    this.searches = new Searches(this.connection);
    this.analysis = new Analysis(this.searches);
    this.exchange = new Exchange(this.connection);
    this.reasons = new Reasons(this.connection, part("why"));
    this.editor = new Editor(
      {
        form: part("editor"),
        palette: part("palette"),
        mover: part("mover"),
        label: part("mover-label"),
        clear: part("clear"),
        done: part("done"),
        cancel: part("cancel"),
      },
      {
        change: () => this.draw(),
        finish: (cells, mover) => this.act(() => this.setUp(cells, mover)),
        cancel: () => this.endEdit(),
      },
    );
    this.puzzles = new Puzzles(this.connection, this);
    this.menu = new GameMenu((name) => this.act(() => this.open(name)));
    this.settings = new Settings();
    const play = (move) => this.act(() => this.play(move));
    this.moves = new MoveList(part("moves"), play, () => this.draw());
    this.#listen();
    drawLegend(part("legend"));
  }

  async start() {
    this.#listed = this.connection.get("games").then((answer) => {
      this.levels = answer.levels;
      this.settings.offerSizes(answer.limits);
      this.menu.list(answer.games);
      const kept = this.settings.players ?? this.players;
      this.players = kept.map((player) => (this.levels.includes(player) ? player : PERSON));
      if (this.record) this.#listPlayers();
      if (this.view) this.#goOn(this.#turn);
    });
    if (location.hash.length > 1) await this.attempt(() => this.openAddress());
    await this.#listed;
    if (this.record) return;
    part("about").textContent = "Choose a game.";
    this.menu.fill(part("board"));
  }

  /** Do what the user asks, and clear the error and the notes of the previous action. */
  act(action) {
    this.notes = [];
    part("error").hidden = true;
    return this.attempt(action);
  }

  /** Do something; if the service refuses, show its message until the user's next action. */
  async attempt(action) {
    try {
      return await action();
    } catch (error) {
      if (error.name !== "Error") throw error;
      part("error").textContent = error.message;
      part("error").hidden = false;
      return null;
    }
  }

  // Games and positions

  async openAddress() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const kept = GameRecord.kept();
    const position = asked.get("position") ?? "";
    const game = asked.get("game") ?? "";
    if (!game) throw new Error(`the address must name a game, as in #game=tictactoe; got ${location.hash}`);
    try {
      if (asked.has("puzzles")) await this.puzzles.openOffered();
      else if (asked.has("record")) await this.read(asked.get("record"), { name: game }, position);
      else await this.open(game, position, kept);
    } catch (error) {
      if (error.name === "Error" && position && !this.record) await this.open(game);
      throw error;
    }
  }

  /** Return the answer of the service, or null if the user has opened something else meanwhile. */
  async #latest(answer) {
    const opening = ++this.#opening;
    const latest = () => opening === this.#opening;
    try {
      const given = await answer;
      return latest() ? given : null;
    } catch (error) {
      if (latest()) throw error;
      return null;
    }
  }

  /** Open a game at a position, or a saved game. */
  async open(name, position = "", kept = null) {
    if (/^\.*$|\//.test(name)) throw new Error(`unknown game '${name}'`);
    const path = `games/${encodeURIComponent(name)}`;
    const answers = await this.#latest(
      Promise.all([
        this.connection.get(path),
        this.connection.get(`${path}/board`),
        this.connection.get(`${path}/position`, { position }),
      ]),
    );
    if (!answers) return;
    const [game, board, view] = answers;
    this.analysis.stop();
    if (game.name !== this.game?.name) this.analysis.known.clear();
    Object.assign(this, { game, board, seed: Math.floor(Math.random() * 2 ** 32) });
    this.#views = new Map([[view.position, view]]);
    this.editor.end();
    const place = part("board");
    this.drawing = board && new BoardDrawing(place, board, this.#handlers());
    if (!board) place.replaceChildren(html("pre", { class: "text-board", tabindex: 0 }));
    document.title = `${name} · cutnode`;
    part("about").textContent = game.about;
    part("edit").hidden = !board?.editable;
    part("flip").hidden = !board;
    part("save-own").hidden = !game.record_suffix;
    part("save-own").textContent = `Save as ${(game.record_suffix ?? "").slice(1).toUpperCase()}`;
    part("tree").replaceChildren();
    this.menu.show(game);
    this.#listPlayers();
    this.begin(view, kept);
    await this.show();
  }

  /** Start a record at a position, or continue a saved one. */
  begin(view, kept = null) {
    this.compiled = true;
    this.reasons.clear();
    this.record = kept ?? new GameRecord(this.game.name, [plyOf(view.position)]);
    this.notes = [];
  }

  /** Open a recorded game of a text at one of its positions, or else at its end. */
  async read(text, game = this.game, position = "") {
    const reading = this.#listed.then(() => this.exchange.read(text, game, this.menu.games, position));
    const found = await this.#latest(reading);
    if (!found) return;
    const { record, notes } = found;
    await this.open(record.game, record.ply.position, record);
    this.notes = notes;
    this.draw();
  }

  async viewOf(position) {
    const known = this.#views.get(position);
    if (known) return known;
    const path = `games/${encodeURIComponent(this.game.name)}/position`;
    const view = await this.connection.get(path, { position });
    this.#views.set(position, view);
    return view;
  }

  /** Show the current ply of the record. */
  async show() {
    const { ply } = this.record;
    const turn = ++this.#turn;
    this.view = null; // until it arrives, nothing is drawn and clicks are ignored
    const view = await this.viewOf(ply.position);
    if (turn !== this.#turn) return;
    this.view = this.#inGame(view);
    this.clicks = [];
    this.line = { steps: new Map(), arrows: [] };
    this.gestures = this.#gestures(this.view);
    ply.recurrence = view.recurrence;
    ply.side = view.player ?? ply.side ?? (this.over ? null : 0);
    if (this.over) {
      const { value } = this.view;
      const verdict = value > 0 ? "win" : value < 0 ? "loss" : "draw";
      this.#share(ply, { value: value ?? 0, verdict, distance: 0 });
    }
    this.#keep();
    this.draw();
    this.#analyse();
    this.#goOn(turn);
  }

  /** Save the game, and its address, unless the user has just typed another. */
  #keep() {
    this.record.keep();
    if (location.hash !== this.#address) return;
    history.replaceState(null, "", this.record.fragment);
    this.#address = location.hash;
  }

  #gestures(view) {
    if (!this.board) return [];
    const moves = view.moves.filter((move) => move.changes.length);
    return moves.map((move) => gestureOf(move, view.cells, this.board.contents));
  }

  get names() {
    return this.board?.names ?? ["first player", "second player"];
  }

  get #drawsRepetitions() {
    return (this.game.repetition ?? "draw") === "draw"; // an older service does not say
  }

  /** The view of a position in its game, where a repetition is no draw: see `REPETITION`. */
  #inGame(view) {
    const { repetition, limit } = this.game;
    if (this.#drawsRepetitions || view.over) return view;
    const most = limit < UNDECLARED ? limit : 1;
    const before = this.record.plies.slice(0, this.record.at);
    const met = new Set(before.map((ply) => ply.recurrence));
    if (repetition === "illegal") {
      const stays = (word) => word === null || word === view.recurrence;
      const moves = view.moves.filter((m) => stays(m.recurrence) || !met.has(m.recurrence));
      const stuck = !moves.length && !view.chance.length;
      return { ...view, moves, ...(stuck && { over: true, value: -most }) };
    }
    if (!met.has(view.recurrence) || before.at(-1).recurrence === view.recurrence) return view;
    const same = before.at(-1).side === (view.player ?? this.record.ply.side);
    return { ...view, over: true, value: (repetition === "loss") === same ? -most : most };
  }

  get repeated() {
    if (!this.#drawsRepetitions) return false;
    return this.game.repetitions !== null && this.record.occurrences >= this.game.repetitions;
  }

  get over() {
    return this.view.over || this.repeated;
  }

  // Playing the game

  async play(move) {
    if (!this.view) return;
    this.#add(move);
    await this.show();
    await this.puzzles.judge();
  }

  #add(move) {
    const { side } = this.record.ply;
    const changed = move.changes.map(([cell]) => cell);
    const given = { move: move.move, side: move.again ? side : 1 - side, changed };
    this.record.add(plyOf(move.position, given));
  }

  /** Add moves after the ply that is shown, which stays shown. */
  async extend(texts) {
    const { record } = this;
    const { ply } = record;
    for (const text of texts) {
      const view = await this.viewOf(record.ply.position);
      const move = view.moves.find((other) => other.move === text);
      if (!move || this.record !== record) break;
      this.#add(move);
    }
    record.show(ply);
    if (this.record === record) await this.show();
  }

  meet(outcome) {
    if (!this.view) return null;
    const { side } = this.record.ply;
    const given = { chance: outcome.text, outcome: this.view.chance.indexOf(outcome) };
    given.side = outcome.again ? side : 1 - side;
    this.record.add(plyOf(outcome.position, given));
    return this.show();
  }

  roll() {
    if (!this.view) return null;
    let rest = Math.random();
    const met = this.view.chance.find(({ probability }) => (rest -= probability) < 0);
    return this.meet(met ?? this.view.chance.at(-1));
  }

  /** Make the move of a level whose turn it is, or the automatic roll of the dice. */
  async #goOn(turn) {
    const { record, view } = this;
    if (this.over || this.editor.open || record.at < record.plies.length - 1) return;
    if (this.puzzles.unsolved) return;
    const player = this.players[record.ply.side];
    if (view.chance.length) {
      if (!part("auto-roll")?.checked) return;
      await pause(ROLL_PAUSE);
      if (turn === this.#turn) await this.attempt(() => this.roll());
    } else if (player !== PERSON) {
      const path = `games/${encodeURIComponent(this.game.name)}/move`;
      const asked = { position: view.position, level: player, seed: this.seed };
      if (!this.#drawsRepetitions) asked.history = this.#history();
      const answer = await this.attempt(() => this.connection.post(path, asked));
      if (answer === null || turn !== this.#turn) return;
      this.compiled = answer.compiled;
      await this.attempt(() => this.play(view.moves.find((move) => move.move === answer.move)));
    }
  }

  go(at) {
    if (!this.editor.open && this.record?.go(at)) this.act(() => this.show());
  }

  /** Go to any ply, or to none. */
  goTo(ply) {
    if (this.editor.open || !ply || ply === this.record.ply) return;
    this.record.show(ply);
    this.act(() => this.show());
  }

  /** Change the tree of the record; the ply that is shown changes with it. */
  #change(action) {
    if (this.editor.open || !this.view) return;
    action(this.record);
    this.act(() => this.show());
  }

  promote() {
    if (this.record.variation) this.#change((record) => record.promote());
  }

  remove() {
    const { ply } = this.record;
    const question = `Delete ${ply.move ?? ply.chance} and all that follows?`;
    if (ply.parent && (!ply.children.length || confirm(question))) this.#change((record) => record.remove());
  }

  async setUp(cells, mover) {
    const path = `games/${encodeURIComponent(this.game.name)}/setup`;
    const view = await this.#latest(this.connection.post(path, { cells, mover }));
    if (!view) return;
    this.#views.set(view.position, view);
    this.endEdit();
    this.begin(view);
    await this.show();
  }

  endEdit() {
    this.editor.end();
    this.act(() => this.show());
  }

  // Analysis

  #history() {
    if (this.game.repetitions === null || this.game.tablebase) return [];
    const before = this.record.plies.slice(0, this.record.at);
    return before.map((ply) => ply.position).slice(-MOST_HISTORY);
  }

  get #analyses() {
    return part("analyse").checked && !this.puzzles.unsolved;
  }

  async #analyse() {
    if (!this.view) return;
    const wanted = this.#analyses && !this.editor.open && !this.over;
    if (!wanted) return this.analysis.stop();
    await this.analysis.run(this.game, this.view, this.#history(), this.settings.choice);
  }

  async #analyseWhole() {
    this.#whole = !this.#whole;
    part("whole").textContent = this.#whole ? "Stop" : "Analyse whole game";
    const { record, game } = this;
    for (const ply of record.plies) {
      if (!this.#whole || this.record !== record) break;
      const view = await this.viewOf(ply.position);
      if (view.over || view.chance.length) continue;
      await this.analysis.run(game, view, [], { ...this.settings.choice, seconds: WHOLE_SECONDS });
      const best = this.analysis.known.get(ply.position)?.ordered[0];
      if (best) this.#share(ply, best);
      this.draw();
    }
    this.#whole = false;
    part("whole").textContent = "Analyse whole game";
    if (this.record === record) this.#keep();
  }

  /** Explain the position that is shown, or the move that led to it. */
  async #explain(last) {
    const { record, game } = this;
    const { ply } = record;
    const shown = last ? { position: ply.parent.position, move: ply.move } : { position: ply.position };
    const history = last ? this.#history().slice(0, -1) : this.#history();
    await this.reasons.explain(game.name, { ...shown, history, ...this.settings.limits }, ply);
  }

  async #review() {
    const { record } = this;
    const seconds = WHOLE_SECONDS * record.plies.length;
    await this.reasons.review(record, { ...this.settings.limits, seconds }, (at) => this.go(at));
    if (this.record !== record) return;
    this.#keep();
    this.draw();
  }

  #share(ply, score) {
    const share = judged(score, this.game).share;
    if (ply.side !== null) ply.share = ply.side === 0 ? share : -share;
  }

  /** Find the part of the best line to show on the board. */
  async #followLine() {
    const { view } = this;
    const known = this.analysis.known.get(view.position);
    const line = this.board && part("show-line").checked ? (known?.line ?? []) : [];
    const found = { key: line.slice(0, LINE_STEPS).join(" "), steps: new Map(), arrows: [] };
    if (this.line.key === found.key) return;
    this.line.key = found.key;
    let at = view;
    for (const [number, text] of line.slice(0, LINE_STEPS).entries()) {
      const move = at.moves.find((other) => other.move === text);
      if (!move) break;
      const gesture = gestureOf(move, at.cells, this.board.contents);
      if (gesture.second !== null) {
        const [from, to] = [...gesture.second][0];
        if (number < LINE_ARROWS) found.arrows.push([from, to[0]]);
      } else if (gesture.first.length && !found.steps.has(gesture.first[0])) {
        found.steps.set(gesture.first[0], number + 1);
      }
      if (number + 1 < Math.min(line.length, LINE_STEPS)) at = await this.viewOf(move.position);
      if (this.view !== view) return;
    }
    if (this.view !== view || this.line.key !== found.key) return;
    this.line = found;
    this.draw();
  }

  // Clicks

  #handlers() {
    return {
      onCell: (cell, dropped) => this.#click(cell, dropped),
      onEscape: () => this.#unclick(),
      canDrag: (cell) => !this.editor.open && this.gestures.some((g) => g.first.includes(cell)),
    };
  }

  #click(cell, dropped) {
    if (!this.view) return;
    if (this.editor.open) return this.editor.put(cell);
    if (!this.clicks.length) cell = cellMeant(this.gestures, this.board, cell);
    if (this.clicks.includes(cell) && !dropped) return this.#unclick();
    let meaning = meaningOf(this.gestures, [...this.clicks, cell]);
    this.clicks = meaning ? [...this.clicks, cell] : [];
    if (!meaning && !dropped) {
      meaning = meaningOf(this.gestures, [cell]);
      if (meaning) this.clicks = [cell];
    }
    if (meaning?.move) return this.act(() => this.play(meaning.move));
    this.draw();
  }

  #unclick() {
    this.clicks = [];
    this.draw();
  }

  // Drawing

  /** Draw everything, at most once per frame. */
  draw() {
    if (this.#drawn || !this.view) return;
    this.#drawn = true;
    requestAnimationFrame(() => {
      this.#drawn = false;
      if (this.view) this.#draw();
    });
  }

  #draw() {
    const { record, view, game } = this;
    const { ply } = record;
    const known = this.#analyses ? this.analysis.known.get(view.position) : undefined;
    if (known?.ordered[0]) this.#share(ply, known.ordered[0]);
    const meaning = this.clicks.length ? meaningOf(this.gestures, this.clicks) : null;
    this.#drawBoard(known, meaning);
    this.#drawChoices(known, meaning);
    this.#drawChance();
    const shown = [this.board ? withoutMover(view.caption) : "", ...view.notes, ...this.notes];
    part("caption").textContent = shown.filter((line) => line).join("\n");
    part("status").textContent = this.#status();
    const end = record.plies.length - 1;
    for (const [id, off] of [["first", record.at === 0], ["undo", record.at === 0]]) {
      part(id).disabled = off || this.editor.open;
    }
    for (const id of ["redo", "last"]) part(id).disabled = record.at === end || this.editor.open;
    const nothing = this.over ? "The game is over." : view.chance.length ? "Waiting for the roll." : "";
    tellAnalysis(
      { verdict: part("verdict"), progress: part("progress"), line: part("line") },
      this.over ? undefined : known,
      game,
      {
        on: this.#analyses,
        waiting: this.analysis.waiting,
        compiling: this.analysis.compiling,
        error: this.analysis.error,
        mover: this.names[ply.side],
        nothing,
      },
    );
    this.moves.show(this.over ? [] : view.moves, known, game);
    this.puzzles.draw();
    this.#drawRecord();
    drawGraph(part("graph"), record.plies.map((p) => p.share ?? null), record.at, (at) => this.go(at));
    Object.assign(part("ply"), { max: end, value: record.at });
    if (document.activeElement !== part("text")) part("text").value = view.position;
    if (known && part("show-line").checked) this.attempt(() => this.#followLine());
  }

  #drawRecord() {
    const { record } = this;
    const { ply } = record;
    listRecord(part("record"), record, (chosen) => this.goTo(chosen));
    const headers = Object.entries(record.headers).filter(([, value]) => !/^[?.*]*$/.test(value));
    part("headers").textContent = headers.map(([name, value]) => `${name}: ${value}`).join(" · ");
    this.reasons.leave(ply);
    part("explain").disabled = this.editor.open;
    part("explain-move").disabled = this.editor.open || ply.move === null;
    part("review").disabled = this.editor.open || record.plies.length < 2;
    part("promote").disabled = this.editor.open || !record.variation;
    part("remove").disabled = this.editor.open || !ply.parent;
    part("mark").disabled = !ply.parent;
    part("mark").value = ply.mark;
    if (document.activeElement !== part("comment")) part("comment").value = ply.comment;
    drawBar(part("bar"), ply.share, this.names);
  }

  #drawBoard(known, meaning) {
    const { view, record } = this;
    const place = part("board");
    if (!this.board) {
      place.firstChild.textContent = view.board;
      return;
    }
    const editing = this.editor.open;
    const line = part("show-line").checked && !editing ? this.line : { arrows: [] };
    const changed = editing ? [] : record.ply.changed;
    const isWon = !editing && view.over && Boolean(view.value);
    const row = view.winning_line?.length ? view.winning_line : changed;
    this.drawing.show({
      cells: editing ? this.editor.cells : view.cells,
      label: `${this.game.name}, ${part("status").textContent}`,
      last: isWon ? [] : changed,
      won: isWon ? row : [],
      chosen: this.clicks,
      next: meaning ? [...meaning.next] : [],
      parts: editing ? [] : (view.parts ?? []),
      marks: editing || this.over ? null : this.#marks(known),
      arrows: this.clicks.length ? [] : line.arrows,
      steps: this.clicks.length ? null : line.steps,
    });
  }

  /** Return, for each cell, the value of the best move that a click on it may make. */
  #marks(known) {
    const marks = new Map();
    if (!known) return marks;
    const found = matching(this.gestures, this.clicks);
    const ranks = new Map(known.ordered.map((score, rank) => [score.move, rank]));
    for (const gesture of found) {
      const move = gesture.move.move;
      const rank = ranks.get(move);
      if (rank === undefined) continue;
      const chosen = this.clicks.length && gesture.second?.get(this.clicks[0]);
      const cells = chosen || (this.clicks.length ? gesture.changed : gesture.first);
      for (const cell of cells) {
        if (this.clicks.includes(cell) || marks.get(cell)?.rank <= rank) continue;
        const { kind, label, words } = judged(known.scores.get(move), this.game);
        marks.set(cell, { rank, kind, label, words, best: known.best.has(move) });
      }
    }
    return marks;
  }

  /** Offer the moves that the clicks leave open, and the moves that no click can make. */
  #drawChoices(known, meaning) {
    const place = part("choices");
    const open = meaning?.choices ?? [];
    const others = this.board ? this.view.moves.filter((m) => !m.changes.length) : this.view.moves;
    const offered = this.editor.open || this.over ? [] : open.length ? open : others;
    place.hidden = !offered.length;
    const play = (move) => this.act(() => this.play(move));
    offerMoves(place, offered.slice(0, MOST_BUTTONS), known, this.game, play);
  }

  #drawChance() {
    const place = part("chance");
    place.hidden = !this.game.chance;
    offerChance(place, this.editor.open || this.over ? [] : this.view.chance, {
      meet: (outcome) => this.act(() => this.meet(outcome)),
      roll: () => this.act(() => this.roll()),
      changed: () => this.act(() => this.show()),
    });
  }

  #status() {
    const { view, record } = this;
    const { side } = record.ply;
    if (this.editor.open) return "Setting up a position";
    if (view.over && view.meaning) return capital(view.meaning);
    if (view.over && view.value) {
      if (side === null) return `The player to move ${view.value > 0 ? "has won" : "has lost"}`;
      const by = this.game.decisive ? "" : ` by ${Math.abs(view.value)}`;
      return capital(`${this.names[view.value > 0 ? side : 1 - side]} wins${by}`);
    }
    if (view.over) return "Draw";
    if (this.repeated) return "Draw by repetition";
    if (view.chance.length) return capital(`${this.names[side]} to roll`);
    const level = this.players[side];
    const last = record.at === record.plies.length - 1;
    if (last && level !== PERSON) return capital(`${this.names[side]} (${level}) is thinking`);
    const early = last && record.at > 0 && !this.compiled;
    return capital(`${this.names[side]} to move${early ? EARLY : ""}`);
  }

  #listPlayers() {
    listPlayers(part("players"), this.names, this.levels, this.players, (side, player) => {
      this.players[side] = player;
      this.settings.keep(this.players);
      this.act(() => this.show());
    });
  }

  // User actions

  #listen() {
    const on = (id, event, action) => part(id).addEventListener(event, action);
    on("first", "click", () => this.go(0));
    on("undo", "click", () => this.go(this.record.at - 1));
    on("redo", "click", () => this.go(this.record.at + 1));
    on("last", "click", () => this.go(this.record.plies.length - 1));
    on("ply", "input", () => this.go(Number(part("ply").value)));
    on("flip", "click", () => this.#flip());
    on("promote", "click", () => this.promote());
    on("remove", "click", () => this.remove());
    on("comment", "input", () => {
      this.record.ply.comment = part("comment").value.trim();
      this.#keep();
      this.draw();
    });
    on("mark", "change", () => {
      this.record.ply.mark = part("mark").value;
      this.#keep();
      this.draw();
    });
    on("help", "click", () => part("helping").showModal());
    on("theme", "change", () => {
      this.settings.keep(this.players);
      this.settings.showTheme();
    });
    this.#listenToFiles(on);
    on("edit", "click", () => {
      if (!this.view) return;
      this.analysis.stop();
      ++this.#turn;
      this.clicks = [];
      this.editor.begin(this.board, this.view.cells, this.record.ply.side);
      this.draw();
    });
    on("load", "submit", (event) => {
      event.preventDefault();
      part("text").blur();
      this.act(() => this.open(this.game.name, part("text").value));
    });
    on("copy", "click", () => copy(this.record.ply.position, part("copy")));
    on("copy-game", "click", () => copy(this.record.text, part("copy-game")));
    on("copy-link", "click", () => this.act(() => copy(this.record.link, part("copy-link"))));
    on("explain", "click", () => this.act(() => this.#explain(false)));
    on("explain-move", "click", () => this.act(() => this.#explain(true)));
    on("review", "click", () => this.act(() => this.#review()));
    on("whole", "click", () => this.act(() => this.#analyseWhole()));
    on("grow", "submit", (event) => {
      event.preventDefault();
      this.act(() => this.#grow());
    });
    for (const id of ["analyse", "show-line", ...CHOICES]) {
      on(id, "change", () => {
        this.settings.keep(this.players);
        this.draw();
        if (this.view && id !== "show-line") this.act(() => this.#analyse());
      });
    }
    this.analysis.addEventListener("change", () => this.draw());
    this.connection.addEventListener("change", () => this.#tellConnection());
    document.addEventListener("keydown", (event) => this.#key(event));
    addEventListener("hashchange", () => {
      this.#address = location.hash;
      if (location.hash.length < 2 && this.record) this.#keep();
      else if (location.hash !== this.record?.fragment) this.act(() => this.openAddress());
    });
  }

  #listenToFiles(on) {
    on("open-game", "click", () => part("importing").showModal());
    on("import-cancel", "click", () => part("importing").close());
    on("game-file", "change", () => {
      const [file] = part("game-file").files;
      if (file) this.#import(async () => (part("game-text").value = await textOf(file)));
    });
    on("import", "click", (event) => {
      event.preventDefault();
      this.#import(async () => {
        await this.read(part("game-text").value);
        part("importing").close();
      });
    });
    on("save-game", "click", () => this.act(() => this.exchange.save(this.record, false)));
    on("save-own", "click", () => this.act(() => this.exchange.save(this.record, true)));
  }

  /** Do something in the dialog that opens games, which shows the errors. */
  async #import(action) {
    part("import-error").hidden = true;
    try {
      await action();
    } catch (error) {
      if (error.name !== "Error") throw error;
      part("import-error").textContent = error.message;
      part("import-error").hidden = false;
    }
  }

  #flip() {
    if (!this.drawing) return;
    this.drawing.flipped = !this.drawing.flipped;
    this.draw();
  }

  async #grow() {
    const asked = {
      position: this.record.ply.position,
      depth: Number(part("depth").value),
      search: part("search").value,
    };
    part("tree").replaceChildren(html("p", {}, "Searching …"));
    try {
      const path = `games/${encodeURIComponent(this.game.name)}/tree`;
      const tree = await this.connection.post(path, asked);
      drawTree(part("tree"), tree, (moves) => this.act(() => this.#follow(tree.position, moves)));
    } catch (error) {
      part("tree").replaceChildren(html("p", { class: "banner error" }, error.message));
    }
  }

  /** Play moves from a position of the record. */
  async #follow(position, moves) {
    const at = this.record.plies.findIndex((ply) => ply.position === position);
    if (at < 0) return;
    this.record.go(at);
    await this.show();
    for (const text of moves) {
      const move = this.view.moves.find((other) => other.move === text);
      if (!move) return;
      await this.play(move);
    }
  }

  #key(event) {
    const typed = event.target.closest?.("input, textarea, select, dialog");
    if (typed || event.altKey) return;
    const command = event.ctrlKey || event.metaKey ? "Ctrl+" : "";
    const key = command + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
    const action = this.#actions()[key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  /** What keys do at the moment. */
  #actions() {
    const help = { "?": () => part("helping").showModal() };
    if (!this.record) return help;
    const { at, plies } = this.record;
    const [back, forth] = [() => this.go(at - 1), () => this.go(at + 1)];
    const actions = { ArrowLeft: back, ArrowRight: forth, "Ctrl+z": back, "Ctrl+y": forth };
    Object.assign(actions, { Home: () => this.go(0), End: () => this.go(plies.length - 1) });
    for (const [key, step] of [["ArrowUp", -1], ["ArrowDown", 1]]) {
      const other = this.record.sibling(step);
      if (other) actions[key] = () => this.goTo(other);
    }
    const explain = () => part("explain").click();
    const puzzles = { h: () => this.puzzles.hint(), n: () => this.puzzles.step(1), b: () => this.puzzles.step(-1) };
    if (this.puzzles.active) Object.assign(actions, puzzles);
    const others = { f: () => this.#flip(), p: () => this.promote(), Delete: () => this.remove(), w: explain };
    return { ...help, ...actions, ...others };
  }

  #tellConnection() {
    const { online } = this.connection;
    part("connection").hidden = online;
    part("connection").textContent = online ? "" : "Connection lost. Reconnecting …";
    if (online && this.record) this.attempt(() => this.show());
  }

}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Remove from a caption what the status says: who is to move. */
function withoutMover(caption) {
  const rest = caption.split("\n").map((line) => line.replace(/^[^,:]* to (move|roll)($|[,:] *)/, ""));
  return rest.filter(Boolean).map(capital).join("\n");
}

async function copy(text, button) {
  const said = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy failed: select the text instead";
  }
  setTimeout(() => (button.textContent = said), 2000);
}

new Page().start();
