import { address } from '@solana/kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../simulators/solana/runtime/programs.ts'
import { plantMint, plantTokens } from '../../../simulators/solana/tokens.ts'
import { someAddress } from '../../chains/solana/build.ts'
import { issueApprover } from '../../support/approver.ts'
import {
  issueLimited,
  type LimitedKey,
  outcomeOf,
  usageOf,
  violationIn,
  violationsOfMain,
} from '../../support/limited-key.ts'
import { type Scenario, startScenario } from '../../support/scenario.ts'
import { RECEIVER, type Transaction } from '../../support/service.ts'
import {
  MAIN,
  RECEIVER as SOLANA_RECEIVER,
  type SolanaScenario,
  startSolanaScenario,
  transfer,
} from '../../support/solana-scenario.ts'
import {
  keypairOf,
  payment,
  RECEIVER as STELLAR_RECEIVER,
  type StellarScenario,
  startStellarScenario,
} from '../../support/stellar-scenario.ts'
import { until } from '../../support/until.ts'

describe('on EVM', () => {
  /** Code at this address reverts always. */
  const REVERTING = '0x00000000000000000000000000000000000000ff'
  const GWEI = 1_000_000_000n
  const GAS = 21_000n

  let story: Scenario

  beforeAll(async () => {
    // Whatever comes after the first one is not signed until that is included.
    story = await startScenario({ env: { RELAYER_MAX_IN_FLIGHT: '1' } })
    await story.anvil.rpc('anvil_setCode', [REVERTING, '0x5f5ffd'])
  }, 60_000)
  afterEach(() => story.settle())
  afterAll(() => story.stop())

  /** More than anything here costs. */
  const PLENTY = 10n ** 18n

  const limitOf = (amounts: { value?: bigint; fees?: bigint; count?: number }) => ({
    limits: [
      {
        per: 'day',
        ...(amounts.value === undefined ? {} : { value: String(amounts.value) }),
        ...(amounts.fees === undefined ? {} : { fees: String(amounts.fees) }),
        ...(amounts.count === undefined ? {} : { count: amounts.count }),
      },
    ],
  })
  const EVERYTHING = limitOf({ value: 100n, fees: PLENTY, count: 10 })

  const pay = (value: bigint, gwei = 3n, to = RECEIVER) => ({
    to,
    value: String(value),
    gas_limit: String(GAS),
    max_fee_per_gas: String(gwei * GWEI),
    max_priority_fee_per_gas: String((gwei * GWEI) / 3n),
  })

  /** Value, fees and count that the first limit of a key counts. */
  async function spentBy(key: LimitedKey): Promise<[value: bigint, fees: bigint, count: number]> {
    const [limit] = (await key.usage()).limits
    const [value, fees, count] = [limit?.value, limit?.fees, limit?.count].map(
      (amount) => amount?.spent ?? '0',
    )
    return [BigInt(value ?? 0), BigInt(fees ?? 0), Number(count)]
  }

  /** Waits until so much value and this many transactions are counted. */
  const untilSpent = (key: LimitedKey, value: bigint, count: number) =>
    until(
      () => spentBy(key),
      (spent) => spent[0] === value && spent[2] === count,
    )

  /** The fee that the chain charged for what is included of a transaction. */
  async function chargedFor(id: string): Promise<bigint> {
    const { hash } = await story.get(id)
    const receipt = await story.anvil.rpc<Record<'gasUsed' | 'effectiveGasPrice', string>>(
      'eth_getTransactionReceipt',
      [hash],
    )
    return BigInt(receipt.gasUsed) * BigInt(receipt.effectiveGasPrice)
  }

  /** Mines until the transaction has this status, and expects that its key is charged this value and the fee that the chain charged. */
  async function expectCharged(
    key: LimitedKey,
    { id, status, value }: { id: string; status: Transaction['status']; value: bigint },
  ): Promise<void> {
    await story.mine(2)
    await story.reach(id, status)
    const [, fees] = await untilSpent(key, value, 1)
    expect(fees).toBe(await chargedFor(id))
    expect(fees).toBeGreaterThan(0n)
  }

  const pathOf = (id: string) => `/relayers/main/transactions/${id}`

  /** Sends with a key and waits until a node has it. */
  async function submitted(key: LimitedKey, body: object): Promise<string> {
    const answer = await key.send(body)
    expect([answer.status, answer.body.error]).toEqual([200, undefined])
    await story.reach(answer.body.data.id, 'submitted')
    return answer.body.data.id
  }

  describe('a replacement', () => {
    test('that costs more than the rest is refused and changes nothing', async () => {
      const key = await issueLimited(story.service, EVERYTHING)
      const id = await submitted(key, pay(60n))
      const [before, spent] = [await story.get(id), await spentBy(key)]
      expect(spent).toEqual([60n, 3n * GWEI * GAS, 1])
      const refused = await key.call('PUT', pathOf(id), pay(101n, 9n))
      expect(violationIn(refused)).toContain('100 is left, and this transaction needs up to 101.')
      expect(await story.get(id)).toEqual(before)
      expect(await spentBy(key)).toEqual(spent)
    })

    test('is charged with what it costs more, until the chain has decided', async () => {
      const key = await issueLimited(story.service, EVERYTHING)
      const id = await submitted(key, pay(60n))
      expect(outcomeOf(await key.call('PUT', pathOf(id), pay(90n, 9n)))).toBe('200')
      expect(await spentBy(key)).toEqual([90n, 9n * GWEI * GAS, 1])
      // The earlier content could still be included, so its value is not free yet.
      expect(outcomeOf(await key.call('PUT', pathOf(id), pay(10n, 12n)))).toBe('200')
      expect(await spentBy(key)).toEqual([90n, 12n * GWEI * GAS, 1])
      await expectCharged(key, { id, status: 'confirmed', value: 10n })
    })

    test('by another key is charged to that key, within its own budget', async () => {
      const first = await issueLimited(story.service, EVERYTHING)
      const second = await issueLimited(story.service, limitOf({ value: 70n, fees: PLENTY, count: 1 }))
      const id = await submitted(first, pay(60n))
      const refused = await second.call('PUT', pathOf(id), pay(71n, 9n))
      expect([outcomeOf(refused), await spentBy(second)]).toEqual(['400 rule_violated', [0n, 0n, 0]])
      expect(outcomeOf(await second.call('PUT', pathOf(id), pay(70n, 9n)))).toBe('200')
      expect(await spentBy(second)).toEqual([70n, 9n * GWEI * GAS, 1])
      // Whichever content is included, the account pays for a transaction that the first key has sent.
      expect(await spentBy(first)).toEqual([60n, 9n * GWEI * GAS, 1])
    })
  })

  describe('a budget', () => {
    test('gets back everything but the fee of what took the nonce after a cancellation', async () => {
      const key = await issueLimited(story.service, EVERYTHING)
      const id = await submitted(key, pay(60n))
      expect(outcomeOf(await key.call('DELETE', pathOf(id)))).toBe('200')
      expect((await spentBy(key))[0]).toBe(60n)
      await expectCharged(key, { id, status: 'canceled', value: 0n })
    })

    test('gets back the value of a transaction that reverted', async () => {
      const key = await issueLimited(story.service, EVERYTHING)
      const id = await submitted(key, { ...pay(60n, 3n, REVERTING), gas_limit: '100000' })
      expect(await spentBy(key)).toEqual([60n, 3n * GWEI * 100_000n, 1])
      await expectCharged(key, { id, status: 'failed', value: 0n })
    })

    test('gets back everything of a transaction that was canceled before anything was signed', async () => {
      const key = await issueLimited(story.service, EVERYTHING)
      await submitted(key, pay(1n))
      const { body } = await key.send(pay(60n))
      expect(await spentBy(key)).toEqual([61n, 6n * GWEI * GAS, 2])
      expect(outcomeOf(await key.call('DELETE', pathOf(body.data.id)))).toBe('200')
      expect((await story.get(body.data.id)).status).toBe('canceled')
      expect(await untilSpent(key, 1n, 1)).toEqual([1n, 3n * GWEI * GAS, 1])
    })
  })

  describe('a signature without sending', () => {
    const unsigned = { ...pay(60n), nonce: 1_000 }
    const sign = (key: LimitedKey) => key.call('POST', '/relayers/main/sign-transaction', unsigned)

    test('counts for ever, as a transaction that anyone can send', async () => {
      const key = await issueLimited(story.service, EVERYTHING)
      expect(outcomeOf(await sign(key))).toBe('200')
      expect(await spentBy(key)).toEqual([60n, 3n * GWEI * GAS, 1])
      expect(violationIn(await sign(key))).toContain('40 is left, and this transaction needs up to 60.')
      expect(outcomeOf(await key.send(pay(41n)))).toBe('400 rule_violated')
      expect(await spentBy(key)).toEqual([60n, 3n * GWEI * GAS, 1])
    })

    const HASHES = { domain_separator: 'ab'.repeat(32), hash_struct_message: 'cd'.repeat(32) }
    test.each([
      ['sign', { message: 'hello' }],
      ['sign-typed-data', HASHES],
    ])('of content that cannot be decoded (%s) needs a rule that allows it', async (operation, body) => {
      const path = `/relayers/main/${operation}`
      const none = await issueLimited(story.service, EVERYTHING)
      expect(violationIn(await none.call('POST', path, body))).toContain(
        `Rule signatures of API key ${none.id}`,
      )
      const any = await issueLimited(story.service, { ...EVERYTHING, signatures: 'any' })
      expect(outcomeOf(await any.call('POST', path, body))).toBe('200')
    })
  })

  describe('the rules of a relayer', () => {
    const patch = (rules: object | null) =>
      story.service.api('PATCH', '/relayers/main', { policies: { rules } })

    test('hold for every key, and for the root key too, until they are taken away', async () => {
      const key = await issueLimited(story.service, {})
      expect(outcomeOf(await patch(limitOf({ count: 2 })))).toBe('200')
      const others = await issueLimited(story.service, limitOf({ count: 2 }))
      expect(outcomeOf(await story.post(pay(1n)))).toBe('200')
      expect(outcomeOf(await key.send(pay(1n)))).toBe('200')
      for (const answer of [await story.post(pay(1n)), await key.send(pay(1n)), await others.send(pay(1n))])
        expect(violationIn(answer)).toContain('Rule limits[0].count of relayer main')
      expect((await usageOf(story.service, '/relayers/main')).limits[0]?.count).toEqual({
        limit: '2',
        spent: '2',
        left: '0',
      })
      expect(outcomeOf(await patch(null))).toBe('200')
      expect(outcomeOf(await story.post(pay(1n)))).toBe('200')
      expect(await others.usage()).toEqual({ limits: [], spent: [] })
    })
  })

  test('the audit log and the usage say how much a limit still allows', async () => {
    const key = await issueLimited(story.service, limitOf({ value: 100n, count: 10 }))
    await submitted(key, pay(60n))
    const path = `/audit?actor=${key.id}`
    const { body } = await story.service.api<{ after: { rules?: string[] } }[]>('GET', path)
    expect(body.data[0]?.after.rules?.[0]).toContain('100 is left, and this transaction needs up to 60.')
    expect((await key.usage()).limits).toEqual([
      {
        rule: 'limits[0]',
        per: 'day',
        network: 'evm:anvil',
        asset: 'native',
        value: { limit: '100', spent: '60', left: '40' },
        count: { limit: '10', spent: '1', left: '9' },
      },
    ])
  })

  describe('the list of receivers', () => {
    const OTHER = `0x${'70'.repeat(20)}`
    const transfer = `0xa9059cbb${OTHER.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`

    test.each([
      ['the receiver', '0x'],
      ['the call of a token', transfer],
      ['a call that cannot be decoded', '0x39509351'],
      ['the call of a token that pays the zero address', `0xa9059cbb${'00'.repeat(20)}`],
    ])('is not passed by %s', async (_what, data) => {
      const { id, send } = await issueLimited(story.service, { receivers: [RECEIVER] })
      expect(violationIn(await send({ ...pay(1n, 3n, OTHER), data, gas_limit: '90000' }))).toContain(
        `Rule receivers of API key ${id}: `,
      )
    })
  })

  test('a key with rules cannot manage keys, because it could make one without rules', async () => {
    const key = { name: 'Test', scopes: ['api-keys:admin'], rules: EVERYTHING }
    const { status, body } = await story.service.api('POST', '/api-keys', key)
    expect([status, body.error]).toEqual([400, expect.stringContaining('cannot be limited by rules')])
  })

  describe('an idempotency key', () => {
    test('that many requests share at the same time is charged once, although the budget is for one', async () => {
      const key = await issueLimited(story.service, limitOf({ value: 60n, count: 1 }))
      const headers = { 'Idempotency-Key': 'budgets-at-once' }
      const answers = await Promise.all(Array.from({ length: 8 }, () => key.send(pay(60n), headers)))
      expect(answers.map(outcomeOf)).toEqual(Array(8).fill('200'))
      expect((await spentBy(key))[0]).toBe(60n)
    })

    test('that is required and not there is missed', async () => {
      const key = await issueLimited(story.service, { idempotency: 'required' })
      expect(violationIn(await key.send(pay(1n)))).toBe(
        `Rule idempotency of API key ${key.id}: the header Idempotency-Key is required.`,
      )
      expect(outcomeOf(await key.send(pay(1n), { 'Idempotency-Key': 'budgets-required' }))).toBe('200')
    })
  })
})

