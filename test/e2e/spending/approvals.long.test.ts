import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Approval, type Approver, issueApprover } from '../../support/approver.ts'
import { issueLimited, type LimitedKey, outcomeOf } from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { DEV_ADDRESSES, RECEIVER } from '../../support/service.ts'
import { until } from '../../support/until.ts'

let story: Scenario
let approver: Approver

beforeAll(async () => {
  story = await startScenario()
  approver = await issueApprover(story.service)
}, 60_000)
afterEach(() => story.settle())
afterAll(() => story.stop())

const ABOVE = { require_approval: { above: [{ value: '100' }] } }
const EVERY = { require_approval: {} }
const pay = (value: number | string, to: string = RECEIVER) => ({ to, value: String(value), speed: 'fast' })
const pathOf = (id: string) => `/relayers/main/transactions/${id}`
const approvalOf = async (id: string) =>
  (await story.service.api<Approval>('GET', `${pathOf(id)}/approval`)).body.data

/** Sends what waits, and gives its id. */
async function waiting(key: LimitedKey, body: object = pay(101)): Promise<string> {
  const answer = await key.send(body)
  expect([answer.status, answer.body.error]).toEqual([200, undefined])
  expect(answer.body.data).toMatchObject({ status: 'pending', awaits_approval: true })
  return answer.body.data.id
}

describe('a transaction above the amount', () => {
  test('waits while others overtake it, and is sent when another key approves it', async () => {
    const key = await issueLimited(story.service, ABOVE)
    const id = await waiting(key)
    const below = await key.send(pay(100))
    expect(below.body.data.awaits_approval).toBeUndefined()
    await story.reach(below.body.data.id, 'submitted')
    const sentence = `Rule require_approval.above[0] of API key ${key.id}: a value above 100 native on evm:anvil needs an approval, and this transaction moves 101.`
    const { expires_at, ...approval } = await approvalOf(id)
    expect(approval).toMatchObject({ state: 'waiting', requested_by: key.id, reasons: [sentence] })
    expect(await story.get(id)).toMatchObject({
      status: 'pending',
      attempts: [],
      status_reason: `It waits for an approval until ${expires_at}. ${sentence}`,
    })
    const approved = await approver.decide(id, 'approve')
    expect(outcomeOf(approved)).toBe('200')
    expect(approved.body.data).toMatchObject({ state: 'approved', decided_by: approver.id })
    await story.reach(id, 'submitted')
    await story.mine(2)
    const confirmed = await story.reach(id, 'confirmed')
    expect(confirmed).toMatchObject({ value: '101' })
    expect(confirmed.awaits_approval).toBeUndefined()
  })

  test('tells every step by an event', async () => {
    const key = await issueLimited(story.service, ABOVE)
    const id = await waiting(key)
    await approver.decide(id, 'approve')
    await story.settle()
    const { body } = await story.service.api<{ payload: { id?: string; status?: string } }[]>(
      'GET',
      '/events?limit=100',
    )
    const steps = body.data.flatMap(({ payload }) => (payload.id === id ? [payload] : []))
    expect(steps.slice(0, 3)).toMatchObject([
      { status: 'pending', awaits_approval: true, status_reason: expect.stringContaining('waits for an') },
      { status: 'pending' },
      { status: 'sent' },
    ])
    expect(steps[1]).not.toHaveProperty('awaits_approval')
  })

  test('waits as well when it is sent twice with one idempotency key', async () => {
    const key = await issueLimited(story.service, ABOVE)
    const headers = { 'Idempotency-Key': 'approvals-once' }
    const [first, second] = [await key.send(pay(500), headers), await key.send(pay(500), headers)]
    expect(second.body.data).toEqual(first.body.data)
    expect(outcomeOf(await approver.decide(first.body.data.id, 'refuse'))).toBe('200')
  })
})

