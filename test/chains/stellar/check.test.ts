import { xdr } from '@stellar/stellar-sdk'
import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import { checkRequest } from '../../../src/chains/stellar/check/request.ts'
import type { StellarRequest } from '../../../src/chains/stellar/content.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { baseReserveIn } from '../../../src/chains/stellar/read/accounts.ts'
import { startFaultyNode } from '../../support/faulty-node.ts'
import {
  accountWith,
  addressOf,
  known,
  NETWORK,
  OTHER,
  paymentOf,
  requestOf,
  SELF,
  signingContextAt,
} from './build.ts'
import { type Stage, setStage, XLM } from './stage.ts'

const TYPO = `${OTHER.slice(0, -1)}${OTHER.endsWith('A') ? 'B' : 'A'}`
const CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'
const MUXED = 'MA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUAAAAAAAAAAAACJUQ'
const USD = { type: 'credit4', code: 'USD', issuer: OTHER } as const
const CALL: StellarOperation = {
  type: 'invoke_contract',
  contract_address: CONTRACT,
  function_name: 'f',
  args: [],
}
const pay = paymentOf(1n)

const check = (change: Partial<StellarRequest>) => checkRequest(requestOf(change), accountWith(), NETWORK)

test('a request may name the network of its relayer in every usual way, and no other network', () => {
  const testnet = { name: 'mine', passphrase: 'Test SDF Network ; September 2015' }
  const problemOf = (network: string) =>
    checkRequest(requestOf({ network, operations: [pay] }), accountWith(), testnet)
  const spellings = ['mine', 'stellar:mine', 'testnet', 'stellar:testnet', testnet.passphrase]
  expect(spellings.map(problemOf)).toEqual(spellings.map(() => undefined))
  const live = { name: 'live', passphrase: 'Public Global Stellar Network ; September 2015' }
  for (const network of ['pubnet', 'public', 'mainnet', 'stellar:pubnet'])
    expect(checkRequest(requestOf({ network, operations: [pay] }), accountWith(), live)).toBeUndefined()
  for (const network of ['stellar:pubnet', 'public', live.passphrase, 'futurenet', 'eip155:1'])
    expect(problemOf(network)).toMatchObject({ code: 'invalid_request' })
})

const FRAMES: readonly (readonly [Partial<StellarRequest>, string])[] = [
  [{ network: 'pubnet', operations: [pay] }, 'network: local is expected, the network of the relayer.'],
  [{}, 'operations, transaction_xdr: one of the two is expected.'],
  [
    { operations: [pay], transactionXdr: 'AAAA' },
    'operations, transaction_xdr: exactly one of the two is expected, not both.',
  ],
  [{ operations: [] }, 'operations: 1 to 100 operations are expected, 0 were given.'],
  [
    { operations: Array.from({ length: 101 }, () => pay) },
    'operations: 1 to 100 operations are expected, 101 were given.',
  ],
  [{ operations: [pay], feeBump: true }, 'fee_bump: expected only with a signed transaction_xdr'],
  [{ operations: [pay], maxFee: 0n }, 'max_fee: at least 1 stroop is expected.'],
  [
    { operations: [pay], sourceAccount: OTHER },
    `source_account: the relayer's own account ${SELF} is expected`,
  ],
  [
    { operations: [pay], sourceAccount: TYPO },
    'source_account: the address of a Stellar account is expected; its checksum is wrong.',
  ],
  [
    { operations: [pay], memo: { type: 'text', value: 'ü'.repeat(15) } },
    'memo.value: at most 28 bytes of UTF-8 are expected, 30 were given.',
  ],
  [
    { operations: [pay], memo: { type: 'id', value: 2n ** 64n } },
    'memo.value: a number from 0 to 18446744073709551615 is expected.',
  ],
  [{ operations: [pay], memo: { type: 'hash', value: [1, 2] } }, 'memo.value: 32 bytes are expected'],
  [
    { operations: [pay, CALL] },
    'operations[1]: invoke_contract must be the only operation of its transaction.',
  ],
  [
    { operations: [CALL], memo: { type: 'text', value: 'x' } },
    'memo: none is expected with invoke_contract.',
  ],
  [{ transactionXdr: 'AAAA' }, 'transaction_xdr: a TransactionEnvelope is expected, XDR in base64.'],
]

