// The instance for work that never waits. It refuses requests, counts the rate limits, and remembers maps and settings, for
// all instances of the isolate.
import { head, nothing, responseOf } from "./http.mjs";
import { Instance } from "./instance.mjs";

const pages = 64; // of 64 KiB: enough for the token buckets of three limits, and for known.go
let counter, memory;

function ask(env, f) {
  try {
    memory ??= new WebAssembly.Memory({ initial: pages, maximum: pages });
    counter ??= new Instance(env, memory);
    counter.env = env;
    return f(counter);
  } catch (e) {
    counter = undefined; // the counts and memories are lost
    throw e;
  }
}

// refuse answers in the protocol's form without reading the request.
export function refuse(request, env, refusal) {
  return ask(env, (c) => responseOf(...c.response(c.exports.serve(c.putRequest(head(request, 0, refusal), nothing)))));
}

// limit takes tokens of a key. It returns 0, or the milliseconds until enough tokens are available. With 0 tokens it only
// asks.
export function limit(env, which, key, tokens) { return ask(env, (c) => c.exports.limit(which, c.put(key), tokens)); }

// known answers a question about what the isolate remembers: see known.go. If the answer is empty, the module asks the
// objects.
export function known(env, question) {
  try {
    return ask(env, (c) => c.get(c.exports.known(c.put(question))));
  } catch (e) {
    console.error(JSON.stringify({ msg: "trap", cause: String(e), known: true }));
    return new Uint8Array(0);
  }
}
