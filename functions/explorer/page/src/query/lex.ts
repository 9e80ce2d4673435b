// The tokens of a filter, with their places.
import { word } from "../wire/names.ts"
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

// As the service reads them: core/odata/lex.go has the rules, test/filters.json what it accepts.
const blank = /[\t-\r ]/
const typed = /(datetime|guid|binary|x)'([^']*)'/iy
const quoted = /'((?:[^']|'')*)'/y
const number = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?[lLdD]?/y
const infinite = /-(?:INF|Infinity)/y
const name = new RegExp(word, "y")

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
    if (blank.test(c)) at++
    else if (c === "(" || c === ")" || c === ",") push(c, c)
    else if ((m = match(typed))) push("literal", m[0], special(m[1]!, m[2]!))
    else if ((m = match(quoted))) push("literal", m[0], { value: { type: "String", text: m[1]!.replaceAll("''", "'") } })
    else if ((m = match(number))) push("literal", m[0], numeric(m[0]))
    else if ((m = match(infinite))) push("literal", m[0], { value: { type: "Double", text: "-Infinity" } })
    else if ((m = match(name))) {
      const text = m[0]
      if (/^(true|false)$/i.test(text)) push("literal", text, { value: { type: "Boolean", text: text.toLowerCase() } })
      else if (text === "NaN" || text === "Infinity" || text === "INF") push("literal", text, { value: { type: "Double", text: text === "INF" ? "Infinity" : text } })
      else push(words.has(text) ? "word" : "name", text)
    } else if (c === "'") push("wrong", source.slice(at), { error: "this text has no closing quote" })
    else push("wrong", String.fromCodePoint(source.codePointAt(at)!), { error: `${c} has no meaning here` })
  }
  tokens.push({ kind: "end", text: "", at: source.length, end: source.length })
  return tokens
}

type Literal = Pick<Token, "value" | "error">

function special(prefix: string, text: string): Literal {
  switch (prefix.toLowerCase()) {
    case "datetime":
      return { value: { type: "DateTime", text }, ...(goodDate(text) ? {} : { error: "a DateTime is for example datetime'2026-03-04T05:06:07Z'" }) }
    case "guid":
      return { value: { type: "Guid", text } }
  }
  if (!/^(?:[0-9a-f]{2})*$/i.test(text)) return { value: { type: "Binary", text: "" }, error: "a Binary is pairs of hexadecimal digits" }
  return { value: { type: "Binary", text: btoa(String.fromCharCode(...(text.match(/../g) ?? []).map((h) => parseInt(h, 16)))) } }
}

/** goodDate reports whether a filter may have a date: from year 1 on, which no entity has, and with any number of decimals. */
function goodDate(text: string): boolean {
  const m = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:Z|[-+]\d{2}:\d{2})?)?$/.exec(text)
  if (!m) return false
  const [, year, month, day, hour = "0", minute = "0", second = "0"] = m
  const date = new Date(0)
  date.setUTCFullYear(+year!, +month! - 1, +day!)
  return +year! > 0 && date.getUTCMonth() === +month! - 1 && date.getUTCDate() === +day! && +hour <= 23 && +minute <= 59 && +second <= 59
}

function numeric(text: string): Literal {
  const suffix = text.at(-1)!.toLowerCase()
  if (suffix === "l") return { value: { type: "Int64", text: text.slice(0, -1) }, ...(/[.eE]/.test(text) ? { error: "an Int64 has only digits" } : {}) }
  if (suffix === "d" || /[.eE]/.test(text)) {
    const digits = suffix === "d" ? text.slice(0, -1) : text
    return { value: { type: "Double", text: digits }, ...(Number.isFinite(Number(digits)) ? {} : { error: "this Double is too large" }) }
  }
  const n = BigInt(text)
  return { value: { type: "Int32", text }, ...(n >= -(2n ** 31n) && n < 2n ** 31n ? {} : { error: "an Int64 ends in L" }) }
}
