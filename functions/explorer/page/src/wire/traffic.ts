// The statistics that a service keeps of a table.
import type { Report } from "../traffic/report.ts"
import { type Service, send } from "./client.ts"
import type { Hour } from "../traffic/hour.ts"
import { Failure } from "./failure.ts"

/** getTraffic is the traffic of a table; undefined if the service does not tell it. */
export async function getTraffic(service: Service, table: string, signal?: AbortSignal): Promise<Report | undefined> {
  if (service.about) {
    const answer = await service.about<Report | { untold: string }>("traffic", "/" + encodeURIComponent(table), signal)
    return "untold" in answer ? undefined : answer
  }
  if (new URL(service.endpoint).origin !== location.origin) return undefined // its CORS rules are for entities
  try {
    const response = await send(service, { path: encodeURIComponent(table), query: { comp: "traffic" }, ...(signal ? { signal } : {}) })
    const answer = (await response.json().catch(() => ({}))) as Partial<Report>
    return answer.map ? (answer as Report) : undefined // Azurite answers with entities
  } catch (e) {
    if (e instanceof Failure && (e.status === 501 || e.code === "InvalidQueryParameterValue" || e.status === 403)) return undefined
    throw e
  }
}

/** getHours is the last hour of each table, where the server of this machine tells it. */
export async function getHours(service: Service, signal: AbortSignal): Promise<((table: string) => Hour) | undefined> {
  if (!service.local || !service.about) return undefined
  try {
    const { tables, others } = await service.about<{ tables: (Hour & { table: string })[]; others: Hour }>("traffic", "", signal)
    const known = new Map(tables.map((h) => [h.table.toLowerCase(), h]))
    return (table) => known.get(table.toLowerCase()) ?? others
  } catch {
    return undefined // an older server
  }
}
