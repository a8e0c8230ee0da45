import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadContract } from '../../src/contract/document.ts'
import { parseJson } from '../../src/contract/exact-integers.ts'
import { sentence } from '../../src/contract/explain.ts'
import type { OperationId } from '../../src/contract/operations.ts'
import { createValidator } from '../../src/contract/validator.ts'

const contract = await loadContract()
const validator = createValidator(contract)
const ACCOUNT = 'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ'
const CONTRACT_ID = `C${'A'.repeat(55)}`
const ADDRESS = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const U128 =
  'an integer from 0 to 340282366920938463463374607431768211455, as a JSON integer, a decimal string, or 0x and hexadecimal digits'
const INT64 = 'an integer from 0 to 9223372036854775807, as a JSON integer or a decimal string'

function check(body: string, operation: OperationId = 'replaceTransaction') {
  const result = validator.request(operation, {
    path: pathOf(operation),
    querystring: '',
    header: () => undefined,
    body: parseJson(body),
  })
  return result.kind === 'invalid' ? sentence(result.problem) : result.kind
}

/** A value for each path parameter of an operation. */
function pathOf(id: OperationId): Record<string, string> {
  const { parameters = [] } = contract.operations.find((one) => one.id === id) ?? {}
  return Object.fromEntries(parameters.filter((one) => one.in === 'path').map(({ name }) => [name, 'x']))
}

const operation = (text: string) => `{"network":"testnet","operations":[${text}]}`
const payment = (fields: string) => operation(`{"type":"payment","destination":"${ACCOUNT}",${fields}}`)
const invoke = (args: string) =>
  operation(
    `{"type":"invoke_contract","contract_address":"${CONTRACT_ID}","function_name":"f","args":[${args}]}`,
  )
const memo = (text: string) => `{"network":"testnet","memo":${text}}`

const GOOD: Record<string, string[]> = {
  'group A': [
    '{"value":0}',
    '{"value":340282366920938463463374607431768211455}',
    '{"value":"340282366920938463463374607431768211455"}',
    '{"value":"0x0"}',
    '{"value":"0x00ffffffffffffffffffffffffffffFF"}',
    '{"value":"0xffffffffffffffffffffffffffffffff","gas_price":"0x3b9aca00"}',
    `{"value":1e3,"to":"${ADDRESS}","data":"0xAb","gas_limit":null,"speed":"safeLow"}`,
    '{"value":1,"gas_limit":9223372036854775807,"gas_price":0}',
    '{"value":1,"gas_limit":"21000","max_fee_per_gas":"2","max_priority_fee_per_gas":1}',
    '{"value":1,"to":"","data":"0x"}',
    '{"value":1,"to":null,"valid_until":"2030-01-01T00:00:00+01:00"}',
  ],
  'group B': [
    '{"transaction":"AQAAAA=="}',
    '{"transaction":"AQAA","valid_until":null}',
    '{"instructions":[{"program_id":"11111111111111111111111111111111","accounts":[],"data":""}]}',
  ],
  'group C': [
    '{"network":"testnet"}',
    '{"network":"testnet","source_account":null,"operations":null,"transaction_xdr":null,"fee_bump":null,"max_fee":null,"memo":null,"valid_until":null}',
    '{"network":"testnet","transaction_xdr":"AAAA","fee_bump":true,"max_fee":"9223372036854775807"}',
    payment('"asset":{"type":"native"},"amount":"1"'),
    payment(`"asset":{"type":"credit_alphanum4","code":"USD","issuer":"${ACCOUNT}"},"amount":1`),
    payment(
      `"asset":{"type":"credit12","code":"LONGNAME","issuer":"${ACCOUNT}"},"amount":9223372036854775807`,
    ),
    invoke(
      '"void",{"u64":"18446744073709551615"},{"i64":-9223372036854775808},{"i128":{"hi":-1,"lo":0}},{"vec":[{"map":[{"key":{"symbol":"k"},"val":{"vec":[]}}]}]}',
    ),
    operation(`{"type":"create_account","destination":"${ACCOUNT}","starting_balance":10}`),
    operation('{"type":"upload_wasm","wasm":{"hex":"00"}}'),
    operation('{"type":"manage_data","name":"n","value":null}'),
    operation('{"type":"set_options"}'),
    operation(
      `{"type":"create_claimable_balance","asset":{"type":"native"},"amount":1,"claimants":[{"destination":"${ACCOUNT}","predicate":{"not":{"unconditional":true}}}]}`,
    ),
    memo('{"type":"none"}'),
    memo('{"type":"text","value":"hello"}'),
    memo('{"type":"id","value":9223372036854775807}'),
    memo(`{"type":"hash","value":[${Array(32).fill(255).join()}]}`),
    memo(`{"type":"return","value":"${'ab'.repeat(32)}"}`),
  ],
}

