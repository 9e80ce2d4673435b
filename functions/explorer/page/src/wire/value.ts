// The eight types of properties. A value is a type and its exact text: neither Int64 nor a date ever becomes a number of JavaScript.
import { ticksOf } from "./date.ts"
import { maxBinary, maxString } from "./rules.ts"

export const types = ["String", "Boolean", "Int32", "Int64", "Double", "DateTime", "Guid", "Binary"] as const
export type Type = (typeof types)[number]

export interface Value {
  type: Type
  text: string
}

/** An entity has its values in the order of the answer, the keys and Timestamp among them. */
export interface Entity {
  etag: string
  values: Map<string, Value>
}

export interface Key {
  pk: string
  rk: string
}

export const text = (s: string): Value => ({ type: "String", text: s })

export const keyOf = (e: Entity): Key => ({
  pk: e.values.get("PartitionKey")?.text ?? "",
  rk: e.values.get("RowKey")?.text ?? "",
})

/** nameOf is a key as one text. */
export const nameOf = ({ pk, rk }: Key) => JSON.stringify([pk, rk])

/** system names the properties that a user cannot remove. */
export const system: readonly string[] = ["PartitionKey", "RowKey", "Timestamp"]

export const sameValue = (a: Value | undefined, b: Value | undefined) => a?.type === b?.type && a?.text === b?.text

const ranges = {
  Int32: [-(2n ** 31n), 2n ** 31n - 1n],
  Int64: [-(2n ** 63n), 2n ** 63n - 1n],
} as const

/** check returns what is wrong with the text of a value, or "". */
export function check({ type, text }: Value): string {
  switch (type) {
    case "String":
      return text.length > maxString ? `a String has at most ${maxString.toLocaleString("en")} characters` : text.isWellFormed?.() === false ? "half of a character is missing" : ""
    case "Boolean":
      return text === "true" || text === "false" ? "" : "a Boolean is true or false"
    case "Int32":
    case "Int64": {
      if (!/^-?\d+$/.test(text)) return `an ${type} has only digits`
      const [low, high] = ranges[type]
      const n = BigInt(text)
      return n >= low && n <= high ? "" : `an ${type} is from ${low} to ${high}`
    }
    case "Double":
      if (/^-?[\d.]+([eE][-+]?\d+)?$/.test(text) && !Number.isFinite(Number(text))) return "a Double is at most 1.7976931348623157e308"
      return /^(NaN|-?Infinity|-?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?)$/.test(text) ? "" : "a Double is a number such as 1.5 or 2e-8, NaN, Infinity or -Infinity"
    case "DateTime":
      return ticksOf(text) === undefined ? "a DateTime is for example 2026-03-04T05:06:07.1234567Z, from 1601 to 9999" : ""
    case "Guid":
      return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? "" : "a Guid is for example c9da6455-213d-42c9-9a79-3e9149a57833"
    case "Binary":
      return /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text) ? (bytesIn(text) > maxBinary ? `a Binary has at most ${maxBinary.toLocaleString("en")} bytes` : "") : "a Binary is base64"
  }
}

/** bytesIn is the size of a Binary. */
export const bytesIn = (base64: string) => (base64.length / 4) * 3 - (base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0)
