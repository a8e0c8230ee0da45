import { Networks } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unwrap, wrapAs } from '../../../simulators/stellar/transaction/wrap.ts'
import { createAdjustableClock } from '../../support/clock.ts'
import type { Transaction } from '../../support/service.ts'
import {
  keypairOf,
  MAIN,
  payment,
  RECEIVER,
  type SignedPayment,
  type StellarScenario,
  signedPayment,
  startStellarScenario,
  submitTo,
  XLM,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

const CUSTOMER = keypairOf('customer')
const FRIEND = keypairOf('friend')
const STRANGER = keypairOf('stranger')

/** Longer than a version of the service can be included, in seconds. */
const LATER = 121

/** Time of the service between two ledgers while it waits for a proof, in ms. */
const LEDGER_MS = 10_000

const clock = createAdjustableClock()
let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario({
    clock,
    ledger: { now: clock.now },
    relayer: { policies: { max_fee: 100_000_000 } },
  })
  for (const keypair of [CUSTOMER, FRIEND, STRANGER]) scenario.ledger.fund(keypair.publicKey(), 100n * XLM)
})
afterAll(() => scenario.stop())

const signed = (how: Partial<SignedPayment> = {}) =>
  signedPayment(scenario.ledger, { keypair: CUSTOMER, ...how })

const bump = (transaction_xdr: string, more: object = {}) => ({
  network: 'standalone',
  transaction_xdr,
  fee_bump: true,
  ...more,
})

const received = () => scenario.ledger.account(RECEIVER)?.balance ?? 0n

/** Ledgers close in which there is no room, until the bounds of what waits have passed. */
function letExpire(seconds = LATER): void {
  const { ledger } = scenario
  ledger.setCapacity(0)
  ledger.close({ seconds })
  clock.advance(seconds * 1_000)
  ledger.setCapacity(1_000)
}

function nextLedger(): void {
  clock.advance(LEDGER_MS)
  scenario.ledger.close()
}

const EXPIRED_THEN_MINED = {
  status: 'confirmed',
  attempts: [{ outcome: 'expired' }, { kind: 'replace', outcome: 'mined' }],
}

/** Sends and waits until a node has it. */
async function submitted(body: object) {
  const { id } = await scenario.send(body)
  return scenario.reach(id, 'submitted')
}

/** Replaces and expects that the new version waits. */
async function replaceLater(id: string, body: object) {
  const { status, body: answer } = await scenario.replace(id, body)
  expect([status, answer.error]).toEqual([200, undefined])
  expect(answer.data.status_reason).toMatch(/^Both versions could be included, so the new one is sent when/)
  expect(answer.metadata?.logs).toMatchObject([{ message: answer.data.status_reason }])
  return answer.data
}

const isDone = ({ status }: { status: string }) =>
  ['confirmed', 'failed', 'expired', 'canceled'].includes(status)

/** Ledgers close until it has ended, however it does. */
const settled = (id: string) =>
  until(() => {
    nextLedger()
    return scenario.get(id)
  }, isDone)

