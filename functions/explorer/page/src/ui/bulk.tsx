// Work on all results of the query.
import { useState } from "preact/hooks"
import { Bulk, type Job, type Plan, forget, unfinished } from "../model/bulk.ts"
import { useStore } from "../model/store.ts"
import type { Service } from "../wire/client.ts"
import { goodTable, propertyProblem } from "../wire/names.ts"
import { check, types, type Type } from "../wire/value.ts"
import { first } from "../query/builder.ts"
import { count, plural } from "../model/words.ts"
import type { IconName } from "./icon.tsx"
import { Choice, Dialog, ErrorLine, Menu } from "./parts.tsx"

interface Props {
  service: Service
  services: Service[]
  table: string
  filter: string
  done: () => void
}

const titles = { delete: "Delete all results", set: "Set a property of all results", copy: "Copy all results to a table" }
const icons: Record<Plan["kind"], IconName> = { delete: "trash", set: "edit", copy: "clone" }
const doing = { delete: "deleted", set: "changed", copy: "copied" }

export function BulkMenu(p: Props) {
  const [kind, setKind] = useState<Plan["kind"]>()
  const [bulk, setBulk] = useState<Bulk>()
  const left = unfinished(p.service, p.table)
  const begin = (job: Job, resumed = false) => {
    const plan = job.plan
    const target = plan.kind === "copy" ? p.services.find((h) => h.name === plan.service) : p.service
    if (!target) return
    const b = new Bulk(p.service, p.table, job, target, resumed)
    setKind(undefined)
    setBulk(b)
    void b.run()
  }
  return (
    <>
      <Menu icon="layers" label="All results" test="bulk" title="Work on everything the query finds, loaded or not">
        {(close) => (
          <div class="choices">
            {(["set", "copy", "delete"] as const).map(
              (k) =>
                (k === "copy" || !p.service.readOnly) && (
                  <Choice icon={icons[k]} key={k} test={`bulk-${k}`} danger={k === "delete"} act={() => (setKind(k), close())}>
                    {titles[k]} …
                  </Choice>
                ),
            )}
            {left && (
              <Choice icon="run" test="bulk-resume" act={() => (begin(left, true), close())}>
                Resume: {count(left.done)} {doing[left.plan.kind]} so far
              </Choice>
            )}
            {left && (
              <Choice icon="close" test="bulk-forget" act={() => (forget(p.service, p.table), close())}>
                Give up what was stopped
              </Choice>
            )}
          </div>
        )}
      </Menu>
      {kind && <Ask {...p} kind={kind} close={() => setKind(undefined)} begin={(plan) => begin({ plan, filter: p.filter, next: undefined, done: 0, skipped: 0 })} />}
      {bulk && <Work bulk={bulk} close={() => (bulk.stop(), setBulk(undefined), p.done())} />}
    </>
  )
}

function Ask({ kind, service, services, table, filter, close, begin }: Props & { kind: Plan["kind"]; close: () => void; begin: (plan: Plan) => void }) {
  const [confirm, setConfirm] = useState("")
  const [name, setName] = useState("")
  const [value, setValue] = useState({ type: "String" as Type, text: "" })
  const writable = services.filter((h) => !h.readOnly)
  const [to, setTo] = useState(writable.find((h) => h.name === service.name)?.name ?? writable[0]?.name ?? "")
  const [target, setTarget] = useState("")
  const [existing, setExisting] = useState<"replace" | "skip">("skip")
  const wrong = check(value)
  const same = to === service.name && target.toLowerCase() === table.toLowerCase()
  const ready = kind === "delete" ? confirm === table : kind === "set" ? !propertyProblem(name) && !wrong && !["PartitionKey", "RowKey", "Timestamp"].includes(name) : !!to && goodTable(target) && !same
  const submit = (e: Event) => {
    e.preventDefault()
    if (ready) begin(kind === "delete" ? { kind } : kind === "set" ? { kind, name, value } : { kind, service: to, table: target, existing })
  }
  return (
    <Dialog title={titles[kind]} close={close} test="bulk-ask">
      <form onSubmit={submit}>
        <p>
          This is for <b>everything</b> in {table} {filter ? <>that matches <code>{filter}</code></> : "(there is no filter)"}, loaded or not. What others change meanwhile is left alone.
        </p>
        {kind === "delete" && (
          <label>
            Type the name of the table to confirm
            <input autoFocus value={confirm} data-test="confirm" placeholder={table} onInput={(e) => setConfirm(e.currentTarget.value)} />
          </label>
        )}
        {kind === "set" && (
          <div class="condition">
            <input aria-label="Property" placeholder="Property" value={name} data-test="set-name" onInput={(e) => setName(e.currentTarget.value)} />
            <select aria-label="Type" value={value.type} data-test="set-type" onChange={(e) => setValue({ type: e.currentTarget.value as Type, text: value.text || first[e.currentTarget.value as Type] })}>
              {types.map((t) => (
                <option key={t}>{t}</option>
              ))}
            </select>
            <input aria-label="Value" value={value.text} aria-invalid={!!wrong} data-test="set-value" onInput={(e) => setValue({ ...value, text: e.currentTarget.value })} />
          </div>
        )}
        {kind === "set" && wrong && <p class="wrong">{wrong}</p>}
        {kind === "copy" && (
          <>
            <label>
              Account
              <select value={to} data-test="copy-account" onChange={(e) => setTo(e.currentTarget.value)}>
                {writable.map((h) => (
                  <option key={h.name}>{h.name}</option>
                ))}
              </select>
            </label>
            <label>
              Table, which exists
              <input value={target} data-test="copy-table" onInput={(e) => setTarget(e.currentTarget.value)} />
            </label>
            <label>
              Entities that are there already
              <select value={existing} data-test="copy-existing" onChange={(e) => setExisting(e.currentTarget.value as "replace" | "skip")}>
                <option value="skip">stay as they are</option>
                <option value="replace">are replaced</option>
              </select>
            </label>
          </>
        )}
        <footer>
          <button type="submit" class={kind === "delete" ? "danger" : "main"} data-test="bulk-begin" disabled={!ready}>
            {titles[kind]}
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

function Work({ bulk, close }: { bulk: Bulk; close: () => void }) {
  const s = useStore(bulk.state)
  const [stopping, setStopping] = useState(false)
  return (
    <Dialog title={titles[s.plan.kind]} close={close} test="bulk-work">
      <p aria-live="polite" data-test="bulk-progress">
        <b>
          {plural(s.done, "entity", "entities")} {doing[s.plan.kind]}
        </b>
        {s.skipped > 0 && `, ${count(s.skipped)} left as ${s.skipped === 1 ? "it is" : "they are"} (changed by others, or there already)`}
        {s.finished ? ". Finished." : !s.running ? ". Stopped; it can resume here, or later from the menu." : stopping ? ", stopping …" : " …"}
      </p>
      {s.running && <progress aria-label="Working" />}
      {s.waiting && <p class="wrong">{s.waiting}</p>}
      {s.failure && <ErrorLine failure={s.failure} />}
      <footer>
        {s.running ? (
          <button type="button" data-test="bulk-stop" disabled={stopping} onClick={() => (setStopping(true), bulk.stop())}>
            Stop
          </button>
        ) : (
          !s.finished && (
            <button type="button" class="main" data-test="bulk-go-on" onClick={() => (setStopping(false), void bulk.run())}>
              Resume
            </button>
          )
        )}
        {!s.running && (
          <button type="button" data-test="bulk-close" onClick={close}>
            Close
          </button>
        )}
      </footer>
    </Dialog>
  )
}
