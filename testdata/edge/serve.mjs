// Runs the Worker in workerd until its standard input ends:  serve.mjs MODULE LISTEN DATA
//
// MODULE is the folder of the module and its shell, DATA the folder of the objects' rows. The Worker gets the variables
// EDGETABLE_… of the environment. With EDGETABLE_EDGE_STORE=kv it has a namespace of Workers KV in DATA, and no objects. It
// prints the address of the Worker and the address for calls of objects (main.mjs):
//
//   worker http://127.0.0.1:PORT
//   objects http://127.0.0.1:PORT
//   inspector http://127.0.0.1:PORT     with EDGETABLE_INSPECTOR
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [module, listen, data] = process.argv.slice(2);
const { Miniflare } = createRequire(join(process.env.EDGETABLE_PACKAGES, "package.json"))("miniflare");

const at = listen.lastIndexOf(":");
const replica = process.env.EDGETABLE_REPLICA === "true"; // this is a binding of the Worker, not a variable
const variables = Object.entries(process.env).filter(([name]) => name.startsWith("EDGETABLE_") && name !== "EDGETABLE_REPLICA");
const read = (name) => readFileSync(join(module, name));
const kv = process.env.EDGETABLE_EDGE_STORE === "kv";
const [around, storage, sockets] = kv
  ? [["kv.mjs"], { kvNamespaces: ["EDGETABLE_KV"], kvPersist: data }, []]
  : [
      ["main.mjs", "faults.mjs", "past.mjs"],
      { durableObjects: { EDGETABLE_OBJECTS: { className: "EdgetableObject", useSQLite: true } }, durableObjectsPersist: data },
      [["objects", "Objects"]],
    ];
const mf = new Miniflare({
  modules: [
    ...around.map((f) => ({ type: "ESModule", path: f, contents: readFileSync(new URL(f, import.meta.url)).toString() })),
    ...readdirSync(module).filter((f) => f.endsWith(".mjs")).map((f) => ({ type: "ESModule", path: f, contents: read(f).toString() })),
    { type: "CompiledWasm", path: "edgetable.wasm", contents: read("edgetable.wasm") },
  ],
  compatibilityDate: "2026-10-30",
  bindings: Object.fromEntries(variables),
  ...storage,
  ...(replica ? { kvNamespaces: { EDGETABLE_REPLICA: "replica" }, kvPersist: join(data, "kv") } : {}),
  // miniflare's own Worker is bypassed, because it normalizes URLs, and signatures cover URLs as sent.
  unsafeDirectSockets: [
    { host: listen.slice(0, at).replace(/^\[(.*)\]$/, "$1"), port: Number(listen.slice(at + 1)) },
    ...sockets.map(([, entrypoint]) => ({ host: "127.0.0.1", port: 0, entrypoint })),
  ],
  inspectorPort: process.env.EDGETABLE_INSPECTOR === undefined ? undefined : 0,
  handleRuntimeStdio: (out, err) => {
    out.pipe(process.stderr);
    err.pipe(process.stderr);
  },
});
await mf.ready;
for (const [name, entrypoint] of [["worker", "default"], ...sockets]) {
  console.log(name, (await mf.unsafeGetDirectURL(undefined, entrypoint)).origin);
}
if (process.env.EDGETABLE_INSPECTOR !== undefined) console.log("inspector", (await mf.getInspectorURL()).origin.replace("ws", "http"));
const end = async () => {
  await mf.dispose();
  process.exit(0);
};
process.stdin.resume().on("end", end).on("error", end);
process.on("SIGTERM", end).on("SIGINT", end);
