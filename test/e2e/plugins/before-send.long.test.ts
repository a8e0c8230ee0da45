import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Approval, type Approver, issueApprover } from '../../support/approver.ts'
import { issueLimited } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER, sendBatch } from '../../support/service.ts'
import { until } from '../../support/until.ts'

const PATH = join(import.meta.dirname, 'fixtures', 'deciding.ts')

let story: Scenario
let approver: Approver

beforeAll(async () => {
  story = await startScenario({
    policies: { wallet_rpc: true },
    plugins: [
      { id: 'guard', path: PATH, relayers: ['main'], hooks: { before_send: { timeout: 1 } } },
      {
        id: 'lenient',
        path: PATH,
        relayers: ['other'],
        hooks: { before_send: { timeout: 1, on_failure: 'allow' } },
      },
      { id: 'idle', path: PATH },
    ],
    env: { METRICS_ENABLED: 'true', METRICS_PORT: '0' },
  })
  approver = await issueApprover(story.service)
}, 60_000)
afterEach(async () => {
  await story.settle()
  await ready('guard')
  await askedOf('guard')
})
afterAll(() => story?.stop())

const ready = (id: string) =>
  until(
    async () => (await story.service.api<{ state: { status: string } }>('GET', `/plugins/${id}`)).body.data,
    ({ state }) => state.status === 'ready',
  )

const pay = (value: number, more: object = {}) => ({
  to: RECEIVER,
  value: String(value),
  speed: 'fast',
  ...more,
})

interface Asked {
  readonly action: string
  readonly dry_run: boolean
  readonly transaction: { readonly value: string }
}

const askedOf = async (id: string) => {
  const { body } = await story.service.api<Asked[]>('POST', `/plugins/${id}/call/asked`, {})
  return body.data
}

const refusal = (reason: string) => ({
  success: false,
  code: 'rule_violated',
  error: `Rule before_send of plugin guard: ${reason}`,
})
const silence = {
  success: false,
  data: null,
  code: 'plugin_unavailable',
  error: 'Plugin guard has to be asked first, and did not answer. Nothing was done; try again.',
}

const count = async () => {
  const { body } = await story.service.api('GET', '/relayers/main/transactions?per_page=0')
  return body.pagination?.total_items
}

