// The instances for requests. One serves one request at a time, as it is suspended where the request waits.
import { Instance } from "./instance.mjs";

const MiB = 1 << 20;
const maxInstances = 64;
const maxWaiting = 1024; // requests for an instance
const maxWait = 5_000; // ms
// Of all instances together. The platform collects the memory of one that is dropped late, if at all before the isolate has
// too much: so no instance is added where there is enough memory in use already, and few are dropped that will be missed.
const maxTotal = 64 * MiB; // behind which none is added
const leastMemory = 4 * MiB; // what an instance counts for, as it will grow
const maxIdle = 72 * MiB; // of those that wait for a request, which keep what they once needed
const maxMemory = 40 * MiB; // of one
const maxUses = 100_000; // of an instance: against what fragments
const maxLent = 60_000; // ms until an instance whose request was killed is given up

const idle = [], lent = new Map();
let waiting = 0;

// take resolves to an instance, or to null where too many wait for one already. A request looks for itself whether there
// is one: the platform takes a request for hung that only another one could wake.
export async function take(env) {
  for (let waited = 0, pause = 1; ; waited += pause, pause = Math.min(2 * pause, 16)) {
    const instance = idle.pop() ?? (room() ? new Instance(env) : undefined);
    if (instance !== undefined) {
      instance.env = env;
      instance.uses++;
      lent.set(instance, Date.now());
      return instance;
    }
    if (waited > maxWait || (waited === 0 && waiting >= maxWaiting)) return null;
    waiting++;
    try {
      await new Promise((resolve) => setTimeout(resolve, pause));
    } finally {
      waiting--;
    }
  }
}

function room() {
  if (fits()) return true;
  // Where the platform kills a request, nobody gives its instance back.
  for (const [instance, since] of lent) if (Date.now() - since > maxLent) lent.delete(instance);
  return fits();
}

function fits() { return lent.size < maxInstances && total(lent.keys()) + total(idle) < maxTotal; }

function total(instances) {
  let n = 0;
  for (const i of instances) n += Math.max(i.memory, leastMemory);
  return n;
}

// giveBack takes an instance back; a dead one is forgotten.
export function giveBack(instance, dead) {
  if (!lent.delete(instance) || dead || instance.uses >= maxUses) return;
  if (instance.memory <= maxMemory && total(idle) + instance.memory <= maxIdle) idle.push(instance);
}
