import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import {
  addEncoderSizePrefix,
  getArrayEncoder,
  getI128Encoder,
  getNullableEncoder,
  getStructEncoder,
  getU8Encoder,
  getU32Encoder,
  getU64Encoder,
  getUtf8Encoder,
} from '@solana/kit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { encodeInstruction } from '../../../src/chains/solana/call/encode-instruction.ts'
import { checkRequest } from '../../../src/chains/solana/check.ts'
import type { IdlCall } from '../../../src/chains/solana/content.ts'
import { loadContract } from '../../../src/contract/document.ts'
import { createValidator } from '../../../src/contract/validator.ts'
import { isSolanaRequest, readSolanaRequest } from '../../../src/handlers/codecs/solana.ts'
import { addressOf } from '../../support/solana-scenario.ts'
import { ANCHOR_VECTORS, TYPES } from './anchor-vectors.ts'
import { accountWith } from './build.ts'

const PROGRAM = addressOf('program')
const [MAIN, VAULT, MINT] = [addressOf('main'), addressOf('vault'), addressOf('mint')]
const DISCRIMINATOR = [1, 2, 3, 4, 5, 6, 7, 8]

/** An IDL since Anchor 0.30 with the instruction `go`. */
function idlWith(instruction: object, more: object = {}): IdlCall['idl'] {
  return {
    address: PROGRAM,
    metadata: { name: 'test', version: '0.1.0', spec: '0.1.0' },
    instructions: [{ name: 'go', discriminator: DISCRIMINATOR, accounts: [], args: [], ...instruction }],
    types: TYPES,
    ...more,
  }
}

/** A call of `go` with one argument `x`. */
function callWith(type: unknown, x: unknown, more: object = {}): IdlCall {
  return { idl: idlWith({ args: [{ name: 'x', type }] }, more), instruction: 'go', args: { x } }
}

/** The data in hex, or the sentence of the refusal. */
function dataOf(call: IdlCall): string {
  const encoded = encodeInstruction(call, PROGRAM)
  if (encoded.kind === 'refused') return encoded.refusal.detail
  return Buffer.from(encoded.value.data, 'base64').toString('hex')
}

/** The accounts, or the sentence of the refusal. */
function accountsOf(call: Partial<IdlCall>): unknown {
  const encoded = encodeInstruction({ idl: idlWith({}), instruction: 'go', ...call }, PROGRAM)
  return encoded.kind === 'refused' ? encoded.refusal.detail : encoded.value.accounts
}

const HEAD = Buffer.from(DISCRIMINATOR).toString('hex')

