/** The panels beside the board: moves with their values, the course of the game, the legend. */

import { html } from "./elements.js";
import { judged, short } from "./values.js";

/** List all moves, as they were analysed: the best first; `play(move)` is called with a choice. */
export function listMoves(place, moves, known, game, play) {
  const order = new Map((known?.ordered ?? []).map((score, number) => [score.move, number]));
  const rank = (move) => order.get(move.move) ?? Infinity;
  const sorted = [...moves].sort((one, other) => rank(one) - rank(other) || 0);
  const focused = place.contains(document.activeElement) ? document.activeElement.value : null;
  place.replaceChildren(
    ...sorted.map((move) => {
      const score = known?.scores.get(move.move);
      const value = score ? judged(score, game) : null;
      const best = known?.best.has(move.move) ?? false;
      const tag = html("span", { class: `tag ${value?.kind ?? ""}` }, value?.label ?? "");
      const then = score?.pv.slice(1).join(" ") ?? "";
      const words = [move.move, value?.words, best && "best"].filter(Boolean).join(", ");
      const button = html(
        "button",
        { type: "button", value: move.move, "aria-label": words, onclick: () => play(move) },
        tag,
        html("b", {}, move.move),
        html("span", { class: "then" }, then),
      );
      return html("li", { class: best ? "best" : "" }, button);
    }),
  );
  if (focused !== null) [...place.querySelectorAll("button")].find((b) => b.value === focused)?.focus();
}

/** Say what is known of a position: its value, how deep it was searched, and the best line. */
export function tellAnalysis({ verdict, progress, line }, known, game, state) {
  if (state.error || !state.on || !known) {
    verdict.textContent = state.error ?? (state.waiting ? "" : state.on ? state.nothing : "");
    progress.textContent = state.waiting ? "Preparing: the first search of a game compiles it." : "";
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
  if (known.nodes && known.seconds > 0.01) facts.push(`${short(known.nodes / known.seconds)} a second`);
  if (known.phase === "proof" && !known.done && known.lower !== undefined) {
    facts.push(`proof: between ${known.lower} and ${known.upper}`);
  }
  if (!known.done) facts.push(known.phase === "proof" ? "proving …" : "searching …");
  if (known.why) facts.push(known.why);
  progress.textContent = state.waiting ? "Preparing …" : facts.join(" · ");
  line.textContent = known.line?.length ? `Best line: ${known.line.join(" ")}` : "";
}

/** List the moves of the game; `go(ply)` is called with the one that is chosen. */
export function listRecord(place, record, go) {
  const steps = record.plies.map((ply, at) =>
    html(
      "button",
      { type: "button", "aria-current": at === record.at ? "step" : null, onclick: () => go(at) },
      at === 0 ? "Start" : (ply.move ?? `[${ply.chance}]`),
    ),
  );
  place.replaceChildren(...steps);
  const current = steps[record.at];
  place.scrollTop = Math.max(0, current.offsetTop - place.offsetTop - place.clientHeight / 2);
}

/** Say who plays each side; `choose(side, player)` is called with a change. */
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
    ["win", "▲5", "wins, in 5 plies"],
    ["win", "+2", "wins, by the game's own score (proven)"],
    ["better", "+1.2", "better"],
    ["even", "0", "even"],
    ["draw", "=", "a draw"],
    ["worse", "−1.2", "worse"],
    ["loss", "▼4", "loses, in 4 plies"],
  ];
  const entries = kinds.map(([kind, label, words]) =>
    html("span", {}, html("span", { class: `tag ${kind}` }, label), ` ${words}`),
  );
  place.replaceChildren(...entries, html("span", {}, "★ or a thick edge: the best move"));
}
