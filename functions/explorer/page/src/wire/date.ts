// Dates with 100 ns: ticks as BigInt, texts with up to seven digits. Date is asked for the offset of the zone alone.

const pattern = /^(\d{4})-(\d{2})-(\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,7}))?)?\s*(Z|[-+]\d{2}:\d{2})?$/

const perSecond = 10_000_000n

/** ticksOf returns the ticks since 1970 that a text names, or undefined. A text without an offset is UTC. */
export function ticksOf(text: string): bigint | undefined {
  const m = pattern.exec(text.trim())
  if (!m) return undefined
  const [, y, mo, d, h, mi, s = "0", fraction = "", zone = "Z"] = m
  if (+mo! > 12 || +h! > 23 || +mi! > 59 || +s > 59) return undefined
  const at = Date.UTC(+y!, +mo! - 1, +d!, +h!, +mi!, +s)
  if (new Date(at).getUTCDate() !== +d!) return undefined
  const offset = zone === "Z" ? 0 : (zone[0] === "-" ? -1 : 1) * (+zone.slice(1, 3) * 60 + +zone.slice(4))
  const ticks = BigInt(at / 1000 - offset * 60) * perSecond + BigInt(fraction.padEnd(7, "0"))
  return ticks >= first && ticks <= last ? ticks : undefined
}

const first = BigInt(Date.UTC(1601, 0, 1) / 1000) * perSecond
const last = BigInt(Date.UTC(10000, 0, 1) / 1000) * perSecond - 1n

const floor = (ticks: bigint) => (ticks - (((ticks % perSecond) + perSecond) % perSecond)) / perSecond

/** textOf is the exact text of ticks in UTC, as the protocol has it. */
export function textOf(ticks: bigint): string {
  const seconds = floor(ticks)
  const fraction = (ticks - seconds * perSecond).toString().padStart(7, "0").replace(/0+$/, "")
  return new Date(Number(seconds) * 1000).toISOString().slice(0, 19) + (fraction && "." + fraction) + "Z"
}

export type Zone = "utc" | "local"

/** show is a date as people read it: in UTC, or in the zone of the browser with its offset. */
export function show(text: string, zone: Zone): string {
  const ticks = ticksOf(text)
  if (ticks === undefined) return text
  if (zone === "utc") return textOf(ticks).replace("T", " ")
  const offset = -new Date(Number(floor(ticks)) * 1000).getTimezoneOffset()
  const minutes = Math.trunc(offset) // zones before 1900 have seconds
  const there = textOf(ticks + BigInt(minutes) * 60n * perSecond)
  const two = (n: number) => String(n).padStart(2, "0")
  const abs = Math.abs(minutes)
  return there.replace("T", " ").slice(0, -1) + " " + (minutes < 0 ? "-" : "+") + two(Math.floor(abs / 60)) + ":" + two(abs % 60)
}

/** exact turns what a user typed into the text of the protocol; what is no date stays as it is. */
export function exact(typed: string): string {
  const ticks = ticksOf(typed)
  return ticks === undefined ? typed : textOf(ticks)
}

/** moment is a time in milliseconds as people read it, to the minute. */
export const moment = (at: number, zone: Zone) => show(new Date(Math.floor(at / 60_000) * 60_000).toISOString(), zone).replace(/:00(?=Z| [-+])/, "")
