// The traffic of a table: a heat map, the busiest partitions, the sizes of partitions, and advice about the keys.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { go, route } from "../model/route.ts"
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import { Icon } from "../ui/icon.tsx"
import { ErrorLine, Tabs } from "../ui/parts.tsx"
import { TableHead } from "../ui/tablehead.tsx"
import type { Service } from "../wire/client.ts"
import { moment } from "../wire/date.ts"
import { getTraffic } from "../wire/traffic.ts"
import { Partitions, Ranges, Shapes, Sizes } from "./figures.tsx"
import { Findings } from "./findings.tsx"
import { Heat } from "./heat.tsx"
import { type Area, type Span, all, busiest, matrixOf } from "./matrix.ts"
import { Objects } from "./objects.tsx"
import { partitionFilter, rangeFilter } from "./range.ts"
import { type Advice, type Report, metrics, verbs } from "./report.ts"

/** inGrid leaves this view and shows the entities that a filter finds. */
const inGrid = (filter: string) => go({ view: "", filter, sort: "", entity: undefined })

/** refreshed is how often the figures are asked for again, while somebody looks at all of them. */
const refreshed = 30_000

export function Traffic({ service, table }: { service: Service; table: string }) {
  const { zone } = useStore(look)
  const [report, setReport] = useState<Report>()
  const [advice, setAdvice] = useState<Advice>()
  const [failure, setFailure] = useState<Error>()
  const [scanning, setScanning] = useState<AbortController>()
  const [untold, setUntold] = useState(false)
  const [zoomed, setZoomed] = useState<Area>()
  const path = "/" + encodeURIComponent(table)
  const load = async () => {
    setFailure(undefined)
    try {
      const r = await getTraffic(service, table)
      setUntold(!r)
      setReport(r)
      if (!r) return
      const a = r.advice ?? (await service.about?.<Advice>("advise", path)) // the objects of a Worker give none
      if (a) setAdvice((old) => ({ ...a, ...(old?.stored ? { stored: old.stored } : {}) }))
    } catch (e) {
      setFailure(e as Error)
    }
  }
  useEffect(() => void load(), [service, table])
  useEffect(() => {
    if (untold || failure || zoomed) return
    const timer = setInterval(() => document.visibilityState === "visible" && void load(), refreshed)
    return () => clearInterval(timer)
  }, [service, table, untold, failure, zoomed])
  const scan = async () => {
    const abort = new AbortController()
    setScanning(abort)
    setFailure(undefined)
    await service.about!<Advice>("advise", path + "?scan=true", abort.signal).then(setAdvice, (e: Error) => abort.signal.aborted || setFailure(e))
    setScanning(undefined)
  }
  const running = useRef(scanning)
  running.current = scanning
  useEffect(() => () => running.current?.abort(), [])
  return (
    <main class="browse traffic" aria-label={`Traffic of ${table}`}>
      <TableHead service={service} table={table} view="traffic">
        {report && (
          <span class="dim updated" title="The figures are read again every 30 seconds">
            until {moment(Date.parse(report.until), zone)}
          </span>
        )}
        {!untold && (
          <button type="button" data-test="refresh" aria-label="Refresh" title="Refresh: read the figures again" onClick={() => void load()}>
            <Icon name="refresh" />
          </button>
        )}
      </TableHead>
      {failure && <ErrorLine failure={failure} retry={untold ? undefined : () => void load()} />}
      <div class="scroll">
        {untold && <Elsewhere service={service} table={table} />}
        {report?.ranges && (
          <p class="dim" data-test="objects">
            {report.since < "1970" ? "Nothing was counted yet by the objects of a Worker" : `Counted by the objects of a Worker since ${moment(Date.parse(report.since), zone)}`}. They have no map of keys by time, only the last 60 minutes with traffic: all keys are one range. Requests that
            the Worker throttled and the values in filters are not in it.
          </p>
        )}
        {report && <HeatMap report={report} ranges={!report.ranges} zoomed={zoomed} setZoomed={setZoomed} />}
        {report?.ranges && <Objects ranges={report.ranges} now={report.until} />}
        <section data-test="stored">
          <h2>Sizes of partitions</h2>
          {advice?.stored && <Sizes stored={advice.stored} />}
          {!service.about ? (
            <p class="dim">
              <code>edgetable advise {table} --scan --from PROFILE</code> reads all entities and judges their keys.
            </p>
          ) : scanning ? (
            <p>
              Reading all entities …{" "}
              <button type="button" data-test="scan-stop" onClick={() => scanning.abort()}>
                Stop
              </button>
            </p>
          ) : (
            <p class="dim">
              <button type="button" data-test="scan" onClick={() => void scan()}>
                Read all entities
              </button>{" "}
              judges them, too, as <code>edgetable advise {table} --scan</code> does. Services charge for it.
            </p>
          )}
        </section>
        {advice && <Findings advice={advice} counted={!!report} />}
      </div>
    </main>
  )
}

