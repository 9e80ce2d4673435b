// Waiters wait for room in the isolate. Who holds least of it takes first; of equals who came or was served longest ago. So one
// client leaves room for the others however many requests it has. A client is an address: whose account a request is for is
// known only behind the line. Each request polls, because the platform ends one as hung if only another could wake it.
const maxWait = 5_000; // ms
const maxAway = 1_000; // ms without a look; then the platform killed those that wait

export class Waiters {
  #waiting = new Map(); // by client: how many, when one of them looked, and the turn
  #turns = 0;

  // most may wait, half of them of one client; holds(client) is how much a client holds.
  constructor(most, holds) { Object.assign(this, { most, holds }); }

  // until resolves to the first result of look that is not undefined, or to undefined if too many wait or the time is over.
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

  // isBehind reports whether somebody waits who is before a client.
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
