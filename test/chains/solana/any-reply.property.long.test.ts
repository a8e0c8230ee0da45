import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { everyNonsense } from '../../../scripts/attack/rpc/lies.ts'
import { createWallet, signContent, transfer } from '../../../simulators/solana/wallet.ts'
import { createSolanaChain } from '../../../src/chains/solana/solana-chain.ts'
import type { SolanaAttempt, SolanaChain } from '../../../src/chains/solana/types.ts'
import { createLogger } from '../../../src/log.ts'
import { createHurriedClock } from '../../support/clock.ts'
import { type RpcServer, startRpcServer } from '../../support/rpc-server.ts'
import {
  AS_PAYER,
  accountWith,
  draftOf,
  instructionsOf,
  OTHER,
  requestOf,
  SELF,
  SIGNING_CONTEXT,
  someAddress,
} from './build.ts'

const ACCOUNT = {
  lamports: 10_000_000_000,
  owner: someAddress(0),
  data: ['', 'base64'],
  executable: false,
  rentEpoch: 0,
}
const at = (slot: number, value: unknown) => ({ context: { slot }, value })

/** The answers of a healthy node. */
const IN_ORDER: Readonly<Record<string, unknown>> = {
  getEpochInfo: { absoluteSlot: 100, blockHeight: 90 },
  getSlot: 105,
  getLatestBlockhash: at(104, { blockhash: someAddress(7), lastValidBlockHeight: 240 }),
  isBlockhashValid: at(105, true),
  getMultipleAccounts: at(104, [ACCOUNT]),
  simulateTransaction: at(104, { err: null, logs: [], unitsConsumed: 450, accounts: [ACCOUNT] }),
  getBalance: at(104, 10_000_000_000),
  getRecentPrioritizationFees: [{ slot: 104, prioritizationFee: 5 }],
  getSignatureStatuses: at(105, [null]),
  minimumLedgerSlot: 0,
  // So far that no status cache reaches back.
  getBlockHeight: 400,
  // The blocks have heights 0 to 90, after ten slots without a block.
  getBlocks: Array.from({ length: 91 }, (_, index) => index + 10),
  getBlock: { blockHeight: 26 },
  sendTransaction: 'sig',
  getGenesisHash: someAddress(1),
}

const answers = new Map<string, unknown>()
let server: RpcServer
let chain: SolanaChain

beforeAll(async () => {
  server = await startRpcServer((calls) => {
    const replies = calls.map(({ id, method }) => ({
      jsonrpc: '2.0',
      id,
      result: answers.get(method) ?? null,
    }))
    return { body: replies.length === 1 ? replies[0] : replies }
  })
})

/** A chain that remembers no answer. */
function startInOrder(): void {
  for (const [method, answer] of Object.entries(IN_ORDER)) answers.set(method, answer)
  chain = createSolanaChain({
    network: {
      type: 'solana',
      name: 'local',
      genesisHash: someAddress(1),
      isTestnet: true,
      averageBlocktimeMs: 1,
      requiredConfirmations: 0,
      rpcUrls: [{ url: server.url, weight: 100 }],
    },
    rpcTimeoutMs: 5_000,
    clock: createHurriedClock(),
    log: createLogger({ level: 'silent' }),
  })
}
beforeEach(startInOrder)

afterAll(() => server.stop())

let attempt: SolanaAttempt

beforeEach(async () => {
  const draft = draftOf(await chain.prepare(own, accountWith()))
  const signed = await chain.sign(draft, SIGNING_CONTEXT)
  attempt = {
    number: 1,
    kind: 'send',
    sourceAccount: SELF,
    draft,
    signed,
    signedAt: new Date(0),
    outcome: 'signed',
  }
  expect(await chain.proveInclusion([attempt], { asOf: 100n })).toEqual({ kind: 'absent' })
})

const own = instructionsOf(transfer(SELF, OTHER, 5n))
const friend = createWallet()
const externallySigned = requestOf({
  transaction: signContent({
    signers: [AS_PAYER, friend],
    blockhash: someAddress(7),
    steps: [transfer(friend.address, OTHER, 5n)],
  }).base64,
})

