// Changes of rows of the grid: they are written one after the other, shown, and can be undone.
import { useRef } from "preact/hooks"
import { each } from "../model/bulk.ts"
import { type Change, changes, mostAtOnce, perform, undo } from "../model/changes.ts"
import { lost } from "../model/draft.ts"
import { type Range, keysIn, keysProblem, named } from "../model/paste.ts"
import type { Rows } from "../model/rows.ts"
import { plural } from "../model/words.ts"
import type { Service } from "../wire/client.ts"
import { getEntity } from "../wire/tables.ts"
import { type Entity, type Key, keyOf, nameOf } from "../wire/value.ts"
import { type Selection, area } from "./selection.ts"

/** refuse says why nothing is changed. */
export const refuse = (message: string) => changes.update({ told: false, failure: new Error(message) })

/** lose says which text of a cell is not saved. */
export const lose = (message: string) => {
  lost.set([...lost.value.filter((m) => m !== message), message])
  changes.update({ told: false, failure: undefined })
}

interface Where {
  service: Service
  table: string
  rows: Rows
  /** inPart: rows have a part of the properties */
  inPart: boolean
  /** entity is beside the grid; shown and gone tell of its changes */
  entity: Entity | undefined
  shown: (e: Entity) => void
  gone: () => void
}

export function useWork({ service, table, rows, inPart, entity, shown, gone }: Where) {
  const places = useRef({ rows, of: new Map<string, number>() }) // of what was changed
  if (places.current.rows !== rows) places.current = { rows, of: new Map() }
  const { of } = places.current
  const queue = useRef<Promise<unknown>>(Promise.resolve())
  const after = <T,>(work: () => Promise<T>): Promise<T> => {
    const next = queue.current.then(work)
    queue.current = next.catch(() => undefined)
    return next
  }
  const show = (key: Key, now: Entity | null) => {
    const place = of.get(nameOf(key))
    const found = place === undefined ? rows.find(key) : -1
    if (place !== undefined) rows.edit(place, now)
    else if (found >= 0) rows.edit(rows.indexOf(found), now)
    else if (now) rows.add(now)
    if (!entity || nameOf(keyOf(entity)) !== nameOf(key)) return
    if (now) shown(now)
    else gone()
  }
  /** whole reads what the query left out, so that it is not lost. The ETags stay those of the rows. */
  const whole = async (list: Entity[]): Promise<Entity[]> => {
    if (!inPart) return list
    const all = [...list]
    await each(6, [...list.keys()], async (i) => {
      const e = await getEntity(service, table, keyOf(list[i]!))
      if (e) all[i] = { ...e, etag: list[i]!.etag }
    })
    return all
  }
  /** changeAll writes changes, and reports whether all of them are written. */
  const changeAll = (list: Change[]) => after(() => perform(service, table, list, show))
  /** change makes a change of each row between two places of the grid. */
  const change = (from: number, to: number, make: (e: Entity) => Change): Promise<boolean> =>
    after(async () => {
      if (to - from >= mostAtOnce) return refuse(`${plural(to - from + 1, "row")} are selected, and at most ${mostAtOnce.toLocaleString("en")} are changed at once; “All results” changes everything that a query finds.`), false
      try {
        const list = await rows.collect(from, to, rows.closed, (e, place) => (of.set(nameOf(keyOf(e)), rows.indexOf(place)), e))
        return await perform(service, table, (await whole(list)).map(make), show)
      } catch (e) {
        return refuse(`Nothing was changed: ${(e as Error).message}`), false
      }
    })
  return { change, changeAll, whole, undo: () => void after(() => undo((s) => (s.service === service && s.table === table ? show : () => undefined))) }
}

interface Target {
  service: Service
  table: string
  rows: Rows
  names: string[]
  selection: Selection
  foreign: boolean
  whole: (list: Entity[]) => Promise<Entity[]>
}

/** rangeOf finds the entities that cells are for: those below and right of the active cell, or those that a row of names and keys names. */
export async function rangeOf(cells: string[][], { service, table, rows, names, selection, foreign, whole }: Target): Promise<Range> {
  const { top, bottom, left, right } = area(selection)
  const tooMany = (n: number) => {
    if (n > mostAtOnce) throw new Error(`${plural(n, "row")}; at most ${mostAtOnce.toLocaleString("en")} at once. Import, under Files, has no limit.`)
  }
  if (named(cells)) {
    const keys = keysIn(cells)
    tooMany(keys.length)
    const found: (Entity | undefined)[] = []
    await each(6, [...keys.keys()], async (i) => void (found[i] = keysProblem(keys[i]!) ? undefined : await getEntity(service, table, keys[i]!)))
    return { names: cells[0]!, rows: keys.map((key, i) => ({ key, before: found[i], cells: cells[i + 1]! })), left: "", foreign }
  }
  const one = cells.length === 1 && cells[0]!.length === 1 ? cells[0]![0]! : undefined
  const height = one === undefined ? cells.length : bottom - top + 1
  const width = one === undefined ? Math.max(...cells.map((r) => r.length)) : right - left + 1
  tooMany(height)
  const last = Math.min(top + height, rows.length) - 1
  const at: number[] = []
  const entities = await whole(await rows.collect(top, last, rows.closed, (e, place) => (at.push(place), e)))
  at.sort((a, b) => a - b)
  const missing = [
    top + height > rows.length && `${plural(top + height - rows.length, "row")} below the last row`,
    left + width > names.length && `${plural(left + width - names.length, "column")} beside the last column`,
  ].filter(Boolean)
  return {
    names: names.slice(left, left + width),
    rows: entities.map((e, i) => ({ key: keyOf(e), before: e, cells: one === undefined ? cells[at[i]! - top]! : Array<string>(width).fill(one) })),
    foreign,
    left: missing.length ? `Left out: ${missing.join(", ")}. To add entities, paste with a row of names, PartitionKey and RowKey among them.` : "",
  }
}
