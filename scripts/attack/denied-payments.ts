import { setTimeout as pause } from 'node:timers/promises'
import { startSolana } from '../../simulators/solana/start-solana.ts'
import { startLedger } from '../../simulators/stellar/start-ledger.ts'
import { startAnvil } from '../../test/support/anvil.ts'
import { type AdjustableClock, createAdjustableClock } from '../../test/support/clock.ts'
import { type FaultyNode, type Habits, startFaultyNode } from '../../test/support/faulty-node.ts'
import {
  type Service,
  type ServiceOptions,
  type Story,
  startService,
  storyOf,
} from '../../test/support/service.ts'
import {
  addressOf,
  SOL,
  MAIN as SOLANA_ACCOUNT,
  solanaConfig,
  transferBetween,
} from '../../test/support/solana-scenario.ts'
import {
  keypairOf,
  payment,
  MAIN as STELLAR_KEY,
  stellarConfig,
  XLM,
} from '../../test/support/stellar-scenario.ts'
import { type Attack, createTally, type Report, type Tally } from './attack.ts'

/**
 * A node denies that the chain includes what the service broadcast, while every other endpoint is silent: one of the operator's two, or one that a
 * caller gave the relayer. Nothing may be paid again, and no budget may come back.
 */
export const deniedPayments: Attack = { name: 'denied-payments', deadlineMs: 300_000, run }

/** In the smallest unit of each chain; Solana's is enough for a new account. */
const AMOUNT = 2_000_000n

/** The looks of the service at each chain, and the time between them in ms: a version that no one includes expires after some minutes. */
const LOOKS = 16
const LOOK_MS = 31_000

/** The real time that the service gets for a look, in ms. */
const PAUSE_MS = 250

/** Who denies: one endpoint of the operator's two, or an endpoint of a caller. */
const DENIERS = ['operator', 'caller'] as const

/** A chain of our own. */
interface TestChain {
  readonly name: string
  readonly url: string
  readonly config: (
    urls: readonly string[],
  ) => Pick<ServiceOptions, 'rpcUrls' | 'networks' | 'relayers' | 'signers'>
  readonly request: object
  readonly denies: NonNullable<Habits['lie']>
  /** Makes blocks. */
  makeBlocks(): Promise<unknown>
  /** What the payee has got. */
  paid(): Promise<bigint>
  stop(): Promise<void>
}

async function run(): Promise<Report> {
  const tally = createTally()
  for (const denier of DENIERS)
    for (const start of [startEvm, startStellar, startOnSolana]) {
      const clock = createAdjustableClock()
      const chain = await start(clock)
      try {
        await deny({ tally, chain, clock, denier })
      } finally {
        await chain.stop()
      }
    }
  return tally.report()
}

interface Denial {
  readonly tally: Tally
  readonly chain: TestChain
  readonly clock: AdjustableClock
  readonly denier: (typeof DENIERS)[number]
}

async function deny({ tally, chain, clock, denier }: Denial): Promise<void> {
  const [hostile, honest] = [await startFaultyNode(chain.url), await startFaultyNode(chain.url)]
  const urls = denier === 'operator' ? [hostile.url, honest.url] : [honest.url]
  const env = { RELAYER_ALLOW_PRIVATE_URLS: 'true', RPC_TIMEOUT_MS: '1000' }
  const service = await startService({ ...chain.config(urls), clock, env })
  try {
    await attack({ tally, chain, clock, denier, service, hostile, honest })
  } finally {
    await service.stop()
    await Promise.all([hostile.stop(), honest.stop()])
  }
}

interface Attacked extends Denial {
  readonly service: Service
  readonly hostile: FaultyNode
  readonly honest: FaultyNode
}

async function attack({ tally, chain, clock, denier, service, hostile, honest }: Attacked): Promise<void> {
  const who = `${chain.name}, denied by an endpoint of the ${denier}`
  const story: Story = storyOf(service)
  if (denier === 'caller') {
    const named = await service.api('PATCH', '/relayers/main', { custom_rpc_urls: [{ url: hostile.url }] })
    tally.check(named.status === 200, () => `${who}: custom_rpc_urls were answered ${named.status}`)
  }
  const { id } = await story.send(chain.request)
  await story.reach(id, 'submitted')
  hostile.habits = { lie: chain.denies }
  honest.fault = () => 'drop'
  await chain.makeBlocks()
  tally.check((await chain.paid()) === AMOUNT, () => `${who}: the payment is not in the chain`)
  for (let look = 0; look < LOOKS; look += 1) {
    clock.advance(LOOK_MS)
    await chain.makeBlocks()
    await pause(PAUSE_MS)
    const paid = await chain.paid()
    tally.check(paid === AMOUNT, () => `${who}: ${paid} was paid instead of ${AMOUNT}, at look ${look}`)
  }
  const denied = await story.get(id)
  tally.check(
    !['failed', 'expired', 'canceled'].includes(denied.status),
    () => `${who}: ended as ${denied.status}, and it was paid`,
  )
  hostile.habits = undefined
  honest.fault = () => 'pass'
  const { status } = await story.reach(id, 'confirmed', async () => {
    clock.advance(LOOK_MS)
    await chain.makeBlocks()
    await pause(PAUSE_MS)
  })
  tally.check(status === 'confirmed' && (await chain.paid()) === AMOUNT, () => `${who}: ended as ${status}`)
  tally.note(`${who}: paid once in ${Math.round((LOOKS * LOOK_MS) / 60_000)} minutes of its clock`)
}

