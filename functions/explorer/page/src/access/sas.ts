// Shared access signatures: the text that is signed, the URL, and what it permits in words.
import { plural } from "../model/words.ts"
import type { Service } from "../wire/client.ts"
import type { Signer } from "../wire/sign.ts"

/** Grant is what a token permits. */
export interface Grant {
  /** table that it is for; "" for the whole account */
  table: string
  /** letters: of a table r a u d, of an account r w d l a c u */
  permissions: string
  /** letters s c o of an account: service, tables, entities */
  resources: string
  start: string
  expiry: string
  ip: string
  httpsOnly: boolean
  /** id of a stored access policy of the table */
  policy: string
  fromPk: string
  fromRk: string
  toPk: string
  toRk: string
}

const version = "2019-02-02"
const order = { table: "raud", account: "rwdlacu" }
const sorted = (letters: string, all: string) => [...all].filter((l) => letters.includes(l)).join("")

function fields(g: Grant): [string, string][] {
  const common: [string, string][] = [
    ["sv", version],
    ["st", g.start],
    ["se", g.expiry],
    ["sp", sorted(g.permissions, g.table ? order.table : order.account)],
    ["sip", g.ip],
    ["spr", g.httpsOnly ? "https" : ""],
  ]
  return g.table
    ? [...common, ["tn", g.table], ["si", g.policy], ["spk", g.fromPk], ["srk", g.fromRk], ["epk", g.toPk], ["erk", g.toRk]]
    : [...common, ["ss", "t"], ["srt", sorted(g.resources, "sco")]]
}

/** textToSign is the StringToSign of a token of an account. */
function textToSign(account: string, g: Grant): string {
  const f = Object.fromEntries(fields(g))
  const lines = g.table
    ? [f["sp"], f["st"], f["se"], `/table/${account}/${g.table.toLowerCase()}`, f["si"], f["sip"], f["spr"], f["sv"], f["spk"], f["srk"], f["epk"], f["erk"]]
    : [account, f["sp"], f["ss"], f["srt"], f["st"], f["se"], f["sip"], f["spr"], f["sv"], ""]
  return lines.join("\n")
}

/** makeToken signs; the result is a query without a question mark. */
export async function makeToken(account: string, g: Grant, sign: Signer): Promise<string> {
  const signature = await sign(textToSign(account, g))
  return [...fields(g), ["sig", signature] as const]
    .filter(([, value]) => value)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&")
}

/** urlOf is the URL for a client. */
export const urlOf = (service: Service, g: Grant, token: string) => `${service.endpoint}/${g.table}?${token}`

/** wrong says what would make a token useless, or "". */
export function wrong(g: Grant): string {
  if (!g.policy && !g.permissions) return "Choose the permissions."
  if (!g.table && !g.resources) return "Choose the resources: entities, tables or the service."
  if (!g.policy && !g.expiry) return "Enter an expiry time."
  if (g.expiry && Number.isNaN(Date.parse(g.expiry))) return "The expiry is not a valid time."
  if (g.start && g.expiry && g.start >= g.expiry) return "The expiry must be after the start."
  if (g.expiry && Date.parse(g.expiry) <= Date.now()) return "The expiry is in the past."
  if (g.fromRk && !g.fromPk) return "A first RowKey needs a first PartitionKey."
  if (g.toRk && !g.toPk) return "A last RowKey needs a last PartitionKey."
  if (g.ip && !/^\d+(\.\d+){3}(-\d+(\.\d+){3})?$/.test(g.ip)) return "Enter an address such as 192.0.2.1, or a range such as 192.0.2.1-192.0.2.9."
  return ""
}

const list = (words: string[]) => (words.length < 2 ? words.join("") : words.slice(0, -1).join(", ") + " and " + words.at(-1))

function verbs(g: Grant): string {
  const has = (letters: string) => [...letters].every((l) => g.permissions.includes(l))
  const entity = [has("r") && "read", has("a") && "insert", has("u") && "update", has("d") && "delete"].filter((v) => typeof v === "string")
  if (g.table) return entity.length ? `${list(entity)} entities of the table ${g.table}` : "do nothing"
  const parts: string[] = []
  if (g.resources.includes("o") && entity.length) parts.push(`${list(entity)} entities of all tables`)
  const table = [has("l") && "list", (has("c") || has("w")) && "create", has("d") && "delete"].filter((v) => typeof v === "string")
  if (g.resources.includes("c") && table.length) parts.push(`${list(table)} tables`)
  const ofService = [has("r") && "read", has("w") && "change"].filter((v) => typeof v === "string")
  if (g.resources.includes("s") && ofService.length) parts.push(`${list(ofService)} the properties of the service`)
  return parts.length ? parts.join("; ") : "do nothing: these permissions do not apply to the chosen resources"
}

const place = (pk: string, rk: string) => `PartitionKey ${JSON.stringify(pk)}${rk ? `, RowKey ${JSON.stringify(rk)}` : ""}`

/** words say what a token permits, a line each. */
export function words(g: Grant): string[] {
  const lines: string[] = []
  if (g.permissions) lines.push(`Everybody who has this URL can ${verbs(g)}.`)
  if (g.policy) lines.push(`The stored access policy ${JSON.stringify(g.policy)} applies too. If you change or delete the policy, the token changes or becomes invalid.`)
  if (g.table && (g.fromPk || g.toPk))
    lines.push(`Only entities${g.fromPk ? ` from ${place(g.fromPk, g.fromRk)}` : ""}${g.toPk ? ` up to ${place(g.toPk, g.toRk)}` : ""}, both included.`)
  if (g.start) lines.push(`From ${g.start}.`)
  if (g.expiry) lines.push(`Until ${g.expiry}${within(Date.parse(g.expiry) - Date.now())}.`)
  if (g.ip) lines.push(`Only from the address${g.ip.includes("-") ? "es" : ""} ${g.ip}.`)
  if (g.httpsOnly) lines.push("Only over https.")
  if (!g.policy) lines.push("Only a change of the account's key revokes the token before it expires. A token with a stored access policy can be revoked at any time.")
  return lines
}

function within(milliseconds: number): string {
  const hours = milliseconds / 3_600_000
  if (!(hours > 0)) return ""
  return ", in " + (hours < 48 ? plural(Math.max(1, Math.round(hours)), "hour") : plural(Math.round(hours / 24), "day"))
}