const BAD: [body: string, answer: string][] = [
  ['{}', 'body.value: is required.'],
  ['[]', 'body: expected an object.'],
  ['"x"', 'body: expected an object.'],
  ['null', 'body: expected an object.'],
  ['true', 'body: expected an object.'],
  ['9007199254740993', 'body: expected an object.'],
  ['{"value":-1}', `body.value: expected ${U128}.`],
  ['{"value":1.5}', `body.value: expected ${U128}.`],
  ['{"value":"1.5"}', `body.value: expected ${U128}.`],
  ['{"value":"0x"}', `body.value: expected ${U128}.`],
  ['{"value":"0X10"}', `body.value: expected ${U128}.`],
  ['{"value":"0x1g"}', `body.value: expected ${U128}.`],
  ['{"value":"0x000000000000000000000000000000001"}', `body.value: expected ${U128}.`],
  ['{"value":1,"gas_limit":"0x5208"}', `body.gas_limit: expected ${INT64}.`],
  ['{"value":null}', `body.value: expected ${U128}.`],
  ['{"value":true}', `body.value: expected ${U128}.`],
  ['{"value":[1]}', `body.value: expected ${U128}.`],
  ['{"value":340282366920938463463374607431768211456}', `body.value: expected ${U128}.`],
  ['{"value":"340282366920938463463374607431768211456"}', `body.value: expected ${U128}.`],
  ['{"value":1.0000000000000000001}', `body.value: expected ${U128}.`],
  ['{"value":1,"gas_limit":9223372036854775808}', `body.gas_limit: expected ${INT64}.`],
  ['{"value":1,"gas_limit":-1}', `body.gas_limit: expected ${INT64}.`],
  ['{"value":1,"gas_price":-1}', `body.gas_price: expected ${U128}.`],
  ['{"value":1,"speed":"FAST"}', 'body.speed: expected one of fastest, fast, average, safeLow.'],
  ['{"value":1,"to":"0x12"}', 'body.to: expected 0x and 40 hexadecimal digits.'],
  ['{"value":1,"data":"0xabc"}', 'body.data: expected 0x and an even number of hexadecimal digits.'],
  [
    '{"value":1,"valid_until":"tomorrow"}',
    'body.valid_until: expected a date and time that exists, as in RFC 3339, such as 2030-01-01T00:00:00Z.',
  ],
  [
    '{"value":1,"valid_until":"2030-02-30T00:00:00Z"}',
    'body.valid_until: expected a date and time that exists, as in RFC 3339, such as 2030-01-01T00:00:00Z.',
  ],
  [
    '{"value":1,"nonce":1}',
    'body.nonce: there is no such field here; known are to, value, data, call, access_list, authorization_list, gas_limit, gas_price, max_fee_per_gas, max_priority_fee_per_gas, speed, when, valid_from, after, valid_until, lane, reference, description, idempotency_key.',
  ],
  [
    '{"value":1,"transaction":"AAAA"}',
    'body.transaction: there is no such field here; known are to, value, data, call, access_list, authorization_list, gas_limit, gas_price, max_fee_per_gas, max_priority_fee_per_gas, speed, when, valid_from, after, valid_until, lane, reference, description, idempotency_key.',
  ],
  ...[
    ['gasLimit', '"gas_limit"'],
    ['gas', '"gas_limit" or "gas_price"'],
    ['vlaue', '"value"'],
    ['maxFee', '"max_fee_per_gas"'],
  ].map(([field, meant]): [string, string] => [
    `{"value":1,"${field}":1}`,
    `body.${field}: there is no such field here (did you mean ${meant}?); known are to, value, data, call, access_list, authorization_list, gas_limit, gas_price, max_fee_per_gas, max_priority_fee_per_gas, speed, when, valid_from, after, valid_until, lane, reference, description, idempotency_key.`,
  ]),
  ['{"transaction":"AAAAA"}', 'body.transaction: expected a Solana transaction, in base64 with padding.'],
  ['{"transaction":5}', 'body.transaction: expected a Solana transaction, in base64 with padding.'],
  ['{"instructions":[]}', 'body.instructions: expected at least 1 items.'],
  ['{"network":""}', 'body.network: expected at least 1 characters.'],
  ['{"network":"t","max_fee":-1}', `body.max_fee: expected ${INT64}.`],
  ['{"network":"t","fee_bump":"yes"}', 'body.fee_bump: expected true or false or null.'],
  ['{"network":"t","source_account":"G1"}', 'body.source_account: expected a Stellar account, G… or M….'],
  [operation(''), 'body.operations: expected at least 1 items.'],
  [
    operation('{}'),
    'body.operations[0].type: expected one of payment, invoke_contract, create_contract, upload_wasm, create_account, change_trust, path_payment_strict_send, path_payment_strict_receive, manage_data, set_options, account_merge, create_claimable_balance, claim_claimable_balance, bump_sequence.',
  ],
  [payment('"asset":{"type":"native"}'), 'body.operations[0].amount: is required.'],
  [payment('"asset":{"type":"native"},"amount":"-1"'), `body.operations[0].amount: expected ${INT64}.`],
  [
    payment('"asset":{"type":"credit4","code":"ABCDE"},"amount":1'),
    'body.operations[0].asset.issuer: is required.',
  ],
  [
    payment(`"asset":{"type":"credit4","code":"ABCDE","issuer":"${ACCOUNT}"},"amount":1`),
    'body.operations[0].asset.code: expected 1 to 4 letters or digits.',
  ],
  [invoke('{"u32":4294967296}'), 'body.operations[0].args[0].u32: expected an integer from 0 to 4294967295.'],
  [
    invoke('{"vec":[{"u32":-1}]}'),
    'body.operations[0].args[0].vec[0].u32: expected an integer from 0 to 4294967295.',
  ],
  [invoke('{"u32":1,"i32":1}'), 'body.operations[0].args[0]: expected at most 1 field(s).'],
  [
    `{"network":"t","transaction_xdr":"AAAA","operations":[{"type":"set_options"}]}`,
    'body: expected either operations or transaction_xdr, not both.',
  ],
  [memo('{"type":"idea"}'), 'body.memo.type: expected one of none, text, id, hash, return.'],
  [memo('{"type":"none","value":1}'), 'body.memo.value: there is no such field here; known are type.'],
  [memo('{"type":"id","value":-1}'), `body.memo.value: expected ${INT64}.`],
  [memo(`{"type":"text","value":"${'x'.repeat(29)}"}`), 'body.memo.value: expected at most 28 characters.'],
  [memo('{"type":"hash","value":[1]}'), 'body.memo.value: expected at least 32 items.'],
  [
    memo(`{"type":"hash","value":[${Array(32).fill(256).join()}]}`),
    'body.memo.value[0]: expected an integer from 0 to 255.',
  ],
]

