import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { createWallet, transfer } from '../../../simulators/solana/wallet.ts'
import { createLogger } from '../../../src/log.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import {
  accountWith,
  draftOf,
  instructionsOf,
  OTHER,
  SELF,
  SIGNER,
  SIGNING_CONTEXT,
  type Stage,
  sendOn,
  startStage,
} from './build.ts'

let stage: Stage

beforeEach(async () => {
  stage = await startStage()
})

const step = (lamports = 5n) => instructionsOf(transfer(SELF, OTHER, lamports))
const headOf = async () => {
  const head = await stage.chain.head()
  if (head.kind !== 'ok') throw new Error(head.kind)
  return head.value
}
const kinds = (answers: readonly { readonly kind: string }[]) => answers.map(({ kind }) => kind)

describe('the cluster', () => {
  test('is the configured one, or the start is refused', async () => {
    const other = await startStage()
    expect(await stage.chain.verify()).toEqual({ kind: 'ok', value: undefined })
    expect(await stage.chainAt(other.solana.url).verify()).toMatchObject({ kind: 'refused' })
    const mixed = stage.chainAt(stage.solana.url, other.solana.url)
    expect(await mixed.verify({ each: true })).toMatchObject({ kind: 'refused' })
    expect(await mixed.verify()).toMatchObject({ kind: 'ok' })
  })

  test('has endpoints that keep no history, which is told and logged once', async () => {
    const sourceAccounts: string[] = []
    const log = createLogger(
      { level: 'warn' },
      { write: (sourceAccount) => void sourceAccounts.push(sourceAccount) },
    )
    const { solana, chainAt } = await startStage({ log })
    const bare = solana.node({ keepsHistory: false })
    const chain = chainAt(solana.url, bare.url)
    const kept = () => chain.endpoints().map(({ keepsHistory }) => keepsHistory)
    expect(kept()).toEqual([undefined, undefined])
    expect(await chain.verify()).toMatchObject({ kind: 'ok' })
    await chain.verify()
    expect(kept()).toEqual([true, false])
    expect(
      sourceAccounts.filter((sourceAccount) => sourceAccount.includes('keeps no transaction history')),
    ).toHaveLength(1)
    bare.options.keepsHistory = true
    await chain.verify()
    expect(kept()).toEqual([true, true])
  })

  test('tells what is finalized, and changes its hash with each slot', async () => {
    const before = await headOf()
    expect(before).toMatchObject({
      number: stage.solana.finalizedSlot(),
      expiredUpTo: stage.solana.blockHeight() - 4n,
    })
    stage.solana.tick()
    expect((await headOf()).hash).not.toBe(before.hash)
  })

  test('keeps back what an account needs to exist', async () => {
    expect(await stage.chain.balance(SELF)).toEqual({ kind: 'ok', value: 10_000_000_000n - 890_880n })
    expect(await stage.chain.balance(createWallet().address)).toEqual({ kind: 'ok', value: 0n })
  })

  test('asks the network for the minimum of an account, and takes the highest where no node tells it', async () => {
    const lower = await startStage({ lamportsPerByte: 696n })
    expect(await lower.chain.balance(SELF)).toEqual({ kind: 'ok', value: 10_000_000_000n - 89_088n })
    const silent = await startFaultyNode(lower.solana.url)
    onTestFinished(() => silent.stop())
    silent.habits = {
      refuse: ({ method }) =>
        method === 'getMinimumBalanceForRentExemption'
          ? { code: -32601, message: 'Method not found' }
          : undefined,
    }
    expect(await lower.chainAt(silent.url).balance(SELF)).toEqual({
      kind: 'ok',
      value: 10_000_000_000n - 890_880n,
    })
  })
})

