// The rows of a query: pages that were loaded, in order, and what it cost to load them.
import type { Service } from "../wire/client.ts"
import { Failure, patiently } from "../wire/failure.ts"
import { Malformed } from "../wire/json.ts"
import type { Page } from "../wire/page.ts"
import { type Cost, type Position, type Query, query } from "../wire/tables.ts"
import { type Entity, type Key, type Type, type Value, keyOf } from "../wire/value.ts"
import type { Followed } from "./followed.ts"
import { type Order, ofAdded, indices, unordered } from "./order.ts"
import { type Places, most, placesOf } from "./places.ts"
import { Store } from "./store.ts"

interface Loaded {
  page: Page | undefined // undefined: dropped to save memory, and loaded again when it is shown
  from: Position | undefined
  first: number
  count: number
}

const keptEntities = 2000
const mostSearched = 5000
/** sampled rows of a page say which types its columns have; those of the first page also how wide they are. */
const sampled = 10
const sampledFirst = 20

export interface Progress {
  loading: boolean
  /** waiting says why the next page is late, or "" */
  waiting: string
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
  /** places has room for each Double among them */
  readonly places = new Map<string, Places>()
  readonly progress = new Store<Progress>({ loading: false, waiting: "", failure: undefined, done: false, ms: 0, pages: 0, bytes: 0, cost: {} })
  private readonly pages: Loaded[] = []
  private readonly parsed = new Map<number, Entity>()
  private readonly edited = new Map<number, Entity | null>()
  private readonly added: { key: Key; entity: Entity | null }[] = []
  private next: Position | undefined
  private held = 0
  private abort = new AbortController()
  private readonly closing = new AbortController()
  /** closed ends what is done with these rows. */
  readonly closed = this.closing.signal
  private refilling = new Map<Loaded, Promise<void>>()
  /** all: the last load was for all pages, and so is one that continues it */
  private all = false
  /** order has the rows in the order of a property, if the user wants one; rows that came since are behind them */
  order: Order | undefined
  /** ordered: the pages come in the order of the query */
  ordered = false
  /** asked is the number of pages that were asked for */
  asked = 0
  /** follower keeps the rows as their entities are, once somebody wants that */
  follower: Followed | undefined

  constructor(
    readonly service: Service,
    readonly query: Query,
    /** kept bounds the memory of pages, in bytes */
    private readonly kept = 112 << 20,
  ) {}

  /** shown is the order in which rows stand in the grid, and what came since. */
  private get shown(): Order {
    return this.order ?? this.follower?.order ?? unordered
  }

  get length() {
    const { list, loaded, added } = this.shown
    return list.length + (this.loaded - loaded) + (this.added.length - added)
  }

  /** here is the number of rows without those that were deleted. */
  get here() {
    const shown = (i: number) => !this.follower?.removed.has(i)
    let gone = 0
    for (const [i, e] of this.edited) if (e === null && shown(i)) gone++
    return this.length - gone - this.added.filter(({ entity }, i) => entity === null && shown(ofAdded + i)).length
  }

  get loaded() {
    const last = this.pages.at(-1)
    return last ? last.first + last.count : 0
  }

  get inserted() {
    return this.added.length
  }

  /** indexOf is the index of the row at a place of the grid. It stays that of the row, whatever comes. */
  indexOf(place: number): number {
    const { list, loaded, added } = this.shown
    const since = place - list.length
    const fresh = this.loaded - loaded
    return since < 0 ? list[place]! : since < fresh ? loaded + since : ofAdded + added + since - fresh
  }

  /** placeOf is the place in the grid of the row with an index, or -1. */
  placeOf(index: number): number {
    const { list, loaded, added } = this.shown
    const fresh = this.loaded - loaded
    if (index >= ofAdded + added) return list.length + fresh + index - ofAdded - added
    return index >= loaded && index < ofAdded ? list.length + index - loaded : list.indexOf(index)
  }

  /** taken has all rows that are here now, in the order of their keys. */
  taken(): Order {
    const { list, loaded, added } = this.follower?.order ?? unordered
    const since = [...indices(loaded, this.loaded), ...indices(ofAdded + added, ofAdded + this.added.length)]
    return { list: Uint32Array.from([...list, ...since]), loaded: this.loaded, added: this.added.length }
  }