describe('transaction requests', () => {
  describe.each(Object.entries(GOOD))('%s', (_group, bodies) => {
    test.each(bodies)('accepts %s', (body) => {
      expect(check(body)).toBe('valid')
      expect(check(body, 'sendTransaction')).toBe('valid')
    })
  })

  test.each(BAD)('refuses %s', (body, answer) => {
    expect(check(body)).toBe(answer)
  })

  test('refuses more data than any node takes', () => {
    const data = (bytes: number) => `{"value":1,"data":"0x${'00'.repeat(bytes)}"}`
    expect(check(data(131_072))).toBe('valid')
    expect(check(data(131_073))).toBe('body.data: expected at most 262146 characters.')
  })

  test('every u128 arrives as itself, as an integer and as a string', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), fc.boolean(), (value, quoted) => {
        const body = parseJson(`{"value":${quoted ? `"${value}"` : value}}`)
        const result = validator.request('sendTransaction', {
          path: { relayer_id: 'r' },
          querystring: '',
          header: () => undefined,
          body,
        })
        expect(result).toMatchObject({ kind: 'valid', input: { body: { value } } })
      }),
    )
  })

  test.each([
    ['an integer', 5],
    ['digits', '5'],
  ])('every integer of an operation arrives as itself, as %s', (_form, five) => {
    const args = [
      { u64: five },
      { i64: five },
      { timepoint: five },
      { duration: five },
      { u128: { hi: five, lo: five } },
      { i256: { hi_hi: five, hi_lo: five, lo_hi: five, lo_lo: five } },
      { vec: [{ map: [{ key: { symbol: 'k' }, val: { i128: { hi: five, lo: five } } }] }] },
    ]
    const asset = { type: 'native' }
    const predicate = { and: [{ before_absolute_time: five }, { not: { before_relative_time: five } }] }
    const operations = [
      { type: 'payment', destination: ACCOUNT, asset, amount: five },
      { type: 'create_account', destination: ACCOUNT, starting_balance: five },
      {
        type: 'create_claimable_balance',
        asset,
        amount: five,
        claimants: [{ destination: ACCOUNT, predicate }],
      },
      { type: 'invoke_contract', contract_address: CONTRACT_ID, function_name: 'f', args },
    ]
    const result = validator.request('sendTransaction', {
      path: { relayer_id: 'r' },
      querystring: '',
      header: () => undefined,
      body: parseJson(JSON.stringify({ network: 'testnet', operations })),
    })
    const exact = JSON.parse(JSON.stringify(operations), (_key, value) => (value === five ? 5n : value))
    expect(result).toMatchObject({ kind: 'valid', input: { body: { operations: exact } } })
  })

  test('no integer outside of int64 passes as gas_limit', () => {
    const outside = fc.oneof(
      fc.bigInt({ min: 2n ** 63n, max: 2n ** 200n }),
      fc.bigInt({ min: -(2n ** 200n), max: -1n }),
    )
    fc.assert(
      fc.property(outside, fc.boolean(), (value, quoted) => {
        expect(check(`{"value":1,"gas_limit":${quoted ? `"${value}"` : value}}`)).toBe(
          `body.gas_limit: expected ${INT64}.`,
        )
      }),
    )
  })
})

