// Saves everything that a query finds, as JSON lines or as CSV with types. It goes page by page, can be stopped, and resumes there.
import type { Service } from "../wire/client.ts"
import { patiently } from "../wire/failure.ts"
import { body, parseEntity } from "../wire/json.ts"
import { type Position, type Query, query } from "../wire/tables.ts"
import type { Entity } from "../wire/value.ts"
import { Store } from "../model/store.ts"
import { header, line } from "./csv.ts"

export interface Exporting {
  running: boolean
  finished: boolean
  rows: number
  bytes: number
  waiting: string
  failure?: Error | undefined
}

export type Format = "jsonl" | "csv"

const system = ["PartitionKey", "RowKey", "Timestamp"]

export class Export {
  readonly state = new Store<Exporting>({ running: false, finished: false, rows: 0, bytes: 0, waiting: "" })
  private readonly parts: Blob[] = [] // lines of JSON; the browser keeps large ones on the disk
  private readonly names = new Set<string>()
  private next: Position | undefined
  private abort = new AbortController()

  constructor(
    private readonly service: Service,
    private readonly what: Query,
  ) {}

  stop() {
    this.abort.abort()
  }

  async run() {
    const { state } = this
    this.abort = new AbortController()
    const { signal } = this.abort
    state.update({ running: true, failure: undefined })
    try {
      do {
        const result = await patiently(() => query(this.service, this.what, this.next, signal), signal, (f, s) => state.update({ waiting: `${f.message} Trying again in ${s} s.` }))
        const lines = Array.from({ length: result.page.length }, (_, i) => this.lineOf(result.page.entity(i)))
        const part = new Blob(lines)
        this.parts.push(part)
        this.next = result.next
        state.update({ rows: state.value.rows + lines.length, bytes: state.value.bytes + part.size, waiting: "" })
      } while (this.next && !signal.aborted)
      state.update({ running: false, finished: !this.next })
    } catch (e) {
      state.update({ running: false, waiting: "", failure: signal.aborted ? undefined : (e as Error) })
    }
  }

  private lineOf(e: Entity): string {
    for (const name of e.values.keys()) if (!system.includes(name)) this.names.add(name)
    const timestamp = e.values.get("Timestamp")
    const text = body(e.values)
    return (timestamp ? text.slice(0, -1) + (text === "{}" ? "" : ",") + `"Timestamp@odata.type":"Edm.DateTime","Timestamp":${JSON.stringify(timestamp.text)}}` : text) + "\n"
  }

  /** file is what was exported so far. */
  async file(format: Format): Promise<Blob> {
    if (format === "jsonl") return new Blob(this.parts, { type: "application/x-ndjson" })
    const names = [...this.names]
    const out: Blob[] = [new Blob([header(names)])]
    for (const part of this.parts) {
      const lines = (await part.text()).split("\n").filter(Boolean)
      out.push(new Blob(lines.map((l) => line(parseEntity(l), names))))
    }
    return new Blob(out, { type: "text/csv" })
  }
}

/** save gives a file to the user. */
export function save(file: Blob, name: string) {
  const a = document.createElement("a")
  a.href = URL.createObjectURL(file)
  a.download = name
  a.click()
  setTimeout(() => URL.revokeObjectURL(a.href), 60_000)
}
