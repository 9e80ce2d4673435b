// What was used of a table in each of the last 60 minutes, as far as it was counted.
import { minutesOf } from "./matrix.ts"
import type { Report } from "./report.ts"

export interface Hour {
  since: string
  until: string
  /** minutes are the numbers of entities read, written or scanned; the last minute is the present one */
  minutes: number[]
}

/** hourOf is the last hour in a report; undefined if it does not count the table. */
export function hourOf(r: Report): Hour | undefined {
  const hour = r.hour ?? { since: r.since, until: r.until, minutes: minutesOf(r, 60) }
  return Date.parse(hour.since) < Date.parse(hour.until) || used(hour) ? hour : undefined
}

/** known is the part of the minutes in which the table was counted. */
export const known = (h: Hour) => h.minutes.slice(-Math.max(1, 1 + Math.floor(Date.parse(h.until) / 60_000) - Math.floor(Date.parse(h.since) / 60_000)))

export const used = (h: Hour) => h.minutes.reduce((a, b) => a + b, 0)

/** begun is when counting began, if that was within the hour. */
export const begun = (h: Hour): string | undefined => (known(h).length < h.minutes.length ? h.since : undefined)
