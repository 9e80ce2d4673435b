// One table of the account in its home.
import { useMemo } from "preact/hooks"
import { Count } from "../model/count.ts"
import type { Fact } from "../model/facts.ts"
import { go, toTable } from "../model/route.ts"
import { useStore } from "../model/store.ts"
import { count, size } from "../model/words.ts"
import type { Service } from "../wire/client.ts"
import { Icon } from "../ui/icon.tsx"
import { Sparkline } from "./sparkline.tsx"

export function Line({ service, table, fact }: { service: Service; table: string; fact: Fact | undefined }) {
  const sum = fact?.hour?.reduce((a, b) => a + b, 0)
  return (
    <tr data-test="home-table">
      <th scope="row">
        <button type="button" class="link" onClick={() => go(toTable(table))}>
          <Icon name="table" /> <span>{table}</span>
        </button>
      </th>
      <td>{fact?.rows === undefined ? <span class="dim">{fact?.missing ? "?" : "…"}</span> : fact.more ? <Counted service={service} table={table} least={fact.rows} /> : count(fact.rows)}</td>
      <td class="wide-only">{fact?.bytes === undefined ? "" : fact.more ? <span class="dim" title="of the first page">≥ {size(fact.bytes)}</span> : size(fact.bytes)}</td>
      <td class="spark">{fact?.hour && <Sparkline hour={fact.hour} />}</td>
      <td>
        {sum !== undefined && (
          <button type="button" class="link" aria-label={`${count(sum)}, traffic of ${table}`} onClick={() => go({ ...toTable(table), view: "traffic" })}>
            {count(sum)}
          </button>
        )}
      </td>
    </tr>
  )
}

/** Counted counts a table of more than a page when somebody asks for it. */
function Counted({ service, table, least }: { service: Service; table: string; least: number }) {
  const work = useMemo(() => new Count(service, table, ""), [service, table])
  const s = useStore(work.state)
  if (work.done) return <>{count(s.count)}</>
  return (
    <button type="button" class="link" title="Counts by reading all keys" data-test="home-count" onClick={() => (s.running ? work.stop() : void work.run())}>
      {s.running ? `${count(s.count)} …` : `${count(Math.max(least, s.count))}+`}
    </button>
  )
}
