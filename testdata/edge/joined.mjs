// The module in both its roles, as Worker and as object, in one process of Node.js, without RPC between them. Objects use
// SQLite in memory. Every part of the shell except calls.mjs and worker.mjs is the deployed one.
import { DatabaseSync } from "node:sqlite";
import { callsOf, framed, unframe } from "../../wasm/worker/calls.mjs";
import { answerCalls, serve, shell } from "./shell.mjs";

// Sql implements the part of the platform's SQL interface that the shell uses.
class Sql {
  db = new DatabaseSync(":memory:");
  statements = new Map();

  constructor(counts) { this.counts = counts; }

  exec(query, ...values) {
    if (/^(CREATE|DROP)/.test(query)) return this.db.exec(query);
    let statement = this.statements.get(query);
    if (statement === undefined) this.statements.set(query, (statement = this.db.prepare(query)));
    if (!query.startsWith("SELECT")) {
      this.counts.written++;
      return statement.run(...values);
    }
    const rows = statement.all(...values).map((row) => Object.values(row).map((b) => (b === null ? null : b.buffer)));
    this.counts.read += rows.length;
    return { raw: () => rows.values() };
  }

  transaction(f) {
    this.db.exec("BEGIN");
    try {
      f();
      this.db.exec("COMMIT");
    } catch (e) {
      this.db.exec("ROLLBACK");
      throw e;
    }
  }
}

export class Joined {
  objects = new Map();
  inObjects = 0; // ms
  counts = { calls: 0, read: 0, written: 0 }; // of objects; the others count rows

  static async make(folder, env) {
    const j = new Joined();
    ({ Instance: j.Instance } = await shell(folder, "instance.mjs"));
    ({ EdgetableObject: j.EdgetableObject } = await shell(folder, "object.mjs"));
    j.env = env;
    j.instance = new j.Instance(env);
    answerCalls((calls) => {
      const begin = performance.now(), answers = j.answers(calls);
      j.inObjects += performance.now() - begin;
      return answers;
    });
    return j;
  }

  serve(head, body) { return serve(this.instance, head, body); }

  // afresh runs f with a new instance that has a large memory, as a large request would.
  afresh(f) {
    const small = this.instance;
    this.large ??= new WebAssembly.Memory({ initial: 96, maximum: 96 });
    this.instance = new this.Instance(this.env, this.large);
    f();
    this.instance = small;
  }

  answers(calls) { return calls.map(([name, , , message]) => this.ask(name, message)); }

  ask(name, message) {
    this.counts.calls++;
    const object = this.object(name);
    for (let again = []; ;) {
      const step = object.step(message, again);
      if (step[8] !== 2) { // the kind of step, as in objects.go
        step[8] = 0;
        return step.subarray(8);
      }
      const [state, ...wanted] = unframe(step.subarray(9));
      again = framed([state, ...this.answers(callsOf(wanted))]);
    }
  }

  object(name) {
    let object = this.objects.get(name);
    if (object === undefined) {
      const sql = new Sql(this.counts);
      const storage = { sql, transactionSync: (f) => sql.transaction(f), getAlarm: async () => null, setAlarm() {} };
      object = new this.EdgetableObject({ storage, blockConcurrencyWhile: (f) => f() }, this.env);
      this.objects.set(name, object);
    }
    return object;
  }
}
