// The same as instances.mjs, for the module with tables in Workers KV alone:  node kvscenes.mjs MODULE
//
// Each instance has a namespace of its own (memorykv.mjs).
import { MemoryKV } from "./memorykv.mjs";
import { shell } from "./shell.mjs";

const { Instance } = await shell(process.argv[2], "instance.mjs");
console.log = console.error; // the answers are on standard output

class Scene extends Instance {
  constructor(text) { super({ text, EDGETABLE_KV: new MemoryKV() }); }

  configuration(env) { return env.text; }

  answer(ticks, request) {
    this.exports.clock(ticks);
    const head = 4 + request.readUInt32LE(0);
    return this.serve(request.subarray(4, head), request.subarray(head));
  }
}

const instances = new Map();
let made = 0;

async function handle(frame) {
  const view = new DataView(frame.buffer, frame.byteOffset), kind = String.fromCharCode(frame[0]);
  if (kind === "n") {
    instances.set(++made, new Scene(new TextDecoder().decode(frame.subarray(1))));
    const number = new Uint8Array(4);
    new DataView(number.buffer).setUint32(0, made, true);
    return number;
  }
  const number = view.getUint32(1, true);
  if (kind === "d") {
    instances.delete(number);
    return new Uint8Array(0);
  }
  return instances.get(number).answer(view.getBigInt64(5, true), frame.subarray(13));
}

let input = Buffer.alloc(0);
let last = Promise.resolve(); // sends the answers in order
process.stdin.on("data", (chunk) => {
  input = input.length === 0 ? chunk : Buffer.concat([input, chunk]);
  while (input.length >= 4) {
    const n = input.readUInt32LE(0);
    if (input.length < 4 + n) break;
    const frame = input.subarray(4, 4 + n);
    input = input.subarray(4 + n);
    last = last.then(async () => {
      const answer = await handle(frame), head = Buffer.alloc(4);
      head.writeUInt32LE(answer.length);
      process.stdout.write(head);
      process.stdout.write(answer);
    });
  }
});
