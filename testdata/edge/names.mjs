// Prints which objects the shell requests from the platform:  names.mjs MODULE
//
// Standard input contains the calls, as in calls.go. Standard output is JSON: for each call, how the shell used the
// namespace, and the bytes of all answers. The namespace follows the platform's documentation, unlike workerd's: it has
// jurisdictions, and refuses unknown ones.
import { readFileSync } from "node:fs";
import { shell } from "./shell.mjs";

const { callObjects, callsOf, frames, unframe } = await shell(process.argv[2], "calls.mjs");
const known = ["eu", "us", "fedramp"], asked = [];

const namespace = (jurisdiction) => ({
  jurisdiction(name) {
    if (jurisdiction !== undefined) throw new Error("a jurisdiction has no others in it");
    if (!known.includes(name)) throw new Error(`no jurisdiction ${name}`);
    return namespace(name);
  },
  getByName(name, options) {
    const index = asked.push({ jurisdiction, name, options }) - 1;
    return { ask: async (message) => Uint8Array.of(0, index, ...message) };
  },
});

console.error = () => {};
const answers = frames(await callObjects({ EDGETABLE_OBJECTS: namespace() }, callsOf(unframe(new Uint8Array(readFileSync(0)))), 1000));
console.log(JSON.stringify({ asked, answers: [...answers] }));