describe('the data of an instruction', () => {
  test.each(ANCHOR_VECTORS)('of type %j with value %j is that of Anchor', (type, value, hex) => {
    expect(dataOf(callWith(type, value))).toBe(HEAD + hex)
  })

  test('is what the codecs of Solana encode, for any values', () => {
    const text = addEncoderSizePrefix(getUtf8Encoder(), getU32Encoder())
    const item = getStructEncoder([
      ['a', getU64Encoder()],
      ['b', getNullableEncoder(getI128Encoder())],
    ])
    const codec = getStructEncoder([
      ['name', text],
      ['items', getArrayEncoder(item)],
      ['key', getArrayEncoder(getU8Encoder(), { size: 4 })],
    ])
    const types = [
      {
        name: 'Item',
        type: {
          kind: 'struct',
          fields: [
            { name: 'a', type: 'u64' },
            { name: 'b', type: { option: 'i128' } },
          ],
        },
      },
    ]
    const args = [
      { name: 'name', type: 'string' },
      { name: 'items', type: { vec: { defined: { name: 'Item' } } } },
      { name: 'key', type: { array: ['u8', 4] } },
    ]
    const half = 2n ** 127n
    const items = fc.array(
      fc.record({
        a: fc.bigInt(0n, 2n ** 64n - 1n),
        b: fc.option(fc.bigInt(-half, half - 1n)),
      }),
      { maxLength: 20 },
    )
    const name = fc.string({ unit: 'grapheme', maxLength: 50 })
    const key = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 4, maxLength: 4 })
    fc.assert(
      fc.property(fc.record({ name, items, key }), (value) => {
        const written = {
          ...value,
          items: value.items.map(({ a, b }) => ({ a: String(a), b: b === null ? null : String(b) })),
        }
        const call = { idl: idlWith({ args }, { types }), instruction: 'go', args: written }
        expect(dataOf(call)).toBe(HEAD + Buffer.from(codec.encode(value)).toString('hex'))
      }),
    )
  })

  test('has bytes as base64, as hexadecimal digits and as a list, and JSON integers of any size', () => {
    for (const type of ['bytes', { vec: 'u8' }]) {
      expect(dataOf(callWith(type, { base64: 'AQID' }))).toBe(`${HEAD}03000000010203`)
      expect(dataOf(callWith(type, { hex: '010203' }))).toBe(`${HEAD}03000000010203`)
      expect(dataOf(callWith(type, [1, 2, 3]))).toBe(`${HEAD}03000000010203`)
    }
    expect(dataOf(callWith({ array: ['u8', 3] }, { base64: 'AQID' }))).toBe(`${HEAD}010203`)
    expect(dataOf(callWith('u128', 2n ** 70n))).toBe(dataOf(callWith('u128', String(2n ** 70n))))
  })

  test.each([
    ['initialize', 'initialize'],
    ['increaseLiquidityV2', 'increase_liquidity_v2'],
    ['setNFTOwner', 'set_nft_owner'],
    ['mint_to', 'mint_to'],
  ])('of Anchor before 0.30 begins with the hash of its name: %s', (name, inRust) => {
    const idl = { version: '0.1.0', name: 'old', instructions: [{ name, accounts: [], args: [] }] }
    const hash = createHash('sha256').update(`global:${inRust}`).digest('hex')
    expect(dataOf({ idl, instruction: name })).toBe(hash.slice(0, 16))
  })

  test('of Anchor before 0.30 has its names of types', () => {
    const idl = {
      instructions: [
        {
          name: 'set',
          accounts: [],
          args: [
            { name: 'owner', type: 'publicKey' },
            { name: 'state', type: { defined: 'State' } },
          ],
        },
      ],
      accounts: [{ name: 'State', type: { kind: 'struct', fields: [{ name: 'count', type: 'u8' }] } }],
    }
    const args = { owner: '11111111111111111111111111111111', state: { count: 7 } }
    expect(dataOf({ idl, instruction: 'set', args }).slice(16)).toBe(`${'00'.repeat(32)}07`)
  })

  test.each<[string, unknown, unknown, string]>([
    [
      'a number that is too large',
      'u8',
      256,
      'call.args.x: expected a value of type u8, an integer from 0 to 255.',
    ],
    ['a fraction', 'u64', 1.5, 'call.args.x: expected a value of type u64, an integer from 0 to'],
    ['a text', 'u64', 'ten', 'call.args.x: expected a value of type u64'],
    ['a number for a flag', 'bool', 1, 'call.args.x: expected true or false.'],
    ['a number for a text', 'string', 1, 'call.args.x: expected a string.'],
    [
      'an address of 31 bytes',
      'pubkey',
      '1'.repeat(31),
      'call.args.x: expected an address, 32 bytes in base58.',
    ],
    [
      'bytes that could be in two encodings',
      'bytes',
      '0x01',
      'call.args.x: expected a list of integers from 0 to 255',
    ],
    ['a float that is too large', 'f32', 1e39, 'call.args.x: expected a number of 32 bits.'],
    ['a list of another length', { array: ['u8', 2] }, [1], 'call.args.x: expected a list of 2 values.'],
    ['an item', { vec: 'u8' }, [1, -1], 'call.args.x[1]: expected a value of type u8, an integer'],
    ['a missing field', { defined: { name: 'inner' } }, { b: 1 }, 'call.args.x.a: is required.'],
    [
      'an unknown field',
      { defined: { name: 'inner' } },
      { a: 1, c: 1 },
      'call.args.x: expected the fields a, b, and no others.',
    ],
    ['a tuple', { defined: { name: 'pair' } }, [1], 'call.args.x: expected a list of 2 values.'],
    [
      'an unknown variant',
      { defined: { name: 'kind' } },
      'Go',
      'call.args.x: expected one of the variants stop, move, both, as text or as the only field of an object.',
    ],
    [
      'a variant without its fields',
      { defined: { name: 'kind' } },
      'move',
      'call.args.x.move: expected an object.',
    ],
    [
      'two variants',
      { defined: { name: 'kind' } },
      { stop: {}, move: {} },
      'call.args.x: expected one of the variants',
    ],
    [
      'a large value',
      'string',
      'x'.repeat(1300),
      'call.args.x: expected at most 1232 bytes of data up to here.',
    ],
  ])('refuses %s', (_name, type, value, sentence) => {
    expect(dataOf(callWith(type, value))).toContain(sentence)
  })

  test('refuses arguments that the instruction does not have, or that are missing', () => {
    const { idl } = callWith('u8', 1)
    const call = { idl, instruction: 'go' }
    expect(dataOf(call)).toBe('call.args.x: is required.')
    expect(dataOf({ ...call, args: { x: 1, y: 2 } })).toBe('call.args: expected the fields x, and no others.')
  })
})