  /** keyAt is the key of a row, also if it was deleted. */
  keyAt(index: number): Key {
    const e = index < ofAdded ? this.original(index) : undefined
    return index >= ofAdded ? this.added[index - ofAdded]!.key : e ? keyOf(e) : { pk: "", rk: "" }
  }

  /** at returns the row that stands at a place of the grid; undefined while its page is loaded again or if it cannot be read, null if it was
   * deleted. */
  at(place: number): Entity | null | undefined {
    return this.get(this.indexOf(place))
  }

  /** get returns the row with an index, as at does. */
  get(i: number): Entity | null | undefined {
    if (i >= ofAdded) return this.added[i - ofAdded]?.entity
    const edited = this.edited.get(i)
    return edited === undefined ? this.original(i) : edited
  }

  /** original is a row as it was loaded. */
  private original(i: number): Entity | null | undefined {
    const known = this.parsed.get(i)
    if (known) return known
    const page = this.pageOf(i)!
    if (!page.page) {
      this.refill(page).catch((e: unknown) => this.fail(e))
      return undefined
    }
    if (i - page.first >= page.page.length) return null // deleted by somebody since
    const entity = this.parse(page.page, i - page.first, i)
    if (!entity) return undefined
    if (this.parsed.size >= keptEntities) this.parsed.clear()
    this.parsed.set(i, entity)
    return entity
  }

  /** parse reads an entity. One that cannot be read, as with a type that this page does not know, is told in the line of errors. */
  private parse(page: Page, i: number, row: number): Entity | undefined {
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

  /** edit shows what a save or a deletion changed, without loading again; i is the index of the row. */
  edit(i: number, entity: Entity | null) {
    this.put(i, entity)
    this.progress.changed()
  }

  /** put is edit without telling of it. */
  put(i: number, entity: Entity | null) {
    if (entity) this.learn(entity)
    if (i < ofAdded) this.edited.set(i, entity)
    else this.added[i - ofAdded]!.entity = entity
  }

  /**
   * collect makes something of each row between two places of the grid, in their order; the pages of them that were dropped are loaded again.
   * Rows that were deleted are left out.
   */
  async collect<T>(from: number, to: number, signal: AbortSignal, make: (e: Entity, place: number) => T): Promise<T[]> {
    const made: T[] = []
    const places = Array.from({ length: to - from + 1 }, (_, n) => from + n)
    if (this.order || this.follower) places.sort((a, b) => this.indexOf(a) - this.indexOf(b)) // each page once
    await this.read(places.map((p) => this.indexOf(p)), signal, (entity, n) => {
      const place = places[n]!
      if (entity === undefined) throw new Failure(`Row ${place + 1} cannot be read.`, 200, "Malformed")
      if (entity) made[place - from] = make(entity, place)
    })
    return made.filter(() => true) // without the holes of deleted rows
  }

  /** read gives rows by their indices, whose pages are loaded again if they were dropped. The browser draws meanwhile. */
  async read(list: ArrayLike<number> & Iterable<number>, signal: AbortSignal, take: (e: Entity | null | undefined, n: number) => void): Promise<void> {
    let begin = performance.now()
    for (let n = 0; n < list.length; n++) {
      const i = list[n]!
      const page = i < this.loaded ? this.pageOf(i)! : undefined
      if (page && !page.page) await this.patiently(signal, () => this.refill(page))
      else if (n % 100 === 0 && performance.now() - begin > 8) {
        await breath()
        begin = performance.now()
      }
      signal.throwIfAborted()
      take(this.get(i), n)
    }
  }

  /** patiently repeats what fails for a while, and says so. */
  private async patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const result = await patiently(work, signal, (f, s) => this.progress.update({ waiting: `${f.message} Trying again in ${s} s.` }))
    if (this.progress.value.waiting) this.progress.update({ waiting: "" })
    return result
  }

  /** add shows a new entity at the end. */
  add(entity: Entity) {
    this.insert(entity)
    this.progress.changed()
  }

  /** insert is add without telling of it, and returns the index. */
  insert(entity: Entity): number {
    this.learn(entity)
    return ofAdded + this.added.push({ key: keyOf(entity), entity }) - 1
  }

