// The program of docs/start/javascript.md.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { newName, newService } from "./harness.js";

test("QueryEntities: docs/start/javascript.md", async (t) => {
  const page = readFileSync(new URL("../../../docs/start/javascript.md", import.meta.url), "utf8");
  const [program, printed] = [...page.matchAll(/^```\w+\n(.*?)^```/gms)].map(([, block]) => block);
  const table = newName();
  t.after(() => newService().deleteTable(table));
  const flags = ["--no-deprecation", "--input-type=module", "--eval", program.replaceAll("People", table)];
  assert.equal(execFileSync(process.execPath, flags, { cwd: import.meta.dirname, encoding: "utf8" }), printed);
});
