// Servers that a test has for itself, with flags of its own.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** The program that EDGETABLE_BINARY names; without it, one built from this repository. */
function find() {
  if (process.env.EDGETABLE_BINARY) return process.env.EDGETABLE_BINARY;
  const folder = mkdtempSync(join(tmpdir(), "clients"));
  process.on("exit", () => rmSync(folder, { recursive: true }));
  const built = join(folder, "edgetable");
  execFileSync("go", ["build", "-o", built, "./functions/edgetable"], { cwd: fileURLToPath(new URL("../../..", import.meta.url)) });
  return built;
}
const binary = find();

export const newKey = () => randomBytes(32).toString("base64");

/** Starts a server, which ends with the test, and answers its process and its endpoint. */
export async function start(t, key, ...flags) {
  const server = spawn(binary, ["serve", "--listen", "127.0.0.1:0", "--log-level", "error", ...flags], {
    env: { ...process.env, EDGETABLE_ACCOUNTS: `own:${key}` }, stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(async () => { // it writes into its folder until it has ended
    if (server.exitCode === null && server.signalCode === null && server.kill()) await once(server, "exit");
  });
  let endpoint;
  for await (const line of createInterface({ input: server.stdout })) {
    const [word, rest] = line.trim().split(/ +/);
    if (word === "endpoint") endpoint = rest;
    if (word === "ready") return { server, endpoint };
  }
  throw new Error(`the server with ${flags.join(" ")} has ended`);
}

/** Starts a server in memory, which ends with the test, and answers its connection string. */
export async function serve(t, ...flags) {
  const key = newKey();
  const { endpoint } = await start(t, key, "--memory", ...flags);
  return `DefaultEndpointsProtocol=http;AccountName=own;AccountKey=${key};TableEndpoint=${endpoint};`;
}
