import { describe, expect, test } from 'vitest'
import { currencyOf } from '../../console/src/format/amounts.ts'
import { actionOf, toCsv } from '../../console/src/pages/audit/audit-words.ts'
import {
  accountsOf,
  channelsOf,
  endpointsOf,
  filledAccounts,
  filledPolicies,
  policiesOf,
} from '../../console/src/pages/relayer/relayer-form.ts'
import { filledForm, replaceFormOf, requestOf } from '../../console/src/pages/transaction/replacement.ts'
import { changesBetween, FieldError, isAbout, readFields } from '../../console/src/parts/fields.ts'
import { filledRules, rulesOf } from '../../console/src/rules/rules.ts'

const fieldsOf = readFields

const ETH = currencyOf('evm', 'ETH')
const COMMON = { id: 't', relayer_id: 'main', status: 'pending', created_at: '2026-11-20T10:00:00Z' } as const
const TO = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

describe('the form of a replacement', () => {
  const evm = {
    ...COMMON,
    network_type: 'evm',
    from: TO,
    to: TO,
    value: '250000000000000001',
    attempts: [],
  } as const

  test('is filled with the present content, and gives it back exactly', () => {
    const written = { transaction: evm, form: replaceFormOf(evm), currency: ETH, network: 'anvil' }
    const filled = filledForm(evm, ETH)
    expect(filled.value).toBe('0.250000000000000001')
    expect(requestOf(fieldsOf(filled), written)).toEqual({
      to: TO,
      value: '250000000000000001',
      speed: 'fast',
    })
    const own = { ...filled, speed: 'own', max_fee_per_gas: '2.5', max_priority_fee_per_gas: '1' }
    expect(requestOf(fieldsOf(own), written)).toMatchObject({
      max_fee_per_gas: '2500000000',
      max_priority_fee_per_gas: '1000000000',
    })
    expect(() => requestOf(fieldsOf({ ...filled, value: '1,5' }), written)).toThrow(FieldError)
  })

  test('has fields for a payment on Stellar, and JSON with every digit for the rest', () => {
    const stellar = {
      ...COMMON,
      network_type: 'stellar',
      from: 'G',
      source_account: 'G',
      attempts: [],
    } as const
    const payment = { type: 'payment', destination: 'GB', asset: { type: 'native' }, amount: 15n } as const
    const currency = currencyOf('stellar')
    const one = { ...stellar, operations: [payment] }
    const filled = { ...filledForm(one, currency), 'operations[0].amount': '2', max_fee: '0.01' }
    expect(replaceFormOf(one)).toBe('stellar-payment')
    expect(
      requestOf(fieldsOf(filled), {
        transaction: one,
        form: 'stellar-payment',
        currency,
        network: 'testnet',
      }),
    ).toEqual({
      network: 'testnet',
      operations: [{ ...payment, amount: '20000000' }],
      max_fee: '100000',
    })
    const bump = {
      ...stellar,
      operations: [{ type: 'bump_sequence', bump_to: 9_007_199_254_740_993n }],
    } as const
    const written = { transaction: bump, form: replaceFormOf(bump), currency, network: 'testnet' }
    expect(written.form).toBe('json')
    expect(requestOf(fieldsOf(filledForm(bump, currency)), written)).toEqual({ operations: bump.operations })
    expect(() => requestOf(fieldsOf({ json: '[]' }), written)).toThrow('Not a JSON object')
  })
})

