// The shell around edgetable.wasm in a Cloudflare Worker: it moves bytes between the platform and the module and decides
// nothing about the protocol. What module and shell say to each other is told in main.go.
import { failed, head, nothing, read, response } from "./http.mjs";
import { Instance, Misconfigured } from "./instance.mjs";
import { giveBack, take } from "./pool.mjs";

export { EdgetableObject } from "./object.mjs";

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
      return failed();
    });
    ctx.waitUntil(work); // to its end even if the client hangs up: an instance comes with it
    return work;
  },
};
