// The Terraform module: its arguments against the provider's, which are read from the generated bindings that the npm
// registry has of it; the provider itself comes from Terraform's own registry alone.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { here, parse, require, variants } from "./rig.mjs";

const { parse: hcl } = require("@cdktf/hcl2json");
const folder = join(here, "terraform"), meta = new Set(["count", "depends_on", "for_each", "lifecycle"]);
const camel = (name) => name.replace(/_(\w)/g, (_, c) => c.toUpperCase());

const files = readdirSync(folder).filter((name) => name.endsWith(".tf")).sort();
const text = files.map((name) => readFileSync(join(folder, name), "utf8")).join("\n");
const module = await hcl("module.tf", text);
const blocks = ["resource", "data"].flatMap((section) => Object.entries(module[section] ?? {}).flatMap(([kind, named]) =>
  Object.entries(named).map(([name, [body]]) => ({ section, kind, name, body }))));
const resource = (kind) => blocks.find((b) => b.section === "resource" && b.kind === kind).body;

// The interface with the arguments of a resource: names, and whether each is required.
function schema(section, kind) {
  const name = `${section === "data" ? "data-" : ""}${section === "data" ? kind : kind.replace(/^cloudflare_/, "")}`.replaceAll("_", "-");
  const declarations = readFileSync(join(process.env.EDGETABLE_CLOUDFLARE_BINDINGS, name, "index.d.ts"), "utf8");
  const [, own] = /export interface \w+ extends cdktf\.TerraformMetaArguments \{\n([^]*?)\n\}/.exec(declarations);
  const args = new Map(Array.from(own.matchAll(/readonly (\w+)(\??):/g), ([, argument, optional]) => [argument, optional === ""]));
  return { args, readable: new Set(Array.from(declarations.matchAll(/get (\w+)\(\)/g), (m) => m[1])) };
}

test("arguments are those of the provider", () => {
  assert.ok(blocks.length >= 6);
  for (const { section, kind, name, body } of blocks) {
    const { args } = schema(section, kind), given = Object.keys(body).filter((argument) => !meta.has(argument)).map(camel);
    for (const argument of given) assert.ok(args.has(argument), `${kind}.${name} has no ${argument}`);
    for (const [argument, required] of args) assert.ok(!required || given.includes(argument), `${kind}.${name} lacks ${argument}`);
  }
});

test("references lead somewhere", () => {
  for (const [, data, kind, name, attribute] of text.matchAll(/\b(data\.)?(cloudflare_\w+)\.(\w+)\.(\w+)/g)) {
    const section = data ? "data" : "resource";
    assert.ok(blocks.some((b) => b.section === section && b.kind === kind && b.name === name), `${kind}.${name}`);
    assert.ok(schema(section, kind).readable.has(camel(attribute)), `${kind}.${name}.${attribute}`);
  }
  const used = new Set(Array.from(text.matchAll(/\bvar\.(\w+)/g), (m) => m[1]));
  assert.deepEqual(used, new Set(Object.keys(module.variable)));
});

test("URLs stay as they were sent", () => {
  const { scope, type, count } = resource("cloudflare_url_normalization_settings");
  assert.deepEqual([scope, type, count], ["none", "rfc3986", undefined]);
});

test("hosts are those of wrangler.jsonc", () => {
  const config = parse(variants["every choice taken"]);
  const [domain, wildcard] = config.env.paid.routes;
  assert.equal(module.variable.worker[0].default, config.name);
  assert.ok(module.variable.domains[0].description.includes(domain.pattern));
  const name = /\w+\.example\.com/.exec(module.variable.wildcard[0].description)[0];
  assert.equal(resource("cloudflare_workers_route").pattern.replace("${var.wildcard}", name), wildcard.pattern);
  assert.equal(resource("cloudflare_dns_record").name, "*.${var.wildcard}");
  assert.equal(resource("cloudflare_dns_record").proxied, true, "a route sees only what goes through Cloudflare");
});