describe('a transaction', () => {
  test('is unknown to the chain, then included, then final', async () => {
    const { signed } = await sendOn(stage.chain, step())
    expect(await stage.chain.receipts([signed.hash])).toEqual([{ kind: 'none' }])
    const { slot } = stage.solana.tick()
    const receipt = { hash: signed.hash, blockNumber: slot, blockHash: `${slot}`, success: true }
    expect(await stage.chain.receipts([signed.hash])).toMatchObject([
      { kind: 'included', receipt: { ...receipt, final: false } },
    ])
    stage.solana.tick(4)
    const moved = [expect.objectContaining({ asset: 'native', amount: 5n })]
    const told = { blockTime: expect.any(Date), result: { feeCharged: 5_000n, computeUnits: 600n, moved } }
    expect(await stage.chain.receipts([signed.hash])).toEqual([
      { kind: 'included', receipt: { ...receipt, ...told, final: true } },
    ])
  })

  test('that fails on chain says why', async () => {
    const draft = draftOf(await stage.chain.prepare(step(9_000_000_000n), accountWith()))
    await sendOn(stage.chain, step(8_000_000_000n))
    const signed = await stage.chain.sign(draft, SIGNING_CONTEXT)
    await stage.chain.broadcast([signed.raw])
    stage.solana.tick()
    expect(await stage.chain.receipts([signed.hash])).toMatchObject([
      {
        receipt: { success: false, failure: 'InstructionError in instruction 0: custom program error 0x1' },
      },
    ])
  })

  test('is the same bytes for the same draft', async () => {
    const draft = draftOf(await stage.chain.prepare(step(), accountWith()))
    expect(await stage.chain.sign(draft, SIGNING_CONTEXT)).toEqual(
      await stage.chain.sign(draft, SIGNING_CONTEXT),
    )
  })

  test('is not signed for an account that the key does not belong to', async () => {
    const draft = draftOf(await stage.chain.prepare(step(), accountWith()))
    const signingContext = {
      ...SIGNING_CONTEXT,
      account: { address: SELF, signer: SIGNER.derive('another') },
    }
    await expect(stage.chain.sign(draft, signingContext)).rejects.toThrow('for which the signer has no key')
  })

  test('stands in the order of what was sent, and what is none is refused', async () => {
    const [one, two] = await Promise.all(
      [1n, 2n].map(async (lamports) =>
        stage.chain.sign(draftOf(await stage.chain.prepare(step(lamports), accountWith())), SIGNING_CONTEXT),
      ),
    )
    const broken = Uint8Array.from(two?.raw ?? [])
    broken[1] = (broken[1] ?? 0) ^ 1
    const raws = [one?.raw ?? broken, Uint8Array.of(1, 2, 3), two?.raw ?? broken]
    expect(kinds(await stage.chain.broadcast(raws))).toEqual(['accepted', 'refused', 'accepted'])
  })

  test('whose reply is lost is unknown, and sent all the same', async () => {
    const deaf = await startFaultyNode(stage.solana.url)
    try {
      deaf.fault = (methods) => (methods.includes('sendTransaction') ? 'lose' : 'pass')
      const chain = stage.chainAt(deaf.url)
      const signed = await chain.sign(draftOf(await chain.prepare(step(), accountWith())), SIGNING_CONTEXT)
      expect(kinds(await chain.broadcast([signed.raw]))).toEqual(['unknown'])
      stage.solana.tick()
      expect(stage.solana.included(signed.hash)).toBeDefined()
    } finally {
      await deaf.stop()
    }
  })
})

/** I6: unknown is never no. */
describe('a node', () => {
  test('that is behind does not deny', async () => {
    const { signed } = await sendOn(stage.chain, step())
    stage.solana.tick(5)
    const behind = stage.chainAt(stage.solana.replica({ behind: 6 }))
    const { number } = await headOf()
    expect(await behind.receipts([signed.hash], { asOf: number })).toEqual([{ kind: 'unknown' }])
    expect(kinds([await behind.balance(SELF), await behind.head()])).toEqual(['ok', 'ok'])
  })

  test('that does not know of the newest block yet does not take an inclusion back', async () => {
    const late = stage.solana.replica({ behind: 1 })
    const urls = [stage.solana.url, late]
    const attempt = await sendOn(stage.chain, step())
    stage.solana.tick()
    // The result does not depend on the order and the number of the questions.
    const both = stage.chainAt(...urls)
    const answers = await Promise.all(Array.from({ length: 5 }, () => both.proveInclusion([attempt])))
    expect(kinds(answers)).toEqual(Array(5).fill('included'))
    const seen = stage.chainAt(stage.solana.url)
    await seen.receipts([attempt.signed.hash])
    const one = stage.chainAt(late)
    expect(kinds(await one.receipts([attempt.signed.hash]))).not.toContain('included')
  })

  test('whose block a fork has dropped says so', async () => {
    const { signed } = await sendOn(stage.chain, step())
    stage.solana.tick(2)
    expect(kinds(await stage.chain.receipts([signed.hash]))).toEqual(['included'])
    stage.solana.dropPending()
    stage.solana.fork(2)
    stage.solana.dropPending()
    stage.solana.tick(3)
    const [answer] = await stage.chain.receipts([signed.hash])
    expect(['none', 'included']).toContain(answer?.kind)
    expect(answer?.kind === 'included').toBe(stage.solana.included(signed.hash) !== undefined)
  })
})

test('a message is signed as it is, and shown in base58', async () => {
  const { r, s, sig, v, signature, publicKey } = await stage.chain.signMessage('hello', SIGNER)
  expect(sig).toBe(r + s)
  expect([v, publicKey]).toEqual([0, SELF])
  expect(signature).toMatch(/^[1-9A-HJ-NP-Za-km-z]{86,88}$/)
})
