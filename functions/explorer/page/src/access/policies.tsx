// The stored access policies of a table, at most five.
import { useEffect, useState } from "preact/hooks"
import type { Service } from "../wire/client.ts"
import { ErrorLine } from "../ui/parts.tsx"
import { type Policy, getPolicies, mostPolicies, setPolicies } from "./settings.ts"

const letters = { r: "Read", a: "Insert", u: "Update", d: "Delete" }

export function Policies({ service, table }: { service: Service; table: string }) {
  const [list, setList] = useState<Policy[]>()
  const [failure, setFailure] = useState<Error>()
  const [saved, setSaved] = useState(false)
  const load = () => {
    setFailure(undefined)
    getPolicies(service, table).then(setList, setFailure)
  }
  useEffect(() => {
    if (table) load()
  }, [service, table])
  if (!table) return <p class="dim">Choose a table first: policies belong to a table.</p>
  const change = (i: number, part: Partial<Policy>) => {
    setSaved(false)
    setList(list!.map((p, n) => (n === i ? { ...p, ...part } : p)))
  }
  const twice = new Set(list?.map((p) => p.id)).size < (list?.length ?? 0) || list?.some((p) => !p.id)
  const save = (e: Event) => {
    e.preventDefault()
    setFailure(undefined)
    setPolicies(service, table, list!).then(() => setSaved(true), setFailure)
  }
  return (
    <form onSubmit={save} data-test="policies">
      <p class="dim">A token that names a policy of table {table} uses the times and permissions of the policy. If the policy is deleted, the token becomes invalid.</p>
      {failure && <ErrorLine failure={failure} retry={list ? undefined : load} />}
      {list?.map((p, i) => (
        <fieldset key={i} disabled={service.readOnly}>
          <legend>Policy {i + 1}</legend>
          <div class="pair">
            <label>
              Name
              <input value={p.id} maxLength={64} data-test="policy-id" onInput={(e) => change(i, { id: e.currentTarget.value })} />
            </label>
            <label>
              From
              <input value={p.start} placeholder="as the token says" onInput={(e) => change(i, { start: e.currentTarget.value.trim() })} />
            </label>
            <label>
              Until
              <input value={p.expiry} placeholder="as the token says" data-test="policy-expiry" onInput={(e) => change(i, { expiry: e.currentTarget.value.trim() })} />
            </label>
          </div>
          <div class="bar">
            {Object.entries(letters).map(([l, label]) => (
              <label key={l} class="check">
                <input type="checkbox" checked={p.permissions.includes(l)} onChange={(e) => change(i, { permissions: [..."raud"].filter((c) => (c === l ? e.currentTarget.checked : p.permissions.includes(c))).join("") })} /> {label}
              </label>
            ))}
            <span class="grow" />
            <button type="button" class="danger" data-test="policy-remove" onClick={() => (setSaved(false), setList(list.filter((_, n) => n !== i)))}>
              Remove
            </button>
          </div>
        </fieldset>
      ))}
      {list && !service.readOnly && (
        <footer>
          <button type="button" data-test="policy-add" disabled={list.length >= mostPolicies} onClick={() => setList([...list, { id: "", start: "", expiry: "", permissions: "r" }])}>
            Add a policy
          </button>
          <button type="submit" class="main" data-test="policy-save" disabled={twice}>
            Save
          </button>
          <span role="status">{saved && "Saved. It takes up to 30 seconds until all servers use the new policies."}</span>
        </footer>
      )}
    </form>
  )
}
