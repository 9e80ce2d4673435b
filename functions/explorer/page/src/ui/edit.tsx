// Editors for an entity: a row for each property, or JSON.
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks"
import { type Draft, type Field, drafts, editing, isUnsaved, problemOf, valuesOf } from "../model/draft.ts"
import type { Service } from "../wire/client.ts"
import { type Rule, left } from "../model/rule.ts"
import { ticksOf } from "../wire/date.ts"
import type { Change } from "../wire/changes.ts"
import { Failure } from "../wire/failure.ts"
import { Malformed, parseEntity, pretty } from "../wire/json.ts"
import { getEntity, insert, replace } from "../wire/tables.ts"
import { maxProperties } from "../wire/rules.ts"
import { visible } from "../wire/unseen.ts"
import { type Entity, type Type, type Value, keyOf, system } from "../wire/value.ts"
import { first } from "../query/builder.ts"
import { Icon } from "./icon.tsx"
import { FieldRow } from "./field.tsx"
import { Merge, newerWords } from "./merge.tsx"
import { ErrorLine, Tabs } from "./parts.tsx"

interface Props {
  width: string
  service: Service
  table: string
  place: string
  start: Draft
  /** newer is what the entity is by now, if somebody knows; compare shows it at once */
  newer: Change | undefined
  compare?: number | undefined
  /** quiet: the form does not take the keyboard */
  quiet?: boolean | undefined
  close: () => void
  /** saved gets the entity as it is now, and the one that it replaces; typed: the form has what was typed meanwhile */
  saved: (e: Entity, before: Entity | undefined, typed?: boolean) => void
  /** rule by which entities of the table end, and ended is told of one that a save ended */
  rule: Rule | undefined
  ended: () => void
  /** columns of the table, with the types of their values */
  columns: ReadonlyMap<string, ReadonlySet<Type>>
}

/** mostOffered columns are offered for a new entity; the names of all complete what is typed. */
const mostOffered = 40

function past(text: string): boolean {
  const at = ticksOf(text)
  return at !== undefined && left(at, Date.now()) === "ended"
}

