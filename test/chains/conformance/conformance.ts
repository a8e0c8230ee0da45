import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Receipt } from '../../../src/chains/answer.ts'
import type { Attempt, Draft, SignedDraft } from '../../../src/chains/attempt.ts'
import type { ChainRequest } from '../../../src/chains/chain.ts'
import type { ChainUnderTest } from './chain-under-test.ts'

/** What every chain promises to the rooms, whatever its network is. */
export function describeChain(name: string, start: () => Promise<ChainUnderTest>): void {
  describe(`the chain of ${name}`, () => {
    let under: ChainUnderTest

    beforeEach(async () => {
      under = await start()
    })

    afterEach(() => under.stop())

    promisesOfSending(() => under)
    promisesOfReplacing(() => under)
    promisesOfDoubt(() => under)
  })
}

function promisesOfSending(under: () => ChainUnderTest): void {
  test('what was prepared and signed is taken once, and found in its block', async () => {
    const { chain, account } = under()
    expect(await chain.verify()).toEqual({ kind: 'ok', value: undefined })
    const nonce = await nextNonce(under())
    const [before, poor] = [given(await chain.balance(account.address)), await under().received()]
    const { draft, signed } = await signedOf(under(), under().move(7n), nonce)
    expect(await chain.receipts([signed.hash])).toEqual([{ kind: 'none' }])
    expect(await chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
    expect(await chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted', known: true }])
    await under().include()
    const receipt = await receiptOf(under(), signed)
    expect(receipt).toMatchObject({ hash: signed.hash, success: true })
    expect(given(await chain.blockHash(receipt.blockNumber))).toBe(receipt.blockHash)
    expect(await nextNonce(under())).toBe(nonce + 1n)
    expect((await under().received()) - poor).toBe(7n)
    const spent = before - given(await chain.balance(account.address))
    expect(spent).toBeLessThanOrEqual(chain.cost(draft))
    expect(spent).toBeGreaterThanOrEqual(chain.outlay(under().move(7n)))
  })

  test('the same draft for the same seat is the same bytes', async () => {
    const { draft, signed } = await signedOf(under(), under().move(1n), 5n)
    expect(await under().chain.sign(draft, under().seat(5n))).toEqual(signed)
    expect((await under().chain.sign(draft, under().seat(6n))).hash).not.toBe(signed.hash)
  })

  test('what is included is not taken again, and results stand in the order of what was sent', async () => {
    const nonce = await nextNonce(under())
    const first = await signedOf(under(), under().move(1n), nonce)
    await under().chain.broadcast([first.signed.raw])
    await under().include()
    const second = await signedOf(under(), under().move(2n), nonce + 1n)
    const results = await under().chain.broadcast([
      first.signed.raw,
      second.signed.raw,
      new Uint8Array([1, 2, 3]),
    ])
    // stellar-core also says only "later" of what it has applied (`TransactionQueue::removeApplied` bans it).
    expect(results.map(({ kind }) => (kind === 'later' ? 'nonce_used' : kind))).toEqual([
      'nonce_used',
      'accepted',
      'refused',
    ])
  })

  test('a message is signed in two halves', async () => {
    const { signer } = under().seat(0n).account
    const { r, s, sig } = await under().chain.signMessage('hello', signer)
    expect(sig.startsWith(r + s)).toBe(true)
    expect([r.length, s.length]).toEqual([64, 64])
  })

  test('a request ends when its caller says so', () => {
    const validUntil = new Date('2030-01-01T00:00:00Z')
    expect(under().chain.endsAt(under().move(1n, { validUntil }))).toEqual(validUntil)
    expect(under().chain.endsAt(under().move(1n))).toBeUndefined()
    expect(under().chain.place(under().move(1n))).toBeUndefined()
  })
}

function promisesOfReplacing(under: () => ChainUnderTest): void {
  test('a second one with the same nonce does not slip in at the same price', async () => {
    const nonce = await nextNonce(under())
    await send(under(), under().move(1n), nonce)
    const second = await signedOf(under(), under().move(2n), nonce)
    const [result] = await under().chain.broadcast([second.signed.raw])
    expect(['underpriced', 'later']).toContain(result?.kind)
  })

  test('a replacement is taken in place of the first, and only it is included', async () => {
    const nonce = await nextNonce(under())
    const poor = await under().received()
    const first = await send(under(), under().move(1n), nonce)
    const second = await replaceBy(under(), under().move(20n), [first])
    const third = await replaceBy(under(), under().move(300n), [first, second])
    await under().include()
    expect((await under().received()) - poor).toBe(300n)
    const answers = await under().chain.receipts([first, second, third].map(({ signed }) => signed.hash))
    expect(answers.map(({ kind }) => kind)).toEqual(['none', 'none', 'included'])
  })

  test('the no-op takes the nonce and moves nothing', async () => {
    const nonce = await nextNonce(under())
    const poor = await under().received()
    const first = await send(under(), under().move(1n), nonce)
    await replaceBy(under(), under().chain.noop(under().account), [first])
    await under().include()
    expect(await under().received()).toBe(poor)
    expect(await nextNonce(under())).toBe(nonce + 1n)
  })
}

/** I6: unknown is never no. */
function promisesOfDoubt(under: () => ChainUnderTest): void {
  test('a node that is behind does not deny', async () => {
    const { attempt, number } = await included(under())
    expect(await under().behind.receipts([attempt.signed.hash], { asOf: number })).toEqual([
      { kind: 'unknown' },
    ])
    expect(await under().behind.receiptsEverywhere([attempt.signed.hash], { asOf: number })).toEqual([
      { kind: 'unknown' },
    ])
    expect(await under().behind.nonces([under().account.address], { asOf: number })).toMatchObject([
      { kind: 'unknown' },
    ])
    expect(await under().behind.blockHash(number, { asOf: number })).toMatchObject({ kind: 'unknown' })
  })

  test('a node that is far enough denies what never was', async () => {
    const { attempt, number } = await included(under())
    const { hash } = (await signedOf(under(), under().move(9n), 1_000n)).signed
    const answers = await under().chain.receiptsEverywhere([attempt.signed.hash, hash], { asOf: number })
    expect(answers.map(({ kind }) => kind)).toEqual(['included', 'none'])
  })

  test('a lost reply is unknown, and what was sent is sent all the same', async () => {
    const nonce = await nextNonce(under())
    const { signed } = await signedOf(under(), under().move(1n), nonce)
    expect(await under().deaf.broadcast([signed.raw])).toMatchObject([{ kind: 'unknown' }])
    await under().include()
    expect(await receiptOf(under(), signed)).toMatchObject({ success: true })
  })
}

async function included(under: ChainUnderTest) {
  const attempt = await send(under, under.move(1n), await nextNonce(under))
  await under.include()
  const { number } = given(await under.chain.head())
  return { attempt, number }
}

async function signedOf(under: ChainUnderTest, request: ChainRequest, nonce: bigint) {
  expect(under.chain.check(request, under.account)).toBeUndefined()
  const answer = await under.chain.prepare(request, under.account)
  if (answer.kind === 'errand') throw new Error(answer.detail)
  const { draft } = given(answer)
  return { draft, signed: await under.chain.sign(draft, under.seat(nonce)) }
}

async function send(under: ChainUnderTest, request: ChainRequest, nonce: bigint): Promise<Attempt> {
  const { draft, signed } = await signedOf(under, request, nonce)
  expect(await under.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
  return attemptOf(under, { draft, signed, nonce })
}

async function replaceBy(under: ChainUnderTest, request: ChainRequest, attempts: readonly Attempt[]) {
  const nonce = attempts[0]?.nonce ?? 0n
  const answer = await under.chain.replace(request, attempts, under.account)
  if (answer.kind === 'errand' || answer.kind === 'after_lapse') throw new Error(answer.detail)
  const { draft } = given(answer)
  const signed = await under.chain.sign(draft, under.seat(nonce))
  expect(await under.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
  return attemptOf(under, { draft, signed, nonce })
}

function attemptOf(
  under: ChainUnderTest,
  parts: { readonly draft: Draft; readonly signed: SignedDraft; readonly nonce: bigint },
): Attempt {
  const line = under.account.address
  return { number: 1, kind: 'send', line, signedAt: new Date(0), outcome: 'broadcast', ...parts }
}

async function nextNonce({ chain, account }: ChainUnderTest): Promise<bigint> {
  const [answer] = await chain.nonces([account.address])
  return given(answer ?? { kind: 'none' })
}

async function receiptOf({ chain }: ChainUnderTest, { hash }: SignedDraft): Promise<Receipt> {
  const { number } = given(await chain.head())
  const [answer] = await chain.receipts([hash], { asOf: number })
  if (answer?.kind !== 'included') throw new Error(`${hash} is not included: ${answer?.kind}`)
  return answer.receipt
}

/** The value of an answer that has to be there. */
function given<T>(answer: { readonly kind: string; readonly value?: T }): T {
  if (answer.kind !== 'ok' || answer.value === undefined) throw new Error(JSON.stringify(answer))
  return answer.value
}
