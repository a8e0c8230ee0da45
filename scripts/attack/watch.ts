import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Tally } from './attack.ts'

/** An answer of `/health` may take so long, in ms. The machine may be busy with the attack, so it is far more than the service needs. */
const SLOWEST_MS = 2_000

const EVERY_MS = 100

/** Asks `/health` again and again until it is stopped. */
export interface HealthWatch {
  stop(): Promise<void>
}

/** Starts to ask; each answer has to be 200 and quick. */
export function watchHealth(tally: Tally, url: string): HealthWatch {
  let isRunning = true
  let slowest = 0
  async function watch(): Promise<void> {
    while (isRunning) {
      const started = performance.now()
      const status = await askHealth(url)
      const ms = performance.now() - started
      slowest = Math.max(slowest, ms)
      tally.check(
        status === 200 && ms < SLOWEST_MS,
        () => `health answered ${status} after ${Math.round(ms)} ms`,
      )
      await pause(EVERY_MS)
    }
  }
  const watching = watch()
  return {
    async stop() {
      isRunning = false
      await watching
      tally.note(`the slowest answer of health took ${Math.round(slowest)} ms`)
    },
  }
}

async function askHealth(url: string): Promise<number> {
  try {
    const headers = { connection: 'close' }
    const answer = await fetch(`${url}/api/v1/health`, { headers, signal: AbortSignal.timeout(10_000) })
    await answer.text()
    return answer.status
  } catch {
    return 0
  }
}

/** A server on every address of this machine that counts its connections. */
export interface HitCounter {
  readonly port: number
  hits(): number
  stop(): Promise<void>
}

interface HitCounterOptions {
  /** Default 204. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** Starts one on a free port. */
export async function startHitCounter({
  status = 204,
  headers = {},
}: HitCounterOptions = {}): Promise<HitCounter> {
  let hits = 0
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(status, headers).end()
  })
  server.on('connection', () => {
    hits += 1
  })
  server.listen(0)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    hits: () => hits,
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
