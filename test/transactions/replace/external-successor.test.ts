import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AfterExpiry } from '../../../src/chains/attempt.ts'
import type { ChainRequest } from '../../../src/chains/request.ts'
import type { Transaction } from '../../../src/transactions/model/transaction.ts'
import { createReplacer } from '../../../src/transactions/replace/replace.ts'
import { undoIfRefused } from '../../../src/transactions/replace/undo-replacement.ts'
import { insertAttempts } from '../../../src/transactions/store/attempts-store.ts'
import { lockAccount, setNextNonce } from '../../../src/transactions/store/nonce-store.ts'
import { attemptOf, eip1559, FROM, requestOf, TO } from '../../chains/evm/build.ts'
import { ACTOR } from '../../support/samples.ts'
import { type Fixture, insert, newTransaction, openFixture, reload } from '../fixture.ts'
import { chainOf, createStubChain } from '../stub-chain.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.close())

let hashes = 0

/** A request of this value brings the nonce of the same number, which a third party signed; any other brings none. */
const signedFor = (nonce: bigint) => requestOf({ value: nonce })
const EXTERNAL_FROM = 100n
const nonceOf = (request: ChainRequest) =>
  request.type === 'evm' && request.value >= EXTERNAL_FROM ? { address: TO, nonce: request.value } : undefined

const WAITS: AfterExpiry = { kind: 'after_expiry', detail: 'The new one waits.' }

interface Situation {
  readonly change?: Partial<Transaction>
  /** The outcome of its only attempt; none was signed if absent. */
  readonly outcome?: 'broadcast' | 'refused'
  readonly answer?: AfterExpiry
}

/** A transaction with nonce 5 of the relayer, on a chain where replacements with another nonce wait. */
async function setUp({ change = {}, outcome, answer = WAITS }: Situation = {}) {
  const stub = createStubChain()
  stub.override = { externalSigning: { nonceOf }, replace: async () => answer }
  const owner = await fixture.addAccount({ chain: chainOf(stub) })
  const { address } = owner.relayer
  const [stored] = await insert(
    fixture.context,
    newTransaction(owner, { nonce: 5n, sourceAccount: address, cost: 7n, ...change }),
  )
  if (!stored) throw new Error('nothing was stored')
  if (outcome !== undefined) {
    const attempt = attemptOf(eip1559(10n, 1n), { outcome, nonce: 5n, sourceAccount: address })
    hashes += 1
    const signed = { ...attempt.signed, hash: `0xsuccessor${hashes}` }
    await fixture.database.db
      .transaction()
      .execute((tx) => insertAttempts(tx, [{ transactionId: stored.id, attempt: { ...attempt, signed } }]))
  }
  const replacer = createReplacer(fixture.context)
  const replace = (request: ChainRequest) =>
    replacer.replace({ relayer: owner.relayer, id: stored.id, request: request, actor: ACTOR })
  return { stub, owner, stored, replace, now: () => reload(fixture.context, stored) }
}

const counterOf = (relayerId: string, address: string) =>
  fixture.database.db.transaction().execute(async (tx) => (await lockAccount(tx, relayerId)).get(address))

describe('content with the nonce of a third party, in place of an unsigned transaction', () => {
  test('gets that nonce immediately, and gives the one of the relayer back', async () => {
    const { owner, replace, now } = await setUp()
    const { id, address } = owner.relayer
    await fixture.database.db
      .transaction()
      .execute((tx) => setNextNonce(tx, { relayerId: id, address, nonce: 6n }))
    await replace(signedFor(101n))
    expect((await now()).transaction).toMatchObject({
      status: 'pending',
      purpose: 'request',
      sourceAccount: TO,
      nonce: 101n,
    })
    expect(await counterOf(id, address)).toBeUndefined()
  })

  test('gives it back to its signer when content of the service follows, and no counter of the relayer moves', async () => {
    const { owner, replace, now } = await setUp({ change: { sourceAccount: TO, nonce: 102n } })
    const { id, address } = owner.relayer
    await fixture.database.db
      .transaction()
      .execute((tx) => setNextNonce(tx, { relayerId: id, address, nonce: 6n }))
    await replace(requestOf({ value: 1n }))
    expect((await now()).transaction).toMatchObject({ sourceAccount: undefined, nonce: undefined })
    expect(await counterOf(id, address)).toBe(6n)
  })

  test('is refused when another transaction has it, or waits for it', async () => {
    const { owner, replace, now, stored } = await setUp()
    await insert(
      fixture.context,
      newTransaction(owner, { sourceAccount: TO, nonce: 103n, status: 'confirmed' }),
      newTransaction(owner, {
        request: signedFor(104n),
        purpose: 'successor',
        status: 'submitted',
        sourceAccount: FROM,
        nonce: 9n,
      }),
    )
    for (const nonce of [103n, 104n])
      await expect(replace(signedFor(nonce))).rejects.toMatchObject({ code: 'already_accepted' })
    expect((await now()).transaction).toEqual(stored)
  })
})

