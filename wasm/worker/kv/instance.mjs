// The module edgetable.wasm, built with the tag kv, and its imports. main.go and kv_wasm.go describe the interface; the
// imports of syscall/js are TinyGo's.
import "./wasm_exec.mjs";
import { Misconfigured, randomness, variables } from "./host.mjs";
import program from "./edgetable.wasm";

const encoder = new TextEncoder(), decoder = new TextDecoder();

export class Instance {
  under = new Map(); // requests in progress, by number
  dead = false;
  uses = 0;

  constructor(env) {
    // github.com/syumai/workers finds its bindings in globalThis.context. adapters/store/workerskv/kv describes the functions
    // in binding.
    const outcomes = [];
    const settle = (number, value, kept) => {
      outcomes[number] = value;
      this.enter(() => this.exports.settled(number, kept));
    };
    const binding = {
      await: (promise, number) => void promise.then((value) => settle(number, value, 1), (e) => settle(number, e, 0)),
      outcome(number) {
        const value = outcomes[number];
        outcomes[number] = undefined;
        return value;
      },
    };
    globalThis.context = { env, ctx: undefined, binding };
    this.go = new Go();
    const imports = Object.assign(this.go.importObject, {
      edge: {
        now: () => Date.now(),
        random: randomness(),
        log: (level, at, n) => console[level === 0 ? "log" : "error"](decoder.decode(this.view(at, n))),
        answered: (number, at, n) => this.under.get(number)?.resolve(this.view(at, n).slice()),
      },
    });
    this.exports = new WebAssembly.Instance(program, imports).exports;
    const { resume } = this.exports;
    this.go.run({ exports: { ...this.exports, resume: () => this.enter(resume) } }).catch((e) => this.die(e));
    const error = this.exports.configure(this.put(encoder.encode(this.configuration(env))));
    if (error > 0) throw new Misconfigured(decoder.decode(this.view(this.exports.buffer(0), error)));
    this.kept = this.go._values.length;
  }

  configuration(env) { return variables(env); }

  // memory returns the size of the module's memory in bytes, which never shrinks.
  get memory() { return this.exports.memory.buffer.byteLength; }

  // held returns the number of JavaScript values that the module holds; see release.
  get held() { return this.go._values.length - this.kept - this.go._idPool.length; }

  view(at, n) { return new Uint8Array(this.exports.memory.buffer, at, n); }

  put(bytes) {
    this.view(this.exports.buffer(bytes.length), bytes.length).set(bytes);
    return bytes.length;
  }

  serve(head, body, client = "") {
    return this.begin((number) => {
      const n = 4 + head.length + body.length, at = this.exports.buffer(n), to = this.view(at, n);
      new DataView(to.buffer).setUint32(at, head.length, true);
      to.set(head, 4);
      to.set(body, 4 + head.length);
      this.exports.serve(number, n);
    }, client);
  }

  purge() { return this.begin((number) => this.exports.purge(number)); }

  async begin(f, client = "") {
    if (this.dead) throw new Error("the instance was trapped");
    const number = ++this.uses;
    try {
      return await new Promise((resolve, reject) => {
        this.under.set(number, { client, resolve, reject, since: Date.now() });
        this.enter(() => f(number));
      });
    } finally {
      this.under.delete(number);
      if (this.under.size === 0) this.release();
    }
  }

  // enter runs a function of the module and then its scheduler. After a trap the instance is in the middle of all its
  // requests, so it is never entered again.
  enter(f) {
    if (this.dead) return;
    try {
      f();
      this.exports.go_scheduler();
    } catch (e) {
      this.die(e);
    }
  }

  die(e) {
    this.dead = true;
    for (const { reject } of this.under.values()) reject(e);
  }

  // release drops the JavaScript values that the module once held, because TinyGo never does. Between requests the module
  // needs only functions, which are its own.
  release() {
    const { _values: values, _ids: ids, _idPool: pool, _goRefCounts: counts } = this.go;
    for (let id = this.kept; id < values.length; id++) {
      if (values[id] === null || typeof values[id] === "function") continue;
      ids.delete(values[id]);
      values[id] = null;
      counts[id] = 0;
      pool.push(BigInt(id));
    }
  }
}
