// The tab "Options" of a table: what the table declares, as forms and as JSON, which are two views of one text.
import { useEffect, useRef, useState } from "preact/hooks"
import { tell, useNow } from "../model/declared.ts"
import { Hides } from "../model/hides.ts"
import { ruleOf } from "../model/rule.ts"
import { look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import { placeOf as placeOfEntity, unsavedTexts } from "../model/draft.ts"
import { count } from "../model/words.ts"
import type { Service } from "../wire/client.ts"
import { show } from "../wire/date.ts"
import { Failure } from "../wire/failure.ts"
import { type Document, type Options, getOptions, judge, placeOf, refusalOf, setOptions } from "../wire/options.ts"
import { query } from "../wire/tables.ts"
import { Icon } from "../ui/icon.tsx"
import { Empty, ErrorLine } from "../ui/parts.tsx"
import { TableHead } from "../ui/tablehead.tsx"
import { Ask } from "./ask.tsx"
import type { Sampled } from "./part.ts"
import { declaredIn, parts, written } from "./parts.ts"

/** sampled entities say which types the properties have. */
const sampled = 100

export function OptionsView({ service, table }: { service: Service; table: string }) {
  const { zone } = useStore(look)
  const [now, setNow] = useState<Options | "none">()
  const [failure, setFailure] = useState<Error>()
  const [cannot, setCannot] = useState<Record<string, string>>({})
  const [found, setFound] = useState<Sampled>()
  const [draft, setDraft] = useState(unsavedTexts.get(placeOfTable(service, table)))
  const [counting, setCounting] = useState<Hides>()
  const [asked, setAsked] = useState<{ hides: Hides; document: string }>()
  const [busy, setBusy] = useState(false)
  const [said, setSaid] = useState("")
  const json = useRef<HTMLTextAreaElement>(null)
  const options = now === "none" ? undefined : now
  const time = useNow(!!options)

  const read = async () => {
    const fresh = await getOptions(service, table)
    setNow(fresh ?? "none")
    tell(service, table, fresh)
    return fresh
  }
  const token = !service.sign && !service.about
  const load = async () => {
    setFailure(undefined)
    if (token) return
    try {
      const fresh = await read()
      if (fresh && !service.readOnly) setCannot(await unkept(service, table, fresh.document))
      if (fresh) setFound(await sample(service, table))
    } catch (e) {
      setFailure(e as Error)
    }
  }
  useEffect(() => void load(), [service, table])
  const running = useRef(counting)
  running.current = counting
  useEffect(() => () => running.current?.stop(), [])

  const saved = options && written(declaredIn(options.document))
  const text = draft ?? saved ?? ""
  const document = parsed(text)
  const edit = (next: string | undefined) => {
    setDraft(next)
    setSaid("")
    if (next === undefined || next === saved) unsavedTexts.delete(placeOfTable(service, table))
    else unsavedTexts.set(placeOfTable(service, table), next)
  }
  const changed = document ? written(document) !== saved : text !== saved
  const refusal = refusalOf(failure)

  /** put declares the document, unless somebody else declared another one since it was read. */
  const put = async (document: string) => {
    let { revision } = options!
    for (;;) {
      try {
        await setOptions(service, table, document, revision)
        break
      } catch (e) {
        if (!(e instanceof Failure) || e.code !== "ConditionNotMet") throw e
        const fresh = await read()
        if (!fresh || fresh.revision === revision) throw e
        if (written(declaredIn(fresh.document)) !== saved) throw new Failure("Somebody else changed the options of the table. Your input is kept; Save replaces theirs.", 412, e.code)
        revision = fresh.revision // other properties of the table changed, such as its access policies
      }
    }
    if (document === text) edit(undefined)
    await read()
    setSaid("Saved.")
  }
  const work = async (act: () => Promise<void>) => {
    setBusy(true)
    setFailure(undefined)
    setSaid("")
    await act().catch(setFailure)
    setCounting(undefined)
    setBusy(false)
  }
  /** counted counts what a document would hide, if it has a new rule; undefined if there is nothing to count, or an error. */
  const counted = async (document: string): Promise<Hides | undefined> => {
    const next = parsed(document)
    if (!next) throw new Error(notJSON(document))
    const refused = await judge(service, table, document)
    if (refused) throw refused
    const rule = ruleOf(next.expire)
    if (!rule || JSON.stringify(rule) === JSON.stringify(ruleOf(options!.document.expire))) return undefined
    const hides = new Hides(service, table, rule)
    setCounting(hides)
    await hides.run()
    if (hides.state.value.failure) throw hides.state.value.failure
    return hides
  }
  const tryOut = () =>
    work(async () => {
      const hides = await counted(text)
      if (!hides) return setSaid("No entity would disappear: there is no new rule.")
      const { ended, whole, done } = hides.state.value
      setSaid(`${done ? "" : "Stopped. "}${count(ended)} of ${done ? "" : "the first "}${count(whole)} entities have ended by this rule, and would disappear. Nothing was changed.`)
    })
  const save = (document: string) =>
    work(async () => {
      const hides = await counted(document)
      if (hides?.many) return setAsked({ hides, document })
      await put(document)
    })
  const withdraw = (name: string) => save(written(Object.fromEntries(Object.entries(declaredIn(options!.document)).filter(([n]) => n !== name))))

  return (
    <main class="browse options" aria-label={`Options of ${table}`}>
      <TableHead service={service} table={table} view="options">
        <button type="button" data-test="refresh" aria-label="Refresh" title="Refresh: read the options again" onClick={() => void load()}>
          <Icon name="refresh" />
        </button>
      </TableHead>
      {failure && (
        <ErrorLine failure={failure} retry={!options ? () => void load() : undefined}>
          {refusal && (
            <button
              type="button"
              data-test="show-place"
              onClick={() => {
                json.current?.focus()
                json.current?.setSelectionRange(...placeOf(text, refusal.path))
              }}
            >
              Show {refusal.path}
            </button>
          )}
        </ErrorLine>
      )}
      <div class="scroll">
        {token && <Empty icon="options" title="Only the account's key gives access to the options of a table." text="This window uses a token." />}
        {now === "none" && <Empty icon="options" title="This service does not support table options." text="It is not edgetable, or an older version of it. In edgetable, a table can have options such as an expiry rule." />}
        {options && (
          <form
            onSubmit={(e) => {
              e.preventDefault()
              void save(text)
            }}
          >
            {parts.map(({ name, title, Form, state }) => (
              <section key={name} class="card" data-test={`part-${name}`}>
                <header>
                  <h2>{title}</h2>
                  {options.document[name] !== undefined && !service.readOnly && (
                    <button type="button" class="danger" data-test={`withdraw-${name}`} disabled={busy} onClick={() => void withdraw(name)}>
                      Withdraw
                    </button>
                  )}
                  {state(options.document, time, (instant) => show(instant.replace(/\.\d+/, ""), zone))}
                </header>
                {cannot[name] ? (
                  <p class="warning" data-test={`cannot-${name}`}>
                    {cannot[name]}
                  </p>
                ) : (
                  <fieldset class="bare" disabled={service.readOnly || busy || !document}>
                    <Form
                      value={document?.[name]}
                      change={(value) => edit(written({ ...Object.fromEntries(Object.entries(document!).filter(([n]) => n !== name)), ...(value === undefined ? {} : { [name]: value }) }))}
                      problem={(member) => (refusal?.path === `$.${name}${member}` ? capital(refusal.why) : "")}
                      sampled={found}
                    />
                  </fieldset>
                )}
              </section>
            ))}
            <section class="card">
              <header>
                <h2>JSON</h2>
                {!document && <span class="wrong">{notJSON(text)}</span>}
              </header>
              <textarea ref={json} class="json mono" aria-label="The options of the table, as JSON" data-test="options-json" spellcheck={false} readOnly={service.readOnly} aria-invalid={!document || !!refusal} value={text} onInput={(e) => edit(e.currentTarget.value)} />
              <p class="dim">
                The member <code>{JSON.stringify(table)}</code> of a file for <code>edgetable tables apply</code> has this value.
              </p>
            </section>
            {!service.readOnly && (
              <footer>
                {counting ? (
                  <Counted hides={counting} />
                ) : (
                  <>
                    <button type="submit" class="main" data-test="options-save" disabled={busy || !changed || !document}>
                      Save
                    </button>
                    <button type="button" data-test="options-count" disabled={busy || !changed || !document} title="Reads the table, and changes nothing" onClick={() => void tryOut()}>
                      Count entities that would disappear
                    </button>
                    <button type="button" data-test="options-revert" disabled={busy || draft === undefined} onClick={() => (edit(undefined), setFailure(undefined))}>
                      Revert
                    </button>
                  </>
                )}
                <span role="status" data-test="options-said">
                  {said}
                </span>
              </footer>
            )}
          </form>
        )}
      </div>
      {asked && (
        <Ask
          table={table}
          hides={asked.hides}
          close={() => setAsked(undefined)}
          agree={() => {
            setAsked(undefined)
            void work(() => put(asked.document))
          }}
        />
      )}
    </main>
  )
}

/** Counted tells how far the count is. */
function Counted({ hides }: { hides: Hides }) {
  const { ended, whole, waiting } = useStore(hides.state)
  return (
    <>
      <span role="status" data-test="options-counting">
        {count(ended)} of {count(whole)} entities would disappear so far …{waiting && ` ${waiting}`}
      </span>
      <button type="button" data-test="options-stop" onClick={() => hides.stop()}>
        Stop
      </button>
    </>
  )
}

const capital = (s: string) => s.slice(0, 1).toUpperCase() + s.slice(1)

const placeOfTable = (service: Service, table: string) => placeOfEntity(service, table, undefined) + "options"

function parsed(text: string): Document | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return typeof value === "object" && value && !Array.isArray(value) ? (value as Document) : undefined
  } catch {
    return undefined
  }
}

