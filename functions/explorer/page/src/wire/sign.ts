// SharedKeyLite: the date and the resource are signed.
import { hmac } from "./hmac.ts"

/** A Signer signs a text with the key of an account and gives base64. */
export type Signer = (text: string) => Promise<string>

const bytes = (base64: string) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))
const base64 = (b: Uint8Array) => btoa(String.fromCharCode(...b))

/** importKey makes a key of the browser from which nobody can read the account key again. */
export const importKey = (key: string): Promise<CryptoKey> =>
  crypto.subtle.importKey("raw", bytes(key), { name: "HMAC", hash: "SHA-256" }, false, ["sign"])

export const signWith =
  (key: CryptoKey): Signer =>
  async (text) =>
    base64(new Uint8Array(await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text))))

/** signPlain is for pages that have no WebCrypto. */
export function signPlain(key: string): Signer {
  const raw = bytes(key)
  return async (text) => base64(hmac(raw, new TextEncoder().encode(text)))
}

/** stringToSign is the text that SharedKeyLite covers; the path is as it is sent. */
export function stringToSign(date: string, account: string, url: URL): string {
  const comp = url.searchParams.get("comp")
  return `${date}\n/${account}${url.pathname}${comp === null ? "" : "?comp=" + comp}`
}
