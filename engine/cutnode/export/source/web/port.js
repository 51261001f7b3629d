/** Workers of a page, as the client uses them. */

/** Return the port of a Web Worker: `{post, listen, end, hold}`. */
export function portOf(worker) {
  return {
    post: (message) => worker.postMessage(message),
    listen: (hear, fail) => {
      worker.onmessage = ({ data }) => hear(data);
      worker.onerror = (event) => fail(new Error(event.message || "its script cannot be loaded"));
    },
    end: () => worker.terminate(),
    hold: () => {}, // a page does not end while a worker runs
  };
}
