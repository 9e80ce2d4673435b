// The bar at the top: the account, and how the page looks.
import { go, home } from "../model/route.ts"
import { type Theme, look } from "../model/settings.ts"
import { useStore } from "../model/store.ts"
import type { Service } from "../wire/client.ts"
import { Icon, type IconName } from "./icon.tsx"
import { toggleSidebar } from "./shell.ts"

interface Props {
  services: Service[]
  service: Service | undefined
  version: string
  disconnect: (() => void) | undefined
  access: () => void
  help: () => void
}

const themes: Record<Theme, { next: Theme; icon: IconName; label: string }> = {
  auto: { next: "light", icon: "auto", label: "Colours as the system has them; click for light" },
  light: { next: "dark", icon: "sun", label: "Light colours; click for dark" },
  dark: { next: "auto", icon: "moon", label: "Dark colours; click for those of the system" },
}

export function Top({ services, service, version, disconnect, access, help }: Props) {
  const { theme, zone } = useStore(look)
  const { next, icon, label } = themes[theme]
  const otherZone = zone === "utc" ? "Dates are shown in UTC; click for local time" : "Dates are shown in local time; click for UTC"
  return (
    <header class="top" data-color={service?.color}>
      {service && (
        <button type="button" class="plain" aria-label="List of tables" title="Show or hide the list of tables" data-test="sidebar" onClick={toggleSidebar}>
          <Icon name="sidebar" />
        </button>
      )}
      <span class="mark" aria-hidden="true" />
      <span class="name" title={version}>
        edgetable
      </span>
      {service && <span class="slash" aria-hidden="true">/</span>}
      {services.length > 1 ? (
        <select aria-label="Account" data-test="account-open" value={service?.name ?? ""} onChange={(e) => go({ ...home, service: e.currentTarget.value })}>
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
        <button type="button" class="plain" data-test="access-open" aria-label="Access" title="Access: tokens, policies, CORS, keys" onClick={access}>
          <Icon name="key" /> <span class="label">Access</span>
        </button>
      )}
      <button type="button" class="plain" data-test="zone" aria-label={otherZone} title={otherZone} onClick={() => look.update({ zone: zone === "utc" ? "local" : "utc" })}>
        <Icon name="clock" /> <span class="label">{zone === "utc" ? "UTC" : "Local time"}</span>
      </button>
      <button type="button" class="plain" data-test="theme" aria-label={label} title={label} onClick={() => look.update({ theme: next })}>
        <Icon name={icon} />
      </button>
      <button type="button" class="plain" aria-label="Keys" title="Keys (?)" data-test="help" onClick={help}>
        <Icon name="help" />
      </button>
      {disconnect && (
        <button type="button" class="plain" data-test="disconnect" aria-label="Disconnect" title="Disconnect: this window forgets the account" onClick={disconnect}>
          <Icon name="leave" />
        </button>
      )}
    </header>
  )
}
