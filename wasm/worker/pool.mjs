// The instances for requests. Each serves one request at a time, because it is suspended while the request waits.
//
// A module's memory never shrinks, and the platform collects a dropped one late, often too late for the
// isolate. So each instance gets a memory of a fixed size, an isolate has a fixed number of memories, and a
// new instance uses the memory of a dropped one. Small requests use the many small memories and never wait
// for large ones. Large requests use the few large memories. Their instances serve only one request,
// because a used heap seldom has room for another large piece (see buffer.go). Some of the small memories
// are reserved for clients that hold none.
import { Instance } from "./instance.mjs";
import { Waiters } from "./waiters.mjs";

const KiB = 1 << 10, MiB = 1 << 20, page = 64 * KiB;
export const sizes = [
  { moves: 32 * KiB, memory: 768 * KiB, most: 15, spare: 3, reused: true },
  { moves: 1152 * KiB, memory: 5 * MiB, most: 2, spare: 0 },
  { moves: Infinity, memory: 24 * MiB, most: 1, spare: 0 },
].map((s) => {
  const lent = new Map(), queue = new Waiters(1024, (client) => [...lent.values()].filter((l) => l.client === client).length);
  return { ...s, idle: [], memories: [], made: 0, lent, queue };
});
const maxUses = 100_000; // requests served by one instance, because its memory fragments
const maxLent = 60_000; // ms; after that the platform has killed the request, and the instance is given up

// sizeOf returns the index of the memory size for an answer of this many bytes. sizeFor returns the index for a body of this
// many bytes, which also needs room for the decoded body, the message and the response.
export function sizeOf(bytes) { return sizes.findIndex((s) => bytes <= s.moves); }
export function sizeFor(bytes) { return sizeOf(2 * bytes); }

// take resolves to an instance of a size, for a client, or to null if too many requests wait for one.
export async function take(env, size, client) {
  const s = sizes[size], instance = await s.queue.until(client, () => lend(s, env, client));
  if (instance === undefined) return null;
  instance.env = env;
  instance.size = size;
  instance.uses++;
  return instance;
}

function lend(s, env, client) {
  const spare = s.queue.holds(client) > 0 ? s.spare : 0;
  if (s.lent.size >= s.most - spare) {
    // A request that the platform killed does not return its instance, and may still wake up.
    for (const [instance, { since }] of s.lent) if (Date.now() - since > maxLent && s.lent.delete(instance)) s.made--;
    if (s.lent.size >= s.most - spare) return undefined;
  }
  const instance = find(s, env);
  s.lent.set(instance, { client, since: Date.now() });
  return instance;
}

function find(s, env) {
  if (s.idle.length > 0) return s.idle.pop();
  const memory = s.memories.pop() ?? make(s);
  try {
    return new Instance(env, memory);
  } catch (e) {
    s.memories.push(memory);
    throw e;
  }
}

function make(s) {
  s.made++;
  return new WebAssembly.Memory({ initial: s.memory / page, maximum: s.memory / page });
}

// giveBack returns an instance to the pool, or only the memory of a dead one.
export function giveBack(instance, dead) {
  const s = sizes[instance.size];
  if (!s.lent.delete(instance)) return;
  if (s.reused && !dead && instance.uses < maxUses) s.idle.push(instance);
  else s.memories.push(instance.linear);
}
