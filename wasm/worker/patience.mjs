// Patience is that of those who wait for room in the isolate. Who waits looks for itself: the platform takes a request for
// hung that only another one could wake.
const maxWait = 5_000; // ms

export class Patience {
  #waiting = 0;

  constructor(most) { this.most = most; }

  // until resolves to what look returns as soon as there is something, or to undefined where too many wait already, or for
  // too long.
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
