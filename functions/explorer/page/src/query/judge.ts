// Whether a filter holds for an entity, as far as its key tells: the service alone knows how it compares other properties.
import type { Key } from "../wire/value.ts"
import type { Operator } from "./lex.ts"
import type { Filter } from "./parse.ts"

/** judge is undefined if properties decide. */
export function judge(f: Filter | undefined, key: Key): boolean | undefined {
  switch (f?.kind) {
    case undefined:
      return true
    case "not": {
      const holds = judge(f.of, key)
      return holds === undefined ? undefined : !holds
    }
    case "and":
    case "or": {
      const decides = f.kind === "or"
      const all = f.list.map((part) => judge(part, key))
      return all.includes(decides) ? decides : all.includes(undefined) ? undefined : !decides
    }
    case "compare":
    case "prefix": {
      const own = f.name === "PartitionKey" ? key.pk : f.name === "RowKey" ? key.rk : undefined
      return own === undefined ? undefined : f.kind === "prefix" ? own.startsWith(f.text) : compared[f.operator](own, f.value.text)
    }
    default:
      return undefined
  }
}

/** Texts of JavaScript are compared as the service compares keys: by units of UTF-16. */
const compared: Record<Operator, (a: string, b: string) => boolean> = {
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  gt: (a, b) => a > b,
  ge: (a, b) => a >= b,
  lt: (a, b) => a < b,
  le: (a, b) => a <= b,
}
