// The shell around edgetable.wasm in a Cloudflare Worker: it moves bytes between the platform and the module and decides
// nothing about the protocol. What module and shell say to each other is told in main.go.
import { Instance, Misconfigured } from "./instance.mjs";
import { giveBack, take } from "./pool.mjs";

export { EdgetableObject } from "./object.mjs";

const MiB = 1 << 20;
const maxBody = 4 * MiB; // of a request; beyond it the protocol only needs to know that it is too long
const maxBodies = 32 * MiB; // of all requests that are coming in

const encoder = new TextEncoder(), decoder = new TextDecoder();
const nothing = new Uint8Array(0);

let bodies = 0; // bytes that are coming in

// read reads the body as far as it may be. Of what is too long only the length is told, but it is read for a while: who
// still sends does not hear an answer.
async function read(request) {
  const declared = request.headers.get("content-length");
  const length = declared === null ? (request.body === null ? 0 : -1) : Number(declared);
  if (request.body === null) return { bytes: nothing, length };
  if (length > maxBody) {
    await discard(request.body);
    return { bytes: nothing, length };
  }
  const reserved = length < 0 ? maxBody : length;
  if (bodies + reserved > maxBodies) return { bytes: nothing, length: 0, refusal: "busy" };
  bodies += reserved;
  try {
    if (length >= 0) return { bytes: new Uint8Array(await request.arrayBuffer()), length };
    const chunks = [];
    let n = 0;
    for await (const chunk of request.body.values({ preventCancel: true })) {
      if ((n += chunk.length) > maxBody) break;
      chunks.push(chunk);
    }
    if (n <= maxBody) return { bytes: new Uint8Array(await new Blob(chunks).arrayBuffer()), length };
    await discard(request.body);
    return { bytes: nothing, length: n };
  } finally {
    bodies -= reserved;
  }
}

async function discard(body) {
  let n = 0;
  for await (const chunk of body) if ((n += chunk.length) > 4 * maxBody) break; // which cancels the rest
}

// head is a request without its body, as it came: signatures are over these bytes.
function head(request, length, refusal) {
  let text = `${request.method}\n${request.url}\n${request.headers.get("cf-connecting-ip") ?? ""}\n${refusal}\n${length}`;
  for (const [name, value] of request.headers) text += `\n${name}:${value}`;
  return encoder.encode(text);
}

function response(bytes) {
  const n = new DataView(bytes.buffer).getUint32(0, true);
  const [status, ...lines] = decoder.decode(bytes.subarray(4, 4 + n)).split("\n");
  const headers = new Headers();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.append(line.slice(0, colon), line.slice(colon + 1));
  }
  return new Response(bytes.length === 4 + n ? null : bytes.subarray(4 + n), { status: Number(status), headers });
}

async function answer(request, env) {
  let body;
  try {
    body = await read(request);
  } catch {
    return new Response(null, { status: 400 }); // who sends it is gone
  }
  const { bytes, length, refusal = "" } = body;
  if (refusal !== "") return refuse(request, env, refusal);
  const instance = await take(env);
  if (instance === null) return refuse(request, env, "busy");
  let dead = true;
  try {
    const n = await instance.serve(instance.putRequest(head(request, length, ""), bytes));
    const out = instance.get(n);
    dead = false;
    return response(out);
  } catch (e) {
    console.error(JSON.stringify({ msg: "trap", cause: String(e) }));
    return refuse(request, env, "failed");
  } finally {
    giveBack(instance, dead);
  }
}

// refuse answers in the protocol's form without looking into the request, in an instance that does nothing else.
let clerk;
function refuse(request, env, refusal) {
  try {
    clerk ??= new Instance(env);
    clerk.env = env;
    return response(clerk.get(clerk.exports.serve(clerk.putRequest(head(request, 0, refusal), nothing))));
  } catch (e) {
    clerk = undefined;
    throw e;
  }
}

export default {
  async fetch(request, env, ctx) {
    const work = answer(request, env).catch((e) => {
      // The reason is for the log: variables may be wrong in a way that shows a key.
      console.error(JSON.stringify({ msg: e instanceof Misconfigured ? "misconfigured" : "failed", cause: e.message }));
      const body = '{"odata.error":{"code":"InternalError","message":{"lang":"en-US","value":"Server encountered an internal error. Please try again after some time."}}}';
      return new Response(body, { status: 500, headers: { "Content-Type": "application/json", "x-ms-error-code": "InternalError" } });
    });
    ctx.waitUntil(work); // to its end even if the client hangs up: an instance comes with it
    return work;
  },
};
