// The line below the grid: what is loaded, and what it cost.
import { useEffect, useMemo } from "preact/hooks"
import { Count } from "../model/count.ts"
import type { Live } from "../model/live.ts"
import type { Rows } from "../model/rows.ts"
import { useStore } from "../model/store.ts"
import { count, plural, size } from "../model/words.ts"
import { CountTrouble, Counter } from "./count.tsx"
import { LiveLine, LiveTrouble } from "./live.tsx"

export function Status({ rows, sort, sorting, said, live }: { rows: Rows; sort: string; sorting: boolean; said: string; live: Live }) {
  const p = useStore(rows.progress)
  const counting = useMemo(() => new Count(rows.service, rows.query.table, rows.query.filter), [rows])
  useEffect(() => () => counting.stop(), [counting])
  const { cost } = p
  return (
    <>
      <CountTrouble work={counting} />
      <LiveTrouble live={live} />
      {p.waiting && (
        <p class="problem" role="status" data-test="waiting">
          {p.waiting}
        </p>
      )}
      <div class="status" data-test="status">
        <span aria-live="polite">
          <b>{p.loading && rows.length === 0 ? "Loading …" : plural(rows.here, "row")}</b>
          {p.done ? rows.here > 0 && ", all that match" : p.pages > 0 && " loaded, there are more"}
          {sorting ? " · sorting …" : sort && !rows.ordered && <span class="note"> · sorted among {p.done ? "all rows of this query" : "the loaded rows only, not the table"}</span>}
          {said && <span class="dim"> · {said}</span>}
        </span>
        <LiveLine live={live} />
        {(!p.done || counting.state.value.pages > 0) && <Counter work={counting} />}
        <span class="dim cost" data-test="cost">
          {p.pages > 0 && plural(p.pages, "page")}
          {cost.rows !== undefined && ` · ${count(cost.rows)} scanned`}
          {cost.bytes !== undefined && ` (${size(cost.bytes)})`}
          {cost.calls !== undefined && ` · ${plural(cost.calls, "store call")}`}
          {p.pages > 0 && ` · ${size(p.bytes)} · ${count(Math.round(p.ms))} ms`}
        </span>
        {p.loading ? (
          <button type="button" data-test="stop" onClick={() => rows.stop()}>
            Stop
          </button>
        ) : (
          !p.done && (
            <span class="actions">
              <button type="button" data-test="more" onClick={() => void rows.load()}>
                Load more
              </button>
              <button type="button" data-test="all" onClick={() => void rows.load(true)}>
                Load all
              </button>
            </span>
          )
        )}
      </div>
    </>
  )
}
