// A Durable Object: a bucket of a table, or the catalog of an account.
import { DurableObject } from "cloudflare:workers";
import { answered, callObjects, callsOf, failed, framed, frames, lost, unframe } from "./calls.mjs";
import { recall } from "./history.mjs";
import { Instance } from "./instance.mjs";
import { publish } from "./publish.mjs";

const memoryPages = (28 << 20) / (64 << 10); // of the instance that runs all objects of the isolate
const maxUses = 100_000;
const rollback = 1, calls = 2; // kinds of steps, as in objects.go
const maxCall = 10_000; // ms, of a call to another object
const maxRounds = 64; // of one message; without failures it needs at most four
const maxAlarm = 600_000; // ms; the platform permits 15 minutes
const maxAlarms = 5; // the platform repeats an alarm six times

// The instance that runs the objects of this isolate, its memory, and the number of objects that woke up here.
let engine, memory, lives = 0;

const undo = new Error("undo"), encoder = new TextEncoder();

// hold makes a new instance allocate its large pieces of memory while its heap is empty.
function hold(instance) {
  instance.exports.hold();
  return instance;
}

export class EdgetableObject extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.life = ++lives;
    this.rows = new Rows(ctx.storage.sql);
    this.own = { replica: (batch) => publish(env, batch), history: (message) => recall(ctx, message) };
    ctx.blockConcurrencyWhile(async () => { this.alarmAt = await ctx.storage.getAlarm(); });
  }

  // ask passes a message to the object. It returns the outcome (see calls.go) and the answer.
  ask(message) { return this.handle(message, (round) => round < maxRounds); }

  // alarm handles the alarm. It takes as many rounds as needed, a few for each table that is being deleted. The platform
  // repeats an alarm that failed.
  async alarm(info) {
    this.alarmAt = null;
    const end = Date.now() + maxAlarm;
    if ((await this.handle(new Uint8Array(0), () => Date.now() < end))[0] === answered) return;
    if (info.retryCount < maxAlarms) throw new Error("the alarm was not handled");
    this.wake(Date.now() + 60_000);
  }

  // handle takes steps until one is an answer. If the first step fails, it is certain that the message was not handled. If a
  // later step fails, the effects of the steps before it remain.
  async handle(message, more) {
    let again = [];
    for (let round = 0; more(round); round++) {
      let step;
      try {
        step = this.step(message, again);
      } catch (e) {
        return round === 0 ? Uint8Array.of(failed, ...encoder.encode(String(e))) : Uint8Array.of(lost);
      }
      if (step[8] !== calls) {
        step[8] = answered;
        return step.subarray(8);
      }
      const [state, ...wanted] = unframe(step.subarray(9));
      again = framed([state, ...(await callObjects(this.env, callsOf(wanted), maxCall, this.own))]);
    }
    return Uint8Array.of(lost);
  }

  // step handles a message, and the answers to its calls if it made any, in one transaction. The transaction is undone if the
  // module fails or asks for that. objects.go describes the encoding. A failed step is repeated once in a new instance; if it
  // fails again, it would always fail.
  step(message, again) {
    for (let first = true; ; first = false) {
      if (engine?.uses > maxUses) engine = undefined;
      try {
        return this.attempt(message, again);
      } catch (e) {
        console.error(JSON.stringify({ msg: "object", cause: engine?.exhausted ? "out of memory" : String(e), again: first }));
        engine = undefined; // the memory of all objects is lost with it; they start as if they had just woken up
        if (!first) throw e;
      }
    }
  }

  attempt(message, again) {
    memory ??= new WebAssembly.Memory({ initial: memoryPages, maximum: memoryPages });
    engine ??= hold(new Instance(this.env, memory));
    engine.uses++;
    engine.rows = this.rows;
    let step;
    try {
      this.rows.emptied = false;
      this.ctx.storage.transactionSync(() => {
        step = engine.get(engine.exports.object(this.life, message.length, engine.put(message, ...again)));
        if (step[8] === rollback) throw undo;
      });
      if (this.rows.emptied && this.rows.tables().size === 0) this.leave();
    } catch (e) {
      this.rows.names = undefined;
      if (e !== undo) throw e;
    }
    const alarm = new DataView(step.buffer).getFloat64(0, true);
    if (alarm > 0) this.wake(alarm);
    return step;
  }

  // leave releases the storage of an object without rows: the empty database, which would cost money, and the alarm.
  leave() {
    this.alarmAt = null;
    this.ctx.storage.deleteAll();
  }

  // wake sets the alarm, unless an earlier one is set. The alarm becomes durable together with the writes of the step. It is
  // always in the future: an alarm at the present time could be removed when the alarm that runs now ends.
  wake(at) {
    at = Math.max(at, Date.now() + 1);
    if (this.alarmAt !== null && at >= this.alarmAt) return;
    this.alarmAt = at;
    this.ctx.storage.setAlarm(at);
  }
}

