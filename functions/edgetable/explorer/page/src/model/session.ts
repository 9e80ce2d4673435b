// How the page came here: with a session of 'edgetable explorer', or from an endpoint, where the user gives a key.
import { type Home, type Profile, throughGateway } from "../wire/client.ts"
import { Failure, failed } from "../wire/failure.ts"

export interface Session {
  version: string
  /** homes are the profiles; undefined if the page asks for a key itself. */
  homes: Home[] | undefined
}

const kept = "edgetable.session"
let token = ""

/** begin exchanges the one-time token in the URL and finds out who serves the page. */
export async function begin(): Promise<Session> {
  const once = /[#&]token=([^&]+)/.exec(location.hash)?.[1]
  if (once) history.replaceState(null, "", location.pathname + "#/")
  token = sessionStorage.getItem(kept) ?? ""
  if (once) {
    const response = await ask("POST", once)
    if (response.ok) {
      token = ((await response.json()) as { token: string }).token
      sessionStorage.setItem(kept, token)
    } else if (!token) throw await failed(response)
  }
  const response = await ask("GET", token)
  if (response.status === 401) throw await failed(response)
  if (!response.ok) return { version: "", homes: undefined }
  const { version, profiles } = (await response.json()) as { version: string; profiles: Profile[] }
  return { version, homes: profiles.map((p) => throughGateway(p, () => token)) }
}

async function ask(method: string, secret: string): Promise<Response> {
  try {
    return await fetch("session", { method, headers: { "x-edgetable-explorer": secret }, cache: "no-store" })
  } catch (e) {
    throw new Failure(`The explorer does not answer (${e instanceof Error ? e.message : String(e)}). Is it running?`, 0, "Unreachable")
  }
}