describe('the check of a request before a node is asked', () => {
  test.each(FRAMES)('refuses case %#: %s', (change, detail) => {
    const refusal = check(change)
    expect(refusal?.code).toBe('invalid_request')
    expect(refusal?.detail.startsWith(detail), refusal?.detail).toBe(true)
  })

  test('names the place of the operation', () => {
    expect(check({ operations: [pay, pay, paymentOf(-1n)] })?.detail).toMatch(/^operations\[2\]\.amount: /)
  })

  test('refuses an operation that needs signatures of others', () => {
    const refusal = check({
      operations: [{ ...CALL, auth: { type: 'addresses', signers: [OTHER] } } as StellarOperation],
    })
    expect(refusal?.code).toBe('not_supported')
    expect(refusal?.detail).toMatch(/^operations\[0\]\.auth\.type: /)
  })

  test('refuses a max_fee above the policy of the relayer', () => {
    const request = requestOf({ operations: [pay], maxFee: 501n })
    expect(checkRequest(request, accountWith({ maxFee: 500n }), NETWORK)?.code).toBe('fee_above_cap')
    expect(checkRequest({ ...request, maxFee: 500n }, accountWith({ maxFee: 500n }), NETWORK)).toBeUndefined()
  })

  test('refuses a max_fee above the default if the relayer has no policy', () => {
    const checkFee = (maxFee: bigint, policies = {}) =>
      checkRequest(requestOf({ operations: [pay], maxFee }), accountWith(policies), NETWORK)
    expect(checkFee(1_000_000n)).toBeUndefined()
    expect(checkFee(1_000_001n)).toEqual({
      code: 'fee_above_cap',
      detail: "max_fee: 1000001 is above the relayer's max_fee of 1000000 stroops.",
    })
    expect(checkFee(5_000_000n, { maxFee: 5_000_000n })).toBeUndefined()
  })
})

describe('what passes', () => {
  const PASSING: readonly Partial<StellarRequest>[] = [
    { operations: [pay] },
    { operations: Array.from({ length: 100 }, () => pay), memo: { type: 'hash', value: 'ab'.repeat(32) } },
    { operations: [pay], memo: { type: 'return', value: Array.from({ length: 32 }, () => 255) } },
    { operations: [pay], memo: { type: 'text', value: 'ü'.repeat(14) }, sourceAccount: SELF },
    { operations: [CALL], memo: { type: 'none' } },
    {
      operations: [
        { type: 'payment', destination: MUXED, asset: { ...USD, type: 'credit_alphanum4' }, amount: 1n },
      ],
    },
    { operations: [{ type: 'bump_sequence', bump_to: 0n }] },
    {
      operations: [
        { type: 'set_options', signer: { key: addressOf('third'), weight: 255 }, home_domain: 'example.com' },
      ],
    },
  ]

  test.each(PASSING)('request %# is valid', (change) => {
    expect(check(change)).toBeUndefined()
  })
})

