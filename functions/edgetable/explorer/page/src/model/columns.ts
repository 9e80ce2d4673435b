// The columns of a table: keys first, then as the user ordered them, then in the order in which they came.
import { read, write } from "./settings.ts"

export interface Columns {
  order: string[]
  hidden: string[]
  widths: Record<string, number>
}

const none: Columns = { order: [], hidden: [], widths: {} }
const keys = ["PartitionKey", "RowKey"]

const place = (home: string, table: string) => `columns.${home}/${table}`

/** columnsOf is what the user arranged for a table, or for all tables of which nothing else is known. */
export const columnsOf = (home: string, table: string): Columns => read(place(home, table), read("columns", none))

export const keepColumns = (home: string, table: string, c: Columns | undefined) => write(place(home, table), c)

/** keepForAll makes an arrangement the default of all tables. */
export const keepForAll = (c: Columns) => write("columns", c)

/** arrange returns all columns in order. */
export function arrange(names: Iterable<string>, c: Columns): string[] {
  const known = new Set(names)
  const order = [...keys, ...c.order.filter((n) => !keys.includes(n)), "Timestamp"].filter((n) => known.has(n))
  return [...new Set([...order, ...known])]
}

export const shown = (names: Iterable<string>, c: Columns) => arrange(names, c).filter((n) => !c.hidden.includes(n))

/** width is that of a column in pixels, by what it shows if the user did not say it. */
export const width = (name: string, c: Columns) => c.widths[name] ?? (name === "Timestamp" ? 236 : Math.min(260, Math.max(keys.includes(name) ? 150 : 110, name.length * 8 + 28)))

/** move puts a column before another one. */
export function move(all: string[], name: string, before: string, c: Columns): Columns {
  const order = all.filter((n) => n !== name)
  const at = order.indexOf(before)
  order.splice(at < 0 ? order.length : at, 0, name)
  return { ...c, order }
}
