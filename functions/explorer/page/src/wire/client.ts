// A client of one account. Two kinds of senders: through 'edgetable explorer', which signs, and directly.
import { type Connection } from "./connection.ts"
import { type Signer, stringToSign } from "./sign.ts"
import { Failure, failed, unreachable } from "./failure.ts"

interface Call {
  method?: string
  /** path below the account, percent-encoded */
  path: string
  query?: Record<string, string>
  headers?: Record<string, string>
  body?: string
  signal?: AbortSignal
}

/** A Service is an account that the page can use. */
export interface Service {
  name: string
  account: string
  endpoint: string
  readOnly: boolean
  color: string
  /** table is the only one that the token permits, if it names one */
  table?: string | undefined
  /** sign signs the text of a token; undefined if the page may not or has no key. */
  sign: Signer | undefined
  /** about asks 'edgetable explorer' for what the protocol does not tell; undefined if an endpoint serves the page. */
  about: (<T>(kind: "traffic" | "advise" | "accounts", rest: string, signal?: AbortSignal) => Promise<T>) | undefined
  /** local: the account is on the server of this machine, which counts traffic. */
  local: boolean
  /** orders: a header of edgetable's own reaches the service, which may not know it. */
  orders: boolean
  /** url is where a request goes, and what is added to it. */
  prepare(path: string, query: Record<string, string>): Promise<{ url: string; headers: Record<string, string> }>
}

export interface Profile {
  name: string
  account: string
  endpoint?: string
  readOnly: boolean
  color: string
  local: boolean
}

const search = (query: Record<string, string>) => {
  const text = Object.entries(query).map(([k, v]) => `${encodeURIComponent(k).replaceAll("%24", "$")}=${encodeURIComponent(v)}`).join("&")
  return text && "?" + text
}

/** asTool asks what a request costs, and says that no program of the account asks: its queries do not count as traffic. */
const asTool = { "x-edgetable-cost": "true", "x-edgetable-tool": "explorer" }

/** signedThere signs where the page comes from, which has the key. */
export const signedThere =
  (name: string, token: () => string): Signer =>
  async (text) => {
    const response = await fetch(`sign/${encodeURIComponent(name)}`, { method: "POST", headers: { "x-edgetable-explorer": token() }, body: text })
    if (!response.ok) throw await failed(response)
    return ((await response.json()) as { signature: string }).signature
  }

/** throughGateway is a profile of 'edgetable explorer'. */
export const throughGateway = (p: Profile, token: () => string): Service => ({
  ...p,
  orders: true,
  endpoint: p.endpoint ?? "",
  sign: p.readOnly ? undefined : signedThere(p.name, token),
  about: async <T>(kind: string, rest: string, signal?: AbortSignal) => {
    const response = await fetch(`${kind}/${encodeURIComponent(p.name)}${rest}`, { headers: { "x-edgetable-explorer": token() }, cache: "no-store", signal: signal ?? null })
    if (!response.ok) throw await failed(response)
    return (await response.json()) as T
  },
  prepare: async (path, query) => ({
    url: new URL(`p/${encodeURIComponent(p.name)}/${path}${search(query)}`, location.href.split("#")[0]).href,
    headers: { "x-edgetable-explorer": token(), ...asTool },
  }),
})

/** direct is an account whose key or token the page has. */
export const direct = (c: Connection, sign: Signer | undefined): Service => ({
  name: c.account,
  account: c.account,
  endpoint: c.endpoint,
  readOnly: false,
  color: "",
  table: new URLSearchParams(c.sas).get("tn") ?? undefined,
  sign,
  about: undefined,
  local: false,
  orders: URL.canParse(c.endpoint) && new URL(c.endpoint).origin === location.origin, // elsewhere the CORS rule decides about headers
  prepare: async (path, query) => {
    const url = new URL(`${c.endpoint}/${path}${search(query)}`)
    const headers: Record<string, string> = url.origin === location.origin ? asTool : {}
    if (!sign) return { url: url.href + (url.search ? "&" : "?") + c.sas, headers }
    const date = new Date().toUTCString()
    const signature = await sign(stringToSign(date, c.account, url))
    return { url: url.href, headers: { ...headers, "x-ms-date": date, authorization: `SharedKeyLite ${c.account}:${signature}` } }
  },
})

/** send sends a request and returns the answer if it succeeded. */
export async function send(service: Service, call: Call): Promise<Response> {
  const { url, headers } = await service.prepare(call.path, call.query ?? {})
  let response: Response
  try {
    response = await fetch(url, {
      method: call.method ?? "GET",
      headers: {
        accept: "application/json;odata=minimalmetadata",
        dataserviceversion: "3.0",
        "x-ms-version": "2019-02-02",
        ...(call.body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
        ...call.headers,
      },
      body: call.body ?? null,
      signal: call.signal ?? null,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    })
  } catch (e) {
    if (call.signal?.aborted) throw e
    throw unreachable(service.endpoint || service.name, e)
  }
  if (!response.ok) throw await failed(response)
  return response
}

/** text reads an answer to its end as text. */
export const text = async (response: Response, signal?: AbortSignal) => new TextDecoder().decode(await bytes(response, signal))

/** bytes reads an answer to its end, or says that it ended too early. */
export async function bytes(response: Response, signal?: AbortSignal): Promise<Uint8Array> {
  try {
    return new Uint8Array(await response.arrayBuffer())
  } catch (e) {
    if (signal?.aborted) throw e
    throw new Failure("The answer ended too early: the connection was lost.", 0, "Cut")
  }
}