describe('a request to send', () => {
  test('is accepted if the plugin allows it, which gets all about it and no secret', async () => {
    const { status } = await story.service.api('POST', '/relayers/main/transactions', pay(1), {
      'user-id': 'alice',
      'x-request-id': 'request-1',
    })
    expect(status).toBe(200)
    expect(await askedOf('guard')).toEqual([
      {
        action: 'send',
        dry_run: false,
        relayer_id: 'main',
        network_type: 'evm',
        network: 'anvil',
        from: DEV_ADDRESSES[0],
        api_key_id: 'root',
        user_id: 'alice',
        request_id: 'request-1',
        transaction: {
          network_type: 'evm',
          to: RECEIVER,
          value: '1',
          speed: expect.objectContaining({ level: 'fast' }),
          transfers: [expect.objectContaining({ to: RECEIVER, asset: 'native', amount: '1' })],
        },
        effects: {
          receivers: [RECEIVER.toLowerCase()],
          contracts: [],
          selectors: [],
          operations: [],
          amounts: [{ asset: 'native', value: '1' }],
          allowances: [],
          unread: [],
        },
      },
    ])
  })

  test('is accepted if the plugin returns nothing', async () => {
    expect((await story.post(pay(26))).status).toBe(200)
  })

  test('is refused with the reason of the plugin, and leaves nothing', async () => {
    const before = await count()
    const { status, body } = await story.post(pay(20))
    expect(status).toBe(400)
    expect(body).toMatchObject(refusal('the receiver is not known.'))
    expect((await story.post(pay(24))).body).toMatchObject(refusal('not on Sundays.'))
    expect((await story.post(pay(28))).body).toMatchObject(refusal('two lines.'))
    expect(await count()).toBe(before)
  })

  test('waits if the plugin asks for an approval, and is sent when another key approves it', async () => {
    const sent = await story.send(pay(21))
    expect(sent).toMatchObject({ status: 'pending', awaits_approval: true })
    expect(sent.status_reason).toContain('Rule before_send of plugin guard: the amount is unusual.')
    const { body } = await story.service.api<Approval>(
      'GET',
      `/relayers/main/transactions/${sent.id}/approval`,
    )
    expect(body.data).toMatchObject({
      state: 'waiting',
      reasons: ['Rule before_send of plugin guard: the amount is unusual.'],
    })
    // The standard time of an approval, because a plugin has none of its own.
    expect(Date.parse(body.data.expires_at) - Date.parse(sent.created_at)).toBe(86_400_000)
    expect((await approver.decide(sent.id, 'approve')).status).toBe(200)
    await story.reach(sent.id, 'submitted')
    expect(await askedOf('guard')).toHaveLength(1)
  })

  test.each([
    ['does not answer in time', 22],
    ['fails', 23],
    ['answers nonsense', 25],
    ['blocks its process', 27],
  ])('is not accepted if the plugin %s, and can be sent again', async (_name, value) => {
    const before = await count()
    const { status, headers, body } = await story.post(pay(value))
    expect([status, headers.get('retry-after')]).toEqual([503, '5'])
    expect(body).toMatchObject(silence)
    expect(await count()).toBe(before)
    await ready('guard')
    expect((await story.post(pay(1))).status).toBe(200)
  })

  test('is accepted if the plugin does not answer and its policy allows it', async () => {
    const { status, body } = await story.service.api('POST', '/relayers/other/transactions', pay(22))
    expect(status).toBe(200)
    const { body: audit } = await story.service.api<{ target_id: string; after?: { rules?: string[] } }[]>(
      'GET',
      '/audit?limit=100',
    )
    expect(audit.data.find((entry) => entry.target_id === body.data.id)?.after?.rules).toEqual([
      'Rule before_send of plugin lenient: it did not answer, and is set to allow then.',
    ])
  })

  test('with a repeated idempotency key asks nothing again', async () => {
    const send = () =>
      story.service.api('POST', '/relayers/main/transactions', pay(2), { 'idempotency-key': 'one' })
    const first = await send()
    const second = await send()
    expect(second.body.data.id).toBe(first.body.data.id)
    expect(await askedOf('guard')).toHaveLength(1)
  })

  test('with the key of a refused request asks again', async () => {
    const send = () =>
      story.service.api('POST', '/relayers/main/transactions', pay(20), { 'idempotency-key': 'two' })
    expect([(await send()).status, (await send()).status]).toEqual([400, 400])
    expect(await askedOf('guard')).toHaveLength(2)
  })

  test('that a rule refuses is not asked about', async () => {
    const key = await issueLimited(story.service, { receivers: [DEV_ADDRESSES[1]] })
    expect((await key.send(pay(1))).body.code).toBe('rule_violated')
    expect(await askedOf('guard')).toEqual([])
  })

  test('of the plugin itself is not asked about', async () => {
    const { status } = await story.service.api('POST', '/plugins/guard/call/send', pay(20))
    expect(status).toBe(200)
    expect(await askedOf('guard')).toEqual([])
  })

  test('of another plugin is asked about', async () => {
    await ready('idle')
    const { status } = await story.service.api('POST', '/plugins/idle/call/send', pay(20))
    expect(status).toBe(500)
    expect(await askedOf('guard')).toMatchObject([{ api_key_id: 'plugin.idle' }])
  })
})

