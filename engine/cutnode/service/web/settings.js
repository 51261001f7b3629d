/** The settings of the user: players, the theme, and the engine with its limits. */

import { html } from "./elements.js";

const KEY = "cutnode.settings";
const SMALLEST_TABLE = 16;

/** The elements that choose the engine and its limits. */
export const CHOICES = ["engine", "seconds", "lines", "threads", "table-size"];

const part = (id) => document.getElementById(id);

/** The settings on the page, and how they are kept for the next visit. */
export class Settings {
  /** The players of the last visit, or null. */
  players = null;
  #kept = {};

  constructor() {
    let kept = null;
    try {
      kept = JSON.parse(localStorage.getItem(KEY));
    } catch {
      // The entry was not written by this page.
    }
    if (!Array.isArray(kept?.players) || kept.players.length !== 2) return;
    this.#kept = kept;
    this.players = kept.players;
    part("analyse").checked = kept.analyse;
    for (const id of ["seconds", "engine", "lines", "theme"]) {
      const there = [...part(id).options].some((option) => option.value === kept[id]);
      if (there) part(id).value = kept[id];
    }
    part("show-line").checked = kept.line;
    this.showTheme();
  }

  keep(players) {
    const settings = {
      players,
      analyse: part("analyse").checked,
      line: part("show-line").checked,
      theme: part("theme").value,
      ...Object.fromEntries(CHOICES.map((id) => [id, part(id).value])),
    };
    localStorage.setItem(KEY, JSON.stringify(settings));
  }

  showTheme() {
    document.documentElement.style.colorScheme = part("theme").value;
  }

  /** The engine and the limits that the user chose. */
  get choice() {
    const given = { seconds: Number(part("seconds").value), engine: part("engine").value };
    given.lines = Number(part("lines").value);
    for (const [name, id] of [["threads", "threads"], ["table", "table-size"]]) {
      if (part(id).value) given[name] = Number(part(id).value);
    }
    return given;
  }

  /** The limits of a question about reasons, as for the analysis. */
  get limits() {
    const { seconds, threads, table } = this.choice;
    return { seconds, ...(threads && { threads }), ...(table && { table }) };
  }

  /** Offer threads and tables within the limits of the service; by default, it decides. */
  offerSizes(limits) {
    const offer = (id, least, most, unit) => {
      const sizes = [];
      for (let size = least; size < most; size *= 2) sizes.push(size);
      const option = (size) => html("option", { value: size }, `${size}${unit}`);
      part(id).replaceChildren(...[...sizes, most].map(option));
      part(id).value = [...sizes, most].includes(Number(this.#kept[id])) ? this.#kept[id] : most;
      part(id).parentElement.hidden = !sizes.length;
    };
    if (!limits) return;
    offer("threads", 1, limits.threads, "");
    offer("table-size", SMALLEST_TABLE, limits.table, " MiB");
  }
}