describe('the decision', () => {
  test('is not for the key that sent, whatever its scopes, nor for the root key about its own', async () => {
    const rights = {
      scopes: ['transactions:write', 'transactions:read', 'transactions:approve'],
      rules: EVERY,
    }
    const { body } = await story.service.api<{ id: string; secret: string }>('POST', '/api-keys', {
      name: 'Both',
      ...rights,
    })
    const headers = { authorization: `Bearer ${body.data.secret}` }
    const call = <Data>(path: string, content: object) =>
      story.service.api<Data>('POST', path, content, headers)
    const { data } = (await call<{ id: string }>('/relayers/main/transactions', pay(1))).body
    const own = await call(`${pathOf(data.id)}/approval`, { decision: 'approve' })
    expect([outcomeOf(own), own.body.error]).toEqual([
      '403 own_approval',
      `API key ${body.data.id} sent this transaction; another key or person must decide. The sender can cancel it.`,
    ])
    expect((await approvalOf(data.id)).state).toBe('waiting')
    const rotated = await story.service.api<{ secret: string }>(
      'POST',
      `/api-keys/${body.data.id}/rotate`,
      {},
    )
    const again = await story.service.api(
      'POST',
      `${pathOf(data.id)}/approval`,
      { decision: 'approve' },
      {
        authorization: `Bearer ${rotated.body.data.secret}`,
      },
    )
    expect(outcomeOf(again)).toBe('403 own_approval')
    expect(outcomeOf(await approver.decide(data.id, 'refuse'))).toBe('200')

    await story.service.api('PATCH', '/relayers/main', { policies: { rules: EVERY } })
    const ofRoot = await story.post(pay(1))
    const byRoot = await story.service.api('POST', `${pathOf(ofRoot.body.data.id)}/approval`, {
      decision: 'approve',
    })
    await story.service.api('PATCH', '/relayers/main', { policies: { rules: null } })
    expect(outcomeOf(byRoot)).toBe('403 own_approval')
    expect((await approvalOf(ofRoot.body.data.id)).reasons).toEqual([
      'Rule require_approval of relayer main: every transaction needs an approval.',
    ])
    expect(outcomeOf(await approver.decide(ofRoot.body.data.id, 'approve'))).toBe('200')
  })

  test('needs the scope', async () => {
    const key = await issueLimited(story.service, EVERY)
    const id = await waiting(key)
    const other = await issueLimited(story.service, EVERY)
    const answer = await other.call('POST', `${pathOf(id)}/approval`, { decision: 'approve' })
    expect([outcomeOf(answer), answer.body.error]).toEqual([
      '403 insufficient_scope',
      `API key ${other.id} lacks the scope transactions:approve.`,
    ])
    await approver.decide(id, 'refuse')
  })

  test('to refuse ends it as canceled, with the reason, and gives its budget back', async () => {
    const limits = [{ per: 'day', value: '1000', count: 1 }]
    const key = await issueLimited(story.service, { ...EVERY, limits })
    const id = await waiting(key)
    expect((await key.usage()).limits[0]?.value?.spent).toBe('101')
    expect(outcomeOf(await key.send(pay(1)))).toBe('400 rule_violated')
    const refused = await approver.decide(id, 'refuse', 'No one knows this account.')
    expect(refused.body.data).toMatchObject({
      state: 'refused',
      decided_by: approver.id,
      decision_reason: 'No one knows this account.',
    })
    expect(await story.get(id)).toMatchObject({
      status: 'canceled',
      status_reason: `API key ${approver.id} refused to approve it: No one knows this account.`,
      attempts: [],
    })
    await until(
      () => key.usage(),
      ({ limits: [limit] }) => limit?.value?.spent === '0' && limit.count?.spent === '0',
    )
  })

  test('counts once: the same one by the same key is repeated, and any other one conflicts', async () => {
    const key = await issueLimited(story.service, EVERY)
    const second = await issueApprover(story.service)
    const id = await waiting(key)
    const first = await approver.decide(id, 'refuse')
    expect((await approver.decide(id, 'refuse')).body.data).toEqual(first.body.data)
    for (const late of [await approver.decide(id, 'approve'), await second.decide(id, 'refuse')])
      expect([outcomeOf(late), late.body.error]).toEqual([
        '409 approval_decided',
        `Transaction ${id} was refused by API key ${approver.id} and is canceled.`,
      ])
  })

  test('of many keys at the same time, with a cancellation between them, is one', async () => {
    const key = await issueLimited(story.service, EVERY)
    const others = await Promise.all(Array.from({ length: 4 }, () => issueApprover(story.service)))
    for (let round = 0; round < 5; round += 1) {
      const id = await waiting(key)
      const answers = await Promise.all([
        ...others.map((other, index) => other.decide(id, index % 2 === 0 ? 'approve' : 'refuse')),
        key.call('DELETE', pathOf(id)),
      ])
      const decisions = answers.slice(0, 4).map(outcomeOf)
      const winners = decisions.filter((outcome) => outcome === '200').length
      expect(winners).toBeLessThanOrEqual(1)
      expect(decisions.filter((outcome) => outcome === '409 approval_decided')).toHaveLength(4 - winners)
      const { state } = await approvalOf(id)
      expect(['approved', 'refused', 'withdrawn']).toContain(state)
      await story.settle()
      const { status } = await story.get(id)
      expect(status).toBe(state === 'approved' ? status : 'canceled')
    }
  })

  test('about what no rule stopped, or what does not exist, is not found', async () => {
    const sent = await story.send(pay(1))
    expect(outcomeOf(await approver.decide(sent.id, 'approve'))).toBe('404 approval_not_found')
    const nothing = '0d9ad9d8-3f39-4a39-9a4b-6a8e2c6d1a11'
    expect(outcomeOf(await approver.decide(nothing, 'approve'))).toBe('404 transaction_not_found')
  })
})