describe('content with another nonce, in place of bytes that a node may have', () => {
  test('waits, and the record keeps the nonce of the earlier version', async () => {
    const { replace, now } = await setUp({
      outcome: 'broadcast',
      change: { status: 'submitted', currentAttempt: 1 },
    })
    await replace(signedFor(105n))
    expect((await now()).transaction).toMatchObject({
      status: 'submitted',
      purpose: 'successor',
      nonce: 5n,
      statusReason: 'The new one waits.',
    })
  })

  test('waits also when one node has refused them: another may have taken them', async () => {
    const { replace, now } = await setUp({ outcome: 'refused' })
    await replace(signedFor(106n))
    expect((await now()).transaction).toMatchObject({
      status: 'sent',
      purpose: 'successor',
      nonce: 5n,
      currentAttempt: 1,
    })
  })

  test('reserves the dearer of both, and is refused when the account cannot pay for it', async () => {
    const change = { status: 'submitted', currentAttempt: 1 } as const
    const dear = await setUp({ outcome: 'broadcast', change, answer: { ...WAITS, cost: 900n } })
    // One wei stays on the account (`min_balance`).
    dear.stub.balance = { kind: 'ok', value: 901n }
    await dear.replace(signedFor(107n))
    expect((await dear.now()).transaction.cost).toBe(900n)
    const cheap = await setUp({ outcome: 'broadcast', change, answer: { ...WAITS, cost: 6n } })
    await cheap.replace(signedFor(109n))
    expect((await cheap.now()).transaction.cost).toBe(7n)
    const poor = await setUp({ outcome: 'broadcast', change, answer: { ...WAITS, cost: 900n } })
    poor.stub.balance = { kind: 'ok', value: 900n }
    await expect(poor.replace(signedFor(108n))).rejects.toMatchObject({ code: 'insufficient_balance' })
  })
})

describe('a refused change of a transaction whose next content waits', () => {
  const REFUSED = { kind: 'refused', detail: 'words of the node' } as const

  /** The second attempt takes the place of the first at once, and a node refuses it. */
  async function undone(nonce: bigint, { taken }: { readonly taken: boolean }) {
    const { owner, stored, now } = await setUp({
      outcome: 'broadcast',
      change: { status: 'submitted', currentAttempt: 1 },
    })
    const { attempts } = await now()
    if (taken) await insert(fixture.context, newTransaction(owner, { sourceAccount: TO, nonce }))
    const before = { ...stored, request: signedFor(nonce), purpose: 'successor' } as const
    const request = requestOf({ value: 1n })
    const action = 'replaceTransaction'
    const change = { relayer: owner.relayer, id: stored.id, request, actor: ACTOR, action } as const
    const result = undoIfRefused(fixture.context, {
      change,
      before: { transaction: before, attempts },
      number: 2,
      hash: '0xsecond',
      result: REFUSED,
    })
    await expect(result).rejects.toMatchObject({ code: 'replacement_underpriced' })
    return (await now()).transaction
  }

  test('lets it wait again', async () => {
    expect(await undone(109n, { taken: false })).toMatchObject({
      purpose: 'successor',
      request: signedFor(109n),
    })
  })

  test('drops it when another transaction got its nonce meanwhile', async () => {
    expect(await undone(110n, { taken: true })).toMatchObject({
      purpose: 'cancel',
      statusReason: expect.stringContaining('The queued replacement was dropped'),
    })
  })
})
