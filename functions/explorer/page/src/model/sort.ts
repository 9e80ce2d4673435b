// Sorts rows that are loaded. The service has one order, that of the keys, and edgetable the opposite one too: no other sort says anything about
// what is not loaded.
import { parse } from "../query/parse.ts"
import { ticksOf } from "../wire/date.ts"
import type { Value } from "../wire/value.ts"
import type { Order } from "./order.ts"
import { type Rows, breath } from "./rows.ts"

const ranks = { number: 0, when: 1, other: 2, none: 3 }

type Key = readonly [rank: number, order: number | bigint | string]

function keyOf(v: Value | undefined): Key {
  if (!v) return [ranks.none, 0]
  switch (v.type) {
    case "Int32":
    case "Double":
      return [ranks.number, Number(v.text)]
    case "Int64": {
      const n = Number(v.text)
      return [ranks.number, Number.isSafeInteger(n) ? n : BigInt(v.text)] // compares with numbers exactly
    }
    case "DateTime":
      return [ranks.when, ticksOf(v.text) ?? 0n]
    default:
      return [ranks.other, v.text]
  }
}

/**
 * sorted is the order of the first rows that are loaded by a property; those without it are last. The sort is stable, so equal rows keep the
 * order of their keys. The page stays usable meanwhile, and pages that were dropped are loaded again.
 */
export async function sorted(rows: Rows, sort: string, signal: AbortSignal): Promise<Order> {
  const name = sort.replace(/^-/, "")
  const sign = sort.startsWith("-") ? -1 : 1
  const keys: Key[] = []
  const taken = rows.taken()
  await rows.read(taken.list, signal, (e, i) => (keys[i] = keyOf(e?.values.get(name))))
  const before = (i: number, j: number): boolean => {
    const [ra, a] = keys[i]!
    const [rb, b] = keys[j]!
    if (ra !== rb) return ra === ranks.none || rb === ranks.none ? ra < rb : sign * (ra - rb) < 0
    return a < b ? sign > 0 : a > b ? sign < 0 : i < j
  }
  const order = await merged(keys.length, before, signal)
  return { ...taken, list: order.map((i) => taken.list[i]!).filter((i) => !rows.follower?.removed.has(i)) }
}

/** run is the number of rows that are sorted at once: less than a frame needs. */
const run = 2048
const stretch = 30_000

/** merged sorts 0 to n - 1: short runs, which are merged. It takes a breath before a frame is over. */
async function merged(n: number, before: (i: number, j: number) => boolean, signal: AbortSignal): Promise<Uint32Array> {
  let from = Uint32Array.from({ length: n }, (_, i) => i)
  for (let at = 0; at < n; at += run) {
    from.subarray(at, at + run).sort((i, j) => (before(i, j) ? -1 : 1))
    await breath()
    signal.throwIfAborted()
  }
  let to = new Uint32Array(n)
  for (let width = run; width < n; width *= 2) {
    for (let left = 0; left < n; left += 2 * width) {
      const middle = Math.min(left + width, n)
      const end = Math.min(left + 2 * width, n)
      for (let i = left, j = middle, k = left; k < end; k++) {
        if (k % stretch === 0) {
          await breath()
          signal.throwIfAborted()
        }
        to[k] = j >= end || (i < middle && !before(from[j]!, from[i]!)) ? from[i++]! : from[j++]!
      }
    }
    ;[from, to] = [to, from]
  }
  return from
}

/** orderOf is the order in which a service loads the rows of a sort by a key, or undefined: then it is that of the keys. */
export function orderOf(sort: string, filter: string): string | undefined {
  if (sort === "-PartitionKey") return "PartitionKey desc, RowKey desc"
  if (sort !== "-RowKey") return undefined
  const { filter: tree } = parse(filter)
  const list = tree?.kind === "and" ? tree.list : tree ? [tree] : []
  return list.some((f) => f.kind === "compare" && f.name === "PartitionKey" && f.operator === "eq") ? "RowKey desc" : undefined
}
