// The module edgetable.wasm with the tag kv, and what it imports. What the two say to each other is told in main.go and
// kv_wasm.go; what syscall/js needs is TinyGo's own.
import "./wasm_exec.mjs";
import { Misconfigured, randomness, variables } from "./host.mjs";
import program from "./edgetable.wasm";

const encoder = new TextEncoder(), decoder = new TextDecoder();

export class Instance {
  under = new Map(); // the requests that are under way, by number
  dead = false;
  uses = 0;
  begun = 0; // bytes of memory with which it began

  constructor(env) {
    // Where the module looks for its bindings, which are those of the Worker and not of a request; what is in binding is
    // told in adapters/store/workerskv/kv.
    const outcomes = [];
    const settle = (number, value, kept) => {
      outcomes[number] = value;
      this.enter(() => this.exports.settled(number, kept));
    };
    const binding = {
      await: (promise, number) => void promise.then((value) => settle(number, value, 1), (e) => settle(number, e, 0)),
      pause: (ms, number) => void setTimeout(settle, ms, number, undefined, 1),
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

  // configuration is what it is configured with.
  configuration(env) { return variables(env); }

  // memory is how many bytes it has, which never get less.
  get memory() { return this.exports.memory.buffer.byteLength; }

  // grown is the same, unless it has not grown since it took over.
  get grown() { return this.memory > this.begun ? this.memory : 0; }

  // takeOver has this instance, which is new, remember what another does that nobody uses any more.
  takeOver(other) {
    for (let i = 0, n; (n = other.exports.memo(i)) > 0; i++) {
      const at = other.exports.buffer(0), place = new DataView(other.exports.memory.buffer, at, 8);
      const head = other.view(at + 8, n - 8), body = other.view(place.getUint32(0, true), place.getUint32(4, true));
      const all = new Uint8Array(head.length + 4 + body.length);
      all.set(head);
      new DataView(all.buffer).setUint32(head.length, body.length, true);
      all.set(body, head.length + 4);
      this.exports.remember(this.put(all));
    }
    this.begun = this.memory;
  }

  // held is how many values of JavaScript the module holds on to; see release.
  get held() { return this.go._values.length - this.kept - this.go._idPool.length; }

  view(at, n) { return new Uint8Array(this.exports.memory.buffer, at, n); }

  put(bytes) {
    this.view(this.exports.buffer(bytes.length), bytes.length).set(bytes);
    return bytes.length;
  }

  serve(head, body) {
    return this.begin((number) => {
      const n = 4 + head.length + body.length, at = this.exports.buffer(n), to = this.view(at, n);
      new DataView(to.buffer).setUint32(at, head.length, true);
      to.set(head, 4);
      to.set(body, 4 + head.length);
      this.exports.serve(number, n);
    });
  }

  purge() { return this.begin((number) => this.exports.purge(number)); }

  async begin(f) {
    if (this.dead) throw new Error("the instance was trapped");
    const number = ++this.uses;
    try {
      return await new Promise((resolve, reject) => {
        this.under.set(number, { resolve, reject, since: Date.now() });
        this.enter(() => f(number));
      });
    } finally {
      this.under.delete(number);
      if (this.under.size === 0) this.release();
    }
  }

  // enter runs a part of the module and what goes on because of it. One that was trapped is in the middle of something for
  // ever: it is never entered again, and nobody can say what became of the requests in it.
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

  // release lets go of what the module once held of JavaScript, as TinyGo never does. Where no request is under way only
  // functions are in use, which are its own.
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
