/** Reasons: explanations of positions and moves, and reviews of whole games. */

import { html } from "./elements.js";

const WAITING = "Searching for reasons … The first time compiles the game.";

/** Asks the service for reasons, and shows its answers; a newer question replaces an older one. */
export class Reasons {
  #asked = 0;
  #ply = null;

  constructor(connection, place) {
    this.connection = connection;
    this.place = place;
  }

  /** Explain a position, or a move in it, as long as `ply` is shown. */
  async explain(game, question, ply) {
    this.#ply = ply;
    const answer = await this.#ask(game, "explain", question);
    if (!answer) return;
    const about = question.move ? `The move ${question.move}` : "This position";
    this.#show(html("h3", {}, about), sentences(answer.text));
  }

  /**
   * Review the line of a record that is shown: fill in its marks, comments and shares, and list
   * the turning points; `go(at)` shows a ply.
   */
  async review(record, question, go) {
    const { plies } = record;
    this.#ply = null;
    const answer = await this.#ask(record.game, "review", { ...question, record: record.lineText });
    if (!answer) return;
    const { steps, points, sides, turning_points: turns } = answer.review;
    for (const [number, ply] of plies.entries()) {
      const share = points[number] ?? null;
      if (share !== null) ply.share = 2 * share - 1;
      const step = steps[number - 1];
      if (!step?.move) continue;
      ply.mark = step.mark ?? (step.only_move ? "□" : "");
      if (step.mark?.startsWith("?") && !ply.comment) ply.comment = `${step.grade}; best was ${step.best[0]}`;
    }
    this.#show(
      html("h3", {}, "Review"),
      ...sides.map((side) => html("p", {}, summary(side))),
      ...turns.flatMap(({ number, title, explanation }) => [
        html("p", {}, html("button", { type: "button", onclick: () => go(number) }, title)),
        sentences(explanation?.text ?? []),
      ]),
    );
  }

  /** Forget an explanation that is not about the ply that is shown now. */
  leave(ply) {
    if (this.#ply !== null && this.#ply !== ply) this.clear();
  }

  /** Show nothing, and forget the question. */
  clear() {
    this.#asked += 1;
    this.#ply = null;
    this.place.replaceChildren();
  }

  async #ask(game, kind, question) {
    const asked = ++this.#asked;
    this.#show(html("p", { class: "quiet" }, WAITING));
    try {
      const answer = await this.connection.post(`games/${encodeURIComponent(game)}/${kind}`, question);
      return asked === this.#asked ? answer : null;
    } catch (error) {
      if (asked === this.#asked) this.place.replaceChildren();
      throw error;
    }
  }

  #show(...children) {
    this.place.replaceChildren(...children);
  }
}

function sentences(texts) {
  return html("ul", { class: "reasons" }, ...texts.map((text) => html("li", {}, text)));
}

function summary({ name, moves, accuracy, marks }) {
  const counts = Object.entries(marks).filter(([, count]) => count).map(([mark, count]) => `${count} ${mark}`);
  const exact = accuracy === null ? "" : `, accuracy ${accuracy.toFixed(1)} %`;
  return [`${name}: ${moves} moves${exact}`, ...counts].join(", ");
}
