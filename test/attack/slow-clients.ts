import { setTimeout as pause } from 'node:timers/promises'
import { API_KEY, type Service, startService } from '../support/service.ts'
import type { Attack, AttackContext, Report } from './attack.ts'
import { startSlowClients } from './clients/slow-client.ts'
import { createTally, type Tally } from './tally.ts'

/** Fills the connections with slow and silent clients of many addresses, while a key holder calls. */
export const slowClients: Attack = { name: 'slow-clients', run }

/** The limit of the service, and the connections of the attacker, which are more. */
const MAX_CONNECTIONS = 48
const SLOW_CLIENTS = 96

/** Calls of the key holder, each on a connection of its own, and the longest that one may take, in ms. */
const CALLS = 30
const SLOWEST_MS = 4_000
const EVERY_MS = 80

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const service = await startService({
    rpcUrls: ['http://127.0.0.1:9'],
    env: { MAX_CONNECTIONS: String(MAX_CONNECTIONS), REQUEST_TIMEOUT_SECONDS: '5' },
  })
  const clients = startSlowClients({ port: Number(new URL(service.url).port), count: SLOW_CLIENTS, random })
  try {
    let slowest = 0
    for (let index = 0; index < CALLS; index += 1) {
      slowest = Math.max(slowest, await call(tally, service))
      await pause(EVERY_MS)
    }
    // As many as fit would have to be closed by the service to let others in.
    tally.check(
      clients.opened() > SLOW_CLIENTS,
      () => `only ${clients.opened()} slow connections were opened`,
    )
    tally.note(
      `${clients.opened()} slow connections; the slowest of ${CALLS} calls took ${Math.round(slowest)} ms`,
    )
  } finally {
    clients.stop()
    await service.stop()
  }
  return tally.report()
}

async function call(tally: Tally, { url }: Service): Promise<number> {
  const started = performance.now()
  const status = await ask(url)
  const ms = performance.now() - started
  tally.check(
    status === 200 && ms < SLOWEST_MS,
    () => `a key holder was answered ${status} after ${Math.round(ms)} ms`,
  )
  return ms
}

/** Returns the status, or the reason for which there is none. */
async function ask(url: string): Promise<number | string> {
  try {
    const headers = { authorization: `Bearer ${API_KEY}`, connection: 'close' }
    const answer = await fetch(`${url}/api/v1/relayers`, {
      headers,
      signal: AbortSignal.timeout(2 * SLOWEST_MS),
    })
    await answer.text()
    return answer.status
  } catch (error) {
    const { cause, message } = error as Error
    return cause instanceof Error ? cause.message : message
  }
}
