import { useState } from "preact/hooks"
import { type Kept, ran, save, saved, unsave } from "../model/history.ts"
import type { Service } from "../wire/client.ts"
import { Icon } from "./icon.tsx"
import { Menu } from "./parts.tsx"

interface Props {
  service: Service
  table: string
  current: Kept
  run: (q: Kept) => void
}

export function HistoryMenu(p: Props) {
  return (
    <Menu icon="clock" label="Queries" test="history" title="Saved queries and history">
      {(close) => <List {...p} run={(q) => (p.run(q), close())} />}
    </Menu>
  )
}

function List({ service, table, current, run }: Props) {
  const [name, setName] = useState("")
  const [, again] = useState(0)
  const own = saved(service.name, table)
  const old = ran(service.name, table)
  const line = (q: Kept) => [q.filter || "all entities", q.select && `→ ${q.select}`].filter(Boolean).join(" ")
  return (
    <div class="queries">
      <form
        class="bar"
        onSubmit={(e) => {
          e.preventDefault()
          if (name) save(service.name, table, { ...current, name })
          setName("")
          again(Date.now())
        }}
      >
        <input placeholder="Save this query as …" aria-label="Name of the query" value={name} data-test="save-name" onInput={(e) => setName(e.currentTarget.value)} />
        <button type="submit" disabled={!name} data-test="save">
          <Icon name="save" /> Save
        </button>
      </form>
      {own.map((q) => (
        <div class="line" key={q.name}>
          <button type="button" class="plain" title={line(q)} data-test="saved" onClick={() => run(q)}>
            <b>{q.name}</b> <code class="dim">{line(q)}</code>
          </button>
          <button type="button" class="plain" aria-label={`Remove ${q.name}`} onClick={() => (unsave(service.name, table, q.name!), again(Date.now()))}>
            <Icon name="close" />
          </button>
        </div>
      ))}
      <h2>History</h2>
      {old.length === 0 && <p class="dim">Queries with a filter appear here.</p>}
      {old.map((q) => (
        <div class="line" key={line(q)}>
          <button type="button" class="plain" title={line(q)} data-test="ran" onClick={() => run(q)}>
            <code>{line(q)}</code>
          </button>
        </div>
      ))}
    </div>
  )
}
