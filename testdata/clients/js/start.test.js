// The programs of docs/start/javascript.md, docs/query.md, docs/expire.md and docs/feed.md.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { newName, newService } from "./harness.js";

const pages = process.env.EDGETABLE_CLIENTS_ASCENDING ? ["start/javascript.md"] : ["start/javascript.md", "query.md"];
// A table with the rule of docs/expire.md, and one with a feed, if the store keeps them.
const declaring = { "expire.md": process.env.EDGETABLE_CLIENTS_EXPIRING, "feed.md": process.env.EDGETABLE_CLIENTS_FEEDING };
pages.push(...Object.keys(declaring).filter((name) => declaring[name]));

test("QueryEntities: docs/start/javascript.md", async (t) => {
  for (const name of pages) {
    const page = readFileSync(new URL(`../../../docs/${name}`, import.meta.url), "utf8");
    const [program, printed] = [...page.matchAll(/^```(?:javascript|text)\n(.*?)^```/gms)].map(([, block]) => block);
    const table = declaring[name] ?? newName();
    t.after(() => newService().deleteTable(table));
    const text = ["People", "Events", "Sessions", "Orders"].reduce((text, word) => text.replaceAll(word, table), program);
    const flags = ["--no-deprecation", "--input-type=module", "--eval", text];
    assert.equal(execFileSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: "utf8" }), printed);
  }
});
