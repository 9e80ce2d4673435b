// How the page came here: with a session of 'edgetable explorer', or from an endpoint, where the user gives a key.
import { type Service, type Profile, throughGateway } from "../wire/client.ts"
import { Failure, failed } from "../wire/failure.ts"

export interface Session {
  version: string
  /** services are the profiles; undefined if the page asks for a key itself. */
  services: Service[] | undefined
  /** development: the endpoint that serves the page has the development account, whose key is public. */
  development?: boolean
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
  if (response.status === 401) throw await failed(response)
  if (!response.ok) return { version: "", services: undefined }
  const answer = (await response.json()) as { version: string; profiles?: Profile[]; token?: string; development?: boolean }
  if (!answer.profiles) return { version: "", services: undefined, development: !!answer.development } // an endpoint serves the page
  if (answer.token) {
    token = answer.token
    sessionStorage.setItem(kept, token)
  }
  return { version: answer.version, services: answer.profiles.map((p) => throughGateway(p, () => token)) }
}

async function ask(secret: string): Promise<Response> {
  try {
    return await fetch("session", { headers: { "x-edgetable-explorer": secret }, cache: "no-store" })
  } catch (e) {
    throw new Failure(`The explorer does not answer (${e instanceof Error ? e.message : String(e)}). Is it running?`, 0, "Unreachable")
  }
}