const OPERATIONS: readonly (readonly [StellarOperation, string])[] = [
  [paymentOf(0n), 'operations[0].amount: an amount from 1 to 9223372036854775807 is expected.'],
  [
    paymentOf(1n, TYPO),
    'operations[0].destination: the address of a Stellar account is expected; its checksum is wrong.',
  ],
  [
    {
      ...USD,
      type: 'payment',
      destination: OTHER,
      amount: 1n,
      asset: { ...USD, code: 'US-D' },
    } as StellarOperation,
    'operations[0].asset.code: 1 to 4 letters or digits are expected.',
  ],
  [
    { type: 'payment', destination: OTHER, amount: 1n, asset: { ...USD, type: 'credit12' } },
    'operations[0].asset.code: 5 to 12 letters or digits are expected.',
  ],
  [
    { type: 'payment', destination: OTHER, amount: 1n, asset: { ...USD, issuer: MUXED } },
    'operations[0].asset.issuer: an account without a muxed id is expected',
  ],
  [
    { type: 'create_account', destination: SELF, starting_balance: 1n },
    "operations[0].destination: an account other than the relayer's own is expected.",
  ],
  [
    { type: 'create_account', destination: OTHER, starting_balance: 0n },
    'operations[0].starting_balance: an amount from 1',
  ],
  [
    { type: 'create_account', destination: MUXED, starting_balance: 1n },
    'operations[0].destination: an account without a muxed id is expected',
  ],
  [
    { type: 'change_trust', asset: { type: 'native' } },
    'operations[0].asset: an asset with an issuer is expected',
  ],
  [
    { type: 'change_trust', asset: { ...USD, issuer: SELF } },
    'operations[0].asset.issuer: an account needs no trust line to itself.',
  ],
  [
    {
      type: 'path_payment_strict_send',
      destination: OTHER,
      send_asset: USD,
      dest_asset: USD,
      send_amount: 1n,
      dest_min: 0n,
    },
    'operations[0].dest_min: an amount from 1',
  ],
  [
    {
      type: 'path_payment_strict_receive',
      destination: OTHER,
      send_asset: USD,
      dest_asset: USD,
      send_max: 1n,
      dest_amount: 1n,
      path: [USD, { ...USD, issuer: TYPO }],
    },
    'operations[0].path[1].issuer: ',
  ],
  [
    { type: 'manage_data', name: 'ä', value: null },
    'operations[0].name: ASCII without control characters is expected.',
  ],
  [
    { type: 'manage_data', name: 'a', value: Buffer.alloc(65).toString('base64') },
    'operations[0].value: at most 64 bytes are expected, 65 were given.',
  ],
  [
    { type: 'set_options', set_flags: 3, clear_flags: 2 },
    'operations[0].clear_flags: a flag cannot be both set and cleared.',
  ],
  [
    { type: 'set_options', signer: { key: SELF, weight: 1 } },
    "operations[0].signer.key: the weight of the account's own key is master_weight.",
  ],
  [
    { type: 'set_options', signer: { key: TYPO, weight: 1 } },
    "operations[0].signer.key: a signer's key is expected",
  ],
  [
    { type: 'account_merge', destination: SELF },
    "operations[0].destination: an account other than the relayer's own is expected.",
  ],
  [
    {
      type: 'create_claimable_balance',
      asset: USD,
      amount: 1n,
      claimants: [{ destination: OTHER }, { destination: OTHER }],
    },
    'operations[0].claimants[1].destination: each claimant is expected once.',
  ],
  [
    {
      type: 'create_claimable_balance',
      asset: USD,
      amount: 1n,
      claimants: [
        { destination: OTHER, predicate: { not: { not: { not: { not: { unconditional: true } } } } } },
      ],
    },
    'operations[0].claimants[0].predicate.not.not.not.not: predicates may be nested 4 deep.',
  ],
  [
    { type: 'claim_claimable_balance', balance_id: `00000001${'0'.repeat(64)}` },
    'operations[0].balance_id: 8 zeros and 64 hexadecimal digits are expected.',
  ],
  [{ type: 'bump_sequence', bump_to: -1n }, 'operations[0].bump_to: a number from 0'],
  [
    { type: 'bump_sequence', bump_to: 2n ** 63n - 1n },
    'operations[0].bump_to: at most 9223372032559808511 is expected',
  ],
  [
    { ...CALL, contract_address: `${CONTRACT.slice(0, -1)}B` } as StellarOperation,
    'operations[0].contract_address: the address of a smart contract is expected',
  ],
  [
    { ...CALL, args: [{ vec: [{ u64: -1n }] }] } as StellarOperation,
    'operations[0].args[0].vec[0].u64: an integer from 0',
  ],
  [
    { type: 'upload_wasm', wasm: { hex: '0061736e' } },
    'operations[0].wasm: a WebAssembly module is expected',
  ],
  [
    {
      type: 'upload_wasm',
      wasm: {
        base64: Buffer.concat([Buffer.from('0061736d', 'hex'), Buffer.alloc(131_072)]).toString('base64'),
      },
    },
    'operations[0].wasm: at most 131072 bytes are expected, 131076 were given.',
  ],
  [
    { ...CALL, auth: { type: 'xdr', entries: ['AAAA'] } } as StellarOperation,
    'operations[0].auth.entries[0]: a SorobanAuthorizationEntry is expected',
  ],
  [
    { type: 'create_contract', source: { from: 'address', address: MUXED }, wasm_hash: '0'.repeat(64) },
    'operations[0].source.address: an account without a muxed id is expected',
  ],
]

describe('operations that no ledger takes', () => {
  test.each(OPERATIONS)('%#: operation %s', (operation, detail) => {
    const refusal = check({ operations: [operation] })
    expect(refusal?.code).toBe('invalid_request')
    expect(refusal?.detail.startsWith(detail), refusal?.detail).toBe(true)
  })
})

