// A request on its way through instances. It begins in an instance of the size of its body. If an answer is too large for that
// instance, and nothing was written yet, the request is served again in a larger one, which gets the earlier answers at once.
import { limit } from "./clerk.mjs";
import { size } from "./calls.mjs";
import { sizeOf } from "./pool.mjs";

export class Job {
  #before = []; // calls of the earlier attempt, each with its answer
  #heard = []; // calls of this attempt
  wrote = false; // it wrote, or may have
  #repeated = false; // this is the second attempt

  // again begins the second attempt.
  again() {
    [this.#before, this.#heard] = [this.#heard, []];
    this.#repeated = true;
  }

  // limit takes tokens of a limit, in the first attempt only.
  limit(env, which, key, tokens) { return this.#repeated ? 0 : limit(env, which, key, tokens); }

  // answered is the answer to calls of the earlier attempt, undefined if it did not make them.
  answered(calls) {
    const i = this.#before.findIndex((h) => same(h.calls, calls));
    return i < 0 ? undefined : this.#before.splice(i, 1)[0].answer;
  }

  // hear records an answer, and throws if the instance has no room for it.
  hear(calls, answer, instance) {
    if (this.wrote) return;
    this.#heard.push({ calls, answer });
    if (sizeOf(size(answer)) > instance.size) throw new Outgrown();
  }
}

export class Outgrown extends Error {}

// same compares calls: texts, and lists of them or of bytes.
function same(a, b) { return a === b || typeof a === "object" && a.length === b.length && a.every((x, i) => same(x, b[i])); }
