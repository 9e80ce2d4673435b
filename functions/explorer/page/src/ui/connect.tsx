// Asks for the account when an endpoint serves the page.
import { useEffect, useState } from "preact/hooks"
import { type Kept, forget, keep, keepForWindow, kept } from "../model/keyring.ts"
import type { Session } from "../model/session.ts"
import { type Connection, accountOf, checked, development, here, parseConnection } from "../wire/connection.ts"
import { type Service, direct } from "../wire/client.ts"
import { importKey, signPlain, signWith } from "../wire/sign.ts"
import { listTables } from "../wire/tables.ts"
import { Failure } from "../wire/failure.ts"
import { Icon } from "./icon.tsx"
import { ErrorLine, Tabs } from "./parts.tsx"

const secure = typeof crypto !== "undefined" && !!crypto.subtle

export function Connect({ connected, session }: { connected: (h: Service) => void; session: Session }) {
  const [way, setWay] = useState<"key" | "string">("key")
  const [account, setAccount] = useState("")
  const [endpoint, setEndpoint] = useState("")
  const [secret, setSecret] = useState("")
  const [remember, setRemember] = useState(false)
  const [accepted, setAccepted] = useState(false)
  const [failure, setFailure] = useState<Error>()
  const [busy, setBusy] = useState(false)
  const [old, setOld] = useState<Kept[]>([])
  useEffect(() => void kept().then(setOld), [])

  // The key is kept before the account is shown: who sees the account and loads the window again goes on with it.
  const open = async (service: Service, keeping?: () => Promise<unknown>) => {
    // The first page of tables shows whether the key is right. A token for one table may not list them.
    try {
      await listTables(service).next()
    } catch (e) {
      if (!(e instanceof Failure && e.forbids)) throw e
    }
    await keeping?.().catch(() => undefined)
    connected(service)
  }
  const openKept = (k: Kept, always = false) =>
    open(direct({ account: k.account, endpoint: k.endpoint }, signWith(k.key)), async () => {
      await keepForWindow(k)
      if (always) await keep(k)
    })
  const openWith = async (c: Connection) => {
    if (c.key === undefined) await open(direct(c, undefined))
    else if (!secure) await open(direct(c, signPlain(c.key)))
    else await openKept({ account: c.account, endpoint: c.endpoint, key: await importKey(c.key) }, remember)
  }
  const trying = async (work: () => Promise<void>) => {
    setFailure(undefined)
    setBusy(true)
    try {
      await work()
    } catch (e) {
      setFailure(e as Error)
    } finally {
      setBusy(false)
    }
  }
  const submit = (e: Event) => {
    e.preventDefault()
    return trying(async () => {
      if (way === "key" && !account.trim()) throw new Error("Type the name of the account.")
      if (!secret.trim()) throw new Error(way === "key" ? "Type the key of the account." : "Paste a connection string or the URL of a token (SAS).")
      const c: Connection = way === "key" ? checked({ account: account.trim(), endpoint: endpoint || here(account.trim()), key: secret.trim() }) : parseConnection(secret)
      await openWith(c)
      setSecret("")
    })
  }
  return (
    <main class="connect">
      <form onSubmit={submit} data-test="connect" autoComplete="off" noValidate>
        <span class="mark" aria-hidden="true" />
        <h1>Open an account</h1>
        {session.development && (
          <div class="card">
            <button type="button" class="main wide" data-test="open-development" disabled={busy} onClick={() => trying(() => openWith(development(here("devstoreaccount1"))))}>
              Open the development account <Icon name="right" />
            </button>
            <p class="dim">This server has it for programs on this machine; its key is public.</p>
          </div>
        )}
        {!secure && (
          <div class="warning" role="note" data-test="insecure">
            <span>
              <b>This page came over plain http.</b> Anyone on the network between this browser and the server can change the page and read your key
              and your data. Use https, or <code>edgetable explorer</code> on your machine, which needs no key here. A short-lived token (SAS) is a
              smaller risk than a key.
            </span>
            <label class="check">
              <input type="checkbox" checked={accepted} onChange={(e) => setAccepted(e.currentTarget.checked)} /> I accept that on this network
            </label>
          </div>
        )}
        {old.length > 0 && (
          <ul class="kept" aria-label="Remembered accounts">
            {old.map((k) => (
              <li key={k.endpoint}>
                <button type="button" onClick={() => trying(() => openKept(k))}>
                  {k.account} <span class="dim">{k.endpoint}</span>
                </button>
                <button type="button" class="plain" onClick={() => void forget(k.endpoint).then(kept).then(setOld)}>
                  Forget
                </button>
              </li>
            ))}
          </ul>
        )}
        <Tabs label="Way to connect" test="way" choices={{ key: "Account and key", string: "Connection string or SAS URL" }} now={way} choose={(w) => setWay(w)} />
        {way === "key" && (
          <>
            <label>
              Account
              <input required value={account} data-test="account" autoCapitalize="off" spellcheck={false} onInput={(e) => setAccount(e.currentTarget.value)} />
            </label>
            <label>
              Endpoint
              <input value={endpoint} data-test="endpoint" spellcheck={false} placeholder={account ? here(account) : here("ACCOUNT")} onInput={(e) => setEndpoint(e.currentTarget.value)} />
            </label>
          </>
        )}
        <label>
          {way === "key" ? "Key" : "Connection string or SAS URL"}
          <input required type="password" value={secret} data-test="secret" autoComplete="off" spellcheck={false} onInput={(e) => setSecret(e.currentTarget.value)} />
        </label>
        {way === "string" && (
          <p class="dim">
            For the development account on port 10002 of this machine: <code>UseDevelopmentStorage=true</code>
          </p>
        )}
        {secure && (
          <label class="check">
            <input type="checkbox" checked={remember} data-test="remember" onChange={(e) => setRemember(e.currentTarget.checked)} /> Remember the key in this browser, which
            then can sign with it but cannot show it
          </label>
        )}
        {failure && <ErrorLine failure={failure} />}
        <footer>
          <button type="submit" class={session.development ? "wide" : "main wide"} data-test="open" disabled={busy || (!secure && !accepted)}>
            {busy ? "Opening …" : "Open"}
          </button>
        </footer>
        {session.consent && (
          <p class="dim small" data-test="consent">
            On the server's own machine <code>edgetable explorer --link --data DIRECTORY</code> prints a link that opens all its accounts here, without a key.
          </p>
        )}
        <p class="dim small">The key stays in this browser and signs requests here. {accountHint(endpoint)}</p>
        {session.version && <p class="dim small">edgetable {session.version}</p>}
      </form>
    </main>
  )
}

function accountHint(endpoint: string) {
  try {
    return endpoint && new URL(endpoint).origin !== location.origin ? `The CORS rules of ${accountOf(endpoint)} must allow ${location.origin}.` : ""
  } catch {
    return ""
  }
}
