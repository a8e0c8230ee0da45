import { describe, expect, test } from 'vitest'
import { currencyOf } from '../../console/src/format/amounts.ts'
import { actionOf, toCsv } from '../../console/src/pages/audit/audit-words.ts'
import { filledForm, replaceFormOf, requestOf } from '../../console/src/pages/transaction/replacement.ts'
import { FieldError, type Fields, isAbout } from '../../console/src/parts/fields.ts'
import { rulesOf } from '../../console/src/rules/rules.ts'

/** The fields of a form that somebody has filled. */
function fieldsOf(values: Readonly<Record<string, string>>): Fields {
  const text = (path: string) => values[path]?.trim() || undefined
  return {
    values,
    set: () => undefined,
    text,
    list: (path) => text(path)?.split(/[\s,]+/),
  }
}

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
    expect(() => requestOf(fieldsOf({ json: '[]' }), written)).toThrow('no JSON object')
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

  test('says nothing where nobody has written anything', () => {
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
