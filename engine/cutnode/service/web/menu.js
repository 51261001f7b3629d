/** The menu of games and their variants. */

import { html } from "./elements.js";

const part = (id) => document.getElementById(id);

/** Lists games, and calls `open(name)` with the one that the user chooses. */
export class GameMenu {
  games = [];
  #current = null;

  constructor(open) {
    this.open = open;
    part("choose").addEventListener("submit", (event) => {
      event.preventDefault();
      const variant = part("variant-label").hidden ? "" : part("variant").value.trim();
      open(part("game").value + (variant && `:${variant}`));
    });
    part("game").addEventListener("change", () => {
      part("variant").value = "";
      this.#offerVariants();
    });
  }

  /** Offer all games of the service. */
  list(games) {
    this.games = games;
    part("game").replaceChildren(...games.map(({ name }) => html("option", { value: name }, name)));
    if (this.#current) this.show(this.#current);
    else this.#offerVariants();
  }

  /** Show the name of the game that is played. */
  show(game) {
    this.#current = game;
    const { name } = game;
    const select = part("game");
    const named = [...select.options].some((option) => option.value === name);
    const [base, ...variant] = named ? [name] : name.split(":");
    if (![...select.options].some((option) => option.value === base)) {
      select.append(html("option", { value: base }, base));
    }
    select.value = base;
    part("variant").value = variant.join(":");
    this.#offerVariants();
  }

  /** Show all games with what they are about, in place of a board. */
  fill(place) {
    const list = this.games.map(({ name, about }) => {
      const button = { type: "button", onclick: () => this.open(name) };
      return html("li", {}, html("button", button, name, html("span", {}, about)));
    });
    place.replaceChildren(html("ul", { id: "games" }, ...list));
  }

  #offerVariants() {
    const chosen = this.games.find((game) => game.name === part("game").value);
    const about = chosen?.variants || this.#current?.variants || "";
    part("variant-label").hidden = !about || (chosen && !chosen.variants);
    part("variant-label").title = about;
    const examples = (chosen ?? this.#current)?.examples ?? [];
    part("examples").replaceChildren(...examples.map((value) => html("option", { value })));
    part("variant").placeholder = about.split(": ").at(-1);
    part("variant").setAttribute("aria-label", `Variant: ${about}`);
  }
}
