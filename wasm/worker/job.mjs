// A request on its way through instances. It begins in an instance of the size that its body needs. If an answer is too large
// for that instance, or its memory is exhausted, the request is served again in a larger one. The second attempt gets the
// times, random numbers, maps and answers of the first. So it makes the same calls, and no write is made twice.
import { known, limit } from "./counter.mjs";
import { size } from "./calls.mjs";
import { sizeOf } from "./pool.mjs";

export class Job {
  now = Date.now(); // the platform's time, which stands still between calls
  #before = []; // calls of the attempts before, each with its answer and the time of the answer
  #heard = []; // calls of this attempt
  #drawn = []; // random numbers
  #next = 0; // the index of the next random number
  #told = []; // questions to the isolate, each with its answer
  #questions = 0; // the index of the next question
  #begin = this.now;
  #repeated = false; // whether this is not the first attempt
  calls = 0; // the number of calls of objects

  // quiet means that the request was served before, and is already counted and logged.
  constructor(quiet = false) { this.quiet = quiet; }

  // again begins the next attempt.
  again() {
    [this.#before, this.#heard] = [this.#heard.concat(this.#before), []];
    this.now = this.#begin;
    this.#next = this.#questions = 0;
    this.#repeated = true;
  }

  random(draw) { return this.#drawn[this.#next++] ??= draw(); }

  // limit takes tokens of a rate limit, but only in the first attempt.
  limit(env, which, key, tokens) { return this.quiet || this.#repeated ? 0 : limit(env, which, key, tokens); }

  // wrote reports whether a write was sent.
  get wrote() { return [...this.#before, ...this.#heard].some((h) => h.writes); }

  // known answers a question about what the isolate remembers, with the same answer as in the attempt before.
  known(env, question) {
    const i = this.#questions++, told = this.#told[i];
    if (told !== undefined && same(told.question, question)) return told.answer;
    this.#told.length = i;
    return (this.#told[i] = { question, answer: known(env, question) }).answer;
  }

  // ask returns the answer to calls. It makes the calls unless an earlier attempt did. It throws if the answer is too large
  // for the instance, or if this attempt would make another write than the one before.
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

// same compares two calls: strings, bytes, and lists of either.
function same(a, b) { return a === b || typeof a === "object" && a.length === b.length && a.every((x, i) => same(x, b[i])); }
