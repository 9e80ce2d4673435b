export interface Account {
  name: string
  /** the key, as base64 */
  key: string
  /** URL of the account, for the clients of the SDK */
  endpoint: string
  connectionString: string
}

/** A Server is its first account too: give it to a test that needs only one. */
export interface Server extends Account {
  /** http://127.0.0.1:PORT */
  url: string
  /** account returns the next account that nobody has used: empty, and separate from all others. */
  account(): Account
  /** stop ends the server; its tables are gone. Without it the server ends with this process. */
  stop(): Promise<void>
}

export interface Options {
  /** number of accounts; default 100 */
  accounts?: number
  /** more flags of `edgetable serve`, such as ["--chaos", "503=0.1"] */
  args?: string[]
  /** more variables of the server's environment */
  env?: Record<string, string>
}

/** start starts a server in memory, on a free port of the loopback address, and waits until it takes requests. */
export function start(options?: Options): Promise<Server>
