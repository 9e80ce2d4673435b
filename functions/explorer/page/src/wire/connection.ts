// What a user types to connect: account and key, a connection string, or the URL with a shared access signature.

export interface Connection {
  endpoint: string
  account: string
  /** Exactly one of key and sas is set. */
  key?: string
  sas?: string
}

// The emulator's account; its key is public, see Microsoft's documentation of Azurite.
const emulator =
  "AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;TableEndpoint=http://127.0.0.1:10002/devstoreaccount1;"

/** here is the likely endpoint: accounts are folders of the server that served the page, or its host. */
export const here = (account: string) => (/^[a-z0-9]+\.table\./.test(location.hostname) ? location.origin : `${location.origin}/${account}`)

/** development is the development account at an endpoint. */
export const development = (endpoint: string): Connection => ({ ...parseConnection(emulator), endpoint })

/** parseConnection reads a connection string or a SAS URL, or says what is wrong with it. */
export function parseConnection(typed: string): Connection {
  const text = typed.trim()
  if (/^https?:/i.test(text)) return parseURL(text)
  const parts = new Map(
    text
      .split(";")
      .filter((part) => part.trim())
      .map((part) => {
        const i = part.indexOf("=")
        if (i < 0) throw new Error(`a part of the connection string has no =: ${part.trim()}`)
        return [part.slice(0, i).trim().toLowerCase(), part.slice(i + 1).trim()]
      }),
  )
  if (parts.get("usedevelopmentstorage") === "true") return parseConnection(emulator)
  const account = parts.get("accountname") ?? ""
  const endpoint =
    parts.get("tableendpoint") ??
    (account && `${parts.get("defaultendpointsprotocol") ?? "https"}://${account}.table.${parts.get("endpointsuffix") ?? "core.windows.net"}`)
  if (!endpoint) throw new Error("the connection string has neither AccountName nor TableEndpoint")
  const key = parts.get("accountkey")
  const sas = parts.get("sharedaccesssignature")
  if (key) return checked({ endpoint, account, key })
  if (sas) return checked({ endpoint, account: account || accountOf(endpoint), sas: sas.replace(/^\?/, "") })
  throw new Error("the connection string has neither AccountKey nor SharedAccessSignature")
}

function parseURL(text: string): Connection {
  const url = new URL(text)
  if (!url.searchParams.has("sig")) throw new Error("this URL has no signature (sig=…); give the key of the account, too")
  const sas = url.search.slice(1)
  url.search = ""
  url.hash = ""
  const tn = new URLSearchParams(sas).get("tn")
  if (tn && url.pathname.toLowerCase().endsWith("/" + tn.toLowerCase())) url.pathname = url.pathname.slice(0, -tn.length - 1)
  return checked({ endpoint: url.href, account: accountOf(url.href), sas })
}

export function checked(c: Connection): Connection {
  let url: URL
  try {
    url = new URL(c.endpoint)
  } catch {
    throw new Error(`the endpoint is not a URL: ${c.endpoint}`)
  }
  if (c.key !== undefined && !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(c.key)) throw new Error("the key is not base64")
  if (c.key !== undefined && !c.account) throw new Error("a key needs the name of its account")
  return { ...c, endpoint: url.href.replace(/\/+$/, "") }
}

/** accountOf is the account in a URL: the last folder, or the first label of the host. */
export function accountOf(endpoint: string): string {
  const url = new URL(endpoint)
  return url.pathname.replace(/\/+$/, "").split("/").pop() || url.hostname.split(".")[0]!
}
