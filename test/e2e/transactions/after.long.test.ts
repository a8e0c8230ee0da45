import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type Answer, RECEIVER, type Service, startService, type Transaction } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let anvil: Anvil
let service: Service

beforeAll(async () => {
  anvil = await startAnvil()
  service = await startService({ rpcUrls: [anvil.url], network: { required_confirmations: 2 } })
}, 60_000)
afterAll(async () => {
  await service?.stop()
  await anvil?.stop()
})

type Waiting = Transaction & {
  readonly after?: {
    readonly transaction_id: string
    readonly relayer_id: string
    readonly state: string
    readonly on_failure: string
  }
  readonly awaits_transaction?: true
}

const PAYMENT = { to: RECEIVER, value: '1', speed: 'fast' }

function send(
  body: object,
  { relayer = 'main', headers }: { relayer?: string; headers?: Record<string, string> } = {},
): Promise<Answer<Waiting>> {
  return service.api<Waiting>('POST', `/relayers/${relayer}/transactions`, { ...PAYMENT, ...body }, headers)
}

async function mustSend(body: object, options?: Parameters<typeof send>[1]): Promise<Waiting> {
  const { status, body: answer } = await send(body, options)
  if (status !== 200) throw new Error(`refused: ${answer.error}`)
  return answer.data
}

async function get(id: string, relayer = 'main'): Promise<Waiting> {
  return (await service.api<Waiting>('GET', `/relayers/${relayer}/transactions/${id}`)).body.data
}

/** Waits for a status, with a block at each look. */
async function reach(id: string, status: string, { relayer = 'main', mines = true } = {}): Promise<Waiting> {
  return until(
    async () => {
      if (mines) await anvil.rpc('evm_mine')
      return get(id, relayer)
    },
    (seen) => seen.status === status,
  )
}

/** A transaction that waits for an hour, unless it is canceled. */
const later = (options?: Parameters<typeof send>[1]) =>
  mustSend({ valid_from: new Date(Date.now() + 3_600_000).toISOString() }, options)

const cancel = (id: string, relayer = 'main') =>
  service.api('DELETE', `/relayers/${relayer}/transactions/${id}`)

