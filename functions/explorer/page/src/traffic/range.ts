// Ranges of keys: their names, and the filters that show them in the grid.
import { after, quoted } from "../wire/odata.ts"
import type { Start } from "./report.ts"

/** keyName is the key at which a range starts. */
export const keyName = (s: Start | undefined) => (!s || (!s.PartitionKey && !s.RowKey) ? "(first key)" : s.RowKey ? `${s.PartitionKey} / ${s.RowKey}` : s.PartitionKey)

/** rangeName says which keys the ranges from one to another have. */
export function rangeName(starts: Start[], top: number, bottom: number): string {
  const end = starts[bottom + 1]
  if (top === 0) return end ? `keys before ${keyName(end)}` : "all keys"
  return `keys from ${keyName(starts[top])} ` + (end ? `to before ${keyName(end)}` : "to the last")
}

/** rangeOf is the range that has the first key of an older range, which was at a place of the map. */
export function rangeOf(starts: Start[], { PartitionKey = "", RowKey = "" }: Partial<Start>, place: number): number {
  const order = ({ PartitionKey: pk = "", RowKey: rk = "" }: Partial<Start>) => (pk === PartitionKey ? (rk > RowKey ? 1 : rk < RowKey ? -1 : 0) : pk > PartitionKey ? 1 : -1)
  return starts[place] && !order(starts[place]) ? place : Math.max(0, starts.findLastIndex((s) => order(s) <= 0))
}

/** inOnePartition reports whether a range is a part of one partition. Others may have any number of them: rows of one height are not equally many keys. */
export const inOnePartition = (starts: Start[], range: number) => starts[range + 1] !== undefined && range > 0 && starts[range]!.PartitionKey === starts[range + 1]!.PartitionKey

/** rangeFilter finds the entities of the ranges from one to another. */
export function rangeFilter(starts: Start[], top: number, bottom: number): string {
  const from = top > 0 ? starts[top] : undefined
  const to = starts[bottom + 1]
  if (from && to && from.PartitionKey === to.PartitionKey)
    return [`PartitionKey eq ${quoted(from.PartitionKey)}`, from.RowKey && `RowKey ge ${quoted(from.RowKey)}`, `RowKey lt ${quoted(to.RowKey)}`].filter(Boolean).join(" and ")
  return [from && side(from, "gt", "ge"), to && side(to, "lt", "lt")].filter(Boolean).join(" and ")
}

/** side is one end of a range: beyond the partition, or in it and beyond the row. */
function side({ PartitionKey, RowKey }: Start, beyond: string, row: string): string {
  const pk = quoted(PartitionKey)
  if (!RowKey) return `PartitionKey ${row} ${pk}`
  return `(PartitionKey ${beyond} ${pk} or PartitionKey eq ${pk} and RowKey ${row} ${quoted(RowKey)})`
}

/** longest is how many bytes of a partition the statistics keep. */
const longest = 128

/** partitionFilter finds the entities of a partition, whose name may be cut. */
export function partitionFilter(partition: string): string {
  const cut = new TextEncoder().encode(partition).length >= longest - 3 // where a character was cut, up to three bytes are missing
  const end = cut ? after(partition) : undefined
  return end === undefined ? `PartitionKey eq ${quoted(partition)}` : `PartitionKey ge ${quoted(partition)} and PartitionKey lt ${quoted(end)}`
}
