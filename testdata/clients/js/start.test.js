// The programs of docs/start/javascript.md, docs/query.md and docs/expire.md.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { newName, newService } from "./harness.js";

const pages = process.env.EDGETABLE_CLIENTS_ASCENDING ? ["start/javascript.md"] : ["start/javascript.md", "query.md"];
const expiring = process.env.EDGETABLE_CLIENTS_EXPIRING; // a table with the rule of docs/expire.md, if the store keeps it
if (expiring) pages.push("expire.md");

test("QueryEntities: docs/start/javascript.md", async (t) => {
  for (const name of pages) {
    const page = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
    const [program, printed] = [...page.matchAll(/^```(?:javascript|text)\n(.*?)^```/gms)].map(([, block]) => block);
    const table = name === "expire.md" ? expiring : newName();
    t.after(() => newService().deleteTable(table));
    const text = program.replaceAll("People", table).replaceAll("Events", table).replaceAll("Sessions", table);
    const flags = ["--no-deprecation", "--input-type=module", "--eval", text];
    assert.equal(execFileSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: "utf8" }), printed);
  }
});
