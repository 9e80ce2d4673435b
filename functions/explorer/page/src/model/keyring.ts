// Keys that the user asked to remember: IndexedDB keeps a CryptoKey from which the account key cannot be read again. A token (SAS) or a key
// on a page without WebCrypto is never kept.


export interface Kept {
  account: string
  endpoint: string
  key: CryptoKey
}

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("edgetable", 1)
    request.onupgradeneeded = () => request.result.createObjectStore("keys", { keyPath: "endpoint" })
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

async function run<T>(mode: IDBTransactionMode, work: (keys: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const db = await open()
  try {
    return await new Promise<T>((resolve, reject) => {
      const request = work(db.transaction("keys", mode).objectStore("keys"))
      request.onsuccess = () => resolve(request.result)
      request.onerror = () => reject(request.error)
    })
  } finally {
    db.close()
  }
}

export const keep = (k: Kept) => run("readwrite", (keys) => keys.put(k))
export const forget = (endpoint: string) => run("readwrite", (keys) => keys.delete(endpoint))
export const kept = (): Promise<Kept[]> => run<Kept[]>("readonly", (keys) => keys.getAll() as IDBRequest<Kept[]>).catch(() => [])
