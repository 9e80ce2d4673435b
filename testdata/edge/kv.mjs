// What only tests have around the Worker on Workers KV alone: the header that the platform sets, the schedule, another
// time, what may go wrong, and the namespace itself.
//
//	GET /schedule                      what the platform does now and then
//	GET /later?ms=N                    the Worker's clock goes ahead
//	GET /trap?when=put|stored|serve    the module is trapped before the next put, behind it, or in the next request
//	GET /grow?bytes=N                  the module has as much memory and more
//	GET /blind?on=true|false           KV shows nothing of what was written
//	POST /kv?op=OPERATION&…            get, put, delete and list of the namespace, and clear
//
// These are no accounts, whose names are longer, or do not look like that.
import { Instance } from "./instance.mjs";
import * as own from "./worker.mjs";

const wall = Date.now;
let ahead = 0, fault = "", blind = false;
Date.now = () => wall() + ahead;

// trap has the instance at work ask for more memory than there is.
let working;
function trap(when) {
  if (fault !== when) return false;
  fault = "";
  working.enter(() => working.exports.buffer(0x7fffffff));
  return true;
}

const { serve } = Instance.prototype;
Instance.prototype.serve = function (head, body) {
  working = this;
  const answer = serve.call(this, head, body);
  trap("serve");
  return answer;
};

function around(kv) {
  return {
    getWithMetadata: (...a) => (blind ? Promise.resolve({ value: null, metadata: null }) : kv.getWithMetadata(...a)),
    list: (...a) => (blind ? Promise.resolve({ keys: [], list_complete: true }) : kv.list(...a)),
    delete: (...a) => kv.delete(...a),
    put: async (...a) => {
      if (trap("put")) throw new Error("nobody waits for this");
      await kv.put(...a);
      trap("stored");
    },
  };
}

// operations of the namespace; metadata goes in headers, and lists are JSON.
const operations = {
  async get(kv, asked) {
    const { value, metadata } = await kv.getWithMetadata(asked.get("name"), "arrayBuffer");
    return new Response(value, { status: value === null ? 404 : 200, headers: { "x-metadata": metadata ?? "" } });
  },
  async put(kv, asked, request) {
    await kv.put(asked.get("name"), await request.arrayBuffer(), { metadata: request.headers.get("x-metadata") });
  },
  delete: (kv, asked) => kv.delete(asked.get("name")),
  list: async (kv, asked) => Response.json(await kv.list({ prefix: asked.get("prefix"), cursor: asked.get("cursor") || undefined, limit: Number(asked.get("limit")) })),
  async clear(kv) {
    for (let cursor, done = false; !done;) {
      const page = await kv.list({ cursor });
      await Promise.all(page.keys.map(({ name }) => kv.delete(name)));
      ({ cursor, list_complete: done } = page);
    }
  },
};

export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams: asked } = new URL(request.url), kv = env.EDGETABLE_KV;
    env = { ...env, EDGETABLE_KV: around(kv) };
    switch (pathname) {
      case "/schedule":
        await own.default.scheduled(null, env, ctx);
        return new Response(null);
      case "/later":
        ahead += Number(asked.get("ms"));
        return new Response(null);
      case "/trap":
        fault = asked.get("when");
        return new Response(null);
      case "/grow":
        working.exports.buffer(Number(asked.get("bytes")));
        return new Response(String(working.memory));
      case "/blind":
        blind = asked.get("on") === "true";
        return new Response(null);
      case "/kv":
        return operations[asked.get("op")](kv, asked, request).then((r) => r ?? new Response(null), (e) => new Response(e.message, { status: 500 }));
    }
    const headers = new Headers(request.headers);
    headers.set("cf-connecting-ip", "127.0.0.1"); // which the platform sets, whatever a client says
    return own.default.fetch(new Request(request, { headers }), env, ctx);
  },
};
