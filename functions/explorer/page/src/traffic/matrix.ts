// The matrix of key ranges by time in the statistics of a table.
import { type Metric, type Report, metrics } from "./report.ts"

export type Span = "minutes" | "quarters"

const minute = 60_000
const spans = { minutes: { step: minute, most: 121, least: 15 }, quarters: { step: 15 * minute, most: 7 * 24 * 4 + 1, least: 12 } }

/** Matrix has a count for each range and each time: counts[range * columns + column]. */
export interface Matrix {
  begin: number // of the first column, in milliseconds
  step: number
  columns: number
  ranges: number
  counts: Float64Array
}

/** Area is a part of a matrix. All four ends are in it. */
export interface Area {
  left: number
  right: number
  top: number
  bottom: number
}

export const all = (m: Matrix): Area => ({ left: 0, right: m.columns - 1, top: 0, bottom: m.ranges - 1 })

/** matrixOf counts a metric by minutes or by quarters of an hour, from the first time with any traffic; its last column is the one that is not full yet. */
export function matrixOf(r: Report, span: Span, metric: Metric): Matrix {
  const { step, most, least } = spans[span]
  const last = Math.floor(Date.parse(r.until) / step)
  const first = Math.min(last, ...r.map[span].map((c) => Math.floor(Date.parse(c.at) / step)))
  const columns = Math.min(most, Math.max(least, last - first + 2))
  const begin = (last - columns + 1) * step
  const ranges = r.map.starts.length
  const counts = new Float64Array(columns * ranges)
  for (const c of r.map[span]) {
    const column = Math.floor((Date.parse(c.at) - begin) / step)
    if (column < 0 || column >= columns) continue
    for (const [range, ...list] of c.counts) if (range! < ranges) counts[range! * columns + column]! += list[metrics.indexOf(metric)]!
  }
  return { begin, step, columns, ranges, counts }
}

/** most is the greatest count in an area. */
export function most(m: Matrix, a: Area): number {
  let n = 0
  for (let r = a.top; r <= a.bottom; r++) for (let c = a.left; c <= a.right; c++) n = Math.max(n, m.counts[r * m.columns + c]!)
  return n
}

/** sums are the traffic of each range in an area, and its busiest time. */
export function sums(m: Matrix, a: Area): { range: number; sum: number; peak: number; at: number }[] {
  const list = []
  for (let range = a.top; range <= a.bottom; range++) {
    let sum = 0
    let peak = 0
    let at = 0
    for (let c = a.left; c <= a.right; c++) {
      const n = m.counts[range * m.columns + c]!
      sum += n
      if (n > peak) [peak, at] = [n, m.begin + c * m.step]
    }
    if (sum > 0) list.push({ range, sum, peak, at })
  }
  return list
}

/** busiest is the metric with the most traffic among those of single keys: a scan of the table would paint all of it. */
export function busiest(r: Report): Metric {
  const total = (m: Metric) => r.heaviest[m]?.total ?? 0
  const [low, high] = total("reads") >= total("writes") ? (["writes", "reads"] as const) : (["reads", "writes"] as const)
  return total(high) || total(low) ? high : "scanned"
}

/** sumOf is all that an area has. */
export const sumOf = (m: Matrix, a: Area): number => sums(m, a).reduce((n, r) => n + r.sum, 0)

/** minutesOf are the entities that were read, written or scanned in each of the last minutes, the oldest first. */
export function minutesOf(r: Report, minutes: number): number[] {
  const list = new Array<number>(minutes).fill(0)
  const last = Math.floor(Date.parse(r.until) / minute)
  for (const c of r.map.minutes) {
    const i = minutes - 1 - (last - Math.floor(Date.parse(c.at) / minute))
    if (i >= 0 && i < minutes) for (const counts of c.counts) list[i]! += counts[1]! + counts[2]! + counts[3]!
  }
  return list
}
