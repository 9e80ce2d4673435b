// The explorer's page at /_/, in workerd as wrangler runs it with the configuration, when that choice is taken and when it is not.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { checkout, read, root, start, variants } from "./rig.mjs";

const written = variants["as written"], chosen = written.replace('//"assets"', '"assets"');
const key = Buffer.alloc(64, 7);

for (const [variant, jsonc] of [["not chosen", written], ["chosen", chosen]]) {
  test(`the page, ${variant}`, async (t) => {
    const { top, remove } = checkout(jsonc);
    let server;
    t.after(async () => { // in this order: wrangler writes into the folder
      await server?.stop("SIGKILL");
      remove();
    });
    writeFileSync(join(top, "infra/cloudflare/.dev.vars"), `EDGETABLE_ACCOUNTS="acme:${key.toString("base64")}"\n`);
    server = await start(top, ["./wrangler", "dev", "--env", "paid", "--ip", "127.0.0.1", "--port", "0", "--inspector-port", "0", "--show-interactive-dev-session=false"]);
    const get = (path, headers = {}) => fetch(server.url + path, { headers, redirect: "manual", signal: AbortSignal.timeout(60_000) });

    const page = await get("/_/"), session = await get("/_/session");
    assert.equal(page.status, variant === "chosen" ? 200 : 401);
    if (variant === "chosen") {
      const { version, ...more } = await session.json();
      assert.deepEqual([session.status, Object.keys(more).filter((k) => k !== "commit")], [200, []], "the page takes this for an endpoint, and 401 for a gateway that wants a token");
      assert.match(version, /^\d+\.\d+\.\d+/, "the home shows it");
      assert.equal(await page.text(), read("functions/explorer/dist/index.html"));
      const script = await get("/_/app.js");
      assert.match(script.headers.get("content-type"), /javascript/);
      assert.deepEqual(Buffer.from(await script.arrayBuffer()), readFileSync(join(root, "functions/explorer/dist/app.js")));
      for (const answer of [page, script]) {
        assert.match(answer.headers.get("content-security-policy"), /^default-src 'none'; script-src 'self'; .*trusted-types 'none'; frame-ancestors 'none'/);
        assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
        assert.equal(answer.headers.get("cross-origin-opener-policy"), "same-origin");
      }
    }

    // Requests for tables reach the Worker, which checks their signatures.
    const date = new Date().toUTCString();
    const authorization = `SharedKeyLite acme:${createHmac("sha256", key).update(`${date}\n/acme/acme/Tables`).digest("base64")}`;
    const tables = await get("/acme/Tables", { "x-ms-date": date, "x-ms-version": "2019-02-02", accept: "application/json;odata=nometadata", authorization });
    assert.equal(await tables.text(), '{"value":[]}');
    assert.equal((await get("/acme/Tables")).status, 401);
  });
}
