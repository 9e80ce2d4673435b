// Requests and responses between the platform and the module, in the forms of request.go and response.go.
import { Misconfigured } from "./host.mjs";
import { Waiters } from "./waiters.mjs";

const MiB = 1 << 20;
const maxBody = 4 * MiB; // of a request; of a longer body the protocol needs only the length
const maxBodies = 24 * MiB; // of all requests together
const small = 16 << 10; // bytes of a body that does not wait for larger ones, which leave room for it
const maxHeld = 60_000; // ms; after that the platform has killed the request, and its body is released

// The queues of requests whose bodies are not read yet, first for small bodies, then for large ones. all is the maximum number of
// bytes of all bodies at which a request of the queue is admitted; each is the same for one client in this queue.
const lines = [[maxBodies, maxBody], [maxBodies - maxBody, maxBodies / 2]].map(([all, each]) => {
  const line = { all, each, queue: new Waiters(256, (client) => sum((b) => b.line === line && b.client === client)) };
  return line;
});
const lineOf = (n) => lines[n <= small ? 0 : 1];

const encoder = new TextEncoder(), decoder = new TextDecoder();
export const nothing = new Uint8Array(0);

// Body is the body of a request, or only its length if the body is too long.
class Body {
  bytes = nothing;
  refusal = "";

  constructor(client, length) { Object.assign(this, { client, length }); }

  // hold counts the body with the number of bytes that it has or may have.
  hold(most) {
    bodies.add(Object.assign(this, { most, line: lineOf(most), since: Date.now() }));
    return this;
  }

  release() { bodies.delete(this); }
}

// bodies are the bodies that are being read or held.
const bodies = new Set();

// sum returns the number of bytes of the bodies that match, and releases those of killed requests.
function sum(which = () => true) {
  let n = 0;
  for (const b of bodies) {
    if (Date.now() - b.since > maxHeld) b.release();
    else if (which(b)) n += b.most;
  }
  return n;
}

// room admits a body of n bytes if its queue has room for it.
function room(body, n) {
  const { all, each, queue } = lineOf(n);
  return sum() + n <= all && queue.holds(body.client) + n <= each ? body.hold(n) : undefined;
}

// clientOf returns the client that sent a request: its IPv4 address, or the /64 network of its IPv6 address, because one
// client usually has such a network.
export function clientOf(request) {
  const address = request.headers.get("cf-connecting-ip") ?? "", [begin, end] = address.toLowerCase().split("::");
  if (!address.includes(":")) return address;
  const groups = begin.split(":"), rest = end === undefined || end === "" ? [] : end.split(":");
  while (groups.length + rest.length < 8) groups.push("0");
  return [...groups, ...rest].slice(0, 4).map((g) => g.replace(/^0+(?=.)/, "")).join(":");
}

// read reads the body and holds it until it is released. If the body is too long, it reads and discards a part of it, because
// a client that is still sending does not read the response.
export async function read(request) {
  const declared = request.headers.get("content-length");
  const body = new Body(clientOf(request), declared === null ? (request.body === null ? 0 : -1) : Number(declared));
  if (request.body === null) return body;
  if (body.length > maxBody) {
    await discard(request.body);
    return body;
  }
  const most = body.length < 0 ? maxBody : body.length;
  if ((await lineOf(most).queue.until(body.client, () => room(body, most))) === undefined) {
    await discard(request.body);
    return Object.assign(body, { length: 0, refusal: "busy" });
  }
  try {
    await fill(body, request);
  } catch (e) {
    body.release();
    throw e;
  }
  return body.hold(body.bytes.length);
}

async function fill(body, request) {
  if (body.length >= 0) {
    body.bytes = new Uint8Array(await request.arrayBuffer());
    return;
  }
  const chunks = [];
  let n = 0;
  for await (const chunk of request.body.values({ preventCancel: true })) {
    if ((n += chunk.length) > maxBody) break;
    chunks.push(chunk);
  }
  if (n <= maxBody) {
    body.bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
    return;
  }
  await discard(request.body);
  body.length = n;
}

async function discard(body) {
  let n = 0;
  for await (const chunk of body) if ((n += chunk.length) > 4 * maxBody) break; // leaving the loop cancels the rest
}

// head encodes a request without its body. Nothing is changed, because signatures cover these bytes.
export function head(request, length, refusal) {
  let text = `${request.method}\n${request.url}\n${request.headers.get("cf-connecting-ip") ?? ""}\n${refusal}\n${length}`;
  for (const [name, value] of request.headers) text += `\n${name}:${value}`;
  return encoder.encode(text);
}

// response makes a response of one byte string: the length of the head, the head, the body.
export function response(bytes) {
  const n = new DataView(bytes.buffer).getUint32(0, true);
  return responseOf(bytes.subarray(4, 4 + n), bytes.subarray(4 + n));
}

export function responseOf(head, body) {
  const [status, ...lines] = decoder.decode(head).split("\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  const statusText = status.slice(4); // with "" the platform uses the standard phrase
  return new Response(body.length === 0 ? null : body, { status: Number(status.slice(0, 3)), ...(statusText && { statusText }), headers });
}

// answer holds the body of a request until the request is served.
export async function answer(request, env, serve) {
  let body;
  try {
    body = await read(request);
  } catch {
    return new Response(null, { status: 400 }); // the client has closed the connection
  }
  try {
    return await serve(request, env, body);
  } catch (e) {
    return failed(e);
  } finally {
    body.release();
  }
}

// failed returns the response for a module that cannot run. Only the log shows the reason, because a wrong variable may
// contain a key.
function failed(e) {
  console.error(JSON.stringify({ msg: e instanceof Misconfigured ? "misconfigured" : "failed", cause: e.message }));
  const value =
    e instanceof Misconfigured
      ? "The server is misconfigured. The log says what is wrong."
      : "Server encountered an internal error. Please try again after some time.";
  const body = JSON.stringify({ "odata.error": { code: "InternalError", message: { lang: "en-US", value } } });
  return new Response(body, { status: 500, headers: { "Content-Type": "application/json", "x-ms-error-code": "InternalError" } });
}
