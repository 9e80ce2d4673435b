// A form for a shared access signature. It says in words what the token permits before it is made.
import { useEffect, useState } from "preact/hooks"
import type { Service } from "../wire/client.ts"
import { CopyButton, ErrorLine } from "../ui/parts.tsx"
import { getPolicies } from "./settings.ts"
import { type Grant, makeToken, urlOf, words, wrong } from "./sas.ts"

const tableLetters = { r: "Read", a: "Insert", u: "Update", d: "Delete" }
const accountLetters = { ...tableLetters, l: "List tables", c: "Create tables", w: "Change the service" }
const resources = { o: "Entities", c: "Tables", s: "Service" }
const spans: [string, number][] = [["1 hour", 1], ["1 day", 24], ["7 days", 168], ["30 days", 720], ["1 year", 8760]]

const after = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19) + "Z"

export function TokenForm({ service, table }: { service: Service; table: string }) {
  const [grant, setGrant] = useState<Grant>({
    table, permissions: "r", resources: "oc", start: "", expiry: after(24), ip: "", httpsOnly: service.endpoint.startsWith("https:"), policy: "", fromPk: "", fromRk: "", toPk: "", toRk: "",
  })
  const [policies, setPolicies] = useState<string[]>([])
  const [made, setMade] = useState("")
  const [failure, setFailure] = useState<Error>()
  useEffect(() => {
    if (grant.table) getPolicies(service, grant.table).then((list) => setPolicies(list.map((p) => p.id)), () => setPolicies([]))
  }, [service, grant.table])
  const change = (part: Partial<Grant>) => {
    setGrant({ ...grant, ...part })
    setMade("")
  }
  const letters = (name: "permissions" | "resources", all: Record<string, string>) =>
    Object.entries(all).map(([letter, label]) => (
      <label key={letter} class="check">
        <input
          type="checkbox"
          data-test={`sas-${name}-${letter}`}
          checked={grant[name].includes(letter)}
          onChange={(e) => change({ [name]: e.currentTarget.checked ? grant[name] + letter : grant[name].replace(letter, "") })}
        />{" "}
        {label}
      </label>
    ))
  const field = (name: "start" | "expiry" | "ip" | "fromPk" | "fromRk" | "toPk" | "toRk", label: string, placeholder = "") => (
    <label>
      {label}
      <input value={grant[name]} placeholder={placeholder} spellcheck={false} data-test={`sas-${name}`} onInput={(e) => change({ [name]: /k$/.test(name) ? e.currentTarget.value : e.currentTarget.value.trim() })} />
    </label>
  )
  if (!service.sign)
    return <p data-test="no-key">{service.readOnly ? "This profile is read-only, so it cannot create tokens." : "A token cannot make other tokens. Open the account with its key."}</p>
  const problem = wrong(grant)
  const submit = async (e: Event) => {
    e.preventDefault()
    setFailure(undefined)
    await makeToken(service.account, grant, service.sign!).then((token) => setMade(urlOf(service, grant, token)), setFailure)
  }
  return (
    <form onSubmit={submit} data-test="sas">
      <fieldset>
        <legend>For</legend>
        {table && (
          <label class="check">
            <input type="radio" name="scope" checked={grant.table === table} onChange={() => change({ table, permissions: "r" })} /> Table {table}
          </label>
        )}
        <label class="check">
          <input type="radio" name="scope" data-test="sas-account" checked={!grant.table} onChange={() => change({ table: "", permissions: "rl", policy: "", fromPk: "", fromRk: "", toPk: "", toRk: "" })} /> The whole account
        </label>
        {!grant.table && letters("resources", resources)}
      </fieldset>
      <fieldset>
        <legend>Permits</legend>
        {letters("permissions", grant.table ? tableLetters : accountLetters)}
      </fieldset>
      {grant.table && policies.length > 0 && (
        <label>
          Stored access policy
          <select value={grant.policy} data-test="sas-policy" onChange={(e) => change({ policy: e.currentTarget.value, ...(e.currentTarget.value ? { permissions: "", start: "", expiry: "" } : { permissions: "r", expiry: after(24) }) })}>
            <option value="">none</option>
            {policies.map((id) => (
              <option key={id}>{id}</option>
            ))}
          </select>
        </label>
      )}
      <div class="pair">
        {field("start", "From", "at once")}
        {field("expiry", "Until", "as the policy says")}
      </div>
      <div class="bar" role="group" aria-label="How long">
        {spans.map(([label, hours]) => (
          <button key={label} type="button" onClick={() => change({ expiry: after(hours) })}>
            {label}
          </button>
        ))}
      </div>
      <details>
        <summary>Addresses, protocol{grant.table && ", keys"}</summary>
        <div class="pair">
          {field("ip", "Addresses", "any")}
          <label class="check">
            <input type="checkbox" checked={grant.httpsOnly} onChange={(e) => change({ httpsOnly: e.currentTarget.checked })} /> Only over https
          </label>
        </div>
        {grant.table && (
          <>
            <div class="pair">
              {field("fromPk", "First PartitionKey", "no bound")}
              {field("fromRk", "First RowKey", "no bound")}
            </div>
            <div class="pair">
              {field("toPk", "Last PartitionKey", "no bound")}
              {field("toRk", "Last RowKey", "no bound")}
            </div>
          </>
        )}
      </details>
      <ul class="words" data-test="sas-words" aria-live="polite">
        {(problem ? [problem] : words(grant)).map((line) => (
          <li key={line} class={problem && "wrong"}>
            {line}
          </li>
        ))}
      </ul>
      {failure && <ErrorLine failure={failure} />}
      <footer>
        <button type="submit" class="main" data-test="sas-make" disabled={!!problem}>
          Make the token
        </button>
        {made && <CopyButton text={() => made} label="Copy the URL" test="sas-copy" />}
      </footer>
      {made && <pre class="code made" data-test="sas-url" tabIndex={0}>{made}</pre>}
    </form>
  )
}