test('a list of channels that names a signer twice is told so', () => {
  const relayer = { name: 'Pay', network: 'testnet', network_type: 'stellar', signer_id: 'a' }
  expect(check(JSON.stringify({ ...relayer, channels: ['b', 'b'] }), 'createRelayer')).toBe(
    'body.channels: expected each item once.',
  )
})

describe('queries', () => {
  const query = (querystring: string, id: OperationId = 'listTransactions') => {
    const result = validator.request(id, {
      path: pathOf(id),
      querystring,
      header: () => undefined,
      body: undefined,
    })
    return result.kind === 'invalid'
      ? sentence(result.problem)
      : result.kind === 'valid' && result.input.query
  }

  test.each([
    ['', { page: 1, per_page: 10 }],
    ['page=0&per_page=0', { page: 0, per_page: 0 }],
    ['page=007', { page: 7, per_page: 10 }],
    ['page=99999999999999999999999999&per_page=3', { page: 2147483647, per_page: 3 }],
    ['status=PeNdInG', { page: 1, per_page: 10, status: 'pending' }],
    ['st%61tus=mined', { page: 1, per_page: 10, status: 'mined' }],
  ])('%s is read', (text, values) => {
    expect(query(text)).toEqual(values)
  })

  test.each([
    ['page=-1', 'query.page: expected an integer of at least 0.'],
    ['page=1.5', 'query.page: expected an integer of at least 0.'],
    ['page=', 'query.page: expected an integer of at least 0.'],
    ['per_page=ten', 'query.per_page: expected an integer of at least 0.'],
    ['page=1&page=1', 'query.page: was given more than once.'],
    ['Page=1', 'query.Page: there is no such query parameter here; known are page, per_page, status.'],
    [
      '__proto__=1',
      'query.__proto__: there is no such query parameter here; known are page, per_page, status.',
    ],
    [
      'status=done',
      'query.status: expected one of pending, sent, submitted, mined, confirmed, failed, canceled, expired.',
    ],
  ])('%s is refused', (text, answer) => {
    expect(query(text)).toBe(answer)
  })

  test.each(
    contract.operations.flatMap(({ id, parameters }) => {
      // An object is one of all parameters without a declaration, which may be repeated.
      const declared = parameters.filter((one) => one.in === 'query' && one.schema.type !== 'object')
      return declared.map(({ name }) => {
        const others = declared.filter((one) => one.isRequired && one.name !== name)
        return [id, name, others.map((one) => `&${one.name}=2030-01-01T00:00:00Z`).join('')] as const
      })
    }),
  )('%s: %s is refused when it is given more than once', (id, name, others) => {
    expect(query(`${name}=1&${name}=1&${name}=1${others}`, id)).toBe(
      `query.${name}: was given more than once.`,
    )
  })

  test('a parameter that must be there is missed by its name', () => {
    expect(query('from=2030-01-01T00:00:00Z', 'getSpendingReport')).toBe('query.to: is required.')
  })

  test('an operation without query parameters takes none', () => {
    expect(query('x=1', 'getHealth')).toBe('query.x: this operation takes no query parameters.')
  })
})

