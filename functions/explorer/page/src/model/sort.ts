// Sorts rows that are loaded. The service has one order, that of the keys, and edgetable the opposite one too: no other sort says anything about
// what is not loaded.
import { parse } from "../query/parse.ts"
import { ticksOf } from "../wire/date.ts"
import type { Value } from "../wire/value.ts"
import type { Rows } from "./rows.ts"

const ranks = { number: 0, when: 1, other: 2, none: 3 }

function key(v: Value | undefined): [rank: number, order: number | bigint | string] {
  if (!v) return [ranks.none, 0]
  switch (v.type) {
    case "Int32":
    case "Double":
      return [ranks.number, Number(v.text)]
    case "Int64":
      return [ranks.number, BigInt(v.text)] // compares with numbers exactly
    case "DateTime":
      return [ranks.when, ticksOf(v.text) ?? 0n]
    default:
      return [ranks.other, v.text]
  }
}

/** sorted is the order of rows by a property; those without it are last. The sort is stable, so equal rows keep the order of their keys. */
export function sorted(rows: Rows, sort: string): Uint32Array | undefined {
  rows.order = undefined
  if (!sort) return undefined
  const name = sort.replace(/^-/, "")
  const sign = sort.startsWith("-") ? -1 : 1
  const keys = Array.from({ length: rows.length }, (_, i) => key(rows.at(i)?.values.get(name)))
  const order = Uint32Array.from(keys.keys())
  return order.sort((i, j) => {
    const [ra, a] = keys[i]!
    const [rb, b] = keys[j]!
    if (ra !== rb) return ra === ranks.none || rb === ranks.none ? ra - rb : sign * (ra - rb)
    return a < b ? -sign : a > b ? sign : i - j
  })
}

/** orderOf is the order in which a service loads the rows of a sort by a key, or undefined: then it is that of the keys. */
export function orderOf(sort: string, filter: string): string | undefined {
  if (sort === "-PartitionKey") return "PartitionKey desc, RowKey desc"
  if (sort !== "-RowKey") return undefined
  const { filter: tree } = parse(filter)
  const list = tree?.kind === "and" ? tree.list : tree ? [tree] : []
  return list.some((f) => f.kind === "compare" && f.name === "PartitionKey" && f.operator === "eq") ? "RowKey desc" : undefined
}
