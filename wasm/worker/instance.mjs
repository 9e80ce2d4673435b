// The module edgetable.wasm and what it imports. What the two say to each other is told in main.go.
import program from "./edgetable.wasm";
import { callObjects } from "./calls.mjs";
import { callNamespace } from "./namespace.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();

// A module that was trapped, or left by an exception, is in the middle of something for ever: it is never used again.
export class Instance {
  uses = 0;
  rows = null; // of the object at hand

  constructor(env) {
    this.env = env;
    const random = new BigUint64Array(64);
    let left = 0;
    const zero = () => 0;
    this.exports = new WebAssembly.Instance(program, {
      edge: {
        now: () => Date.now(),
        random: () => {
          if (left === 0) left = crypto.getRandomValues(random).length;
          return random[--left];
        },
        log: (level, at, n) => this.log(level, decoder.decode(this.view(at, n))),
        call: new WebAssembly.Suspending(async (at, n) => this.put(await callObjects(this.env, this.view(at, n).slice()))),
        kv: new WebAssembly.Suspending(async (at, n) => this.put(await callNamespace(this.env, this.view(at, n).slice()))),
        row_get: (at, n) => {
          const value = this.rows.get(this.view(at, n));
          return value === undefined ? -1 : this.put(value);
        },
        row_put: (at, n, valueAt, valueN) => this.rows.put(this.view(at, n), this.view(valueAt, valueN)),
        row_delete: (at, n) => this.rows.delete(this.view(at, n)),
        row_delete_all: () => this.rows.deleteAll(),
        row_scan: (at, n) => this.put(this.rows.scan(this.view(at, n))),
      },
      wasi_snapshot_preview1: { fd_write: (_, list, n, written) => this.stderr(list, n, written) },
      // The local time zone, which is linked and started up but never asked for.
      gojs: new Proxy({}, { get: (_, name) => (["runtime.ticks", "syscall/js.valueGet"].includes(name) ? () => 0n : zero) }),
    }).exports;
    this.exports._initialize();
    this.serve = WebAssembly.promising(this.exports.serve);
    this.publish = WebAssembly.promising(this.exports.publish);
    const error = this.exports.configure(this.put(encoder.encode(this.configuration())));
    if (error > 0) throw new Misconfigured(decoder.decode(this.get(error)));
  }

  // configuration is the Worker's variables and secrets, and whether it has a replica.
  configuration() {
    const variables = Object.entries(this.env).filter(([name, value]) => name.startsWith("EDGETABLE_") && typeof value === "string");
    if (typeof this.env.EDGETABLE_REPLICA === "object") variables.push(["EDGETABLE_REPLICA", "bound"]);
    return variables.map(([name, value]) => `${name}=${value}\0`).join("");
  }

  get memory() { return this.exports.memory.buffer.byteLength; }

  view(at, n) { return new Uint8Array(this.exports.memory.buffer, at, n); }

  // put writes to the buffer and returns the number of bytes; get copies them out of it.
  put(bytes) {
    this.view(this.exports.buffer(bytes.length), bytes.length).set(bytes);
    return bytes.length;
  }

  get(n) { return this.view(this.exports.buffer(0), n).slice(); }

  putRequest(head, body) {
    const at = this.exports.buffer(4 + head.length + body.length), to = this.view(at, 4 + head.length + body.length);
    new DataView(to.buffer).setUint32(at, head.length, true);
    to.set(head, 4);
    to.set(body, 4 + head.length);
    return to.length;
  }

  log(level, line) {
    console[level === 0 ? "log" : "error"](line);
    if (this.env.EDGETABLE_METRICS === undefined) return; // a data set of Analytics Engine
    const r = JSON.parse(line);
    this.env.EDGETABLE_METRICS.writeDataPoint({
      indexes: [r.account ?? ""],
      blobs: [r.operation ?? "", r.code ?? "", r.table ?? "", r.method ?? ""],
      doubles: [r.status ?? 0, r.ms ?? 0, r.received ?? 0, r.sent ?? 0],
    });
  }

  // stderr is where Go says why it panics.
  stderr(list, n, written) {
    const view = new DataView(this.exports.memory.buffer);
    let text = "", total = 0;
    for (let i = 0; i < n; i++, list += 8) {
      const size = view.getUint32(list + 4, true);
      text += decoder.decode(this.view(view.getUint32(list, true), size));
      total += size;
    }
    view.setUint32(written, total, true);
    if (text.trim() !== "") console.error(JSON.stringify({ msg: "module", text: text.trim() }));
    return 0;
  }
}

export class Misconfigured extends Error {}
