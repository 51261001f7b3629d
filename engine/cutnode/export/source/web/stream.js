/** A search as an async iterator of its events. */

/**
 * A search that reports while it runs; it starts when the first event is requested.
 *
 * Leaving the loop ends the search.  The loop throws a `ServiceError` if the request is refused,
 * and the signal's reason if it is aborted.
 */
export class Stream {
  #events;
  #stopping = new AbortController();

  /**
   * `run({hear, stop})` starts the search and promises its result: `hear` is called with events,
   * and the signal `stop` asks for the best result so far.
   */
  constructor(run, signal) {
    this.#events = this.#run(run, signal);
  }

  [Symbol.asyncIterator]() {
    return this.#events;
  }

  /** End the search; the stream then ends with the best result so far. */
  stop() {
    this.#stopping.abort();
  }

  async *#run(run, signal) {
    signal?.throwIfAborted();
    const heard = [];
    let wake = () => {};
    const hear = (event) => {
      heard.push(event);
      wake();
    };
    let [failed, error] = [false, null];
    const fail = (reason) => {
      [failed, error] = [true, reason];
      wake();
    };
    const abort = () => fail(signal.reason);
    signal?.addEventListener("abort", abort);
    run({ hear, stop: this.#stopping.signal }).then(
      (result) => hear({ event: "result", result }),
      fail,
    );
    try {
      for (;;) {
        if (signal?.aborted) throw signal.reason;
        const event = heard.shift();
        if (event === undefined) {
          if (failed) throw error;
          await new Promise((resolve) => (wake = resolve));
          continue;
        }
        yield event;
        if (event.event === "result") return;
      }
    } finally {
      signal?.removeEventListener("abort", abort);
      this.#stopping.abort();
    }
  }
}
