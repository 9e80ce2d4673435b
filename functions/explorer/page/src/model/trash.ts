// The last deletion, to undo it.
import type { Service } from "../wire/client.ts"
import { Failure } from "../wire/failure.ts"
import { getEntity, insert, remove } from "../wire/tables.ts"
import { type Entity, keyOf } from "../wire/value.ts"
import { Store } from "./store.ts"

interface Deleted {
  service: Service
  table: string
  entities: Entity[]
  failure?: Error | undefined
}

export const trash = new Store<Deleted | undefined>(undefined)

/**
 * discard deletes entities if they are as they were shown, and says of each that it is gone. Of those that are shown in part all is read
 * before, so that nothing is missing after an undo.
 */
export async function discard(service: Service, table: string, entities: Entity[], inPart: boolean, gone: (e: Entity) => void): Promise<void> {
  const done: Entity[] = []
  let failure: Error | undefined
  for (const e of entities) {
    try {
      const whole = inPart ? await getEntity(service, table, keyOf(e)) : e
      await remove(service, table, keyOf(e), e.etag)
      done.push(whole ?? e)
      gone(e)
    } catch (cause) {
      failure = cause instanceof Failure && cause.status === 412 ? new Error(`${keyOf(e).pk} / ${keyOf(e).rk} was changed since it was loaded and is still there. Refresh, and look at it first.`) : (cause as Error)
      break
    }
  }
  trash.set({ service, table, entities: done, failure })
}

/** restore inserts what was deleted last. */
export async function restore(back: (e: Entity) => void): Promise<void> {
  const last = trash.value
  if (!last) return
  const left = [...last.entities]
  try {
    for (let e = left[0]; e; e = left[0]) {
      const etag = await insert(last.service, last.table, e.values)
      back({ ...e, etag })
      left.shift()
    }
    trash.set(undefined)
  } catch (failure) {
    trash.set({ ...last, entities: left, failure: failure as Error })
  }
}