describe('the other parts of a request', () => {
  const request = (id: OperationId, input: Partial<Parameters<typeof validator.request>[1]>) => {
    const result = validator.request(id, { path: pathOf(id), querystring: '', body: undefined, ...input })
    return result.kind === 'invalid' ? sentence(result.problem) : result
  }
  const body = { value: 1 }

  test('a body that is missing is refused like one of the wrong type', () => {
    expect(request('sendTransaction', {})).toBe('body: expected an object.')
  })

  test('an operation that takes no body gets none', () => {
    expect(request('getRelayer', { body })).toMatchObject({ kind: 'valid', input: { body: undefined } })
  })

  test('a header arrives by its name in the contract, and an undeclared one does not', () => {
    const headers = new Map([
      ['idempotency-key', 'one'],
      ['x-other', 'two'],
    ])
    expect(request('sendTransaction', { body, header: (name) => headers.get(name) })).toMatchObject({
      kind: 'valid',
      input: { header: { 'Idempotency-Key': 'one' } },
    })
  })

  test('a header is refused by its name in the contract', () => {
    expect(request('sendTransaction', { body, header: () => ' ' })).toBe(
      'header.Idempotency-Key: expected visible ASCII characters.',
    )
  })

  test('a text that cannot be an id names nothing, whatever else is wrong', () => {
    const input = { path: { relayer_id: '.x' }, querystring: 'x=1', body: 1 }
    expect(request('sendTransaction', input)).toEqual({ kind: 'unknown_id', parameter: 'relayer_id' })
  })

  test('a text that the caller chooses is refused, and no unknown id', () => {
    const input = { path: { ...pathOf('getAbi'), address: '0x1' } }
    expect(request('getAbi', input)).toBe('path.address: expected 0x and 40 hexadecimal digits.')
  })

  test('an integer of a path is exact', () => {
    const path = { relayer_id: 'r', nonce: '9223372036854775807' }
    expect(request('getTransactionByNonce', { path })).toMatchObject({
      kind: 'valid',
      input: { path: { relayer_id: 'r', nonce: 9223372036854775807n } },
    })
    expect(request('getTransactionByNonce', { path: { ...path, nonce: '-1' } })).toMatch(/^path\.nonce: /)
  })
})

test('a wait for a low fee is refused on networks without a base fee, in words that name what to use instead', () => {
  const when = '"when":{"fee_at_most":"1"}'
  const solana =
    'body.when: expected it to be absent, because blocks of Solana have no base fee; use the policy max_allowed_fee_lamports and valid_until instead.'
  const bodies: readonly [body: string, answer: string][] = [
    [`{"value":1,${when}}`, 'valid'],
    [
      `{"network":"testnet","transaction_xdr":"AAAA",${when}}`,
      'body.when: expected it to be absent, because the base fee of Stellar does not change; use max_fee and valid_until instead.',
    ],
    [`{"transaction":"AQAAAA==",${when}}`, solana],
    [
      `{"instructions":[{"program_id":"11111111111111111111111111111111","accounts":[],"data":""}],${when}}`,
      solana,
    ],
  ]
  expect(bodies.map(([body]) => check(body, 'sendTransaction'))).toEqual(bodies.map(([, answer]) => answer))
})
