// Entity group transactions: up to 100 writes of one partition, all or none.
import { type Service, send, text } from "./client.ts"
import { type Failure, failure } from "./failure.ts"
import { address } from "./odata.ts"
import type { Key } from "./value.ts"

export interface Operation {
  method: "POST" | "PUT" | "PATCH" | "DELETE"
  key: Key
  etag?: string
  body?: string
}

/** transact executes the operations and returns their new ETags, "" for a deletion; its Failure says with index which of them was refused. */
export async function transact(service: Service, table: string, operations: Operation[], signal?: AbortSignal): Promise<string[]> {
  const response = await send(service, {
    method: "POST",
    path: "$batch",
    headers: { "content-type": "multipart/mixed; boundary=batch_edgetable", accept: "application/json;odata=minimalmetadata" },
    body: print(service.endpoint || `http://localhost/${service.account}`, table, operations),
    ...(signal ? { signal } : {}),
  })
  const answer = await text(response, signal)
  const refused = read(answer)
  if (refused) throw refused
  return answer.split(/^HTTP\/1\.1 (?=2)/m).slice(1).map((part) => /^etag: *(.*?)\r?$/im.exec(part)?.[1] ?? "")
}

// Azurite takes a batch only if its boundaries begin with batch_ and changeset_.
export function print(endpoint: string, table: string, operations: Operation[]): string {
  const parts = operations.map(({ method, key, etag, body }) =>
    [
      "--changeset_edgetable",
      "Content-Type: application/http",
      "Content-Transfer-Encoding: binary",
      "",
      `${method} ${endpoint}/${method === "POST" ? encodeURIComponent(table) : address(table, key)} HTTP/1.1`,
      "Accept: application/json;odata=minimalmetadata",
      "DataServiceVersion: 3.0",
      ...(method === "POST" ? ["Prefer: return-no-content"] : []),
      ...(etag ? [`If-Match: ${etag}`] : []),
      ...(body === undefined ? ["", ""] : ["Content-Type: application/json", "", body]),
    ].join("\r\n"),
  )
  return ["--batch_edgetable", "Content-Type: multipart/mixed; boundary=changeset_edgetable", "", ...parts, "--changeset_edgetable--", "--batch_edgetable--", ""].join("\r\n")
}

/** read finds the refusal in an answer, if there is one. */
export function read(answer: string): Failure | undefined {
  const status = /^HTTP\/1\.1 (\d{3})/gm
  for (let m = status.exec(answer); m; m = status.exec(answer)) {
    if (+m[1]! < 400) continue
    const rest = answer.slice(m.index)
    const body = /\r?\n\r?\n([\s\S]*?)\r?\n--/.exec(rest)?.[1] ?? ""
    return failure(+m[1]!, body, "")
  }
  return status.lastIndex === 0 && !/^HTTP\/1\.1 2/m.test(answer) ? failure(0, "", "Cut") : undefined
}
