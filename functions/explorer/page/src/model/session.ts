// How the page came here: with a session of 'edgetable explorer', with one of the server whose page this is, or without one: then the user gives a key.
import { type Service, type Profile, direct, signedThere, throughGateway } from "../wire/client.ts"
import { here } from "../wire/connection.ts"
import { Failure, failed } from "../wire/failure.ts"

export interface Session {
  version: string
  /** services are the profiles, or the accounts of the server; undefined if the page asks for a key itself. */
  services: Service[] | undefined
  /** development: the endpoint that serves the page has the development account, whose key is public. */
  development?: boolean
  /** refused: the link of this window opens nothing. */
  refused?: Failure
  /** consent: 'edgetable explorer --link' opens all accounts of the server here. */
  consent?: boolean
}

interface Answer {
  version?: string
  profiles?: Profile[]
  accounts?: string[]
  token?: string
  development?: boolean
  consent?: boolean
}

const kept = "edgetable.session"
let token = ""

/** begin exchanges the one-time token in the URL for one of this window, and finds out who serves the page. */
export async function begin(): Promise<Session> {
  const once = /[#&]token=([^&]+)/.exec(location.hash)?.[1]
  if (once) history.replaceState(null, "", location.pathname + "#/")
  token = sessionStorage.getItem(kept) ?? ""
  let response = await ask(once ?? token)
  // A link that was used before opens the window that used it.
  if (response.status === 401 && once && token) response = await ask(token)
  if (response.status === 401) {
    const refused = await failed(response)
    if (refused.code === "NoConsent") {
      sessionStorage.removeItem(kept)
      token = ""
      // A session that ended in the meantime is no error: the page asks for a key, or for the next link.
      const without = await begin()
      return once ? { ...without, refused } : without
    }
    throw refused
  }
  if (response.status === 403) throw await failed(response)
  if (!response.ok) return { version: "", services: undefined }
  const answer = (await response.json()) as Answer
  const version = answer.version ?? ""
  if (answer.token) {
    token = answer.token
    sessionStorage.setItem(kept, token)
  }
  if (answer.profiles) return { version, services: answer.profiles.map((p) => throughGateway(p, () => token)) }
  if (answer.accounts) return { version, services: answer.accounts.map((a) => direct({ account: a, endpoint: here(a) }, signedThere(a, () => token))) }
  return { version, services: undefined, development: !!answer.development, consent: !!answer.consent }
}

async function ask(secret: string): Promise<Response> {
  try {
    return await fetch("session", { headers: { "x-edgetable-explorer": secret }, cache: "no-store" })
  } catch (e) {
    throw new Failure(`The explorer does not answer (${e instanceof Error ? e.message : String(e)}). Is it running?`, 0, "Unreachable")
  }
}
