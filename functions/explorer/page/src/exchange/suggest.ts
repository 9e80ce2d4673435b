// Which type the values of a column look like. It is only ever offered: a zip code may look like a number.
import { type Type, check } from "../wire/value.ts"
import type { Cell } from "./csv.ts"

export interface Suggestion {
  type: Type
  /** sample are some values that look so */
  sample: string[]
}

const looks: [Type, RegExp][] = [
  ["Boolean", /^(true|false)$/i],
  ["Int32", /^(0|-?[1-9]\d*)$/],
  ["Int64", /^(0|-?[1-9]\d*)$/],
  ["Double", /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/],
  ["DateTime", /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/],
  ["Guid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i],
]

/** suggest finds the narrowest type of all values; undefined for texts, and if there are none. */
export function suggest(cells: Cell[]): Suggestion | undefined {
  const values = cells.filter((c): c is string => c !== undefined)
  if (!values.length) return undefined
  const type = looks.find(([t, look]) => values.every((v) => look.test(v) && !check({ type: t, text: t === "Boolean" ? v.toLowerCase() : v })))?.[0]
  return type && { type, sample: [...new Set(values)].slice(0, 3) }
}
