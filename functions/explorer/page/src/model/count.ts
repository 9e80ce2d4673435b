// Counts entities by reading their keys: the protocol has no other way.
import type { Service } from "../wire/client.ts"
import { type Position, query } from "../wire/tables.ts"
import { type Progress, Task } from "./task.ts"

export interface Counted extends Progress {
  count: number
  pages: number
  ms: number
}

export class Count extends Task<Counted> {
  private next: Position | undefined

  constructor(
    private readonly service: Service,
    private readonly table: string,
    private readonly filter: string,
  ) {
    super({ count: 0, pages: 0, ms: 0 })
  }

  protected async work(signal: AbortSignal) {
    do {
      const begin = performance.now()
      const { page, next } = await this.patiently(signal, () => query(this.service, { table: this.table, filter: this.filter, select: "PartitionKey" }, this.next, signal))
      this.next = next
      const s = this.state.value
      this.state.update({ count: s.count + page.length, pages: s.pages + 1, ms: s.ms + performance.now() - begin, waiting: "" })
    } while (this.next && !signal.aborted)
    return {}
  }

  get done() {
    return !this.next && this.state.value.pages > 0 && !this.state.value.running
  }
}