describe('a new receiver', () => {
  const RULE = { require_approval: { new_receivers: true } }
  const OTHER = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'

  test('waits until a transaction to it is approved, for each key by itself', async () => {
    const key = await issueLimited(story.service, RULE)
    const [first, second] = [await waiting(key, pay(1)), await waiting(key, pay(2))]
    expect((await approvalOf(first)).reasons).toEqual([
      `Rule require_approval.new_receivers of API key ${key.id}: no approved transaction has paid ${RECEIVER.toLowerCase()} on evm:anvil.`,
    ])
    await approver.decide(first, 'approve')
    expect((await key.send(pay(3))).body.data.awaits_approval).toBeUndefined()
    expect((await story.get(second)).awaits_approval).toBe(true)
    await approver.decide(second, 'refuse')
    await approver.decide(await waiting(key, pay(1, OTHER)), 'refuse')
    await approver.decide(await waiting(key, pay(1, OTHER)), 'refuse')
    const others = await issueLimited(story.service, RULE)
    await approver.decide(await waiting(others, pay(1)), 'refuse')
  })

  test('can hide in a call that cannot be decoded, so that one waits unless its contract is listed', async () => {
    const CONTRACT = '0x00000000000000000000000000000000000000fe'
    const call = { to: CONTRACT, value: '0', data: '0x12345678', gas_limit: '100000', speed: 'fast' }
    const key = await issueLimited(story.service, RULE)
    const id = await waiting(key, call)
    expect((await approvalOf(id)).reasons).toContain(
      `Rule require_approval of API key ${key.id}: what ${CONTRACT} moves cannot be read, and it is not among the contracts or operations of the rules, so it needs an approval.`,
    )
    await approver.decide(id, 'refuse')
    const trusting = await issueLimited(story.service, { ...RULE, contracts: [CONTRACT] })
    const { data } = (await trusting.send(call)).body
    expect(data.awaits_approval).toBeUndefined()
  })
})

