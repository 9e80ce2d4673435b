// A request on its way through instances. It begins in an instance of the size of its body. If an answer is too large for that
// instance, or its memory is exhausted, the request is served again in a larger one. The second attempt gets the times, random
// numbers, maps and answers of the first, so that it makes the same calls, and a write is not made twice.
import { known, limit } from "./counter.mjs";
import { size } from "./calls.mjs";
import { sizeOf } from "./pool.mjs";

export class Job {
  now = Date.now(); // of the platform; it stands still between calls
  #before = []; // calls of the attempts before, each with its answer and the time of it
  #heard = []; // calls of this attempt
  #drawn = []; // random numbers
  #next = 0; // of them
  #told = []; // questions to the isolate, each with its answer
  #questions = 0; // of them
  #begin = this.now;
  #repeated = false; // this is not the first attempt
  calls = 0; // of objects

  // quiet: the request was served before, and is counted and logged already.
  constructor(quiet = false) { this.quiet = quiet; }

  // again begins the next attempt.
  again() {
    [this.#before, this.#heard] = [this.#heard.concat(this.#before), []];
    this.now = this.#begin;
    this.#next = this.#questions = 0;
    this.#repeated = true;
  }

  random(draw) { return this.#drawn[this.#next++] ??= draw(); }

  // limit takes tokens of a limit, in the first attempt only.
  limit(env, which, key, tokens) { return this.quiet || this.#repeated ? 0 : limit(env, which, key, tokens); }

  // wrote reports whether a write was sent.
  get wrote() { return [...this.#before, ...this.#heard].some((h) => h.writes); }

  // known answers what the isolate knows, as it did in the attempt before.
  known(env, question) {
    const i = this.#questions++, told = this.#told[i];
    if (told !== undefined && same(told.question, question)) return told.answer;
    this.#told.length = i;
    return (this.#told[i] = { question, answer: known(env, question) }).answer;
  }

  // ask returns the answer to calls, which it makes unless an earlier attempt did. It throws if the instance has no room for the
  // answer, or if this attempt would make another write than the one before.
  async ask(calls, writes, make, instance) {
    const i = this.#before.findIndex((h) => same(h.calls, calls));
    if (i < 0 && writes && this.#before.some((h) => h.writes)) throw new Error("the second attempt makes another write");
    const heard = i < 0 ? { calls, writes } : this.#before.splice(i, 1)[0];
    this.#heard.push(heard);
    if (i < 0) {
      this.calls += Math.ceil(calls.length / 4);
      Object.assign(heard, { answer: await make(), at: Date.now() });
    }
    if (i >= 0 || this.#before.length === 0) this.now = heard.at;
    if (sizeOf(size(heard.answer)) > instance.size) throw new Outgrown();
    return heard.answer;
  }
}

export class Outgrown extends Error {}

// same compares calls: texts, and lists of them or of bytes.
function same(a, b) { return a === b || typeof a === "object" && a.length === b.length && a.every((x, i) => same(x, b[i])); }