describe('on Stellar', () => {
  const ISSUER = keypairOf('issuer').publicKey()
  const EUR = `EUR:${ISSUER}`

  let story: StellarScenario

  beforeAll(async () => {
    story = await startStellarScenario({
      relayer: {
        policies: { rules: { operations: ['payment'], limits: [{ per: 'day', value: '1000', count: 10 }] } },
      },
    })
  }, 60_000)
  afterAll(() => story.stop())

  const asset = { type: 'credit4', code: 'EUR', issuer: ISSUER }
  const euros = (amount: bigint) => ({
    network: 'standalone',
    operations: [{ type: 'payment', destination: STELLAR_RECEIVER, asset, amount: String(amount) }],
  })

  test('lumens and an asset have budgets of their own, and a payment that the ledger refuses gives its amount back', async () => {
    const key = await issueLimited(story.service, {
      assets: ['native', EUR],
      limits: [
        { per: 'day', value: '100', count: 3 },
        { per: 'day', asset: EUR, value: '5' },
      ],
    })
    expect(violationIn(await key.send(euros(6n)))).toBe(
      `Rule limits[1].value of API key ${key.id}: value of ${EUR} up to 5 per day on stellar:standalone; 5 is left, and this transaction needs up to 6.`,
    )
    const sent = [await key.send(payment(60n)), await key.send(euros(5n))]
    expect(sent.map(outcomeOf)).toEqual(['200', '200'])
    for (const body of [payment(41n), euros(1n)])
      expect(outcomeOf(await key.send(body))).toBe('400 rule_violated')
    const [paid, failed] = sent.map(({ body }) => body.data.id)
    await story.closeUntil(paid ?? '', 'confirmed')
    // The receiver does not trust the issuer.
    await story.closeUntil(failed ?? '', 'failed')
    const { limits } = await until(
      () => key.usage(),
      (usage) => usage.limits[1]?.value?.spent === '0',
    )
    expect(limits).toMatchObject([
      { asset: 'native', value: { spent: '60', left: '40' }, count: { spent: '2', left: '1' } },
      { asset: EUR, value: { limit: '5', left: '5' } },
    ])
  })

  test('a payment above the amount, and one to a new account, wait until another key approves them', async () => {
    const rule = { above: [{ value: '10' }], new_receivers: true }
    const key = await issueLimited(story.service, { require_approval: rule })
    const approver = await issueApprover(story.service)
    const first = (await key.send(payment(11n))).body.data
    expect(first).toMatchObject({
      awaits_approval: true,
      status_reason: expect.stringContaining(
        `no approved transaction has paid ${STELLAR_RECEIVER} on stellar:standalone.`,
      ),
    })
    expect(outcomeOf(await approver.decide(first.id, 'approve'))).toBe('200')
    await story.closeUntil(first.id, 'confirmed')
    expect((await key.send(payment(10n))).body.data.awaits_approval).toBeUndefined()
    const more = (await key.send(payment(12n))).body.data
    expect(more.awaits_approval).toBe(true)
    expect(outcomeOf(await approver.decide(more.id, 'refuse'))).toBe('200')
    expect((await story.get(more.id)).status).toBe('canceled')
  })

  test('the rules of the configuration refuse an operation and a larger sum, regardless of who sends', async () => {
    const operations = [
      { type: 'create_account', destination: keypairOf('new').publicKey(), starting_balance: '20000000' },
    ]
    expect(await violationsOfMain(story, [{ network: 'standalone', operations }, payment(1_001n)])).toEqual([
      'Rule operations of relayer main: create_account is not among the operations.',
      expect.stringMatching(/^Rule limits\[0\]\.value of relayer main: .* needs up to 1001\.$/),
    ])
  })
})

