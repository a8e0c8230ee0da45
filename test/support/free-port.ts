import { once } from 'node:events'
import { createServer } from 'node:net'

/** Returns a port of this machine on which no one listens, for programs that cannot tell which one they took. */
export async function freePort(): Promise<number> {
  const probe = createServer()
  probe.listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  await once(probe, 'close')
  if (typeof address !== 'object' || address === null) throw new Error('No port was given.')
  return address.port
}
