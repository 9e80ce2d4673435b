// CORS rules, and what the service logs and counts.
import { useEffect, useState } from "preact/hooks"
import type { Service } from "../wire/client.ts"
import { ErrorLine } from "../ui/parts.tsx"
import { type Counted, type Properties, type Rule, getProperties, mostRules, pageRule, setProperties } from "./settings.ts"

export function ServiceProperties({ service, part }: { service: Service; part: "cors" | "service" }) {
  const [now, setNow] = useState<Properties>()
  const [failure, setFailure] = useState<Error>()
  const [saved, setSaved] = useState(false)
  const load = () => {
    setFailure(undefined)
    getProperties(service).then(setNow, setFailure)
  }
  useEffect(load, [service])
  const change = (p: Partial<Properties>) => {
    setSaved(false)
    setNow({ ...now!, ...p })
  }
  const save = (e: Event) => {
    e.preventDefault()
    setFailure(undefined)
    setProperties(service, now!).then(() => setSaved(true), setFailure)
  }
  return (
    <form onSubmit={save} data-test="service">
      {failure && <ErrorLine failure={failure} retry={now ? undefined : load} />}
      {now && (
        <fieldset class="bare" disabled={service.readOnly}>
          {part === "cors" ? <Cors rules={now.rules} change={(rules) => change({ rules })} /> : <Recording now={now} change={change} />}
        </fieldset>
      )}
      {now && !service.readOnly && (
        <footer>
          {part === "cors" && (
            <>
              <button type="button" data-test="cors-add" disabled={now.rules.length >= mostRules} onClick={() => change({ rules: [...now.rules, pageRule("https://")] })}>
                Add a rule
              </button>
              <button type="button" data-test="cors-page" disabled={now.rules.length >= mostRules} onClick={() => change({ rules: [...now.rules, pageRule(location.origin)] })}>
                Allow this page
              </button>
            </>
          )}
          <button type="submit" class="main" data-test="service-save">
            Save
          </button>
          <span role="status">{saved && "Saved."}</span>
        </footer>
      )}
    </form>
  )
}

const ruleFields: [keyof Rule, string][] = [
  ["origins", "Origins, with commas between"],
  ["methods", "Methods"],
  ["allowed", "Headers that requests may have"],
  ["exposed", "Headers that pages may read"],
  ["seconds", "Seconds for which a browser caches the response"],
]

function Cors({ rules, change }: { rules: Rule[]; change: (rules: Rule[]) => void }) {
  return (
    <>
      <p class="dim">A page of another origin may use this account only if a rule allows it. The first rule that matches applies; at most {mostRules} rules are allowed.</p>
      {rules.map((rule, i) => (
        <fieldset key={i}>
          <legend>Rule {i + 1}</legend>
          {ruleFields.map(([name, label]) => (
            <label key={name}>
              {label}
              <input value={rule[name]} spellcheck={false} data-test={`cors-${name}`} onInput={(e) => change(rules.map((r, n) => (n === i ? { ...r, [name]: e.currentTarget.value.trim() } : r)))} />
            </label>
          ))}
          <p class={rule.origins === "*" ? "warning" : "dim"}>
            {rule.origins === "*" ? "Pages of every origin may send requests." : `Pages of ${rule.origins || "no origin"} may send ${rule.methods || "no"} requests.`} They still need a key or a token.
          </p>
          <div class="bar">
            <button type="button" class="danger" onClick={() => change(rules.filter((_, n) => n !== i))}>
              Remove
            </button>
          </div>
        </fieldset>
      ))}
    </>
  )
}

function Recording({ now, change }: { now: Properties; change: (p: Partial<Properties>) => void }) {
  const check = (label: string, on: boolean, set: (on: boolean) => void) => (
    <label class="check">
      <input type="checkbox" checked={on} onChange={(e) => set(e.currentTarget.checked)} /> {label}
    </label>
  )
  const days = (value: string, set: (days: string) => void) => (
    <label class="check">
      keep <input type="number" min={1} max={365} value={value} placeholder="all" onInput={(e) => set(e.currentTarget.value)} /> days
    </label>
  )
  const { logging } = now
  const counted = (label: string, name: "hours" | "minutes", c: Counted) => (
    <fieldset>
      <legend>{label}</legend>
      {check("Count requests", c.on, (on) => change({ [name]: { ...c, on } }))}
      {c.on && check("for each operation", c.apis, (apis) => change({ [name]: { ...c, apis } }))}
      {days(c.days, (d) => change({ [name]: { ...c, days: d } }))}
    </fieldset>
  )
  return (
    <>
      <p class="dim">Azure Storage applies these settings. edgetable only stores them for clients that read them; its own log and metrics are configured on the server.</p>
      <fieldset>
        <legend>Log</legend>
        {(["read", "write", "delete"] as const).map((name) => check(`${name[0]!.toUpperCase()}${name.slice(1)}s`, logging[name], (on) => change({ logging: { ...logging, [name]: on } })))}
        {days(logging.days, (d) => change({ logging: { ...logging, days: d } }))}
      </fieldset>
      {counted("By the hour", "hours", now.hours)}
      {counted("By the minute", "minutes", now.minutes)}
    </>
  )
}
