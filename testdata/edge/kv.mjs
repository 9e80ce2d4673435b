// The wrapper that tests put around the Worker on Workers KV alone. It sets the header with the client's address and adds
// these paths:
//	GET /schedule                      runs the scheduled handler
//	GET /later?ms=N                    moves the Worker's clock ahead
//	GET /trap?when=put|stored|serve    traps the module before the next put, after it, or in the next request
//	POST /kv?op=OPERATION&…            get, put, delete, list and clear of the namespace
//
// These paths cannot be requests of an account: no account has such a name.
import { Instance } from "./instance.mjs";
import * as own from "./worker.mjs";

const wall = Date.now;
let ahead = 0, fault = "";
Date.now = () => wall() + ahead;

// trap makes the working instance allocate more memory than it may have.
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
    getWithMetadata: (...a) => kv.getWithMetadata(...a),
    list: (...a) => kv.list(...a),
    delete: (...a) => kv.delete(...a),
    put: async (...a) => {
      if (trap("put")) throw new Error("the instance is dead");
      await kv.put(...a);
      trap("stored");
    },
  };
}

// The operations on the namespace. Metadata is in a header, and a list is JSON.
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
      case "/kv":
        return operations[asked.get("op")](kv, asked, request).then((r) => r ?? new Response(null), (e) => new Response(e.message, { status: 500 }));
    }
    const headers = new Headers(request.headers);
    headers.set("cf-connecting-ip", "127.0.0.1"); // set by the platform; a client cannot
    return own.default.fetch(new Request(request, { headers }), env, ctx);
  },
};
