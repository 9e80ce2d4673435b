// The bar at the top: the account, and how the page looks.
import { go } from "../model/route.ts"
import { type Theme, look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import type { Service } from "../wire/client.ts"

interface Props {
  services: Service[]
  service: Service | undefined
  version: string
  disconnect: (() => void) | undefined
  access: () => void
  help: () => void
}

export function Top({ services, service, version, disconnect, access, help }: Props) {
  const { theme, zone } = useStore(look)
  const next: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" }
  return (
    <header class="top" data-color={service?.color}>
      <span class="mark" aria-hidden="true" />
      <b class="name" title={version}>
        edgetable
      </b>
      {services.length > 1 ? (
        <select aria-label="Account" data-test="account-open" value={service?.name ?? ""} onChange={(e) => go({ service: e.currentTarget.value, table: "", filter: "", select: "", sort: "", entity: undefined })}>
          {!service && <option value="">Choose an account</option>}
          {services.map((h) => (
            <option key={h.name} value={h.name}>
              {h.name}
            </option>
          ))}
        </select>
      ) : (
        <span data-test="account-open">{service?.name}</span>
      )}
      {service && <span class="dim endpoint">{service.endpoint}</span>}
      {service?.readOnly && (
        <span class="badge" data-test="read-only">
          read-only
        </span>
      )}
      <span class="grow" />
      {service && (
        <button type="button" class="plain" data-test="access-open" title="Tokens, access policies, CORS, keys" onClick={access}>
          Access
        </button>
      )}
      {disconnect && (
        <button type="button" class="plain" data-test="disconnect" onClick={disconnect}>
          Disconnect
        </button>
      )}
      <button type="button" class="plain" data-test="zone" title="How dates are shown" onClick={() => look.update({ zone: zone === "utc" ? "local" : "utc" })}>
        {zone === "utc" ? "UTC" : "Local time"}
      </button>
      <button type="button" class="plain" data-test="theme" title="Light or dark" onClick={() => look.update({ theme: next[theme] })}>
        {{ auto: "Auto", light: "Light", dark: "Dark" }[theme]}
      </button>
      <button type="button" class="plain" aria-label="Keys" title="Keys (?)" data-test="help" onClick={help}>
        ?
      </button>
    </header>
  )
}
