// The result of deployments: of a dry run, and of an API on this machine that keeps its requests.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { account, serve } from "./api.mjs";
import { checkout, root, run, variants } from "./rig.mjs";

const key = Buffer.alloc(64, 7).toString("base64");
const files = (folder) => Object.fromEntries(readdirSync(join(root, folder)).map((name) => [name, readFileSync(join(root, folder, name))]));
const built = files("bin/edge"), builtKV = files("bin/edge-kv");

for (const [variant, jsonc] of Object.entries(variants)) {
  for (const profile of ["free", "paid", "kv"]) {
    test(`dry run, ${profile}, ${variant}`, async (t) => {
      const { top, remove } = checkout(jsonc);
      t.after(remove);
      const { code, output } = await run(top, ["./wrangler", "deploy", "--env", profile, "--dry-run", "--outdir", join(top, "out")]);
      assert.equal(code, 0, output);
      assert.doesNotMatch(output, /WARNING|ERROR/);
      const own = profile === "kv" ? builtKV : built;
      for (const [name, bytes] of Object.entries(own)) assert.deepEqual(readFileSync(join(top, "out", name)), bytes, `${name} as it was built`);
      assert.deepEqual(readdirSync(join(top, "out")).filter((name) => !(name in own)), ["README.md"]);
      assert.match(output, /edgetable\.wasm +│ compiled-wasm/);
      assert.match(output, profile === "kv" ? /env\.EDGETABLE_KV .*KV Namespace/ : /EDGETABLE_OBJECTS \(EdgetableObject\)/);
      const [, size, zipped] = /Total Upload: ([\d.]+) KiB \/ gzip: ([\d.]+) KiB/.exec(output);
      assert.ok(size > 100 && size < 1500 && zipped < 586, output); // 600 kB, as wasm/worker demands of the module
      for (const chosen of [/EDGETABLE_METRICS/, /env\.EDGETABLE_REPLICA .*KV Namespace/]) {
        assert.equal(chosen.test(output), variant !== "as written" && profile !== "kv", output);
      }
    });
  }
}

test("make says what is missing before it builds anything", async (t) => {
  const { top, remove } = checkout(variants["as written"]);
  t.after(remove);
  rmSync(join(top, "bin"), { recursive: true });
  cpSync(join(root, "Makefile"), join(top, "Makefile"));
  for (const [args, says] of [
    [[], /Which profile\?[^]*make deploy-cloudflare PROFILE=free/],
    [["PROFILE=other"], /no profile other[^]*PROFILE=free/],
    [["PROFILE=free"], /no credentials of Cloudflare[^]*wrangler login[^]*CLOUDFLARE_API_TOKEN/],
  ]) {
    const { code, output } = await run(top, ["make", "-C", top, "deploy-cloudflare", ...args]);
    assert.notEqual(code, 0);
    assert.match(output, says);
    assert.equal(existsSync(join(top, "bin")), false, output);
  }
});

const api = await serve("edgetable"), apiKV = await serve("edgetable-kv");
const place = checkout(variants["as written"]), chosen = checkout(variants["every choice taken"]);
after(() => (api.close(), apiKV.close(), place.remove(), chosen.remove()));
const cloudflare = { CLOUDFLARE_API_BASE_URL: api.url, CLOUDFLARE_ACCOUNT_ID: account, CLOUDFLARE_API_TOKEN: "token" };
const deploy = (profile, env = {}, { top } = place) => run(top, ["./deploy", profile], { ...cloudflare, ...env });
const terminal = (profile) => ["python3", "-c", `import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(['./deploy', '${profile}'])))`];
const binding = (name) => api.worker.metadata.bindings.find((b) => b.name === name);