describe('a transaction after another one', () => {
  test('is signed when the other one is confirmed, and says until then what it waits for', async () => {
    await anvil.rpc('evm_setAutomine', [false])
    const first = await mustSend({})
    const second = await mustSend({ after: { transaction_id: first.id } }, { relayer: 'other' })
    expect(second).toMatchObject({
      status: 'pending',
      awaits_transaction: true,
      after: { transaction_id: first.id, relayer_id: 'main', state: 'confirmed', on_failure: 'cancel' },
      status_reason: `It waits until transaction ${first.id} of relayer main is confirmed.`,
    })
    const { body } = await service.api<{ findings: { code: string }[]; next_action: { action: string } }>(
      'GET',
      `/relayers/other/transactions/${second.id}/diagnosis`,
    )
    expect(body.data).toMatchObject({
      findings: [{ code: 'awaits_transaction' }],
      next_action: { action: 'none' },
    })
    await until(
      () => get(first.id),
      ({ status }) => status === 'submitted',
    )
    await anvil.rpc('evm_mine')
    await until(
      () => get(first.id),
      ({ status }) => status === 'mined',
    )
    // Some rounds of the worker.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect(await get(second.id, 'other')).toMatchObject({ status: 'pending', awaits_transaction: true })
    const confirmed = await reach(second.id, 'confirmed', { relayer: 'other' })
    expect(confirmed.awaits_transaction).toBeUndefined()
    expect(confirmed.after).toMatchObject({ transaction_id: first.id })
    expect((await get(first.id)).status).toBe('confirmed')
    expect(Date.parse(String(confirmed.sent_at))).toBeGreaterThanOrEqual(
      Date.parse(String((await get(first.id)).confirmed_at)),
    )
  })

  test('is signed when the other one is mined, if it says so', async () => {
    await anvil.rpc('evm_setAutomine', [false])
    const first = await mustSend({})
    const second = await mustSend(
      { after: { transaction_id: first.id, state: 'mined' } },
      { relayer: 'other' },
    )
    await until(
      () => get(first.id),
      ({ status }) => status === 'submitted',
    )
    await anvil.rpc('evm_mine')
    await until(
      () => get(second.id, 'other'),
      ({ status }) => status === 'submitted',
    )
    expect((await get(first.id)).status).toBe('mined')
    await reach(second.id, 'confirmed', { relayer: 'other' })
  })

  test('is canceled with the reason when the other one is canceled, and so are those behind it', async () => {
    const first = await later()
    const chain = [first.id]
    for (let depth = 0; depth < 4; depth += 1)
      chain.push((await mustSend({ after: { transaction_id: chain.at(-1) } })).id)
    await cancel(first.id)
    const last = await reach(chain[4] ?? '', 'canceled', { mines: false })
    expect(last.status_reason).toContain(`It waited for transaction ${chain[3]}, which is canceled`)
    for (const id of chain) expect(await get(id)).toMatchObject({ status: 'canceled' })
    expect((await get(chain[1] ?? '')).attempts).toEqual([])
  })

  test('is sent all the same when the other one is canceled, if it says so', async () => {
    const first = await later()
    const second = await mustSend({ after: { transaction_id: first.id, on_failure: 'send' } })
    await cancel(first.id)
    await reach(second.id, 'confirmed')
  })

  test('is canceled when the other one reverts, also where a block is enough', async () => {
    await anvil.rpc('evm_setAutomine', [true])
    // The code reverts: PUSH1 0 PUSH1 0 REVERT.
    const first = await mustSend({ to: null, data: '0x60006000fd', value: '0', gas_limit: 100_000 })
    const second = await mustSend({ after: { transaction_id: first.id, state: 'mined' } })
    const ended = await reach(second.id, 'canceled')
    expect(ended.status_reason).toContain(`transaction ${first.id}, which is failed`)
    expect((await get(first.id)).status).toBe('failed')
  })

  test('expires when valid_until passes first', async () => {
    const first = await later()
    const end = new Date(Date.now() + 2_000).toISOString()
    const second = await mustSend({ after: { transaction_id: first.id }, valid_until: end })
    const ended = await reach(second.id, 'expired', { mines: false })
    expect(ended.status_reason).toContain('valid_until passed while it waited')
    await cancel(first.id)
  })

  test('waits for its valid_from too', async () => {
    const first = await later()
    const validFrom = new Date(Date.now() + 4_000)
    const second = await mustSend({
      after: { transaction_id: first.id, on_failure: 'send' },
      valid_from: validFrom.toISOString(),
    })
    await cancel(first.id)
    const released = await until(
      () => get(second.id),
      (seen) => seen.awaits_transaction === undefined,
    )
    expect(released.status).toBe('pending')
    const done = await reach(second.id, 'confirmed')
    expect(Date.parse(String(done.sent_at))).toBeGreaterThanOrEqual(validFrom.getTime())
  })

  test('can be canceled, and not replaced', async () => {
    const first = await later()
    const second = await mustSend({ after: { transaction_id: first.id } })
    const path = `/relayers/main/transactions/${second.id}`
    expect(await service.api('PUT', path, PAYMENT)).toMatchObject({
      status: 400,
      body: { code: 'transaction_not_replaceable' },
    })
    expect(await service.api('PUT', path, { ...PAYMENT, after: { transaction_id: first.id } })).toMatchObject(
      {
        status: 400,
        body: { code: 'invalid_request' },
      },
    )
    expect((await cancel(second.id)).body.data).toMatchObject({ status: 'canceled' })
    expect(await get(second.id)).not.toHaveProperty('awaits_transaction')
    await cancel(first.id)
  })

  test('that is confirmed already is an ordinary one', async () => {
    await anvil.rpc('evm_setAutomine', [true])
    const first = await mustSend({})
    await reach(first.id, 'confirmed')
    const second = await mustSend({ after: { transaction_id: first.id } })
    expect(second).not.toHaveProperty('awaits_transaction')
    expect(second.after).toMatchObject({ transaction_id: first.id })
    await reach(second.id, 'confirmed')
  })

  test('that has failed already is refused, unless it is sent all the same', async () => {
    const first = await later()
    await cancel(first.id)
    expect(await send({ after: { transaction_id: first.id } })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', error: expect.stringContaining('is canceled, so this one would be') },
    })
    await reach((await mustSend({ after: { transaction_id: first.id, on_failure: 'send' } })).id, 'confirmed')
  })

  test('is refused in the same words for one that the key may not read as for one that does not exist', async () => {
    const first = await later()
    const { body: created } = await service.api<{ secret: string }>('POST', '/api-keys', {
      id: 'blind',
      name: 'Blind',
      scopes: ['transactions:write', 'transactions:read'],
      relayers: ['other'],
    })
    const headers = { authorization: `Bearer ${created.data.secret}` }
    const unknown = '018f0000-0000-7000-8000-000000000000'
    const answers = [first.id, unknown].map(async (id) => {
      const { status, body } = await send({ after: { transaction_id: id } }, { relayer: 'other', headers })
      return [status, body.code, body.error?.replace(id, 'ID')]
    })
    const [hidden, absent] = await Promise.all(answers)
    expect(hidden).toEqual(absent)
    expect(hidden?.slice(0, 2)).toEqual([404, 'transaction_not_found'])
    await cancel(first.id)
  })

  test('says in a dry run and in a batch what it would wait for, and which item is wrong', async () => {
    const first = await later()
    const after = { transaction_id: first.id }
    const dry = await service.api<{ accepted: boolean }>('POST', '/relayers/main/transactions?dry_run=true', {
      ...PAYMENT,
      after,
    })
    expect(dry.body.data.accepted).toBe(true)
    expect(JSON.stringify(dry.body.metadata)).toContain(`It waits until transaction ${first.id}`)
    const batch = await service.api<Waiting[]>('POST', '/relayers/main/transactions/batch', {
      transactions: [PAYMENT, { ...PAYMENT, after }],
    })
    expect(batch.body.data.map((one) => one.awaits_transaction)).toEqual([undefined, true])
    const wrong = await service.api('POST', '/relayers/main/transactions/batch', {
      transactions: [PAYMENT, { ...PAYMENT, after: { transaction_id: 'nothing' } }],
    })
    expect(wrong.body.error).toContain('body.transactions[1].after.transaction_id')
    await cancel(first.id)
  })

  test('is accepted although it would fail now', async () => {
    const first = await later()
    const much = String(10n ** 30n)
    expect((await send({ value: much })).status).toBe(400)
    const second = await mustSend({ value: much, after: { transaction_id: first.id } })
    await cancel(first.id)
    await reach(second.id, 'canceled', { mines: false })
  })

  test('stands in a chain of at most 16, and among at most 100 behind the same one', async () => {
    const first = await later()
    let last = first.id
    let accepted = 1
    for (; accepted < 40; accepted += 1) {
      const { status, body } = await send({ after: { transaction_id: last } })
      if (status !== 200) {
        expect(body.error).toContain('the last of 16 that wait')
        break
      }
      last = body.data.id
    }
    expect(accepted).toBe(16)
    const transactions = Array.from({ length: 99 }, () => ({
      ...PAYMENT,
      after: { transaction_id: first.id },
    }))
    expect((await service.api('POST', '/relayers/main/transactions/batch', { transactions })).status).toBe(
      200,
    )
    const { body } = await send({ after: { transaction_id: first.id } })
    expect(body.error).toContain('100 transactions wait for transaction')
    await cancel(first.id)
    await reach(last, 'canceled', { mines: false })
  })
})
