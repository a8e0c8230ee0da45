import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, parseAbi, toFunctionSelector } from 'viem'
import { describe, expect, test } from 'vitest'
import { readAbi, STANDARD_FUNCTIONS } from '../../../src/chains/evm/call/abi.ts'
import { callKey, decodeCall } from '../../../src/chains/evm/call/decode-call.ts'
import { encodeCall } from '../../../src/chains/evm/call/encode-call.ts'

const ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'
const word = (value: bigint | number) => value.toString(16).padStart(64, '0')

/** The function of the data's selector in an ABI, as it is stored. */
function registeredIn(abi: readonly unknown[], data: string): object | undefined {
  const reading = readAbi(abi)
  if (reading.kind === 'refused') throw new Error(reading.refusal.detail)
  return reading.value.functions[callKey(data) ?? '']
}

describe('lists in lists', () => {
  const nested = (levels: number, items: number) => {
    const inputs = [{ name: 'a', type: `uint256${'[1]'.repeat(levels - 1)}[]` }]
    const abi = [{ type: 'function', name: 'f', stateMutability: 'view', outputs: [], inputs }] as const
    let item: unknown = 5n
    for (let level = 1; level < levels; level += 1) item = [item]
    const data = encodeFunctionData({ abi: [...abi], functionName: 'f', args: [Array(items).fill(item)] })
    return decodeCall(data, registeredIn(abi, data))
  }

  test('are decoded as far as that takes some milliseconds', () => {
    expect(nested(1, 505)?.function).toBe('f(uint256[])')
    expect(nested(3, 330)?.function).toBe('f(uint256[1][1][])')
    expect(nested(30, 30)).toBeDefined()
    expect(nested(30, 505)).toBeUndefined()
    expect(nested(30, 40)).toBeUndefined()
  })
})

describe('a call', () => {
  test('of a standard function has exact integers and addresses with their checksum', () => {
    const abi = parseAbi(['function transfer(address, uint256)'])
    const data = encodeFunctionData({ abi, functionName: 'transfer', args: [ADDRESS, 2n ** 255n + 1n] })
    expect(decodeCall(data)).toEqual({
      function: 'transfer(address,uint256)',
      source: 'standard',
      args: [
        { name: 'to', type: 'address', value: ADDRESS },
        { name: 'value', type: 'uint256', value: String(2n ** 255n + 1n) },
      ],
    })
    expect(decodeCall('0xD0E30DB0')).toEqual({ function: 'deposit()', source: 'standard', args: [] })
  })

  test('of a registered function has its names, also in tuples', () => {
    const abi = parseAbi([
      'struct P { address to; int8[] steps; }',
      'function pay(P[] list, string, bytes4 tag)',
    ])
    const args = [[{ to: ADDRESS, steps: [-1, 127] }], 'é\0', '0x01020304'] as const
    const data = encodeFunctionData({ abi, functionName: 'pay', args })
    expect(decodeCall(data, registeredIn(abi, data))).toEqual({
      function: 'pay((address,int8[])[],string,bytes4)',
      source: 'registered',
      args: [
        { name: 'list', type: '(address,int8[])[]', value: [{ to: ADDRESS, steps: ['-1', '127'] }] },
        { name: null, type: 'string', value: 'é\0' },
        { name: 'tag', type: 'bytes4', value: '0x01020304' },
      ],
    })
  })

  test('with components of one name, or of the name of a prototype, loses none of them', () => {
    const components = (first: string, second: string) => [
      { type: 'bool', name: first },
      { type: 'bool', name: second },
    ]
    const abi = (first: string, second: string) => [
      { name: 'f', inputs: [{ type: 'tuple', components: components(first, second) }] },
    ]
    const data = `${toFunctionSelector('f((bool,bool))')}${word(1)}${word(0)}`
    const valueIn = (items: object[]) => decodeCall(data, registeredIn(items, data))?.args[0]?.value
    expect(valueIn(abi('a', 'a'))).toEqual([true, false])
    expect(JSON.stringify(valueIn(abi('__proto__', 'b')))).toBe('{"__proto__":true,"b":false}')
  })

  test('of a standard function is not shown by the names that a third party registered for its selector', () => {
    const abi = [{ name: 'transfer', inputs: [{ type: 'address' }, { type: 'uint256', name: 'wad' }] }]
    const data = `0xa9059cbb${word(BigInt(ADDRESS))}${word(7)}`
    expect(decodeCall(data, registeredIn(abi, data))?.args[1]).toMatchObject({ name: 'value', value: '7' })
  })
})

