// What the home of an account says of its tables: how many entities they have, how large they are, and what the last hour brought.
import { type Hour, hourOf } from "../traffic/hour.ts"
import type { Service } from "../wire/client.ts"
import { query } from "../wire/tables.ts"
import { getHours, getTraffic } from "../wire/traffic.ts"
import { Count } from "./count.ts"
import { Store } from "./store.ts"

export interface Fact {
  /** rows of the first page, which is the whole table unless there are more */
  rows?: number
  more?: boolean
  /** bytes of these rows; undefined if the service does not tell */
  bytes?: number | undefined
  /** hour is what was used in the last 60 minutes; undefined if nobody counted */
  hour?: Hour | undefined
  missing?: boolean
  /** count counts a table of more than a page */
  count?: Count
}

/** mostAsked tables are asked: each costs a page and its statistics. */
export const mostAsked = 30
const atOnce = 4

export class Facts {
  readonly of = new Store<ReadonlyMap<string, Fact>>(new Map())
  private abort = new AbortController()
  /** tells is false once the service said that it keeps no statistics */
  private tells = true

  constructor(readonly service: Service) {}

  /** load asks for the first tables of a list. */
  async load(tables: readonly string[]) {
    this.stop()
    this.abort = new AbortController()
    const { signal } = this.abort
    const left = tables.slice(0, mostAsked)
    const hours = await getHours(this.service, signal)
    const work = async () => {
      for (let table = left.shift(); table !== undefined && !signal.aborted; table = left.shift()) {
        if (hours) this.tell(table, { hour: hours(table) })
        else await this.askHour(table, signal)
        await this.askRows(table, signal)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
  }

  private async askHour(table: string, signal: AbortSignal) {
    if (!this.tells) return
    await getTraffic(this.service, table, signal).then(
      (report) => {
        this.tells = !!report
        if (!signal.aborted) this.tell(table, { hour: report && hourOf(report) })
      },
      () => undefined,
    )
  }

  private async askRows(table: string, signal: AbortSignal) {
    await query(this.service, { table, filter: "", select: "PartitionKey" }, undefined, signal).then(
      ({ page, next, cost }) => this.tell(table, { rows: page.length, more: !!next, bytes: cost.bytes, ...(next ? { count: new Count(this.service, table, "") } : {}) }),
      () => signal.aborted || this.tell(table, { missing: true }),
    )
  }

  private tell(table: string, part: Fact) {
    this.of.set(new Map(this.of.value).set(table, { ...this.of.value.get(table), ...part }))
  }

  /** countAll counts each table that has more than a page, one after the other. */
  async countAll() {
    const { signal } = this.abort
    for (const { count } of this.of.value.values()) {
      if (!count || count.done || count.state.value.running) continue
      await count.run()
      if (signal.aborted || !count.done) return
    }
  }

  stop() {
    this.abort.abort()
    for (const { count } of this.of.value.values()) count?.stop()
  }
}
