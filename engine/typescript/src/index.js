export { Client } from "./client.js";
export { ConnectionError, ServiceError } from "./errors.js";
export { Stream } from "./stream.js";
