import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Receipt } from '../../../src/chains/answer.ts'
import type { Attempt, Draft, SignedDraft } from '../../../src/chains/attempt.ts'
import type { ChainRequest } from '../../../src/chains/request.ts'
import type { ChainUnderTest } from './chain-under-test.ts'

/** Checks the promises that every chain makes to its callers, whatever its network is; `nonces` as in its capabilities. */
export function describeChain(
  name: string,
  start: () => Promise<ChainUnderTest>,
  { nonces } = { nonces: true },
): void {
  describe(`the chain of ${name}`, () => {
    let under: ChainUnderTest

    beforeEach(async () => {
      under = await start()
    })

    afterEach(() => under.stop())

    promisesOfSending(() => under)
    promisesOfDoubt(() => under)
    if (nonces) promisesOfNonces(() => under)
    if (nonces) promisesOfReplacing(() => under)
    else promisesOfWaiting(() => under)
  })
}

function promisesOfSending(under: () => ChainUnderTest): void {
  test('what was prepared and signed is taken once, and found in its block', async () => {
    const { chain, account } = under()
    expect(await chain.verify()).toEqual({ kind: 'ok', value: undefined })
    const nonce = await nextNonce(under())
    const { sequencing } = chain
    const [before, poor] = [expectOk(await chain.balance(account.address)), await under().received()]
    const { draft, signed } = await signedOf(under(), under().move(7n), nonce)
    expect(await chain.receipts([signed.hash])).toEqual([{ kind: 'none' }])
    expect(await chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
    // Without a pool that holds it, no one can tell that it is known.
    expect(await chain.broadcast([signed.raw])).toEqual([
      { kind: 'accepted', ...(sequencing && { known: true }) },
    ])
    await under().include()
    const receipt = await receiptOf(under(), signed)
    expect(receipt).toMatchObject({ hash: signed.hash, success: true })
    if (chain.blockFinality) {
      const hash = await chain.blockFinality.blockHash(receipt.blockNumber)
      expect(expectOk(hash)).toBe(receipt.blockHash)
    }
    expect(await nextNonce(under())).toBe(sequencing ? nonce + 1n : nonce)
    expect((await under().received()) - poor).toBe(7n)
    const spent = before - expectOk(await chain.balance(account.address))
    expect(spent).toBeLessThanOrEqual(chain.cost(draft))
    expect(spent).toBeGreaterThanOrEqual(chain.amountOut(under().move(7n)))
  })

  test('the same draft in the same signing context is the same bytes', async () => {
    const { draft, signed } = await signedOf(under(), under().move(1n), 5n)
    expect(await under().chain.sign(draft, under().signingContext(5n))).toEqual(signed)
  })

  test('results stand in the order of what was sent', async () => {
    const { signed } = await signedOf(under(), under().move(1n), await nextNonce(under()))
    const nonsense = new Uint8Array([1, 2, 3])
    // A refusal by one node may need a second opinion, from the same node at a later block.
    await under().chain.broadcast([nonsense])
    await under().include()
    const results = await under().chain.broadcast([nonsense, signed.raw])
    expect(results.map(({ kind }) => kind)).toEqual(['refused', 'accepted'])
  })

  test('a message is signed in two halves', async () => {
    const { signer } = under().signingContext(0n).account
    const { r, s, sig } = await under().chain.signMessage('hello', signer)
    expect(sig.startsWith(r + s)).toBe(true)
    expect([r.length, s.length]).toEqual([64, 64])
  })

  test('a request ends when its caller says so', () => {
    const validUntil = new Date('2030-01-01T00:00:00Z')
    expect(under().chain.endsAt(under().move(1n, { validUntil }))).toEqual(validUntil)
    expect(under().chain.endsAt(under().move(1n))).toBeUndefined()
    expect(under().chain.externalSigning?.nonceOf(under().move(1n))).toBeUndefined()
  })
}

function promisesOfNonces(under: () => ChainUnderTest): void {
  test('the same draft for another nonce is other bytes', async () => {
    const { draft, signed } = await signedOf(under(), under().move(1n), 5n)
    expect((await under().chain.sign(draft, under().signingContext(6n))).hash).not.toBe(signed.hash)
  })

  test('what is included is not taken again', async () => {
    const nonce = await nextNonce(under())
    const first = await signedOf(under(), under().move(1n), nonce)
    await under().chain.broadcast([first.signed.raw])
    await under().include()
    const second = await signedOf(under(), under().move(2n), nonce + 1n)
    const results = await under().chain.broadcast([first.signed.raw, second.signed.raw])
    // stellar-core also answers only "later" to a transaction that it has applied (`TransactionQueue::removeApplied` bans it).
    expect(results.map(({ kind }) => (kind === 'later' ? 'nonce_used' : kind))).toEqual([
      'nonce_used',
      'accepted',
    ])
  })

  test('a node that is behind tells no nonce and no block', async () => {
    const { number } = await included(under())
    const { behind, account } = under()
    expect(await behind.sequencing?.nonces([account.address], { asOf: number })).toMatchObject([
      { kind: 'unknown' },
    ])
    const { blockFinality } = behind
    if (blockFinality)
      expect(await blockFinality.blockHash(number, { asOf: number })).toMatchObject({ kind: 'unknown' })
  })
}

/** Without a nonce that both want, two versions could both be included. */
function promisesOfWaiting(under: () => ChainUnderTest): void {
  test('the same request twice is two transactions', async () => {
    const poor = await under().received()
    const sent = [await send(under(), under().move(3n), 0n), await send(under(), under().move(3n), 0n)]
    await under().include()
    expect(sent[0]?.signed.hash).not.toBe(sent[1]?.signed.hash)
    expect((await under().received()) - poor).toBe(6n)
  })

  test('a replacement, or nothing in its place, waits for the end of what may be included', async () => {
    const { chain, account } = under()
    const attempts = [await send(under(), under().move(1n), 0n)]
    for (const request of [under().move(2n), chain.noop(account)])
      expect(await chain.replace(request, attempts, account)).toMatchObject({ kind: 'after_expiry' })
  })

  test('an included transaction does not expire before its own end', async () => {
    const { attempt } = await included(under())
    const head = expectOk(await under().chain.head())
    expect(await under().chain.expiry?.hasExpired(attempt.draft, head)).toBe(false)
  })
}

function promisesOfReplacing(under: () => ChainUnderTest): void {
  test('a second transaction with the same nonce does not slip in at the same price', async () => {
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

/** This many blocks are final on every network under test. */
const DEEP = 3

/** I6: unknown is never no. */
function promisesOfDoubt(under: () => ChainUnderTest): void {
  test('a node that is behind does not deny', async () => {
    const { attempt, number } = await included(under())
    expect(await under().behind.receipts([attempt.signed.hash], { asOf: number })).toEqual([
      { kind: 'unknown' },
    ])
    expect(await under().behind.proveInclusion([attempt], { asOf: number })).toMatchObject({
      kind: 'unknown',
    })
  })

  test('the newest head is remembered as it was told, and the time since when, without a question', async () => {
    const { number } = expectOk(await under().chain.head())
    const before = under().chain.seenHead()
    expect(before?.height).toBe(number)
    await under().include()
    expect(under().chain.seenHead()).toEqual(before)
    expectOk(await under().chain.head())
    const seen = under().chain.seenHead()
    expect(seen?.height).toBeGreaterThan(before?.height ?? 0n)
    expect(seen?.advanced).toBe(true)
  })

  test('a node that is far enough denies what can no longer be included', async () => {
    const { attempt } = await included(under())
    const nonce = attempt.nonce ?? 0n
    const never = attemptOf(under(), { ...(await signedOf(under(), under().move(9n), nonce)), nonce })
    for (let blocks = 0; blocks < DEEP; blocks += 1) await under().include()
    const { number } = expectOk(await under().chain.head())
    expect(await under().chain.proveInclusion([never], { asOf: number })).toMatchObject({ kind: 'absent' })
    expect(
      await under().chain.proveInclusion([never, { ...attempt, number: 2 }], { asOf: number }),
    ).toMatchObject({ kind: 'included', number: 2 })
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
  const { number } = expectOk(await under.chain.head())
  return { attempt, number }
}

async function signedOf(under: ChainUnderTest, request: ChainRequest, nonce: bigint) {
  expect(under.chain.check(request, under.account)).toBeUndefined()
  const answer = await under.chain.prepare(request, under.account)
  if (answer.kind === 'setup') throw new Error(answer.detail)
  const { draft } = expectOk(answer)
  return { draft, signed: await under.chain.sign(draft, under.signingContext(nonce)) }
}

async function send(under: ChainUnderTest, request: ChainRequest, nonce: bigint): Promise<Attempt> {
  const { draft, signed } = await signedOf(under, request, nonce)
  expect(await under.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
  return attemptOf(under, { draft, signed, nonce })
}

async function replaceBy(under: ChainUnderTest, request: ChainRequest, attempts: readonly Attempt[]) {
  const nonce = attempts[0]?.nonce ?? 0n
  const answer = await under.chain.replace(request, attempts, under.account)
  if (answer.kind === 'setup' || answer.kind === 'after_expiry') throw new Error(answer.detail)
  const { draft } = expectOk(answer)
  const signed = await under.chain.sign(draft, under.signingContext(nonce))
  expect(await under.chain.broadcast([signed.raw])).toEqual([{ kind: 'accepted' }])
  return attemptOf(under, { draft, signed, nonce })
}

function attemptOf(
  under: ChainUnderTest,
  parts: { readonly draft: Draft; readonly signed: SignedDraft; readonly nonce: bigint },
): Attempt {
  const sourceAccount = under.account.address
  return { number: 1, kind: 'send', sourceAccount, signedAt: new Date(0), outcome: 'broadcast', ...parts }
}

/** 0 where there are none. */
async function nextNonce({ chain, account }: ChainUnderTest): Promise<bigint> {
  if (chain.sequencing === undefined) return 0n
  const [answer] = await chain.sequencing.nonces([account.address])
  return expectOk(answer ?? { kind: 'none' })
}

async function receiptOf({ chain }: ChainUnderTest, { hash }: SignedDraft): Promise<Receipt> {
  const { number } = expectOk(await chain.head())
  const [answer] = await chain.receipts([hash], { asOf: number })
  if (answer?.kind !== 'included') throw new Error(`${hash} is not included: ${answer?.kind}`)
  return answer.receipt
}

/** The value of an answer that has to be there. */
function expectOk<T>(answer: { readonly kind: string; readonly value?: T }): T {
  if (answer.kind !== 'ok' || answer.value === undefined) throw new Error(JSON.stringify(answer))
  return answer.value
}
