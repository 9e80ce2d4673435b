// What only tests have around the Worker: for requests, what the platform adds to them; for objects, calls over HTTP, and
// places, each with objects and a clock of its own.
import { WorkerEntrypoint } from "cloudflare:workers";
import { callObjects } from "./calls.mjs";
import * as own from "./worker.mjs";

export default {
  fetch(request, env, ctx) {
    const headers = new Headers(request.headers);
    headers.set("cf-connecting-ip", "127.0.0.1"); // which the platform sets, whatever a client says
    return own.default.fetch(new Request(request, { headers }), env, ctx);
  },
};

// places are told apart by what stands before the names of their objects. A place has a clock, the number of times that
// its objects were made to forget, and the number of rows after which writing fails.
const places = new Map();
const wall = Date.now;
let lives = 0x80000000;

// Objects calls objects as the module does: POST /PLACE?now=MS&restarts=N&fail=N, calls and answers as in calls.go.
export class Objects extends WorkerEntrypoint {
  async fetch(request) {
    const url = new URL(request.url), place = url.pathname.slice(1);
    places.set(place, { now: Number(url.searchParams.get("now")), restarts: url.searchParams.get("restarts"), fail: Number(url.searchParams.get("fail") ?? Infinity) });
    const env = { ...this.env, EDGETABLE_OBJECTS: inside(this.env.EDGETABLE_OBJECTS, place) };
    return new Response(await callObjects(env, new Uint8Array(await request.arrayBuffer())));
  }
}

// inside is the namespace of the objects of a place.
function inside(namespace, place) {
  return {
    jurisdiction: (name) => inside(namespace.jurisdiction(name), place),
    getByName: (name, options) => namespace.getByName(`${place}:${name}`, options),
  };
}

export class EdgetableObject extends own.EdgetableObject {
  constructor(ctx, env) {
    const [place, ...rest] = ctx.id.name.split(":");
    super(ctx, rest.length === 0 ? env : { ...env, EDGETABLE_OBJECTS: inside(env.EDGETABLE_OBJECTS, place) });
    this.place = rest.length === 0 ? null : place;
  }

  step(message) {
    const place = places.get(this.place);
    if (place === undefined) return super.step(message);
    if (this.restarts !== place.restarts) {
      this.restarts = place.restarts;
      new DataView(this.life.buffer).setUint32(0, lives++, true);
    }
    const { put } = this.rows;
    let written = 0;
    this.rows.put = (k, v) => {
      if (written++ === place.fail) throw new Error("the disk is on fire");
      put.call(this.rows, k, v);
    };
    Date.now = () => place.now; // nothing else runs meanwhile
    try {
      return super.step(message);
    } finally {
      Date.now = wall;
      delete this.rows.put;
    }
  }
}
