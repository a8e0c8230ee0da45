import { type AccountEntry, LedgerEntryData } from '@stellar/stellar-sdk/xdr'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startLedger } from '../../../simulators/stellar/start-ledger.ts'
import { type AdjustableClock, createAdjustableClock } from '../../support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../support/faulty-node.ts'
import { startService } from '../../support/service.ts'
import {
  MAIN,
  payment,
  RECEIVER,
  type StellarScenario,
  stellarConfig,
  stellarScenarioOf,
  XLM,
} from '../../support/stellar-scenario.ts'

type Lie = NonNullable<Habits['lie']>

/** An answer to a broadcast, of which the network hears nothing. */
const answered = (result: object): Habits => ({
  answer: ({ method }) => (method === 'sendTransaction' ? { result } : undefined),
  lie: priced(CHARGED),
})

/** What honest endpoints say that recent ledgers charged for an operation, in stroops. */
const CHARGED = 4_000n

const fields = (value: unknown) => value as Readonly<Record<string, unknown>>

/** Every endpoint tells prices of its own, because ledgers of the test are empty. */
const priced =
  (charged: bigint): Lie =>
  (call, reply) => {
    if (call.method !== 'getFeeStats') return reply
    const names = ['max', 'min', 'mode', 'p10', 'p50', 'p90', 'p95', 'p99']
    const fees = Object.fromEntries(names.map((name) => [name, String(charged)]))
    return { ...reply, result: { ...fields(reply.result), inclusionFee: fees, sorobanInclusionFee: fees } }
  }

const lieAbout =
  (method: string, change: (result: Readonly<Record<string, unknown>>) => unknown): Lie =>
  (call, reply) =>
    call.method === method && reply.result !== undefined
      ? { ...reply, result: change(fields(reply.result)) }
      : priced(CHARGED)(call, reply)

/** Moves the ledger that each answer names, and its time. */
const movedHead =
  (ledgers: number): Lie =>
  (call, reply) => {
    const told = priced(CHARGED)(call, reply)
    if (typeof told.result !== 'object' || told.result === null) return told
    const { latestLedger, latestLedgerCloseTime } = fields(told.result)
    return {
      ...told,
      result: {
        ...told.result,
        ...(latestLedger !== undefined && { latestLedger: Math.max(1, Number(latestLedger) + ledgers) }),
        ...(latestLedgerCloseTime !== undefined && {
          latestLedgerCloseTime: String(Number(latestLedgerCloseTime) + 5 * ledgers),
        }),
      },
    }
  }

/** Changes each account that an answer has. */
const lieAboutAccounts = (change: (account: AccountEntry) => Partial<AccountEntry>): Lie =>
  lieAbout('getLedgerEntries', (result) => ({
    ...result,
    entries: (result.entries as Readonly<Record<string, string>>[]).map((entry) => {
      const data = LedgerEntryData.fromXdr(entry.xdr ?? '', 'base64')
      if (data.type !== 'account') return entry
      const { account } = data
      const prototype = Object.getPrototypeOf(account) as object
      const wrong = Object.assign(Object.create(prototype) as AccountEntry, account, change(account))
      return { ...entry, xdr: LedgerEntryData.account(wrong).toXdr('base64') }
    }),
  }))

/** TransactionResult: a fee of 0 is charged, this code, no extension. */
const refused = (code: number): Habits => {
  const result = Buffer.alloc(16)
  result.writeInt32BE(code, 8)
  return answered({ status: 'ERROR', errorResultXdr: result.toString('base64') })
}

const LIES: readonly (readonly [string, Habits])[] = [
  ['that an operation costs an eighth of a lumen', { lie: priced(1_250_000n) }],
  ['that an operation costs nothing', { lie: priced(0n) }],
  ['a head of the far future', { lie: movedHead(1_000_000) }],
  ['that nothing has happened for long', { lie: movedHead(-100_000) }],
  ['no money', { lie: lieAboutAccounts(() => ({ balance: 0n })) }],
  [
    'a sequence number of the far future',
    { lie: lieAboutAccounts(({ seqNum }) => ({ seqNum: seqNum + 1_000n })) },
  ],
  [
    'that there is no account',
    { lie: lieAbout('getLedgerEntries', (result) => ({ ...result, entries: [] })) },
  ],
  ['that it is malformed', refused(-16)],
  ['that it failed internally', refused(-11)],
  ['that its sequence number is wrong', refused(-5)],
  ['that its queue is full', answered({ status: 'TRY_AGAIN_LATER' })],
]

describe.each([
  { endpoints: 3, name: 'one endpoint of three' },
  { endpoints: 2, name: 'one endpoint of two' },
])('$name that says', ({ endpoints }) => {
  let nodes: FaultyNode[]
  let story: StellarScenario
  const clock = createAdjustableClock()

  beforeAll(async () => {
    const ledger = await startLedger({ closeEveryMs: 'manual', now: clock.now })
    ledger.fund(MAIN.publicKey(), 1_000n * XLM)
    ledger.fund(RECEIVER, 100n * XLM)
    nodes = await Promise.all(Array.from({ length: endpoints }, () => startFaultyNode(ledger.url)))
    for (const node of nodes) node.habits = { lie: priced(CHARGED) }
    const config = stellarConfig({ urls: nodes.map(({ url }) => url), passphrase: ledger.passphrase })
    story = stellarScenarioOf(ledger, await startService({ ...config, clock }))
    ledger.close(3)
  }, 120_000)
  afterAll(async () => {
    await story.stop()
    await Promise.all(nodes.map((node) => node.stop()))
  })

  test.each(LIES)(
    '%s neither raises what is bid, nor refuses or holds up a payment',
    async (_name, habits) => {
      const [liar] = nodes
      if (liar === undefined) throw new Error('there is no node')
      const honest = await bidOf(story, clock)
      liar.habits = habits
      onTestFinished(() => {
        liar.habits = { lie: priced(CHARGED) }
      })
      const bid = await bidOf(story, clock)
      expect(bid).toBeLessThanOrEqual(2n * honest)
      const relayer = await story.service.api<{ system_disabled: boolean }>('GET', '/relayers/main')
      expect(relayer.body.data.system_disabled).toBe(false)
    },
  )
})

/** Sends a payment, waits for its ledger, and returns its bid in stroops. */
async function bidOf({ send, reach, ledger }: StellarScenario, clock: AdjustableClock): Promise<bigint> {
  const { id } = await send(payment(7n))
  const { hash } = await reach(id, 'confirmed', () => {
    clock.advance(1_000)
    if (ledger.queue().length > 0 || (ledger.ledgers.at(-1)?.closeTime ?? 0) + 5 <= clock.now() / 1_000)
      ledger.close()
  })
  return ledger.included(hash ?? '')?.frame.fee ?? 0n
}