describe('a transaction that waits for an approval', () => {
  test('can be canceled by its sender, alone or with all others', async () => {
    const key = await issueLimited(story.service, EVERY)
    const [one, two] = [await waiting(key), await waiting(key)]
    expect(outcomeOf(await key.call('DELETE', pathOf(one)))).toBe('200')
    expect(outcomeOf(await key.call('DELETE', '/relayers/main/transactions/pending'))).toBe('200')
    for (const id of [one, two]) {
      expect((await story.get(id)).status).toBe('canceled')
      expect((await approvalOf(id)).state).toBe('withdrawn')
      expect(outcomeOf(await approver.decide(id, 'approve'))).toBe('409 approval_decided')
    }
  })

  test('cannot be replaced, and a replacement that would have to wait is refused', async () => {
    const key = await issueLimited(story.service, ABOVE)
    const id = await waiting(key)
    const replaced = await key.call('PUT', pathOf(id), pay(1))
    expect(outcomeOf(replaced)).toBe('400 transaction_not_replaceable')
    expect(await story.get(id)).toMatchObject({ value: '101', awaits_approval: true })
    await approver.decide(id, 'refuse')
    const { data } = (await key.send(pay(1))).body
    await story.reach(data.id, 'submitted')
    const before = await story.get(data.id)
    const larger = await key.call('PUT', pathOf(data.id), pay(101))
    expect(outcomeOf(larger)).toBe('400 rule_violated')
    expect(larger.body.error).toContain('A replacement cannot wait: cancel the transaction, and send')
    expect(await story.get(data.id)).toEqual(before)
  })

  test('reserves nothing, and still waits when the account cannot pay at the approval', async () => {
    const key = await issueLimited(story.service, ABOVE)
    const account = DEV_ADDRESSES[0]
    const balance = BigInt(await story.anvil.rpc<string>('eth_getBalance', [account, 'latest']))
    const most = balance - 10n ** 17n
    const [one, two] = [await waiting(key, pay(String(most))), await waiting(key, pay(String(most)))]
    await story.anvil.rpc('anvil_setBalance', [account, `0x${(10n ** 18n).toString(16)}`])
    const short = await approver.decide(one, 'approve')
    expect(outcomeOf(short)).toBe('400 insufficient_balance')
    expect((await approvalOf(one)).state).toBe('waiting')
    await story.anvil.rpc('anvil_setBalance', [account, `0x${balance.toString(16)}`])
    expect(outcomeOf(await approver.decide(one, 'approve'))).toBe('200')
    expect(outcomeOf(await approver.decide(two, 'approve'))).toBe('400 insufficient_balance')
    expect(outcomeOf(await approver.decide(two, 'refuse'))).toBe('200')
    await story.settle()
    await story.anvil.rpc('anvil_setBalance', [account, `0x${balance.toString(16)}`])
  })

  test('expires at its valid_until, and cannot be approved any more', async () => {
    const key = await issueLimited(story.service, EVERY)
    const end = new Date(Date.now() + 1_500).toISOString()
    const id = await waiting(key, { ...pay(1), valid_until: end })
    expect((await approvalOf(id)).expires_at).toBe(end)
    await story.reach(id, 'expired')
    expect(await story.get(id)).toMatchObject({
      status_reason: 'It was not approved in time; nothing was signed.',
      attempts: [],
    })
    expect((await approvalOf(id)).state).toBe('expired')
    const late = await approver.decide(id, 'approve')
    expect([outcomeOf(late), late.body.error]).toEqual([
      '409 approval_decided',
      `Transaction ${id} waited until ${end} without a decision; send it again.`,
    ])
  })

  test('has a diagnosis that names what it waits for', async () => {
    const key = await issueLimited(story.service, EVERY)
    const id = await waiting(key)
    const { body } = await story.service.api<{ findings: { code: string }[]; summary: string }>(
      'GET',
      `${pathOf(id)}/diagnosis`,
    )
    expect(body.data.findings[0]?.code).toBe('awaits_approval')
    expect(body.data.summary).toContain('It waits for an approval until')
    await approver.decide(id, 'refuse')
  })
})

test('a signature cannot wait, so it is refused where sending would wait', async () => {
  const key = await issueLimited(story.service, ABOVE)
  const sign = (value: string) =>
    key.call('POST', '/relayers/main/sign-transaction', {
      to: RECEIVER,
      value,
      nonce: 1_000,
      gas_limit: '21000',
      max_fee_per_gas: '3000000000',
      max_priority_fee_per_gas: '1000000000',
    })
  expect(outcomeOf(await sign('100'))).toBe('200')
  const refused = await sign('101')
  expect(outcomeOf(refused)).toBe('400 rule_violated')
  expect(refused.body.error).toContain('A signature cannot wait: send the transaction instead.')
})

test('a dry run says that it would wait, and why', async () => {
  const key = await issueLimited(story.service, ABOVE)
  const dry = async (value: number) =>
    (await key.call<object>('POST', '/relayers/main/transactions?dry_run=true', pay(value))).body.data
  const answer = await dry(101)
  expect(answer).toMatchObject({
    accepted: true,
    awaits_approval: true,
    rules: [{ rule: 'require_approval.above[0]', allowed: true, requires_approval: true }],
  })
  expect(await dry(100)).not.toHaveProperty('awaits_approval')
})

