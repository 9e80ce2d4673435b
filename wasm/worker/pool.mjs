// The instances for requests. One serves one request at a time, as it is suspended where the request waits.
import { Instance } from "./instance.mjs";

const MiB = 1 << 20;
const maxInstances = 32;
const maxWaiting = 1024; // requests for an instance
const maxMemory = 40 * MiB; // of instances that wait for a request, which keep what they once needed
const maxUses = 100_000; // of an instance: against what fragments
const maxLent = 60_000; // ms until an instance whose request was killed is given up

const idle = [], lent = new Map(), waiting = [];

// take resolves to an instance, or to null where too many wait for one already.
export async function take(env) {
  const instance = idle.pop();
  if (instance !== undefined) return lend(instance, env);
  if (lent.size >= maxInstances) {
    // Where the platform kills a request, nobody gives its instance back.
    for (const [i, since] of lent) if (Date.now() - since > maxLent) lent.delete(i);
  }
  if (lent.size < maxInstances) return lend(new Instance(env), env);
  if (waiting.length >= maxWaiting) return null;
  return new Promise((resolve, reject) => waiting.push({ resolve, reject, env }));
}

function lend(instance, env) {
  instance.env = env;
  instance.uses++;
  lent.set(instance, Date.now());
  return instance;
}

// giveBack takes an instance back, or in place of a dead one lets the next request have another.
export function giveBack(instance, dead) {
  if (!lent.delete(instance)) return;
  const next = waiting.shift();
  const used = idle.reduce((n, i) => n + i.memory, instance.memory);
  const fit = !dead && instance.uses < maxUses && used <= maxMemory;
  if (next !== undefined) {
    try {
      next.resolve(lend(fit ? instance : new Instance(next.env), next.env));
    } catch (e) {
      next.reject(e);
    }
  } else if (fit) idle.push(instance);
}
