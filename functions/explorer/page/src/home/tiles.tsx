// How the account is, in five figures.
import { useEffect, useState } from "preact/hooks"
import type { ComponentChildren } from "preact"
import type { Catalog } from "../model/catalog.ts"
import type { Fact } from "../model/facts.ts"
import { useStore } from "../model/store.ts"
import { count } from "../model/words.ts"
import { Icon } from "../ui/icon.tsx"
import { ready } from "../wire/ready.ts"

export function Tiles({ catalog, facts, version }: { catalog: Catalog; facts: ReadonlyMap<string, Fact>; version: string }) {
  const list = useStore(catalog.list)
  const [trouble, setTrouble] = useState("")
  useEffect(() => void ready(catalog.service).then(setTrouble), [catalog, list.ms])
  const all = [...facts.values()]
  const hours = all.flatMap((f) => f.hour ?? [])
  const more = all.some((f) => f.more) || list.names.length > facts.size
  return (
    <dl class="tiles">
      <Tile name="Health" test="health">
        {list.failure || trouble ? (
          <span class="bad">
            <Icon name="warning" /> {trouble || "Does not answer"}
          </span>
        ) : list.ms === undefined ? (
          "…"
        ) : (
          <span class="good">
            <Icon name="well" /> Answers in {list.ms < 1 ? "less than 1" : count(Math.round(list.ms))} ms
          </span>
        )}
      </Tile>
      <Tile name="Tables">{list.loading ? "…" : count(list.names.length)}</Tile>
      <Tile name="Entities">{all.some((f) => f.rows !== undefined) ? `${count(all.reduce((n, f) => n + (f.rows ?? 0), 0))}${more ? "+" : ""}` : list.loading || list.names.length ? "…" : "0"}</Tile>
      {hours.length > 0 && <Tile name="Used in the last hour">{count(hours.reduce((a, b) => a + b, 0))}</Tile>}
      {version && <Tile name="Version"><span>{version.split(" ")[0]}</span></Tile>}
    </dl>
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
