import { type Address, address } from '@solana/kit'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { SYSTEM_PROGRAM } from '../../../../simulators/solana/runtime/programs.ts'
import {
  advanceNonce,
  createAccount,
  createWallet,
  initializeNonce,
  NONCE_ACCOUNT_LENGTH,
  signContent,
  transfer,
} from '../../../../simulators/solana/wallet.ts'
import { noop } from '../../../../src/chains/solana/request-content.ts'
import type { SolanaAttempt } from '../../../../src/chains/solana/types.ts'
import { openTransaction } from '../../../../src/chains/solana/wire/message.ts'
import { startFaultyNode } from '../../../support/faulty-node.ts'
import {
  AS_PAYER,
  accountWith,
  afterSpeedUpDelay,
  draftOf,
  instructionsOf,
  OTHER,
  requestOf,
  SELF,
  SIGNING_CONTEXT,
  type Stage,
  sendOn,
  startStage,
} from '../build.ts'

let stage: Stage

beforeEach(async () => {
  stage = await startStage()
})

const paid = () => (stage.solana.account(OTHER)?.lamports ?? 0n) - 1_000_000_000n
const move = (lamports: bigint) => instructionsOf(transfer(SELF, OTHER, lamports))

describe('a replacement with a blockhash', () => {
  // What is signed and stored may be sent, also where no answer to its broadcast is known.
  test.each(['signed', 'broadcast'] as const)(
    'waits for the end of what may be included: %s',
    async (outcome) => {
      const attempt: SolanaAttempt = { ...(await sendOn(stage.chain, move(1n))), outcome }
      expect(await stage.chain.replace(move(2n), [attempt], accountWith())).toMatchObject({
        kind: 'after_expiry',
      })
      expect(await stage.chain.replace(noop(), [attempt], accountWith())).toMatchObject({
        kind: 'after_expiry',
      })
    },
  )

  test('is refused immediately when it would fail', async () => {
    const attempt = await sendOn(stage.chain, move(1n))
    expect(await stage.chain.replace(move(10n ** 12n), [attempt], accountWith())).toMatchObject({
      refusal: { code: 'insufficient_balance' },
    })
  })

  test('is made immediately when nothing may be included any more', async () => {
    const attempt: SolanaAttempt = { ...(await sendOn(stage.chain, move(1n))), outcome: 'expired' }
    expect(await stage.chain.replace(move(2n), [attempt], accountWith())).toMatchObject({ kind: 'ok' })
  })
})

