// The shell for tables in Workers KV alone. It is like ../worker.mjs, but has one instance for all requests of the isolate.
import { answer, clientOf, head, nothing, response } from "./http.mjs";
import { Instance } from "./instance.mjs";
import { Waiters } from "./waiters.mjs";

const maxRequests = 64; // of maxRequests, reserved for clients that have no request in progress
const spare = 16; // of them, for clients that have none
const maxAge = 60_000; // JavaScript values held by the module; above that, requests wait until it holds none
const maxHeld = 20_000; // JavaScript values held by the module, before requests wait until it holds none
const maxMemory = 40 << 20; // bytes; a larger instance takes no requests and is replaced when it has none

const queue = new Waiters(1024, (client) => [...(instance?.under.values() ?? [])].filter((r) => r.client === client).length);
let instance;

function ready(env) {
  if (instance !== undefined) {
    // A request that the platform has killed never ends on its own.
    for (const { since } of instance.under.values()) if (Date.now() - since > maxAge) instance.die(new Error("a request did not end"));
    if (instance.dead || (instance.memory > maxMemory && instance.under.size === 0)) instance = undefined;
  }
  return (instance ??= new Instance(env));
}

// enter resolves to the instance when it has room, or to undefined if too many requests wait.
function enter(env, client) {
  return queue.until(client, () => {
    const i = ready(env), most = maxRequests - (queue.holds(client) > 0 ? spare : 0);
    return i.under.size === 0 || (i.under.size < most && i.held < maxHeld && i.memory <= maxMemory) ? i : undefined;
  });
}

async function serve(request, env, { bytes, length, refusal }) {
  const client = clientOf(request), i = refusal === "" ? await enter(env, client) : undefined;
  if (i === undefined) return refuse(request, env, refusal || "busy");
  try {
    return response(await i.serve(head(request, length, ""), bytes, client));
  } catch (e) {
    console.error(JSON.stringify({ msg: "trap", cause: String(e) }));
    return refuse(request, env, "failed");
  }
}

// refuse answers in the protocol's form without reading the request.
async function refuse(request, env, refusal) { return response(await ready(env).serve(head(request, 0, refusal), nothing)); }

export default {
  async fetch(request, env, ctx) {
    const work = answer(request, env, serve).then((r) => {
      r.headers.set("x-edgetable-consistency", "eventual");
      return r;
    });
    ctx.waitUntil(work); // run to the end even if the client disconnects, so that the instance does not stop in the middle
    return work;
  },

  // scheduled deletes the entities of dropped tables.
  async scheduled(_, env) { await (await enter(env, ""))?.purge(); },
};
