// Keys that this browser keeps: IndexedDB holds a CryptoKey from which the account key cannot be read again. Remembered keys stay until they are
// forgotten; the key of a window stays while it is reloaded, until it is disconnected, and a day at most. A token (SAS) or a key on a page without
// WebCrypto is never kept.

export interface Kept {
  account: string
  endpoint: string
  key: CryptoKey
}

interface OfWindow extends Kept {
  id: string
  since: number
}

const day = 24 * 3600 * 1000
const mark = "edgetable.window"

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("edgetable", 2)
    request.onupgradeneeded = (e) => {
      if (e.oldVersion < 1) request.result.createObjectStore("keys", { keyPath: "endpoint" })
      request.result.createObjectStore("windows", { keyPath: "id" })
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

async function run<T>(name: "keys" | "windows", mode: IDBTransactionMode, work: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open()
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = db.transaction(name, mode)
      const request = work(transaction.objectStore(name))
      transaction.oncomplete = () => resolve(request.result)
      transaction.onabort = () => reject(transaction.error)
    })
  } finally {
    db.close()
  }
}

export const keep = (k: Kept) => run("keys", "readwrite", (keys) => keys.put(k))
export const forget = (endpoint: string) => run("keys", "readwrite", (keys) => keys.delete(endpoint))
export const kept = (): Promise<Kept[]> => run<Kept[]>("keys", "readonly", (keys) => keys.getAll() as IDBRequest<Kept[]>).catch(() => [])

/** keepForWindow keeps a key while this window is reloaded. */
export async function keepForWindow(k: Kept): Promise<void> {
  const id = crypto.randomUUID()
  await run("windows", "readwrite", (keys) => keys.put({ ...k, id, since: Date.now() } satisfies OfWindow))
  sessionStorage.setItem(mark, id)
}

/** ofWindow is what keepForWindow kept; what is older than a day is removed. */
export async function ofWindow(): Promise<Kept | undefined> {
  const id = sessionStorage.getItem(mark)
  const all = await run<OfWindow[]>("windows", "readonly", (keys) => keys.getAll() as IDBRequest<OfWindow[]>).catch(() => [])
  for (const k of all) if (Date.now() - k.since > day) await run("windows", "readwrite", (keys) => keys.delete(k.id)).catch(() => undefined)
  return all.find((k) => k.id === id && Date.now() - k.since <= day)
}

/** leaveWindow forgets it. */
export async function leaveWindow(): Promise<void> {
  const id = sessionStorage.getItem(mark)
  sessionStorage.removeItem(mark)
  if (id) await run("windows", "readwrite", (keys) => keys.delete(id)).catch(() => undefined)
}
