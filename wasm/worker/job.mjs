// A request on its way through instances. It begins in one of a size for what the request has; if more comes for it than
// that has room for, and nothing was written yet, it is served once more in a larger one, which hears at once what the one
// before has heard.
import { limit } from "./clerk.mjs";
import { sizeOf } from "./pool.mjs";

export class Job {
  #before = []; // calls that were made, each with its answer, while it was served before
  #heard = []; // and those of this time
  wrote = false; // or may have
  #repeated = false; // it is served once more

  // again begins to serve it once more.
  again() {
    [this.#before, this.#heard] = [this.#heard, []];
    this.#repeated = true;
  }

  // limit takes tokens of a limit, as clerk.mjs has it: once, however often it is served.
  limit(env, which, key, tokens) { return this.#repeated ? 0 : limit(env, which, key, tokens); }

  // answered is the answer to calls that were made before, and undefined if they were not.
  answered(calls) {
    const i = this.#before.findIndex((h) => same(h.calls, calls));
    return i < 0 ? undefined : this.#before.splice(i, 1)[0].answer;
  }

  // hear has an answer go on to an instance, or end there for want of room.
  hear(calls, answer, instance) {
    if (this.wrote) return;
    this.#heard.push({ calls, answer });
    if (sizeOf(answer.length) > instance.size) throw new Outgrown();
  }
}

export class Outgrown extends Error {}

function same(a, b) { return a.length === b.length && a.every((x, i) => x === b[i]); }
