// What the tests share: the configuration, and a copy of this folder beside what "make wasm" made, in which wrangler runs, so that
// neither a configuration of your own nor what wrangler leaves behind is in the way.
import { cpSync, mkdtempSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export const here = resolve(import.meta.dirname, ".."), root = resolve(here, "../..");
export const read = (path) => readFileSync(join(root, path), "utf8");
export const require = createRequire(join(process.env.EDGETABLE_TEST_PACKAGES, "package.json"));

// Lines of choices are comments without a space.
const text = read("infra/cloudflare/wrangler.jsonc");
export const variants = { "as written": text, "every choice taken": text.replace(/^(\s*)\/\/(?=\S)/gm, "$1") };

// parse reads JSON with comments.
export const parse = (jsonc) => JSON.parse(jsonc.replace(/("(?:\\.|[^"\\])*")|\/\/.*/g, "$1"));

// checkout has the configuration as wrangler.jsonc, or, if it is another one, as your own beside it.
export function checkout(jsonc) {
  const top = mkdtempSync(join(tmpdir(), "edgetable-"));
  mkdirSync(join(top, "infra"));
  mkdirSync(join(top, "testdata"));
  for (const folder of ["bin/edge", "bin/edge-kv", "bin/edge-page"]) cpSync(join(root, folder), join(top, folder), { recursive: true });
  cpSync(here, join(top, "infra/cloudflare"), { recursive: true, filter: (path) => !/\.wrangler$|own\.jsonc$/.test(path) });
  symlinkSync(join(root, "testdata/edge"), join(top, "testdata/edge"));
  if (jsonc !== text) writeFileSync(join(top, "infra/cloudflare/wrangler.own.jsonc"), jsonc);
  return { top, remove: () => rmSync(top, { recursive: true, force: true }) };
}

// launch starts a script of the folder in a checkout, without the credentials or the files of who runs the tests.
function launch(top, command, env = {}, stdin = "ignore", detached = false) {
  const { PATH, LANG = "C.UTF-8", EDGETABLE_CACHE = join(root, ".cache") } = process.env;
  return spawn(command[0], command.slice(1), {
    cwd: join(top, "infra/cloudflare"),
    // Node.js keeps wrangler's code as it compiled it; otherwise, it compiles that code at each start.
    env: { PATH, LANG, EDGETABLE_CACHE, HOME: top, TMPDIR: top, CI: "1", FORCE_COLOR: "0", NODE_COMPILE_CACHE: join(EDGETABLE_CACHE, "edge/compiled"), ...env },
    stdio: [stdin, "pipe", "pipe"],
    detached,
  });
}

// run waits until a script has ended.
export function run(top, command, env, stdin = "ignore") {
  const child = launch(top, command, env, stdin === "ignore" ? stdin : "pipe");
  if (stdin !== "ignore") child.stdin.end(stdin);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  return new Promise((done) => child.on("close", (code) => done({ code, output })));
}

// start waits until a script serves at a URL, which it prints. It runs until stop.
export function start(top, command, env) {
  const child = launch(top, command, env, "ignore", true);
  const ended = new Promise((done) => child.on("close", done));
  const stop = (signal = "SIGTERM") => (process.kill(-child.pid, signal), ended); // with the processes that it started
  let output = "";
  return new Promise((ready, fail) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk) => {
        output += chunk;
        const url = /Ready on (http:\S+)/.exec(output)?.[1];
        if (url) ready({ url, stop });
      });
    }
    ended.then(() => fail(new Error(output)));
  });
}