describe('a dry run of the approval', () => {
  interface Tried extends Approval {
    readonly dry_run?: Record<string, unknown>
  }
  const tried = async (id: string) =>
    (await story.service.api<Tried>('GET', `${pathOf(id)}/approval?simulate=true`)).body.data

  test('shows the price and the funds, and decides nothing', async () => {
    const id = await waiting(await issueLimited(story.service, ABOVE))
    const { dry_run: dryRun, ...approval } = await tried(id)
    expect(approval).toEqual(await approvalOf(id))
    expect(dryRun).toMatchObject({ dry_run: true, accepted: true, simulation: 'succeeded', value: '101' })
    expect(dryRun).toMatchObject({ reserved: '0', rules: [] })
    expect(BigInt(String(dryRun?.max_fee))).toBeGreaterThan(0n)
    expect(await story.get(id)).toMatchObject({ status: 'pending', awaits_approval: true })
    await approver.decide(id, 'approve')
    expect(await tried(id)).not.toHaveProperty('dry_run')
  })

  test('says that the account cannot pay, as the approval does', async () => {
    const { body } = await story.service.api<{ balance: bigint }>('GET', '/relayers/main/balance')
    const most = BigInt(body.data.balance) - 10n ** 17n
    const [first, second] = [
      await waiting(await issueLimited(story.service, ABOVE), pay(String(most))),
      await waiting(await issueLimited(story.service, ABOVE), pay(String(most))),
    ]
    expect((await tried(second)).dry_run).toMatchObject({ accepted: true })
    await approver.decide(first, 'approve')
    const refused = await approver.decide(second, 'approve')
    expect((await tried(second)).dry_run).toMatchObject({
      accepted: false,
      code: 'insufficient_balance',
      error: refused.body.error,
    })
    await approver.decide(second, 'refuse')
    await story.anvil.rpc('anvil_setBalance', [DEV_ADDRESSES[0], '0x21e19e0c9bab2400000'])
  })

  test('says why the chain would refuse it', async () => {
    const id = await waiting(await issueLimited(story.service, EVERY), pay(1))
    // Code that reverts at once.
    await story.anvil.rpc('anvil_setCode', [RECEIVER, '0x60006000fd'])
    expect((await tried(id)).dry_run).toMatchObject({ accepted: false, simulation: 'refused' })
    await story.anvil.rpc('anvil_setCode', [RECEIVER, '0x'])
    await approver.decide(id, 'refuse')
  })
})

test('lists show what the key may see, newest first, and by state', async () => {
  const key = await issueLimited(story.service, EVERY)
  const [one, two] = [await waiting(key), await waiting(key)]
  const idsOf = ({ body }: Awaited<ReturnType<Approver['list']>>) =>
    body.data.map(({ transaction_id }) => transaction_id)
  expect(idsOf(await approver.list('waiting'))).toEqual([two, one])
  await approver.decide(one, 'refuse')
  expect(idsOf(await approver.list('waiting'))).toEqual([two])
  expect(idsOf(await approver.list('refused'))).toContain(one)
  expect(idsOf(await approver.list()).slice(0, 2)).toEqual([two, one])
  const elsewhere = await issueApprover(story.service, { relayers: ['other-*'] })
  expect(idsOf(await elsewhere.list())).toEqual([])
  expect(outcomeOf(await elsewhere.decide(two, 'approve'))).toBe('404 relayer_not_found')
  await approver.decide(two, 'refuse')
})

test('the audit log has the reasons, the decision and who decided', async () => {
  const key = await issueLimited(story.service, EVERY)
  const id = await waiting(key)
  await approver.decide(id, 'refuse', 'No.')
  const { body } = await story.service.api<Record<string, unknown>[]>('GET', `/audit?target_id=${id}`)
  expect(body.data).toMatchObject([
    {
      action: 'decideApproval',
      actor: approver.id,
      after: { decision: 'refused', reason: 'No.', request_sha256: expect.any(String) },
    },
    {
      action: 'sendTransaction',
      actor: key.id,
      after: {
        rules: [`Rule require_approval of API key ${key.id}: every transaction needs an approval.`],
      },
    },
  ])
})
