// The commands and the program of docs/start/https.md.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { serve } from "./program.js";

test("QueryEntities: docs/start/https.md", async (t) => {
  const page = readFileSync(new URL("../../../docs/start/https.md", import.meta.url), "utf8");
  const [certificate, start, program, run, printed] = [...page.matchAll(/^```\w+\n(.*?)^```/gms)].map(([, block]) => block);
  const folder = mkdtempSync(join(tmpdir(), "https"));
  t.after(() => rmSync(folder, { recursive: true }));
  execFileSync("bash", ["-euc", certificate], { cwd: folder, stdio: "pipe" });
  const flags = start.trim().split(" ").slice(start.split(" ").indexOf("--tls-cert")).map((word) => (/\.(pem|key)$/.test(word) ? join(folder, word) : word));
  const connection = (await serve(t, ...flags)).replace("Protocol=http;", "Protocol=https;");
  const [variable] = run.split("=", 1);
  const hello = (environment) => spawnSync(process.execPath, ["--no-deprecation", "--input-type=module", "--eval", program], {
    cwd: import.meta.dirname, encoding: "utf8", env: { ...process.env, ...environment },
  });
  const { stdout, stderr } = hello({ EDGETABLE_CONNECTION_STRING: connection, [variable]: join(folder, "ca.pem") });
  assert.equal(stdout, printed, stderr);
  // What the page begins with.
  const refused = hello({ EDGETABLE_CONNECTION_STRING: connection.replace("https:", "http:") }).stderr;
  assert.match(refused, /Cannot connect to http:\/\/127\.0\.0\.1:\S+ while allowInsecureConnection is false/);
});
