// Requests and responses between the platform and the module, whose forms are told in request.go and response.go.
import { Misconfigured } from "./host.mjs";
import { Patience } from "./patience.mjs";

const MiB = 1 << 20;
const maxBody = 4 * MiB; // of a request; beyond it the protocol only needs to know that it is too long
const maxBodies = 24 * MiB; // of all requests
const small = 16 << 10; // bytes of a body that waits for no larger ones: these leave room for as much as one of them has
const maxHeld = 60_000; // ms until a body is given up whose request was killed
const queue = new Patience(256); // of requests that wait for their body, which stays where it is

const encoder = new TextEncoder(), decoder = new TextDecoder();
export const nothing = new Uint8Array(0);

// Body is that of a request as far as it may be. Of what is too long only the length is told.
class Body {
  bytes = nothing;
  refusal = "";

  constructor(length) { this.length = length; }

  release() { bodies.delete(this); }
}

// bodies are those that are coming in, or held: how many bytes each may have, and since when.
const bodies = new Map();

function room(n) {
  let sum = n;
  for (const [body, { most, since }] of bodies) {
    if (Date.now() - since > maxHeld) bodies.delete(body);
    else sum += most;
  }
  return sum <= (n <= small ? maxBodies : maxBodies - maxBody);
}

// read reads the body, and holds it until it is released. What is too long is read for a while: who still sends does not
// hear an answer.
export async function read(request) {
  const declared = request.headers.get("content-length");
  const body = new Body(declared === null ? (request.body === null ? 0 : -1) : Number(declared));
  if (request.body === null) return body;
  if (body.length > maxBody) {
    await discard(request.body);
    return body;
  }
  const most = body.length < 0 ? maxBody : body.length;
  const reserve = () => (room(most) ? bodies.set(body, { most, since: Date.now() }) : undefined);
  if ((await queue.until(reserve)) === undefined) {
    await discard(request.body);
    return Object.assign(body, { length: 0, refusal: "busy" });
  }
  try {
    await fill(body, request);
  } catch (e) {
    body.release();
    throw e;
  }
  bodies.set(body, { most: body.bytes.length, since: Date.now() });
  return body;
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
  for await (const chunk of body) if ((n += chunk.length) > 4 * maxBody) break; // which cancels the rest
}

// head is a request without its body, as it came: signatures are over these bytes.
export function head(request, length, refusal) {
  let text = `${request.method}\n${request.url}\n${request.headers.get("cf-connecting-ip") ?? ""}\n${refusal}\n${length}`;
  for (const [name, value] of request.headers) text += `\n${name}:${value}`;
  return encoder.encode(text);
}

// response is one whose head and body are in one piece: the length of the head, the head, the body.
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
  return new Response(body.length === 0 ? null : body, { status: Number(status), headers });
}

// failed is the answer where there is no module to ask. The reason is for the log: variables may be wrong in a way that shows
// a key.
export function failed(e) {
  console.error(JSON.stringify({ msg: e instanceof Misconfigured ? "misconfigured" : "failed", cause: e.message }));
  const value =
    e instanceof Misconfigured
      ? "The server is misconfigured. The log says what is wrong."
      : "Server encountered an internal error. Please try again after some time.";
  const body = JSON.stringify({ "odata.error": { code: "InternalError", message: { lang: "en-US", value } } });
  return new Response(body, { status: 500, headers: { "Content-Type": "application/json", "x-ms-error-code": "InternalError" } });
}
