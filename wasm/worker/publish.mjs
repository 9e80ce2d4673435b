// Publishes the batches of objects to the replica, in the form of durableobject/replica.go.
import { answered, lost, unreachable } from "./calls.mjs";
import { giveBack, sizeFor, take } from "./pool.mjs";

// publish publishes a batch. It returns the outcome (see calls.go) and the result.
export async function publish(env, batch) {
  let instance = null, dead = true;
  try {
    instance = await take(env, Math.max(1, sizeFor(batch.length))); // lists of KV are large, too
  } catch (e) {
    console.error(JSON.stringify({ msg: "replica", cause: e.message }));
  }
  if (instance === null) return Uint8Array.of(unreachable);
  try {
    const n = await instance.publish(instance.put(batch)), out = new Uint8Array(1 + n);
    out[0] = answered;
    out.set(instance.get(n), 1);
    dead = false;
    return out;
  } catch (e) {
    console.error(JSON.stringify({ msg: "trap", cause: String(e) }));
    return Uint8Array.of(lost);
  } finally {
    giveBack(instance, dead);
  }
}
