import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { xdr } from '@stellar/stellar-sdk'
import { Spec } from '@stellar/stellar-sdk/contract'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import {
  enumSpec,
  functionSpec,
  mapOf,
  moduleWith,
  moduleWithSection,
  optionOf,
  resultOf,
  structSpec,
  tupleOf,
  unionSpec,
  userType,
  vecOf,
} from '../../../simulators/stellar/soroban/spec.ts'
import { checkRequest } from '../../../src/chains/stellar/check/request.ts'
import { encodeNamedArgs } from '../../../src/chains/stellar/contract-spec/named-args.ts'
import {
  ASSET_CONTRACT,
  type ContractSpec,
  customSection,
  readContractSpec,
} from '../../../src/chains/stellar/contract-spec/read-contract-spec.ts'
import { encodeScValue } from '../../../src/chains/stellar/encode.ts'
import { loadContract } from '../../../src/contract/document.ts'
import { parseJson } from '../../../src/contract/exact-integers.ts'
import type { Input } from '../../../src/contract/operations.ts'
import { createValidator } from '../../../src/contract/validator.ts'
import { isStellarRequest, readStellarRequest } from '../../../src/handlers/codecs/stellar.ts'
import { accountWith, known, NETWORK, requestOf, SELF } from './build.ts'

const { ScSpecTypeDef: Type } = xdr
const CONTRACT = 'CA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJUWDA'

const USER_TYPES = [
  structSpec('Inner', [
    ['zeta', Type.scSpecTypeU32()],
    ['alpha', optionOf(Type.scSpecTypeI128())],
  ]),
  structSpec('Pair', [
    ['0', Type.scSpecTypeU32()],
    ['1', Type.scSpecTypeSymbol()],
  ]),
  enumSpec('Color', { Red: 1, Blue: 7 }),
  unionSpec('Action', { Stop: [], Move: [Type.scSpecTypeAddress(), Type.scSpecTypeU64()] }),
  structSpec('Endless', [['next', optionOf(userType('Endless'))]]),
]

/** A function `go` with one parameter `x`. */
function entriesFor(type: xdr.ScSpecTypeDef): xdr.ScSpecEntry[] {
  return [functionSpec('go', [['x', type]]), ...USER_TYPES]
}

function specOf(entries: readonly xdr.ScSpecEntry[]): ContractSpec {
  const section = customSection(moduleWith(entries), 'contractspecv0')
  const spec = section && readContractSpec(section)
  if (spec === undefined) throw new Error('the specification is not readable')
  return spec
}

/** The arguments as XDR in hex, or the sentence of the refusal. */
async function argsOf(spec: ContractSpec, named_args: object, function_name = 'go'): Promise<unknown> {
  const operation = { type: 'invoke_contract', contract_address: CONTRACT, function_name, args: [] } as const
  const named = { ...operation, named_args: named_args as Record<string, unknown> }
  const request = requestOf({ operations: [named] })
  const answer = await encodeNamedArgs(async () => ({ kind: 'ok', value: spec }), request)
  if (answer.kind === 'refused') return answer.refusal.detail
  const [encoded] = answer.kind === 'ok' ? (answer.value.operations ?? []) : []
  if (encoded?.type !== 'invoke_contract' || encoded.named_args !== undefined) throw new Error('not encoded')
  return encoded.args.map((arg) => encodeScValue(arg).toXdr('hex'))
}

const argOf = (type: xdr.ScSpecTypeDef, x: unknown) => argsOf(specOf(entriesFor(type)), { x })

/** The same by the SDK of Stellar. */
function argsBySdk(type: xdr.ScSpecTypeDef, x: unknown): string[] {
  const spec = new Spec(entriesFor(type).map((entry) => entry.toXdr('base64')))
  return spec.funcArgsToScVals('go', { x }).map((value) => value.toXdr('hex'))
}

const BIG = 2n ** 255n - 1n

