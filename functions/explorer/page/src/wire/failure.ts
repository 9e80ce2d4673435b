// What went wrong with a request, in words for the user.

export class Failure extends Error {
  constructor(
    message: string,
    readonly status: number, // 0: no answer
    readonly code: string,
    /** retryAfter is the number of seconds the server asked to wait, if it did. */
    readonly retryAfter?: number,
    /** index is the operation of a batch that failed. */
    readonly index?: number,
  ) {
    super(message)
  }

  /** forbids: the service answered, and does not permit this, but maybe something else. Other answers 403 are for all requests. */
  get forbids() {
    return ["AuthorizationFailure", "AuthorizationPermissionMismatch", "AuthorizationResourceTypeMismatch"].includes(this.code) && !blocked.test(this.message)
  }

  /** unseen: the entity is not the one that was seen, or is gone. */
  get unseen() {
    return this.status === 412 || this.code === "ResourceNotFound"
  }

  /** busy: the service has time later; it said so before it began, as a rule. */
  get busy() {
    return this.status === 503 || this.status === 429
  }

  get transient() {
    return this.busy || [0, 500, 502, 504].includes(this.status)
  }
}

/** blocked is what a server says of its firewall. */
const blocked = /firewall blocks/

const advice: Record<string, string> = {
  AuthenticationFailed: "The signature was refused: the key is wrong, the token has expired, or the clock of this machine is wrong.",
  AuthorizationFailure: "The token or the account does not permit this. A firewall of the account may refuse this address, too.",
  AuthorizationPermissionMismatch: "The token does not permit this.",
  AuthorizationSourceIPMismatch: "The token is not valid from this address.",
  TableNotFound: "The table does not exist; it may have been deleted meanwhile.",
  ResourceNotFound: "The entity does not exist; it may have been deleted meanwhile.",
  ServerBusy: "The server is busy.",
  TableBeingDeleted: "The table is being deleted.",
  NoSession: "This window has no session: open the link that 'edgetable explorer' printed last.",
}

/** longest bounds what is shown of a message; the StringToSign of a refused signature is as long as its URL. */
const longest = 400

/** forPrograms is what the service says to those who sign by themselves. */
const forPrograms = /^Server failed to authenticate the request\. Make sure the value of (?:the )?Authorization header is formed correctly,? including the signature\.\s*(?:Detail: )?/

/** failed reads the error in an answer. */
export async function failed(response: Response): Promise<Failure> {
  const body = await response.text().catch(() => "")
  return failure(response.status, body, response.headers.get("x-ms-error-code") ?? "", response.headers.get("retry-after"))
}

export function failure(status: number, body: string, code: string, wait?: string | null): Failure {
  let message = ""
  try {
    const error = (JSON.parse(body) as { "odata.error"?: { code?: string; message?: { value?: string } } })["odata.error"]
    code = error?.code ?? code
    message = error?.message?.value ?? ""
  } catch {
    code ||= /<(?:\w+:)?code>([^<]*)</i.exec(body)?.[1] ?? ""
    message = /<(?:\w+:)?message[^>]*>([^<]*)</i.exec(body)?.[1] ?? body.slice(0, 300)
  }
  message = message.split(/\r?\nRequestId:/)[0]!.trim()
  const index = /^(\d+):/.exec(message)
  if (index) message = message.slice(index[0].length)
  if (code === "AuthenticationFailed") message = message.replace(forPrograms, "").replace(/\.? Check that the key is base64[^]*$/, "")
  if (message.length > longest) message = message.slice(0, longest) + "…"
  const known = !blocked.test(message) && advice[code]
  const text = known ? (message && !known.toLowerCase().includes(message.toLowerCase()) ? `${known} (${message})` : known) : message || `The server answered ${status}.`
  return new Failure(text, status, code, wait ? seconds(wait) : undefined, index ? +index[1]! : undefined)
}

const seconds = (header: string) => (/^\d+$/.test(header) ? +header : Math.max(1, Math.ceil((Date.parse(header) - Date.now()) / 1000) || 1))

export const unreachable = (where: string, cause: unknown) =>
  new Failure(`${where} does not answer. ${sameOrigin(where) ? "Is the server running? 'edgetable serve' starts it." : `Is it running, and do its CORS rules allow this page? (${cause instanceof Error ? cause.message : String(cause)})`}`, 0, "Unreachable")

const sameOrigin = (where: string) => typeof location !== "undefined" && URL.canParse(where) && new URL(where).origin === location.origin

/** patiently repeats what fails for a while, as the server asks: for long work that nobody watches. Of what may not be done twice, only what is busy is repeated. */
export async function patiently<T>(work: () => Promise<T>, signal: AbortSignal, waiting: (f: Failure, seconds: number) => void, twice = true): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work()
    } catch (e) {
      if (!(e instanceof Failure) || !(twice ? e.transient : e.busy) || attempt >= 8) throw e
      signal.throwIfAborted() // it was stopped during the attempt, so no event follows
      const wait = Math.min(e.retryAfter ?? 2 ** attempt, 60)
      waiting(e, wait)
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, wait * 1000)
        signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true })
      })
    }
  }
}
