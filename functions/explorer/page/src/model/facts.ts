// What the home of an account says of its tables: how many entities they have, how large they are, and what the last hour brought.
import { minutesOf } from "../traffic/matrix.ts"
import type { Service } from "../wire/client.ts"
import { query } from "../wire/tables.ts"
import { getTraffic } from "../wire/traffic.ts"
import { Store } from "./store.ts"

export interface Fact {
  /** rows of the first page, which is the whole table unless there are more */
  rows?: number
  more?: boolean
  /** bytes of these rows; undefined if the service does not tell */
  bytes?: number | undefined
  /** hour has the entities read, written and scanned in each of the last 60 minutes; undefined if the service does not tell */
  hour?: number[] | undefined
  missing?: boolean
}

/** mostAsked tables are asked: each costs a page and its statistics. */
export const mostAsked = 30
const atOnce = 4

export class Facts {
  readonly of = new Store<ReadonlyMap<string, Fact>>(new Map())
  private abort = new AbortController()
  /** tells is false once the service said that it keeps no statistics */
  private tells = true
  /** counted are the tables with traffic, where the server of this machine tells which they are */
  private counted: string[] | undefined

  constructor(readonly service: Service) {}

  /** load asks for the first tables of a list. */
  async load(tables: readonly string[]) {
    this.stop()
    this.abort = new AbortController()
    const { signal } = this.abort
    const left = tables.slice(0, mostAsked)
    if (this.service.local) this.counted = await this.service.about!<{ table: string }[]>("traffic", "", signal).then((list) => list.map((o) => o.table.toLowerCase()), () => undefined)
    const work = async () => {
      for (let table = left.shift(); table !== undefined && !signal.aborted; table = left.shift()) await this.ask(table, signal)
    }
    const first = left.shift()
    if (first !== undefined) await this.ask(first, signal)
    await Promise.all(Array.from({ length: atOnce }, work))
  }

  private async ask(table: string, signal: AbortSignal) {
    const told = (part: Fact) => signal.aborted || this.of.set(new Map(this.of.value).set(table, { ...this.of.value.get(table), ...part }))
    if (this.counted && !this.counted.includes(table.toLowerCase())) told({ hour: new Array<number>(60).fill(0) })
    else if (this.tells)
      await getTraffic(this.service, table, signal).then(
        (report) => {
          this.tells = !!report
          told({ hour: report && minutesOf(report, 60) })
        },
        () => told({ hour: undefined }),
      )
    await query(this.service, { table, filter: "", select: "PartitionKey" }, undefined, signal).then(
      ({ page, next, cost }) => told({ rows: page.length, more: !!next, bytes: cost.bytes }),
      () => told({ missing: true }),
    )
  }

  stop() {
    this.abort.abort()
  }
}