describe('a transaction that a third party has signed, in place of one that the service has signed', () => {
  test('goes out when the earlier one has expired, and never before', async () => {
    const { ledger, get, service } = scenario
    const before = received()
    const first = await submitted(payment(7n))
    ledger.dropQueue()
    const waiting = await replaceLater(first.id, bump(signed({ amount: '2' })))
    expect(waiting).toMatchObject({
      status: 'submitted',
      hash: first.hash,
      sequence_number: first.sequence_number,
    })
    expect(waiting.status_reason).toContain(first.valid_until)
    clock.advance(31_000)
    ledger.close()
    expect((await get(first.id)).attempts).toHaveLength(1)
    const diagnosis = await service.api<{ findings: object[]; next_action: object }>(
      'GET',
      `/relayers/main/transactions/${first.id}/diagnosis`,
    )
    expect(diagnosis.body.data).toMatchObject({
      findings: [{ code: 'replacement_waiting' }],
      next_action: { action: 'watch', at: first.valid_until },
    })
    letExpire()
    const confirmed = await settled(first.id)
    expect(confirmed).toMatchObject({
      status: 'confirmed',
      source_account: CUSTOMER.publicKey(),
      attempts: [
        { kind: 'send', outcome: 'expired', source_account: MAIN.publicKey() },
        { kind: 'replace', outcome: 'mined', source_account: CUSTOMER.publicKey() },
      ],
    })
    expect(received()).toBe(before + 2n * XLM)
    expect(ledger.included(first.hash ?? '')).toBeUndefined()
  })

  test('leaves the sequence number to the next transaction of the relayer', async () => {
    const first = await submitted(payment(1n))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(signed()))
    letExpire()
    const next = await scenario.send(payment(5n))
    const confirmed = await scenario.reach(next.id, 'confirmed', nextLedger)
    expect(confirmed.sequence_number).toBe(first.sequence_number)
    await settled(first.id)
  })

  test('loses when the ledger includes the earlier one first, and is free for another transaction', async () => {
    const before = received()
    const xdr = signed({ amount: '3' })
    const first = await submitted(payment(11n))
    await replaceLater(first.id, bump(xdr))
    const confirmed = await settled(first.id)
    expect(confirmed).toMatchObject({ status: 'confirmed', hash: first.hash })
    expect(confirmed.status_reason).toBe('Attempt 1 was included before its replacement, which has lost.')
    expect(received()).toBe(before + 11n)
    const again = await scenario.send(bump(xdr))
    expect(await settled(again.id)).toMatchObject({ status: 'confirmed' })
    expect(received()).toBe(before + 11n + 3n * XLM)
  })

  test('is accepted once while it waits, by whatever transaction', async () => {
    const xdr = signed()
    const first = await submitted(payment(1n))
    await replaceLater(first.id, bump(xdr))
    const used = { status: 400, body: { code: 'already_accepted' } }
    expect(await scenario.post(bump(xdr))).toMatchObject(used)
    const other = await scenario.send(payment(2n))
    expect(await scenario.replace(other.id, bump(xdr))).toMatchObject(used)
    // The same transaction may name it again, as with a higher max_fee.
    await replaceLater(first.id, bump(xdr, { max_fee: 2_000_000 }))
    await settled(first.id)
    await settled(other.id)
  })

  test('is dropped by content of the service, which takes the place of the earlier one immediately', async () => {
    const before = received()
    const xdr = signed()
    const first = await submitted(payment(1n))
    await replaceLater(first.id, bump(xdr))
    const { status, body } = await scenario.replace(first.id, payment(500n))
    expect([status, body.data.attempts.length]).toEqual([200, 2])
    const free = await scenario.send(bump(xdr))
    expect(await settled(first.id)).toMatchObject({ status: 'confirmed' })
    await settled(free.id)
    expect(received()).toBe(before + 500n + XLM)
  })

  test('is canceled with the earlier one', async () => {
    const before = received()
    const first = await submitted(payment(1n))
    await replaceLater(first.id, bump(signed()))
    expect((await scenario.cancel(first.id)).status).toBe(200)
    expect(await settled(first.id)).toMatchObject({
      status: 'canceled',
      attempts: [{ outcome: 'superseded' }, { kind: 'cancel', outcome: 'mined' }],
    })
    expect(received()).toBe(before)
  })

  test('takes the place of one that is not signed yet immediately', async () => {
    const { ledger, send, replace } = scenario
    const before = received()
    ledger.setNodeFault('core_gone')
    const blocker = await send(payment(1n))
    const waiting = await send(payment(2n))
    expect(waiting.status).toBe('pending')
    const xdr = signed({ amount: '4' })
    const { status, body } = await replace(waiting.id, bump(xdr))
    expect([status, body.data.source_account]).toEqual([200, CUSTOMER.publicKey()])
    expect(body.metadata?.logs).toMatchObject([
      { message: 'Nothing had been signed; the new content replaced it.' },
    ])
    expect(await scenario.post(bump(xdr))).toMatchObject({ body: { code: 'already_accepted' } })
    ledger.setNodeFault('none')
    await settled(blocker.id)
    const confirmed = await settled(waiting.id)
    expect(confirmed).toMatchObject({ status: 'confirmed', source_account: CUSTOMER.publicKey() })
    expect(received()).toBe(before + 1n + 4n * XLM)
  })

  test('is confirmed when its signer sends it before the service does', async () => {
    const before = received()
    const xdr = signed({ amount: '5' })
    const first = await submitted(payment(9n))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(xdr))
    expect(await submitTo(scenario.ledger, xdr)).toBe('PENDING')
    scenario.ledger.close()
    letExpire()
    const confirmed = await settled(first.id)
    expect(confirmed).toMatchObject({ status: 'confirmed', fee_account: CUSTOMER.publicKey() })
    expect(confirmed.status_reason).toMatch(/^A third party sent the same signed content/)
    expect(received()).toBe(before + 5n * XLM)
    const again = await submitted(payment(9n))
    expect(await scenario.replace(again.id, bump(xdr))).toMatchObject({ status: 400 })
    await settled(again.id)
  })
})

