// The rows of a query: pages that were loaded, in order, and what it cost to load them.
import type { Service } from "../wire/client.ts"
import { Failure } from "../wire/failure.ts"
import { Malformed } from "../wire/json.ts"
import type { Page } from "../wire/page.ts"
import { type Cost, type Position, type Query, query } from "../wire/tables.ts"
import { type Entity, type Key, type Type, type Value, keyOf } from "../wire/value.ts"
import { Store } from "./store.ts"

interface Loaded {
  page: Page | undefined // undefined: dropped to save memory, and loaded again when it is shown
  from: Position | undefined
  first: number
  count: number
}

/** keptBytes bounds the memory of pages. */
const keptBytes = 112 << 20
const keptEntities = 2000
const mostSearched = 5000
/** sampled rows of a page say which types its columns have; those of the first page also how wide they are. */
const sampled = 10
const sampledFirst = 20

export interface Progress {
  loading: boolean
  failure: Failure | undefined
  done: boolean
  ms: number
  pages: number
  bytes: number
  cost: Cost
}

export class Rows {
  readonly columns = new Map<string, Set<Type>>()
  /** longest has the longest value of each column among those that were looked at */
  readonly longest = new Map<string, Value>()
  readonly progress = new Store<Progress>({ loading: false, failure: undefined, done: false, ms: 0, pages: 0, bytes: 0, cost: {} })
  private readonly pages: Loaded[] = []
  private readonly parsed = new Map<number, Entity>()
  private readonly edited = new Map<number, Entity | null>()
  private readonly added: Entity[] = []
  private next: Position | undefined
  private held = 0
  private abort = new AbortController()
  private refilling = new Set<Loaded>()
  order: Uint32Array | undefined
  /** ordered: the pages come in the order of the query */
  ordered = false

  constructor(
    readonly service: Service,
    readonly query: Query,
  ) {}

  get length() {
    const last = this.pages.at(-1)
    return (last ? last.first + last.count : 0) + this.added.length
  }

  /** at returns the row that stands at a place of the grid; undefined while its page is loaded again or if it cannot be read, null if it was
   * deleted. */
  at(place: number): Entity | null | undefined {
    const i = this.order?.[place] ?? place
    const edited = this.edited.get(i)
    if (edited !== undefined) return edited
    const known = this.parsed.get(i)
    if (known) return known
    const page = this.pageOf(i)
    if (!page) return this.added[i - (this.length - this.added.length)]
    if (!page.page) {
      void this.refill(page)
      return undefined
    }
    if (i - page.first >= page.page.length) return null // deleted by somebody since
    const entity = this.read(page.page, i - page.first, i)
    if (!entity) return undefined
    if (this.parsed.size >= keptEntities) this.parsed.clear()
    this.parsed.set(i, entity)
    return entity
  }

  /** read parses an entity. One that cannot be read, as with a type that this page does not know, is told in the line of errors. */
  private read(page: Page, i: number, row: number): Entity | undefined {
    try {
      return page.entity(i)
    } catch (e) {
      if (!(e instanceof Malformed)) throw e
      const failure = new Failure(`Row ${row + 1} cannot be read: ${e.message} (byte ${e.at} of the entity).`, 200, "Malformed")
      // Not at once: the grid is being drawn.
      queueMicrotask(() => this.progress.value.failure ?? this.progress.update({ failure }))
      return undefined
    }
  }

  private pageOf(i: number): Loaded | undefined {
    let low = 0
    let high = this.pages.length - 1
    while (low <= high) {
      const mid = (low + high) >> 1
      const p = this.pages[mid]!
      if (i < p.first) high = mid - 1
      else if (i >= p.first + p.count) low = mid + 1
      else return p
    }
    return undefined
  }

  /** edit shows what a save or a deletion changed, without loading again. */
  edit(place: number, entity: Entity | null) {
    if (entity) this.learn(entity)
    this.edited.set(this.order?.[place] ?? place, entity)
    this.progress.changed()
  }

  /** add shows a new entity at the end. */
  add(entity: Entity) {
    this.added.push(entity)
    this.learn(entity)
    this.progress.changed()
  }

  /** find is the place in the grid of an entity among the first rows that are loaded, or -1. */
  find({ pk, rk }: Key): number {
    for (let i = 0; i < Math.min(this.length, mostSearched); i++) {
      const e = this.at(i)
      if (e && keyOf(e).pk === pk && keyOf(e).rk === rk) return i
    }
    return -1
  }

  stop() {
    this.abort.abort()
  }

  /** load gets the next page, or all of them. A page may be empty and yet not be the last. */
  async load(all = false): Promise<void> {
    const { progress } = this
    if (progress.value.loading || progress.value.done) return
    this.abort = new AbortController()
    const { signal } = this.abort
    progress.update({ loading: true, failure: undefined })
    try {
      let count: number
      do {
        const begin = performance.now()
        const from = this.next
        const result = await query(this.service, this.query, from, signal)
        count = result.page.length
        this.ordered = result.ordered
        this.append(result.page, from)
        this.next = result.next
        const p = progress.value
        progress.update({
          ms: p.ms + performance.now() - begin,
          pages: p.pages + 1,
          bytes: p.bytes + result.page.bytes.length,
          cost: sum(p.cost, result.cost),
          done: !result.next,
        })
      } while (this.next && !signal.aborted && (all || count === 0))
      progress.update({ loading: false })
    } catch (e) {
      if (signal.aborted) progress.update({ loading: false })
      else progress.update({ loading: false, failure: e instanceof Failure ? e : new Failure(String(e), 0, "Internal") })
    }
  }

  private append(page: Page, from: Position | undefined) {
    const first = this.length - this.added.length
    this.pages.push({ page, from, first, count: page.length })
    this.held += page.bytes.length
    for (const name of page.names) if (!this.columns.has(name)) this.columns.set(name, new Set())
    for (let i = 0; i < Math.min(page.length, first ? sampled : sampledFirst); i++) {
      const entity = this.read(page, i, first + i)
      if (entity) this.learn(entity)
    }
    if (this.order) this.order = undefined
    this.drop(this.pages.at(-1)!)
  }

  private learn(entity: Entity) {
    for (const [name, value] of entity.values) {
      const types = this.columns.get(name)
      if (types) types.add(value.type)
      else this.columns.set(name, new Set([value.type]))
      if (value.text.length > (this.longest.get(name)?.text.length ?? 0)) this.longest.set(name, value)
    }
  }

  /** drop forgets the pages that are farthest from the one in use, until the rest fits. */
  private drop(used: Loaded) {
    const byDistance = this.held > keptBytes ? this.pages.filter((p) => p.page).sort((a, b) => Math.abs(b.first - used.first) - Math.abs(a.first - used.first)) : []
    for (const p of byDistance) {
      if (this.held <= keptBytes || p === used) return
      this.held -= p.page!.bytes.length
      p.page = undefined
    }
  }

  private async refill(p: Loaded) {
    if (this.refilling.has(p)) return
    this.refilling.add(p)
    try {
      const { page } = await query(this.service, { ...this.query, top: Math.max(1, p.count) }, p.from)
      p.page = page
      this.held += page.bytes.length
      this.drop(p)
      this.progress.changed()
    } catch (e) {
      if (e instanceof Failure) this.progress.update({ failure: e })
    } finally {
      this.refilling.delete(p)
    }
  }
}

export const sum = (a: Cost, b: Cost): Cost => {
  const total: Cost = {}
  for (const name of ["rows", "bytes", "calls"] as const) if (a[name] !== undefined || b[name] !== undefined) total[name] = (a[name] ?? 0) + (b[name] ?? 0)
  return total
}
