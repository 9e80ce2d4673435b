import type { Service } from "./client.ts"

/** ready asks a server whether its store works, if the page came from it; "" says that it does, or that nobody says otherwise. */
export async function ready(service: Service): Promise<string> {
  if (service.about || !URL.canParse(service.endpoint) || new URL(service.endpoint).origin !== location.origin) return ""
  try {
    const response = await fetch("/_/ready", { cache: "no-store" })
    return response.status === 503 ? (await response.text()).trim() : ""
  } catch {
    return "" // the list of tables says it
  }
}