describe('a dry run', () => {
  const dryRun = async (value: number) => {
    const { status, body } = await story.service.api<object>(
      'POST',
      '/relayers/main/transactions?dry_run=true',
      pay(value),
    )
    expect(status).toBe(200)
    return body.data
  }

  test('asks too, and tells each answer', async () => {
    const rule = { spender: 'plugin guard', rule: 'before_send' }
    expect(await dryRun(1)).toMatchObject({ accepted: true, rules: [{ ...rule, allowed: true }] })
    expect(await dryRun(21)).toMatchObject({ accepted: true, rules: [{ ...rule, requires_approval: true }] })
    expect(await dryRun(20)).toMatchObject({
      accepted: false,
      code: 'rule_violated',
      error: 'Rule before_send of plugin guard: the receiver is not known.',
      rules: [{ ...rule, allowed: false }],
    })
    expect(await dryRun(25)).toMatchObject({ accepted: false, code: 'plugin_unavailable', rules: [] })
    expect((await askedOf('guard')).map((one) => one.dry_run)).toEqual([true, true, true, true])
  })

  test('of a replacement asks too', async () => {
    const { id } = await story.send(pay(1))
    await story.reach(id, 'submitted')
    const { body } = await story.service.api('PUT', `/relayers/main/transactions/${id}?dry_run=true`, pay(21))
    expect(body.data).toMatchObject({
      accepted: false,
      code: 'rule_violated',
      error: expect.stringContaining('the amount is unusual. A replacement cannot wait'),
    })
    expect(await askedOf('guard')).toMatchObject([
      { action: 'send' },
      { action: 'replace', transaction_id: id, dry_run: true },
    ])
  })
})

describe('a batch', () => {
  test('is asked about item by item, and one refusal refuses all', async () => {
    const before = await count()
    const { status, body } = await sendBatch(story.service, [pay(1), pay(20), pay(2)])
    expect(status).toBe(400)
    expect(body).toMatchObject({
      code: 'rule_violated',
      error: 'body.transactions[1]: Rule before_send of plugin guard: the receiver is not known.',
    })
    expect(await count()).toBe(before)
    const values = (await askedOf('guard')).map(({ transaction }) => transaction.value)
    expect(values.toSorted()).toEqual(['1', '2', '20'])
  })

  test('has items that wait for an approval', async () => {
    const { status, body } = await sendBatch(story.service, [pay(1), pay(21)])
    expect(status).toBe(200)
    expect(body.data.map((item) => item.awaits_approval)).toEqual([undefined, true])
    await approver.decide(body.data[1]?.id ?? '', 'refuse')
  })

  test('is not accepted if the plugin does not answer about one item', async () => {
    const { status, body } = await sendBatch(story.service, [pay(1), pay(25)])
    expect(status).toBe(503)
    expect(body).toMatchObject({ code: 'plugin_unavailable' })
  })
})

describe('a replacement', () => {
  const replace = async (value: number) => {
    const { id } = await story.send(pay(1))
    await story.reach(id, 'submitted')
    return { id, answer: await story.replace(id, pay(value)) }
  }

  test('is done if the plugin allows it', async () => {
    const { id, answer } = await replace(3)
    expect(answer.status).toBe(200)
    expect(answer.body.data).toMatchObject({ id, value: '3' })
    expect(await askedOf('guard')).toMatchObject([
      { action: 'send' },
      { action: 'replace', transaction_id: id, transaction: { value: '3' } },
    ])
  })

  test('is refused with the reason of the plugin, and changes nothing', async () => {
    const { id, answer } = await replace(20)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject(refusal('the receiver is not known.'))
    expect(await story.get(id)).toMatchObject({ value: '1' })
  })

  test('cannot wait for an approval, so it is refused', async () => {
    const { answer } = await replace(21)
    expect(answer.body).toMatchObject(
      refusal(
        'the amount is unusual. A replacement cannot wait: cancel the transaction, and send the new content.',
      ),
    )
  })

  test('is not done if the plugin does not answer; the operation has no 503', async () => {
    const { id, answer } = await replace(25)
    expect(answer.status).toBe(500)
    expect(answer.body).toMatchObject(silence)
    expect(await story.get(id)).toMatchObject({ value: '1' })
  })

  test('does not hold up a cancellation while the plugin thinks', async () => {
    const { id } = await story.send(pay(1))
    await story.reach(id, 'submitted')
    const replaced = story.replace(id, pay(22))
    await until(
      async () =>
        (await story.service.api<{ state: { running: number } }>('GET', '/plugins/guard')).body.data,
      ({ state }) => state.running === 1,
    )
    expect((await story.cancel(id)).status).toBe(200)
    expect((await replaced).status).toBe(500)
  })
})