describe('on Solana', () => {
  const MEMO_PROGRAM = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'
  const [MINT, OWN, THEIRS] = [someAddress(201), someAddress(202), someAddress(203)]

  let story: SolanaScenario

  beforeAll(async () => {
    story = await startSolanaScenario({
      policies: {
        rules: {
          contracts: [SYSTEM_PROGRAM, TOKEN_PROGRAM],
          limits: [{ per: 'day', value: '5000000', count: 10 }],
        },
      },
    })
    plantMint(story.solana, MINT, { decimals: 0 })
    plantTokens(story.solana, OWN, { mint: MINT, owner: address(MAIN), amount: 100n })
    plantTokens(story.solana, THEIRS, { mint: MINT, owner: address(SOLANA_RECEIVER), amount: 0n })
  }, 60_000)
  afterAll(() => story.stop())

  /** `TransferChecked` of the token program. */
  function tokens(amount: bigint): object {
    const data = Buffer.alloc(10)
    data.writeUInt8(12)
    data.writeBigUInt64LE(amount, 1)
    const accounts = [
      { pubkey: OWN, is_signer: false, is_writable: true },
      { pubkey: MINT, is_signer: false, is_writable: false },
      { pubkey: THEIRS, is_signer: false, is_writable: true },
      { pubkey: MAIN, is_signer: true, is_writable: false },
    ]
    return { instructions: [{ program_id: TOKEN_PROGRAM, accounts, data: data.toString('base64') }] }
  }

  test('lamports and a token have budgets of their own, and fees count what was charged', async () => {
    const key = await issueLimited(story.service, {
      assets: ['native', MINT],
      limits: [
        { per: 'day', value: '1000', fees: '1000000', count: 3 },
        { per: 'day', asset: MINT, value: '5' },
      ],
    })
    expect(violationIn(await key.send(tokens(6n)))).toBe(
      `Rule limits[1].value of API key ${key.id}: value of ${MINT} up to 5 per day on solana:local; 5 is left, and this transaction needs up to 6.`,
    )
    const sent = [await key.send(transfer(600n)), await key.send(tokens(5n))]
    expect(sent.map(({ body }) => body.error)).toEqual([undefined, undefined])
    for (const body of [transfer(401n), tokens(1n)])
      expect(outcomeOf(await key.send(body))).toBe('400 rule_violated')
    const lamports = story.solana.account(MAIN)?.lamports ?? 0n
    for (const { body } of sent) await story.tickUntil(body.data.id, 'confirmed')
    const charged = lamports - 600n - (story.solana.account(MAIN)?.lamports ?? 0n)
    const { limits } = await until(
      () => key.usage(),
      (usage) => usage.limits[0]?.fees?.spent === String(charged),
    )
    expect(limits).toMatchObject([
      { asset: 'native', value: { spent: '600', left: '400' }, count: { spent: '2', left: '1' } },
      { asset: MINT, value: { spent: '5', left: '0' } },
    ])
  })

  test('tokens above the amount, and a new token account, wait until another key approves them', async () => {
    const rule = { above: [{ asset: MINT, value: '4' }], new_receivers: true }
    const key = await issueLimited(story.service, { require_approval: rule, contracts: [TOKEN_PROGRAM] })
    const approver = await issueApprover(story.service)
    const first = (await key.send(tokens(1n))).body.data
    expect(first).toMatchObject({
      awaits_approval: true,
      status_reason: expect.stringContaining(`no approved transaction has paid ${THEIRS} on solana:local.`),
    })
    expect(outcomeOf(await approver.decide(first.id, 'approve'))).toBe('200')
    await story.tickUntil(first.id, 'confirmed')
    const known = (await key.send(tokens(2n))).body.data
    expect(known.awaits_approval).toBeUndefined()
    // What is still open when the next test lets blockhashes expire is signed and charged once more while that test counts.
    await story.tickUntil(known.id, 'confirmed')
    const more = (await key.send(tokens(5n))).body.data
    expect(more.status_reason).toContain(
      `a value above 4 ${MINT} on solana:local needs an approval, and this transaction moves 5.`,
    )
    expect(outcomeOf(await approver.decide(more.id, 'refuse'))).toBe('200')
    expect((await story.get(more.id)).status).toBe('canceled')
  })

  test('what expires without being included is given back after its cancellation', async () => {
    const key = await issueLimited(story.service, { limits: [{ per: 'day', value: '1000', count: 1 }] })
    const { body } = await key.send(transfer(700n))
    await story.reach(body.data.id, 'submitted')
    expect((await key.usage()).limits[0]).toMatchObject({ value: { left: '300' }, count: { left: '0' } })
    await key.call('DELETE', `/relayers/main/transactions/${body.data.id}`)
    story.solana.dropPending()
    story.solana.tick(160)
    await story.tickUntil(body.data.id, 'canceled')
    await until(
      () => key.usage(),
      ({ limits: [limit] }) => limit?.value?.left === '1000' && limit.count?.left === '1',
    )
  })

  test('the rules of the configuration refuse a program and a larger sum, regardless of who sends', async () => {
    const memo = { program_id: MEMO_PROGRAM, accounts: [], data: Buffer.from('hello').toString('base64') }
    expect(await violationsOfMain(story, [{ instructions: [memo] }, transfer(5_000_001n)])).toEqual([
      `Rule contracts of relayer main: ${MEMO_PROGRAM} is not among the contracts.`,
      expect.stringMatching(/^Rule limits\[0\]\.value of relayer main: .* needs up to 5000001\.$/),
    ])
  })
})
