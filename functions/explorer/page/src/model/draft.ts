// An entity that is edited. A property without a value is not there: null and the empty text are different.
import { exact } from "../wire/date.ts"
import type { Service } from "../wire/client.ts"
import { pretty } from "../wire/json.ts"
import { keyProblem, propertyProblem } from "../wire/names.ts"
import { type Entity, type Value, check, keyOf, sameValue } from "../wire/value.ts"
import { Store } from "./store.ts"

export interface Field {
  name: string
  value: Value
  /** removed: the property will have no value; it can come back until it is saved */
  removed: boolean
  added: boolean
}

export interface Draft {
  /** original is the entity as it was read; undefined for a new one */
  original: Entity | undefined
  fields: Field[]
  /** json is the text while JSON is edited: what is malformed has no fields */
  json?: string | undefined
}

/** drafts keeps what was edited and not saved: neither closing the panel nor an error loses it. */
export const drafts = new Map<string, Draft>()

/** unsavedTexts keeps what was typed for the options of tables, and in the cell that is edited; changes are here while they are written. */
export const unsavedTexts = new Map<unknown, string>()

/** lost has what was typed in cells and could not be saved, in words, until the user closes it: later saves do not end that. */
export const lost = new Store<string[]>([])

/** unsaved reports whether leaving the page would lose something. */
export const unsaved = () => unsavedTexts.size > 0 || lost.value.length > 0 || [...drafts.values()].some(isUnsaved)

export const isUnsaved = (d: Draft) => changed(d) || (d.json !== undefined && d.json !== pretty(valuesOf(d)))

/** leftOf is the last draft of a table that is not saved, and its place. */
export function leftOf(service: Service, table: string): { place: string; start: Draft; quiet: true } | undefined {
  const begin = placeOf(service, table, undefined).slice(0, -1)
  const left = [...drafts].findLast(([place, d]) => place.startsWith(begin) && isUnsaved(d))
  return left && { place: left[0], start: left[1], quiet: true }
}

/** placeOf names an entity, or a new one. Accounts of two endpoints may have the same name. */
export const placeOf = ({ name, endpoint }: Service, table: string, e: Entity | undefined) => JSON.stringify([name, endpoint, table, ...(e ? [keyOf(e)] : [])])

const fieldsOf = (values: Iterable<[string, Value]>): Field[] => [...values].filter(([n]) => n !== "Timestamp").map(([name, value]) => ({ name, value, removed: false, added: false }))

export const editing = (e: Entity): Draft => ({ original: e, fields: fieldsOf(e.values) })

/** fresh is a new entity, with the properties of one that exists if it is a clone. */
export function fresh(like?: Entity): Draft {
  const empty: [string, Value][] = [
    ["PartitionKey", { type: "String", text: "" }],
    ["RowKey", { type: "String", text: "" }],
  ]
  return { original: undefined, fields: fieldsOf(like ? like.values : empty) }
}

/** valuesOf is what will be stored. Dates get the form of the protocol. */
export const valuesOf = (d: Draft): Map<string, Value> =>
  new Map(d.fields.filter((f) => !f.removed && f.name).map((f) => [f.name, f.value.type === "DateTime" ? { ...f.value, text: exact(f.value.text) } : f.value]))

/** problemOf says what is wrong with a field, or "". */
export function problemOf(d: Draft, f: Field): string {
  if (f.removed) return ""
  const wrong = propertyProblem(f.name)
  if (wrong) return wrong
  if (d.fields.some((o) => o !== f && !o.removed && o.name === f.name)) return "this name occurs twice"
  return ((f.name === "PartitionKey" || f.name === "RowKey") && keyProblem(f.value.text)) || check(f.value)
}

export const changed = (d: Draft): boolean => {
  const now = valuesOf(d)
  const old = new Map([...(d.original?.values ?? [])].filter(([n]) => n !== "Timestamp"))
  return now.size !== old.size || [...now].some(([n, v]) => !sameValue(v, old.get(n)))
}

export interface Difference {
  name: string
  base: Value | undefined
  mine: Value | undefined
  theirs: Value | undefined
  /** conflict: both changed it, and not to the same */
  conflict: boolean
  take: "mine" | "theirs"
}

/** compare lists what changed since an entity was read, here or there. */
export function compare(base: Entity, mine: Map<string, Value>, theirs: Entity): Difference[] {
  const names = new Set([...base.values.keys(), ...mine.keys(), ...theirs.values.keys()])
  names.delete("Timestamp")
  return [...names].flatMap((name) => {
    const [b, m, t] = [base.values.get(name), mine.get(name), theirs.values.get(name)]
    if (sameValue(m, t)) return []
    const conflict = !sameValue(m, b) && !sameValue(t, b)
    return [{ name, base: b, mine: m, theirs: t, conflict, take: sameValue(m, b) ? ("theirs" as const) : ("mine" as const) }]
  })
}

/** merged is their entity with what is taken from mine. */
export function merged(theirs: Entity, differences: Difference[]): Map<string, Value> {
  const values = new Map(theirs.values)
  for (const d of differences) {
    const value = d.take === "mine" ? d.mine : d.theirs
    if (value) values.set(d.name, value)
    else values.delete(d.name)
  }
  return values
}
