// What the user changed, step by step, to undo it: values, new entities and deletions alike. Everything is written only over what the user saw.
import { type Operation, transact } from "../wire/batch.ts"
import { insert, remove, replace } from "../wire/tables.ts"
import type { Service } from "../wire/client.ts"
import { exact } from "../wire/date.ts"
import { Failure, patiently } from "../wire/failure.ts"
import { body } from "../wire/json.ts"
import { type Entity, type Key, type Value, keyOf, nameOf } from "../wire/value.ts"
import { batches } from "./bulk.ts"
import { unsavedTexts } from "./draft.ts"
import { Store } from "./store.ts"
import { plural } from "./words.ts"

/** Change is one entity before and after: undefined where there is none. */
export interface Change {
  before: Entity | undefined
  after: Entity | undefined
}

interface Step {
  service: Service
  table: string
  what: "changed" | "added" | "deleted"
  changes: Change[]
}

export interface Changes {
  /** done are the steps that can be undone, the last one at the end */
  done: Step[]
  /** told: the last step is still to be seen on the page */
  told: boolean
  /** failure has stop while what is busy is tried again */
  failure?: (Error & { stop?: () => void }) | undefined
}

export const changes = new Store<Changes>({ done: [], told: false })

/** mostKept bounds the steps that can be undone, and mostAtOnce the entities of a step. */
const mostKept = 50
export const mostAtOnce = 1000

/** Shown is told of each entity that is now another one; null if it is gone. */
export type Shown = (key: Key, now: Entity | null) => void

/** perform writes changes, notes them as a step, and says what could not be written. It ends at the first that is refused: what a batch has is written as a whole. */
export async function perform(service: Service, table: string, list: Change[], shown: Shown): Promise<boolean> {
  const done: Change[] = []
  const failure = await write(service, table, list, done, shown)
  const what = whatOf(done)
  changes.set({ done: [...changes.value.done, ...(done.length ? [{ service, table, what, changes: done } as Step] : [])].slice(-mostKept), told: done.length > 1 || what === "deleted", failure })
  return !failure
}

/** latest is the ETag that an entity has if nobody else has changed it since. */
export function latest(service: Service, table: string, e: Entity): string {
  let { etag } = e
  for (const s of changes.value.done) {
    if (s.service !== service || s.table !== table) continue
    for (const { before, after } of s.changes) if (before?.etag === etag && after && nameOf(keyOf(after)) === nameOf(keyOf(e))) ({ etag } = after)
  }
  return etag
}

const whatOf = (list: Change[]) => (list.every((c) => !c.after) ? "deleted" : list.every((c) => !c.before) ? "added" : "changed")

/** note keeps a change that was written elsewhere as a step. */
export function note(service: Service, table: string, change: Change) {
  changes.set({ done: [...changes.value.done, { service, table, what: change.before ? ("changed" as const) : ("added" as const), changes: [change] }].slice(-mostKept), told: false })
}

/** undo takes the last step back. What cannot be taken back stays a step. */
export async function undo(shown: (s: Pick<Step, "service" | "table">) => Shown): Promise<void> {
  const { done } = changes.value
  const last = done.at(-1)
  if (!last) return
  const undone: Change[] = []
  const back = last.changes.map(({ before, after }) => ({ before: after, after: before }))
  const failure = await write(last.service, last.table, back, undone, shown(last))
  const left = last.changes.slice(undone.length)
  const rest = done.slice(0, -1)
  changes.set({ done: left.length ? [...rest, { ...last, changes: left }] : refreshed(rest, last, undone), told: !!failure, failure })
}

/** refreshed gives the steps before the ETags that their entities have since a later step was undone. */
function refreshed(steps: Step[], of: Step, undone: Change[]): Step[] {
  const now = new Map(undone.map((c) => [JSON.stringify(keyOf((c.after ?? c.before)!)), c.after]))
  return steps.map((s) =>
    s.service !== of.service || s.table !== of.table
      ? s
      : { ...s, changes: s.changes.map((c) => ({ ...c, after: c.after && (now.get(JSON.stringify(keyOf(c.after))) ?? c.after) })) },
  )
}

async function write(service: Service, table: string, list: Change[], done: Change[], shown: Shown): Promise<Error | undefined> {
  unsavedTexts.set(list, "")
  return writeEach(service, table, list, done, shown).finally(() => unsavedTexts.delete(list))
}

async function writeEach(service: Service, table: string, list: Change[], done: Change[], shown: Shown): Promise<Error | undefined> {
  const operations = list.map((c) => ({ ...operation(c), change: c }))
  const abort = new AbortController()
  for (const batch of batches(operations) as (typeof operations)[]) {
    let again = false
    try {
      const once = async () => (batch.length > 1 ? transact(service, table, batch) : [await single(service, table, batch[0]!.change)])
      const waiting = (f: Failure, s: number) => ((again = true), changes.update({ failure: Object.assign(new Error(`${f.message} Trying again in ${s} s.`), { stop: () => abort.abort(f) }) }))
      abort.signal.throwIfAborted() // it was stopped while the batch before was written
      const etags = list.length > 1 ? await patiently(once, abort.signal, waiting, false) : await once()
      for (const [i, { change, key }] of batch.entries()) {
        const after = change.after && stamped(change.after, etags[i] ?? "")
        done.push({ before: change.before, after })
        shown(key, after ?? null)
      }
    } catch (e) {
      const { pk, rk } = batch[(e instanceof Failure && e.index) || 0]!.key
      const f = e instanceof Failure ? e : undefined
      const unsure = f && (again || (f.transient && !f.busy)) ? `. ${plural(batch.length, "entity", "entities")} may have been ${whatOf(batch.map((o) => o.change))}: refresh, and look.` : ""
      return new Error(f?.unseen ? `${pk} / ${rk} was changed since it was loaded, and is left as it is. Refresh, and look at it first.` : `${pk} / ${rk}: ${(e as Error).message.replace(unsure && /\.$/, "")}${unsure}`, { cause: e })
    }
  }
  return undefined
}

/** single writes one entity, for services that take no batch. */
async function single(service: Service, table: string, { before, after }: Change): Promise<string> {
  if (!after) return remove(service, table, keyOf(before!), before!.etag).then(() => "")
  return before ? replace(service, table, keyOf(after), after.values, before.etag) : insert(service, table, after.values)
}

function operation({ before, after }: Change): Operation {
  const key = keyOf((after ?? before)!)
  if (!after) return { method: "DELETE", key, etag: before!.etag }
  return before ? { method: "PUT", key, etag: before.etag, body: body(after.values) } : { method: "POST", key, body: body(after.values) }
}

/** stamped is an entity as it is after it was written: the ETag has its Timestamp. */
export function stamped({ values }: Entity, etag: string): Entity {
  const now = new Map(values)
  const at = /datetime'(.+?)'/i.exec(decodeURIComponent(etag))?.[1]
  if (at) now.set("Timestamp", { type: "DateTime", text: exact(at) })
  return { etag, values: now }
}

/** changedTo is a change of some values of an entity; undefined removes one. */
export function changedTo(before: Entity, values: Iterable<[string, Value | undefined]>): Change {
  const now = new Map(before.values)
  for (const [name, value] of values) {
    if (value) now.set(name, value)
    else now.delete(name)
  }
  return { before, after: { etag: before.etag, values: now } }
}
