// Work on all results of a query, loaded or not: delete, set a property, copy. It goes page by page, stops at the end of one, and resumes there,
// even after the page was closed.
import { type Operation, transact } from "../wire/batch.ts"
import type { Service } from "../wire/client.ts"
import { Failure } from "../wire/failure.ts"
import { body, parseEntity } from "../wire/json.ts"
import { type Position, getEntity, query } from "../wire/tables.ts"
import { type Entity, type Value, keyOf, sameValue } from "../wire/value.ts"
import { placeOf } from "./draft.ts"
import { read, write } from "./settings.ts"
import { type Progress, Task } from "./task.ts"
import { maxBatch } from "../wire/rules.ts"

export type Plan =
  | { kind: "delete" }
  | { kind: "set"; name: string; value: Value }
  | { kind: "copy"; service: string; table: string; existing: "replace" | "skip" }

/** A Job is what has to be known to resume. */
export interface Job {
  plan: Plan
  filter: string
  next: Position | undefined
  done: number
  skipped: number
}

export interface Working extends Job, Progress {
  finished: boolean
}

const place = (service: Service, table: string) => "job." + placeOf(service, table, undefined)

/** unfinished is the job of a table that was stopped, if there is one. */
export const unfinished = (service: Service, table: string) => read<Job | undefined>(place(service, table), undefined)

export const forget = (service: Service, table: string) => write(place(service, table), undefined)

const perBatch = maxBatch
const mostBytes = 3_500_000
const atOnce = 6

export class Bulk extends Task<Working> {
  /** left are the batches of a page that are not done, and next is where the page behind it begins. */
  private left: Operation[][] = []
  private next: Position | undefined
  /** tried are batches that were sent; the answer may be lost. */
  private readonly tried = new Set<Operation[]>()

  constructor(
    private readonly service: Service,
    private readonly table: string,
    job: Job,
    private readonly target: Service,
    /** resumed: an attempt of before may have worked on a part of the first page. */
    private resumed: boolean,
  ) {
    super({ ...job, finished: false })
  }

  protected async work(signal: AbortSignal) {
    this.remember()
    while (!this.state.value.finished && !signal.aborted) await this.page(signal)
    return {}
  }

  /** page works on one page, or on what an error left of it. Whoever stops waits for its end: a request that is broken off may have been executed. */
  private async page(signal: AbortSignal) {
    const { state } = this
    const { plan, filter, next } = state.value
    if (this.left.length === 0) {
      const select = plan.kind === "copy" ? {} : { select: "PartitionKey,RowKey" }
      const result = await this.patiently(signal, () => query(this.service, { table: this.table, filter, ...select }, next, signal))
      this.left = batches(Array.from({ length: result.page.length }, (_, i) => operation(plan, result.page.entity(i))))
      this.next = result.next
    }
    await each(atOnce, [...this.left], async (batch) => {
      const skipped = await this.patiently(signal, () => this.execute(batch))
      this.tried.delete(batch)
      this.left = this.left.filter((b) => b !== batch)
      const { done, skipped: before } = state.value
      state.update({ done: done + batch.length - skipped, skipped: before + skipped, waiting: "" })
    })
    this.resumed = false
    state.update({ next: this.next, finished: !this.next })
    this.remember()
  }

  /** remember keeps what has to be known to resume after the page was closed. */
  private remember() {
    const { plan, filter, next, done, skipped, finished } = this.state.value
    write(place(this.service, this.table), finished ? undefined : { plan, filter, next, done, skipped })
  }

  /** execute applies a batch without the operations that were refused, and returns how many of these are not the work of an earlier attempt. */
  private async execute(batch: Operation[]): Promise<number> {
    const { plan } = this.state.value
    let again = this.resumed || this.tried.has(batch)
    this.tried.add(batch)
    let left = batch
    let skipped = 0
    while (left.length > 0) {
      try {
        await transact(this.target, plan.kind === "copy" ? plan.table : this.table, left)
        break
      } catch (e) {
        // Changed or deleted since it was read, or there already: it stays as it is.
        const keep = e instanceof Failure && (e.unseen || e.code === "EntityAlreadyExists")
        if (!keep) throw e
        const refused = left[e.index ?? 0]!
        const held = new Set<Operation>()
        // What the attempt of before has done is found at once, not by a batch for each.
        if (again) await each(atOnce, [...left], async (o) => void ((await this.holds(o)) && held.add(o)))
        again = false
        if (!held.has(refused)) (held.add(refused), skipped++)
        left = left.filter((o) => !held.has(o))
      }
    }
    return skipped
  }

  /** holds reports whether the target is as an operation leaves it. */
  private async holds(o: Operation): Promise<boolean> {
    const { plan } = this.state.value
    const found = await getEntity(this.target, plan.kind === "copy" ? plan.table : this.table, o.key)
    if (o.body === undefined || !found) return o.body === undefined && !found
    const wanted = parseEntity(o.body).values
    for (const [name, value] of wanted) if (!sameValue(value, found.values.get(name))) return false
    return plan.kind === "set" || found.values.size === wanted.size + (found.values.has("Timestamp") ? 1 : 0)
  }
}

function operation(plan: Plan, entity: Entity): Operation {
  const key = keyOf(entity)
  switch (plan.kind) {
    case "delete":
      return { method: "DELETE", key, etag: entity.etag }
    case "set":
      return { method: "PATCH", key, etag: entity.etag, body: body(new Map([[plan.name, plan.value]])) }
    case "copy":
      return { method: plan.existing === "replace" ? "PUT" : "POST", key, body: body(entity.values) }
  }
}

/** batches cuts operations, which are in the order of keys, where the partition ends or a batch is full. */
export function batches(operations: Operation[]): Operation[][] {
  const list: Operation[][] = []
  let bytes = 0
  for (const o of operations) {
    const last = list.at(-1)
    const size = (o.body?.length ?? 0) * 3 + 1000
    if (last && last.length < perBatch && last[0]!.key.pk === o.key.pk && bytes + size < mostBytes) {
      last.push(o)
      bytes += size
    } else {
      list.push([o])
      bytes = size
    }
  }
  return list
}

/** each works on a list, a few at once. After an error it begins nothing new, and ends when all that has begun has ended. */
export async function each<T>(width: number, list: T[], work: (item: T) => Promise<void>) {
  let i = 0
  const workers = await Promise.allSettled(
    Array.from({ length: width }, async () => {
      while (i < list.length) await work(list[i++]!).catch((e: unknown) => ((i = list.length), Promise.reject(e as Error)))
    }),
  )
  for (const w of workers) if (w.status === "rejected") throw w.reason
}
