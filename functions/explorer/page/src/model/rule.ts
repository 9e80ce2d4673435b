// When an entity ends, by the rule that its table declares. core/table and core/payload define it; test/durations.json has their verdicts.
import { ticksOf } from "../wire/date.ts"
import type { Entity, Type } from "../wire/value.ts"

/** A Rule says when entities end. */
export interface Rule {
  /** property: where it is a DateTime, it is the instant; "" names none */
  property: string
  /** after is how many seconds an entity lives after its last write, where property does not decide; 0: for ever */
  after: number
}

const perSecond = 10_000_000n
const day = 86_400
const longestAfter = 36_500 * day
const duration = /^P(?=.)(?:(\d{1,12})W)?(?:(\d{1,12})D)?(?:T(?=.)(?:(\d{1,12})H)?(?:(\d{1,12})M)?(?:(\d{1,12})S)?)?$/
const lengths = [7 * day, day, 3600, 60, 1]
const units = ["week", "day", "hour", "minute", "second"]

/** secondsOf is the length of a duration such as P1DT30M, or undefined if no rule can have it. */
export function secondsOf(text: string): number | undefined {
  const m = duration.exec(text)
  if (!m || text.length > 40) return undefined
  const seconds = lengths.reduce((sum, length, i) => sum + length * Number(m[i + 1] ?? 0), 0)
  return seconds >= 1 && seconds <= longestAfter ? seconds : undefined
}

/** lasts is a length in words: "1 day 30 minutes". */
export function lasts(seconds: number): string {
  const words: string[] = []
  for (const [i, length] of lengths.entries()) {
    if (i === 0) continue // days say it better than weeks
    const n = Math.floor(seconds / length)
    seconds -= n * length
    if (n) words.push(`${n.toLocaleString("en-US")} ${units[i]}${n === 1 ? "" : "s"}`)
  }
  return words.join(" ")
}

/** ruleOf reads the rule in the part "expire" of a document; undefined if there is none, or none that the page can apply. */
export function ruleOf(expire: unknown): Rule | undefined {
  if (typeof expire !== "object" || !expire) return undefined
  const { property, after } = expire as { property?: unknown; after?: unknown }
  const seconds = typeof after === "string" ? secondsOf(after) : 0
  if (seconds === undefined || (property !== undefined && typeof property !== "string") || (!property && !seconds)) return undefined
  return { property: property ?? "", after: seconds }
}

/** inWords is the rule as the end of a sentence that begins with "An entity ends". */
export function inWords({ property, after }: Rule): string {
  const later = after ? `${lasts(after)} after its last write` : ""
  if (!property) return later
  return `at the instant in ${property}` + (later ? `; without one, ${later}` : "")
}

/** endOf is when an entity ends, in ticks; undefined: never. */
export function endOf({ property, after }: Rule, e: Entity): bigint | undefined {
  const instant = property ? e.values.get(property) : undefined
  if (instant?.type === "DateTime") return ticksOf(instant.text)
  const written = ticksOf(e.values.get("Timestamp")?.text ?? "")
  return after && written !== undefined ? written + BigInt(after) * perSecond : undefined
}

/** needs are the properties without which nobody can say when an entity ends. */
export const needs = ({ property, after }: Rule): string[] => [property, after ? "Timestamp" : ""].filter(Boolean)

/** left is how long it is until an instant, in one unit, or "ended". now has milliseconds. */
export function left(at: bigint, now: number): string {
  const ms = Number(at / (perSecond / 1000n)) - now
  if (ms <= 0) return "ended"
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 1) return "< 1 min"
  if (minutes < 120) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return `${hours} h`
  const days = Math.floor(hours / 24)
  return days < 1000 ? `${days} d` : `${Math.floor(days / 365)} y`
}

/** endless says why an entity never ends. */
export function endless({ property }: Rule, type: Type | undefined): string {
  if (!type) return `Never ends: it has no ${property}.`
  return `Never ends: its ${property} is ${type === "Int32" || type === "Int64" ? "an" : "a"} ${type}, and only a DateTime counts.`
}
