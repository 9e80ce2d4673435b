import { encode } from "../wire/odata.ts"
import type { Asked } from "./asked.ts"
import { lines } from "./quote.ts"

/** curl signs with openssl. The key is in EDGETABLE_KEY, in base64. */
export const curl = ({ table, filter, select, endpoint, account }: Asked) => {
  const query = [filter && `$filter=${encode(filter)}`, select.length && `$select=${encode(select.join(","))}`].filter(Boolean).join("&")
  const path = new URL(endpoint + "/" + encodeURIComponent(table) + "()").pathname
  return lines(
    "#!/bin/sh",
    "# One page, at most 1,000 entities. The next one begins where the headers x-ms-continuation-… say.",
    "date=$(LC_ALL=C date -u '+%a, %d %b %Y %H:%M:%S GMT')",
    'key=$(printf %s "$EDGETABLE_KEY" | base64 -d | od -An -v -tx1 | tr -d \' \\n\')',
    `signature=$(printf '%s\\n%s' "$date" '/${account}${path}' | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)`,
    `curl -sS '${endpoint}/${encodeURIComponent(table)}()${query && "?" + query}' \\`,
    `  -H "Authorization: SharedKeyLite ${account}:$signature" \\`,
    '  -H "x-ms-date: $date" -H "x-ms-version: 2019-02-02" -H "Accept: application/json;odata=minimalmetadata"',
  )
}
