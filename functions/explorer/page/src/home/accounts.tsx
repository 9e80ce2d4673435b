// The accounts that 'edgetable explorer' knows: one click opens one.
import { go, home } from "../model/route.ts"
import type { Service } from "../wire/client.ts"
import { Icon } from "../ui/icon.tsx"
import { Empty } from "../ui/parts.tsx"

export function Accounts({ services }: { services: Service[] }) {
  if (!services.length)
    return (
      <main class="blank">
        <Empty icon="key" title="There are no profiles yet." text="'edgetable profile add' creates one." />
      </main>
    )
  return (
    <main class="connect" data-test="accounts">
      <div class="chooser">
        <span class="mark" aria-hidden="true" />
        <h1>Choose an account</h1>
        <ul class="kept">
          {services.map((s) => (
            <li key={s.name}>
              <button type="button" class="account" data-color={s.color} onClick={() => go({ ...home, service: s.name })}>
                <i aria-hidden="true" />
                <b>{s.name}</b>
                <span class="dim">{s.endpoint}</span>
                {s.readOnly && <span class="badge">read-only</span>}
                {s.local && <span class="badge here">this machine</span>}
                <Icon name="next" />
              </button>
            </li>
          ))}
        </ul>
      </div>
    </main>
  )
}