test("deployments, one after the other", async (t) => {
  await t.test("no accounts and nobody to ask: nothing is deployed", async () => {
    const { code, output } = await deploy("free");
    assert.equal(code, 1);
    assert.match(output, /EDGETABLE_ACCOUNTS/);
    assert.equal(api.worker, null);
  });

  await t.test("the first brings the accounts and makes the class", async () => {
    const { code, output } = await deploy("free", { EDGETABLE_ACCOUNTS: `acme:${key}` });
    assert.equal(code, 0, output);
    assert.doesNotMatch(output, /WARNING|ERROR/);
    assert.ok(!output.includes(key), "the key is shown");
    assert.match(output, /Endpoint: https:\/\/edgetable\.acme\.workers\.dev\/ACCOUNT/);
    const { metadata, modules } = api.worker;
    assert.deepEqual(metadata.migrations, { new_tag: "v1", steps: [{ new_sqlite_classes: ["EdgetableObject"] }] });
    assert.deepEqual(api.secrets, { EDGETABLE_ACCOUNTS: `acme:${key}` });
    assert.deepEqual(binding("EDGETABLE_OBJECTS"), { name: "EDGETABLE_OBJECTS", type: "durable_object_namespace", class_name: "EdgetableObject" });
    assert.equal(metadata.main_module, "worker.mjs");
    assert.equal(metadata.limits, undefined);
    assert.equal(metadata.assets, undefined, "the page is a choice");
    assert.equal(metadata.observability.redact_query_string, true);
    assert.deepEqual(Object.keys(modules).sort(), Object.keys(built).sort());
    assert.deepEqual(modules["edgetable.wasm"], { type: "application/wasm", bytes: built["edgetable.wasm"] });
    assert.deepEqual(api.subdomain, { enabled: true, previews_enabled: false });
  });

  await t.test("the next one keeps accounts and class, and may be of the other profile", async () => {
    const { code, output } = await deploy("paid", { EDGETABLE_ACCOUNTS: "other:AAAA" });
    assert.equal(code, 0, output);
    assert.deepEqual(binding("EDGETABLE_ACCOUNTS"), { name: "EDGETABLE_ACCOUNTS", type: "inherit" });
    assert.deepEqual(api.secrets, { EDGETABLE_ACCOUNTS: `acme:${key}` });
    assert.equal(api.worker.metadata.migrations, undefined, "the class is there already");
    assert.deepEqual(api.worker.metadata.limits, { cpu_ms: 30000 });
    assert.deepEqual(api.routes, []);
  });

  await t.test("with hosts, settings and measurements", async () => {
    const { code, output } = await deploy("paid", {}, chosen);
    assert.equal(code, 0, output);
    assert.deepEqual(api.routes.map((route) => route.pattern), ["*.table.example.com/*"]);
    assert.deepEqual(api.domains.map((domain) => domain.hostname), ["tables.example.com"]);
    assert.match(output, /Endpoint: https:\/\/tables\.example\.com\/ACCOUNT\n/);
    assert.match(output, /Endpoint: https:\/\/ACCOUNT\.table\.example\.com\n/);
    assert.deepEqual(binding("EDGETABLE_METRICS"), { name: "EDGETABLE_METRICS", type: "analytics_engine", dataset: "edgetable" });
    assert.equal(binding("EDGETABLE_LOCATION").text, "weur");
    assert.deepEqual(Object.keys(api.assets).sort(), ["/_/app.css", "/_/app.js", "/_/icon.svg", "/_/index.html", "/_/session"]);
    assert.deepEqual(api.worker.metadata.assets.config.run_worker_first, ["/*", "!/_/*"]);
    assert.match(api.worker.metadata.assets.config._headers, /Content-Security-Policy/);
    assert.deepEqual(api.namespaces.map((n) => n.title), ["edgetable-edgetable-replica"]);
    assert.deepEqual(binding("EDGETABLE_REPLICA"), { name: "EDGETABLE_REPLICA", type: "kv_namespace", namespace_id: api.namespaces[0].id });
  });

  await t.test("the next one has the same replica", async () => {
    const { code, output } = await deploy("free", {}, chosen);
    assert.equal(code, 0, output);
    assert.equal(api.namespaces.length, 1);
    assert.deepEqual(binding("EDGETABLE_REPLICA"), { name: "EDGETABLE_REPLICA", type: "inherit" });
  });

  await t.test("a profile that is not there", async () => {
    const before = api.uploads;
    for (const profile of ["other", "--dry-run"]) assert.notEqual((await deploy(profile)).code, 0, profile);
    assert.equal(api.uploads, before);
  });

  await t.test("on a terminal the first one makes an account", async () => {
    Object.assign(api, { worker: null, secrets: {} });
    const { code, output } = await run(place.top, terminal("free"), { ...cloudflare, TERM: "dumb" }, "acme\n");
    assert.equal(code, 0, output);
    const [name, made] = api.secrets.EDGETABLE_ACCOUNTS.split(":");
    assert.deepEqual([name, Buffer.from(made, "base64").length], ["acme", 64]);
    assert.equal(output.split(made).length, 2, "the key is shown once");
    assert.ok(output.includes(`AccountName=acme;AccountKey=${made};TableEndpoint=https://edgetable.acme.workers.dev/acme`), output);
  });

  assert.deepEqual(api.unknown, []);
});

test("deployments of tables in Workers KV alone", async () => {
  const bound = (name) => apiKV.worker.metadata.bindings.find((b) => b.name === name);
  const env = { ...cloudflare, CLOUDFLARE_API_BASE_URL: apiKV.url };
  const first = await run(place.top, terminal("kv"), { ...env, TERM: "dumb", CI: "" }, "acme\n");
  assert.equal(first.code, 0, first.output);
  assert.doesNotMatch(first.output, /WARNING|ERROR/);
  assert.deepEqual(first.output.match(/^Endpoint: .*\S/gm), ["Endpoint: https://edgetable-kv.acme.workers.dev/ACCOUNT"]);
  assert.match(first.output, /TableEndpoint=https:\/\/edgetable-kv\.acme\.workers\.dev\/acme\s/);
  assert.deepEqual(apiKV.namespaces.map((n) => n.title), ["edgetable-kv-edgetable-kv"]);
  assert.deepEqual(bound("EDGETABLE_KV"), { name: "EDGETABLE_KV", type: "kv_namespace", namespace_id: apiKV.namespaces[0].id });
  assert.equal(readFileSync(join(place.top, "infra/cloudflare/wrangler.jsonc"), "utf8"), variants["as written"], "it is as it was");
  assert.equal(apiKV.worker.metadata.migrations, undefined);
  assert.deepEqual(Object.keys(apiKV.worker.modules).sort(), Object.keys(builtKV).sort());
  assert.deepEqual(apiKV.worker.modules["edgetable.wasm"], { type: "application/wasm", bytes: builtKV["edgetable.wasm"] });
  assert.deepEqual(apiKV.schedules, [{ cron: "*/30 * * * *" }]);

  const secrets = { ...apiKV.secrets };
  const second = await run(place.top, ["./deploy", "kv"], env);
  assert.equal(second.code, 0, second.output);
  assert.equal(apiKV.namespaces.length, 1);
  assert.deepEqual(bound("EDGETABLE_KV"), { name: "EDGETABLE_KV", type: "inherit" });
  assert.deepEqual(apiKV.secrets, secrets);
  assert.deepEqual(apiKV.unknown, []);
});
