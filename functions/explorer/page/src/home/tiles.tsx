// How the account is, in five figures.
import { useEffect, useState } from "preact/hooks"
import type { ComponentChildren } from "preact"
import type { Catalog } from "../model/catalog.ts"
import { type Fact, mostAsked } from "../model/facts.ts"
import { useAgain, useStore } from "../model/store.ts"
import { count } from "../model/words.ts"
import { used } from "../traffic/hour.ts"
import { Icon } from "../ui/icon.tsx"
import { ready } from "../wire/ready.ts"

interface Props {
  catalog: Catalog
  facts: ReadonlyMap<string, Fact>
  countAll: () => void
  version: string
}

export function Tiles({ catalog, facts, countAll, version }: Props) {
  const list = useStore(catalog.list)
  const [trouble, setTrouble] = useState("")
  useEffect(() => void ready(catalog.service).then(setTrouble), [catalog, list.ms])
  const all = [...facts.values()]
  const hours = all.flatMap((f) => f.hour ?? [])
  const asked = Math.min(list.names.length, mostAsked)
  const read = all.filter((f) => f.rows !== undefined || f.missing).length === asked
  const part = asked < list.names.length ? `in ${asked} of ${count(list.names.length)} tables` : ""
  return (
    <dl class="tiles">
      <Tile name="Health" test="health">
        {(list.failure && !list.failure.forbids) || trouble ? (
          <span class="bad">
            <Icon name="warning" /> {trouble || (list.failure?.status ? `Answers ${list.failure.status} ${list.failure.code}` : "Does not answer")}
          </span>
        ) : list.ms === undefined ? (
          "…"
        ) : (
          <span class="good">
            <Icon name="well" /> Answers in {list.ms < 1 ? "less than 1" : count(Math.round(list.ms))} ms
          </span>
        )}
      </Tile>
      <Tile name="Tables">{list.loading ? "…" : list.failure ? "–" : count(list.names.length)}</Tile>
      <Tile name="Entities" test="entities">
        {list.failure ? "–" : list.loading || !read ? "…" : <Entities facts={all} countAll={countAll} />}
        {read && part && <small> {part}</small>}
      </Tile>
      {hours.length > 0 && (
        <Tile name="Used in the last hour" test="used">
          {count(hours.reduce((n, h) => n + used(h), 0))}
          {(part || hours.length < asked) && <small> {part || `in ${hours.length} of ${asked} tables`}</small>}
        </Tile>
      )}
      {version && <Tile name="Version"><span>{version.split(" ")[0]}</span></Tile>}
    </dl>
  )
}

/** Entities is the sum of all tables, once each is counted. */
function Entities({ facts, countAll }: { facts: Fact[]; countAll: () => void }) {
  const again = useAgain()
  const counts = facts.flatMap((f) => f.count ?? [])
  useEffect(() => {
    const ends = counts.map((c) => c.state.subscribe(again))
    return () => ends.forEach((end) => end())
  }, [facts.length, counts.length])
  const sum = facts.reduce((n, f) => n + (f.count ? Math.max(f.rows ?? 0, f.count.state.value.count) : (f.rows ?? 0)), 0)
  if (counts.every((c) => c.done)) return <>{count(sum)}</>
  if (counts.some((c) => c.state.value.running)) return <>{count(sum)} …</>
  return (
    <button type="button" class="link" title={`At least ${count(sum)}. Counts all by reading their keys`} data-test="count-all" onClick={countAll}>
      Count them
    </button>
  )
}

function Tile({ name, test, children }: { name: string; test?: string; children: ComponentChildren }) {
  return (
    <div data-test={test}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
