// The instances for requests. One serves one request at a time, as it is suspended where the request waits.
import { Instance } from "./instance.mjs";

const MiB = 1 << 20;
const maxInstances = 64;
const maxWaiting = 1024; // requests for an instance
const maxWait = 5_000; // ms
const maxMemory = 40 * MiB; // of instances that wait for a request, which keep what they once needed
const maxTotal = 56 * MiB; // of all, behind which none is added
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

function fits() { return lent.size < maxInstances && total(lent.keys()) < maxTotal; }

function total(instances) {
  let n = 0;
  for (const i of instances) n += i.memory;
  return n;
}

// giveBack takes an instance back; a dead one is forgotten.
export function giveBack(instance, dead) {
  if (!lent.delete(instance) || dead || instance.uses >= maxUses) return;
  if (total(idle) + instance.memory <= maxMemory) idle.push(instance);
}