test('a stored function that cannot be read is unknown, and that of a standard takes its place', () => {
  const data = `0xa9059cbb${word(1)}${word(1)}`
  expect(decodeCall(data, { name: 7 })?.source).toBe('standard')
  expect(decodeCall('0x12345678', 'no function')).toBeUndefined()
})

describe('data is not decoded', () => {
  const f = (types: string) => [{ name: 'f', inputs: [{ type: types, components: [] }] }]
  const dataOf = (signature: string, words: string) => `${toFunctionSelector(signature)}${words}`
  test.each<[string, string, object[] | undefined]>([
    ['with no selector', '0xa9059c', undefined],
    ['with an unknown selector', '0x12345678', undefined],
    ['with too little', `0xa9059cbb${word(1)}`, undefined],
    ['with more behind it', `0xa9059cbb${word(1)}${word(1)}00`, undefined],
    ['with digits before an address', `0xa9059cbb${word(2n ** 200n)}${word(1)}`, undefined],
    ['with a bool of 2', dataOf('f(bool)', word(2)), f('bool')],
    ['with an offset that leads nowhere', dataOf('f(bytes)', word(2n ** 255n)), f('bytes')],
    [
      'with a length beyond the data',
      dataOf('f(uint256[])', `${word(32)}${word(2n ** 64n)}`),
      f('uint256[]'),
    ],
    ['with values that take no room', dataOf('f(()[])', `${word(32)}${word(2n ** 31n)}`), f('tuple[]')],
    ['with lists of no length', dataOf('f(bool[0][])', `${word(32)}${word(100)}`), f('bool[0][]')],
    [
      'of a list of more values than can be',
      dataOf('f(bool[999999999999])', word(1)),
      f('bool[999999999999]'),
    ],
    ['of more than 16 KiB', dataOf('f(uint256[600])', word(1).repeat(600)), f('uint256[600]')],
    [
      'of text that is no UTF-8',
      dataOf('f(string)', `${word(32)}${word(1)}ff${'0'.repeat(62)}`),
      f('string'),
    ],
  ])('%s', (_name, data, abi) => {
    expect(decodeCall(data, abi && registeredIn(abi, data))).toBeUndefined()
  })

  test('when many offsets lead to the same bytes, and it takes no time to find that out', () => {
    // Each list has the next one a hundred times, so that a decoder that follows offsets reads the last one a hundred million times.
    const list = `${word(50)}${word(50 * 32).repeat(50)}`
    const data = dataOf('f(bytes[][][][])', word(32) + list.repeat(4) + word(32 * 200) + '00'.repeat(6400))
    const began = performance.now()
    expect(decodeCall(data, registeredIn(f('bytes[][][][]'), data))).toBeUndefined()
    expect(performance.now() - began).toBeLessThan(200)
  })

  test('when its names are longer than what is shown', () => {
    const components = Array.from({ length: 100 }, (_, at) => ({
      type: 'bool',
      name: `${'x'.repeat(190)}${at}`,
    }))
    const abi = [{ name: 'f', inputs: [{ type: 'tuple[5]', components }] }]
    const signature = `f((${components.map(() => 'bool').join(',')})[5])`
    const data = dataOf(signature, word(1).repeat(500))
    expect(decodeCall(data, registeredIn(abi, data))).toBeUndefined()
  })
})

test('standard functions are found by distinct selectors', () => {
  expect(STANDARD_FUNCTIONS.size).toBe(28)
  for (const [selector, called] of STANDARD_FUNCTIONS) {
    const types = called.inputs.map(({ type }) => type)
    if (!types.includes('tuple'))
      expect(selector).toBe(toFunctionSelector(`${called.name}(${types.join(',')})`))
  }
})

/** A type with a value of it, as callers write them. */
interface Typed {
  readonly type: string
  readonly value: unknown
}

