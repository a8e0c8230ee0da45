import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** One url with several nodes behind it, which take turns. */
export interface Balancer {
  readonly url: string
  stop(): Promise<void>
}

/** Starts it on a free port; the first question goes to the first node. */
export async function startBalancer(nodes: readonly string[]): Promise<Balancer> {
  let turn = 0
  const server = createServer(async (request, response) => {
    const node = nodes[turn % nodes.length] ?? ''
    turn += 1
    const answer = await fetch(node, { method: 'POST', body: await text(request) })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
