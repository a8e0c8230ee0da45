/**
 * Follows the events of all transactions, and keeps its place in a file: after a restart it goes on behind the last event that it has handled, so
 * none is lost.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… CURSOR_FILE=./cursor node follow-events.ts
 */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { createRelayerClient } from 'multichain-relayer-client'

const { RELAYER_URL = 'http://localhost:8080', RELAYER_API_KEY = '', CURSOR_FILE = './cursor' } = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })

const saved = await readFile(CURSOR_FILE, 'utf8').catch(() => '0')
for await (const event of client.events.follow({ after: saved })) {
  console.log(`${event.number} ${event.type}`)
  // Saved after the event is handled: a crash between the two repeats one event, and skips none.
  // It is written to another file first, because a crash while a file is written leaves it empty.
  await writeFile(`${CURSOR_FILE}.new`, String(event.number))
  await rename(`${CURSOR_FILE}.new`, CURSOR_FILE)
}
