/** The panels next to the board: moves with their values, the moves played, the legend. */

import { html, keepChildren } from "./elements.js";
import { writtenParts } from "./record.js";
import { judged, short } from "./values.js";

/** The list of all moves, the best first once they are analysed. */
export class MoveList {
  #held = false;
  #keys = [];
  #pointer = "";

  /**
   * `play(move)` is called with the chosen move, and `released()` when the pointer leaves the list.
   * While the pointer is over the list, rows stay in place, so that no click hits the wrong move.
   */
  constructor(place, play, released) {
    this.place = place;
    this.play = play;
    for (const event of ["pointerenter", "pointerdown"]) {
      place.addEventListener(event, () => (this.#held = true));
    }
    place.addEventListener("pointermove", (event) => {
      const where = `${event.clientX} ${event.clientY}`;
      if (where !== this.#pointer) this.#held = true; // else the rows moved, not the pointer
      this.#pointer = where;
    });
    place.addEventListener("pointerleave", () => {
      this.#held = false;
      released();
    });
  }

  show(moves, known, game) {
    const byKey = new Map(moves.map((move) => [keyOf(move), move]));
    const stays = byKey.size === this.#keys.length && this.#keys.every((key) => byKey.has(key));
    if (!stays) this.#held = false;
    if (!this.#held) {
      const order = new Map((known?.ordered ?? []).map((score, number) => [score.move, number]));
      const rank = ([, move]) => order.get(move.move) ?? Infinity;
      this.#keys = [...byKey].sort((one, other) => rank(one) - rank(other) || 0).map(([key]) => key);
    }
    keepChildren(
      this.place,
      this.#keys.map((key) => [key, byKey.get(key)]),
      (move) => this.#row(move),
      (row, move) => describeRow(row, move, known, game),
    );
  }

  #row(move) {
    const [tag, words, then] = [valueTag(), html("span", { class: "words" }), html("span", { class: "then" })];
    const parts = [tag, html("b", {}, move.move), words, then];
    const choose = () => this.play(move);
    return html("li", {}, html("button", { type: "button", value: move.move, onclick: choose }, ...parts));
  }
}

function describeRow(row, move, known, game) {
  const score = known?.scores.get(move.move);
  const value = score ? judged(score, game) : null;
  const best = known?.best.has(move.move) ?? false;
  const button = row.firstElementChild;
  const [tag, , words, then] = button.children;
  row.className = best ? "best" : "";
  tag.className = `tag ${value?.kind ?? ""}`;
  tag.textContent = value?.label ?? "";
  words.textContent = [value?.words, best && "best"].filter(Boolean).join(", ");
  then.textContent = score?.pv.slice(1).join(" ") ?? "";
}

/** Make a tag for a value in colour and symbols; text repeats it for screen readers. */
function valueTag() {
  return html("span", { "aria-hidden": "true" });
}

/** Return a key that tells a move from all others, including moves of other positions. */
function keyOf(move) {
  return `${move.move} ${move.position}`;
}

/** Offer moves as buttons; `play(move)` is called with the chosen one. */
export function offerMoves(place, moves, known, game, play) {
  keepChildren(
    place,
    moves.map((move) => [keyOf(move), move]),
    (move) => {
      const parts = [`${move.move} `, valueTag(), html("span", { class: "words" })];
      return html("button", { type: "button", onclick: () => play(move) }, ...parts);
    },
    (button, move) => {
      const score = known?.scores.get(move.move);
      const value = score ? judged(score, game) : null;
      const [tag, words] = button.children;
      tag.className = value ? `tag ${value.kind}` : "";
      tag.textContent = value?.label ?? "";
      words.textContent = value?.words ?? "";
    },
  );
}

/**
 * Offer the outcomes of chance, a roll, and automatic rolls; the choice calls `meet(outcome)`,
 * `roll()` or `changed()`.
 */
export function offerChance(place, outcomes, { meet, roll, changed }) {
  const button = (attributes, text, act) =>
    html("button", { type: "button", ...attributes, onclick: act }, text);
  const entries = outcomes.map((outcome, number) => [
    `${number} ${outcome.text} ${outcome.position}`,
    () => button({}, `${outcome.text} (${percentage(outcome.probability)})`, () => meet(outcome)),
  ]);
  if (outcomes.length) entries.unshift(["roll", () => button({ class: "primary", id: "roll" }, "Roll", roll)]);
  const check = () => html("input", { type: "checkbox", id: "auto-roll", onchange: changed });
  entries.push(["by itself", () => html("label", { class: "switch" }, check(), "Roll automatically")]);
  keepChildren(place, entries, (make) => make(), () => {});
}

function percentage(probability) {
  return `${Math.round(1000 * probability) / 10} %`;
}

/** Say why a search has not begun, and how far the code that it waits for is compiled. */
function preparing(compiling) {
  if (!compiling) return "Preparing … The first search of a game has to compile it.";
  const { functions, expected } = compiling;
  const known = expected === null ? "" : ` of about ${Math.max(functions, expected)}`;
  return `Compiling the game, once: ${functions}${known} functions`;
}

/** Show what is known about a position: its value, the search depth, and the best line. */
export function tellAnalysis({ verdict, progress, line }, known, game, state) {
  if (state.error || !state.on || !known) {
    verdict.textContent = state.error ?? (state.waiting ? "" : state.on ? state.nothing : "");
    progress.textContent = state.waiting ? preparing(state.compiling) : "";
    line.textContent = "";
    return;
  }
  const first = known.ordered[0];
  verdict.textContent = first ? `${state.mover}: ${judged(first, game).words}` : "";
  if (known.meaning) {
    const told = first?.distance ? verdict.textContent : known.meaning;
    verdict.textContent = `Solved: ${told}`;
  }
  const facts = [];
  if (known.depth && known.engine === "alphabeta") facts.push(`depth ${known.depth}`);
  if (known.nodes) facts.push(`${short(known.nodes)} nodes`);
  if (known.nodes && known.seconds > 0.01) facts.push(`${short(known.nodes / known.seconds)} nodes/s`);
  if (known.phase === "proof" && !known.done && known.lower !== undefined) {
    facts.push(`value between ${known.lower} and ${known.upper}`);
  }
  if (!known.done) facts.push(known.phase === "proof" ? "proving …" : "searching …");
  if (known.why) facts.push(known.why);
  progress.textContent = state.waiting ? preparing(state.compiling) : facts.join(" · ");
  line.textContent = known.line?.length ? `Best line: ${known.line.join(" ")}` : "";
}

/** The signs of numeric annotations of PGN, which otherwise are not shown. */
const SIGNS = { $10: "=", $13: "∞", $14: "+=", $15: "=+", $16: "±", $17: "∓", $18: "+−", $19: "−+" };

/** List the moves of the game with variations and comments; `show(ply)` is called with a chosen one. */
export function listRecord(place, record, show) {
  const start = { key: "start", ply: record.start, number: "" };
  const line = new Set(record.plies);
  keepChildren(
    place,
    [start, ...writtenParts(record.start.children[0])].map((part) => [part.key, part]),
    ({ ply, bracket }) => {
      if (bracket) return html("span", { class: "bracket" }, bracket);
      const button = html("button", { type: "button", onclick: () => show(ply) });
      const [number, comment] = ["number", "comment"].map((name) => html("span", { class: name }));
      return html("span", {}, number, button, comment);
    },
    (part, { ply, number, bracket }) => {
      if (bracket) return;
      const [before, button, after] = part.children;
      before.textContent = number;
      const marks = ply.mark.split(" ").map((mark) => (mark.startsWith("$") ? SIGNS[mark] : mark));
      button.textContent = ply === record.start ? "Start" : (ply.move ?? `[${ply.chance}]`) + marks.join("");
      part.className = line.has(ply) ? "" : "aside";
      after.textContent = ply.comment && ` ${ply.comment} `;
      if (ply === record.ply) button.setAttribute("aria-current", "step");
      else button.removeAttribute("aria-current");
    },
  );
  const current = place.querySelector("[aria-current]");
  place.scrollTop = Math.max(0, current.offsetTop - place.clientHeight / 2);
}

/** Show the first player's share of the game, from -1 to 1, or null if it is unknown. */
export function drawBar(place, share, names) {
  place.classList.toggle("unknown", share === null);
  place.style.setProperty("--share", String(share ?? 0));
  place.setAttribute("aria-valuenow", Math.round(100 * (share ?? 0)));
  const better = Math.abs(share) < 0.01 ? "even" : `${names[share > 0 ? 0 : 1]} is better`;
  place.setAttribute("aria-valuetext", share === null ? "not analysed" : better);
}

/** Show a menu of players for each side; `choose(side, player)` is called with a change. */
export function listPlayers(place, names, levels, players, choose) {
  place.replaceChildren(
    ...names.map((name, side) => {
      const options = ["person", ...levels].map((player) =>
        html("option", { value: player, selected: player === players[side] }, player),
      );
      const select = html("select", { onchange: () => choose(side, select.value) }, ...options);
      return html("label", {}, `${name} `, select);
    }),
  );
}

/** Explain the colours. */
export function drawLegend(place) {
  const kinds = [
    ["win", "▲5", "win in 5 plies"],
    ["win", "+2", "proven win, with the game's own score"],
    ["better", "+1.2", "better"],
    ["even", "0", "even"],
    ["draw", "=", "draw"],
    ["worse", "−1.2", "worse"],
    ["loss", "▼4", "loss in 4 plies"],
  ];
  const entries = kinds.map(([kind, label, words]) =>
    html("span", {}, html("span", { class: `tag ${kind}` }, label), ` ${words}`),
  );
  const others = ["★ or a thick outline: best move", "a tint and a small number: part of the position"];
  place.replaceChildren(...entries, ...others.map((words) => html("span", {}, words)));
}
