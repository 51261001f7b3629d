/** The connection to the service: requests over HTTP, and searches over a WebSocket. */

const FIRST_WAIT = 250;
const LONGEST_WAIT = 3000;

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** An error answer; its message is the one that the service sent. */
export class ServiceError extends Error {
  constructor(body, status) {
    super(body.detail);
    this.kind = body.error;
    this.status = status;
  }
}

/** Sends requests, and repeats those that could not reach the service once it is back. */
export class Connection extends EventTarget {
  online = true;
  #recovery = null;

  get(path, query = {}) {
    const text = new URLSearchParams(query).toString();
    return this.#ask(text ? `${path}?${text}` : path);
  }

  post(path, body) {
    const headers = { "content-type": "application/json" };
    return this.#ask(path, { method: "POST", headers, body: JSON.stringify(body) });
  }

  async #ask(path, options) {
    for (;;) {
      let response;
      try {
        response = await fetch(path, options);
      } catch {
        await this.recover();
        continue;
      }
      const body = await response.json().catch(() => undefined);
      if (body === undefined) {
        const detail = `${path}: the answer is not from a cutnode service (status ${response.status})`;
        throw new ServiceError({ error: "failure", detail }, response.status);
      }
      if (response.ok) return body;
      if (body.error !== "starting") throw new ServiceError(body, response.status);
      await sleep(1000 * Number(response.headers.get("retry-after") ?? 1));
    }
  }

  /** Wait until the service can be reached; dispatches "change" whenever `online` changes. */
  recover() {
    this.#recovery ??= this.#recover().finally(() => (this.#recovery = null));
    return this.#recovery;
  }

  async #recover() {
    for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
      try {
        await fetch("health", { cache: "no-store" });
        this.#become(true);
        return;
      } catch {
        this.#become(false);
        await sleep(wait);
      }
    }
  }

  #become(online) {
    if (online === this.online) return;
    this.online = online;
    this.dispatchEvent(new Event("change"));
  }
}

/** Searches, one at a time: a new one ends the previous one, and a lost one starts again. */
export class Searches {
  #connection;
  #socket = null;
  #wanted = null;
  #running = null;
  #stopped = false;

  constructor(connection) {
    this.#connection = connection;
    this.#open();
  }

  /**
   * Search; `hear` is called with each event.  Resolves to the result, or to null if another
   * search or `cancel` came first; rejects with a ServiceError.
   */
  run(question, hear) {
    this.cancel();
    return new Promise((resolve, reject) => {
      this.#wanted = { question, hear, resolve, reject };
      this.#step();
    });
  }

  /** End the running search, and forget it. */
  cancel() {
    this.#wanted?.resolve(null);
    this.#wanted = null;
    this.#step();
  }

  #open() {
    const socket = new WebSocket(new URL("stream", location.href.replace(/^http/, "ws")));
    socket.onopen = () => {
      this.#socket = socket;
      this.#step();
    };
    socket.onmessage = (message) => this.#take(JSON.parse(message.data));
    socket.onclose = async () => {
      this.#socket = this.#running = null;
      await sleep(FIRST_WAIT);
      await this.#connection.recover();
      this.#open();
    };
  }

  /** Send the next message that brings the running search closer to the wanted one. */
  #step() {
    if (this.#socket === null) return;
    if (this.#running === null) {
      if (this.#wanted === null) return;
      this.#running = this.#wanted;
      this.#stopped = false;
      this.#socket.send(JSON.stringify({ do: "start", ...this.#wanted.question }));
    } else if (this.#running !== this.#wanted && !this.#stopped) {
      this.#stopped = true;
      this.#socket.send(JSON.stringify({ do: "stop" }));
    }
  }

  #take(event) {
    const job = this.#running;
    const over = event.event === "result" || event.event === "error";
    if (job === null || (event.error === "refused by the game" && event.where === "do")) return;
    if (over) this.#running = null;
    if (job === this.#wanted) {
      if (over) this.#wanted = null;
      if (event.event === "error") job.reject(new ServiceError(event, 0));
      else if (over) job.resolve(event.result);
      else job.hear(event);
    }
    this.#step();
  }
}
