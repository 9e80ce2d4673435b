// Counts entities by reading their keys: the protocol has no other way.
import type { Service } from "../wire/client.ts"
import { patiently } from "../wire/failure.ts"
import { type Position, query } from "../wire/tables.ts"
import { Store } from "./store.ts"

export interface Counted {
  count: number
  pages: number
  ms: number
  running: boolean
  waiting: string
  failure?: Error | undefined
}

export class Count {
  readonly state = new Store<Counted>({ count: 0, pages: 0, ms: 0, running: false, waiting: "" })
  private next: Position | undefined
  private abort = new AbortController()

  constructor(
    private readonly service: Service,
    private readonly table: string,
    private readonly filter: string,
  ) {}

  /** run counts on from where it stopped. */
  async run() {
    const { state } = this
    this.abort = new AbortController()
    const { signal } = this.abort
    state.update({ running: true, failure: undefined })
    try {
      do {
        const begin = performance.now()
        const wait = (f: Error, s: number) => state.update({ waiting: `${f.message} Trying again in ${s} s.` })
        const { page, next } = await patiently(() => query(this.service, { table: this.table, filter: this.filter, select: "PartitionKey" }, this.next, signal), signal, wait)
        this.next = next
        const s = state.value
        state.update({ count: s.count + page.length, pages: s.pages + 1, ms: s.ms + performance.now() - begin, waiting: "" })
      } while (this.next && !signal.aborted)
      state.update({ running: false })
    } catch (e) {
      state.update({ running: false, waiting: "", failure: signal.aborted ? undefined : (e as Error) })
    }
  }

  get done() {
    return !this.next && this.state.value.pages > 0 && !this.state.value.running
  }

  stop() {
    this.abort.abort()
  }
}
