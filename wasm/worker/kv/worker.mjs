// The shell for tables in Workers KV alone: as ../worker.mjs, with one instance for all requests of the isolate.
import { failed, head, nothing, read, response } from "./http.mjs";
import { Instance } from "./instance.mjs";
import { Patience } from "./patience.mjs";

const maxRequests = 64; // under way
const maxLent = 60_000; // ms until a request is given up that the platform has killed; a purge ends before
const maxHeld = 20_000; // values, until requests have to wait for a moment without any

const maxMemory = 40 << 20; // bytes: an instance that grew beyond takes no requests, and when it has none a new one is in its place
const settles = 120_000; // ms until everybody sees what was written

const queue = new Patience(1024);
let instance, lost = -Infinity;

function ready(env) {
  if (instance !== undefined) {
    const now = Date.now();
    // Where the platform kills a request, nobody ends it.
    for (const { since } of instance.under.values()) if (now - since > maxLent) instance.die(new Error("a request did not end"));
    if (instance.dead) {
      instance = undefined;
      lost = now;
    } else if (instance.grown > maxMemory && instance.under.size === 0) {
      const old = instance, before = lost, next = new Instance(env);
      [instance, lost] = [undefined, now]; // if it knows a part only
      next.takeOver(old);
      [instance, lost] = [next, before];
      console.log(JSON.stringify({ msg: "instance", uses: old.uses, memory: old.memory, then: instance.memory }));
    }
  }
  return (instance ??= new Instance(env));
}

// anew is whether a write has to wait until everybody sees what was written before: a single writer is one that
// remembers that, and an instance was lost with its memory.
function anew(i, request) {
  return i.exports.alone() !== 0 && Date.now() - lost < settles && !["GET", "HEAD", "OPTIONS"].includes(request.method);
}

// enter resolves to the instance when it has room, or to null where too many wait already.
async function enter(env) {
  const i = await queue.until(() => {
    const i = ready(env);
    return i.under.size === 0 || (i.under.size < maxRequests && i.held < maxHeld && i.grown <= maxMemory) ? i : undefined;
  });
  return i ?? null;
}

async function answer(request, env) {
  let body;
  try {
    body = await read(request);
  } catch {
    return new Response(null, { status: 400 }); // who sends it is gone
  }
  try {
    return await serve(request, env, body);
  } finally {
    body.release();
  }
}

async function serve(request, env, { bytes, length, refusal }) {
  const i = refusal === "" ? await enter(env) : null;
  if (i === null) return refuse(request, env, refusal || "busy");
  if (anew(i, request)) return refuse(request, env, "anew");
  try {
    return response(await i.serve(head(request, length, ""), bytes));
  } catch (e) {
    console.error(JSON.stringify({ msg: "trap", cause: String(e) }));
    return refuse(request, env, "failed");
  }
}

// refuse answers in the protocol's form without looking into the request.
async function refuse(request, env, refusal) { return response(await ready(env).serve(head(request, 0, refusal), nothing)); }

export default {
  async fetch(request, env, ctx) {
    const work = answer(request, env).catch(failed).then((r) => {
      r.headers.set("x-edgetable-consistency", "eventual");
      return r;
    });
    ctx.waitUntil(work); // to its end even if the client hangs up: others wait for its turn
    return work;
  },

  // scheduled deletes what dropped tables left behind.
  async scheduled(_, env) { await (await enter(env))?.purge(); },
};
