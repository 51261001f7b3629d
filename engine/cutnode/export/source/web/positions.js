/**
 * Positions as texts, and what a page shows of them.
 *
 * A text is the moves that lead to the position from the start, in the notation of the game, with
 * an outcome of chance as its number in brackets: `"4 4 [2] 3"`; "" is the start.  Where moves can
 * be told apart, no spaces are needed: `"443"`.  A game that begins elsewhere has the words of its
 * first position in front, in hexadecimal digits: `"words:1.0.2f 4 4"`.
 */

import { BY_LENGTH, BY_REPETITION } from "./engine.js";
import { ServiceError } from "./errors.js";

const WORDS = /^\s*words:([^\s,]*)/i;
const OUTCOME = /^\[(\d+)\]/;
const SEPARATOR = /[\s,]+/;
const SEPARATORS = /^[\s,]+/;
const MOST_NAMED = 8;

/**
 * Set the engine to the position of a text, and return the text as answers write it.  `where` is
 * the place of the text in the request, for errors.
 */
export function read(engine, text, where) {
  const refuse = (detail) => new ServiceError("no such position", detail, where);
  engine.reset();
  let rest = text;
  const parts = [];
  const words = WORDS.exec(text);
  if (words) {
    try {
      engine.setWords(BigUint64Array.from(words[1].split("."), (word) => BigInt(`0x${word}`)));
    } catch (error) {
      const why = error instanceof ServiceError ? error.message : "these are no hexadecimal words";
      throw refuse(`${quoted(words[0].trim())}: ${why}`);
    }
    parts.push(`words:${words[1].toLowerCase()}`);
    rest = text.slice(words[0].length);
  }
  for (let number = 1; (rest = rest.replace(SEPARATORS, "")) !== ""; ++number) {
    try {
      const met = step(engine, rest);
      parts.push(met);
      rest = rest.slice(met.length);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw refuse(`move ${number} of ${quoted(text.trim())}: ${error.message}`);
    }
  }
  return parts.join(" ");
}

/** Make the move, or meet the outcome, with which a text begins; return its text. */
function step(engine, text) {
  const state = engine.state();
  if (state.ending) throw new ServiceError("no such move", "the game is over");
  const [word] = text.split(SEPARATOR);
  if (state.outcomes) {
    const found = OUTCOME.exec(text);
    if (!found || Number(found[1]) >= state.outcomes) {
      const range = `[0] to [${state.outcomes - 1}]`;
      throw new ServiceError(
        "no such move",
        `chance decides: write its outcome as ${range}, not ${quoted(word)}`,
      );
    }
    engine.roll(Number(found[1]));
    return found[0];
  }
  const named = movesOf(engine, state.side);
  const whole = named.find((move) => move.text === word);
  const move = whole ?? longest(named.filter((its) => text.startsWith(its.text)));
  if (!move) {
    const some = named
      .slice(0, MOST_NAMED)
      .map((its) => its.text)
      .join(", ");
    const more = named.length > MOST_NAMED ? ", ..." : "";
    throw new ServiceError("no such move", `${quoted(word)} is not a legal move; ${some}${more}`);
  }
  engine.play(move.move);
  return move.text;
}

function longest(moves) {
  return moves.reduce(
    (best, its) => (best && best.text.length >= its.text.length ? best : its),
    undefined,
  );
}

/** Return the legal moves with their texts: `{move, text}`. */
export function movesOf(engine, side) {
  return engine.moves().map((move) => ({ move, text: engine.moveText(move, side) }));
}

/** Return the text after a move or an outcome. */
export function after(text, part) {
  return text ? `${text} ${part}` : part;
}

