// The instances for requests. One serves one request at a time, as it is suspended where the request waits.
//
// A module's memory never shrinks, and what is dropped the platform collects late, if at all before the isolate has too much.
// So each instance gets a memory of a fixed size, and the memories are as many as the isolate has room for, which go on to
// the next instance: whatever requests come at once, these are all there is. What moves little is served in small ones, of
// which there are many, so that it never waits for what moves much. That is served in few large ones: in instances that serve
// nothing else, since large pieces of memory are seldom collected (see buffer.go).
import { Instance } from "./instance.mjs";
import { Patience } from "./patience.mjs";

const KiB = 1 << 10, MiB = 1 << 20, page = 64 * KiB;
export const sizes = [
  { moves: 32 * KiB, memory: 768 * KiB, most: 15, reused: true },
  { moves: 1152 * KiB, memory: 5 * MiB, most: 2 },
  { moves: Infinity, memory: 24 * MiB, most: 1 },
].map((s) => ({ ...s, idle: [], memories: [], made: 0, lent: new Map() }));
const maxUses = 100_000; // of an instance: against what fragments
const maxLent = 60_000; // ms until an instance whose request was killed is given up

const queue = new Patience(1024); // of requests for an instance

// sizeOf is the index of the size for an answer to calls of so many bytes; sizeFor for the body of a request, of which more
// is made on its way: what is read of it, the message, and what an insert answers with.
export function sizeOf(bytes) { return sizes.findIndex((s) => bytes <= s.moves); }
export function sizeFor(bytes) { return sizeOf(2 * bytes); }

// take resolves to an instance of a size, or to null where too many wait for one already.
export async function take(env, size) {
  const instance = await queue.until(() => lend(sizes[size], env));
  if (instance === undefined) return null;
  instance.env = env;
  instance.size = size;
  instance.uses++;
  return instance;
}

function lend(s, env) {
  const instance = find(s, env);
  if (instance !== undefined) s.lent.set(instance, Date.now());
  return instance;
}

function find(s, env) {
  if (s.idle.length > 0) return s.idle.pop();
  const memory = s.memories.pop() ?? make(s);
  if (memory === undefined) return undefined;
  try {
    return new Instance(env, memory);
  } catch (e) {
    s.memories.push(memory);
    throw e;
  }
}

function make(s) {
  if (s.made >= s.most) {
    // Where the platform kills a request, nobody gives its instance back, and it may yet wake up.
    for (const [instance, since] of s.lent) if (Date.now() - since > maxLent && s.lent.delete(instance)) s.made--;
    if (s.made >= s.most) return undefined;
  }
  s.made++;
  return new WebAssembly.Memory({ initial: s.memory / page, maximum: s.memory / page });
}

// giveBack takes an instance back; of a dead one, which is in the middle of something for ever, the memory.
export function giveBack(instance, dead) {
  const s = sizes[instance.size];
  if (!s.lent.delete(instance)) return;
  if (s.reused && !dead && instance.uses < maxUses) s.idle.push(instance);
  else s.memories.push(instance.linear);
}
