/** What can go wrong: the service refuses, or it cannot be reached. */

/** @import { ErrorBody } from "../types/schema.js" */

/** An answer that is an error.  Its message is the line in which the service says what was wrong. */
export class ServiceError extends Error {
  name = "ServiceError";

  /**
   * @param {ErrorBody} body
   * @param {number | null} [status]
   * @param {number | null} [retryAfter]
   */
  constructor(body, status = null, retryAfter = null) {
    super(body.detail);
    /** The kind of error, such as `"no such position"`. */
    this.kind = body.error;
    /** The place in the request, such as `"body.position"`; null if it is nowhere in particular. */
    this.where = body.where;
    /** The status of HTTP; null in a stream. */
    this.status = status;
    /** When to ask again, in seconds; null if that would not help. */
    this.retryAfter = retryAfter;
  }
}

/** The service cannot be reached, went away, or is no service of cutnode. */
export class ConnectionError extends Error {
  name = "ConnectionError";
}

/**
 * Return what a text of JSON says; undefined if it is none.
 *
 * @param {string} text
 * @returns {any}
 */
export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Return whether it says what was wrong, as a service of cutnode does.
 *
 * @param {any} said
 * @returns {said is ErrorBody}
 */
export function isErrorBody(said) {
  return typeof said?.error === "string" && typeof said.detail === "string";
}
