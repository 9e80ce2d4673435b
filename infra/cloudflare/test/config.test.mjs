// wrangler.jsonc says what the Worker reads and exports, and no secret.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { here, parse, read, require, root, variants } from "./rig.mjs";

const Ajv = require("ajv").default;
const configs = Object.entries(variants).map(([name, jsonc]) => [name, parse(jsonc)]);
const [[, plain], [, full]] = configs;
const matches = (path, pattern) => new Set(Array.from(read(path).matchAll(pattern), (m) => m[1]));
const accounts = /Variable = "(\w+)"/.exec(read("core/accounts/parse.go"))[1];

test("the schema of wrangler admits it", () => {
  const schema = JSON.parse(readFileSync(join(process.env.EDGETABLE_WRANGLER, "config-schema.json"), "utf8"));
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema);
  for (const [name, config] of configs) assert.ok(validate(config), `${name}: ${JSON.stringify(validate.errors, null, 1)}`);
  assert.ok(!validate({ ...plain, workers_dev: "yes" }), "it admits anything");
});

test("its variables are those that the Worker reads", () => {
  const known = matches("wasm/worker/config.go", /"(EDGETABLE_\w+)"/g);
  assert.ok(known.size > 5);
  assert.ok(known.delete("EDGETABLE_REPLICA"), "the shell says that it is bound");
  assert.deepEqual(new Set(Object.keys(full.env.paid.vars)), known);
  for (const name of matches("wasm/worker/configure_kv_wasm.go", /\.Bool\("(EDGETABLE_\w+)"\)/g)) {
    known.add(name);
    assert.ok(name in full.env.kv.vars && !(name in plain.env.kv.vars), name);
  }
  for (const [name, profile] of Object.entries(full.env)) {
    for (const variable of Object.keys(profile.vars ?? {})) assert.ok(known.has(variable), `${name}: ${variable}`);
    assert.deepEqual(profile.secrets.required, [accounts], name);
  }
});

// The module exits where it cannot be configured.
function configure(variables) {
  const text = Buffer.from("n" + Object.entries(variables).map(([name, value]) => `${name}=${value}\0`).join(""));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(text.length);
  const done = spawnSync(process.execPath, [join(root, "testdata/edge/instances.mjs"), join(root, "bin/edge")], { input: Buffer.concat([length, text]) });
  return { made: done.stdout.length === 8, said: done.stderr.toString() };
}

test("the module takes their values", () => {
  const key = Buffer.alloc(64, 1).toString("base64");
  for (const [variant, config] of configs) {
    for (const profile of ["free", "paid"]) {
      const { made, said } = configure({ ...config.env[profile].vars, [accounts]: `acme:${key}` });
      assert.ok(made, `${variant}, ${profile}: ${said}`);
    }
  }
  const { made, said } = configure({ ...plain.env.free.vars, EDGETABLE_BUCKETS: "many", [accounts]: `acme:${key}` });
  assert.ok(!made && said.includes("EDGETABLE_BUCKETS"), said);
});

test("its bindings and its class are those of the shell", () => {
  const shell = readdirSync(join(root, "wasm/worker")).filter((name) => name.endsWith(".mjs"));
  const bindings = new Set(shell.flatMap((name) => [...matches(`wasm/worker/${name}`, /env\.(EDGETABLE_\w+)/g)]));
  assert.deepEqual(bindings, new Set(["EDGETABLE_OBJECTS", "EDGETABLE_REPLICA", "EDGETABLE_METRICS"]));
  for (const profile of ["free", "paid"]) {
    const { durable_objects: objects, analytics_engine_datasets: datasets, kv_namespaces: namespaces } = full.env[profile];
    assert.deepEqual(objects.bindings, [{ name: "EDGETABLE_OBJECTS", class_name: "EdgetableObject" }]);
    assert.deepEqual(datasets.map((d) => d.binding), ["EDGETABLE_METRICS"]);
    assert.equal(plain.env[profile].analytics_engine_datasets, undefined);
    assert.deepEqual(namespaces, [{ binding: "EDGETABLE_REPLICA" }], "an id would be somebody's");
    assert.equal(plain.env[profile].kv_namespaces, undefined, "a replica costs money");
  }
  assert.ok(matches("wasm/worker/worker.mjs", /export \{ (\w+) \}/g).has("EdgetableObject"));
});

test("the profile on Workers KV binds what its module looks for, and no objects", () => {
  const { kv_namespaces: namespaces, durable_objects: objects, migrations, triggers } = plain.env.kv;
  assert.ok(namespaces.every((n) => n.id === undefined), "an id would be somebody's");
  assert.deepEqual(new Set(namespaces.map((n) => n.binding)), matches("wasm/worker/configure_kv_wasm.go", /kv\.Open\("(EDGETABLE_\w+)"\)/g));
  assert.deepEqual([objects, migrations], [undefined, []]);
  assert.equal(triggers.crons.length, 1);
  assert.match(read("wasm/worker/kv/worker.mjs"), /async scheduled\(/);
});

test("the class keeps its rows in SQLite", () => {
  // A migration that was deployed can neither be changed nor left out: add behind it.
  assert.deepEqual(plain.migrations[0], { tag: "v1", new_sqlite_classes: ["EdgetableObject"] });
  for (const m of plain.migrations) assert.ok(!("new_classes" in m) && !("deleted_classes" in m), JSON.stringify(m));
});

test("it runs as in the tests", () => {
  assert.ok(matches("testdata/edge/serve.mjs", /compatibilityDate: "([\d-]+)"/g).has(plain.compatibility_date));
  assert.equal(plain.no_bundle, true);
});

test("profiles are the same Worker", () => {
  const { free, paid } = plain.env;
  assert.deepEqual(Object.keys(plain.env), ["kv", "paid", "free"]);
  assert.notEqual(plain.env.kv.name, plain.name, "deployed over the others it would hide their tables");
  assert.deepEqual([free.name, paid.name], [plain.name, plain.name], "another name is another Worker, without the tables");
  assert.equal(free.limits, undefined, "the free plan refuses limits");
  assert.ok(paid.limits.cpu_ms >= 30000, "dropping a large table takes seconds");
  assert.ok(Number(free.vars.EDGETABLE_SCANNED_BYTES) < Number(paid.vars.EDGETABLE_SCANNED_BYTES));
  const rest = ({ limits, vars, ...others }) => others;
  assert.deepEqual(rest(free), rest(paid));
});

test("the log repeats no URL", () => {
  const { redact_query_string: redacted, logs, traces } = plain.observability;
  assert.deepEqual([redacted, logs.enabled, logs.invocation_logs, traces.enabled], [true, true, false, false]);
});

test("hosts", () => {
  assert.deepEqual([plain.workers_dev, plain.preview_urls, plain.env.paid.routes], [true, false, undefined]);
  assert.deepEqual(full.env.free.routes, full.env.paid.routes);
  const [domain, wildcard] = full.env.paid.routes;
  assert.ok(domain.custom_domain && !domain.pattern.includes("*"));
  assert.match(wildcard.pattern, /^\*\.table\.[\w.]+\/\*$/, "the account is in a host with .table. behind it");
  assert.ok(wildcard.pattern.endsWith(`.${wildcard.zone_name}/*`));
});

test("there is no key in the folder", () => {
  for (const entry of readdirSync(here, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || /package-lock\.json$|\.wrangler|own\.jsonc$/.test(path)) continue;
    assert.doesNotMatch(readFileSync(path, "utf8"), /[A-Za-z0-9+/]{86}==/, path);
  }
  for (const profile of Object.values(full.env)) assert.ok(!(accounts in (profile.vars ?? {})));
});
