import { describe, expect, test } from 'vitest'
import { checkRequest } from '../../../src/chains/stellar/check/request.ts'
import type { StellarRequest } from '../../../src/chains/stellar/content.ts'
import type { StellarOperation } from '../../../src/chains/stellar/model/operation.ts'
import { accountWith, NETWORK, OTHER, paymentOf, requestOf, SELF } from './build.ts'

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

const check = (change: Partial<StellarRequest>) => checkRequest(requestOf(change), accountWith(), NETWORK)

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
    'operations[0].asset.issuer: an account without a number is expected',
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
    'operations[0].destination: an account without a number is expected',
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
    'operations[0].clear_flags: a flag cannot be set and cleared at once.',
  ],
  [
    { type: 'set_options', signer: { key: SELF, weight: 1 } },
    "operations[0].signer.key: the account's own key is weighed by master_weight.",
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
    'operations[0].source.address: an account without a number is expected',
  ],
]

describe('operations that no ledger takes', () => {
  test.each(OPERATIONS)('%#: operation %s', (operation, detail) => {
    const refusal = check({ operations: [operation] })
    expect(refusal?.code).toBe('invalid_request')
    expect(refusal?.detail.startsWith(detail), refusal?.detail).toBe(true)
  })
})
