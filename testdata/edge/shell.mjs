// The shell of the module under Node.js, without workerd.
import { registerHooks } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { framed } from "../../wasm/worker/calls.mjs";

registerHooks({
  resolve(name, context, next) {
    if (name === "cloudflare:workers") return { url: name, format: "module", shortCircuit: true };
    return next(name, context);
  },
  load(url, context, next) {
    let source;
    if (url === "cloudflare:workers") source = "export class DurableObject { constructor(ctx, env) { Object.assign(this, { ctx, env }); } }";
    else if (url.endsWith(".wasm")) source = `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(readFileSync(new URL("${url}")));`;
    else return next(url, context);
    return { format: "module", source, shortCircuit: true };
  },
});

// Node.js 22 cannot suspend a module, so nothing may wait in these tests. The function that a test passes to answerCalls
// answers each call of objects at once, for the instance that serves.
let answer = () => { throw new Error("nobody answers calls"); };
let serving;
WebAssembly.Suspending = function () { return (at, n) => serving.put(...framed(answer(serving.calls(at, n)))); };
WebAssembly.promising = (f) => f;

export function answerCalls(f) { answer = f; }

// serve makes an instance serve a request in the form of request.go, and returns the head and the body of the response.
export function serve(instance, head, body) {
  serving = instance;
  return instance.response(instance.exports.serve(instance.putRequest(head, body)));
}

// shell loads a file of the shell from the folder of the module.
export function shell(folder, file) { return import(pathToFileURL(join(folder, file))); }
