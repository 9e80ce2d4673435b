// The traffic of a table: a heat map, the busiest partitions, the sizes of partitions, and advice about the keys.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { go, route } from "../model/route.ts"
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import { ErrorLine } from "../ui/parts.tsx"
import type { Service } from "../wire/client.ts"
import { moment } from "../wire/date.ts"
import { Partitions, Ranges, Shapes, Sizes } from "./figures.tsx"
import { type Advice, Findings } from "./findings.tsx"
import { Heat, verbs } from "./heat.tsx"
import { type Area, type Report, type Span, all, busiest, matrixOf, metrics } from "./matrix.ts"
import { partitionFilter, rangeFilter } from "./range.ts"

/** inGrid leaves this view and shows the entities that a filter finds. */
const inGrid = (filter: string) => go({ view: "", filter, sort: "", entity: undefined })

export function Traffic({ service, table }: { service: Service; table: string }) {
  const { zone } = useStore(look)
  const [report, setReport] = useState<Report>()
  const [advice, setAdvice] = useState<Advice>()
  const [failure, setFailure] = useState<Error>()
  const [scanning, setScanning] = useState<AbortController>()
  const [untold, setUntold] = useState(!service.about)
  const path = "/" + encodeURIComponent(table)
  const load = async () => {
    setFailure(undefined)
    try {
      const r = await service.about!<Report | { untold: string }>("traffic", path)
      if ("untold" in r) return setUntold(true)
      setReport(r)
      const a = await service.about!<Advice>("advise", path)
      setAdvice((old) => ({ ...a, ...(old?.stored ? { stored: old.stored } : {}) }))
    } catch (e) {
      setFailure(e as Error)
    }
  }
  useEffect(() => {
    if (service.about) void load()
  }, [service, table])
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
      <div class="bar">
        <h1 data-test="title">{table}: traffic</h1>
        <span class="grow" />
        {!untold && (
          <button type="button" data-test="refresh" onClick={() => void load()}>
            Refresh
          </button>
        )}
        <button type="button" data-test="rows" onClick={() => go({ view: "" })}>
          Entities
        </button>
      </div>
      {failure && <ErrorLine failure={failure} retry={untold ? undefined : () => void load()} />}
      <div class="scroll">
        {untold && <Elsewhere service={service} table={table} />}
        {report && !service.local && (
          <p class="dim" data-test="objects">
            {report.since < "1970" ? "Nothing was counted yet by the objects of a Worker" : `Counted by the objects of a Worker since ${moment(Date.parse(report.since), zone)}`}. They have no map of keys by time, only the last 60 minutes with traffic: all keys are one range. Requests that
            the Worker throttled and the values in filters are not in it.
          </p>
        )}
        {report && <HeatMap report={report} ranges={service.local} />}
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
function HeatMap({ report, ranges }: { report: Report; ranges: boolean }) {
  const at = useStore(route)
  const [zoomed, setZoomed] = useState<Area>()
  const metric = metrics.find((name) => name === at.metric) ?? busiest(report)
  const span: Span = ranges && at.span === "quarters" ? "quarters" : "minutes"
  const m = useMemo(() => matrixOf(report, span, metric), [report, span, metric])
  const whole = useMemo(() => all(m), [m])
  useEffect(() => setZoomed(undefined), [report, span])
  // After new figures the ranges may be fewer than before.
  const area = zoomed && zoomed.bottom < m.ranges && zoomed.right < m.columns ? zoomed : whole
  const { starts } = report.map
  const open = (top: number, bottom: number) => inGrid(rangeFilter(starts, top, bottom))
  return (
    <>
      <section class="heat" aria-label="Heat map">
        <div class="bar">
          <div class="tabs" role="group" aria-label="What was counted">
            {metrics.map((name) => (
              <button key={name} type="button" aria-pressed={name === metric} title={verbs[name]} data-test={`metric-${name}`} onClick={() => go({ metric: name }, true)}>
                {{ reads: "Reads", writes: "Writes", scanned: "Scanned", throttled: "Throttled" }[name]}
              </button>
            ))}
          </div>
          {ranges && <div class="tabs" role="group" aria-label="Time">
            <button type="button" aria-pressed={span === "minutes"} data-test="span-minutes" onClick={() => go({ span: "" }, true)}>
              2 hours by the minute
            </button>
            <button type="button" aria-pressed={span === "quarters"} data-test="span-quarters" onClick={() => go({ span: "quarters" }, true)}>
              7 days by the quarter-hour
            </button>
          </div>}
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
      {service.about ? `${service.name} does not tell what traffic it has. ` : "This page came from the endpoint of the tables, which does not tell what traffic it has. "}
      If it is a server, its own machine can ask:
      <code>edgetable explorer --data DIRECTORY</code>
      <code>edgetable stats {table} --data DIRECTORY</code>
      <code>edgetable advise {table} --data DIRECTORY</code>
      {!service.about && "If it is a Worker with Durable Objects, they count:"}
      {!service.about && <code>edgetable stats {table} --from PROFILE</code>}
      <span class="dim">
        {service.about && "Workers with Durable Objects tell it here. "}Lambda, Workers KV alone and Azure do not count by partition. On AWS, CloudWatch Contributor Insights shows the busiest hash keys.
      </span>
    </p>
  )
}
