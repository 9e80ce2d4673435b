// Runs instances of the module under Node.js for tests:  node instances.mjs MODULE
//
// Standard input consists of frames, each preceded by its length in 4 bytes, little-endian:
//
//   "n" text                    makes an instance, configured with the text → its number, in 4 bytes
//   "t" number, ticks (8), request  sets the clock of an instance of the corpus and has it serve a request → the response
//   "d" number                  gives an instance up → nothing
//
// Standard output has one frame for each frame of the input.
import { shell } from "./shell.mjs";

const { Instance } = await shell(process.argv[2], "instance.mjs");
const { frames } = await shell(process.argv[2], "calls.mjs");
console.log = console.error; // the answers are on standard output

class Scene extends Instance {
  configuration() { return this.env; }
}

const instances = new Map();
let made = 0;

function handle(frame) {
  const view = new DataView(frame.buffer, frame.byteOffset), kind = String.fromCharCode(frame[0]);
  if (kind === "n") {
    instances.set(++made, new Scene(new TextDecoder().decode(frame.subarray(1))));
    const number = new Uint8Array(4);
    new DataView(number.buffer).setUint32(0, made, true);
    return number;
  }
  const number = view.getUint32(1, true), instance = instances.get(number);
  if (kind === "d") {
    instances.delete(number);
    return new Uint8Array(0);
  }
  instance.exports.clock(view.getBigInt64(5, true));
  const [head, body] = instance.response(instance.exports.serve(instance.put(frame.subarray(13))));
  return Buffer.concat([frames([head]), body]);
}

let input = Buffer.alloc(0);
process.stdin.on("data", (chunk) => {
  input = input.length === 0 ? chunk : Buffer.concat([input, chunk]);
  while (input.length >= 4) {
    const n = input.readUInt32LE(0);
    if (input.length < 4 + n) break;
    const answer = handle(input.subarray(4, 4 + n));
    input = input.subarray(4 + n);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(answer.length);
    process.stdout.write(head);
    process.stdout.write(answer);
  }
});
