/** Errors: the service refuses a request, or cannot be reached. */

/** @import { ErrorBody } from "../types/schema.js" */

/** An error answer; its message is the one that the service sent. */
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
    /** The place in the request, such as `"body.position"`; null if there is none in particular. */
    this.where = body.where;
    /** The HTTP status; null in a stream. */
    this.status = status;
    /** Seconds to wait before retrying; null if that would not help. */
    this.retryAfter = retryAfter;
  }
}

/** The service cannot be reached, has gone away, or is not a cutnode service. */
export class ConnectionError extends Error {
  name = "ConnectionError";
}

/**
 * Parse JSON; return undefined if it is invalid.
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
 * Return whether a parsed answer is the error of a cutnode service.
 *
 * @param {any} said
 * @returns {said is ErrorBody}
 */
export function isErrorBody(said) {
  return typeof said?.error === "string" && typeof said.detail === "string";
}
