// The text of the query: completion, errors at their place, and what stands around it.
import { useEffect, useMemo, useRef, useState } from "preact/hooks"
import { placeOf } from "../model/draft.ts"
import { note } from "../model/history.ts"
import { type Route, go } from "../model/route.ts"
import type { Rows } from "../model/rows.ts"
import { complete } from "../query/complete.ts"
import { type Problem, parse } from "../query/parse.ts"
import { translate } from "../query/prefix.ts"
import { Failure } from "../wire/failure.ts"
import type { Service } from "../wire/client.ts"
import { Builder } from "./builder.tsx"
import { CodeMenu } from "./code.tsx"
import { HistoryMenu } from "./history.tsx"
import { Icon } from "./icon.tsx"

/** drafts keeps what was typed and not run, for each table. */
const drafts = new Map<string, { filter: string; select: string }>()

interface Props {
  service: Service
  at: Route
  rows: Rows
  again: () => void
}

export function QueryBar({ service, at, rows, again }: Props) {
  const place = placeOf(service, at.table, undefined)
  const draft = drafts.get(place)
  const [filter, setFilter] = useState(draft?.filter ?? at.filter)
  const [select, setSelect] = useState(draft?.select ?? at.select)
  const [building, setBuilding] = useState(false)
  useEffect(() => {
    if (!drafts.has(place)) {
      setFilter(at.filter)
      setSelect(at.select)
    }
  }, [at.filter, at.select])
  const type = (part: { filter?: string; select?: string }) => {
    const next = { filter, select, ...part }
    drafts.set(place, next)
    setFilter(next.filter)
    setSelect(next.select)
  }
  const run = (f = filter.trim(), s = select.trim()) => {
    if (parse(f).problem) return type({ filter: f, select: s }) // the problem stands below; the rows of the last query stay
    drafts.delete(place)
    setFilter(f)
    setSelect(s)
    note(service.name, at.table, { filter: f, select: s })
    if (f === at.filter && s === at.select) again()
    else go({ filter: f, select: s, entity: undefined })
  }
  const wrong = useMemo(() => parse(filter).problem, [filter])
  const problem = wrong ?? refused(rows.progress.value.failure, filter)
  const sent = translate(filter.trim())
  const edited = filter.trim() !== at.filter || select.trim() !== at.select
  return (
    <search class="query" aria-label="Query" onKeyDown={(e) => e.key === "Enter" && (e.ctrlKey || e.metaKey) && (e.preventDefault(), run())}>
      <div class="bar">
        <FilterText value={filter} type={(f) => type({ filter: f })} run={() => run()} rows={rows} problem={problem} />
        <input class="select" value={select} placeholder="All properties" aria-label="Properties to read" title="Names with commas between them; empty for all" data-test="select" spellcheck={false} onInput={(e) => type({ select: e.currentTarget.value })} onKeyDown={(e) => e.key === "Enter" && run()} />
        <button type="button" class={edited ? "main" : ""} data-test="run" title="Run the query (Ctrl Enter)" onClick={() => run()}>
          <Icon name="run" /> Run
        </button>
        <button type="button" aria-pressed={building} data-test="builder" title="Builder: conditions in rows" onClick={() => setBuilding(!building)}>
          <Icon name="builder" /> <span class="label">Builder</span>
        </button>
        <HistoryMenu service={service} table={at.table} current={{ filter, select }} run={(q) => run(q.filter, q.select)} />
        <CodeMenu asked={{ table: at.table, filter: sent, select: select.split(",").map((s) => s.trim()).filter(Boolean), endpoint: service.endpoint, account: service.account }} />
      </div>
      {wrong && (
        <p class="problem" role="status" data-test="problem">
          Character {wrong.at + 1}: {wrong.message}
        </p>
      )}
      {sent !== filter.trim() && !problem && (
        <p class="sent dim" data-test="sent">
          Sent as <code>{sent}</code>
        </p>
      )}
      {building && <Builder filter={filter} columns={rows.columns} change={(f) => type({ filter: f })} />}
      {edited && (
        <p class="stale" role="status" data-test="stale">
          <Icon name="warning" /> The rows below are from the previous query. Press Run to update them.
        </p>
      )}
    </search>
  )
}