describe('a replacement with a durable nonce', () => {
  let nonce: Address

  /** An account whose nonce the relayer, or a third party, may advance. */
  async function openNonce(authority: Address): Promise<Address> {
    const wallet = createWallet()
    const lamports = stage.solana.rentExemption(NONCE_ACCOUNT_LENGTH)
    const size = { lamports, space: NONCE_ACCOUNT_LENGTH, owner: SYSTEM_PROGRAM }
    const steps = [createAccount(SELF, wallet.address, size), initializeNonce(wallet.address, authority)]
    const always = accountWith({ feePayerSpending: 'always' })
    await sendOn(stage.chain, stage.prebuilt(steps, wallet), always)
    stage.solana.tick(5)
    return wallet.address
  }

  beforeEach(async () => {
    nonce = await openNonce(SELF)
  })

  const durable = (lamports: bigint) =>
    instructionsOf(advanceNonce(nonce, SELF), transfer(SELF, OTHER, lamports))

  async function replaceBy(
    ...[request, attempts]: Parameters<Stage['chain']['replace']>
  ): Promise<SolanaAttempt> {
    const answer = await stage.chain.replace(request, attempts, accountWith())
    if (answer.kind === 'after_expiry') throw new Error(answer.detail)
    const draft = draftOf(answer)
    const signed = await stage.chain.sign(draft, SIGNING_CONTEXT)
    await stage.chain.broadcast([signed.raw])
    return { ...(attempts[0] as SolanaAttempt), number: attempts.length + 1, draft, signed }
  }

  test('has no end of its own, and takes the value of the account', async () => {
    const { draft } = await sendOn(stage.chain, durable(1n))
    expect(draft).toMatchObject({ nonceAccount: nonce, spends: 1n })
    expect(draft.expiresAt).toBeUndefined()
    stage.solana.tick(300)
    expect(paid()).toBe(1n)
  })

  test('excludes the earlier one, so it is signed immediately and only one is included', async () => {
    const first = await sendOn(stage.chain, durable(1n))
    await replaceBy(move(20n), [first], accountWith())
    stage.solana.tick(5)
    expect([1n, 20n]).toContain(paid())
  })

  test('wins when the earlier one never got anywhere', async () => {
    const first = await sendOn(stage.chain, durable(1n))
    stage.solana.dropPending()
    const second = await replaceBy(durable(20n), [first], accountWith())
    stage.solana.tick(5)
    // The earlier bytes can never be included any more.
    await stage.chain.broadcast([first.signed.raw])
    stage.solana.tick(5)
    expect(paid()).toBe(20n)
    const answers = await stage.chain.receipts([first, second].map(({ signed }) => signed.hash))
    expect(answers.map(({ kind }) => kind)).toEqual(['none', 'included'])
  })

  test('by nothing advances the nonce', async () => {
    const first = await sendOn(stage.chain, durable(1n))
    stage.solana.dropPending()
    const { draft } = await replaceBy(noop(), [first], accountWith())
    stage.solana.tick(5)
    await stage.chain.broadcast([first.signed.raw])
    stage.solana.tick(5)
    expect([paid(), draft.spends]).toEqual([0n, 0n])
  })

  test('is not made when the nonce has moved on: something was included', async () => {
    const first = await sendOn(stage.chain, durable(1n))
    stage.solana.tick(5)
    expect(await stage.chain.replace(move(20n), [first], accountWith())).toMatchObject({ kind: 'unknown' })
  })

  // Found by the simulator (seed 213 with two endpoints): the new content got the next value, and both were executed.
  test('is not made either when the nonce moves on while it is prepared', async () => {
    const node = await startFaultyNode(stage.solana.url)
    onTestFinished(() => node.stop())
    const chain = stage.chainAt(node.url)
    const first = await sendOn(chain, durable(1n))
    let readings = 0
    node.fault = (methods) => {
      if (methods.includes('getMultipleAccounts') && !methods.includes('simulateTransaction')) readings += 1
      if (readings === 2) stage.solana.tick(5)
      return 'pass'
    }
    expect(await chain.replace(durable(20n), [first], accountWith())).toMatchObject({ kind: 'unknown' })
    expect(paid()).toBe(1n)
  })

  test('has to advance the same nonce if it is prebuilt', async () => {
    const first = await sendOn(stage.chain, durable(1n))
    const other = stage.prebuilt([transfer(SELF, OTHER, 2n)])
    expect(await stage.chain.replace(other, [first], accountWith())).toMatchObject({
      refusal: { code: 'not_supported' },
    })
    const { lifetimeToken } = openTransaction(first.draft.transaction).message
    const same = requestOf({
      transaction: signContent({
        signers: [AS_PAYER],
        blockhash: lifetimeToken,
        steps: [advanceNonce(nonce, SELF), transfer(SELF, OTHER, 2n)],
      }).base64,
    })
    expect(await stage.chain.replace(same, [first], accountWith())).toMatchObject({ kind: 'ok' })
  })

  test('of a third party is for them to make', async () => {
    const friend = createWallet()
    stage.solana.airdrop(friend.address, 10n ** 9n)
    nonce = await openNonce(friend.address)
    const state = stage.solana.account(nonce)?.data.subarray(40, 72) ?? new Uint8Array()
    const { getBase58Decoder } = await import('@solana/kit')
    const steps = [advanceNonce(nonce, friend.address), transfer(friend.address, OTHER, 1n)]
    const blockhash = getBase58Decoder().decode(state)
    const signedByFriend = signContent({ signers: [AS_PAYER, friend], blockhash, steps })
    const first = await sendOn(stage.chain, requestOf({ transaction: signedByFriend.base64 }))
    expect(await stage.chain.replace(noop(), [first], accountWith())).toMatchObject({
      refusal: { code: 'not_supported', detail: expect.stringContaining(friend.address) },
    })
    stage.solana.tick(5)
    expect(paid()).toBe(1n)
    const again = requestOf({ transaction: signedByFriend.base64 })
    expect(await afterSpeedUpDelay(stage, () => stage.chain.prepare(again, accountWith()))).toMatchObject({
      refusal: { detail: expect.stringContaining('its durable nonce is no longer') },
    })
  })

  test('needs a nonce account', async () => {
    const none = address(OTHER)
    const request = instructionsOf(advanceNonce(none, SELF), transfer(SELF, OTHER, 1n))
    expect(await afterSpeedUpDelay(stage, () => stage.chain.prepare(request, accountWith()))).toMatchObject({
      refusal: {
        code: 'invalid_request',
        detail: expect.stringContaining('is not an initialized nonce account'),
      },
    })
  })
})
