// One table of the account in its home.
import type { Count } from "../model/count.ts"
import type { Fact } from "../model/facts.ts"
import { go, toTable } from "../model/route.ts"
import { useStore } from "../model/store.ts"
import { count, size } from "../model/words.ts"
import { known, used } from "../traffic/hour.ts"
import { Icon } from "../ui/icon.tsx"
import { Sparkline } from "./sparkline.tsx"

/** Line has a dash for what nobody counted: told says that other tables are counted. */
export function Line({ table, fact, told }: { table: string; fact: Fact | undefined; told: boolean }) {
  const hour = fact?.hour
  const sum = hour && used(hour)
  return (
    <tr data-test="home-table">
      <th scope="row">
        <button type="button" class="link" onClick={() => go(toTable(table))}>
          <Icon name="table" /> <span>{table}</span>
        </button>
      </th>
      <td>{fact?.rows === undefined ? <span class="dim">{fact?.missing ? "?" : "…"}</span> : fact.count ? <Counted work={fact.count} least={fact.rows} /> : count(fact.rows)}</td>
      <td class="wide-only">{fact?.bytes === undefined ? "" : fact.count ? <Estimate work={fact.count} bytes={fact.bytes} rows={fact.rows!} /> : size(fact.bytes)}</td>
      <td class="spark">{hour && <Sparkline minutes={known(hour)} of={hour.minutes.length} />}</td>
      <td>
        {sum === undefined ? (
          told && fact && <span class="dim" title="The server does not count this table" data-test="not-counted">–</span>
        ) : (
          <button type="button" class="link" aria-label={`${count(sum)}, traffic of ${table}`} onClick={() => go({ ...toTable(table), view: "traffic" })}>
            {count(sum)}
          </button>
        )}
      </td>
    </tr>
  )
}

/** Counted counts a table of more than a page when somebody asks for it. */
function Counted({ work, least }: { work: Count; least: number }) {
  const s = useStore(work.state)
  if (work.done) return <>{count(s.count)}</>
  return (
    <button type="button" class="link" title="Counts by reading all keys" data-test="home-count" onClick={() => (s.running ? work.stop() : void work.run())}>
      {s.running ? `${count(s.count)} …` : `${count(Math.max(least, s.count))}+`}
    </button>
  )
}

/** Estimate is the size of a table: that of its first page, or what it would be if all were as large, once they are counted. */
function Estimate({ work, bytes, rows }: { work: Count; bytes: number; rows: number }) {
  const s = useStore(work.state)
  return work.done ? (
    <span class="dim" title="Estimated: the first page's size for each entity">about {size(Math.round((bytes / rows) * s.count))}</span>
  ) : (
    <span class="dim" title="of the first page">≥ {size(bytes)}</span>
  )
}
