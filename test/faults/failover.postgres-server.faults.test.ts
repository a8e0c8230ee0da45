import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Schemas } from '../../src/contract/operations.ts'
import { createPostgres, type LatePostgres } from '../support/postgres.ts'
import { scenarioOf } from '../support/scenario.ts'
import { DEV_ADDRESSES } from '../support/service.ts'
import { until } from '../support/until.ts'
import {
  apiOf,
  CALLERS,
  expectAllPaidOnce,
  paid,
  send,
  startChain,
  startLoad,
  startServer,
} from './failover-load.ts'

/** So many requests are accepted before the primary fails, and again after the standby has taken over. */
const ACCEPTED = 60

/** From the promotion to the first accepted request, in ms. */
const GOAL_MS = 5_000

interface Pair {
  readonly primary: LatePostgres
  readonly standby: LatePostgres
  /** Leads to the one that accepts writes. */
  readonly databaseUrl: string
}

async function startPair(options: { readonly synchronous: boolean }): Promise<Pair> {
  const primary = await createPostgres()
  onTestFinished(() => primary.stop())
  await primary.start()
  const standby = await primary.startStandby(options)
  onTestFinished(() => standby.stop())
  const hosts = [primary, standby].map(({ url }) => new URL(url).host)
  return {
    primary,
    standby,
    databaseUrl: `postgres://postgres@${hosts.join(',')}/postgres?target_session_attrs=read-write`,
  }
}

test.each([
  ['killed', 'crash'],
  ['frozen, with its connections open', 'freeze'],
] as const)(
  'under load the primary is %s and its synchronous standby promoted: nothing is lost or doubled, and requests are accepted within seconds',
  async (_how, fail) => {
    const anvil = await startChain()
    const { primary, standby, databaseUrl } = await startPair({ synchronous: true })
    const one = await startServer(anvil, { DATABASE_URL: databaseUrl })
    const other = await startServer(anvil, { DATABASE_URL: databaseUrl })
    const load = startLoad([one.url, other.url])
    await until(
      async () => load.accepted.size,
      (count) => count >= ACCEPTED,
    )
    const failedAt = performance.now()
    await primary[fail]()
    const refused = load.refused()
    await until(
      async () => load.refused(),
      (count) => count >= refused + CALLERS,
    )
    const before = load.accepted.size
    const promotedAt = performance.now()
    await standby.promote()
    await until(
      async () => load.accepted.size,
      (count) => count >= before + ACCEPTED,
    )
    await load.stop()
    const first = Math.min(...[...load.accepted.values()].filter((at) => at > promotedAt))
    process.stdout.write(
      `primary ${fail}: first accepted request ${Math.round(first - promotedAt)} ms after the promotion began, ` +
        `which was ${Math.round(promotedAt - failedAt)} ms after the failure; ${load.accepted.size} accepted, ${load.refused()} refused\n`,
    )
    expect(first - promotedAt).toBeLessThanOrEqual(GOAL_MS)

    await expectAllPaidOnce(anvil, one, load)
  },
)

/** How many transactions have each status, as this server has them. */
async function countStatuses(url: string): Promise<Record<string, number>> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query<{ status: string; count: string }>(
      'select status, count(*) from transactions group by status',
    )
    return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]))
  } finally {
    await client.end()
  }
}

/** A service whose database has an asynchronous standby, on a chain that makes blocks when told. */
async function startUnprotected(maxInFlight: number) {
  const anvil = await startChain(['--no-mining'])
  const pair = await startPair({ synchronous: false })
  const env = { DATABASE_URL: pair.databaseUrl, RELAYER_MAX_IN_FLIGHT: `${maxInFlight}` }
  const server = await startServer(anvil, env)
  const story = scenarioOf(anvil, apiOf(server))
  return {
    ...pair,
    story,
    send: (index: number) => send(server.url, index),
    accept: async (index: number) => {
      const { status, body } = await send(server.url, index)
      expect(status).toBe(200)
      return body.data.id
    },
    /** Waits until the standby has all that was accepted, and so many of it signed. */
    replicated: (statuses: { readonly submitted: number; readonly pending: number }) =>
      until(
        () => countStatuses(pair.standby.url),
        ({ submitted, pending }) => submitted === statuses.submitted && pending === statuses.pending,
      ),
    disabled: async () => {
      const relayer = async () =>
        (await story.service.api<Schemas['Relayer'] | null>('GET', '/relayers/main')).body.data
      const seen = await until(relayer, (one) => one?.system_disabled === true)
      return seen?.disabled_reason
    },
    acceptNonces: async () => {
      const body = { reason: 'seen on the chain' }
      return (await story.service.api<Schemas['Relayer']>('POST', '/relayers/main/accept-nonces', body)).body
        .data
    },
    paid: (indexes: readonly number[]) => paid(anvil, indexes),
  }
}

