import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that loses the first answers: the service has done what was asked, and the caller is told 503. */
export interface RecordingProxy {
  readonly url: string
  /** The bodies that were passed on. */
  readonly requests: readonly { readonly id: unknown; readonly method: string }[]
  stop(): Promise<void>
}

/** Starts it in front of a service. */
export async function startRecordingProxy(
  target: string,
  { lose }: { lose: number },
): Promise<RecordingProxy> {
  const requests: { id: unknown; method: string }[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { authorization = '' } = request.headers
    const answer = await fetch(`${target}${request.url}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization },
      body,
    })
    const text = await answer.text()
    requests.push(JSON.parse(body) as { id: unknown; method: string })
    const isLost = requests.length <= lose
    response
      .writeHead(isLost ? 503 : answer.status, { 'content-type': 'application/json' })
      .end(isLost ? '{}' : text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    stop: async () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
