// What is beside the heat map: its figures as a table, the busiest partitions, and the sizes of partitions.
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import { count, plural } from "../model/words.ts"
import { Figures } from "../ui/parts.tsx"
import { moment } from "../wire/date.ts"
import { type Area, type Matrix, sums } from "./matrix.ts"
import { keyName } from "./range.ts"
import { type Metric, type Report, type Shape, type Start, type Stored, verbs } from "./report.ts"

/** Ranges has the figures of the heat map for those who cannot see it. */
export function Ranges({ m, area, starts, metric, open }: { m: Matrix; area: Area; starts: Start[]; metric: Metric; open: (top: number, bottom: number) => void }) {
  const { zone } = useStore(look)
  const list = sums(m, area)
  return (
    <details data-test="ranges">
      <summary>The heat map as a table: {plural(list.length, "range")} of keys with traffic</summary>
      <Figures heads={["Keys from", verbs[metric], "at most at once", "at"]}>
        {list.map(({ range, sum, peak, at }) => (
          <tr key={range}>
            <th scope="row">
              <button type="button" class="link mono" onClick={() => open(range, range)}>
                {keyName(starts[range])}
              </button>
            </th>
            <td>{count(sum)}</td>
            <td>{count(peak)}</td>
            <td>{moment(at, zone)}</td>
          </tr>
        ))}
      </Figures>
    </details>
  )
}

const shownPartitions = 10

/** Partitions are the busiest ones of the last one to two days. */
export function Partitions({ report, metric, open }: { report: Report; metric: Metric; open: (partition: string) => void }) {
  const { zone } = useStore(look)
  const { total: inOne, partitions } = report.heaviest[metric] ?? { total: 0, partitions: [] }
  // All of the table: what scans read is of no single partition, and yet a part of the whole.
  const total = Math.max(report.totals[metric] ?? 0, inOne)
  const shownOnes = (partitions ?? []).slice(0, shownPartitions)
  const rest = total - shownOnes.reduce((n, p) => n + p.count, 0)
  const share = (n: number) => `${((100 * n) / total).toFixed(1)} %`
  return (
    <section data-test="partitions">
      <h2>Busiest partitions</h2>
      {total > 0 && <p class="dim">{verbs[metric]} since {moment(Date.parse(report.since), zone)}</p>}
      {total === 0 ? (
        <p class="dim">None.</p>
      ) : (
        <Figures heads={["PartitionKey", verbs[metric], "share"]}>
          {shownOnes.map((p) => (
            <tr key={p.partition}>
              <th scope="row">
                <button type="button" class="link mono" data-test="partition" onClick={() => open(p.partition)}>
                  {p.partition || "(empty)"}
                </button>
              </th>
              <td title={p.error ? `at most ${count(p.error)} too much` : undefined}>
                {p.error ? "≤ " : ""}
                {count(p.count)}
              </td>
              <td>{share(p.count)}</td>
            </tr>
          ))}
          {rest > 0 && (
            <tr class="dim">
              <th scope="row">all others{metric === "scanned" && ", and scans of several partitions"}</th>
              <td>{count(rest)}</td>
              <td>{share(rest)}</td>
            </tr>
          )}
          <tr>
            <th scope="row">in all</th>
            <td>{count(total)}</td>
            <td />
          </tr>
        </Figures>
      )}
    </section>
  )
}

const shownShapes = 10

/** Shapes are the queries that read most. Their filters differ in values alone; one is the example, where it is known. Objects see what of a filter is not a range of keys. */
export function Shapes({ shapes, open }: { shapes: Shape[]; open: ((filter: string) => void) | undefined }) {
  return (
    <section data-test="shapes">
      <h2>Queries that read most</h2>
      {shapes.length === 0 ? (
        <p class="dim">None.</p>
      ) : (
        <Figures heads={["For example", "plan", "pages", "rows scanned", "returned"]}>
          {shapes.slice(0, shownShapes).map((s) => (
            <tr key={s.plan + s.filter}>
              <th scope="row">
                {s.plan === "Other" || !open ? (
                  <span class="mono" data-test="shape">
                    {s.plan === "Other" ? "(all other filters)" : s.filter || "(no filter but for keys)"}
                  </span>
                ) : (
                  <button type="button" class="link mono" title={s.filter} data-test="shape" onClick={() => open(s.example)}>
                    {s.example || "(no filter)"}
                  </button>
                )}
              </th>
              <td>{s.plan}</td>
              <td>{count(s.pages)}</td>
              <td>{count(s.scanned)}</td>
              <td>{count(s.returned)}</td>
            </tr>
          ))}
        </Figures>
      )}
    </section>
  )
}

/** Sizes is the histogram of the partitions. */
export function Sizes({ stored }: { stored: Stored }) {
  const first = stored.sizes.findIndex((n) => n > 0)
  const last = stored.sizes.findLastIndex((n) => n > 0)
  const max = Math.max(...stored.sizes)
  return (
    <>
      <p class="dim">
        {plural(stored.rows, "entity", "entities")} in {plural(stored.partitions, "partition")}, {count(Math.ceil(stored.bytes / 1024))} KiB
      </p>
      {first >= 0 && (
        <Figures heads={["Entities in a partition", "partitions", ""]} test="sizes">
          {stored.sizes.slice(first, last + 1).map((n, i) => {
            const low = 2 ** (first + i)
            return (
              <tr key={low}>
                <th scope="row">{low === 1 ? "1" : `${count(low)} to ${count(2 * low - 1)}`}</th>
                <td>{count(n)}</td>
                <td>
                  <meter aria-label={`${low} and more`} value={n} max={max} />
                </td>
              </tr>
            )
          })}
        </Figures>
      )}
    </>
  )
}
