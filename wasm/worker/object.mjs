// A Durable Object: a bucket of a table, or the catalog of an account.
import { DurableObject } from "cloudflare:workers";
import { answered, callObjects, failed, frames, lost, unframe } from "./calls.mjs";
import { Instance } from "./instance.mjs";
import { publish } from "./publish.mjs";

const maxMemory = 14 << 20; // bytes, of the instance in which objects run
const maxUses = 100_000;
const rollback = 1, calls = 2; // what a step is, as in objects.go
const patience = Uint8Array.of(0x10, 0x27, 0, 0); // 10 s for calls of other objects
const maxRounds = 64; // of a message, which needs four at most where nothing goes wrong
const maxAlarm = 600_000; // ms, of the quarter of an hour that the platform gives
const maxAlarms = 5; // times that the platform may send an alarm again: of its six

// The instance in which the objects of this isolate run, its memory, and how many of them woke up here.
let engine, memory, lives = 0;

const undo = new Error("undo"), encoder = new TextEncoder();

export class EdgetableObject extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.life = Uint8Array.of(0, 0, 0, 0);
    new DataView(this.life.buffer).setUint32(0, ++lives, true);
    this.rows = new Rows(ctx.storage.sql);
    ctx.blockConcurrencyWhile(async () => { this.alarmAt = await ctx.storage.getAlarm(); });
  }

  // ask hands a message to the object and returns what it says, behind a byte as in calls.go.
  ask(message) { return this.handle(message, (round) => round < maxRounds); }

  // alarm has as many rounds as it needs, for each table that is being deleted. One that failed comes again.
  async alarm(info) {
    this.alarmAt = null;
    const end = Date.now() + maxAlarm;
    if ((await this.handle(new Uint8Array(0), () => Date.now() < end))[0] === answered) return;
    if (info.retryCount < maxAlarms) throw new Error("the alarm was not handled");
    this.wake(Date.now() + 60_000);
  }

  // handle takes steps until one is an answer. Only of a message whose first step left nothing it is sure that it was not
  // handled: what steps before a call did is there.
  async handle(message, more) {
    let again = [];
    for (let round = 0; more(round); round++) {
      let step;
      try {
        step = this.step([this.life, message, ...again]);
      } catch (e) {
        return round === 0 ? Uint8Array.of(failed, ...encoder.encode(String(e))) : Uint8Array.of(lost);
      }
      if (step[8] !== calls) {
        step[8] = answered;
        return step.subarray(8);
      }
      const [state, ...wanted] = unframe(step.subarray(9));
      again = [state, ...unframe(await callObjects(this.env, frames([patience, ...wanted]), publish))];
    }
    return Uint8Array.of(lost);
  }

  // step is one transaction, which leaves nothing if the module says so or fails. What it is given and what it returns
  // is told in objects.go. It is tried a second time, in a new instance: what fails there would fail for ever.
  step(parts) {
    for (let first = true; ; first = false) {
      if (engine?.uses > maxUses) engine = undefined;
      try {
        return this.attempt(parts);
      } catch (e) {
        console.error(JSON.stringify({ msg: "object", cause: engine?.exhausted ? "out of memory" : String(e), again: first }));
        engine = undefined; // with what the objects remember, so that they count as just woken up
        if (!first) throw e;
      }
    }
  }

  attempt(parts) {
    memory ??= new WebAssembly.Memory({ initial: 14, maximum: maxMemory >> 16 });
    engine ??= new Instance(this.env, memory);
    engine.uses++;
    engine.rows = this.rows;
    let step;
    try {
      this.rows.emptied = false;
      this.ctx.storage.transactionSync(() => {
        step = engine.get(engine.exports.object(engine.put(frames(parts))));
        if (step[8] === rollback) throw undo;
      });
      if (this.rows.emptied && !this.rows.there) this.leave();
    } catch (e) {
      this.rows.there = undefined;
      if (e !== undo) throw e;
    }
    const alarm = new DataView(step.buffer).getFloat64(0, true);
    if (alarm > 0) this.wake(alarm);
    return step;
  }

  // leave gives back the storage of an object without rows: the empty database, which would be paid for, and the alarm.
  leave() {
    this.alarmAt = null;
    this.ctx.storage.deleteAll();
  }

  // wake sets the alarm, of which there is one, unless it comes earlier. What the step wrote is there only with it.
  wake(at) {
    if (this.alarmAt !== null && at >= this.alarmAt) return;
    this.alarmAt = at;
    this.ctx.storage.setAlarm(at);
  }
}

// Rows are the storage of an object. There is no table until a row is put: an object that is only asked, as each is for
// which a client makes up a name, stores nothing.
class Rows {
  there = undefined; // whether there is a table, if it is known
  emptied = false; // in this step

  constructor(sql) { this.sql = sql; }

  exist() { return this.there ??= this.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'r'").raw().next().done === false; }

  // size is in bytes, without what was deleted.
  size() { return this.sql.databaseSize; }

  get(k) {
    if (!this.exist()) return undefined;
    const row = this.sql.exec("SELECT v FROM r WHERE k = ?", k).raw().next();
    return row.done ? undefined : new Uint8Array(row.value[0]);
  }

  put(k, v) {
    if (!this.exist()) {
      this.sql.exec("CREATE TABLE r (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID");
      this.there = true;
    }
    this.sql.exec("INSERT INTO r VALUES (?, ?) ON CONFLICT DO UPDATE SET v = excluded.v", k, v);
  }

  delete(k) {
    if (this.exist()) this.sql.exec("DELETE FROM r WHERE k = ?", k);
  }

  // deleteAll drops the table: to delete each row would be paid for.
  deleteAll() {
    if (!this.exist()) return;
    this.sql.exec("DROP TABLE r");
    this.there = false;
    this.emptied = true;
  }

  // scan reads rows until they have as many bytes as are wanted. A cursor is always read to its end, as nothing else would
  // close it; so it is asked for few rows first and then for as many as the last ones suggest, and has no large values:
  // where the next row is a large one, nobody knows.
  scan(request) {
    let [wanted, from, to] = unframe(request.slice());
    let room = new DataView(wanted.buffer, wanted.byteOffset).getUint32(0, true), limit = 16;
    const parts = [new Uint8Array(0)];
    if (!this.exist()) return frames(parts);
    for (;;) {
      const rows = [...this.sql.exec(few, from, to, limit).raw()];
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
      from = new Uint8Array(last.length + 1);
      from.set(last);
    }
    parts[0] = Uint8Array.of(1);
    return frames(parts);
  }
}

const few = "SELECT k, CASE WHEN length(v) <= 16384 THEN v END FROM r WHERE k >= ? AND k < ? ORDER BY k LIMIT ?";
