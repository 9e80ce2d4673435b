// The wrapper that tests put around the Worker. It adds to requests the headers that the platform sets. It lets tests call
// objects over HTTP, in places that have their own objects and clock, and it injects the faults of faults.mjs.
import { WorkerEntrypoint } from "cloudflare:workers";
import { callObjects, callsOf, frames, unframe } from "./calls.mjs";
import { Faults, instances, mistreat } from "./faults.mjs";
import { recall } from "./history.mjs";
import { Past } from "./past.mjs";
import * as own from "./worker.mjs";

export default {
  fetch(request, env, ctx) {
    const ahead = Number(env.EDGETABLE_AHEAD ?? 0); // ms by which the clock of this Worker is ahead
    if (ahead > 0) Date.now = () => wall() + ahead;
    const headers = new Headers(request.headers);
    headers.set("cf-connecting-ip", headers.get("x-from") ?? "127.0.0.1"); // set by the platform; a client cannot
    return own.default.fetch(new Request(request, { headers }), env, ctx);
  },
};

// The places, by the prefix of the names of their objects. A place has a clock; the age of its objects when they are created;
// the number of their restarts; the number of rows after which a write fails; the size in bytes that its objects report, if
// not 0; and faults.
const places = new Map();
const wall = Date.now;
let lives = 0x80000000;
const maxCall = 30_000; // ms
const messages = { bucket: 0, catalog: 0 };

// Objects calls objects as the module does, and shows their internal state:
//
//	POST /PLACE?now=MS&reading=N&age=MS&restarts=N&fail=N&size=N   calls → answers, in frames as in calls.go
//	           &past=1                            the objects keep earlier states from now on
//	           &messages=KIND,…&steps=KIND,…&alarms=N  inject these faults
//	GET /PLACE?object=NAME&space=C                → the number of the object's rows in a space
//	GET /PLACE?object=NAME                        → the content of its SQLite
//	GET /?uses=N                                  → the instances, after making them look old
//	GET /?names=PREFIX                            → the number of names in the replica, up to 1,000
//	GET /?counted                                → the numbers of messages to buckets and to catalogs since the last such call
export class Objects extends WorkerEntrypoint {
  async fetch(request) {
    const url = new URL(request.url), name = url.pathname.slice(1), asked = url.searchParams;
    if (asked.has("counted")) {
      const counted = { ...messages };
      messages.bucket = messages.catalog = 0;
      return Response.json(counted);
    }
    if (asked.has("names")) return Response.json((await this.env.EDGETABLE_REPLICA.list({ prefix: asked.get("names") })).keys.length);
    if (name === "") return Response.json(mistreat(asked));
    if (request.method === "GET") {
      const object = this.env.EDGETABLE_OBJECTS.getByName(`${name}:${asked.get("object")}`);
      return asked.has("space") ? new Response(await object.count(asked.get("space"))) : Response.json(await object.storage());
    }
    const place = places.get(name) ?? { faults: new Faults() };
    const number = (name, none) => Number(asked.get(name) ?? none);
    // A request that was overtaken by another one has an older reading of the clock.
    if (number("reading") > (place.reading ?? 0)) Object.assign(place, { now: number("now"), reading: number("reading") });
    places.set(name, Object.assign(place, { age: number("age", 0), restarts: asked.get("restarts"), fail: number("fail", Infinity), size: number("size", 0) }));
    place.past ||= asked.has("past");
    if (asked.has("messages")) place.faults.messages = asked.get("messages").split(",");
    if (asked.has("steps")) place.faults.steps = asked.get("steps").split(",");
    if (asked.has("alarms")) place.faults.alarms = number("alarms");
    const env = { ...this.env, EDGETABLE_OBJECTS: inside(this.env.EDGETABLE_OBJECTS, name) };
    const calls = callsOf(unframe(new Uint8Array(await request.arrayBuffer())));
    return new Response(frames(await callObjects(env, calls, maxCall)));
  }
}