// Rows is the storage of an object. An SQL table is created when its first row is written. So an object that is only read,
// for example under a name that a client invented, stores nothing. The lines of a feed have one table for each day; the day
// is in their keys (see days.go).
class Rows {
  names = undefined; // the names of the tables, undefined if unknown
  emptied = false; // whether this step dropped a table

  constructor(sql) { this.sql = sql; }

  tables() { return this.names ??= new Set(this.sql.exec("SELECT name FROM sqlite_master WHERE name = 'r' OR name GLOB 'f[0-9]*'").raw().toArray().flat()); }

  // table returns the name of the table for a key, undefined if that table does not exist.
  table(k) {
    const name = tableOf(k);
    return this.tables().has(name) ? name : undefined;
  }

  // size returns the number of bytes, without deleted rows.
  size() { return this.sql.databaseSize; }

  get(k) {
    const table = this.table(k);
    if (table === undefined) return undefined;
    const row = this.sql.exec(`SELECT v FROM ${table} WHERE k = ?`, k).raw().next();
    return row.done ? undefined : new Uint8Array(row.value[0]);
  }

  put(k, v) {
    const table = tableOf(k);
    if (!this.tables().has(table)) {
      this.sql.exec(`CREATE TABLE ${table} (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID`);
      this.names.add(table);
    }
    this.sql.exec(`INSERT INTO ${table} VALUES (?, ?) ON CONFLICT DO UPDATE SET v = excluded.v`, k, v);
  }

  delete(k) {
    const table = this.table(k);
    if (table !== undefined) this.sql.exec(`DELETE FROM ${table} WHERE k = ?`, k);
  }

  // deleteAll drops the table of all rows except lines, because deleting each row would cost money. dropDay drops the table
  // of a day.
  deleteAll() { this.drop("r"); }
  dropDay(day) { this.drop(dayTable(day)); }

  drop(table) {
    if (!this.tables().delete(table)) return;
    this.sql.exec(`DROP TABLE ${table}`);
    this.emptied = true;
  }

  // scan reads rows up to the wanted number of bytes. A cursor must be read to its end, because nothing else closes it. So
  // each query has a limit, small at first and later estimated from the rows before. A query omits large values, and scan
  // reads these one by one.
  scan(request) {
    let [wanted, from, to, back] = unframe(request.slice());
    let room = new DataView(wanted.buffer, wanted.byteOffset).getUint32(0, true), limit = 16;
    const parts = [new Uint8Array(0)], table = this.table(from);
    if (table === undefined) return frames(parts);
    for (;;) {
      const rows = [...this.sql.exec(few(table, back), from, to, limit).raw()];
      const before = room;
      for (const [k, v] of rows) {
        if (room <= 0) break;
        const key = new Uint8Array(k), value = v === null ? this.get(key) : new Uint8Array(v);
        parts.push(key, value);
        room -= key.length + value.length + 8;
      }
      if (room <= 0) break;
      if (rows.length < limit) return frames(parts);
      limit = Math.max(1, Math.min(512, 4 * limit, Math.ceil(room / ((before - room) / rows.length))));
      const last = parts[parts.length - 2];
      if (back) {
        to = last;
        continue;
      }
      from = new Uint8Array(last.length + 1);
      from.set(last);
    }
    parts[0] = Uint8Array.of(1);
    return frames(parts);
  }
}

const few = (table, back) => `SELECT k, CASE WHEN length(v) <= 16384 THEN v END FROM ${table} WHERE k >= ? AND k < ? ORDER BY k${back ? " DESC" : ""} LIMIT ?`;

const line = 102; // 'f', the first byte of the key of a line
const firstDay = 719_163; // the number of the day 1970-01-01 in days.go
const tableOf = (k) => (k[0] === line ? dayTable((k[1] << 16) | (k[2] << 8) | k[3]) : "r");
const dayTable = (day) => (day < firstDay ? `f0${firstDay - day}` : `f${day - firstDay}`); // f20657 is 2026-07-23
