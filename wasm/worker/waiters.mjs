// Waiters is a queue of requests for room in the isolate. The client that holds least room is next; among equals, the one
// that has waited longest since it came or was last served. So one client leaves room for others, however many requests it
// has. A client is an address: the account of a request is known only after the queue. Each request polls, because the
// platform ends a request as hung if only another request could wake it.
const maxWait = 5_000; // ms
const maxAway = 1_000; // ms without a poll; after that the platform has killed the client's requests

export class Waiters {
  #waiting = new Map(); // by client: the number of its requests, the time of their last poll, and its turn
  #turns = 0;

  // most is the maximum number of waiting requests, half of it for one client. holds(client) returns how much a client holds.
  constructor(most, holds) { Object.assign(this, { most, holds }); }

  // until polls look until it returns a value, and resolves to that value. It resolves to undefined if too many requests wait
  // or the time is over.
  async until(client, look) {
    const found = this.#isBehind(client) ? undefined : look();
    if (found !== undefined || this.#isFull(client)) return found;
    const own = this.#waiting.get(client) ?? { n: 0, turn: ++this.#turns };
    this.#waiting.set(client, own);
    own.n++;
    try {
      for (let waited = 0, pause = 1; waited <= maxWait; waited += pause, pause = Math.min(2 * pause, 16)) {
        own.looked = Date.now();
        await new Promise((resolve) => setTimeout(resolve, pause));
        const found = this.#isBehind(client) ? undefined : look();
        if (found === undefined) continue;
        own.turn = ++this.#turns;
        return found;
      }
    } finally {
      if (--own.n === 0 && this.#waiting.get(client) === own) this.#waiting.delete(client);
    }
  }

  // isBehind reports whether another client that waits comes before this one.
  #isBehind(client) {
    if (this.#waiting.size === 0) return false;
    const held = this.holds(client), turn = this.#waiting.get(client)?.turn ?? Infinity;
    for (const [other, o] of this.#waiting) {
      if (Date.now() - o.looked > maxAway) continue;
      const more = held - this.holds(other);
      if (more > 0 || (more === 0 && o.turn < turn)) return true;
    }
    return false;
  }

  #isFull(client) {
    let all = 0;
    for (const [other, { n, looked }] of this.#waiting) {
      if (Date.now() - looked > maxAway) this.#waiting.delete(other);
      else all += n;
    }
    return all >= this.most || (this.#waiting.get(client)?.n ?? 0) >= this.most / 2;
  }
}
