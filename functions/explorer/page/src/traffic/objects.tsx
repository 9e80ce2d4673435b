// The objects of a table on Workers: which keys each of them serves, how much it stores, how busy it is, and for how long it serves.
import { count } from "../model/words.ts"
import { Figures } from "../ui/parts.tsx"
import { age } from "./age.ts"
import type { Range } from "./report.ts"

export function Objects({ ranges, now }: { ranges: Range[]; now: string }) {
  const buckets = ranges.some((r) => r.bucket > 0)
  return (
    <section data-test="table-ranges">
      <h2>Objects of the table</h2>
      <Figures heads={["PartitionKeys", ...(buckets ? ["bucket"] : []), "KiB stored", "operations/s", "serves for"]}>
        {ranges.map((r) => (
          <tr key={`${r.bucket}/${r.from}`}>
            <th scope="row" class="mono">
              {r.from || "(first key)"} {r.to ? `to before ${r.to}` : "and all later keys"}
            </th>
            {buckets && <td>{r.bucket}</td>}
            <td>{count(Math.ceil(r.bytes / 1024))}</td>
            <td>{r.load.toFixed(1)}</td>
            <td>{r.since ? age(r.since, now) : "as long as the table"}</td>
          </tr>
        ))}
      </Figures>
    </section>
  )
}
