// Rows that are kept as their entities are: each stands at the place of its key, and one that is no more in the query is taken out.
import type { Change } from "../wire/changes.ts"
import { ticksOf } from "../wire/date.ts"
import { type Entity, type Key, nameOf, sameValue } from "../wire/value.ts"
import { type Order, indices, ofAdded, placed, search, unordered } from "./order.ts"
import type { Rows } from "./rows.ts"

/** Mark says which values of a row are new; turn is another one each time. */
export interface Mark {
  names: ReadonlySet<string> | undefined // undefined: all
  turn: number
}

interface Later extends Change {
  asked: number // how many pages had been asked for when it came
}

/** mostLater bounds what is remembered of keys behind the rows that are loaded. */
const mostLater = 2000

export class Followed {
  order: Order = unordered
  readonly removed = new Set<number>()
  readonly marks = new Map<number, Mark>()
  /** turn rises with each list of changes that changed something. */
  turn = 0
  /** missed: what changed while a page came is not known */
  missed = false
  /** kept is the name of an entity that is edited in its cell: its row stays as it is, and late has what it would be. */
  private kept = ""
  private late: Change | undefined
  /** later has what changed behind the last row since the page of that row was asked for: the next page may lack it. */
  private later = new Map<string, Later>()
  private horizon: Key | undefined

  constructor(private readonly rows: Rows) {
    rows.follower = this
    this.gather()
  }

  private compare = (a: Key, b: Key): number => {
    const order = a.pk < b.pk ? -1 : a.pk > b.pk ? 1 : a.rk < b.rk ? -1 : a.rk > b.rk ? 1 : 0
    return this.rows.query.order && this.rows.ordered ? -order : order
  }

  private place(key: Key): number {
    return search(this.order.list.length, (i) => this.compare(this.rows.keyAt(this.order.list[i]!), key))
  }

  find(key: Key): number | undefined {
    this.gather()
    const index = this.order.list[this.place(key)]
    return index !== undefined && this.compare(this.rows.keyAt(index), key) === 0 ? index : undefined
  }

  /** keep keeps the row of an entity as it is while it is edited. One that was kept before gets what came meanwhile: keep returns how many changes are seen. */
  keep(key: Key | undefined): number {
    const name = key ? nameOf(key) : ""
    if (name === this.kept) return 0
    this.kept = name
    const { late } = this
    this.late = undefined
    return late ? this.apply([late]) : 0
  }

  /** newer is what the entity is by now whose row is kept, if it is another one. */
  get newer(): Change | undefined {
    const { late, rows } = this
    const index = late && this.find(late.key)
    const now = index === undefined ? undefined : rows.get(index)
    return late && now && written(now) >= timeOf(late) ? undefined : late
  }

  /** apply shows changes, and returns how many of them are seen. */
  apply(changes: Change[]): number {
    this.gather()
    const { rows } = this
    const names = new Map<number, Mark["names"]>()
    const fresh: number[] = []
    const gone: number[] = []
    for (const c of changes) {
      const index = this.find(c.key)
      const now = index === undefined ? undefined : rows.get(index)
      if (index !== undefined && now && written(now) >= timeOf(c)) continue // of what was read later
      if (index !== undefined && nameOf(c.key) === this.kept) this.late = c
      else if (index !== undefined && c.entity) {
        names.set(index, now ? different(now, c.entity) : undefined)
        rows.put(index, c.entity)
      } else if (index !== undefined) gone.push(index)
      else if (!this.within(c.key)) this.later.set(nameOf(c.key), { ...c, asked: rows.asked })
      else if (c.entity) fresh.push(rows.insert(c.entity))
    }
    this.forget()
    for (const i of gone) {
      rows.put(i, null)
      this.removed.add(i)
    }
    const stays = (i: number) => !this.removed.has(i)
    if (gone.length) this.order = { ...this.order, list: this.order.list.filter(stays) }
    if (gone.length && rows.order) rows.order = { ...rows.order, list: rows.order.list.filter(stays) }
    this.gather()
    const seen = names.size + fresh.length + gone.length
    if (seen) this.turn++
    for (const [i, of] of names) this.marks.set(i, { names: of, turn: this.turn })
    for (const i of fresh) this.marks.set(i, { names: undefined, turn: this.turn })
    rows.progress.changed()
    return seen
  }

  /** unmark takes the marks away, but for those of a later turn. */
  unmark(turn: number) {
    for (const [i, mark] of this.marks) if (mark.turn <= turn) this.marks.delete(i)
    this.rows.progress.changed()
  }

  loaded(count: number) {
    this.gather()
    const { rows } = this
    const first = count ? rows.keyAt(rows.loaded - count) : undefined
    if (this.horizon && first && this.compare(this.horizon, first) < 0) this.missed = true
    const { later } = this
    this.later = new Map()
    this.horizon = undefined
    this.apply([...later.values()].filter((c) => this.within(c.key) || c.asked === rows.asked))
  }

  /** within reports whether a key is among the rows that are loaded. */
  private within(key: Key): boolean {
    const { loaded } = this.rows
    return this.rows.progress.value.done || (loaded > 0 && this.compare(key, this.rows.keyAt(loaded - 1)) <= 0)
  }

  /** forget bounds later: of what came before the next page is asked for, those next to the last row matter. */
  private forget() {
    if (this.later.size <= mostLater) return
    if (this.rows.progress.value.loading) this.missed = true
    const list = [...this.later.values()].sort((a, b) => this.compare(a.key, b.key)).slice(0, mostLater / 2)
    this.later = new Map(list.map((c) => [nameOf(c.key), c]))
    this.horizon = list.at(-1)!.key
  }

  /** gather puts rows that came since to their places. */
  private gather() {
    const { rows } = this
    const { list, loaded, added } = this.order
    if (rows.loaded === loaded && rows.inserted === added) return
    const fresh = indices(loaded, rows.loaded)
    // Rows that were added may stand behind the first of a new page.
    const end = fresh.length ? this.place(rows.keyAt(loaded)) : list.length
    const more = [...list.subarray(end), ...indices(ofAdded + added, ofAdded + rows.inserted)]
    const all = placed(Uint32Array.from([...list.subarray(0, end), ...fresh]), more, (a, b) => this.compare(rows.keyAt(a), rows.keyAt(b)), (stays, goes) => {
      const [one, other] = [rows.get(stays), rows.get(goes)]
      if (other && (!one || written(other) > written(one))) rows.put(stays, other)
      this.removed.add(goes)
    })
    this.order = { list: all, loaded: rows.loaded, added: rows.inserted }
  }
}

/** written is when an entity was written, as its ETag says: a query of some properties has no Timestamp. */
function written({ etag }: Entity): bigint {
  const at = /datetime'(.+?)'/i.exec(decodeURIComponent(etag))?.[1]
  return (at && ticksOf(at)) || 0n
}

const timeOf = (c: Change) => (c.entity && written(c.entity)) || c.time

function different(a: Entity, b: Entity): Set<string> {
  return new Set([...a.values.keys(), ...b.values.keys()].filter((n) => !sameValue(a.values.get(n), b.values.get(n))))
}