/** refused finds the place in the service's own words, which stand above the rows. */
function refused(failure: Failure | undefined, filter: string): Problem | undefined {
  const m = failure?.status === 400 ? /at position (\d+) in '/.exec(failure.message) : null
  return m && +m[1]! <= filter.length ? { message: failure!.message, at: +m[1]!, end: +m[1]! + 1 } : undefined
}

interface TextProps {
  value: string
  type: (text: string) => void
  run: () => void
  rows: Rows
  problem: Problem | undefined
}

function FilterText({ value, type, run, rows, problem }: TextProps) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [cursor, setCursor] = useState<number>() // undefined: no choices are shown
  const [chosen, setChosen] = useState(0)
  const offered = cursor === undefined ? undefined : complete(value, cursor, rows.columns, new Date())
  const choices = offered?.choices ?? []
  const take = (i: number) => {
    const c = choices[i]
    if (!c || !offered || !area.current) return
    const text = value.slice(0, offered.from) + c.text + value.slice(offered.to)
    const at = offered.from + (c.cursor ?? c.text.length)
    // The field gets the text now, not with the next drawing: who types fast has the cursor where it belongs.
    area.current.value = text
    area.current.setSelectionRange(at, at)
    type(text)
    setCursor(at)
    setChosen(0)
  }
  const onKeyDown = (e: KeyboardEvent) => {
    const open = choices.length > 0
    if (e.ctrlKey && e.key === " ") setCursor(area.current!.selectionStart)
    else if (open && (e.key === "ArrowDown" || e.key === "ArrowUp")) setChosen((chosen + (e.key === "ArrowDown" ? 1 : choices.length - 1)) % choices.length)
    else if (open && e.key === "Tab" && !e.shiftKey) take(chosen)
    else if (e.key === "Escape" && open) setCursor(undefined)
    else if (e.key === "Enter" && !e.shiftKey) {
      setCursor(undefined)
      if (e.ctrlKey || e.metaKey) return // it runs the query from everywhere in the bar
      run()
    } else return
    e.preventDefault()
    e.stopPropagation()
  }
  return (
    <div class="filter">
      <pre aria-hidden="true" class="under">
        {problem ? (
          <>
            {value.slice(0, problem.at)}
            <mark>{value.slice(problem.at, problem.end) || " "}</mark>
            {value.slice(problem.end)}
          </>
        ) : (
          value
        )}
        {"\u200b"}
      </pre>
      <textarea
        ref={area}
        rows={1}
        value={value}
        placeholder="Filter, such as  PartitionKey eq 'Oslo'"
        aria-label="Filter"
        aria-haspopup="listbox"
        aria-controls="choices"
        aria-autocomplete="list"
        aria-activedescendant={choices.length > 0 ? `choice-${chosen}` : undefined}
        aria-invalid={!!problem}
        spellcheck={false}
        autoCapitalize="off"
        data-test="filter"
        onInput={(e) => {
          type(e.currentTarget.value)
          setCursor(e.currentTarget.selectionStart)
          setChosen(0)
        }}
        onKeyDown={onKeyDown}
        onBlur={() => setCursor(undefined)}
        onClick={(e) => setCursor(e.currentTarget.selectionStart)}
      />
      <ul id="choices" role="listbox" aria-label="Completions" class="panel" hidden={!choices.length} tabIndex={0} data-test="choices" onMouseDown={(e) => e.preventDefault()}>
        {choices.map((c, i) => (
          <li key={c.text} id={`choice-${i}`} role="option" aria-selected={i === chosen} ref={(el) => void (i === chosen && el?.scrollIntoView({ block: "nearest" }))} onPointerDown={(e) => (e.preventDefault(), take(i))}>
            <code>{c.text}</code> <span class="dim">{c.note}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
