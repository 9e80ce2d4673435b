// What a range from a spreadsheet means where it is pasted: which values of which entities become others.
import { Reader, exactly } from "../exchange/csv.ts"
import { pasted } from "./copy.ts"
import { usualEnd, withEnds } from "./lineends.ts"
import { exact } from "../wire/date.ts"
import { keyProblem, propertyProblem } from "../wire/names.ts"
import { type Entity, type Key, type Type, type Value, check, keyOf, sameValue, system, text } from "../wire/value.ts"
import type { Change } from "./changes.ts"

/** cellsOf cuts a text of the clipboard into cells. */
export function cellsOf(clip: string): string[][] {
  const { text, alone } = pasted(clip)
  if (alone) return [[text]]
  return [...new Reader("\t").read(text.replace(/\n$/, ""), true)].map((row) => row.map((c) => c ?? ""))
}

/** Range is what is pasted: a row of cells for each entity, and the names of their columns. */
export interface Range {
  names: string[]
  /** rows have the entity that they change; undefined if there is none yet */
  rows: { key: Key; before: Entity | undefined; cells: string[] }[]
  /** left is what does not fit, in words, or "" */
  left: string
  /** foreign: another program had the text, and may have changed its line ends */
  foreign?: boolean
}

/** named reports whether the first row has names of columns, the keys among them. */
export const named = (cells: string[][]) => cells.length > 1 && ["PartitionKey", "RowKey"].every((k) => cells[0]!.includes(k))

/** keysIn are the keys of rows below a row of names. */
export function keysIn([head, ...rows]: string[][]): Key[] {
  const [pk, rk] = [head!.indexOf("PartitionKey"), head!.indexOf("RowKey")]
  return rows.map((r) => ({ pk: r[pk] ?? "", rk: r[rk] ?? "" }))
}

/** keysProblem says what is wrong with the keys of a row, or "". */
export const keysProblem = ({ pk, rk }: Key) => keyProblem(pk) || keyProblem(rk)

export interface Cell {
  old: Value | undefined
  new: Value | undefined
  /** wrong says why the cell cannot be written, or "" */
  wrong: string
}

export interface Preview {
  /** cells are those of each row, by columns; undefined where nothing changes */
  rows: { key: Key; fresh: boolean; cells: (Cell | undefined)[] }[]
  changes: Change[]
  cells: number
  wrong: string[]
}

/** preview says what is written if each column has a type. An empty cell is no value; in a column of texts with an empty one it is that. */
export function preview(range: Range, typeOf: (name: string) => Type): Preview {
  const all: Preview = { rows: [], changes: [], cells: 0, wrong: [] }
  for (const { key, before, cells } of range.rows) {
    const values = new Map<string, Value>(before?.values ?? [["PartitionKey", text(key.pk)], ["RowKey", text(key.rk)]])
    const shown = range.names.map((name, c): Cell | undefined => {
      const old = before?.values.get(name)
      const typed = cells[c] ?? ""
      const next = valueOf(old, name, typed, typeOf(name), range.foreign)
      if (name === "Timestamp" || sameValue(old, next) || (!before && (name === "PartitionKey" || name === "RowKey"))) return undefined
      const wrong = system.includes(name) ? "the keys of an entity cannot change" : propertyProblem(name) || (next ? check(next) : "")
      if (next) values.set(name, next)
      else values.delete(name)
      return { old, new: next, wrong }
    })
    const badKey = before ? "" : keysProblem(key)
    const wrong = [badKey, ...shown.flatMap((cell, c) => (cell?.wrong ? `${range.names[c]}: ${cell.wrong}` : []))].filter(Boolean)
    if (before && shown.every((c) => !c)) continue
    all.rows.push({ key, fresh: !before, cells: shown })
    all.cells += shown.filter(Boolean).length
    all.wrong.push(...wrong.map((w) => `${key.pk} / ${key.rk}: ${w}`))
    all.changes.push({ before, after: { etag: before?.etag ?? "", values } })
  }
  const keys = all.changes.map((c) => JSON.stringify(keyOf(c.after!)))
  const twice = keys.findIndex((k, i) => keys.indexOf(k) < i)
  if (twice >= 0) all.wrong.push(`${all.rows[twice]!.key.pk} / ${all.rows[twice]!.key.rk} occurs twice`)
  return all
}

function valueOf(old: Value | undefined, name: string, typed: string, type: Type, foreign = false): Value | undefined {
  if (typed === "" && (old === undefined || old.text !== "") && !system.includes(name)) return undefined
  const kept = foreign && old?.type === "String" ? withEnds(typed, old.text, usualEnd(old.text)) : typed
  if (old && kept === old.text) return old // as it was copied
  const value = exactly(type, type === "String" ? kept : typed)
  return value.type === "DateTime" ? { ...value, text: exact(value.text) } : value
}
