// Calls of Workers KV for the module, in the forms of namespace.go.
import { unframe } from "./calls.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();
const connections = 6; // per invocation; the platform makes further ones wait
const done = 0, none = 1, refused = 2, cursor = 3, failed = 4;
const text = (s) => (typeof s === "string" ? encoder.encode(s) : new Uint8Array(0));

export async function callNamespace(env, bytes) {
  const [what, ...parts] = unframe(bytes), kv = env.EDGETABLE_REPLICA, name = decoder.decode(parts[0]);
  const say = (outcomes, ...rest) => [Uint8Array.of(outcomes), ...rest];
  const go = String.fromCharCode(what[0]), from = go === "l" ? decoder.decode(parts[1]) : "";
  try {
    switch (go) {
      case "g": {
        const { value, metadata } = await kv.getWithMetadata(name, "arrayBuffer");
        return value === null ? say(none) : say(done, new Uint8Array(value), text(metadata));
      }
      case "w":
        return say(done, ...(await write(kv, new DataView(parts[0].buffer, parts[0].byteOffset).getFloat64(0, true), parts.slice(1))));
      case "l": {
        const limit = new DataView(parts[2].buffer, parts[2].byteOffset).getUint32(0, true);
        const list = await kv.list({ prefix: name, limit, cursor: from === "" ? undefined : from });
        return say(done, text(list.list_complete ? "" : list.cursor), ...list.keys.flatMap((k) => [encoder.encode(k.name), text(k.metadata)]));
      }
    }
  } catch (e) {
    const reason = String(e); // only the status number in the text tells one failure from another
    if (from !== "" && reason.includes("400")) return say(cursor);
    return say(failed, encoder.encode(reason));
  }
}

// write carries out writes as connections become free, and returns the outcome of each. It starts no write after end, or
// after a failed write.
async function write(kv, end, parts) {
  const outcomes = [];
  let next = 0, broken = false;
  const connection = async () => {
    while (next < parts.length) {
      const i = next, what = parts[i][0], name = decoder.decode(parts[i].subarray(1));
      next += 3;
      outcomes[i / 3] = Uint8Array.of(refused);
      if (broken || Date.now() >= end) continue;
      try {
        await (what === 0 ? kv.put(name, parts[i + 1], { metadata: decoder.decode(parts[i + 2]) }) : kv.delete(name));
        outcomes[i / 3] = Uint8Array.of(done);
      } catch (e) {
        const reason = String(e);
        if (reason.includes("429")) continue;
        broken = true;
        outcomes[i / 3] = Uint8Array.of(failed, ...encoder.encode(reason));
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, connection));
  return outcomes;
}