describe('the base reserve', () => {
  let stage: Stage | undefined

  afterEach(() => stage?.ledger.stop())

  const HIGH = 10n * XLM

  describe('the base reserve', () => {
    test.each([25, 30])('is that of the ledger, with protocol %i', async (protocolVersion) => {
      stage = await setStage({ protocolVersion, baseReserve: HIGH })
      expect(await stage.chain.balance(SELF)).toEqual({ kind: 'ok', value: 80n * XLM })
      expect(known(await stage.chain.funding.read(addressOf('nobody')))).toEqual({
        spendable: 0n,
        missingReserve: 20n * XLM,
        exists: false,
      })
      const request = await stage.chain.channels.open([addressOf('channel')], accountWith())
      expect(request.operations).toMatchObject([{ type: 'create_account', starting_balance: 20n * XLM }])
      const signed = await stage.chain.sign(
        await stage.prepare(request),
        signingContextAt(await stage.nonce()),
      )
      await stage.chain.broadcast([signed.raw])
      stage.ledger.close()
      expect(stage.ledger.account(addressOf('channel'))?.balance).toBe(20n * XLM)
    })

    test('is read from getLedgers where a server tells no header of its newest ledger', async () => {
      stage = await setStage({ baseReserve: HIGH })
      const old = await startFaultyNode(stage.ledger.url)
      onTestFinished(old.stop)
      old.habits = {
        lie: ({ method }, reply) => {
          if (method !== 'getLatestLedger') return reply
          const { headerXdr: _, ...result } = reply.result as Record<string, unknown>
          return { ...reply, result }
        },
      }
      expect(await stage.chainAt(old.url).balance(SELF)).toEqual({ kind: 'ok', value: 80n * XLM })
      expect(old.calls.get('getLedgers')).toBe(1)
    })

    test('is the usual one while no endpoint tells it, so that a balance is known all the same', async () => {
      stage = await setStage({ baseReserve: HIGH })
      const silent = await startFaultyNode(stage.ledger.url)
      onTestFinished(silent.stop)
      silent.habits = {
        refuse: ({ method }) =>
          method === 'getLatestLedger' ? { code: -32601, message: 'method not found' } : undefined,
      }
      expect(await stage.chainAt(silent.url).balance(SELF)).toEqual({ kind: 'ok', value: 99n * XLM })
    })

    test('is asked for once, anyone who reads', async () => {
      stage = await setStage({ baseReserve: HIGH })
      const counting = await startFaultyNode(stage.ledger.url)
      onTestFinished(counting.stop)
      const chain = stage.chainAt(counting.url)
      for (let reads = 0; reads < 5; reads += 1) await chain.balance(SELF)
      expect(counting.calls.get('getLatestLedger')).toBe(1)
    })
  })

  describe('a ledger header', () => {
    test.each([
      ['without an extension', xdr.LedgerHeaderExt.v0()],
      [
        'with flags',
        xdr.LedgerHeaderExt.v1(
          new xdr.LedgerHeaderExtensionV1({ flags: 1, ext: xdr.LedgerHeaderExtensionV1Ext.v0() }),
        ),
      ],
    ])('%s is read from its end', async (_, ext) => {
      stage = await setStage({ baseReserve: HIGH })
      const { header, sequence } = stage.ledger.ledgers.at(-1) ?? { sequence: 0 }
      if (header === undefined) throw new Error('no ledger')
      const bytes = Buffer.from(new xdr.LedgerHeader({ ...header, ext }).toXdr())
      expect(baseReserveIn(bytes, BigInt(sequence))).toBe(HIGH)
      expect(
        baseReserveIn(Buffer.concat([Buffer.alloc(32, 7), bytes, Buffer.alloc(4)]), BigInt(sequence)),
      ).toBe(HIGH)
    })

    test('of another ledger, or of a form that is not known, is not read', async () => {
      stage = await setStage({ baseReserve: HIGH })
      const { header, sequence = 0 } = stage.ledger.ledgers.at(-1) ?? {}
      const bytes = Buffer.from(header?.toXdr() ?? '')
      expect(baseReserveIn(bytes, BigInt(sequence + 1))).toBeUndefined()
      expect(baseReserveIn(Buffer.concat([bytes, Buffer.alloc(6)]), BigInt(sequence))).toBeUndefined()
      expect(baseReserveIn(Buffer.alloc(0), 1n)).toBeUndefined()
    })
  })
})
