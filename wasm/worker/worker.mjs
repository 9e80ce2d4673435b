// The shell around edgetable.wasm in a Cloudflare Worker: it moves bytes between the platform and the module and decides
// nothing about the protocol. main.go describes the interface between the two.
import { follow, follows } from "./changes.mjs";
import { refuse } from "./counter.mjs";
import { answer, clientOf, head, responseOf } from "./http.mjs";
import { Job, Outgrown } from "./job.mjs";
import { giveBack, sizeFor, sizes, take } from "./pool.mjs";

export { EdgetableObject } from "./object.mjs";

const maxReused = 64 << 10; // bytes of a response, after which an instance serves no further request: see buffer.go

// serve runs a request in an instance. again means that the request was served before, and waits for changes.
async function serve(request, env, { bytes, length, refusal }, again = false) {
  if (refusal !== "") return refuse(request, env, refusal);
  const job = new Job(again), top = head(request, length, "");
  for (let size = sizeFor(bytes.length); ; size++) {
    const instance = await take(env, size, clientOf(request));
    if (instance === null) return refuse(request, env, "busy");
    let dead = true;
    try {
      instance.job = job;
      const out = instance.response(await instance.serve(instance.putRequest(top, bytes)));
      dead = out[1].length > maxReused;
      return Object.assign(responseOf(...out), { length: out[1].length, calls: job.calls });
    } catch (e) {
      if ((e instanceof Outgrown || instance.exhausted) && size + 1 < sizes.length) {
        job.again();
        continue;
      }
      console.error(JSON.stringify({ msg: "trap", cause: instance.exhausted ? "out of memory" : String(e), size, uses: instance.uses, received: bytes.length }));
      return refuse(request, env, job.wrote ? "unknown" : "failed");
    } finally {
      instance.job = null;
      giveBack(instance, dead);
    }
  }
}

export default {
  async fetch(request, env, ctx) {
    const work = answer(request, env, (request, env, body) => (follows(request) ? follow(request, (r, again) => serve(r, env, body, again)) : serve(request, env, body)));
    ctx.waitUntil(work); // run to the end even if the client disconnects, so that the instance is returned
    return work;
  },
};