describe('the replacement of a transaction that a third party has signed', () => {
  test('goes out immediately for ten times the fee if both have the same sequence number', async () => {
    const { ledger, replace } = scenario
    const before = received()
    const first = await submitted(bump(signed({ amount: '1' })))
    const cheap = await replace(first.id, bump(signed({ amount: '2' }), { max_fee: 300 }))
    expect(cheap).toMatchObject({ status: 400, body: { code: 'replacement_underpriced' } })
    const { status, body } = await replace(first.id, bump(signed({ amount: '2' })))
    expect([status, body.data.sequence_number]).toEqual([200, first.sequence_number])
    expect(body.data.hash).not.toBe(first.hash)
    expect(ledger.queue()).toHaveLength(1)
    expect(await settled(first.id)).toMatchObject({
      status: 'confirmed',
      attempts: [{ outcome: 'superseded' }, { outcome: 'mined' }],
    })
    expect(received()).toBe(before + 2n * XLM)
  })

  test('goes out immediately without time bounds, too, if both have the same sequence number', async () => {
    const before = received()
    const first = await submitted(bump(signed({ seconds: 'never' })))
    const { status } = await scenario.replace(first.id, bump(signed({ seconds: 'never', amount: '2' })))
    expect(status).toBe(200)
    expect(await settled(first.id)).toMatchObject({ status: 'confirmed' })
    expect(received()).toBe(before + 2n * XLM)
  })

  test('waits until the earlier one has expired if another account has signed it', async () => {
    const before = received()
    const first = await submitted(bump(signed({ seconds: 60 })))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(signed({ keypair: FRIEND, amount: '6' })))
    letExpire(61)
    expect(await settled(first.id)).toMatchObject(EXPIRED_THEN_MINED)
    expect(received()).toBe(before + 6n * XLM)
  })

  test('waits with another sequence number of the same account, because the numbers can follow each other', async () => {
    const before = received()
    const first = await submitted(bump(signed({ seconds: 60 })))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(signed({ ahead: 1, amount: '6' })))
    letExpire(61)
    await until(
      () => scenario.get(first.id),
      ({ attempts }) => attempts[0]?.outcome === 'expired',
    )
    // The number between is free for its owner, and nothing can be included before it is used.
    expect(await submitTo(scenario.ledger, signed({ amount: '2' }))).toBe('PENDING')
    expect(await settled(first.id)).toMatchObject(EXPIRED_THEN_MINED)
    expect(received()).toBe(before + 8n * XLM)
  })

  test('waits if the service signs it, and gets a sequence number of the relayer', async () => {
    const before = received()
    const first = await submitted(bump(signed({ seconds: 60 })))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, payment(77n))
    letExpire(61)
    expect(await settled(first.id)).toMatchObject({
      status: 'confirmed',
      source_account: MAIN.publicKey(),
      attempts: [{ outcome: 'expired' }, { kind: 'replace', outcome: 'mined' }],
    })
    expect(received()).toBe(before + 77n)
  })

  test('is refused with advice if the earlier one has no time bounds and another sequence number', async () => {
    const first = await submitted(bump(signed({ seconds: 'never' })))
    for (const body of [bump(signed({ keypair: FRIEND })), payment(1n)]) {
      const refused = await scenario.replace(first.id, body)
      expect(refused).toMatchObject({ status: 400, body: { code: 'not_supported' } })
      expect(refused.body.error).toMatch(/no time bounds, so it never expires/)
      expect(refused.body.error).toContain(
        `sequence number ${first.sequence_number}, signed by ${CUSTOMER.publicKey()}`,
      )
    }
    expect(await scenario.get(first.id)).toEqual(first)
    expect(await settled(first.id)).toMatchObject({ status: 'confirmed' })
  })

  test('goes out when the signer has used the earlier sequence number otherwise', async () => {
    const before = received()
    const first = await submitted(bump(signed({ seconds: 3_600 })))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(signed({ keypair: FRIEND, amount: '8', seconds: 7_200 })))
    expect(await submitTo(scenario.ledger, signed({ amount: '3' }))).toBe('PENDING')
    const confirmed = await settled(first.id)
    expect(confirmed).toMatchObject({
      status: 'confirmed',
      source_account: FRIEND.publicKey(),
      attempts: [{ outcome: 'superseded' }, { kind: 'replace', outcome: 'mined' }],
    })
    expect(received()).toBe(before + 11n * XLM)
  })

  test.each(['as it is', 'in a fee bump of their own'])(
    'is not sent when the signer sends the earlier one %s, which is included',
    async (how) => {
      const before = received()
      const xdr = signed({ seconds: 60 })
      const first = await submitted(bump(xdr))
      scenario.ledger.dropQueue()
      await replaceLater(first.id, bump(signed({ keypair: FRIEND, amount: '9' })))
      const envelope = how === 'as it is' ? xdr : wrapAs(scenario.ledger, STRANGER, xdr, 200_000).envelope
      expect(await submitTo(scenario.ledger, envelope)).toBe('PENDING')
      const confirmed = await settled(first.id)
      expect(confirmed).toMatchObject({
        status: 'confirmed',
        hash: first.hash,
        attempts: [{ outcome: 'mined' }],
      })
      expect(confirmed.status_reason).toMatch(/Attempt 1 was included before its replacement, which has lost/)
      expect(received()).toBe(before + XLM)
    },
  )

  test('is canceled together with the earlier one when that has expired, and can be canceled twice', async () => {
    const before = received()
    const first = await submitted(bump(signed({ seconds: 60 })))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(signed({ keypair: FRIEND })))
    expect(await scenario.cancel(first.id)).toMatchObject({ status: 200 })
    expect(await scenario.cancel(first.id)).toMatchObject({ status: 200 })
    letExpire(61)
    const canceled = await settled(first.id)
    expect(canceled).toMatchObject({ status: 'canceled', attempts: [{ outcome: 'expired' }] })
    expect(received()).toBe(before)
  })

  test('ends with the deletion of everything that is open', async () => {
    const first = await submitted(bump(signed({ seconds: 60 })))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(signed({ keypair: FRIEND })))
    const { status } = await scenario.service.api('DELETE', '/relayers/main/transactions/pending')
    expect(status).toBe(200)
    letExpire(61)
    expect(await settled(first.id)).toMatchObject({ status: 'canceled' })
  })

  test('expires when its own time is over before it could be sent', async () => {
    const before = received()
    const first = await submitted(bump(signed({ seconds: 60 })))
    scenario.ledger.dropQueue()
    await replaceLater(first.id, bump(signed({ keypair: FRIEND, seconds: 70 })))
    letExpire(80)
    expect(await settled(first.id)).toMatchObject({ status: 'expired', attempts: [{ outcome: 'expired' }] })
    expect(received()).toBe(before)
  })
})