/** HeatMap is the map with its choices, and the partitions beside it. */
function HeatMap({ report, ranges, zoomed, setZoomed }: { report: Report; ranges: boolean; zoomed: Area | undefined; setZoomed: (a: Area | undefined) => void }) {
  const at = useStore(route)
  const metric = metrics.find((name) => name === at.metric) ?? busiest(report)
  const span: Span = ranges && at.span === "quarters" ? "quarters" : "minutes"
  const m = useMemo(() => matrixOf(report, span, metric), [report, span, metric])
  const whole = useMemo(() => all(m), [m])
  useEffect(() => setZoomed(undefined), [span])
  // After new figures the ranges may be fewer than before.
  const area = zoomed && zoomed.bottom < m.ranges && zoomed.right < m.columns ? zoomed : whole
  const { starts } = report.map
  const open = (top: number, bottom: number) => inGrid(rangeFilter(starts, top, bottom))
  return (
    <>
      <section class="heat" aria-label="Heat map">
        <div class="bar">
          <Tabs label="What was counted" test="metric" choices={{ reads: "Reads", writes: "Writes", scanned: "Scanned", throttled: "Throttled" }} titles={verbs} now={metric} choose={(name) => go({ metric: name }, true)} />
          {ranges && <Tabs label="Time" test="span" choices={{ minutes: "By the minute", quarters: "By the quarter-hour" }} now={span} choose={(s) => go({ span: s === "quarters" ? s : "" }, true)} />}
          <span class="grow" />
          {zoomed && (
            <>
              <button type="button" data-test="open-range" onClick={() => open(area.top, area.bottom)}>
                Open these keys
              </button>
              <button type="button" data-test="zoom-out" onClick={() => setZoomed(undefined)}>
                Show all
              </button>
            </>
          )}
        </div>
        <Heat {...{ m, metric, starts, area, open }} zoom={setZoomed} />
        <Ranges {...{ m, metric, starts, area, open }} />
      </section>
      <Partitions report={report} metric={metric} open={(p) => inGrid(partitionFilter(p))} />
      <Shapes shapes={report.shapes ?? []} open={ranges ? inGrid : undefined} />
    </>
  )
}

/** Elsewhere says why there is no traffic to see, and which command knows it. */
function Elsewhere({ service, table }: { service: Service; table: string }) {
  return (
    <p class="warning" data-test="elsewhere">
      {service.name} does not report its traffic.{" "}
      If it is a server, run one of these commands on its machine:
      <code>edgetable explorer --data DIRECTORY</code>
      <code>edgetable traffic {table} --data DIRECTORY</code>
      <code>edgetable advise {table} --data DIRECTORY</code>
      If it is a Worker with Durable Objects, the objects count the traffic:
      <code>edgetable traffic {table} --from PROFILE</code>
      <span class="dim">
        Lambda, Workers KV alone and Azure do not count by partition. On AWS, CloudWatch Contributor Insights shows the busiest hash keys.
      </span>
    </p>
  )
}
