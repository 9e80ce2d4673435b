// The page: the account at the top, tables at the left, one table or the home of the account in the middle.
import { useEffect, useMemo, useState } from "preact/hooks"
import { Catalog } from "../model/catalog.ts"
import { drafts, lost, unsaved, unsavedTexts } from "../model/draft.ts"
import { go, route, toTable } from "../model/route.ts"
import { leaveWindow, ofWindow } from "../model/keyring.ts"
import { type Session, begin } from "../model/session.ts"
import { useStore } from "../model/store.ts"
import { type Service, direct } from "../wire/client.ts"
import { signWith } from "../wire/sign.ts"
import { Access } from "../access/access.tsx"
import { Accounts } from "../home/accounts.tsx"
import { Home } from "../home/home.tsx"
import { OptionsView } from "../options/tab.tsx"
import { Browse } from "./browse.tsx"
import { Connect } from "./connect.tsx"
import { Help } from "./help.tsx"
import { ErrorLine } from "./parts.tsx"
import { sidebar, toggleSidebar, useNarrow } from "./shell.ts"
import { Tables } from "./tables.tsx"
import { Traffic } from "../traffic/traffic.tsx"
import { Top } from "./top.tsx"

export function App() {
  const [session, setSession] = useState<Session>()
  const [failure, setFailure] = useState<Error>()
  const [own, setOwn] = useState<Service>()
  const [help, setHelp] = useState(false)
  const at = useStore(route)
  const start = () => {
    setFailure(undefined)
    begin().then(async (s) => {
      // A window that is loaded again goes on with its account.
      const k = s.services ? undefined : await ofWindow()
      if (k) setOwn(direct({ account: k.account, endpoint: k.endpoint }, signWith(k.key)))
      setSession(s)
      setFailure(s.refused)
    }, setFailure)
  }
  useEffect(start, [])
  useKeys(() => setHelp(true))

  const services = session?.services ?? (own ? [own] : [])
  const service = services.find((h) => h.name === at.service) ?? (services.length === 1 ? services[0] : undefined)
  useEffect(() => {
    if (service && at.service !== service.name) go({ service: service.name }, true)
    document.title = [at.table, service?.name, "edgetable"].filter(Boolean).join(" · ")
  }, [service, at.service, at.table])

  const disconnect = () => {
    if (unsaved() && !confirm("Some changes are not saved. Disconnect and lose them?")) return
    drafts.clear()
    unsavedTexts.clear()
    lost.set([])
    setOwn(undefined)
    void leaveWindow()
  }
  return (
    <>
      <Top services={services} service={service} version={session?.version ?? ""} disconnect={own && disconnect} access={() => go({ access: "token" })} help={() => setHelp(true)} />
      {failure && <ErrorLine failure={failure} retry={start} />}
      {session && !session.services && !own ? (
        <Connect session={session} connected={(h) => (setOwn(h), setFailure(undefined), go({ service: h.name, ...(h.table && h.table !== at.table ? toTable(h.table) : {}) }, true))} />
      ) : (
        service && <Work key={service.name} service={service} services={services} version={session?.version ?? ""} help={() => setHelp(true)} />
      )}
      {session?.services && !service && <Accounts services={services} />}
      {at.access && service && <Access key={service.name} service={service} table={at.table} part={at.access} close={() => go({ access: "" })} />}
      {help && <Help close={() => setHelp(false)} version={session?.version ?? ""} />}
    </>
  )
}

/** Work is an account: its tables, and one of them. */
function Work({ service, services, version, help }: { service: Service; services: Service[]; version: string; help: () => void }) {
  const at = useStore(route)
  const narrow = useNarrow()
  const side = useStore(sidebar)
  const catalog = useMemo(() => new Catalog(service), [service])
  useEffect(() => () => catalog.stop(), [catalog])
  return (
    <div class="work">
      {(narrow ? side.open : side.docked) && <Tables catalog={catalog} />}
      {at.table && at.view === "traffic" ? (
        <Traffic key={at.table} service={service} table={at.table} />
      ) : at.table && at.view === "options" ? (
        <OptionsView key={at.table} service={service} table={at.table} />
      ) : at.table ? (
        <Browse key={at.table} service={service} services={services} at={at} reload={() => void catalog.load()} />
      ) : (
        <Home catalog={catalog} version={version} keys={help} />
      )}
    </div>
  )
}

/** useKeys has the keys that work everywhere, and asks before something is lost. */
function useKeys(help: () => void) {
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      const typing = (e.target as Element).closest("input, textarea, select, dialog")
      if (e.key === "k" && (e.ctrlKey || e.metaKey)) {
        e.preventDefault()
        const focus = () => document.getElementById("table-filter")?.focus()
        if (document.getElementById("table-filter")) focus()
        else {
          toggleSidebar()
          requestAnimationFrame(focus)
        }
      } else if (e.key === "a" && (e.ctrlKey || e.metaKey) && !typing) {
        // All rows, not the text of the page. The panel of an entity has texts that are worth copying.
        const grid = document.getElementById("grid")
        if (!grid || (e.target as Element).closest("#grid, .entity, .popup")) return
        e.preventDefault()
        grid.focus({ preventScroll: true })
        grid.dispatchEvent(new KeyboardEvent("keydown", { key: "a", ctrlKey: true, bubbles: true, cancelable: true }))
      } else if (e.key === "?" && !typing) help()
    }
    const stay = (e: BeforeUnloadEvent) => unsaved() && e.preventDefault()
    window.addEventListener("keydown", onKey)
    window.addEventListener("beforeunload", stay)
    return () => {
      window.removeEventListener("keydown", onKey)
      window.removeEventListener("beforeunload", stay)
    }
  }, [])
}
