// Calls to Durable Objects, and the encoding of messages with several parts.
const decoder = new TextDecoder();

// framed puts the length of each byte string before it; frames joins byte strings in that form; unframe splits them again.
export function framed(parts) {
  return parts.flatMap((p) => {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, p.length, true);
    return [length, p];
  });
}

export function frames(parts) {
  const all = framed(parts), out = new Uint8Array(size(all));
  copy(all, out);
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

// size returns the number of bytes of all parts; copy copies the parts one after the other.
export function size(parts) { return parts.reduce((n, p) => n + p.length, 0); }

export function copy(parts, to) {
  let at = 0;
  for (const p of parts) {
    to.set(p, at);
    at += p.length;
  }
}

// The outcomes of a call: the byte before its answer.
export const answered = 0, overloaded = 1, lost = 2, unreachable = 3, failed = 4;

// callsOf decodes calls from frames as in appendCalls of calls.go. A call is the object's name, its jurisdiction, a location
// hint and the message.
export function callsOf(parts) {
  const calls = [];
  for (let i = 0; i < parts.length; i += 4) calls.push([...parts.slice(i, i + 3).map((p) => decoder.decode(p)), parts[i + 3]]);
  return calls;
}

// callObjects calls objects concurrently, for at most ms milliseconds. It returns their answers, each preceded by its
// outcome. own holds functions for calls that an object makes to itself, by name.
export async function callObjects(env, calls, ms, own = {}) {
  let timer;
  const late = new Promise((resolve) => { timer = setTimeout(resolve, ms, Uint8Array.of(lost)); });
  try {
    if (calls.length === 0) await late;
    return await Promise.all(calls.map((call) => Promise.race([late, callObject(env, own, ...call)])));
  } finally {
    clearTimeout(timer);
  }
}

async function callObject(env, own, name, jurisdiction, hint, message) {
  if (Object.hasOwn(own, name)) return own[name](message);
  let stub;
  try {
    let objects = env.EDGETABLE_OBJECTS;
    if (jurisdiction !== "") objects = objects.jurisdiction(jurisdiction);
    stub = objects.getByName(name, hint !== "" ? { locationHint: hint } : undefined);
  } catch (e) {
    console.error(JSON.stringify({ msg: "object", cause: String(e) }));
    return Uint8Array.of(unreachable);
  }
  try {
    // The platform sends the whole buffer of a view.
    return await stub.ask(message.length === message.buffer.byteLength ? message : message.slice());
  } catch (e) {
    // A stub that threw may stay broken, so each call makes its own stub. An error that the platform calls retryable may come
    // after the message was handled. Only an overload says for certain that it was not.
    return Uint8Array.of(e?.overloaded ? overloaded : lost);
  }
}
