// The statistics of a table as the server tells them, and the matrix of key ranges by time in them.

export const metrics = ["reads", "writes", "scanned", "throttled"] as const
export type Metric = (typeof metrics)[number]

export interface Start {
  PartitionKey: string
  RowKey: string
}

interface Column {
  at: string
  /** a list for each range that was touched: its index in starts, then the counts of the metrics */
  counts: number[][]
}

export interface Report {
  since: string
  until: string
  heaviest: Record<Metric, { total: number; partitions: { partition: string; count: number; error: number }[] | null }>
  map: { starts: Start[]; minutes: Column[]; quarters: Column[] }
  shapes: Shape[] | null
}

/** Shape is what queries with equal filters but for the values have read, and one of these filters. */
export interface Shape {
  plan: string
  filter: string
  example: string
  pages: number
  scanned: number
  returned: number
}

export type Span = "minutes" | "quarters"

const minute = 60_000
const spans = { minutes: { step: minute, columns: 121 }, quarters: { step: 15 * minute, columns: 7 * 24 * 4 + 1 } }

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

/** matrixOf counts a metric by minutes or by quarters of an hour; its last column is the one that is not full yet. */
export function matrixOf(r: Report, span: Span, metric: Metric): Matrix {
  const { step, columns } = spans[span]
  const begin = Math.floor(Date.parse(r.until) / step) * step - (columns - 1) * step
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

/** busiest is the metric with the most traffic. */
export const busiest = (r: Report): Metric => metrics.reduce((a, b) => ((r.heaviest[b]?.total ?? 0) > (r.heaviest[a]?.total ?? 0) ? b : a))