  /** find is the place in the grid of an entity among the first rows that are loaded, or -1. */
  find({ pk, rk }: Key): number {
    const index = this.follower?.find({ pk, rk })
    if (index !== undefined) return this.placeOf(index)
    for (let i = 0; i < Math.min(this.length, mostSearched); i++) {
      const e = this.at(i)
      if (e && keyOf(e).pk === pk && keyOf(e).rk === rk) return i
    }
    return -1
  }

  stop() {
    this.abort.abort()
  }

  /** close ends all work on the rows. */
  close() {
    this.stop()
    this.closing.abort()
  }

  /** load gets the next page, or all of them. A page may be empty and yet not be the last. */
  async load(all = false): Promise<void> {
    const { progress } = this
    if (progress.value.loading || progress.value.done) return
    this.abort = new AbortController()
    const { signal } = this.abort
    this.all = all
    progress.update({ loading: true, failure: undefined })
    try {
      let count: number
      do {
        const begin = performance.now()
        const from = this.next
        if (this.follower && this.held > this.kept) throw new Failure("With Live, no more rows fit into the memory of this page. Use a filter to show fewer rows.", 0, "Full")
        this.asked++
        const page = () => query(this.service, this.query, from, signal)
        const result = await (all ? this.patiently(signal, page) : page())
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
        this.follower?.loaded(count)
      } while (this.next && !signal.aborted && (all || count === 0))
      progress.update({ loading: false })
    } catch (e) {
      progress.update({ loading: false, waiting: "" })
      if (!signal.aborted) this.fail(e)
    }
  }

  /** fail says what went wrong. */
  fail(e: unknown) {
    this.progress.update({ failure: e instanceof Failure ? e : new Failure(String(e), 0, "Internal") })
  }

  /** again continues what a failure ended. */
  again(): Promise<void> {
    return this.load(this.all)
  }

  private append(page: Page, from: Position | undefined) {
    const first = this.loaded
    this.pages.push({ page, from, first, count: page.length })
    this.held += page.bytes.length
    for (const name of page.names) if (!this.columns.has(name)) this.columns.set(name, new Set())
    for (let i = 0; i < Math.min(page.length, first ? sampled : sampledFirst); i++) {
      const entity = this.parse(page, i, first + i)
      if (entity) this.learn(entity)
    }
    this.drop(this.pages.at(-1)!)
  }

  private learn(entity: Entity) {
    for (const [name, value] of entity.values) {
      const types = this.columns.get(name)
      if (types) types.add(value.type)
      else this.columns.set(name, new Set([value.type]))
      if (value.text.length > (this.longest.get(name)?.text.length ?? 0)) this.longest.set(name, value)
      const places = value.type === "Double" ? most(this.places.get(name), placesOf(value.text)) : undefined
      if (places) this.places.set(name, places)
    }
  }

  /** drop forgets the pages that are farthest from the one in use, until the rest fits. */
  private drop(used: Loaded) {
    if (this.follower) return // what it changed is not in the pages
    const byDistance = this.held > this.kept ? this.pages.filter((p) => p.page).sort((a, b) => Math.abs(b.first - used.first) - Math.abs(a.first - used.first)) : []
    for (const p of byDistance) {
      if (this.held <= this.kept || p === used) return
      this.held -= p.page!.bytes.length
      p.page = undefined
    }
  }

  /** refill loads a page again that was dropped. */
  private refill(p: Loaded): Promise<void> {
    const before = this.refilling.get(p)
    if (before) return before
    const work = query(this.service, { ...this.query, top: Math.max(1, p.count) }, p.from)
      .then(({ page }) => {
        p.page = page
        this.held += page.bytes.length
        this.drop(p)
        this.progress.changed()
      })
      .finally(() => this.refilling.delete(p))
    this.refilling.set(p, work)
    return work
  }
}

/** breath lets the browser draw and the user act in the middle of long work. */
export const breath = () => new Promise<void>((go) => setTimeout(go))

export const sum = (a: Cost, b: Cost): Cost => {
  const total: Cost = {}
  for (const name of ["rows", "bytes", "calls"] as const) if (a[name] !== undefined || b[name] !== undefined) total[name] = (a[name] ?? 0) + (b[name] ?? 0)
  return total
}
