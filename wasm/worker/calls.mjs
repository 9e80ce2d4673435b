// Calls of Durable Objects, and the form of messages of several parts.
const decoder = new TextDecoder();

// frames joins byte strings, each behind its length; unframe takes them apart.
export function frames(parts) {
  const out = new Uint8Array(parts.reduce((n, p) => n + 4 + p.length, 0)), view = new DataView(out.buffer);
  let at = 0;
  for (const p of parts) {
    view.setUint32(at, p.length, true);
    out.set(p, at + 4);
    at += 4 + p.length;
  }
  return out;
}

export function unframe(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), parts = [];
  for (let at = 0; at < bytes.length;) {
    const n = view.getUint32(at, true);
    parts.push(bytes.subarray(at + 4, at += 4 + n));
  }
  return parts;
}

// callObjects sends messages to objects concurrently; an object may also send a batch to publish. calls.go describes the
// forms.
export const answered = 0, overloaded = 1, lost = 2, unreachable = 3, failed = 4;

// writes reports whether a call may write.
export function writes(bytes) { return bytes[8] === 1; }

// timeless is the calls without their time limit.
export function timeless(bytes) { return bytes.subarray(8); }

export async function callObjects(env, bytes, publish) {
  const [limit, ...parts] = unframe(bytes);
  const ms = new DataView(limit.buffer, limit.byteOffset).getUint32(0, true);
  let timer;
  const late = new Promise((resolve) => { timer = setTimeout(resolve, ms, Uint8Array.of(lost)); });
  try {
    if (parts.length === 0) return await late;
    const calls = [], alone = parts.length === 4;
    for (let i = 0; i < parts.length; i += 4) {
      const to = parts.slice(i, i + 3), message = parts[i + 3];
      // The platform sends the whole buffer of a view: here that would include the other messages.
      calls.push(Promise.race([late, callObject(env, publish, ...to, alone ? message : message.slice())]));
    }
    return frames(await Promise.all(calls));
  } finally {
    clearTimeout(timer);
  }
}

async function callObject(env, publish, name, jurisdiction, hint, message) {
  if (publish !== undefined && decoder.decode(name) === "replica") return publish(env, message);
  let stub;
  try {
    let objects = env.EDGETABLE_OBJECTS;
    if (jurisdiction.length > 0) objects = objects.jurisdiction(decoder.decode(jurisdiction));
    stub = objects.getByName(decoder.decode(name), hint.length > 0 ? { locationHint: decoder.decode(hint) } : undefined);
  } catch (e) {
    console.error(JSON.stringify({ msg: "object", cause: String(e) }));
    return Uint8Array.of(unreachable);
  }
  try {
    return await stub.ask(message);
  } catch (e) {
    // A stub that threw may stay broken, so each call makes its own. An error that the platform calls retryable may come
    // after the message was handled; only an overload is certain.
    return Uint8Array.of(e?.overloaded ? overloaded : lost);
  }
}
