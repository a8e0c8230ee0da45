import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../../test/support/random.ts'
import { until } from '../../../test/support/until.ts'
import type { FrontChain, Relayed } from './front-chain.ts'
import type { KillableService } from './killable-service.ts'

/**
 * The time in ms for which everybody asks again after the history, and for which transactions may be open.
 */
export const SETTLE_MS = 90_000

/** Waits until the processes of all plugins have started. */
export async function untilPluginsAreReady({ api }: KillableService): Promise<void> {
  await until(
    async () => (await api<{ state: { status: string } }[]>('GET', '/plugins')).body.data,
    (plugins) => plugins.every(({ state }) => state.status === 'ready'),
  )
}

/** Silence, lost answers, answers that come late, and lies. */
export function changeNode({ node, lies }: Pick<FrontChain, 'node' | 'lies'>, random: Random): void {
  const mood = random.pick(['well', 'slow', 'broken', 'silent', ...Object.keys(lies)])
  const chances = random.fork('faults')
  node.habits = lies[mood]
  node.fault = () => {
    if (mood === 'silent') return 'drop'
    if (mood === 'slow') return { kind: 'delay', ms: chances.int(0, 1_500) }
    if (mood === 'broken' && chances.chance(0.3)) return chances.pick(['drop', 'lose', 'http_500'] as const)
    return 'pass'
  }
}

const FINAL = ['confirmed', 'failed', 'canceled', 'expired']

/** Waits until every transaction of the relayer is final. Returns those that are not in time. */
export async function untilRest(service: KillableService): Promise<string[]> {
  const deadline = Date.now() + SETTLE_MS
  for (;;) {
    const open = (await transactionsOf(service)).filter(({ status }) => !FINAL.includes(status))
    if (open.length === 0) return []
    if (Date.now() > deadline)
      return open.map(({ id, status, status_reason = '' }) => `${id} is still ${status}: ${status_reason}`)
    await pause(200)
  }
}

interface Shown {
  readonly id: string
  readonly status: string
  readonly status_reason?: string
}

async function transactionsOf({ api }: KillableService): Promise<Shown[]> {
  const all: Shown[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await api<Shown[]>('GET', `/relayers/main/transactions?per_page=100&page=${page}`)
    all.push(...body.data)
    if (body.data.length < 100) return all
  }
}

/**
 * Returns the fees that the budget has counted. What final transactions did not take is released a little
 * later.
 */
export async function releasedFees(
  { api }: KillableService,
  relayed: readonly Pick<Relayed, 'fee'>[],
): Promise<bigint> {
  const taken = relayed.reduce((sum, { fee }) => sum + fee, 0n)
  const deadline = Date.now() + SETTLE_MS
  for (;;) {
    const { body } = await api<{ limits: { fees?: { spent: string } }[] }>('GET', '/relayers/main/usage')
    const spent = BigInt(body.data.limits[0]?.fees?.spent ?? 0)
    if (spent === taken || Date.now() > deadline) return spent
    await pause(200)
  }
}