export function Edit({ width, service, table, place, start, newer, compare, quiet, close, saved, rule, ended, columns }: Props) {
  const [draft, setDraft] = useState(() => drafts.get(place) ?? start)
  const [failure, setFailure] = useState<Error>()
  const [theirs, setTheirs] = useState<Entity>()
  const [busy, setBusy] = useState(false)
  const { json } = draft
  const isNew = !draft.original
  const panel = useRef<HTMLElement>(null)
  const change = (d: Draft) => {
    drafts.set(place, d)
    setDraft(d)
  }
  useLayoutEffect(() => quiet ? undefined : panel.current?.querySelector<HTMLElement>("textarea.json, .field :enabled:is(textarea, input)")?.focus(), [])

  const edit = (i: number, part: Partial<Field>) => change({ ...draft, fields: draft.fields.map((f, j) => (j === i ? { ...f, ...part } : f)) })
  const discard = () => {
    drafts.delete(place)
    close()
  }
  /** fromJSON reads the text into fields; undefined if it is malformed. */
  const fromJSON = (): Draft | undefined => {
    if (json === undefined) return draft
    try {
      const { values } = parseEntity(json)
      values.delete("Timestamp")
      return { original: draft.original, fields: [...values].map(([name, value]) => ({ name, value, removed: false, added: !draft.original?.values.has(name) })) }
    } catch (e) {
      if (!(e instanceof Malformed)) throw e
      const before = json.slice(0, e.at).split("\n")
      setFailure(new Error(`Line ${before.length}, character ${before.at(-1)!.length + 1}: ${e.message}`))
      return undefined
    }
  }
  const finish = async (values: Draft) => {
    const all = valuesOf(values)
    const key = { pk: all.get("PartitionKey")?.text ?? "", rk: all.get("RowKey")?.text ?? "" }
    const kept = drafts.get(place)
    const newer = values.original ? await replace(service, table, key, all, values.original.etag) : await insert(service, table, all)
    // The server sets Timestamp, so the entity is read again; if that fails, what was sent is shown.
    const sent = { etag: newer, values: all }
    const now = await getEntity(service, table, key).catch(() => sent)
    const last = drafts.get(place)
    const more = last && { ...last, original: now ?? sent }
    const typed = !!more && last !== kept && isUnsaved(more) // meanwhile
    if (typed) change(more)
    else drafts.delete(place)
    if (now || !rule) saved(now ?? sent, values.original, typed)
    else ended()
  }
  const save = async () => {
    const d = fromJSON()
    if (!d) return
    const own = d.fields.filter((f) => !f.removed && !system.includes(f.name)).length
    if (own > maxProperties) return setFailure(new Error(`An entity has at most ${maxProperties} properties beside its keys; this one has ${own}.`))
    const wrong = d.fields.find((f) => problemOf(d, f))
    if (wrong) {
      change(d)
      return setFailure(new Error(`${wrong.name || "A property without a name"}: ${problemOf(d, wrong)}`))
    }
    if (d.original && ["PartitionKey", "RowKey"].some((k) => valuesOf(d).get(k)?.text !== d.original!.values.get(k)?.text)) {
      return setFailure(new Error("The keys of an entity cannot change: clone it, and delete this one."))
    }
    await send(d)
  }
  const send = async (d: Draft) => {
    const kept = drafts.get(place)
    setBusy(true)
    setFailure(undefined)
    try {
      await finish(d)
    } catch (e) {
      if (e instanceof Failure && d.original && e.unseen) {
        if (drafts.get(place) === kept) change(d) // nothing was typed meanwhile
        await conflict(d, e)
      } else setFailure(e as Error)
    } finally {
      setBusy(false)
    }
  }
  const conflict = async (refusedDraft: Draft, refused: Error) => {
    try {
      const now = await getEntity(service, table, keyOf(refusedDraft.original!))
      const d = drafts.get(place) ?? refusedDraft // with what was typed meanwhile
      // What is there already is this save, whose answer was lost.
      if (now && !isUnsaved({ ...d, original: now })) return drafts.delete(place), saved(now, d.original)
      if (now) return d.json === undefined ? setTheirs(now) : setFailure(refused)
      change({ ...d, original: undefined })
      setFailure(new Error("Somebody deleted this entity meanwhile. Save inserts it again with your values."))
    } catch {
      setFailure(refused)
    }
  }
  /** both shows the version of the server beside what is edited. */
  const both = () => {
    const d = fromJSON()
    if (d) (change(d), setFailure(undefined), void conflict(d, new Error("The version of the server cannot be read.")))
  }
  useEffect(() => {
    if (compare) both()
  }, [])
  const merge = async (values: Map<string, Value>, base: Entity) => {
    const d: Draft = { ...editing({ etag: base.etag, values }), original: base }
    setTheirs(undefined)
    change(d)
    await send(d)
  }
  const show = (form: "list" | "json") => {
    const d = form === "list" ? fromJSON() : undefined
    const turn = drafts.has(place) ? change : setDraft // this alone is nothing to save
    if (d) (turn(d), setFailure(undefined))
    else if (form === "json" && json === undefined) turn({ ...draft, json: pretty(valuesOf(draft)) })
  }
  /** add adds a property, and the keyboard goes where it is missing something. */
  const add = (name: string) => {
    const type = [...(columns.get(name) ?? [])][0] ?? "String"
    change({ ...draft, fields: [...draft.fields, { name, value: { type, text: first[type] }, removed: false, added: true }] })
    requestAnimationFrame(() => [...(panel.current?.querySelectorAll<HTMLElement>(`[data-test="${name ? "field-value" : "field-name"}"]`) ?? [])].at(-1)?.focus())
  }
  // A name that the table knows brings its type along, until somebody chose another one.
  const retype = (i: number, part: Partial<Field>) => {
    const f = draft.fields[i]!
    const type = part.name !== undefined && f.added && f.value.text === first[f.value.type] ? [...(columns.get(part.name) ?? [])][0] : undefined
    edit(i, type ? { ...part, value: { type, text: first[type] } } : part)
  }
  const offered = isNew ? [...columns.keys()].filter((n) => !system.includes(n) && !draft.fields.some((f) => f.name === n)) : []
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === "Escape") close()
    else if (e.key === "s" && (e.ctrlKey || e.metaKey)) void save()
    else return
    e.preventDefault()
  }
  return (
    <aside class="entity edit" style={{ width }} aria-label={isNew ? "New entity" : "Edit the entity"} data-test="edit-panel" ref={panel} onKeyDown={onKeyDown}>
      <header>
        <h2>{isNew ? "New entity" : <bdi>{visible(`${keyOf(draft.original!).pk} / ${keyOf(draft.original!).rk}`)}</bdi>}</h2>
        <button type="button" class="plain" aria-label="Close; what you typed is kept" onClick={close}>
          <Icon name="close" />
        </button>
      </header>
      <div class="bar">
        <Tabs label="Form" test="edit" choices={{ list: "Properties", json: "JSON" }} now={json === undefined ? "list" : "json"} choose={show} />
        <span class="grow" />
        <button type="button" data-test="discard" onClick={discard}>
          Discard
        </button>
        <button type="button" class={theirs ? "" : "main"} data-test="save-entity" title="Ctrl S" disabled={busy} onClick={() => void save()}>
          {isNew ? "Insert" : "Save"}
        </button>
      </div>
      {failure && <ErrorLine failure={failure} retry={failure instanceof Failure && failure.transient ? () => void save() : undefined} />}
      {newer && draft.original && !theirs && newer.entity?.etag !== draft.original.etag && (
        <div class="news" role="status" data-test="newer">
          <span class="grow">{newerWords(newer)} What you typed is not changed.</span>
          <button type="button" data-test="compare" onClick={both}>
            Compare
          </button>
        </div>
      )}
      {theirs && draft.original ? (
        <Merge base={draft.original} mine={valuesOf(draft)} theirs={theirs} save={(values) => void merge(values, theirs)} cancel={() => setTheirs(undefined)} />
      ) : json !== undefined ? (
        <textarea class="json" aria-label="Entity as JSON" data-test="json-text" spellcheck={false} value={json} onInput={(e) => change({ ...draft, json: e.currentTarget.value })} />
      ) : (
        <div class="fields">
          {draft.fields.map((f, i) => (
            <FieldRow key={i} field={f} problem={problemOf(draft, f)} note={rule && f.name === rule.property && !f.removed && f.value.type === "DateTime" && past(f.value.text) ? "This time is in the past: the entity ends as soon as it is saved." : ""} locked={!isNew} change={(part) => retype(i, part)} drop={() => change({ ...draft, fields: draft.fields.filter((_, j) => j !== i) })} />
          ))}
          <datalist id="edit-names">
            {[...columns.keys()].map((n) => (
              <option key={n} value={n} />
            ))}
          </datalist>
          {offered.length > 0 && (
            <div class="offered" role="group" aria-label="Properties of the table" data-test="offered">
              {offered.slice(0, mostOffered).map((n) => (
                <button key={n} type="button" title={[...columns.get(n)!].join(" or ")} onClick={() => add(n)}>
                  <Icon name="plus" /> {n} <span class="kind">{[...columns.get(n)!][0]}</span>
                </button>
              ))}
            </div>
          )}
          <button type="button" data-test="add-property" onClick={() => add("")}>
            <Icon name="plus" /> {offered.length ? "Another property" : "Add a property"}
          </button>
        </div>
      )}
    </aside>
  )
}