const EVM_PAYEE = '0x00000000000000000000000000000000000000b7'
const MADE_UP = `0x${'de'.repeat(32)}`

async function startEvm(): Promise<TestChain> {
  const anvil = await startAnvil({ args: ['--no-mining'] })
  return {
    name: 'EVM',
    url: anvil.url,
    config: (rpcUrls) => ({ rpcUrls }),
    request: { to: EVM_PAYEE, value: Number(AMOUNT) },
    // It also names another user of the nonce, which it has made up.
    denies: ({ method }, reply) => {
      if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash')
        return { ...reply, result: null }
      if (method === 'eth_sendRawTransaction')
        return { id: reply.id, error: { code: -32000, message: 'nonce too low' } } as typeof reply
      const block = reply.result as { transactions?: { to?: string }[] } | null
      if (method !== 'eth_getBlockByNumber' || !Array.isArray(block?.transactions)) return reply
      const transactions = block.transactions.map((one) =>
        one.to === EVM_PAYEE ? { ...one, hash: MADE_UP } : one,
      )
      return { ...reply, result: { ...block, transactions } }
    },
    makeBlocks: () => anvil.rpc('anvil_mine', ['0x3']),
    paid: async () => BigInt(await anvil.rpc<string>('eth_getBalance', [EVM_PAYEE, 'latest'])),
    stop: () => anvil.stop(),
  }
}

async function startStellar(clock: AdjustableClock): Promise<TestChain> {
  const ledger = await startLedger({ closeEveryMs: 'manual', now: clock.now })
  const payee = keypairOf('payee').publicKey()
  ledger.fund(STELLAR_KEY.publicKey(), 1_000n * XLM)
  ledger.fund(payee, 100n * XLM)
  const before = ledger.account(payee)?.balance ?? 0n
  return {
    name: 'Stellar',
    url: ledger.url,
    config: (urls) => stellarConfig({ urls, passphrase: ledger.passphrase }),
    request: payment(AMOUNT, {
      operations: [
        { type: 'payment', destination: payee, asset: { type: 'native' }, amount: Number(AMOUNT) },
      ],
    }),
    denies: ({ method }, reply) => {
      const found = reply.result as { status?: string } | null
      if (method !== 'getTransaction' || found?.status === undefined) return reply
      const { latestLedger, latestLedgerCloseTime, oldestLedger, oldestLedgerCloseTime } = found as Record<
        string,
        unknown
      >
      return {
        ...reply,
        result: {
          status: 'NOT_FOUND',
          latestLedger,
          latestLedgerCloseTime,
          oldestLedger,
          oldestLedgerCloseTime,
        },
      }
    },
    makeBlocks: async () => ledger.close(2),
    paid: async () => (ledger.account(payee)?.balance ?? 0n) - before,
    stop: () => ledger.stop(),
  }
}

/** Blocks of a look: a blockhash lives for 150. */
const SOLANA_BLOCKS = 40

async function startOnSolana(clock: AdjustableClock): Promise<TestChain> {
  const solana = await startSolana({ slotMs: 'manual', now: clock.now })
  const payee = addressOf('payee')
  solana.airdrop(SOLANA_ACCOUNT, 10n * SOL)
  return {
    name: 'Solana',
    url: solana.url,
    config: (urls) => solanaConfig(solana, { urls }),
    request: transferBetween(SOLANA_ACCOUNT, payee, AMOUNT),
    denies: ({ method }, reply) => {
      const result = reply.result as Record<string, unknown> | null
      if (method === 'getTransaction') return { ...reply, result: null }
      if (method === 'getSignatureStatuses' && Array.isArray(result?.value))
        return { ...reply, result: { ...result, value: result.value.map(() => null) } }
      if (method !== 'getBlock' || result === null) return reply
      return {
        ...reply,
        result: {
          ...result,
          ...(Array.isArray(result?.signatures) && { signatures: [] }),
          ...(Array.isArray(result?.transactions) && { transactions: [] }),
        },
      }
    },
    makeBlocks: async () => solana.tick(SOLANA_BLOCKS),
    paid: async () => solana.account(payee)?.lamports ?? 0n,
    stop: () => solana.stop(),
  }
}
