import { setTimeout as pause } from 'node:timers/promises'
import type { Random } from '../../test/support/random.ts'
import type { Answer, Service, Transaction } from '../../test/support/service.ts'
import { type Attack, type AttackContext, createTally, type Report, type Tally } from './attack.ts'
import { contradiction, startThreeChains, type Target, type ThreeChains } from './rpc/three-chains.ts'
import { watchHealth } from './watch.ts'

/** Answers the service's questions to nodes with lies, floods and silence, and compares its final records with the chains. */
export const hostileRpc: Attack = { name: 'hostile-rpc', run }

/** The time of the hostile answers, and of the honest ones after it, in ms. */
const HOSTILE_MS = 10_000
const HONEST_MS = 4_000

const EVERY_MS = 150

async function run({ random }: AttackContext): Promise<Report> {
  const tally = createTally()
  const chains = await startThreeChains(random)
  try {
    setHostile(chains, true)
    const watch = watchHealth(tally, chains.service.url)
    await Promise.all(
      chains.targets.map((target) =>
        useFor({ tally, service: chains.service, target, random: random.fork(target.relayer) }),
      ),
    )
    setHostile(chains, false)
    await pause(HONEST_MS)
    await watch.stop()
    for (const target of chains.targets) await compare(tally, chains, target)
    checkHostility(tally, chains)
  } finally {
    await chains.stop()
  }
  return tally.report()
}

function setHostile({ endpoints }: ThreeChains, isHostile: boolean): void {
  for (const endpoint of endpoints) endpoint.isHostile = isHostile
}

interface Use {
  readonly tally: Tally
  readonly service: Service
  readonly target: Target
  readonly random: Random
}

/** Sends, replaces, cancels and reads, as callers do. */
async function useFor({ tally, service, target, random }: Use): Promise<void> {
  const all = `/relayers/${target.relayer}/transactions`
  const known: string[] = []
  const end = Date.now() + HOSTILE_MS
  for (let amount = 1; Date.now() < end; amount += 1) {
    const id = known.length === 0 ? undefined : random.pick(known)
    const asked = await ask({ service, target, random, id, amount })
    const { status, body } = asked.answer
    if (asked.isNew && asked.answer.status === 200) known.push(asked.answer.body.data.id)
    // An endpoint that does not answer is a documented failure.
    const isDocumented = status < 500 || body.code === 'network_unavailable'
    tally.check(
      isDocumented,
      () => `${asked.name} of ${all} was answered ${status} ${body.code}: ${body.error}`,
    )
    await pause(EVERY_MS)
  }
}

interface Asked {
  readonly name: string
  readonly answer: Answer<Transaction>
  readonly isNew?: true
}

interface Question extends Omit<Use, 'tally'> {
  readonly id: string | undefined
  readonly amount: number
}

async function ask({ service: { api }, target, random, id, amount }: Question): Promise<Asked> {
  const relayer = `/relayers/${target.relayer}`
  const all = `${relayer}/transactions`
  const send = async (): Promise<Asked> => ({
    name: 'send',
    isNew: true,
    answer: await api('POST', all, target.body(amount)),
  })
  if (id === undefined) return send()
  const kind = random.weighted({
    send: 4,
    replace: 1,
    cancel: 1,
    diagnosis: 1,
    balance: 1,
    status: 1,
    rpc: 1,
  })
  if (kind === 'send') return send()
  if (kind === 'replace') return { name: kind, answer: await api('PUT', `${all}/${id}`, target.body(amount)) }
  if (kind === 'cancel') return { name: kind, answer: await api('DELETE', `${all}/${id}`) }
  if (kind === 'diagnosis') return { name: kind, answer: await api('GET', `${all}/${id}/diagnosis`) }
  if (kind === 'rpc') {
    const method = random.pick(['eth_blockNumber', 'eth_chainId', 'getHealth', 'getLatestLedger', 'getSlot'])
    return { name: kind, answer: await api('POST', `${relayer}/rpc`, { jsonrpc: '2.0', id: 1, method }) }
  }
  return { name: kind, answer: await api('GET', `${relayer}/${kind}`) }
}

async function compare(tally: Tally, { service }: ThreeChains, target: Target): Promise<void> {
  const all = `/relayers/${target.relayer}/transactions`
  const { body } = await service.api<Transaction[]>('GET', `${all}?per_page=100`)
  const counts = new Map<string, number>()
  for (const { id } of body.data) {
    const { data: record } = (await service.api('GET', `${all}/${id}`)).body
    counts.set(record.status, (counts.get(record.status) ?? 0) + 1)
    // When the only endpoint lies, the service has nothing better to believe.
    const problem = target.hasWitness ? await contradiction(record, target.fateOf) : undefined
    tally.check(problem === undefined, () => String(problem))
  }
  tally.note(
    `${target.relayer}: ${[...counts].map(([status, count]) => `${count} ${status}`).join(', ') || 'no records'}`,
  )
}

/** The least hostile answers of one run. A service that never hears one would pass as well. */
const LEAST_HOSTILE = 20

function checkHostility(tally: Tally, { endpoints }: ThreeChains): void {
  const hostile = endpoints.map(({ answers }) => Object.entries(answers).filter(([kind]) => kind !== 'pass'))
  const count = hostile.flat().reduce((sum, [, each]) => sum + each, 0)
  tally.check(count >= LEAST_HOSTILE, () => `the endpoints gave only ${count} hostile answers`)
  for (const each of hostile)
    tally.note(`hostile answers: ${each.map(([kind, sum]) => `${sum} ${kind}`).join(', ')}`)
}
