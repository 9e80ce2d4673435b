// The tokens of a filter, with their places.
import { propertyMore, propertyStart } from "../wire/rules.ts"
import type { Value } from "../wire/value.ts"

export interface Token {
  kind: "name" | "word" | "literal" | "(" | ")" | "," | "end" | "wrong"
  text: string
  at: number
  end: number
  value?: Value
  error?: string
}

export const operators = ["eq", "ne", "gt", "ge", "lt", "le"] as const
export type Operator = (typeof operators)[number]
const words = new Set<string>([...operators, "and", "or", "not"])

const typed = /(datetime|guid|binary|X)'((?:[^']|'')*)'/y
const quoted = /'((?:[^']|'')*)'/y
const number = /-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[lLdDfF]?(?![\w.])/y
const name = new RegExp(`[${propertyStart}][${propertyStart}${propertyMore}]*`, "y")

export function lex(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(source)
  }
  const push = (kind: Token["kind"], text: string, more: Partial<Token> = {}) => {
    tokens.push({ kind, text, at, end: at + text.length, ...more })
    at += text.length
  }
  while (at < source.length) {
    const c = source[at]!
    let m: RegExpExecArray | null
    if (/\s/.test(c)) at++
    else if (c === "(" || c === ")" || c === ",") push(c, c)
    else if ((m = match(typed))) push("literal", m[0], { value: special(m[1]!, m[2]!.replaceAll("''", "'")) })
    else if ((m = match(quoted))) push("literal", m[0], { value: { type: "String", text: m[1]!.replaceAll("''", "'") } })
    else if ((m = match(number))) push("literal", m[0], { value: numeric(m[0]) })
    else if ((m = match(name))) {
      const text = m[0]
      if (text === "true" || text === "false") push("literal", text, { value: { type: "Boolean", text } })
      else if (text === "NaN" || text === "Infinity" || text === "INF") push("literal", text, { value: { type: "Double", text: text === "INF" ? "Infinity" : text } })
      else push(words.has(text) ? "word" : "name", text)
    } else if (c === "'") push("wrong", source.slice(at), { error: "this text has no closing quote" })
    else push("wrong", String.fromCodePoint(source.codePointAt(at)!), { error: `${c} has no meaning here` })
  }
  tokens.push({ kind: "end", text: "", at: source.length, end: source.length })
  return tokens
}

function special(prefix: string, text: string): Value {
  if (prefix === "datetime") return { type: "DateTime", text }
  if (prefix === "guid") return { type: "Guid", text }
  const hex = /^(?:[0-9a-f]{2})*$/i.test(text) ? (text.match(/../g) ?? []) : []
  return { type: "Binary", text: btoa(String.fromCharCode(...hex.map((h) => parseInt(h, 16)))) }
}

function numeric(text: string): Value {
  const suffix = text.at(-1)!.toLowerCase()
  if (suffix === "l") return { type: "Int64", text: text.slice(0, -1) }
  if (suffix === "d" || suffix === "f") return { type: "Double", text: text.slice(0, -1) }
  if (/[.eE]/.test(text)) return { type: "Double", text }
  const n = BigInt(text)
  return { type: n >= -(2n ** 31n) && n < 2n ** 31n ? "Int32" : "Int64", text }
}