describe('an IDL', () => {
  const aliases = [
    { name: 'a', type: { kind: 'type', alias: { defined: { name: 'b' } } } },
    { name: 'b', type: { kind: 'type', alias: { defined: { name: 'a' } } } },
  ]
  const generic = [
    { name: 'g', generics: [{ kind: 'type', name: 'T' }], type: { kind: 'struct', fields: [] } },
  ]
  const packed = [{ name: 'p', serialization: 'bytemuck', type: { kind: 'struct', fields: [] } }]

  test.each<[string, IdlCall, string]>([
    [
      'with types in a circle',
      callWith({ defined: { name: 'a' } }, 1, { types: aliases }),
      'call.args.x: expected types that are nested 64 deep at most.',
    ],
    [
      'with generic types',
      callWith({ defined: { name: 'g' } }, {}, { types: generic }),
      'call.idl.types[0].generics: expected none',
    ],
    [
      'with arguments of generic types',
      callWith({ defined: { name: 'g', generics: [{ kind: 'type', type: 'u8' }] } }, {}),
      'call.idl.instructions[0].args[0].type.defined.generics: expected none',
    ],
    [
      'with a generic length',
      callWith({ array: ['u8', { generic: 'N' }] }, []),
      'call.idl.instructions[0].args[0].type.array: expected a type and a length',
    ],
    [
      'with another encoding',
      callWith({ defined: { name: 'p' } }, {}, { types: packed }),
      'call.idl.types[0].serialization: expected borsh',
    ],
    [
      'with an unknown type',
      callWith('u512', 1),
      'call.idl.instructions[0].args[0].type: expected a type such as',
    ],
    [
      'with a coption',
      callWith({ coption: 'u8' }, 1),
      'call.idl.instructions[0].args[0].type: expected a type',
    ],
    [
      'without a type that it names',
      callWith({ defined: { name: 'gone' } }, {}),
      'call.args.x: expected the type gone among the types of call.idl.',
    ],
    [
      'with __proto__ as a type',
      callWith({ defined: { name: '__proto__' } }, {}),
      'call.args.x: expected the type',
    ],
    ['without instructions', { idl: {}, instruction: 'go' }, 'call.idl.instructions: expected a list.'],
    [
      'without the instruction',
      { idl: idlWith({}), instruction: 'stop' },
      'call.instruction: expected an instruction of call.idl, which has go.',
    ],
    [
      'of another program',
      { idl: idlWith({}, { address: VAULT }), instruction: 'go' },
      `call.idl.address: expected ${PROGRAM}, the program of the instruction.`,
    ],
    [
      'since 0.30 without discriminator',
      { idl: idlWith({ discriminator: undefined }), instruction: 'go' },
      'call.idl.instructions[0].discriminator: is required.',
    ],
    [
      'with a wrong discriminator',
      { idl: idlWith({ discriminator: [256] }), instruction: 'go' },
      'call.idl.instructions[0].discriminator: expected 1 to 32 integers from 0 to 255.',
    ],
    [
      'of Shank',
      { idl: { instructions: [{ name: 'go', discriminant: { type: 'u8', value: 1 } }] }, instruction: 'go' },
      'call.idl.instructions[0].discriminant: expected an IDL of Anchor',
    ],
  ])('%s is refused', (_name, call, sentence) => {
    expect(dataOf(call)).toContain(sentence)
  })

  test('of any form is encoded or refused', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (type, x, types) => {
        expect(typeof dataOf(callWith(type, x, { types }))).toBe('string')
        expect(typeof dataOf({ idl: { instructions: types }, instruction: 'go' })).toBe('string')
      }),
    )
  })
})