describe('the form of a replacement on Solana', () => {
  const currency = currencyOf('solana')
  const account = (pubkey: string, is_signer = false) => ({ pubkey, is_signer, is_writable: true })
  const bytes = (length: number, fill: (view: DataView) => void) => {
    const view = new DataView(new ArrayBuffer(length))
    fill(view)
    return Buffer.from(view.buffer).toString('base64')
  }
  const payment = (units: bigint, to: string) => ({
    program_id: '11111111111111111111111111111111',
    accounts: [account('From', true), account(to)],
    data: bytes(12, (view) => {
      view.setUint32(0, 2, true)
      view.setBigUint64(4, units, true)
    }),
  })
  const tokens = (units: bigint, to: string) => ({
    program_id: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
    accounts: [account('Source'), account('Mint'), account(to), account('From', true)],
    data: bytes(10, (view) => {
      view.setUint8(0, 12)
      view.setBigUint64(1, units, true)
      view.setUint8(9, 6)
    }),
  })
  const other = { program_id: 'Memo', accounts: [account('From', true)], data: 'aGk=' }
  const solana = { ...COMMON, network_type: 'solana', from: 'From', attempts: [] } as const
  const built = {
    ...solana,
    instructions: [payment(1_500_000_000n, 'To'), tokens(2_500_000n, 'Token'), other],
  }
  const written = { form: 'solana', currency, network: 'devnet' } as const

  test('is filled with the present content, and gives it back exactly', () => {
    const filled = filledForm(built, currency)
    expect(replaceFormOf(built)).toBe('solana')
    expect(filled).toMatchObject({
      'instructions[0].accounts[1].pubkey': 'To',
      'instructions[0].data': '1.5',
      'instructions[1].data': '2.5',
      'instructions[2].accounts': 'From signer writable',
    })
    expect(requestOf(fieldsOf(filled), { ...written, transaction: built })).toEqual({
      instructions: built.instructions,
      speed: 'fast',
    })
  })

  test('changes receivers and amounts, to the last unit', () => {
    const filled = {
      ...filledForm(built, currency),
      'instructions[0].accounts[1].pubkey': 'Else',
      'instructions[0].data': '0.000000001',
      'instructions[1].data': '18446744073709.551615',
      'instructions[2].data': 'aG8=',
      speed: 'fastest',
    }
    expect(requestOf(fieldsOf(filled), { ...written, transaction: built })).toEqual({
      instructions: [payment(1n, 'Else'), tokens(2n ** 64n - 1n, 'Token'), { ...other, data: 'aG8=' }],
      speed: 'fastest',
    })
    for (const amount of ['1,5', '18446744073.709551616'])
      expect(() =>
        requestOf(fieldsOf({ ...filled, 'instructions[0].data': amount }), {
          ...written,
          transaction: built,
        }),
      ).toThrow(FieldError)
  })

  test('has one field for a transaction in wire format', () => {
    const wire = { ...solana, transaction: 'AQAB' }
    expect(requestOf(fieldsOf(filledForm(wire, currency)), { ...written, transaction: wire })).toEqual({
      transaction: 'AQAB',
      speed: 'fast',
    })
  })
})

describe('the form of a relayer', () => {
  const policies = {
    min_balance: 250_000_000_000_000_000n,
    gas_price_cap: 80_000_000_001n,
    wallet_rpc: true,
    eip1559_pricing: false,
    top_up: { from: 'bank', below: 1n, to: 10n ** 18n, max_per_day: 5n * 10n ** 18n },
    rules: { receivers: [TO] },
  } as never
  const parts = { type: 'evm', currency: ETH, present: policies } as const

  test('is filled with the policies, and sends only what was changed', () => {
    const filled = filledPolicies(policies, parts)
    const before = policiesOf(fieldsOf(filled), parts)
    expect(before).toEqual({
      min_balance: '250000000000000000',
      gas_price_cap: '80000000001',
      wallet_rpc: true,
      top_up: { from: 'bank', below: '1', to: '1000000000000000000', max_per_day: '5000000000000000000' },
      rules: { receivers: [TO] },
    })
    expect(changesBetween(before, policiesOf(fieldsOf(filled), parts))).toEqual({})
    const changed = {
      ...filled,
      'policies.gas_price_cap': '',
      'policies.warn_balance': '1',
      'policies.top_up.from': '',
    }
    expect(changesBetween(before, policiesOf(fieldsOf(changed), parts))).toEqual({
      gas_price_cap: null,
      warn_balance: '1000000000000000000',
      top_up: null,
    })
  })

  test('takes signers with their numbers of accounts, and writes the accounts of a relayer so', () => {
    const accounts = (text: string) => accountsOf(fieldsOf({ accounts: text }))
    const sources = [
      { signer_id: 'seed', count: 3 },
      { signer_id: 'hot', count: 1 },
    ]
    expect(accounts('seed 3\n\n hot\n')).toEqual(sources)
    expect(accounts(' \n')).toBeUndefined()
    for (const text of ['seed many', 'seed 0', 'seed 1 2']) expect(() => accounts(text)).toThrow(FieldError)
    const account = (signer_id: string, state: 'active' | 'draining' = 'active') => ({
      address: '0x0',
      signer_id,
      index: 0,
      state,
    })
    const written = filledAccounts([
      ...['seed', 'seed', 'seed', 'hot'].map((signer) => account(signer)),
      account('gone', 'draining'),
    ])
    expect(written).toBe('seed 3\nhot')
    expect(accounts(written)).toEqual(sources)
  })

  test('takes endpoints with weights, and channels as a number or as signers', () => {
    const endpoints = (text: string) => endpointsOf(fieldsOf({ custom_rpc_urls: text }))
    expect(endpoints('https://a.example/key 90\n\n  https://b.example\n')).toEqual([
      { url: 'https://a.example/key', weight: 90 },
      { url: 'https://b.example' },
    ])
    expect(endpoints(' \n')).toBeUndefined()
    expect(() => endpoints('https://a.example heavy')).toThrow(FieldError)
    expect(channelsOf(fieldsOf({ channels: '8' }))).toBe(8)
    expect(channelsOf(fieldsOf({ channels: 'one, two' }))).toEqual(['one', 'two'])
    expect(channelsOf(fieldsOf({}))).toBeUndefined()
  })
})