// inside returns the namespace with the objects of a place.
function inside(namespace, name) {
  return {
    jurisdiction: (jurisdiction) => inside(namespace.jurisdiction(jurisdiction), name),
    getByName: (object, options) => {
      const stub = () => namespace.getByName(`${name}:${object}`, options), faults = places.get(name)?.faults;
      return faults === undefined ? stub() : faults.around(stub);
    },
  };
}

export class EdgetableObject extends own.EdgetableObject {
  constructor(ctx, env) {
    const [place, ...rest] = ctx.id.name.split(":");
    super(ctx, rest.length === 0 ? env : { ...env, EDGETABLE_OBJECTS: inside(env.EDGETABLE_OBJECTS, place) });
    this.place = rest.length === 0 ? null : place;
    if (!places.get(this.place)?.past) return;
    this.past = Past.of(ctx.id.name);
    this.past.wake(ctx.storage);
    this.own.history = (message) => recall({ storage: this.past.storage, abort: (reason) => ctx.abort(reason), blockConcurrencyWhile: (f) => ctx.blockConcurrencyWhile(f) }, message);
  }

  // ask handles a message. A message to a bucket takes EDGETABLE_OBJECT_WORK milliseconds, one message at a time.
  async ask(message) {
    messages[this.ctx.id.name.startsWith("bucket/") ? "bucket" : "catalog"]++;
    const work = Number(this.env.EDGETABLE_OBJECT_WORK ?? 0);
    if (work > 0 && this.ctx.id.name.startsWith("bucket/")) await (this.queue = (this.queue ?? Promise.resolve()).then(() => scheduler.wait(work)));
    return super.ask(message);
  }

  // abort ends the object as a deployment would; the next message creates it again.
  abort() { this.ctx.abort("a new deployment"); }

  // last handles a message, and ends the object before it answers.
  async last(message) {
    await this.ask(message);
    this.abort();
  }

  // storage returns all SQL tables, including the platform's, their size, and the time of the alarm.
  async storage() {
    const tables = this.ctx.storage.sql.exec("SELECT name FROM sqlite_master").toArray().map((t) => t.name);
    return { tables, size: this.rows.size(), alarm: await this.ctx.storage.getAlarm() };
  }

  count(space) {
    if (!this.rows.tables().has("r")) return 0;
    return this.ctx.storage.sql.exec("SELECT count(*) AS n FROM r WHERE substr(k, 1, 1) = CAST(? AS BLOB)", space).one().n;
  }

  // wake postpones an alarm that is not due yet by the clock of its place. Alarms ring by the machine's clock, which may be
  // ahead of that clock; without the delay, such an alarm would ring again and again.
  wake(at) {
    const place = places.get(this.place);
    super.wake(place !== undefined && at > place.now + 1000 ? Math.max(at, wall() + 50) : at);
  }

  alarm(info) {
    const faults = places.get(this.place)?.faults;
    if (faults?.alarms > 0) throw new Error(`${faults.alarms--} alarms fail`);
    return super.alarm(info);
  }

  attempt(message, again) {
    const place = places.get(this.place);
    if (place === undefined) return super.attempt(message, again);
    if (this.restarts !== place.restarts) {
      this.restarts = place.restarts;
      this.life = lives++;
    }
    const { put } = this.rows, fault = place.faults.steps.shift();
    let written = 0, age = this.aged ? 0 : place.age;
    this.aged = true;
    this.rows.put = (k, v) => {
      if (written++ === place.fail) throw new Error("the disk is on fire");
      put.call(this.rows, k, v);
      if (fault === "trap") instances.exhaust(this.rows);
    };
    if (fault === "unread") this.rows.scan = () => { throw new Error("the disk is gone"); };
    if (place.size > 0) this.rows.size = () => place.size;
    Date.now = () => { // nothing else runs until this is undone
      const now = place.now - age;
      age = 0; // only the first reading is changed, which a new engine takes
      return now;
    };
    try {
      return super.attempt(message, again);
    } finally {
      this.past?.keep(place.now, this.ctx.storage.sql, this.rows.tables().has("r"));
      Date.now = wall;
      delete this.rows.put;
      delete this.rows.size;
      delete this.rows.scan;
    }
  }
}
