// Searches for beginnings, written as ranges: every service has these, and finds them by key.
import { prefixed } from "../wire/odata.ts"
import { type Filter, parse } from "./parse.ts"

/** translate returns the filter that is sent: each startswith(Name, 'ab') becomes (Name ge 'ab' and Name lt 'ac'). */
export function translate(source: string): string {
  const { filter } = parse(source)
  if (!filter) return source
  let text = source
  for (const p of prefixes(filter).sort((a, b) => b.at - a.at)) text = text.slice(0, p.at) + "(" + prefixed(p.name, p.text) + ")" + text.slice(p.end)
  return text
}

type Prefix = Extract<Filter, { kind: "prefix" }>

function prefixes(f: Filter): Prefix[] {
  switch (f.kind) {
    case "and":
    case "or":
      return f.list.flatMap(prefixes)
    case "not":
      return prefixes(f.of)
    case "prefix":
      return [f]
    default:
      return []
  }
}
