// The page: the account at the top, tables at the left, one table in the middle.
import { useEffect, useState } from "preact/hooks"
import { unsaved } from "../model/draft.ts"
import { go, route } from "../model/route.ts"
import { leaveWindow, ofWindow } from "../model/keyring.ts"
import { type Session, begin } from "../model/session.ts"
import { useStore } from "../model/store.ts"
import { type Service, direct } from "../wire/client.ts"
import { signWith } from "../wire/sign.ts"
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
  const [own, setOwn] = useState<Service>()
  const [help, setHelp] = useState(false)
  const [lists, setLists] = useState(0)
  const at = useStore(route)
  const start = () => {
    setFailure(undefined)
    begin().then(async (s) => {
      // A window that is loaded again goes on with its account.
      const k = s.services ? undefined : await ofWindow()
      if (k) setOwn(direct({ account: k.account, endpoint: k.endpoint }, signWith(k.key)))
      setSession(s)
    }, setFailure)
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

  const services = session?.services ?? (own ? [own] : [])
  const service = services.find((h) => h.name === at.service) ?? (services.length === 1 ? services[0] : undefined)
  useEffect(() => {
    if (service && at.service !== service.name) go({ service: service.name }, true)
    document.title = [at.table, service?.name, "edgetable"].filter(Boolean).join(" · ")
  }, [service, at.service, at.table])

  return (
    <>
      <Top services={services} service={service} version={session?.version ?? ""} disconnect={own && (() => (setOwn(undefined), void leaveWindow()))} access={() => go({ access: "token" })} help={() => setHelp(true)} />
      {failure && <ErrorLine failure={failure} retry={start} />}
      {session && !session.services && !own ? (
        <Connect hasDevelopment={!!session.development} connected={(h) => (setOwn(h), go({ service: h.name }, true))} />
      ) : (
        service && (
          <div class="work">
            <Tables key={service.name + lists} service={service} />
            {at.table && at.view === "traffic" ? (
              <Traffic key={service.name + "/" + at.table} service={service} table={at.table} />
            ) : at.table ? (
              <Browse key={service.name + "/" + at.table} service={service} services={services} at={at} reload={() => setLists(lists + 1)} />
            ) : (
              <main class="blank dim">
                <h1>Choose a table.</h1>
              </main>
            )}
          </div>
        )
      )}
      {session?.services && !service && <main class="blank dim">{services.length ? "Choose an account above." : "There are no profiles yet: 'edgetable profile add' makes one."}</main>}
      {at.access && service && <Access key={service.name} service={service} table={at.table} part={at.access} close={() => go({ access: "" })} />}
      {help && <Help close={() => setHelp(false)} version={session?.version ?? ""} />}
    </>
  )
}
