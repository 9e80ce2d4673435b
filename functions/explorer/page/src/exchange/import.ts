// Writes the rows of a file, in batches, and keeps those that are refused.
import { type Operation, transact } from "../wire/batch.ts"
import type { Service } from "../wire/client.ts"
import { Failure } from "../wire/failure.ts"
import { body } from "../wire/json.ts"
import { type Value, keyOf } from "../wire/value.ts"
import { batches, each } from "../model/bulk.ts"
import { type Progress, Task } from "../model/task.ts"
import { type Plan, type Row, rowsOf } from "./plan.ts"

export type Existing = "skip" | "replace" | "merge"

export interface Importing extends Progress {
  finished: boolean
  read: number
  done: number
  skipped: number
  /** dropped rows have the keys of a later row, which counts */
  dropped: number
  refused: { line: number; source: string; wrong: string }[]
}

const chunk = 5000
const methods = { skip: "POST", replace: "PUT", merge: "PATCH" } as const

type Numbered = Operation & { row: Row }

export class Import extends Task<Importing> {
  private finishedRows = 0 // a stopped import goes on behind these
  /** later has the number of the last row of each key that occurs twice */
  private later: Map<string, number> | undefined
  /** left are the batches of a part of the file that are not written yet; part is its number of rows. */
  private left: Numbered[][] = []
  private part = 0

  constructor(
    private readonly service: Service,
    private readonly table: string,
    private readonly file: Blob,
    private readonly plan: Plan,
    private readonly existing: Existing,
  ) {
    super({ finished: false, read: 0, done: 0, skipped: 0, dropped: 0, refused: [] })
  }

  protected async work(signal: AbortSignal) {
    this.later ??= await this.look(signal)
    await this.finish(signal)
    let rows: Row[] = []
    let read = 0
    for await (const row of rowsOf(this.file, this.plan)) {
      if (++read <= this.finishedRows) continue
      rows.push(row)
      if (rows.length < chunk) continue
      await this.write(rows, signal)
      rows = []
    }
    await this.write(rows, signal)
    return { finished: true }
  }

  /** look reads the file before anything is written: it finds keys that occur twice, and what is wrong with the file itself. */
  private async look(signal: AbortSignal): Promise<Map<string, number>> {
    const seen = new Set<string>()
    const twice = new Map<string, number>()
    for await (const { values, number } of rowsOf(this.file, this.plan)) {
      signal.throwIfAborted()
      if (!values) continue
      const key = keyIn(values)
      if (seen.has(key)) twice.set(key, number)
      else seen.add(key)
    }
    return twice
  }

  /** write writes a part of the file. */
  private async write(rows: Row[], signal: AbortSignal) {
    const operations: Numbered[] = []
    let dropped = 0
    for (const row of rows) {
      if (!row.values) this.refuse(row, row.wrong ?? "")
      else if ((this.later?.get(keyIn(row.values)) ?? row.number) > row.number) dropped++
      else {
        const values = row.values
        operations.push({ method: methods[this.existing], key: keyOf({ etag: "", values }), body: body(values), row })
      }
    }
    this.state.update({ read: this.finishedRows + rows.length, dropped: this.state.value.dropped + dropped })
    this.left = batches(operations.sort(byPartition)) as Numbered[][]
    this.part = rows.length
    await this.finish(signal)
  }

  /** finish writes what is left of a part. A batch that has begun is not broken off: nobody would know whether it was written. */
  private async finish(signal: AbortSignal) {
    await each(6, [...this.left], async (batch) => {
      signal.throwIfAborted()
      await this.execute(batch, signal)
      this.left = this.left.filter((b) => b !== batch)
    })
    this.finishedRows += this.part
    this.part = 0
  }

  private async execute(batch: Numbered[], signal: AbortSignal) {
    let skipped = 0
    let left = batch
    while (left.length > 0) {
      try {
        await this.patiently(signal, () => transact(this.service, this.table, left))
        break
      } catch (e) {
        if (!(e instanceof Failure) || e.status < 400 || e.status >= 500 || e.status === 403 || e.code === "TableNotFound") throw e
        const at = Math.min(e.index ?? 0, left.length - 1)
        if (e.code === "EntityAlreadyExists") skipped++
        else this.refuse(left[at]!.row, e.message)
        left = left.toSpliced(at, 1)
      }
    }
    const s = this.state.value
    this.state.update({ done: s.done + left.length, skipped: s.skipped + skipped, waiting: "" })
  }

  private refuse(row: Row, wrong: string) {
    const { refused } = this.state.value
    if (!refused.some((r) => r.line === row.line)) this.state.update({ refused: [...refused, { line: row.line, source: row.source, wrong }] })
  }
}

const keyIn = (values: Map<string, Value>) => JSON.stringify([values.get("PartitionKey")?.text, values.get("RowKey")?.text])

const byPartition = (a: Operation, b: Operation) => (a.key.pk < b.key.pk ? -1 : a.key.pk > b.key.pk ? 1 : 0)
