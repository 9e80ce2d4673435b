// The module edgetable.wasm and its imports. main.go describes the interface between them.
import program from "./edgetable.wasm";
import { callObjects, copy, framed, size } from "./calls.mjs";
import { Misconfigured, randomness, variables } from "./host.mjs";
import { callNamespace } from "./namespace.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();

// An instance that trapped, or that an exception left, is in an unknown state and is never used again. The next instance can
// use its memory, because the parts that must be zero are cleared.
export class Instance {
  uses = 0;
  rows = null; // the rows of the current object
  job = null; // the job of the current request
  exhausted = false; // whether it trapped because its memory was full

  constructor(env, linear = new WebAssembly.Memory({ initial: 16, maximum: 1024 })) {
    this.env = env;
    this.linear = linear;
    const zero = () => 0, draw = randomness();
    this.exports = new WebAssembly.Instance(program, {
      env: { memory: linear },
      edge: {
        now: () => this.job?.now ?? Date.now(),
        random: () => this.job?.random(draw) ?? draw(),
        limit: (which, at, n, tokens) => this.job?.limit(this.env, which, this.view(at, n), tokens) ?? 0,
        log: (level, at, n) => this.log(level, decoder.decode(this.view(at, n))),
        call: new WebAssembly.Suspending((at, n, ms, writes) => {
          const calls = this.calls(at, n);
          return this.ask(calls.flat(), writes === 1, () => callObjects(this.env, calls, ms));
        }),
        known: (at, n) => {
          const question = this.view(at, n).slice();
          return this.put(this.job?.known(this.env, question) ?? this.get(this.exports.known(this.put(question))));
        },
        kv: new WebAssembly.Suspending((at, n) => {
          const request = this.view(at, n).slice();
          return this.ask([request], false, () => callNamespace(this.env, request));
        }),
        row_get: (at, n) => {
          const value = this.rows.get(this.view(at, n));
          return value === undefined ? -1 : this.put(value);
        },
        row_put: (at, n, valueAt, valueN) => this.rows.put(this.view(at, n), this.view(valueAt, valueN)),
        row_delete: (at, n) => this.rows.delete(this.view(at, n)),
        row_delete_all: () => this.rows.deleteAll(),
        row_drop_day: (day) => this.rows.dropDay(day),
        row_size: () => this.rows.size(),
        row_scan: (at, n) => this.put(this.rows.scan(this.view(at, n))),
      },
      wasi_snapshot_preview1: { fd_write: (_, list, n, written) => this.stderr(list, n, written) },
      // The local time zone: it is linked but never used.
      gojs: new Proxy({}, { get: (_, name) => (["runtime.ticks", "syscall/js.valueGet"].includes(name) ? () => 0n : zero) }),
    }).exports;
    this.exports._initialize();
    this.serve = WebAssembly.promising(this.exports.serve);
    this.publish = WebAssembly.promising(this.exports.publish);
    const error = this.exports.configure(this.put(encoder.encode(this.configuration())));
    if (error > 0) throw new Misconfigured(decoder.decode(this.get(error)));
  }

  // configuration returns the Worker's variables and secrets, and whether the Worker has a replica.
  configuration() {
    return variables(this.env, ...(typeof this.env.EDGETABLE_REPLICA === "object" ? [["EDGETABLE_REPLICA", "bound"]] : []));
  }

  // ask passes the answer to calls to the module. make makes the calls.
  async ask(asked, writes, make) {
    return this.put(...framed(await (this.job === null ? make() : this.job.ask(asked, writes, make, this))));
  }

  get memory() { return this.linear.buffer.byteLength; }

  view(at, n) { return new Uint8Array(this.linear.buffer, at, n); }

  // put copies parts into the buffer and returns their number of bytes; get copies n bytes out of the buffer.
  put(...parts) {
    const n = size(parts);
    copy(parts, this.view(this.exports.buffer(n), n));
    return n;
  }

  get(n) { return this.view(this.exports.buffer(0), n).slice(); }

  // response copies a response out of the module: the head from the buffer, and the body from its address.
  response(n) {
    const out = this.get(n), view = new DataView(out.buffer);
    return [out.subarray(8), this.view(view.getUint32(0, true), view.getUint32(4, true)).slice()];
  }

  // calls copies calls out of the module. There, a call is four addresses with lengths (name, jurisdiction, hint and
  // message), and a capacity.
  calls(at, n) {
    const view = new DataView(this.linear.buffer), part = (at) => this.view(view.getUint32(at, true), view.getUint32(at + 4, true));
    return Array.from({ length: n }, (_, i) => {
      const call = at + 36 * i;
      return [...[0, 8, 16].map((offset) => decoder.decode(part(call + offset))), part(call + 24).slice()];
    });
  }

  putRequest(head, body) {
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, head.length, true);
    return this.put(length, head, body);
  }

  log(level, line) {
    if (this.job?.quiet) return;
    console[level === 0 ? "log" : "error"](line);
    if (this.env.EDGETABLE_METRICS === undefined) return; // a data set of Analytics Engine
    const r = JSON.parse(line);
    const point = (blobs, doubles) => this.env.EDGETABLE_METRICS.writeDataPoint({ indexes: [r.account ?? ""], blobs, doubles });
    switch (r.msg) {
      case "request": return point([r.operation ?? "", r.code ?? "", r.table ?? "", r.method ?? ""], [r.status ?? 0, r.ms ?? 0, r.received ?? 0, r.sent ?? 0]);
      case "split": return point([r.event, "", r.table, ""], [r.bucket, r.range]);
    }
  }

  // stderr receives what Go writes before a panic.
  stderr(list, n, written) {
    const view = new DataView(this.linear.buffer);
    let text = "", total = 0;
    for (let i = 0; i < n; i++, list += 8) {
      const size = view.getUint32(list + 4, true);
      text += decoder.decode(this.view(view.getUint32(list, true), size));
      total += size;
    }
    view.setUint32(written, total, true);
    this.exhausted ||= text.includes("out of memory");
    if (text.trim() !== "" && !this.exhausted) console.error(JSON.stringify({ msg: "module", text: text.trim() }));
    return 0;
  }
}
