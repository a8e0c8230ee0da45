import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { attemptOf, known, paymentOf, requestOf, SELF, signingContextAt } from '../build.ts'
import { type Stage, setStage } from '../stage.ts'

let stage: Stage

beforeEach(async () => {
  // Its time stands still: ledgers close in a later second only where a test says so.
  const startedAt = Date.now()
  stage = await setStage({ protocolVersion: 30, retentionLedgers: 5, now: () => startedAt })
})

afterEach(() => stage.ledger.stop())

const closeTime = () => stage.ledger.ledgers.at(-1)?.closeTime ?? 0

/** Signs a payment that no node of the service's gets, and returns it with the last second in which it is valid. */
async function signed() {
  const draft = await stage.prepare(requestOf({ operations: [paymentOf(5n)] }))
  const nonce = await stage.nonce()
  const bytes = await stage.chain.sign(draft, signingContextAt(nonce))
  const attempt = attemptOf(draft, { sourceAccount: SELF, nonce, signed: bytes })
  return { draft, attempt, envelope: Buffer.from(bytes.raw).toString('base64'), end: Number(draft.expiresAt) }
}

/** CAP-88: "a transaction whose maxTime equals the current whole second remains includable in multiple successive ledgers". */
describe('ledgers that close in one second', () => {
  test('do not end a transaction in its last second: the next of them can still apply it', async () => {
    const { draft, attempt, envelope, end } = await signed()
    stage.ledger.close({ seconds: end - closeTime() })
    expect(closeTime()).toBe(end)
    const head = known(await stage.chain.head())
    expect(await stage.chain.expiry.hasExpired(draft, head)).toBe(false)
    stage.ledger.nominate(envelope)
    stage.ledger.close({ seconds: 0 })
    expect(closeTime()).toBe(end)
    expect(stage.ledger.included(attempt.signed.hash)).toBeDefined()
    const later = known(await stage.chain.head())
    expect(await stage.chain.proveInclusion([attempt], { asOf: later.number })).toMatchObject({
      kind: 'included',
    })
  })

  test('end it as soon as one closes in a later second', async () => {
    const { draft, attempt, envelope, end } = await signed()
    stage.ledger.close({ seconds: end - closeTime() + 1 })
    const head = known(await stage.chain.head())
    expect(await stage.chain.expiry.hasExpired(draft, head)).toBe(true)
    expect(await stage.chain.proveInclusion([attempt], { asOf: head.number })).toEqual({ kind: 'absent' })
    stage.ledger.nominate(envelope)
    stage.ledger.close({ seconds: 0 })
    expect(stage.ledger.included(attempt.signed.hash)).toBeUndefined()
  })

  test('can be lost to a node whose oldest one closed in the second in which a transaction was prepared', async () => {
    const { attempt, envelope, draft } = await signed()
    stage.ledger.nominate(envelope)
    stage.ledger.close({ seconds: 0 })
    const second = await stage.run(requestOf({ operations: [paymentOf(6n)] }))
    stage.ledger.close({ ledgers: 4, seconds: 0 })
    const { number } = known(await stage.chain.head())
    const since = stage.chain.expiry.preparedAt?.(draft)
    expect(since).toEqual(new Date(closeTime() * 1_000))
    expect(stage.ledger.included(second)).toBeDefined()
    expect(
      await stage.chain.proveInclusion([attempt], { asOf: number, ...(since && { since }) }),
    ).toMatchObject({ kind: 'unknown', unprovable: true })
  })
})
