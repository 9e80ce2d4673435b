// The columns of a table: keys first, then as the user ordered them, then in the order in which they came, and Timestamp, which nobody wrote, at the end.
import { read, write } from "./settings.ts"

export interface Columns {
  order: string[]
  hidden: string[]
  widths: Record<string, number>
}

const none: Columns = { order: [], hidden: [], widths: {} }
const keys = ["PartitionKey", "RowKey"]

const place = (service: string, table: string) => `columns.${service}/${table}`

/** columnsOf is what the user arranged for a table, or for all tables of which nothing else is known. */
export const columnsOf = (service: string, table: string): Columns => read(place(service, table), read("columns", none))

export const keepColumns = (service: string, table: string, c: Columns | undefined) => write(place(service, table), c)

/** keepForAll makes an arrangement the default of all tables. */
export const keepForAll = (c: Columns) => write("columns", c)

/** arrange returns all columns in order. */
export function arrange(names: Iterable<string>, c: Columns): string[] {
  const known = new Set(names)
  const order = [...keys, ...c.order.filter((n) => !keys.includes(n))].filter((n) => known.has(n))
  const rest = [...known].filter((n) => n !== "Timestamp")
  return [...new Set([...order, ...rest, ...known])]
}

export const shown = (names: Iterable<string>, c: Columns) => arrange(names, c).filter((n) => !c.hidden.includes(n))

/** move puts a column before another one. */
export function move(all: string[], name: string, before: string, c: Columns): Columns {
  const order = all.filter((n) => n !== name)
  const at = order.indexOf(before)
  order.splice(at < 0 ? order.length : at, 0, name)
  return { ...c, order }
}
