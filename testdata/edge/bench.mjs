// Measures the module and the Worker against their limits:  bench.mjs MODULE [REQUESTS]
//
// MODULE is a folder as wasm/worker/build prints it. First the module is measured alone, in this process: its size, its
// start-up time, and the CPU time of requests, including the work of objects. Then workerd is measured over HTTP with 16
// connections: rates, the CPU time of its process, its memory after this many requests (JavaScript's heap after a garbage
// collection), and its maximum memory under large requests. Each entity has 1 KiB. The run fails if a limit is missed.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { account, batch, create, key, large, page, point, write } from "./client.mjs";
import { Joined } from "./joined.mjs";
import { Load } from "./load.mjs";

const [folder, requests = "10000"] = process.argv.slice(2);
const env = { EDGETABLE_ACCOUNTS: `${account}:${key}`, EDGETABLE_MAX_SKEW: "0" };
let missed = 0;

function report(what, value, unit, bound, least = false) {
  const text = Number(value).toFixed(value < 100 ? 2 : 0);
  const fine = bound === undefined || (least ? value >= bound : value <= bound);
  if (!fine) missed++;
  console.log(`${what.padEnd(58)} ${text.padStart(10)} ${unit.padEnd(4)} ${bound === undefined ? "" : `${least ? "≥" : "≤"} ${bound}${fine ? "" : "   MISSED"}`}`);
}

const median = (list) => list.sort((a, b) => a - b)[list.length >> 1];
const times = (n, f) => Array.from({ length: n }, (_, i) => f(i));

// cpu returns the CPU time of f in ms: f runs n times in each of several rounds, and the median counts.
function cpu(n, f) {
  return median(times(7, (round) => {
    const begin = process.cpuUsage();
    for (let i = 0; i < n; i++) f(round * n + i);
    const { user, system } = process.cpuUsage(begin);
    return (user + system) / 1000 / n;
  }));
}

const module = readFileSync(join(folder, "edgetable.wasm"));
report("module", module.length / 1000, "kB", 1200);
report("module, gzipped", gzipSync(module, { level: 9 }).length / 1000, "kB", 600); // see wasm/worker/size_test.go
// Each copy has different bytes, in an unused section, because V8 caches compiled modules.
const other = () => Buffer.concat([module, Buffer.of(0, 10, 1, 0x78), randomBytes(8)]);
report("compile", cpu(1, () => new WebAssembly.Module(other())), "ms");

const j = await Joined.make(folder, env);
console.log = ((log) => (line) => (String(line).startsWith('{"msg":"request"') ? undefined : log(line)))(console.log);
report("instantiate and configure, compiled before", cpu(3, () => new j.Instance(env)), "ms", 20);

function serve(r, status) {
  const head = `${r.method}\nhttp://host${r.path}\n192.0.2.7\n\n${r.body.length}\n` + Object.entries(r.headers).map(([n, v]) => `${n}:${v}`).join("\n");
  const request = [new TextEncoder().encode(head), r.body];
  return () => {
    const [head, body] = j.serve(...request).map((b) => new TextDecoder().decode(b));
    if (!head.startsWith(status)) throw new Error(head + body);
  };
}
for (let first = 0, made = serve(create("bench"), 201); first <= 1000; first += 100) {
  made();
  made = serve(batch("bench", first), 202);
}
const inserts = times(300, (i) => serve(batch("inserts", 100 * i), 202));
serve(create("inserts"), 201)();
// The numbers of calls and rows are those of a table of one range, before ranges existed; a few of the written rows hold
// statistics and Timestamps. A large request is served by a new instance each time, which also asks the catalog.
for (const [what, n, f, bound, calls, read, written] of [
  ["point read", 300, serve(point("bench", 7), 200), 1, 1.01, 1.1, 0.1],
  ["point write", 300, serve(write("bench", 7), 204), 1.5, 1.01, 1.1, 1.1],
  ["batch of 100 inserts", 20, () => j.afresh(inserts.pop()), 10, 2, 1.2, 101.2],
  ["page of 1000", 5, () => j.afresh(serve(page("bench"), 200)), 15, 2, 1010, 0.2],
]) {
  for (let i = 0; i < 3 * n; i++) f(); // until the compiler has optimized it
  j.inObjects = j.counts.calls = j.counts.read = j.counts.written = 0;
  const begin = performance.now(), total = cpu(n, f);
  report(`${what}, CPU`, total, "ms", bound);
  report("    of which in objects", (total * j.inObjects) / (performance.now() - begin), "ms");
  report("    calls of objects", j.counts.calls / (7 * n), "", calls);
  report("    rows read", j.counts.read / (7 * n), "", read);
  report("    rows written", j.counts.written / (7 * n), "", written);
}

// workerd runs work in a new workerd process.
async function workerd(work) {
  const load = await Load.start(folder, env);
  try {
    await load.each([create("bench"), create("large"), create("written")], 201);
    await load.each(times(10, (i) => batch("bench", 100 * i)), 202);
    await work(load);
  } finally {
    await load.stop();
  }
}

const points = times(1000, (i) => point("bench", i));
await workerd(async (load) => {
  for (const [what, list, status, least] of [
    ["reads", points, 200, 1000],
    ["writes", times(1000, (i) => write("bench", i)), 204],
  ]) {
    await load.run(list, 2000, status);
    const { rate, cpu } = await load.run(list, Number(requests) / 2, status);
    report(`workerd, 16 connections, ${what}`, rate, "/s", least, true);
    report("    CPU a request, of workerd", cpu, "ms");
  }
  const { heap, modules, rss } = await load.memory();
  report(`isolate behind ${load.served} requests: JavaScript`, heap, "MiB");
  report("    memories of the module", modules, "MiB");
  report("    both", heap + modules, "MiB", 75); // 80 MB
  report("    the process, of all isolates", rss, "MiB");
});

// Large requests, concurrent from the beginning, because the memories never shrink.
const pages = [{ ...page("bench"), status: 200 }];
const entities = times(20, (i) => ({ ...large("large", i, 1_000_000), status: 204 }));
const batches = times(20, (i) => ({ ...batch("written", 100 * i, 29_000), status: 202 }));
for (const [what, connections, n, list] of [
  ["pages of 1000", 16, 320, pages],
  ["pages of 1000", 64, 640, pages],
  ["entities of 1 MiB, read, in pages, written", 16, 120, [...entities, ...times(20, (i) => ({ ...point("large", i), status: 200 })), ...times(20, () => ({ ...page("large"), status: 200 }))]],
  ["batches of 4 MiB", 64, 128, batches],
  ["all of it", 64, 640, times(160, (i) => [pages, entities, batches, points.map((r) => ({ ...r, status: 200 }))][i % 4][i % (i % 4 === 0 ? 1 : 20)])],
]) {
  await workerd(async (load) => {
    if (list.includes(entities[0])) await load.each(entities, 204);
    const { rate, busy } = await load.run(list, n, undefined, connections);
    report(`${connections} at once, ${what}: memories at most`, (await load.memory()).peak, "MiB", 75);
    report("    requests", rate, "/s");
    report("    of which refused as busy", (100 * busy) / n, "%");
  });
}
process.exit(missed > 0 ? 1 : 0);
