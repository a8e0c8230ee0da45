import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import {
  MAIN,
  payment,
  RECEIVER as STELLAR_RECEIVER,
  type StellarScenario,
  startStellarScenario,
  submitTo,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

describe('on EVM', () => {
  const GWEI = 1_000_000_000
  const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
  const LOW = { max_fee_per_gas: 2 * GWEI, max_priority_fee_per_gas: 1 * GWEI }

  let story: Scenario

  beforeAll(async () => {
    story = await startScenario({ policies: { gas_price_cap: 100 * GWEI } })
  })
  afterEach(() => story.settle())
  afterAll(() => story.stop())

  /** A transaction that a node holds in its pool. */
  async function inPool(prices: object = LOW) {
    const sent = await story.send({ to: RECEIVER, value: 1, ...prices })
    return story.reach(sent.id, 'submitted')
  }

  describe('the replacement of a transaction in the pool', () => {
    test.each([
      [
        '1559 → 1559 at exactly 110 %',
        LOW,
        { max_fee_per_gas: 2.2 * GWEI, max_priority_fee_per_gas: 1.1 * GWEI },
      ],
      ['legacy → legacy at exactly 110 %', { gas_price: 3 * GWEI }, { gas_price: 3.3 * GWEI }],
      [
        'legacy → 1559',
        { gas_price: 3 * GWEI },
        { max_fee_per_gas: 3.3 * GWEI, max_priority_fee_per_gas: 3.3 * GWEI },
      ],
      ['1559 → legacy', LOW, { gas_price: 2.2 * GWEI }],
    ])(
      '%s: the prices are honoured exactly and the chain includes the replacement',
      async (_name, first, second) => {
        const before = await inPool(first)
        const { status, body } = await story.replace(before.id, { to: OTHER, value: 7, ...second })
        expect({ status, error: body.error }).toEqual({ status: 200, error: undefined })
        const after = body.data
        const prices = Object.fromEntries(
          Object.entries(second).map(([field, price]) => [field, String(price)]),
        )
        expect(after).toMatchObject({
          id: before.id,
          nonce: before.nonce,
          created_at: before.created_at,
          to: OTHER,
          value: '7',
          ...prices,
        })
        expect(after.hash).not.toBe(before.hash)
        expect(after.attempts.map(({ number, kind }) => [number, kind])).toEqual([
          [1, 'send'],
          [2, 'replace'],
        ])
        await story.mine()
        const mined = await story.reach(before.id, 'mined')
        expect(mined.hash).toBe(after.hash)
        expect(await story.minedHash(DEV_ADDRESSES[0], before.nonce ?? -1)).toBe(after.hash)
        expect(mined.attempts.map(({ outcome }) => outcome)).toEqual(['superseded', 'mined'])
      },
    )

    test.each([
      [
        'a fee one wei short',
        LOW,
        { max_fee_per_gas: 2.2 * GWEI - 1, max_priority_fee_per_gas: 1.1 * GWEI },
        '2200000000',
      ],
      [
        'a tip one wei short',
        LOW,
        { max_fee_per_gas: 3 * GWEI, max_priority_fee_per_gas: 1.1 * GWEI - 1 },
        '1100000000',
      ],
      ['a legacy price one wei short', { gas_price: 3 * GWEI }, { gas_price: 3.3 * GWEI - 1 }, '3300000000'],
      ['the very same content and price', LOW, LOW, '2200000000'],
    ])('%s is refused with the minimum, and nothing changes', async (_name, first, second, minimum) => {
      const before = await inPool(first)
      const { status, body } = await story.replace(before.id, { to: OTHER, value: 7, ...second })
      expect({ status, code: body.code, message: body.message }).toEqual({
        status: 400,
        code: 'replacement_underpriced',
        message: 'Bad Request',
      })
      expect(body.error).toContain(minimum)
      expect(await story.get(before.id)).toEqual(before)
    })

    test.each([
      ['with a speed', { speed: 'fastest' }],
      ['without any price', {}],
    ])('%s: the higher of the market and 110 %', async (_name, pricing) => {
      const before = await inPool({ max_fee_per_gas: 40 * GWEI, max_priority_fee_per_gas: 30 * GWEI })
      const { body } = await story.replace(before.id, { to: OTHER, value: 7, ...pricing })
      expect(body.data).toMatchObject({
        max_fee_per_gas: String(44 * GWEI),
        max_priority_fee_per_gas: String(33 * GWEI),
      })
      expect(body.metadata?.logs[0]?.message).toContain('44000000000')
    })

    test('a price above the cap (R14), explicit or by speed, is refused, and the first one stays', async () => {
      const before = await inPool({ max_fee_per_gas: 95 * GWEI, max_priority_fee_per_gas: 1 * GWEI })
      for (const pricing of [
        { speed: 'fast' },
        { max_fee_per_gas: 120 * GWEI, max_priority_fee_per_gas: 2 * GWEI },
      ]) {
        const { status, body } = await story.replace(before.id, { to: OTHER, value: 7, ...pricing })
        expect({ status, code: body.code }).toEqual({ status: 400, code: 'gas_price_above_cap' })
      }
      expect(await story.get(before.id)).toEqual(before)
    })

    test('a request that would revert is refused with the decoded reason', async () => {
      const before = await inPool()
      const { status, body } = await story.replace(before.id, { value: 0, data: REVERTS_WITH_NO })
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'execution_reverted' })
      expect(body.error).toContain('no!')
    })

    test('a transfer becomes a contract creation, then a call', async () => {
      const before = await inPool()
      const created = await story.replace(before.id, { value: 0, data: RETURNS_42 })
      expect(created).toMatchObject({ status: 200, body: { data: { data: RETURNS_42, value: '0' } } })
      expect(created.body.data).not.toHaveProperty('to')
      await story.mine()
      const { hash } = await story.reach(before.id, 'mined')
      const receipt = await story.anvil.rpc<{ contractAddress: string; status: string }>(
        'eth_getTransactionReceipt',
        [hash],
      )
      expect(receipt.status).toBe('0x1')
      const call = await story.send({ to: receipt.contractAddress, value: 0, data: '0x12345678' })
      expect(await story.reach(call.id, 'submitted')).toMatchObject({ data: '0x12345678' })
    })
  })

  describe('replacing what was not broadcast yet', () => {
    test('the new content takes its place without a bump', async () => {
      const sent = await story.send({ to: RECEIVER, value: 1, gas_price: 50 * GWEI })
      const { body } = await story.replace(sent.id, { to: OTHER, value: 7, gas_price: 60 * GWEI })
      expect(body.data).toMatchObject({ id: sent.id, to: OTHER, value: '7', gas_price: String(60 * GWEI) })
      // A block that comes before the broadcast would be empty, and no other one follows by itself.
      await story.reach(sent.id, 'submitted')
      await story.mine()
      const mined = await story.reach(sent.id, 'mined')
      expect(mined).toMatchObject({ to: OTHER, value: '7' })
      expect(await story.minedHash(DEV_ADDRESSES[0], mined.nonce ?? -1)).toBe(mined.hash)
    })
  })

  describe('what cannot be replaced', () => {
    test.each(['mined', 'confirmed'] as const)('a %s transaction', async (status) => {
      const sent = await inPool()
      await story.mine()
      const mined = await story.reach(sent.id, 'mined')
      if (status === 'confirmed') await story.settle()
      for (const answer of [
        await story.replace(sent.id, { to: OTHER, value: 7 }),
        await story.cancel(sent.id),
      ]) {
        expect({ status: answer.status, code: answer.body.code }).toEqual({
          status: 400,
          code: 'transaction_not_replaceable',
        })
      }
      expect((await story.get(sent.id)).hash).toBe(mined.hash)
    })

    test('a transaction of another relayer, and one that does not exist, are not found', async () => {
      const sent = await inPool()
      for (const path of [
        `/relayers/other/transactions/${sent.id}`,
        `/relayers/main/transactions/no-such`,
        `/relayers/none/transactions/${sent.id}`,
      ]) {
        for (const method of ['GET', 'PUT', 'DELETE']) {
          const { status, body } = await story.service.api(
            method,
            path,
            method === 'PUT' ? { to: OTHER, value: 7 } : undefined,
          )
          expect({ status, message: body.message, data: body.data }).toEqual({
            status: 404,
            message: 'Not found',
            data: null,
          })
        }
      }
    })
  })

  describe('several at the same time', () => {
    test('parallel replacements are served one after the other, and none is lost', async () => {
      const before = await inPool()
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          story.replace(before.id, { to: OTHER, value: 100 + index, speed: 'fast' }),
        ),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
      const now = await story.get(before.id)
      expect(now.attempts).toHaveLength(9)
      expect(new Set(answers.map(({ body }) => body.data.hash)).size).toBe(8)
      await story.mine()
      const mined = await story.reach(before.id, 'mined')
      expect(mined.hash).toBe(now.hash)
      expect(now.hash).toBe(now.attempts.at(-1)?.hash)
    })

    test('of parallel replacements at the same explicit price exactly one wins', async () => {
      const before = await inPool()
      const body = { to: OTHER, value: 7, max_fee_per_gas: 5 * GWEI, max_priority_fee_per_gas: 2 * GWEI }
      const answers = await Promise.all(Array.from({ length: 4 }, () => story.replace(before.id, body)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
      expect(new Set(answers.map(({ body }) => body.code))).toEqual(
        new Set([undefined, 'replacement_underpriced']),
      )
    })

    test('the first one wins if it is mined before the replacement is stored, and the caller gets an error', async () => {
      const before = await inPool()
      await story.mine() // The service has not looked yet, or just has: both must end in the same honest answer.
      const { status, body } = await story.replace(before.id, { to: OTHER, value: 7, speed: 'fast' })
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'transaction_not_replaceable' })
      const mined = await story.reach(before.id, 'mined')
      expect(mined).toMatchObject({ hash: before.hash, to: RECEIVER, value: '1' })
    })

    test('an older attempt that is mined after all is shown, and the record says that the replacement lost', async () => {
      const before = await inPool()
      const raw = await story.anvil.rpc<string>('eth_getRawTransactionByHash', [before.hash])
      const { body } = await story.replace(before.id, { to: OTHER, value: 7, speed: 'fast' })
      await story.anvil.rpc('anvil_dropTransaction', [body.data.hash])
      await story.anvil.rpc('eth_sendRawTransaction', [raw])
      await story.mine()
      const mined = await until(
        () => story.get(before.id),
        (seen) => ['mined', 'confirmed'].includes(seen.status),
      )
      expect(mined).toMatchObject({ hash: before.hash, to: RECEIVER, value: '1' })
      expect(mined.requested).toMatchObject({
        to: OTHER,
        value: '7',
        transfers: [{ to: OTHER, amount: '7' }],
      })
      expect(mined.status_reason).toContain('Attempt 1 was included')
      expect(mined.attempts.map(({ outcome }) => outcome)).toEqual(['mined', 'superseded'])
    })
  })

  describe('cancelling (R9, R10)', () => {
    test('a transaction in the pool is replaced by a no-op of the same nonce, and ends as canceled', async () => {
      const before = await inPool()
      const { body } = await story.cancel(before.id)
      const requested = { to: RECEIVER, value: '1' }
      expect(before).not.toHaveProperty('requested')
      expect(body.data).toMatchObject({
        nonce: before.nonce,
        to: DEV_ADDRESSES[0],
        value: '0',
        data: '0x',
        requested,
        status_reason: 'Canceled by the caller; a no-op will use its nonce.',
      })
      expect(body.data.attempts.at(-1)?.kind).toBe('cancel')
      await story.settle()
      expect(await story.get(before.id)).toMatchObject({
        status: 'canceled',
        hash: body.data.hash,
        requested,
        status_reason: 'Canceled by the caller; a no-op used its nonce.',
      })
      expect(await story.minedHash(DEV_ADDRESSES[0], before.nonce ?? -1)).toBe(body.data.hash)
    })

    test('a repeated cancellation adds nothing', async () => {
      const before = await inPool()
      const [first, second] = [await story.cancel(before.id), await story.cancel(before.id)]
      expect(second.body.data.hash).toBe(first.body.data.hash)
      expect(second.body.data.attempts).toHaveLength(2)
    })

    test('a cancellation that loses the race ends as confirmed and says so', async () => {
      const before = await inPool()
      const raw = await story.anvil.rpc<string>('eth_getRawTransactionByHash', [before.hash])
      const { body } = await story.cancel(before.id)
      await story.anvil.rpc('anvil_dropTransaction', [body.data.hash])
      await story.anvil.rpc('eth_sendRawTransaction', [raw])
      await story.settle()
      const final = await story.get(before.id)
      expect(final).toMatchObject({ status: 'confirmed', hash: before.hash, to: RECEIVER, value: '1' })
      expect(final.status_reason).toContain('its cancellation')
    })

    test('a canceled transaction can be given new content while the no-op waits', async () => {
      const before = await inPool()
      await story.cancel(before.id)
      const { body } = await story.replace(before.id, { to: OTHER, value: 9, speed: 'fast' })
      await story.settle()
      expect(await story.get(before.id)).toMatchObject({
        status: 'confirmed',
        hash: body.data.hash,
        to: OTHER,
        value: '9',
      })
    })
  })

  /** Init code that returns a runtime which answers 42 to any call. */
  const RETURNS_42 = '0x600a600c600039600a6000f3602a60005260206000f3'

  /** Init code that reverts with Error("no!"). */
  const REVERTS_WITH_NO = (() => {
    const words = [
      '08c379a0',
      '0000000000000000000000000000000000000000000000000000000000000020',
      '0000000000000000000000000000000000000000000000000000000000000003',
      '6e6f210000000000000000000000000000000000000000000000000000000000',
    ].join('')
    const size = (words.length / 2).toString(16).padStart(2, '0')
    // codecopy(0, 12, size); revert(0, size)
    return `0x60${size}600c60003960${size}6000fd${words}`
  })()
})

