// The statistics of a table and the advice, as servers and Workers tell them.
import type { Hour } from "./hour.ts"

export const metrics = ["reads", "writes", "scanned", "throttled"] as const
export type Metric = (typeof metrics)[number]
/** verbs say in a sentence what a metric counts. */
export const verbs: Record<Metric, string> = { reads: "read by key", writes: "written", scanned: "rows scanned", throttled: "requests throttled" }

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
  totals: Partial<Record<Metric, number>>
  /** advice comes along when the holder of the key asks a server */
  advice?: Advice
  /** hour is exact, and there if a server tells; it also counts tables of which nothing else is counted */
  hour?: Hour
  /** ranges are those of the objects of a table on Workers */
  ranges?: Range[]
}

/** Range is a range of keys that one object serves. "" is the begin or the end of all keys. */
export interface Range {
  bucket: number
  from: string
  to: string
  bytes: number
  /** load is the number of operations a second, in the last five minutes */
  load: number
  /** since is when the object began to serve them, not there if that was before the table split */
  since?: string
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

/** Advice says what is wrong with the keys, why, and what to do instead. */
export interface Advice {
  findings: { rule: string; finding: string; example: string; why: Record<"azure" | "dynamodb" | "workers" | "binary", string>; instead: string }[]
  costs: { home: string; dollarsAMonth: number }[]
  pricesOf: string
  /** seconds for which the traffic was counted */
  seconds: number
  stored?: Stored
}

/** Stored is what a scan of the table has counted. */
export interface Stored {
  rows: number
  bytes: number
  partitions: number
  /** sizes are the numbers of partitions with 1, 2 to 3, 4 to 7, … rows */
  sizes: number[]
}
