// Literals, addresses of entities, and ends of ranges.
import type { Key, Value } from "./value.ts"
import { exact } from "./date.ts"

export const quoted = (s: string) => `'${s.replaceAll("'", "''")}'`

/** literal is a value in a filter. */
export function literal(value: Value): string {
  switch (value.type) {
    case "String":
      return quoted(value.text)
    case "Int64":
      return value.text + "L"
    case "Double":
      return /^-?\d+$/.test(value.text) ? value.text + ".0" : value.text
    case "DateTime":
      return `datetime'${exact(value.text)}'`
    case "Guid":
      return `guid'${value.text}'`
    case "Binary":
      return `X'${[...atob(value.text)].map((c) => c.charCodeAt(0).toString(16).padStart(2, "0")).join("")}'`
    default:
      return value.text
  }
}

/** address is the path of an entity below the account. */
export const address = (table: string, { pk, rk }: Key) =>
  `${encodeURIComponent(table)}(PartitionKey=${encode(quoted(pk))},RowKey=${encode(quoted(rk))})`

/** encode leaves nothing that a server could read as syntax of the path; encodeURIComponent leaves the single quote. */
export const encode = (s: string) => encodeURIComponent(s).replaceAll("'", "%27")

/** after is the first text behind all that begin with a prefix, in the order of the service (UTF-16), or undefined. */
export function after(prefix: string): string | undefined {
  for (let i = prefix.length; i-- > 0; ) {
    const unit = prefix.charCodeAt(i)
    const before = prefix.slice(0, i)
    if (unit === 0xffff) continue
    if (unit === 0xd7ff) return before + "\u{10000}"
    if (unit === 0xdfff) {
      const high = prefix.charCodeAt(i - 1)
      return prefix.slice(0, i - 1) + (high === 0xdbff ? "\ue000" : String.fromCharCode(high + 1, 0xdc00))
    }
    return before + String.fromCharCode(unit + 1)
  }
  return undefined
}

/** prefixed is the filter for a property that begins with a text, which every service executes. */
export function prefixed(name: string, prefix: string): string {
  const end = after(prefix)
  return `${name} ge ${quoted(prefix)}` + (end === undefined ? "" : ` and ${name} lt ${quoted(end)}`)
}
