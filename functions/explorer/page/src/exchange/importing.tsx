// The wizard that imports a file: what the columns mean, then the work.
import { useEffect, useMemo, useState } from "preact/hooks"
import { useStore } from "../model/store.ts"
import type { Service } from "../wire/client.ts"
import { goodTable } from "../wire/names.ts"
import { type Type, types } from "../wire/value.ts"
import { Failure } from "../wire/failure.ts"
import { visible } from "../wire/unseen.ts"
import { createTable } from "../wire/tables.ts"
import { count, plural } from "../model/words.ts"
import { Icon } from "../ui/icon.tsx"
import { Dialog, ErrorLine } from "../ui/parts.tsx"
import { type Existing, Import } from "./import.ts"
import type { Cell } from "./csv.ts"
import { type Column, type Plan, type Row, beginOf, cellsOf, planOf, rowsOf } from "./plan.ts"
import { type Suggestion, suggest } from "./suggest.ts"
import { Drop } from "./drop.tsx"
import { save } from "./export.ts"

const shown = 5

export function Importing({ service, table, close }: { service: Service; table: string; close: (imported: string | undefined) => void }) {
  const [file, setFile] = useState<File>()
  const [plan, setPlan] = useState<Plan>()
  const [to, setTo] = useState(table)
  const [existing, setExisting] = useState<Existing>("skip")
  const [preview, setPreview] = useState<Row[]>([])
  const [sample, setSample] = useState<Cell[][]>([])
  const [failure, setFailure] = useState<Error>()
  const [work, setWork] = useState<Import>()

  const choose = async (f: File | undefined) => {
    setFailure(undefined)
    setFile(f)
    const begin = f ? await beginOf(f) : ""
    const p = f && planOf(begin, f.name)
    setSample(p?.format === "csv" ? cellsOf(begin, f!.size <= 1 << 16) : [])
    setPlan(p)
  }
  useEffect(() => {
    if (!file || !plan) return
    let current = true
    void (async () => {
      const rows: Row[] = []
      try {
        for await (const row of rowsOf(file, plan)) if (rows.push(row) === shown) break
      } catch (e) {
        if (current) setFailure(e as Error)
      }
      if (current) setPreview(rows)
    })()
    return () => {
      current = false
    }
  }, [file, plan])
  const begin = async (e: Event) => {
    e.preventDefault()
    setFailure(undefined)
    try {
      if (to !== table) await createTable(service, to).catch((e: unknown) => {
        if (!(e instanceof Failure) || e.code !== "TableAlreadyExists") throw e
      })
      const i = new Import(service, to, file!, plan!, existing)
      setWork(i)
      void i.run()
    } catch (e) {
      setFailure(e as Error)
    }
  }
  if (work) return <Work work={work} name={file!.name} close={() => close(to)} />
  const noKey = plan?.format === "csv" && !plan.pk && !plan.pkText
  return (
    <Dialog title="Import a file" close={() => close(undefined)} test="import">
      <form class="importing" onSubmit={begin}>
        <Drop file={file} choose={(f) => void choose(f)} />
        {plan?.format === "csv" && <Columns plan={plan} sample={sample} change={setPlan} />}
        {plan && (
          <>
            <div class="pair">
              <label>
                Table (created if it does not exist)
                <input value={to} data-test="import-table" onInput={(e) => setTo(e.currentTarget.value)} />
              </label>
              <label>
                Existing entities
                <select value={existing} data-test="import-existing" onChange={(e) => setExisting(e.currentTarget.value as Existing)}>
                  <option value="skip">keep</option>
                  <option value="replace">replace</option>
                  <option value="merge">merge</option>
                </select>
              </label>
            </div>
            <ul class="preview mono" aria-label="The first rows" data-test="import-preview">
              {(noKey ? [] : preview).map((row) => (
                <li key={row.number} class={row.wrong ? "wrong" : ""}>
                  {row.wrong ? `Line ${row.line}: ${row.wrong}` : [...row.values!].map(([n, v]) => `${n}: ${v.type === "String" ? JSON.stringify(v.text) : `${v.type} ${v.text}`}`).join(", ")}
                </li>
              ))}
            </ul>
          </>
        )}
        {noKey && <p class="dim">Choose a column for PartitionKey, or type one text for all rows.</p>}
        {failure && <ErrorLine failure={failure} />}
        <footer>
          <button type="submit" class="main" data-test="import-begin" disabled={!plan || noKey || !preview.length || !goodTable(to)}>
            <Icon name="upload" /> Import
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function Columns({ plan, sample, change }: { plan: Plan; sample: Cell[][]; change: (p: Plan) => void }) {
  const suggested = useMemo(() => new Map(plan.columns.map((c) => [c.at, c.typeAt < 0 ? suggest(sample.map((cells) => cells[c.at])) : undefined])), [sample])
  const open = plan.columns.filter((c) => c.to && c.name !== plan.pk && c.name !== plan.rk && c.type === "String" && suggested.get(c.at))
  const set = (i: number, part: Partial<Column>) => change({ ...plan, columns: plan.columns.map((c, n) => (n === i ? { ...c, ...part } : c)) })
  const names = plan.columns.map((c) => c.name)
  const choices = names.map((n) => <option key={n}>{n}</option>)
  return (
    <>
      <div class="pair">
        <label>
          PartitionKey
          <select value={plan.pk} data-test="import-pk" onChange={(e) => change({ ...plan, pk: e.currentTarget.value })}>
            {choices}
            <option value="">one text for all rows</option>
          </select>
        </label>
        {!plan.pk && (
          <label>
            Text
            <input value={plan.pkText} data-test="import-pk-text" onInput={(e) => change({ ...plan, pkText: e.currentTarget.value })} />
          </label>
        )}
        <label>
          RowKey
          <select
            value={plan.rk || "=" + plan.rkText}
            data-test="import-rk"
            onChange={(e) => change(e.currentTarget.value.startsWith("=") ? { ...plan, rk: "", rkText: e.currentTarget.value.slice(1) as "number" } : { ...plan, rk: e.currentTarget.value })}
          >
            {choices}
            <option value="=number">the number of the row</option>
            <option value="=guid">a new Guid</option>
          </select>
        </label>
      </div>
      {open.length > 0 && (
        <p class="dim">
          {plural(open.length, "column")} may have other types than String, by the first {plural(sample.length, "row")}.{" "}
          <button type="button" class="link" data-test="import-suggestions" onClick={() => change({ ...plan, columns: plan.columns.map((c) => (open.includes(c) ? { ...c, type: suggested.get(c.at)!.type } : c)) })}>
            Take all suggestions
          </button>
        </p>
      )}
      <ul class="mapping" aria-label="Columns">
        {plan.columns.map(
          (c, i) =>
            c.name !== plan.pk &&
            c.name !== plan.rk && (
              <li key={c.at}>
                <label class="check">
                  <input type="checkbox" checked={!!c.to} onChange={(e) => set(i, { to: e.currentTarget.checked ? c.name : "" })} /> {c.name}
                </label>
                <input aria-label={`Property of ${c.name}`} value={c.to} disabled={!c.to} data-test="import-to" onInput={(e) => set(i, { to: e.currentTarget.value })} />
                <select aria-label={`Type of ${c.name}`} value={c.type} disabled={!c.to} data-test={`import-type-${c.name}`} onChange={(e) => set(i, { type: e.currentTarget.value as Type })}>
                  {c.typeAt >= 0 && <option value="">as the file says</option>}
                  {types.map((t) => (
                    <option key={t}>{t}</option>
                  ))}
                </select>
                <Sample cells={sample.map((cells) => cells[c.at])} suggestion={open.includes(c) ? suggested.get(c.at) : undefined} take={(type) => set(i, { type })} name={c.name} />
              </li>
            ),
        )}
      </ul>
    </>
  )
}

/** Sample shows some values of a column, and offers the type that they look like. */
function Sample({ cells, suggestion, take, name }: { cells: Cell[]; suggestion: Suggestion | undefined; take: (type: Type) => void; name: string }) {
  const values = [...new Set(cells.filter((c) => c !== undefined))].slice(0, 3)
  return (
    <span class="sample dim">
      <span class="mono">{values.map((v) => visible(v.slice(0, 40)) || '""').join(", ") || "no values"}</span>
      {suggestion && (
        <button type="button" class="link" data-test={`import-suggest-${name}`} onClick={() => take(suggestion.type)}>
          {suggestion.type}?
        </button>
      )}
    </span>
  )
}

function Work({ work, name, close }: { work: Import; name: string; close: () => void }) {
  const s = useStore(work.state)
  return (
    <Dialog title={`Import ${name}`} close={() => (work.stop(), close())} test="import-work">
      <p aria-live="polite" data-test="import-progress">
        <b>{plural(s.done, "entity", "entities")} written</b>
        {s.skipped > 0 && `, ${count(s.skipped)} there already`}
        {s.dropped > 0 && `, ${count(s.dropped)} left out for later rows with the same keys`}
        {s.refused.length > 0 && `, ${count(s.refused.length)} refused`}
        {s.finished ? ". Finished." : s.running ? " …" : ". Stopped."}
      </p>
      {s.running && <progress aria-label="Working" />}
      {s.waiting && <p class="wrong">{s.waiting}</p>}
      {s.failure && <ErrorLine failure={s.failure} />}
      {s.refused.length > 0 && (
        <ul class="preview" data-test="import-refused">
          {s.refused.slice(0, 5).map((r) => (
            <li key={r.line} class="wrong">
              Line {r.line}: {r.wrong}
            </li>
          ))}
        </ul>
      )}
      <footer>
        {s.running ? (
          <button type="button" data-test="import-stop" onClick={() => work.stop()}>
            Stop
          </button>
        ) : (
          !s.finished && (
            <button type="button" class="main" data-test="import-go-on" onClick={() => void work.run()}>
              Resume
            </button>
          )
        )}
        {s.refused.length > 0 && (
          <button type="button" data-test="import-rejects" onClick={() => save(new Blob(s.refused.map((r) => JSON.stringify(r) + "\n")), "refused.jsonl")}>
            Save what was refused
          </button>
        )}
        {!s.running && (
          <button type="button" data-test="import-close" onClick={close}>
            Close
          </button>
        )}
      </footer>
    </Dialog>
  )
}
