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

// The interface with the arguments of a resource, or of a block in it: names, and whether each is required.
function schema(section, kind, block = "\\w+ extends cdktf\\.TerraformMetaArguments") {
  const name = `${section === "data" ? "data-" : ""}${section === "data" ? kind : kind.replace(/^cloudflare_/, "")}`.replaceAll("_", "-");
  const declarations = readFileSync(join(process.env.EDGETABLE_CLOUDFLARE_BINDINGS, name, "index.d.ts"), "utf8");
  const [, own] = new RegExp(`export interface ${block} \\{\\n([^]*?)\\n\\}`).exec(declarations);
  const args = new Map(Array.from(own.matchAll(/readonly (\w+)(\??):/g), ([, argument, optional]) => [argument, optional === ""]));
  return { args, readable: new Set(Array.from(declarations.matchAll(/get (\w+)\(\)/g), (m) => m[1])) };
}

function known({ args }, name, body) {
  const given = Object.keys(body).filter((argument) => !meta.has(argument)).map(camel);
  for (const argument of given) assert.ok(args.has(argument), `${name} has no ${argument}`);
  for (const [argument, required] of args) assert.ok(!required || given.includes(argument), `${name} lacks ${argument}`);
}

test("arguments are those of the provider", () => {
  assert.ok(blocks.length >= 6);
  for (const { section, kind, name, body } of blocks) known(schema(section, kind), `${kind}.${name}`, body);
});

test("the rate is that of an address, for the hosts of the Worker", () => {
  const { count, phase, rules: [rule] } = resource("cloudflare_ruleset");
  known(schema("resource", "cloudflare_ruleset", "RulesetRules"), "a rule", rule);
  known(schema("resource", "cloudflare_ruleset", "RulesetRulesRatelimit"), "a rate", rule.ratelimit);
  assert.deepEqual([count, phase, rule.action, rule.ratelimit.requests_per_period, rule.ratelimit.characteristics],
    ["${var.requests_per_address == null ? 0 : 1}", "http_ratelimit", "block", "${var.requests_per_address}", ["cf.colo.id", "ip.src"]]);
  assert.equal(module.variable.requests_per_address[0].default, null);
  for (const name of ["domains", "wildcard"]) assert.ok(rule.expression.includes(`var.${name}`), name);
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
