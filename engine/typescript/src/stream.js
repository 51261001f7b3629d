/** A search over a WebSocket, as an async iterator of its events. */

import { ConnectionError, ServiceError, isErrorBody, parse } from "./errors.js";

/**
 * @import {
 *   AnalyseRequest, Compiling, DepthDone, Progressed, SearchRequest, Searched, SolveRequest, Solved,
 *   Started
 * } from "../types/schema.js"
 */

/**
 * The requests that can be streamed, the events until they are answered, and the answers.
 *
 * @typedef {{
 *   search: { request: SearchRequest, meanwhile: DepthDone, answer: Searched },
 *   solve: { request: SolveRequest, meanwhile: Progressed, answer: Solved },
 *   analyse: { request: AnalyseRequest, meanwhile: Progressed, answer: Solved },
 * }} Streams
 */

/**
 * An event of a stream: `compiling` while a first search waits for its code, `started` when the
 * search leaves the queue, an `iteration` for each depth of a search or the `progress` of a proof
 * every second, and finally the `result`.
 *
 * @template {keyof Streams} Kind
 * @typedef {Compiling | Started | Streams[Kind]["meanwhile"]
 *   | { event: "result", result: Streams[Kind]["answer"] }} StreamEvent
 */

/**
 * The part of the standard WebSocket interface that streams use.
 *
 * @typedef {{
 *   readonly readyState: number,
 *   onopen: ((event: any) => void) | null,
 *   onmessage: ((event: any) => void) | null,
 *   onclose: ((event: any) => void) | null,
 *   onerror: ((event: any) => void) | null,
 *   send(data: string): void,
 *   close(): void,
 * }} Socket
 */

const OPEN = 1;

/**
 * A search that reports while it runs; it starts when the first event is requested.
 *
 * Leaving the loop ends the search.  The loop throws a {@link ServiceError} if the service refuses
 * the request, a {@link ConnectionError} if the connection is lost before the result, and the
 * signal's reason if it is aborted.
 *
 * @template {keyof Streams} Kind
 * @implements {AsyncIterable<StreamEvent<Kind>>}
 */
export class Stream {
  /** @type {Socket | null} */
  #socket = null;
  #stopped = false;
  #events;

  /**
   * @param {() => Socket} connect
   * @param {string} url - The address, for error messages.
   * @param {string} question - The message that starts the search.
   * @param {AbortSignal} [signal]
   */
  constructor(connect, url, question, signal) {
    this.#events = this.#run(connect, url, question, signal);
  }

  [Symbol.asyncIterator]() {
    return this.#events;
  }

  /** End the search; the stream then ends with the best result so far. */
  stop() {
    this.#stopped = true;
    if (this.#socket?.readyState === OPEN) this.#socket.send('{"do": "stop"}');
  }

  /**
   * @param {() => Socket} connect
   * @param {string} url
   * @param {string} question
   * @param {AbortSignal} [signal]
   * @returns {AsyncGenerator<StreamEvent<Kind>, void, void>}
   */
  async *#run(connect, url, question, signal) {
    signal?.throwIfAborted();
    /** @type {string[]} */
    const heard = [];
    /** @type {ConnectionError | null} */
    let lost = null;
    let opened = false;
    let wake = () => {};
    const socket = connect();
    const abort = () => {
      socket.close();
      wake();
    };
    this.#socket = socket;
    socket.onopen = () => {
      opened = true;
      socket.send(question);
      if (this.#stopped) this.stop();
    };
    socket.onmessage = ({ data }) => {
      heard.push(data);
      wake();
    };
    socket.onerror = socket.onclose = ({ reason }) => {
      const what = opened ? "lost the connection to" : "cannot reach";
      lost ??= new ConnectionError(`${what} ${url}${reason ? `: ${reason}` : ""}`);
      wake();
    };
    signal?.addEventListener("abort", abort);
    try {
      for (;;) {
        signal?.throwIfAborted();
        const text = heard.shift();
        if (text === undefined) {
          if (lost) throw lost;
          await new Promise((resolve) => (wake = () => resolve(undefined)));
          continue;
        }
        const event = parse(text);
        if (typeof event?.event !== "string") {
          throw new ConnectionError(`${url} answered, but not as a cutnode service`);
        }
        if (isErrorBody(event)) throw new ServiceError(event);
        yield event;
        if (event.event === "result") return;
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#socket = null;
      socket.close();
    }
  }
}
