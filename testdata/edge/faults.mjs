// What goes wrong around the Worker in tests.
import { Instance } from "./instance.mjs";

// Faults are what becomes of the next messages to the objects of a place and of their next steps, one after the other:
// a kind of fate below, or "trap", whose module is trapped behind the first row that it writes, or "unread", which cannot
// read a range of rows; any other is none. And how many of the next alarms fail.
export class Faults {
  messages = [];
  steps = [];
  alarms = 0;

  // around is a stub whose message meets the next fault.
  around(stub) { return { ask: (message) => (fates[this.messages.shift()] ?? fates.none)(stub, message) }; }
}

function fail(properties) { throw Object.assign(new Error("a fault"), properties); }

const fates = {
  none: (stub, message) => stub().ask(message),
  overloaded: async () => fail({ overloaded: true, retryable: true }),
  retryable: async () => fail({ retryable: true }),
  plain: async () => fail({}),
  // The reply is lost behind the transaction.
  reply: async (stub, message) => {
    await stub().ask(message);
    fail({});
  },
  // The message arrives twice, and both answers are the same.
  twice: async (stub, message) => {
    const [first, second] = await Promise.all([stub().ask(message), stub().ask(message)]);
    if (first.length !== second.length || first.some((b, i) => b !== second[i])) throw new Error(`answers differ: ${first}; ${second}`);
    return second;
  },
  // The object is evicted before, or behind the transaction.
  evicted: async (stub, message) => {
    await stub().abort().catch(() => {});
    return stub().ask(message);
  },
  evicting: (stub, message) => stub().last(message),
};

// instances are those of the module that were made and not collected yet.
class Instances {
  made = 0;
  peak = 0; // bytes of all memories that were there at once
  #all = [];
  #memories = new Map(); // of a number to each

  add(instance) {
    this.made++;
    this.#all.push(new WeakRef(instance));
    for (const [n, r] of this.#memories) {
      if (r.deref() === undefined) this.#memories.delete(n);
      else if (r.deref() === instance.linear) return;
    }
    this.#memories.set(this.made, new WeakRef(instance.linear));
  }

  // measure is how many bytes the memories have.
  measure() {
    let sum = 0;
    for (const r of this.#memories.values()) sum += r.deref()?.buffer.byteLength ?? 0;
    this.peak = Math.max(this.peak, sum);
    return sum;
  }

  get list() {
    this.#all = this.#all.filter((r) => r.deref() !== undefined);
    return this.#all.map((r) => r.deref()).filter((i) => i !== undefined);
  }

  // exhaust has the instance that serves an object ask for more memory than there is.
  exhaust(rows) { this.list.find((i) => i.rows === rows).exports.buffer(0x7fffffff); }
}

export const instances = new Instances();

// The constructor of an instance asks for its configuration, and putRequest is what comes before a request.
const { configuration, get, putRequest } = Instance.prototype;
Instance.prototype.get = function (n) {
  instances.measure();
  return get.call(this, n);
};
Instance.prototype.configuration = function () {
  instances.add(this);
  return configuration.call(this);
};
Instance.prototype.putRequest = function (head, body) {
  const n = putRequest.call(this, head, body);
  // All its memory but the request is overwritten: it is trapped somewhere on its way.
  const text = new TextDecoder().decode(head);
  if (text.includes("\nx-fault:trap") && !text.includes("\nfailed\n")) {
    const at = this.exports.buffer(0), all = new Uint8Array(this.linear.buffer);
    all.fill(0xff, 0, at);
    all.fill(0xff, at + n);
  }
  return n;
};

// mistreat makes all instances look old, and says which there are.
export function mistreat(asked) {
  if (asked.has("uses")) for (const i of instances.list) i.uses = Number(asked.get("uses"));
  return { made: instances.made, memory: instances.measure(), peak: instances.peak };
}