describe('a transaction to sign', () => {
  const sign = (value: number) =>
    story.service.api<object>('POST', '/relayers/main/sign-transaction', {
      to: RECEIVER,
      value,
      nonce: 500,
      gas_limit: 21_000,
      max_fee_per_gas: 2_000_000_000,
      max_priority_fee_per_gas: 1_000_000_000,
    })

  test('is signed if the plugin allows it', async () => {
    expect((await sign(1)).status).toBe(200)
    expect(await askedOf('guard')).toMatchObject([
      { action: 'sign_transaction', transaction: { value: '1' } },
    ])
  })

  test('is refused with the reason of the plugin', async () => {
    const { status, body } = await sign(20)
    expect(status).toBe(400)
    expect(body).toMatchObject(refusal('the receiver is not known.'))
  })

  test('cannot wait for an approval, so it is refused', async () => {
    expect((await sign(21)).body).toMatchObject(
      refusal('the amount is unusual. A signature cannot wait: send the transaction instead.'),
    )
  })

  test('is not signed if the plugin does not answer', async () => {
    const { status, body } = await sign(25)
    expect(status).toBe(503)
    expect(body).toMatchObject(silence)
  })
})

describe('a wallet', () => {
  const rpc = async (method: string, params: unknown[]) => {
    const { body } = await story.service.api<never>('POST', '/relayers/main/rpc', {
      jsonrpc: '2.0',
      id: 1,
      method,
      params,
    })
    return body as unknown as { result?: unknown; error?: { code: number; message: string; data?: unknown } }
  }
  const call = (value: number) => ({ from: DEV_ADDRESSES[0], to: RECEIVER, value: `0x${value.toString(16)}` })

  test('sends if the plugin allows it', async () => {
    const { result } = await rpc('eth_sendTransaction', [call(1)])
    expect(result).toMatch(/^0x[0-9a-f]{64}$/)
    expect(await askedOf('guard')).toMatchObject([{ action: 'send' }])
  })

  test('learns why the plugin refuses, and that it does not answer', async () => {
    expect((await rpc('eth_sendTransaction', [call(20)])).error).toMatchObject({
      code: -32003,
      message: 'Rule before_send of plugin guard: the receiver is not known.',
      data: { code: 'rule_violated' },
    })
    expect((await rpc('eth_sendTransaction', [call(25)])).error).toMatchObject({
      code: -32002,
      data: { code: 'plugin_unavailable' },
    })
  })

  test('learns that its transaction waits for an approval', async () => {
    const { error } = await rpc('eth_sendTransaction', [call(21)])
    expect(error).toMatchObject({ code: -32002, message: expect.stringContaining('waits for an approval') })
    const { transactionId = '' } = (error?.data ?? {}) as { transactionId?: string }
    await approver.decide(transactionId, 'refuse')
  })

  test('sends no bundle of which the plugin refuses a call', async () => {
    const { error } = await rpc('wallet_sendCalls', [
      {
        version: '2.0.0',
        from: DEV_ADDRESSES[0],
        chainId: '0x7a69',
        atomicRequired: false,
        calls: [call(1), call(20)].map(({ to, value }) => ({ to, value })),
      },
    ])
    expect(error?.message).toBe('calls.1: Rule before_send of plugin guard: the receiver is not known.')
  })
})

describe('the answers of a plugin', () => {
  test('are counted', async () => {
    const text = await (await fetch(`${story.service.metricsUrl}`)).text()
    for (const decision of ['allowed', 'refused', 'approval', 'failed'])
      expect(text).toMatch(
        new RegExp(`plugin_decisions_total\\{plugin_id="guard",decision="${decision}"\\} [1-9]`),
      )
  })

  test('are a hook that GET /plugins/{id} shows', async () => {
    const { body } = await story.service.api<{ hooks: object }>('GET', '/plugins/lenient')
    expect(body.data.hooks).toEqual({ before_send: { timeout: 1, on_failure: 'allow' } })
    expect((await story.service.api<object>('GET', '/plugins/idle')).body.data).not.toHaveProperty('hooks')
  })
})
