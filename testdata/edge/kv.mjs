// What only tests have around the Worker on Workers KV alone.
import * as own from "./worker.mjs";

export default {
  ...own.default,
  fetch(request, env, ctx) {
    if (new URL(request.url).pathname === "/schedule") return own.default.scheduled(null, env, ctx).then(() => new Response(null)); // which is no account
    const headers = new Headers(request.headers);
    headers.set("cf-connecting-ip", "127.0.0.1"); // which the platform sets, whatever a client says
    return own.default.fetch(new Request(request, { headers }), env, ctx);
  },
};
