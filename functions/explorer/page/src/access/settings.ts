// Stored access policies of a table, and the properties of the service with its CORS rules.
import { type Service, send, text } from "../wire/client.ts"
import { type Element, declaration, element, find, parse, textAt } from "./xml.ts"

export interface Policy {
  id: string
  start: string
  expiry: string
  permissions: string
}

/** mostPolicies and mostRules are limits of the service. */
export const mostPolicies = 5
export const mostRules = 5

const xml = { "content-type": "application/xml" }
const aclPath = (table: string) => encodeURIComponent(table)

export async function getPolicies(service: Service, table: string): Promise<Policy[]> {
  const response = await send(service, { path: aclPath(table), query: { comp: "acl" } })
  return parse(await text(response)).children.map((e) => ({
    id: textAt(e, "Id"),
    start: textAt(e, "AccessPolicy", "Start"),
    expiry: textAt(e, "AccessPolicy", "Expiry"),
    permissions: textAt(e, "AccessPolicy", "Permission"),
  }))
}

export async function setPolicies(service: Service, table: string, policies: Policy[]): Promise<void> {
  const one = (p: Policy) =>
    element("SignedIdentifier", [
      element("Id", p.id),
      element("AccessPolicy", [
        p.start ? element("Start", p.start) : undefined,
        p.expiry ? element("Expiry", p.expiry) : undefined,
        p.permissions ? element("Permission", p.permissions) : undefined,
      ]),
    ])
  await send(service, { method: "PUT", path: aclPath(table), query: { comp: "acl" }, headers: xml, body: declaration + element("SignedIdentifiers", policies.map(one)) })
}

export interface Rule {
  origins: string
  methods: string
  allowed: string
  exposed: string
  seconds: string
}

/** Counted is how the service counts or logs requests; "" days keep everything. */
export interface Counted {
  on: boolean
  apis: boolean
  days: string
}

export interface Properties {
  logging: { read: boolean; write: boolean; delete: boolean; days: string }
  hours: Counted
  minutes: Counted
  rules: Rule[]
}

const properties = { restype: "service", comp: "properties" }
const yes = (e: Element | undefined, ...path: string[]) => textAt(e, ...path) === "true"
const daysOf = (e: Element | undefined) => (yes(e, "RetentionPolicy", "Enabled") ? textAt(e, "RetentionPolicy", "Days") : "")

export async function getProperties(service: Service): Promise<Properties> {
  const root = parse(await (await send(service, { path: "", query: properties })).text())
  const logging = find(root, "Logging")
  const counted = (name: string): Counted => ({ on: yes(root, name, "Enabled"), apis: yes(root, name, "IncludeAPIs"), days: daysOf(find(root, name)) })
  return {
    logging: { read: yes(logging, "Read"), write: yes(logging, "Write"), delete: yes(logging, "Delete"), days: daysOf(logging) },
    hours: counted("HourMetrics"),
    minutes: counted("MinuteMetrics"),
    rules: (find(root, "Cors")?.children ?? []).map((e) => ({
      origins: textAt(e, "AllowedOrigins"),
      methods: textAt(e, "AllowedMethods"),
      allowed: textAt(e, "AllowedHeaders"),
      exposed: textAt(e, "ExposedHeaders"),
      seconds: textAt(e, "MaxAgeInSeconds"),
    })),
  }
}

const retention = (days: string) => element("RetentionPolicy", [element("Enabled", String(!!days)), days ? element("Days", days) : undefined])
const metrics = (name: string, c: Counted) =>
  element(name, [element("Version", "1.0"), element("Enabled", String(c.on)), c.on ? element("IncludeAPIs", String(c.apis)) : undefined, retention(c.days)])

export async function setProperties(service: Service, p: Properties): Promise<void> {
  const rule = (r: Rule) =>
    element("CorsRule", [
      element("AllowedOrigins", r.origins),
      element("AllowedMethods", r.methods),
      element("MaxAgeInSeconds", r.seconds || "0"),
      element("ExposedHeaders", r.exposed),
      element("AllowedHeaders", r.allowed),
    ])
  const { logging } = p
  const document = element("StorageServiceProperties", [
    element("Logging", [
      element("Version", "1.0"),
      element("Delete", String(logging.delete)),
      element("Read", String(logging.read)),
      element("Write", String(logging.write)),
      retention(logging.days),
    ]),
    metrics("HourMetrics", p.hours),
    metrics("MinuteMetrics", p.minutes),
    element("Cors", p.rules.map(rule)),
  ])
  await send(service, { method: "PUT", path: "", query: properties, headers: xml, body: declaration + document })
}

/** pageRule lets a page of an origin do what this one does. */
export const pageRule = (origin: string): Rule => ({
  origins: origin,
  methods: "GET,HEAD,POST,PUT,DELETE,MERGE,OPTIONS",
  allowed: "accept,authorization,content-type,dataserviceversion,if-match,maxdataserviceversion,prefer,x-ms-*,x-edgetable-*",
  exposed: "etag,x-ms-*,x-edgetable-*",
  seconds: "7200",
})
