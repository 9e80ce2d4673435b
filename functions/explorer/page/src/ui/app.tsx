// The page: the account at the top, tables at the left, one table in the middle.
import { useEffect, useState } from "preact/hooks"
import { unsaved } from "../model/draft.ts"
import { go, route } from "../model/route.ts"
import { type Session, begin } from "../model/session.ts"
import { useStore } from "../model/store.ts"
import type { Home } from "../wire/client.ts"
import { Access } from "../access/access.tsx"
import { Browse } from "./browse.tsx"
import { Connect } from "./connect.tsx"
import { Help } from "./help.tsx"
import { ErrorLine } from "./parts.tsx"
import { Tables } from "./tables.tsx"
import { Traffic } from "../traffic/traffic.tsx"
import { Top } from "./top.tsx"

export function App() {
  const [session, setSession] = useState<Session>()
  const [failure, setFailure] = useState<Error>()
  const [own, setOwn] = useState<Home>()
  const [help, setHelp] = useState(false)
  const [lists, setLists] = useState(0)
  const at = useStore(route)
  const start = () => {
    setFailure(undefined)
    begin().then(setSession, setFailure)
  }
  useEffect(start, [])
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const typing = (e.target as Element).closest("input, textarea, select, dialog")
      if (e.key === "k" && (e.ctrlKey || e.metaKey)) {
        e.preventDefault()
        document.getElementById("table-filter")?.focus()
      } else if (e.key === "?" && !typing) setHelp(true)
    }
    const stay = (e: BeforeUnloadEvent) => unsaved() && e.preventDefault()
    window.addEventListener("keydown", onKey)
    window.addEventListener("beforeunload", stay)
    return () => {
      window.removeEventListener("keydown", onKey)
      window.removeEventListener("beforeunload", stay)
    }
  }, [])

  const homes = session?.homes ?? (own ? [own] : [])
  const home = homes.find((h) => h.name === at.home) ?? (homes.length === 1 ? homes[0] : undefined)
  useEffect(() => {
    if (home && at.home !== home.name) go({ home: home.name }, true)
    document.title = [at.table, home?.name, "edgetable"].filter(Boolean).join(" · ")
  }, [home, at.home, at.table])

  return (
    <>
      <Top homes={homes} home={home} version={session?.version ?? ""} disconnect={own && (() => setOwn(undefined))} access={() => go({ access: "token" })} help={() => setHelp(true)} />
      {failure && <ErrorLine failure={failure} retry={start} />}
      {session && !session.homes && !own ? (
        <Connect connected={(h) => (setOwn(h), go({ home: h.name }, true))} />
      ) : (
        home && (
          <div class="work">
            <Tables key={home.name + lists} home={home} />
            {at.table && at.view === "traffic" ? (
              <Traffic key={home.name + "/" + at.table} home={home} table={at.table} />
            ) : at.table ? (
              <Browse key={home.name + "/" + at.table} home={home} homes={homes} at={at} reload={() => setLists(lists + 1)} />
            ) : (
              <main class="blank dim">
                <h1>Choose a table.</h1>
              </main>
            )}
          </div>
        )
      )}
      {session?.homes && !home && <main class="blank dim">{homes.length ? "Choose an account above." : "There are no profiles yet: 'edgetable profile add' makes one."}</main>}
      {at.access && home && <Access key={home.name} home={home} table={at.table} part={at.access} close={() => go({ access: "" })} />}
      {help && <Help close={() => setHelp(false)} version={session?.version ?? ""} />}
    </>
  )
}
