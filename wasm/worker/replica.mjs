// The replica of the objects' rows in Workers KV: what the module asks of the namespace, and batches of objects that are
// published. What is given and returned is told in namespace.go and durableobject/replica.go.
import { answered, frames, lost, unframe, unreachable } from "./calls.mjs";
import { giveBack, sizeFor, take } from "./pool.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();
const done = 0, none = 1, refused = 2, cursor = 3, failed = 4;
const text = (s) => (typeof s === "string" ? encoder.encode(s) : new Uint8Array(0));

export async function callNamespace(env, bytes) {
  const [what, ...parts] = unframe(bytes), kv = env.EDGETABLE_REPLICA, name = decoder.decode(parts[0]);
  const say = (became, ...rest) => frames([Uint8Array.of(became), ...rest]);
  const go = String.fromCharCode(what[0]), from = go === "l" ? decoder.decode(parts[1]) : "";
  try {
    switch (go) {
      case "g": {
        const { value, metadata } = await kv.getWithMetadata(name, "arrayBuffer");
        return value === null ? say(none) : say(done, new Uint8Array(value), text(metadata));
      }
      case "p":
        await kv.put(name, parts[1], { metadata: decoder.decode(parts[2]) });
        return say(done);
      case "d":
        await kv.delete(name);
        return say(done);
      case "l": {
        const limit = new DataView(parts[2].buffer, parts[2].byteOffset).getUint32(0, true);
        const list = await kv.list({ prefix: name, limit, cursor: from === "" ? undefined : from });
        return say(done, text(list.list_complete ? "" : list.cursor), ...list.keys.flatMap((k) => [encoder.encode(k.name), text(k.metadata)]));
      }
    }
  } catch (e) {
    // Errors say by the number of their status alone what they are.
    const reason = String(e);
    if (go !== "l" && reason.includes("429")) return say(refused);
    if (from !== "" && reason.includes("400")) return say(cursor);
    return say(failed, encoder.encode(reason));
  }
}

// publish publishes a batch and returns what came of it, behind a byte as in calls.go.
export async function publish(env, batch) {
  let instance = null, dead = true;
  try {
    instance = await take(env, Math.max(1, sizeFor(batch.length))); // lists are large too
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
