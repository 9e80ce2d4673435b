// Saves everything that a query finds, as JSON lines or as CSV with types. It goes page by page, can be stopped, and resumes there.
import type { Service } from "../wire/client.ts"
import { body, parseEntity } from "../wire/json.ts"
import { type Position, type Query, query } from "../wire/tables.ts"
import { type Entity, system } from "../wire/value.ts"
import { type Progress, Task } from "../model/task.ts"
import { header, line, plainHeader, plainLine } from "./csv.ts"

export interface Exporting extends Progress {
  finished: boolean
  rows: number
  bytes: number
}

export type Format = "jsonl" | "csv" | "csv-plain"

export class Export extends Task<Exporting> {
  private readonly parts: Blob[] = [] // lines of JSON; the browser keeps large ones on the disk
  private readonly names = new Set<string>()
  private next: Position | undefined

  constructor(
    private readonly service: Service,
    private readonly what: Query,
  ) {
    super({ finished: false, rows: 0, bytes: 0 })
  }

  protected async work(signal: AbortSignal) {
    const { state } = this
    do {
      const result = await this.patiently(signal, () => query(this.service, this.what, this.next, signal))
      const lines = Array.from({ length: result.page.length }, (_, i) => this.lineOf(result.page.entity(i)))
      const part = new Blob(lines)
      this.parts.push(part)
      this.next = result.next
      state.update({ rows: state.value.rows + lines.length, bytes: state.value.bytes + part.size, waiting: "" })
    } while (this.next && !signal.aborted)
    return { finished: !this.next }
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
    const [head, row] = format === "csv" ? [header, line] : [plainHeader, plainLine]
    const out: Blob[] = [new Blob([head(names)])]
    for (const part of this.parts) {
      const lines = (await part.text()).split("\n").filter(Boolean)
      out.push(new Blob(lines.map((l) => row(parseEntity(l), names))))
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
