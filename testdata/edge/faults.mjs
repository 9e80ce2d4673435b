// Faults of the platform, which tests inject around the Worker.
import { Instance } from "./instance.mjs";

// The faults of one place: for its next messages to objects, the fates below, in order; for the objects' next steps, "trap",
// which traps the module after the first row that it writes, or "unread", which fails to read a range of rows; any other name
// means no fault. Also the number of the next alarms that fail.
export class Faults {
  messages = [];
  steps = [];
  alarms = 0;

  // around returns a stub that applies the next fault to its message.
  around(stub) { return { ask: (message) => (fates[this.messages.shift()] ?? fates.none)(stub, message) }; }
}

function fail(properties) { throw Object.assign(new Error("a fault"), properties); }

const fates = {
  none: (stub, message) => stub().ask(message),
  overloaded: async () => fail({ overloaded: true, retryable: true }),
  retryable: async () => fail({ retryable: true }),
  plain: async () => fail({}),
  // The reply is lost after the transaction.
  reply: async (stub, message) => {
    await stub().ask(message);
    fail({});
  },
  // The message arrives twice, and both answers must be equal.
  twice: async (stub, message) => {
    const [first, second] = await Promise.all([stub().ask(message), stub().ask(message)]);
    if (first.length !== second.length || first.some((b, i) => b !== second[i])) throw new Error(`answers differ: ${first}; ${second}`);
    return second;
  },
  // The object is evicted before or after the transaction.
  evicted: async (stub, message) => {
    await stub().abort().catch(() => {});
    return stub().ask(message);
  },
  evicting: (stub, message) => stub().last(message),
};

// instances are the instances of the module that are not collected yet.
class Instances {
  made = 0;
  peak = 0; // the highest number of bytes that all memories had together
  #all = [];
  #memories = new Map(); // the memories, by number

  add(instance) {
    this.made++;
    this.#all.push(new WeakRef(instance));
    for (const [n, r] of this.#memories) {
      if (r.deref() === undefined) this.#memories.delete(n);
      else if (r.deref() === instance.linear) return;
    }
    this.#memories.set(this.made, new WeakRef(instance.linear));
  }

  // measure returns the size of all memories in bytes.
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

  // exhaust makes the instance that serves an object allocate more memory than it may have.
  exhaust(rows) { this.list.find((i) => i.rows === rows).exports.buffer(0x7fffffff); }
}

export const instances = new Instances();

// These faults replace methods of Instance: its constructor calls configuration, and each request begins
// with putRequest.
const { ask, configuration, get, putRequest } = Instance.prototype;
Instance.prototype.get = function (n) {
  instances.measure();
  return get.call(this, n);
};
Instance.prototype.configuration = function () {
  instances.add(this);
  return configuration.call(this);
};
Instance.prototype.ask = async function (asked, writes, make) {
  const n = await ask.call(this, asked, writes, make);
  // The memory of a small instance becomes full when the answer to a write arrives.
  if (this.full && writes && this.size === 0) this.exports.buffer(0x7fffffff);
  return n;
};
Instance.prototype.putRequest = function (head, body) {
  const n = putRequest.call(this, head, body);
  this.full = new TextDecoder().decode(head).includes("\nx-fault:full");
  // All memory except the request is overwritten, so that the instance traps somewhere later.
  const text = new TextDecoder().decode(head);
  if (text.includes("\nx-fault:trap") && !text.includes("\nfailed\n")) {
    const at = this.exports.buffer(0), all = new Uint8Array(this.linear.buffer);
    all.fill(0xff, 0, at);
    all.fill(0xff, at + n);
  }
  return n;
};

// mistreat makes all instances look old and returns the numbers of instances and of their bytes.
export function mistreat(asked) {
  if (asked.has("uses")) for (const i of instances.list) i.uses = Number(asked.get("uses"));
  return { made: instances.made, memory: instances.measure(), peak: instances.peak };
}
