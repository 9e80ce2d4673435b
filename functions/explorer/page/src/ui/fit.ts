// How wide a column is: as its name, its types and its longest value among the first rows need it, unless the user said otherwise.
import type { Columns } from "../model/columns.ts"
import { type Places, placesOf } from "../model/places.ts"
import type { Rows } from "../model/rows.ts"
import type { Zone } from "../wire/date.ts"
import { numbers, shown } from "./cell.ts"

const [narrowest, widest] = [64, 340]
/** padding is how much wider a column is than its texts, in pixels. */
export const padding = 24
/** Numbers that come later may be longer, and cut ones cannot be read. */
const spare = 16

const ctx = typeof document === "undefined" ? undefined : document.createElement("canvas").getContext("2d")
/** families are those of the tokens; to ask for them each time would cost more than the measuring. */
let families: { sans: string; mono: string } | undefined
const fitted = new WeakMap<Rows, Map<string, number>>()

/** widthOf is the width of a column in pixels. It stays when more rows come: a column that moves cannot be read. */
export function widthOf(name: string, columns: Columns, rows: Rows, zone: Zone): number {
  const said = columns.widths[name]
  if (said) return said
  let widths = fitted.get(rows)
  if (!widths) fitted.set(rows, (widths = new Map()))
  const known = widths.get(name)
  if (known) return known
  const width = fit(name, rows, zone)
  if (rows.longest.has(name)) widths.set(name, width)
  return width
}

function fit(name: string, rows: Rows, zone: Zone): number {
  const types = [...(rows.columns.get(name) ?? [])]
  const longest = rows.longest.get(name)
  const { text, look } = shown(longest, zone)
  const tag = types.length > 1 ? measure("Boolean", 11) + 16 : look === "yes" || look === "no" ? 16 : 0
  const value = Math.max(measure(text, look.includes("mono") ? 12 : 13, look.includes("mono")), lengthOf(rows.places.get(name))) + tag + (numbers.includes(longest?.type) ? spare : 0)
  const head = Math.max(measure(name, 12) * 1.06 + 16, measure(types.join(", "), 11))
  return Math.ceil(Math.min(widest, Math.max(narrowest, value + padding, head + padding)))
}

let [digit, point] = [0, 0]

/** lengthOf is the width of a number with so many places. */
function lengthOf(places: Places | undefined): number {
  if (!places) return 0
  digit ||= measure("0", 13)
  point ||= measure(".", 13)
  return (places.before + places.after) * digit + (places.after ? point : 0)
}

/** roomAfter returns the room to leave at the right of a Double, so that its point stands below those of the other Doubles of its column, which have up to `after` digits after it. It is not more than the column has. */
export function roomAfter(text: string, after: number, width: number): number {
  const own = after ? placesOf(text) : undefined
  if (!own) return 0
  const length = lengthOf(own)
  return Math.floor(Math.max(0, Math.min(lengthOf({ before: own.before, after }) - length, width - padding - length)))
}

function measure(text: string, size: number, mono = false): number {
  if (!ctx) return text.length * size * 0.6
  families ??= ((style) => ({ sans: style.fontFamily, mono: style.getPropertyValue("--mono") }))(getComputedStyle(document.documentElement))
  ctx.font = `${size}px ${mono ? families.mono : families.sans}`
  return ctx.measureText(text.slice(0, 80)).width
}