describe('a new version that cannot be sent', () => {
  let first: Transaction

  beforeAll(async () => {
    first = await submitted(payment(1n))
  })

  test.each<{ name: string; body: () => object; code: string; error: RegExp }>([
    {
      name: 'without fee_bump',
      body: () => ({ ...bump(signed()), fee_bump: false }),
      code: 'invalid_request',
      error: /unsigned transaction is expected/,
    },
    {
      name: 'that is no XDR',
      body: () => bump('AAAA'),
      code: 'invalid_request',
      error: /^transaction_xdr: a TransactionEnvelope/,
    },
    {
      name: 'of another network',
      body: () => bump(signed({ passphrase: Networks.PUBLIC })),
      code: 'invalid_request',
      error: /for this transaction on this network/,
    },
    {
      name: 'that is a fee bump of the relayer already',
      body: () => bump(wrapAs(scenario.ledger, MAIN, signed(), 200).envelope),
      code: 'invalid_request',
      error: /this is already a fee bump/,
    },
    {
      name: 'whose sequence number is used',
      body: () => bump(signed({ ahead: -1 })),
      code: 'invalid_request',
      error: /is used/,
    },
    {
      name: 'with a sequence number of the relayer',
      body: () => bump(signed({ keypair: MAIN, ahead: 5 })),
      code: 'not_supported',
      error: /are assigned by the service/,
    },
    {
      name: 'that costs more than the policy allows',
      body: () => bump(signed(), { max_fee: 100_000_001 }),
      code: 'fee_above_cap',
      error: /^max_fee: /,
    },
    {
      name: 'that ends before the earlier one',
      body: () => bump(signed({ seconds: 30 })),
      code: 'invalid_request',
      error: /^transaction_xdr: an end after/,
    },
    {
      name: 'that ended',
      body: () => bump(signed({ seconds: -1 })),
      code: 'valid_until_in_past',
      error: /^transaction_xdr: a time in the future is expected/,
    },
  ])('$name is refused immediately', async ({ body, code, error }) => {
    const refused = await scenario.replace(first.id, body())
    expect([refused.status, refused.body.code]).toEqual([400, code])
    expect(refused.body.error).toMatch(error)
    expect(await scenario.get(first.id)).toEqual(first)
  })

  test('leaves the earlier one, which is included', async () => {
    expect(await settled(first.id)).toMatchObject({ status: 'confirmed', hash: first.hash })
  })
})