/** Objects with the right names and anything in them. */
const FIELDS = [
  'context',
  'value',
  'slot',
  'absoluteSlot',
  'blockHeight',
  'err',
  'accounts',
  'unitsConsumed',
  'lamports',
  'data',
]
const anything = fc.oneof(
  fc.constantFrom(
    null,
    0,
    -1,
    1.5,
    2 ** 60,
    '',
    '5',
    [],
    {},
    true,
    at(104, null),
    at(104, [null]),
    at(-1, [{}]),
  ),
  fc.jsonValue(),
)
const replies = fc.oneof(
  anything,
  fc.dictionary(fc.constantFrom(...FIELDS), anything),
  anything.map((value) => at(105, value)),
)

// The service believes only a node that answers explicitly; everything else decides nothing (I6).
test.each(Object.keys(IN_ORDER))(
  'whatever a node answers to %s, nothing is denied without its word',
  async (method) => {
    await fc.assert(
      fc.asyncProperty(replies, async (reply) => {
        answers.set(method, reply)
        const head = { number: 100n, hash: 'x', expiredUpTo: 90n }
        const [seen] = await chain.receipts(['sig'], { asOf: 100n })
        const fate = await chain.proveInclusion([attempt], { asOf: 100n })
        const [sent] = await chain.broadcast([Uint8Array.of(1)])
        const [prepared, paid] = [
          await chain.prepare(own, accountWith()),
          await chain.prepare(externallySigned, accountWith()),
        ]
        await Promise.all([chain.verify(), chain.head(), chain.balance(SELF)])
        if (method === 'getSignatureStatuses') {
          const statuses = (reply as { value?: readonly unknown[] } | null)?.value
          if (seen?.kind === 'none' || fate.kind === 'absent') expect(statuses?.[0]).toBeNull()
        }
        if (method === 'getBlock' && fate.kind === 'absent')
          expect((reply as { blockHeight?: unknown }).blockHeight).toBe(26)
        if (method === 'getBlocks') expect(fate.kind).toBe('unknown')
        if (method === 'minimumLedgerSlot' && fate.kind === 'absent') expect(reply).toBe(0)
        if (method === 'sendTransaction' && typeof reply !== 'string') expect(sent?.kind).toBe('unknown')
        for (const answer of [prepared, paid]) {
          if (answer.kind === 'refused') expect(['simulateTransaction', 'isBlockhashValid']).toContain(method)
          if (answer.kind !== 'ok') continue
          expect(answer.value.draft.fee).toBeGreaterThan(0n)
          expect(await chain.expiry.hasExpired(answer.value.draft, head)).toBe(false)
        }
      }),
      { numRuns: 25 },
    )
  },
)

test.each(Object.keys(IN_ORDER))(
  'whatever nonsense a node answers to %s, the service goes on',
  async (method) => {
    for (const reply of everyNonsense(IN_ORDER[method])) {
      startInOrder()
      answers.set(method, reply)
      const prepared = await chain.prepare(own, accountWith())
      if (prepared.kind === 'ok') await chain.sign(prepared.value.draft, SIGNING_CONTEXT)
      await chain.prepare(externallySigned, accountWith())
      await Promise.all([chain.verify(), chain.head(), chain.balance(SELF)])
      await chain.receipts(['sig'], { asOf: 100n })
      await chain.proveInclusion([attempt], { asOf: 100n })
    }
  },
)

describe('a simulation and accounts of different slots', () => {
  test('say nothing where both have to be the same', async () => {
    expect((await chain.prepare(externallySigned, accountWith())).kind).toBe('ok')
    answers.set('simulateTransaction', at(103, { err: null, unitsConsumed: 450, accounts: [ACCOUNT] }))
    expect(await chain.prepare(externallySigned, accountWith())).toMatchObject({
      kind: 'unknown',
      detail: expect.stringContaining('different slots'),
    })
  })

  test('do no harm where the relayer may spend', async () => {
    answers.set('simulateTransaction', at(103, { err: null, unitsConsumed: 450, accounts: [ACCOUNT] }))
    expect((await chain.prepare(own, accountWith())).kind).toBe('ok')
  })
})

test('a node that is a few slots behind another may be looked at, and has no say', async () => {
  expect(await chain.head()).toMatchObject({ kind: 'ok' })
  answers.set('getEpochInfo', { absoluteSlot: 90, blockHeight: 80 })
  expect((await chain.prepare(own, accountWith())).kind).toBe('ok')
  expect(await chain.receipts(['sig'], { asOf: 100n })).toEqual([{ kind: 'unknown' }])
})
