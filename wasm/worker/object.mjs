// A Durable Object: a bucket of a table, or the catalog of an account.
import { DurableObject } from "cloudflare:workers";
import { answered, callObjects, frames, lost, unframe, unreachable } from "./calls.mjs";
import { Instance } from "./instance.mjs";
import { publish } from "./publish.mjs";

const maxMemory = 24 << 20; // bytes, of the instance in which objects run
const maxUses = 100_000;
const rollback = 1, calls = 2; // what a step is, as in objects.go
const patience = Uint8Array.of(0x10, 0x27, 0, 0); // 10 s for calls of other objects
const maxRounds = 64; // of a message, which needs four at most where nothing goes wrong
const maxAlarm = 600_000; // ms, of the quarter of an hour that the platform gives
const maxAlarms = 5; // times that the platform may send an alarm again: of its six

// The instance in which the objects of this isolate run, and how many of them woke up here.
let engine, lives = 0;

const undo = new Error("undo");

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
      const step = this.step([this.life, message, ...again]);
      if (step === null) return Uint8Array.of(round === 0 ? unreachable : lost);
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
  // is told in objects.go; null: nothing happened.
  step(message) {
    let step;
    try {
      if (engine?.memory > maxMemory || engine?.uses > maxUses) engine = undefined;
      engine ??= new Instance(this.env);
      engine.uses++;
      engine.rows = this.rows;
      this.ctx.storage.transactionSync(() => {
        step = engine.get(engine.exports.object(engine.put(frames(message))));
        if (step[8] === rollback) throw undo;
      });
    } catch (e) {
      if (e !== undo) {
        engine = undefined; // with what the objects remember, so that they count as just woken up
        console.error(JSON.stringify({ msg: "object", cause: String(e) }));
        return null;
      }
    }
    const alarm = new DataView(step.buffer).getFloat64(0, true);
    if (alarm > 0) this.wake(alarm);
    return step;
  }

  // wake sets the alarm, of which there is one, unless it comes earlier. What the step wrote is there only with it.
  wake(at) {
    if (this.alarmAt !== null && at >= this.alarmAt) return;
    this.alarmAt = at;
    this.ctx.storage.setAlarm(at);
  }
}

// Rows are the storage of an object.
class Rows {
  constructor(sql) {
    this.sql = sql;
    this.create();
  }

  create() { this.sql.exec("CREATE TABLE IF NOT EXISTS r (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID"); }

  get(k) {
    const row = this.sql.exec("SELECT v FROM r WHERE k = ?", k).raw().next();
    return row.done ? undefined : new Uint8Array(row.value[0]);
  }

  put(k, v) { this.sql.exec("INSERT INTO r VALUES (?, ?) ON CONFLICT DO UPDATE SET v = excluded.v", k, v); }

  delete(k) { this.sql.exec("DELETE FROM r WHERE k = ?", k); }

  // deleteAll drops the table: that of each row would be paid for.
  deleteAll() {
    this.sql.exec("DROP TABLE r");
    this.create();
  }

  // scan reads rows until they have as many bytes as are wanted. The cursor is always read to its end, as nothing else
  // would close it; so it is asked for few rows first and then for as many as the last ones suggest.
  scan(request) {
    let [wanted, from, to] = unframe(request.slice());
    let room = new DataView(wanted.buffer, wanted.byteOffset).getUint32(0, true), limit = 16;
    const parts = [new Uint8Array(0)];
    for (;;) {
      let rows = 0, size = 0;
      for (const [k, v] of this.sql.exec("SELECT k, v FROM r WHERE k >= ? AND k < ? ORDER BY k LIMIT ?", from, to, limit).raw()) {
        parts.push(new Uint8Array(k), new Uint8Array(v));
        rows++;
        size += k.byteLength + v.byteLength + 8;
      }
      if (rows < limit) return frames(parts);
      room -= size;
      if (room <= 0) break;
      limit = Math.max(1, Math.min(512, 4 * limit, Math.ceil(room / (size / rows))));
      const last = parts[parts.length - 2];
      from = new Uint8Array(last.length + 1);
      from.set(last);
    }
    parts[0] = Uint8Array.of(1);
    return frames(parts);
  }
}