describe('on a channel account', () => {
  test('the earlier version gives the number of the channel back', async () => {
    await scenario.stop()
    scenario = await startStellarScenario({
      clock,
      ledger: { now: clock.now },
      relayer: { channels: 1, policies: { max_fee: 100_000_000 } },
    })
    const { ledger, send, service } = scenario
    for (const keypair of [CUSTOMER, STRANGER]) ledger.fund(keypair.publicKey(), 100n * XLM)
    const { body } = await service.api<{ channels: string[] }[]>('GET', '/relayers')
    const [channel = ''] = body.data[0]?.channels ?? []
    while (ledger.account(channel) === undefined) await settled((await send(payment(1n))).id)
    const before = received()
    const sent = await Promise.all([submitted(payment(10n)), submitted(payment(10n))])
    const onChannel = sent.find(({ source_account }) => source_account === channel)
    const other = sent.find(({ source_account }) => source_account !== channel)
    if (onChannel === undefined || other === undefined) throw new Error('none is on the channel account')
    ledger.dropQueue()
    await replaceLater(onChannel.id, bump(signed({ amount: '2' })))
    // Someone has seen the inner transaction and keeps it: what has expired cannot be included in any envelope.
    const inner = unwrap(ledger, onChannel.transaction_xdr ?? '').envelope
    letExpire()
    expect(await submitTo(ledger, wrapAs(ledger, STRANGER, inner, 200_000).envelope)).toBe('ERROR')
    expect(await settled(onChannel.id)).toMatchObject({
      status: 'confirmed',
      source_account: CUSTOMER.publicKey(),
    })
    await settled(other.id)
    expect(received()).toBe(before + 10n + 2n * XLM)
    const next = await Promise.all([submitted(payment(1n)), submitted(payment(1n))])
    const used = next.find(({ source_account }) => source_account === channel)
    expect(used?.sequence_number).toBe(onChannel.sequence_number)
    await Promise.all(next.map(({ id }) => settled(id)))
  })
})