describe('an argument with a name', () => {
  test.each<[string, xdr.ScSpecTypeDef, unknown, unknown]>([
    ['bool', Type.scSpecTypeBool(), true, true],
    ['u32', Type.scSpecTypeU32(), 4294967295, 4294967295],
    ['i32', Type.scSpecTypeI32(), '-5', -5],
    ['u64', Type.scSpecTypeU64(), '18446744073709551615', 18446744073709551615n],
    ['timepoint', Type.scSpecTypeTimepoint(), 7, 7n],
    ['duration', Type.scSpecTypeDuration(), 7, 7n],
    ['i128', Type.scSpecTypeI128(), String(-(2n ** 127n)), -(2n ** 127n)],
    ['u256', Type.scSpecTypeU256(), String(BIG * 2n + 1n), BIG * 2n + 1n],
    ['i256', Type.scSpecTypeI256(), -BIG, -BIG],
    ['bytes', Type.scSpecTypeBytes(), '01ff', Buffer.from('01ff', 'hex')],
    ['string', Type.scSpecTypeString(), 'grüezi', 'grüezi'],
    ['symbol', Type.scSpecTypeSymbol(), 'go_1', 'go_1'],
    ['address', Type.scSpecTypeAddress(), CONTRACT, CONTRACT],
    ['option without a value', optionOf(Type.scSpecTypeU32()), null, undefined],
    ['option', optionOf(Type.scSpecTypeU32()), 3, 3],
    ['vec', vecOf(Type.scSpecTypeU32()), [1, 2], [1, 2]],
    ['tuple', tupleOf(Type.scSpecTypeU32(), Type.scSpecTypeBool()), [1, false], [1, false]],
    [
      'map',
      mapOf(Type.scSpecTypeSymbol(), Type.scSpecTypeU32()),
      { b: 2, a: 1 },
      new Map([
        ['a', 1],
        ['b', 2],
      ]),
    ],
    [
      'map of integers',
      mapOf(Type.scSpecTypeI128(), Type.scSpecTypeBool()),
      [
        { key: 5, val: true },
        { key: '-7', val: false },
      ],
      new Map([
        [-7n, false],
        [5n, true],
      ]),
    ],
    ['structure', userType('Pair'), [1, 'x'], [1, 'x']],
    ['enum', userType('Color'), 'Blue', 7],
    ['enum by number', userType('Color'), 1, 1],
    ['union without values', userType('Action'), { tag: 'Stop' }, { tag: 'Stop' }],
    [
      'union',
      vecOf(userType('Action')),
      [{ tag: 'Move', values: [SELF, 9] }],
      [{ tag: 'Move', values: [SELF, 9n] }],
    ],
  ])('of type %s is encoded as the SDK does', async (_name, type, value, bySdk) => {
    expect(await argOf(type, value)).toEqual(argsBySdk(type, bySdk))
  })

  test('of a structure has the order that contracts expect, which the SDK leaves to its caller', async () => {
    const keys = xdr.ScVal.scvMap([
      new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol('alpha'), val: xdr.ScVal.scvVoid() }),
      new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol('zeta'), val: xdr.ScVal.scvU32(1) }),
    ])
    expect(await argOf(userType('Inner'), { zeta: 1 })).toEqual([keys.toXdr('hex')])
  })

  test('of a result is its value, and of void null', async () => {
    expect(await argOf(resultOf(Type.scSpecTypeU32()), { ok: 5 })).toEqual([xdr.ScVal.scvU32(5).toXdr('hex')])
    expect(await argOf(Type.scSpecTypeVoid(), null)).toEqual([xdr.ScVal.scvVoid().toXdr('hex')])
  })

  test('is encoded as the SDK does, for any values', async () => {
    const type = vecOf(
      tupleOf(Type.scSpecTypeI256(), Type.scSpecTypeString(), optionOf(vecOf(Type.scSpecTypeU64()))),
    )
    const row = fc.tuple(
      fc.bigInt(-BIG - 1n, BIG),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.option(fc.array(fc.bigInt(0n, 2n ** 64n - 1n)), { nil: undefined }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 10 }), async (rows) => {
        const written = rows.map(([integer, text, list]) => [
          String(integer),
          text,
          list?.map(String) ?? null,
        ])
        expect(await argOf(type, written)).toEqual(argsBySdk(type, rows))
      }),
    )
  })

  test.each<[string, xdr.ScSpecTypeDef, unknown, string]>([
    ['u32', Type.scSpecTypeU32(), -1, '.x: expected a value of type u32, an integer from 0 to 4294967295.'],
    ['i128', Type.scSpecTypeI128(), '1.5', '.x: expected a value of type i128, an integer from -'],
    ['bool', Type.scSpecTypeBool(), 'true', '.x: expected true or false.'],
    ['bytes', Type.scSpecTypeBytes(), '0x01', '.x: expected bytes in hexadecimal digits, without 0x.'],
    [
      'bytes of a fixed number',
      Type.scSpecTypeBytesN(new xdr.ScSpecTypeBytesN({ n: 2 })),
      '01',
      '.x: expected 2 bytes in hexadecimal digits, without 0x.',
    ],
    ['symbol', Type.scSpecTypeSymbol(), 'a-b', '.x: expected a symbol'],
    ['address', Type.scSpecTypeAddress(), `${SELF.slice(0, -1)}A`, '.x: expected a Stellar address'],
    ['tuple', tupleOf(Type.scSpecTypeU32()), [1, 2], '.x: expected a list of 1 values.'],
    ['vec', vecOf(Type.scSpecTypeU32()), [1, 'x'], '.x[1]: expected a value of type u32'],
    [
      'map',
      mapOf(Type.scSpecTypeU32(), Type.scSpecTypeU32()),
      { 1: 'x' },
      '.x.1: expected a value of type u32',
    ],
    [
      'map of vectors',
      mapOf(vecOf(Type.scSpecTypeU32()), Type.scSpecTypeU32()),
      {},
      '.x: expected a list of objects',
    ],
    ['structure', userType('Inner'), { alpha: '1' }, '.x.zeta: is required.'],
    [
      'structure',
      userType('Inner'),
      { zeta: 1, beta: 2 },
      '.x: expected the fields zeta, alpha, and no others.',
    ],
    ['enum', userType('Color'), 'Green', '.x: expected one of Red (1), Blue (7).'],
    ['union', userType('Action'), { tag: 'Go' }, '.x.tag: expected one of Stop, Move.'],
    ['union', userType('Action'), { tag: 'Move', values: [SELF] }, '.x.values: expected a list of 2 values.'],
    ['any type', Type.scSpecTypeVal(), 1, '.x: the contract accepts a value of any type here'],
    [
      'a type that is missing',
      userType('Gone'),
      1,
      '.x: the specification of the contract lacks the type Gone',
    ],
  ])('that does not fit %s is refused', async (_name, type, value, sentence) => {
    expect(await argOf(type, value)).toContain(`operations[0].named_args${sentence}`)
  })

  test('is refused when it is missing or unknown, or the function is', async () => {
    const spec = specOf(entriesFor(Type.scSpecTypeU32()))
    expect(await argsOf(spec, {})).toBe('operations[0].named_args.x: is required.')
    expect(await argsOf(spec, { x: 1, y: 2 })).toBe(
      'operations[0].named_args: expected the fields x, and no others.',
    )
    expect(await argsOf(spec, { x: 1 }, 'stop')).toBe(
      'operations[0].function_name: expected a function of the contract, which has go.',
    )
  })

  test('that is nested deeper than contracts take is refused', async () => {
    const nested = Array.from({ length: 120 }).reduce<object>((next) => ({ next }), {})
    expect(await argOf(userType('Endless'), nested)).toContain(
      'expected values that are nested 100 deep at most.',
    )
  })
})