/** Set the engine to a position in a game that went through others, oldest first. */
export function readAfter(engine, text, history) {
  const words = history.map((earlier, n) => {
    read(engine, earlier, `body.history[${n}]`);
    return engine.words();
  });
  const written = read(engine, text, "body.position");
  if (!history.length) return written;
  words.push(engine.words());
  read(engine, history[0], "body.history[0]");
  for (let n = 1; n < words.length; ++n) {
    if (!goTo(engine, words[n])) {
      const which = n < history.length ? `history[${n}]` : "position";
      throw new ServiceError(
        "no such position",
        `${which} does not follow by a move from history[${n - 1}]`,
        `body.${which}`,
      );
    }
  }
  return written;
}

/** Make the step that leads to the position of some words; return whether there is one. */
function goTo(engine, words) {
  const { outcomes } = engine.state();
  const steps = outcomes ? Array.from({ length: outcomes }, (_, n) => n) : engine.moves();
  for (const each of steps) {
    if (outcomes) engine.roll(each);
    else engine.play(each);
    const found = engine.words();
    if (found.every((word, at) => word === words[at])) return true;
    engine.undo();
  }
  return false;
}

/** Return the view of the engine's position, whose text is `text`. */
export function view(engine, text) {
  const { about } = engine;
  const state = engine.state();
  const over = state.ending !== 0;
  const cells = engine.cells();
  const named = over || state.outcomes ? [] : movesOf(engine, state.side);
  const outcomes = over ? [] : Array.from({ length: state.outcomes }, (_, n) => n);
  const players = Object.values(about.board?.players ?? {});
  const caption = players.length ? `${players[state.side]} to move` : "";
  return {
    game: about.game,
    position: text,
    notes: [],
    board: [...drawn(about.board, cells), caption].filter(Boolean).join("\n") || text,
    cells: about.board ? cells : null,
    caption,
    player: state.side,
    recurrence: null,
    over,
    value: over ? state.value : null,
    meaning: over ? ending(about, state) : "",
    winning_line: [], // only the game's Python source knows it
    moves: named.map((move) => moved(engine, text, state.side, cells, move)),
    chance: outcomes.map((outcome) => met(engine, text, state.side, outcome)),
  };
}

function moved(engine, text, side, cells, { move, text: its }) {
  engine.play(move);
  const changed = engine.cells();
  const again = engine.state().side === side;
  engine.undo();
  const changes = changed.flatMap((content, cell) =>
    content === cells[cell] ? [] : [[cell, content]],
  );
  return { move: its, position: after(text, its), again, changes, recurrence: null };
}

function met(engine, text, side, outcome) {
  const probability = engine.odds(outcome);
  engine.roll(outcome);
  const again = engine.state().side === side;
  engine.undo();
  const { outcomeTexts } = engine.about;
  const said = outcomeTexts?.[outcome] ?? `outcome ${outcome + 1}`;
  return { text: said, probability, position: after(text, `[${outcome}]`), again };
}

/** Return the lines of a board, as text. */
function drawn(board, cells) {
  if (!board) return [];
  const rows = new Map();
  board.places.forEach(([, y], cell) => rows.set(y, [...(rows.get(y) ?? []), cell]));
  const ordered = [...rows].sort(([one], [other]) => one - other);
  return ordered.map(([, row]) => {
    row.sort((one, other) => board.places[one][0] - board.places[other][0]);
    return row.map((cell) => board.contents[cells[cell]].symbol).join(" ");
  });
}

/** Return how a finished game ended, in words. */
export function ending(about, state) {
  if (state.ending === BY_REPETITION) return "draw by repetition";
  if (state.ending === BY_LENGTH) return "draw: the game has reached its longest length";
  return described(about, state, state.value, "has won");
}

/** Return a value for the player to move in words; "" if the game names no players. */
export function described({ board, decisive }, { side }, value, verb = "wins") {
  const players = Object.values(board?.players ?? {});
  if (!players.length) return "";
  if (value === 0) return "a draw";
  const winner = players[value > 0 ? side : 1 - side];
  return `${winner} ${verb}${decisive ? "" : ` by ${Math.abs(value)}`}`;
}

export function quoted(text) {
  return `'${text.length > 60 ? `${text.slice(0, 57)}...` : text}'`;
}
