/** A fake service for tests: HTTP, and the little of RFC 6455 that a stream needs. */

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";

const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const TEXT = 0x81;
const CLOSE = 0x88;

/** Start a server; `answer(request, body)` returns the `[status, body, headers]` of an answer. */
export async function serve(answer) {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const part of request) body += part;
    const [status, said, headers = {}] = (await answer(request, body)) ?? [];
    if (status === undefined) return; // it never answers
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof said === "string" ? said : JSON.stringify(said));
  });
  return listen(server);
}

/** Start a WebSocket server; `converse(peer)` is called for each connection. */
export async function serveSockets(converse) {
  const server = createServer((request, response) => response.writeHead(404).end("{}"));
  server.on("upgrade", (request, socket) => {
    const key = request.headers["sec-websocket-key"] + GUID;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    converse(new Peer(socket));
  });
  return listen(server);
}

async function listen(server) {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${server.address().port}`, close };
}

/** The server's end of a WebSocket; frames are shorter than 64 KiB. */
class Peer {
  messages = [];
  #wake = () => {};

  constructor(socket) {
    this.socket = socket;
    socket.on("error", () => {});
    this.left = new Promise((resolve) => socket.on("close", resolve));
    let pending = Buffer.alloc(0);
    socket.on("data", (data) => {
      pending = Buffer.concat([pending, data]);
      for (let frame; (frame = frameOf(pending)); pending = pending.subarray(frame.size)) {
        if (frame.kind === CLOSE) this.close();
        else this.messages.push(JSON.parse(frame.text));
      }
      this.#wake();
    });
  }

  /** Return the next message of the client. */
  async hear() {
    while (this.messages.length === 0) await new Promise((resolve) => (this.#wake = resolve));
    return this.messages.shift();
  }

  say(event) {
    this.#send(TEXT, Buffer.from(typeof event === "string" ? event : JSON.stringify(event)));
  }

  close(reason = "") {
    const code = Buffer.from([1001 >> 8, 1001 & 255]);
    this.#send(CLOSE, Buffer.concat([code, Buffer.from(reason)]));
    this.socket.end();
  }

  #send(kind, payload) {
    if (!this.socket.writable) return;
    const { length } = payload;
    const size = length < 126 ? [length] : [126, length >> 8, length & 255];
    this.socket.write(Buffer.concat([Buffer.from([kind, ...size]), payload]));
  }
}

/** Return the first frame of the data, unmasked; null if it is incomplete. */
function frameOf(data) {
  if (data.length < 2) return null;
  const short = data[1] & 127;
  const start = short === 126 ? 8 : 6;
  if (data.length < start) return null;
  const length = short === 126 ? data.readUInt16BE(2) : short;
  if (data.length < start + length) return null;
  const mask = data.subarray(start - 4, start);
  const text = data.subarray(start, start + length).map((byte, at) => byte ^ mask[at % 4]);
  return { kind: data[0], text: String(text), size: start + length };
}