describe('on Stellar', () => {
  let scenario: StellarScenario

  beforeAll(async () => {
    scenario = await startStellarScenario()
  })
  afterAll(() => scenario.stop())

  describe('replace on Stellar', () => {
    test('takes the place in the queue of the network, with the same sequence number, in a fee bump', async () => {
      const { ledger, send, reach, replace, closeUntil } = scenario
      const before = ledger.account(STELLAR_RECEIVER)?.balance ?? 0n
      const { id } = await send(payment(111n))
      const first = await reach(id, 'submitted')
      const { status, body } = await replace(id, payment(222n))
      expect(status).toBe(200)
      expect(body.data).toMatchObject({ id, sequence_number: first.sequence_number, fee_bump: true })
      expect(body.data.hash).not.toBe(first.hash)
      expect(ledger.queue()).toHaveLength(1)
      const confirmed = await closeUntil(id, 'confirmed')
      expect(confirmed.hash).toBe(body.data.hash)
      expect(ledger.account(STELLAR_RECEIVER)?.balance).toBe(before + 222n)
      expect(ledger.included(first.hash ?? '')).toBeUndefined()
      expect(confirmed.attempts).toMatchObject([
        { kind: 'send', outcome: 'superseded' },
        { kind: 'replace', outcome: 'mined' },
      ])
    })

    test('below ten times the fee is refused, with the max_fee that would do, and nothing changes', async () => {
      const { send, reach, replace, get, closeUntil } = scenario
      const { id } = await send(payment(1n))
      const first = await reach(id, 'submitted')
      const refused = await replace(id, payment(2n, { max_fee: 1_000 }))
      expect(refused).toMatchObject({ status: 400, body: { code: 'replacement_underpriced' } })
      const least = /at least (\d+)/.exec(refused.body.error ?? '')?.[1]
      expect(await get(id)).toEqual(first)
      const { status } = await replace(id, payment(2n, { max_fee: Number(least) }))
      expect(status).toBe(200)
      await closeUntil(id, 'confirmed')
    })

    test('a cancellation takes the place by something that does nothing', async () => {
      const { ledger, send, reach, cancel, closeUntil } = scenario
      const before = ledger.account(STELLAR_RECEIVER)?.balance ?? 0n
      const { id } = await send(payment(333n))
      await reach(id, 'submitted')
      expect((await cancel(id)).status).toBe(200)
      const canceled = await closeUntil(id, 'canceled')
      expect(canceled).toMatchObject({
        status_reason: 'Canceled by the caller; a no-op used its nonce.',
        requested: {
          operations: [
            { type: 'payment', destination: STELLAR_RECEIVER, asset: { type: 'native' }, amount: 333 },
          ],
        },
      })
      expect(canceled.attempts).toMatchObject([
        { kind: 'send', outcome: 'superseded' },
        { kind: 'cancel', outcome: 'mined' },
      ])
      expect(ledger.account(STELLAR_RECEIVER)?.balance).toBe(before)
      expect(ledger.account(MAIN.publicKey())?.sequence).toBe(BigInt(canceled.sequence_number ?? 0))
    })

    test('when the ledger includes the earlier version all the same, the record says so', async () => {
      const { ledger, send, reach, replace, closeUntil, get } = scenario
      const { id } = await send(payment(444n))
      const first = await reach(id, 'submitted')
      const [raw] = [first.transaction_xdr ?? '']
      expect((await replace(id, payment(555n))).status).toBe(200)
      // Another node had taken only the first version, and its ledger wins.
      ledger.dropQueue()
      expect(await submitTo(ledger, raw)).toBe('PENDING')
      ledger.close()
      const confirmed = await closeUntil(id, 'confirmed')
      expect(confirmed.hash).toBe(first.hash)
      expect(confirmed.status_reason).toMatch(/has lost/)
      expect((await get(id)).status).toBe('confirmed')
    })

    test('a final transaction cannot be replaced', async () => {
      const { send, closeUntil, replace } = scenario
      const { id } = await send(payment(1n))
      await closeUntil(id, 'confirmed')
      expect(await replace(id, payment(2n))).toMatchObject({
        status: 400,
        body: { code: 'transaction_not_replaceable' },
      })
    })
  })
})
