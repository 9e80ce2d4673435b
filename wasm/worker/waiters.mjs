// Waiters wait for room in the isolate. Each of them polls, because the platform ends a request as hung if only another
// request could wake it.
const maxWait = 5_000; // ms

export class Waiters {
  #waiting = 0;

  constructor(most) { this.most = most; }

  // until resolves to the first result of look that is not undefined, or to undefined if too many wait or the time is over.
  async until(look) {
    for (let waited = 0, pause = 1; ; waited += pause, pause = Math.min(2 * pause, 16)) {
      const found = look();
      if (found !== undefined) return found;
      if (waited > maxWait || (waited === 0 && this.#waiting >= this.most)) return undefined;
      this.#waiting++;
      try {
        await new Promise((resolve) => setTimeout(resolve, pause));
      } finally {
        this.#waiting--;
      }
    }
  }
}