describe('a specification', () => {
  test('of the asset contract is that of the SDK', () => {
    const file = new URL('bindings/sac-spec.js', import.meta.resolve('@stellar/stellar-sdk'))
    const [, base64 = ''] = /"([A-Za-z0-9+/=]{100,})"/.exec(readFileSync(fileURLToPath(file), 'utf8')) ?? []
    const bySdk = readContractSpec(Buffer.from(base64, 'base64'))
    const plain = (spec: ContractSpec | undefined) =>
      Object.fromEntries(
        [...(spec?.functions ?? [])].map(([name, inputs]) => [
          name,
          inputs.map(({ name, type }) => [name, type.type]),
        ]),
      )
    expect(plain(ASSET_CONTRACT)).toEqual(plain(bySdk))
  })

  test('is read from any bytes without a fault', () => {
    const wasm = moduleWith(entriesFor(Type.scSpecTypeU32()))
    fc.assert(
      fc.property(fc.nat(wasm.length - 1), fc.nat(255), fc.uint8Array(), (at, byte, tail) => {
        const changed = Buffer.concat([wasm, tail])
        changed[at] = byte
        const section = customSection(changed, 'contractspecv0')
        if (section !== undefined) readContractSpec(section)
        customSection(tail, 'contractspecv0')
        expect(readContractSpec(Buffer.concat([tail, Buffer.of(1)]))).toBeUndefined()
      }),
    )
  })

  test('with types that are nested without end is not read', () => {
    const option = Buffer.from('000003e8', 'hex')
    const head = functionSpec('go', [['x', Type.scSpecTypeU32()]])
      .toXdr('hex')
      .slice(0, -16)
    const section = Buffer.concat([Buffer.from(head, 'hex'), ...Array.from({ length: 30_000 }, () => option)])
    expect(readContractSpec(section)).toBeUndefined()
  })

  test('is absent in a module without its section', () => {
    expect(customSection(moduleWithSection('other', Buffer.from('x')), 'contractspecv0')).toBeUndefined()
  })
})

interface Schema {
  readonly examples?: readonly { readonly type: string }[]
  readonly oneOf?: readonly { readonly $ref: string }[]
}

const document = parse(await readFile(new URL('../../../openapi.yaml', import.meta.url), 'utf8')) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}
const { schemas } = document.components
const validator = createValidator(await loadContract())

/** The schemas of all operations, by their names. */
const operations = (schemas.OperationSpec?.oneOf ?? []).map(({ $ref }) => $ref.split('/').at(-1) ?? '')

describe('the examples of the document', () => {
  test.each(operations)('%s passes the contract and the check', async (name) => {
    const examples = schemas[name]?.examples ?? []
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      const body = parseJson(JSON.stringify({ network: NETWORK.name, operations: [example] }))
      const validation = validator.request('sendTransaction', {
        path: { relayer_id: 'r' },
        querystring: '',
        body,
      })
      if (validation.kind !== 'valid') throw new Error(JSON.stringify(validation))
      const valid = validation.input.body as Input<'sendTransaction'>['body']
      if (!isStellarRequest(valid)) throw new Error('not a body of group C')
      // The examples with named arguments call the contract of an asset.
      const spec = { kind: 'ok', value: ASSET_CONTRACT } as const
      const encoded = known(await encodeNamedArgs(async () => spec, readStellarRequest(valid)))
      expect(checkRequest(encoded, accountWith(), NETWORK)).toBeUndefined()
    }
  })
})
