// The home of an account: its tables, how it is, and what to do next.
import { useEffect, useMemo, useState } from "preact/hooks"
import type { Catalog } from "../model/catalog.ts"
import { Facts, mostAsked } from "../model/facts.ts"
import { go, toTable } from "../model/route.ts"
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import { plural } from "../model/words.ts"
import { Importing } from "../exchange/importing.tsx"
import { CreateTable } from "../ui/createtable.tsx"
import { Icon } from "../ui/icon.tsx"
import { Empty } from "../ui/parts.tsx"
import { begun } from "../traffic/hour.ts"
import { moment } from "../wire/date.ts"
import { Line } from "./line.tsx"
import { Next } from "./next.tsx"
import { Tiles } from "./tiles.tsx"

export function Home({ catalog, version, keys }: { catalog: Catalog; version: string; keys: () => void }) {
  const { service } = catalog
  const list = useStore(catalog.list)
  const facts = useMemo(() => new Facts(service), [service])
  const known = useStore(facts.of)
  const { zone } = useStore(look)
  const [dialog, setDialog] = useState<"create" | "import">()
  const { names, loading } = list
  useEffect(() => {
    if (!loading) void facts.load(names)
    return () => facts.stop()
  }, [facts, names, loading])
  const hours = [...known.values()].flatMap((f) => f.hour ?? [])
  const told = hours.length > 0
  const since = hours.map(begun).find((s) => s)
  const opens = (table: string | undefined) => {
    setDialog(undefined)
    if (table) (void catalog.load(), go(toTable(table)))
  }
  return (
    <main class="home" aria-label="Home" data-test="home-page">
      <header>
        <h1>{service.name}</h1>
        {!service.readOnly && (
          <>
            <button type="button" onClick={() => setDialog("import")} data-test="home-import">
              <Icon name="upload" /> Import a file
            </button>
            <button type="button" class="main" onClick={() => setDialog("create")} data-test="home-create">
              <Icon name="plus" /> Create a table
            </button>
          </>
        )}
      </header>
      <Tiles catalog={catalog} facts={known} countAll={() => void facts.countAll()} version={version} />
      <section aria-label="Tables of the account">
        {names.length > 0 ? (
          <div class="card flush">
            <table class="figures">
              <thead>
                <tr>
                  <th>Table</th>
                  <th>Entities</th>
                  <th class="wide-only">Size</th>
                  {told ? <th colSpan={2}>Entities used in the last hour</th> : <td colSpan={2} />}
                </tr>
              </thead>
              <tbody>
                {names.slice(0, mostAsked).map((name) => (
                  <Line key={name} table={name} fact={known.get(name)} told={told} />
                ))}
              </tbody>
            </table>
            {since && <p class="dim">Counted since {moment(Date.parse(since), zone)}; earlier traffic is unknown.</p>}
            {names.length > mostAsked && <p class="dim">{plural(names.length - mostAsked, "more table")} in the list at the left.</p>}
          </div>
        ) : loading ? (
          <p class="dim">Loading …</p>
        ) : list.failure ? (
          <div class="card">
            <Empty icon="gone" title="The tables cannot be listed." text={list.failure.message + (list.failure.forbids ? "" : ` ${list.failure.code}`)}>
              <button type="button" onClick={() => void catalog.load()}>
                <Icon name="refresh" /> Try again
              </button>
            </Empty>
          </div>
        ) : (
          <div class="card">
            <Empty icon="table" title="There are no tables yet." text="Create one here, import a file, or let a program create it: below is the connection that it needs.">
              {!service.readOnly && (
                <button type="button" class="main" onClick={() => setDialog("create")}>
                  <Icon name="plus" /> Create the first table
                </button>
              )}
            </Empty>
          </div>
        )}
      </section>
      <Next service={service} example={names[0]} keys={keys} />
      {names.length > 0 && !told && <p class="dim small">This service does not report its traffic here. The page Traffic of a table says which services do.</p>}
      {dialog === "create" && <CreateTable service={service} close={() => setDialog(undefined)} created={opens} />}
      {dialog === "import" && <Importing service={service} table="" close={opens} />}
      <span class="unseen" aria-live="polite">
        {!loading && !list.failure && plural(names.length, "table")}
      </span>
    </main>
  )
}
