import { type IncomingMessage, type ServerResponse, createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Service } from "../src/wire/client.ts"

/** served runs work with a service that answers by a function. */
export async function served(answer: (url: URL, response: ServerResponse, request: IncomingMessage) => void, work: (service: Service) => Promise<void>) {
  const server = createServer((request, response) => answer(new URL(request.url!, "http://x"), response, request))
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await work({
      name: "x", account: "x", endpoint: url, readOnly: false, color: "", sign: undefined, about: undefined, local: false, orders: true,
      prepare: async (path, query) => ({ url: `${url}/${path}?${new URLSearchParams(query).toString()}`, headers: {} }),
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
}
