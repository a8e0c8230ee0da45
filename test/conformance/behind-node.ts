import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { LiveNetwork } from './live-network.ts'

interface WireCall {
  readonly id?: unknown
  readonly method?: string
}

interface WireReply {
  readonly id?: unknown
  readonly result?: unknown
}

/** A node that lags: a real one behind a proxy that tells a lower height. */
export async function startBehindNode(
  target: string,
  { answerBehind }: Pick<LiveNetwork, 'answerBehind'>,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    void (async () => {
      const body = await text(request)
      const answer = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      const reply = lowered(JSON.parse(body), JSON.parse(await answer.text()), answerBehind)
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply))
    })().catch(() => response.destroy())
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

function lowered(
  question: WireCall | readonly WireCall[],
  answer: WireReply | readonly WireReply[],
  answerBehind: LiveNetwork['answerBehind'],
): unknown {
  const calls = new Map([question].flat().map((call) => [call.id, call.method ?? '']))
  const change = (reply: WireReply) => {
    const result = answerBehind(calls.get(reply.id) ?? '', reply.result)
    return result === undefined ? reply : { ...reply, result }
  }
  return Array.isArray(answer) ? answer.map(change) : change(answer as WireReply)
}