function notJSON(text: string): string {
  try {
    JSON.parse(text)
    return "It is not an object, {…}."
  } catch (e) {
    return `It is not JSON: ${(e as Error).message}.`
  }
}

/** unkept asks the service which parts it cannot keep, and why. */
async function unkept(service: Service, table: string, document: Document): Promise<Record<string, string>> {
  const reasons: Record<string, string> = {}
  for (const { name, example } of parts) {
    if (document[name] !== undefined) continue
    const refusal = refusalOf(await judge(service, table, written({ [name]: example })))
    if (refusal?.path === `$.${name}`) reasons[name] = refusal.why.replace(" Leave it out.", "")
  }
  return reasons
}

async function sample(service: Service, table: string): Promise<Sampled | undefined> {
  const answer = await query(service, { table, filter: "", top: sampled }, undefined).catch(() => undefined)
  if (!answer) return undefined
  const types = new Map<string, Map<string, number>>()
  for (let i = 0; i < answer.page.length; i++) {
    for (const [name, { type }] of answer.page.entity(i).values) {
      if (name === "Timestamp") continue
      const of = types.get(name) ?? new Map<string, number>()
      types.set(name, of.set(type, (of.get(type) ?? 0) + 1))
    }
  }
  return { entities: answer.page.length, types }
}