test('an asynchronous standby loses what it did not get, and pays nothing twice: the relayer stops until an operator accepts its nonces', async () => {
  const { story, primary, standby, accept, ...service } = await startUnprotected(1)
  const [signed, waiting, waitingLonger] = [await accept(1), await accept(2), await accept(3)]
  await service.replicated({ submitted: 1, pending: 2 })

  // From here on the standby gets nothing: neither what is signed, nor what is accepted.
  await primary.holdBack()
  const [lostPaid, lost] = [await accept(4), await accept(5)]
  for (const id of [signed, waiting, waitingLonger, lostPaid]) {
    await story.reach(id, 'submitted')
    await story.mine()
  }
  await primary.crash()
  await standby.promote()

  expect(await service.disabled()).toEqual({
    type: 'UnexplainedNonces',
    details: expect.stringContaining(
      'has nonce 4 next on network anvil, and the records explain those below 1:',
    ),
  })
  expect((await service.send(4)).body.code).toBe('relayer_disabled')
  for (const id of [lostPaid, lost])
    expect((await story.service.api('GET', `/relayers/main/transactions/${id}`)).status).toBe(404)
  // What the standby knows to be signed goes on, and no one signs the two that were paid.
  await story.reach(signed, 'confirmed', () => void story.mine())
  for (const id of [waiting, waitingLonger]) {
    expect(await story.get(id)).toMatchObject({ status: 'pending' })
    expect((await story.cancel(id)).body.data).toMatchObject({ status: 'canceled' })
  }
  expect(await service.acceptNonces()).toMatchObject({ system_disabled: false })

  // The caller of the one that was lost before it was signed repeats it.
  const repeated = await accept(5)
  expect(repeated).not.toBe(lost)
  await story.settle()
  expect(await story.get(repeated)).toMatchObject({ status: 'confirmed' })
  expect(await service.paid([1, 2, 3, 4, 5])).toEqual([1, 1, 1, 1, 1])
})

/** What was accepted a moment ago is signed without a question to the pools: no standby takes over in this time, in ms. */
const FRESH_MS = 2_000

test('what an asynchronous standby did not get and is in no block yet is not signed again with other nonces', async () => {
  const { story, primary, standby, accept, ...service } = await startUnprotected(2)
  const signed = [await accept(11), await accept(12)]
  const [first, second] = [await accept(13), await accept(14)]
  await service.replicated({ submitted: 2, pending: 2 })
  await primary.holdBack()
  await story.mine()
  for (const id of [first, second]) await story.reach(id, 'submitted')
  await pause(FRESH_MS)
  await primary.crash()
  await standby.promote()
  // A block that another account fills shows the service that the first two are mined.
  const allowGas = (gas: number) => story.anvil.rpc('evm_setBlockGasLimit', [`0x${gas.toString(16)}`])
  await allowGas(21_000)
  const [, from] = DEV_ADDRESSES
  await story.anvil.rpc('eth_sendTransaction', [
    { from, to: from, gasPrice: `0x${(10n ** 12n).toString(16)}` },
  ])
  await story.mine()

  expect(await service.disabled()).toEqual({
    type: 'UnexplainedNonces',
    details: expect.stringContaining(
      'has nonce 4 next on network anvil, counting what waits in the pool of a node, and the records explain those below 2:',
    ),
  })
  // The second one would get the nonce of the first one now, and be paid with both.
  expect((await story.cancel(first)).body.data).toMatchObject({ status: 'canceled' })
  expect(await service.acceptNonces()).toMatchObject({ system_disabled: true })
  expect(await story.get(second)).toMatchObject({ status: 'pending' })
  await allowGas(30_000_000)
  for (const id of signed) await story.reach(id, 'confirmed', () => void story.mine())
  expect(await service.paid([11, 12, 13, 14])).toEqual([1, 1, 1, 1])
  expect((await story.cancel(second)).body.data).toMatchObject({ status: 'canceled' })
  expect(await service.acceptNonces()).toMatchObject({ system_disabled: false })
  await accept(15)
  await story.settle()
  expect(await service.paid([11, 12, 13, 14, 15])).toEqual([1, 1, 1, 1, 1])
})