const hexOf = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map(toHex)
const toHex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`
const atom: fc.Arbitrary<Typed> = fc.oneof(
  fc.record({ type: fc.constant('uint256'), value: fc.bigInt(0n, 2n ** 256n - 1n).map(String) }),
  fc.record({
    type: fc.constant('int24'),
    value: fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 }).map(String),
  }),
  fc.record({ type: fc.constant('bool'), value: fc.boolean() }),
  fc.record({ type: fc.constant('bytes7'), value: hexOf(7) }),
  fc.record({ type: fc.constant('bytes'), value: fc.uint8Array({ maxLength: 70 }).map(toHex) }),
  fc.record({ type: fc.constant('string'), value: fc.string({ unit: 'grapheme', maxLength: 40 }) }),
)
const { typed } = fc.letrec<{ typed: Typed; list: Typed; tuple: Typed }>((tie) => ({
  typed: fc.oneof({ depthSize: 'small', withCrossShrink: true }, atom, tie('list'), tie('tuple')),
  list: fc
    .tuple(tie('typed'), fc.integer({ min: 0, max: 3 }), fc.boolean())
    .map(([{ type, value }, count, isFixed]) => ({
      type: `${type}[${isFixed && count > 0 ? count : ''}]`,
      value: new Array(count).fill(value),
    })),
  tuple: fc.array(tie('typed'), { minLength: 1, maxLength: 3 }).map((items) => ({
    type: `(${items.map(({ type }) => type).join(',')})`,
    value: items.map(({ value }) => value),
  })),
}))

/** True for data that can have more words than 1,024 for each level of its lists and tuples. */
function mayBeTooLarge(signature: string, data: string): boolean {
  const levels = signature.match(/[[(]/g)?.length ?? 0
  return ((data.length - 10) / 64) * levels > 1_024
}

describe('for any function', () => {
  test('what is encoded is decoded to the same arguments', () => {
    fc.assert(
      fc.property(fc.array(typed, { maxLength: 4 }), (params) => {
        const signature = `f(${params.map(({ type }) => type).join(',')})`
        const args = params.map(({ value }) => value)
        const encoded = encodeCall({ function: signature, args })
        if (encoded.kind === 'refused') throw new Error(encoded.refusal.detail)
        const decoded = decodeCall(encoded.value, storedForm(signature))
        if (decoded === undefined && mayBeTooLarge(signature, encoded.value)) return
        expect(decoded?.function).toBe(signature)
        expect(decoded?.args.map(({ value }) => value)).toEqual(args)
      }),
    )
  })

  test('any other data is not decoded, or is what the arguments are encoded to', () => {
    fc.assert(
      fc.property(
        fc.array(typed, { minLength: 1, maxLength: 3 }),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 3 }),
        (params, changes) => {
          const signature = `f(${params.map(({ type }) => type).join(',')})`
          const encoded = encodeCall({ function: signature, args: params.map(({ value }) => value) })
          if (encoded.kind === 'refused') throw new Error(encoded.refusal.detail)
          const bytes = Buffer.from(encoded.value.slice(2), 'hex')
          for (const [at, byte] of changes) if (bytes.length > 4) bytes[4 + (at % (bytes.length - 4))] = byte
          const data = toHex(bytes)
          const decoded = decodeCall(data, storedForm(signature))
          if (decoded === undefined) return
          const args = decoded.args.map(({ value }) => value)
          expect(encodeCall({ function: decoded.function, args })).toEqual({ kind: 'ok', value: data })
        },
      ),
    )
  })
})

/** Reads the function of a signature as if its ABI had been registered. */
function storedForm(signature: string): object {
  const [item] = parseAbi([`function ${signature}`] as readonly string[])
  return registeredIn([item], toFunctionSelector(signature)) ?? {}
}

test('an empty string and no bytes are encoded as the standard says', () => {
  const abi = [{ name: 'f', inputs: [{ type: 'string' }, { type: 'bytes' }] }]
  const rest = encodeAbiParameters([{ type: 'string' }, { type: 'bytes' }], ['', '0x']).slice(2)
  const data = `${toFunctionSelector('f(string,bytes)')}${rest}`
  expect(decodeCall(data, registeredIn(abi, data))?.args.map(({ value }) => value)).toEqual(['', '0x'])
})