describe('the accounts of an instruction', () => {
  const accounts = [
    { name: 'payer', writable: true, signer: true },
    { name: 'vault', writable: true },
    { name: 'mint', optional: true, writable: true },
    { name: 'system_program', address: '11111111111111111111111111111111' },
  ]
  const idl = idlWith({ accounts })
  const payer = { pubkey: MAIN, isSigner: true, isWritable: true }
  const vault = { pubkey: VAULT, isSigner: false, isWritable: true }
  const system = { pubkey: '11111111111111111111111111111111', isSigner: false, isWritable: false }

  test('are in the order of the IDL, with constants, the program for absent ones, and those that follow', () => {
    const absent = { pubkey: PROGRAM, isSigner: false, isWritable: false }
    const more = { pubkey: MINT, isSigner: false, isWritable: false }
    expect(accountsOf({ idl, accounts: { vault: VAULT, payer: MAIN } })).toEqual([
      payer,
      vault,
      absent,
      system,
    ])
    const all = { vault: VAULT, payer: MAIN, mint: MINT, system_program: system.pubkey }
    expect(accountsOf({ idl, accounts: all, remainingAccounts: [more] })).toEqual([
      payer,
      vault,
      { ...more, isWritable: true },
      system,
      more,
    ])
  })

  test('of Anchor before 0.30 may be in groups', () => {
    const old = {
      instructions: [
        {
          name: 'go',
          args: [],
          accounts: [
            { name: 'payer', isMut: true, isSigner: true },
            { name: 'common', accounts: [{ name: 'vault', isMut: true, isSigner: false }] },
          ],
        },
      ],
    }
    const given = { payer: MAIN, common: { vault: VAULT } }
    expect(accountsOf({ idl: old, accounts: given })).toEqual([payer, vault])
    expect(accountsOf({ idl: old, accounts: { payer: MAIN, common: {} } })).toBe(
      'call.accounts.common.vault: is required.',
    )
  })

  test.each<[string, object, string]>([
    ['is missing', { payer: MAIN }, 'call.accounts.vault: is required.'],
    [
      'is null',
      { payer: MAIN, vault: null },
      'call.accounts.vault: expected an address, 32 bytes in base58.',
    ],
    [
      'is no address',
      { payer: MAIN, vault: 'vault' },
      'call.accounts.vault: expected an address, 32 bytes in base58.',
    ],
    [
      'is unknown',
      { payer: MAIN, vault: VAULT, safe: VAULT },
      'call.accounts: expected the fields payer, vault, mint, system_program, and no others.',
    ],
    [
      'is another one than the constant',
      { payer: MAIN, vault: VAULT, system_program: MINT },
      'call.accounts.system_program: expected 11111111111111111111111111111111, the address in call.idl, or nothing.',
    ],
  ])('are refused when one %s', (_name, given, sentence) => {
    expect(accountsOf({ idl, accounts: given as IdlCall['accounts'] & object })).toBe(sentence)
  })
})

const document = parse(await readFile(new URL('../../../openapi.yaml', import.meta.url), 'utf8')) as {
  readonly paths: Readonly<Record<string, { readonly post: Operation }>>
}
const validator = createValidator(await loadContract())

interface Operation {
  readonly requestBody: {
    readonly content: Readonly<Record<string, { readonly examples: Readonly<Record<string, Example>> }>>
  }
}

interface Example {
  readonly value: object
}

test.each(['solana_encoded', 'solana_instructions'])(
  'the example %s passes the contract and the check',
  (name) => {
    const { post } = document.paths['/api/v1/relayers/{relayer_id}/transactions'] ?? {}
    const body = post?.requestBody.content['application/json']?.examples[name]?.value
    const validation = validator.request('sendTransaction', {
      path: { relayer_id: 'r' },
      querystring: '',
      body,
    })
    if (validation.kind !== 'valid') throw new Error(JSON.stringify(validation))
    const valid = validation.input.body as Parameters<typeof isSolanaRequest>[0]
    if (!isSolanaRequest(valid)) throw new Error('not a body of group B')
    expect(checkRequest(readSolanaRequest(valid), accountWith())).toBeUndefined()
  },
)