describe('the form of rules', () => {
  const networks = {
    kind: 'any',
    ids: ['evm:anvil'],
    currencyOf: (id: string) => (id === 'evm:anvil' ? ETH : undefined),
  } as const
  const rules = (values: Readonly<Record<string, string>>) =>
    rulesOf(
      fieldsOf(Object.fromEntries(Object.entries(values).map(([name, value]) => [`rules.${name}`, value]))),
      { path: 'rules', networks },
    )

  test('says nothing about fields that are empty', () => {
    expect(rules({})).toBeUndefined()
  })

  test('takes amounts in the unit of a chosen network, and in the smallest unit otherwise', () => {
    expect(
      rules({
        receivers: `${TO}\n${TO}`,
        limits: '2',
        'limits[0].network': 'evm:anvil',
        'limits[0].value': '1.5',
        'limits[0].fees': '0.1',
        'limits[1].per': 'day',
        'limits[1].asset': TO,
        'limits[1].value': '5000000',
        'limits[1].count': '10',
        require_approval: 'above',
        'require_approval.above[0].value': '250',
      }),
    ).toEqual({
      receivers: [TO, TO],
      limits: [
        {
          per: 'transaction',
          network: 'evm:anvil',
          value: '1500000000000000000',
          fees: '100000000000000000',
        },
        { per: 'day', asset: TO, value: '5000000', count: 10 },
      ],
      require_approval: { above: [{ value: '250' }] },
    })
    expect(() => rules({ limits: '1', 'limits[0].value': '1.5' })).toThrow(FieldError)
  })

  test('takes hours, with days where some are chosen', () => {
    const hours = { hours: 'some', 'hours.from': '08:00', 'hours.to': '18:30' }
    expect(rules(hours)).toEqual({ hours: { from: '08:00', to: '18:30' } })
    expect(rules({ ...hours, 'hours.days monday': 'true', 'hours.days sunday': 'true' })).toEqual({
      hours: { from: '08:00', to: '18:30', days: ['monday', 'sunday'] },
    })
  })

  test('gives rules back as they are, with the parts that it has no fields for', () => {
    const present = {
      receivers: [],
      contracts: [TO],
      selectors: ['0xa9059cbb'],
      limits: [
        { per: 'day', network: 'evm:anvil', value: '1500000000000000000', fees: '1', count: 3 },
        { per: 'hour', asset: TO, value: '7' },
      ],
      require_approval: { above: [{ value: '1' }, { asset: TO, value: '2' }], expires_after_seconds: 60 },
      hours: { from: '22:00', to: '06:00', days: ['friday'] },
      idempotency: 'required',
      signatures: 'any',
    } as const
    const filled = filledRules(present as never, { path: 'rules', networks })
    const again = (change = {}) =>
      rulesOf(fieldsOf({ ...filled, ...change }), { path: 'rules', networks, present: present as never })
    expect(again()).toEqual(present)
    expect(again({ 'rules.require_approval': 'new' })).toEqual({
      ...present,
      require_approval: { new_receivers: true },
    })
    const { hours: _, ...others } = present
    expect(again({ 'rules.hours': '' })).toEqual(others)
  })
})

test('a fault is shown at the field that it names, or at the list of its entry', () => {
  const fault = (path: string) => ({ path, message: '' })
  expect(isAbout(fault('relayers[0]'), 'relayers')).toBe(true)
  expect(isAbout(fault('config.key'), 'config.key')).toBe(true)
  expect(isAbout(fault('relayers'), 'relay')).toBe(false)
})

test('the audit log says in words what was done, and is a table of texts', () => {
  expect(actionOf({ action: 'cancelTransaction' })).toBe('Canceled')
  expect(actionOf({ action: 'updateRelayer', after: { paused: true } })).toBe('Paused')
  expect(actionOf({ action: 'updateApiKey', after: { disabled: false } })).toBe('Enabled')
  expect(actionOf({ action: 'ofANewerService' })).toBe('ofANewerService')
  const entry = {
    id: 'management/1',
    chain: 'management',
    number: '1',
    at: '2026-11-20T10:00:00.000Z',
    actor: '=1+1',
    action: 'updateNetwork',
    target_type: 'network',
    target_id: 'evm:"a",b',
    hash: '0'.repeat(64),
  } as const
  expect(toCsv([entry])).toBe(
    'at,actor,address,action,target_type,target_id,request_id,id\r\n' +
      `2026-11-20T10:00:00.000Z,'=1+1,,updateNetwork,network,"evm:""a"",b",,management/1\r\n`,
  )
})
