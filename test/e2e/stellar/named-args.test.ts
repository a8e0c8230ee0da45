import { xdr } from '@stellar/stellar-sdk'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { functionSpec, moduleWith, moduleWithSection } from '../../../simulators/stellar/soroban/spec.ts'
import { issueLimited, outcomeOf } from '../../support/limited-key.ts'
import { sendBatch } from '../../support/service.ts'
import { MAIN, RECEIVER, type StellarScenario, startStellarScenario } from '../../support/stellar-scenario.ts'

const { ScSpecTypeDef: Type } = xdr

let scenario: StellarScenario

beforeAll(async () => {
  scenario = await startStellarScenario()
}, 60_000)
afterAll(() => scenario.stop())

/** A call of a contract, of the native asset when no other is named. */
function call(named_args: object, more: object = {}): object {
  const operation = {
    type: 'invoke_contract',
    contract_address: scenario.ledger.nativeContract,
    function_name: 'transfer',
    named_args,
    ...more,
  }
  return { network: 'standalone', operations: [operation] }
}

const transfer = (amount: unknown) => call({ amount, to: RECEIVER, from: MAIN.publicKey() })
const balance = () => scenario.ledger.account(RECEIVER)?.balance ?? 0n

test('a transaction shows the operations and the memo of its request exactly, also while it waits for an approval', async () => {
  const key = await issueLimited(scenario.service, { require_approval: {} })
  const payment = {
    type: 'payment',
    destination: RECEIVER,
    asset: { type: 'native' },
    amount: '9007199',
  }
  const memo = { type: 'id', value: '9223372036854775807' }
  const sent = await key.send({ network: 'standalone', operations: [payment], memo })
  expect([sent.status, sent.body.error]).toEqual([200, undefined])
  const shown = {
    awaits_approval: true,
    operations: [{ ...payment, amount: 9_007_199 }],
    memo: { type: 'id', value: 9_223_372_036_854_775_807n },
  }
  expect(sent.body.data).toMatchObject(shown)
  expect(await scenario.get(sent.body.data.id)).toMatchObject(shown)
  const { body } = await scenario.service.api<object[]>('GET', '/relayers/main/transactions?status=pending')
  expect(body.data).toMatchObject([shown])
})

describe('a contract call with the names of its arguments', () => {
  test('is sent, and the network executes it', async () => {
    const before = balance()
    const { id } = await scenario.send(transfer('100'))
    await scenario.closeUntil(id, 'confirmed')
    expect(balance()).toBe(before + 100n)
  })

  test('is encoded by the specification in the code of the contract', async () => {
    const received: (readonly xdr.ScVal[])[] = []
    const wasm = moduleWith([
      functionSpec('put', [
        ['key', Type.scSpecTypeSymbol()],
        ['value', Type.scSpecTypeU256()],
      ]),
    ])
    const contract = scenario.ledger.contract({ put: (_env, ...args) => void received.push(args) }, wasm)
    const value = 2n ** 255n + 1n
    const named = { contract_address: contract, function_name: 'put' }
    const { id } = await scenario.send(call({ value: String(value), key: 'k' }, named))
    await scenario.closeUntil(id, 'confirmed')
    const [key, integer] = received.at(-1) ?? []
    expect([key?.type, integer?.toXdr('hex')]).toEqual(['scvSymbol', `0000000b8${'0'.repeat(62)}1`])
  })

  test('has a dry run, and replaces another one', async () => {
    const path = '/relayers/main/transactions?dry_run=true'
    const { body } = await scenario.service.api<{ accepted: boolean }>('POST', path, transfer(1))
    expect(body.data).toMatchObject({ dry_run: true, accepted: true })
    const { id } = await scenario.send(transfer(2))
    const replaced = await scenario.replace(id, transfer(3))
    expect(replaced.status).toBe(200)
    await scenario.closeUntil(id, 'confirmed')
  })

  test('is an item of a batch, and its errors have the place of the item', async () => {
    const { body } = await sendBatch(scenario.service, [transfer(4), transfer(5)])
    for (const { id } of body.data) await scenario.closeUntil(id, 'confirmed')
    const refused = await sendBatch(scenario.service, [transfer(4), transfer('x')])
    expect(refused.body.error).toContain('transactions[1]')
    expect(refused.body.error).toContain('operations[0].named_args.amount: expected a value of type i128')
  })

  test.each<[string, () => object, string]>([
    [
      'args besides',
      () => call({}, { args: [] }),
      'operations[0].named_args: expected either args or named_args, not both.',
    ],
    [
      'neither',
      () => call({}, { named_args: undefined }),
      'operations[0].args: is required, unless there are named_args.',
    ],
    [
      'an unknown argument',
      () => call({ from: MAIN.publicKey(), to: RECEIVER, sum: 1 }),
      'operations[0].named_args: expected the fields from, to, amount, and no others.',
    ],
    [
      'an unknown function',
      () => call({}, { function_name: 'pay' }),
      'operations[0].function_name: expected a function of the contract, which has allowance, approve',
    ],
    [
      'an unknown contract',
      () => call({}, { contract_address: 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA' }),
      'operations[0].contract_address: expected a contract that exists on the network.',
    ],
    [
      'code without a specification',
      () =>
        call(
          {},
          { contract_address: scenario.ledger.contract({}, moduleWithSection('other', Buffer.of(1))) },
        ),
      'operations[0].named_args: the code of the contract has no readable specification; send args.',
    ],
    [
      'another operation',
      () => ({ network: 'standalone', operations: [transfer(1), transfer(1)].flatMap(operationsOf) }),
      'operations[0]: invoke_contract must be the only operation of its transaction.',
    ],
  ])('with %s is refused', async (_name, request, sentence) => {
    const answer = await scenario.post(request())
    expect(outcomeOf(answer)).toBe('400 invalid_request')
    expect(answer.body.error).toContain(sentence)
  })
})

function operationsOf(request: object): readonly unknown[] {
  return (request as { operations: readonly unknown[] }).operations
}

test('a repeated call with named arguments needs no node; a new one is refused', async () => {
  const alone = await startStellarScenario()
  try {
    const headers = { 'Idempotency-Key': crypto.randomUUID() }
    const named_args = { from: MAIN.publicKey(), to: RECEIVER, amount: '7' }
    const operation = {
      type: 'invoke_contract',
      contract_address: alone.ledger.nativeContract,
      function_name: 'transfer',
      named_args,
    }
    const body = { network: 'standalone', operations: [operation] }
    const post = (more = {}) =>
      alone.service.api('POST', '/relayers/main/transactions', { ...body, ...more }, headers)
    const first = await post()
    await alone.ledger.stop()
    const again = await post()
    expect([again.status, again.body.data.id]).toEqual([200, first.body.data.id])
    expect(outcomeOf(await post({ max_fee: 2_000_000 }))).toBe('409 idempotency_key_reused')
    const fresh = await alone.post(body)
    expect(outcomeOf(fresh)).toBe('500 network_unavailable')
  } finally {
    await alone.service.stop()
  }
}, 60_000)
