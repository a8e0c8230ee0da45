/**
 * Receives webhooks, and verifies that they come from the service.
 *
 *   WEBHOOK_SIGNING_KEY=… PORT=3000 node webhook-receiver.ts
 */
import { createServer, type IncomingMessage } from 'node:http'
import { verifyWebhook, WebhookVerificationError } from 'multichain-relayer-client'

const { WEBHOOK_SIGNING_KEY: signingKey = '', PORT = '3000' } = process.env
/** An event comes again when the service did not see the answer. A real receiver keeps the ids where it keeps its data. */
const seen = new Set<string>()

const server = createServer(async (request, response) => {
  try {
    const event = await verifyWebhook({ body: await bodyOf(request), headers: request.headers, signingKey })
    if (!seen.has(event.id)) console.log(`${event.event} ${JSON.stringify(event.payload.payload_type)}`)
    seen.add(event.id)
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(error instanceof WebhookVerificationError ? 401 : 500).end()
  }
})
server.listen(Number(PORT), () => console.log(`listening on port ${PORT}`))

/** The signature is of the exact bytes, so nothing may parse them before. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
