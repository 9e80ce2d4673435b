// The conditions of the visual builder, to and from text.
import { literal, prefixed } from "../wire/odata.ts"
import { check, type Type, type Value } from "../wire/value.ts"
import { type Operator } from "./lex.ts"
import { type Filter, parse } from "./parse.ts"

export interface Condition {
  name: string
  operator: Operator | "starts"
  value: Value
}

export interface Built {
  all: boolean // every condition holds, or one of them
  conditions: Condition[]
}

/** read returns the conditions of a filter, or undefined if it is nested and text says more. */
export function read(source: string): Built | undefined {
  const { filter, problem } = parse(source)
  if (problem) return undefined
  if (!filter) return { all: true, conditions: [] }
  const list = filter.kind === "and" || filter.kind === "or" ? filter.list : [filter]
  const conditions = list.map(condition)
  return conditions.every((c) => c !== undefined) ? { all: filter.kind !== "or", conditions } : undefined
}

function condition(f: Filter): Condition | undefined {
  if (f.kind === "compare") return { name: f.name, operator: f.operator, value: f.value }
  if (f.kind === "prefix") return { name: f.name, operator: "starts", value: { type: "String", text: f.text } }
  return undefined
}

/** print writes conditions as text; those that are not finished are left out. */
export const print = ({ all, conditions }: Built) =>
  conditions
    .filter((c) => c.name && !check(c.value))
    .map((c) => (c.operator === "starts" ? `startswith(${c.name}, ${literal(c.value)})` : `${c.name} ${c.operator} ${literal(c.value)}`))
    .join(all ? " and " : " or ")

/** sent is the range that a condition becomes, for people who wonder. */
export const sent = (c: Condition) => (c.operator === "starts" ? prefixed(c.name, c.value.text) : "")

/** first is the value with which a condition begins. */
export const first: Record<Type, string> = { String: "", Boolean: "true", Int32: "0", Int64: "0", Double: "0.0", DateTime: "", Guid: "", Binary: "" }
