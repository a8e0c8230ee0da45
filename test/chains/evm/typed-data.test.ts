import fc from 'fast-check'
import { hashTypedData, hexToBytes, recoverAddress, type TypedDataDefinition } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import type { TypedData, TypedDocument } from '../../../src/chains/evm/content.ts'
import { signTypedData } from '../../../src/chains/evm/typed-data.ts'
import { createSecp256k1Signer } from '../../../src/signers/secp256k1.ts'

const KEY = `0x${'07'.repeat(32)}` as const
const signer = createSecp256k1Signer('key', hexToBytes(KEY))

/** The example of EIP-712. */
const MAIL = {
  kind: 'document',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  types: {
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
} as const satisfies TypedDocument

/** Recovers the signer of this digest. */
async function signerOf(data: TypedData, hash: `0x${string}`): Promise<string> {
  const answer = await signTypedData(data, signer)
  if (answer.kind === 'refused') throw new Error(answer.refusal.detail)
  return recoverAddress({ hash, signature: `0x${answer.value.sig}` })
}

/** A document of one field. */
function oneField(type: string, value: unknown, types: TypedDocument['types'] = {}): TypedDocument {
  const Thing = [{ name: 'x', type }]
  return {
    kind: 'document',
    domain: {},
    types: { ...types, Thing },
    primaryType: 'Thing',
    message: { x: value },
  }
}

const refusalOf = async (data: TypedData) => {
  const answer = await signTypedData(data, signer)
  return answer.kind === 'refused' ? `${answer.refusal.code} ${answer.refusal.detail}` : 'signed'
}

describe('signing structured data', () => {
  test('the example of EIP-712 has the digest of the standard', async () => {
    const digest = '0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2'
    expect(await signerOf(MAIL, digest)).toBe(privateKeyToAddress(KEY))
  })

  test('the two hashes and the document of which they are give the same signature', async () => {
    const hashes = {
      kind: 'hashes',
      domainSeparator: '0xf2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f',
      structHash: '0xc52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e',
    } as const
    expect(await signTypedData(hashes, signer)).toEqual(await signTypedData(MAIL, signer))
  })

  const TREE = {
    Node: [
      { name: 'weights', type: 'int128[2][]' },
      { name: 'children', type: 'Node[]' },
      { name: 'tag', type: 'bytes4' },
      { name: 'body', type: 'bytes' },
      { name: 'ok', type: 'bool' },
      { name: 'leaf', type: 'Leaf' },
    ],
    Leaf: [{ name: 'amount', type: 'uint256' }],
  }
  const hex = (size: { minLength: number; maxLength: number }) =>
    fc.uint8Array(size).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`)
  const weight = fc.bigInt({ min: -(2n ** 127n), max: 2n ** 127n - 1n })
  const { node } = fc.letrec((tie) => ({
    node: fc.record({
      weights: fc.array(fc.array(weight, { minLength: 2, maxLength: 2 }), { maxLength: 3 }),
      children: fc.oneof({ maxDepth: 2 }, fc.constant([]), fc.array(tie('node'), { maxLength: 3 })),
      tag: hex({ minLength: 4, maxLength: 4 }),
      body: hex({ minLength: 0, maxLength: 40 }),
      ok: fc.boolean(),
      leaf: fc.record({ amount: fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }) }),
    }),
  }))

  test('any value of any type has the digest that viem gives it', async () => {
    await fc.assert(
      fc.asyncProperty(node, fc.string({ unit: 'grapheme' }), fc.nat(), async (message, name, chainId) => {
        const domain = { name, chainId }
        const document = { domain, types: TREE, primaryType: 'Node', message } as unknown
        const digest = hashTypedData(document as TypedDataDefinition)
        const data = { kind: 'document', ...(document as object) } as TypedDocument
        expect(await signerOf(data, digest)).toBe(privateKeyToAddress(KEY))
      }),
      { numRuns: 60 },
    )
  })

  test.each([
    ['a decimal string', '115792089237316195423570985008687907853269984665640564039457584007913129639935'],
    ['a bigint', 2n ** 256n - 1n],
    ['hexadecimal digits', `0x${'f'.repeat(64)}`],
  ])('2^256 − 1 as %s is the same number', async (_name, value) => {
    const digest = hashTypedData({
      domain: {},
      types: { Thing: [{ name: 'x', type: 'uint256' }] },
      primaryType: 'Thing',
      message: { x: 2n ** 256n - 1n },
    })
    expect(await signerOf(oneField('uint256', value), digest)).toBe(privateKeyToAddress(KEY))
  })

  test('a chainId in text is part of the domain', async () => {
    const text = { ...MAIL, domain: { ...MAIL.domain, chainId: '1' } }
    expect(await signTypedData(text, signer)).toEqual(await signTypedData(MAIL, signer))
  })

  test('a document may consist of the domain alone', async () => {
    const types = { EIP712Domain: [{ name: 'name', type: 'string' }] } as const
    const document = { domain: { name: 'x' }, types, primaryType: 'EIP712Domain' } as const
    expect(await signerOf({ kind: 'document', message: {}, ...document }, hashTypedData(document))).toBe(
      privateKeyToAddress(KEY),
    )
    expect(await refusalOf({ kind: 'document', message: { a: 1 }, ...document })).toContain('body.message.a')
  })
})

describe('what is refused, with the place', () => {
  const named = { Pair: [{ name: 'a', type: 'uint8' }] }
  test.each<[string, TypedDocument, string]>([
    ['one above the range', oneField('uint8', 256), 'body.message.x: an integer from 0 to 255'],
    ['one below the range', oneField('int8', -129), 'body.message.x: an integer from -128 to 127'],
    ['a fraction', oneField('uint256', 1.5), 'body.message.x'],
    ['a number that is none', oneField('uint256', Number.NaN), 'body.message.x'],
    ['text that is no integer', oneField('uint256', '1e3'), 'body.message.x'],
    ['an empty integer', oneField('uint256', ''), 'body.message.x'],
    ['an endless integer', oneField('uint256', '1'.repeat(100_000)), 'body.message.x'],
    ['a short address', oneField('address', '0x12'), 'body.message.x: 0x and 40 hexadecimal digits'],
    ['bytes of another size', oneField('bytes4', '0x1234'), 'body.message.x: 0x and 8 hexadecimal digits'],
    ['half a byte', oneField('bytes', '0x1'), 'body.message.x'],
    ['a number for text', oneField('string', 1), 'body.message.x: a string'],
    ['text for a boolean', oneField('bool', 'true'), 'body.message.x: true or false'],
    ['too few items', oneField('uint8[2]', [1]), 'body.message.x: an array of 2 items'],
    ['no array', oneField('uint8[]', 1), 'body.message.x: an array'],
    ['an item', oneField('uint8[]', [1, 300]), 'body.message.x[1]'],
    ['a field inside an item', oneField('Pair[]', [{ a: 1 }, { a: -1 }], named), 'body.message.x[1].a'],
    ['null for a struct', oneField('Pair', null, named), 'body.message.x: an object'],
    ['a missing field', oneField('Pair', {}, named), 'body.message.x.a: a value of type uint8'],
    ['a field that its type does not have', oneField('Pair', { a: 1, b: 2 }, named), 'body.message.x.b'],
    ['a type that no one knows', oneField('Unknown', 1), 'Unknown'],
    ['a type of the language', oneField('constructor', 1), 'constructor'],
    ['uint without a size', oneField('uint', 1), 'uint'],
    ['uint7', oneField('uint7', 1), 'uint7'],
    ['bytes33', oneField('bytes33', `0x${'0'.repeat(66)}`), 'bytes33'],
    ['a primary type that is not there', { ...MAIL, primaryType: 'Letter' }, 'body.primaryType'],
    ['a primary type that is no struct', { ...MAIL, primaryType: 'uint256' }, 'body.primaryType'],
    ['a field that no domain has', { ...MAIL, domain: { chain: 1 } }, 'body.domain.chain'],
    ['a domain of the wrong type', { ...MAIL, domain: { chainId: -1 } }, 'body.domain.chainId'],
  ])('%s', async (_name, document, phrase) => {
    const refusal = await refusalOf(document)
    expect(refusal).toContain('invalid_request')
    expect(refusal).toContain(phrase)
  })

  test('a long list of structs costs no more than its values', async () => {
    const types = {
      Pair: Array.from({ length: 64 }, (_, index) => ({ name: `${'n'.repeat(60)}${index}`, type: 'bool' })),
    }
    const pair = Object.fromEntries(types.Pair.map(({ name }) => [name, true]))
    const started = process.cpuUsage()
    expect(await refusalOf(oneField('Pair[]', Array(500).fill(pair), types))).toBe('signed')
    expect(process.cpuUsage(started).user).toBeLessThan(3_000_000)
  })
})

describe('a document with ten thousand values', () => {
  const items = Array.from({ length: 5_000 }, (_, index) => ({
    text: `item ${index}`,
    amount: BigInt(index),
  }))
  const document = {
    kind: 'document',
    domain: { name: 'List' },
    types: {
      List: [{ name: 'items', type: 'Item[]' }],
      Item: [
        { name: 'text', type: 'string' },
        { name: 'amount', type: 'uint256' },
      ],
    },
    primaryType: 'List',
    message: { items },
  } as const

  test('is signed as viem hashes it, and other work has its turn meanwhile', async () => {
    let turns = 0
    let isRunning = true
    const count = () => {
      turns += 1
      if (isRunning) setImmediate(count)
    }
    setImmediate(count)
    const answer = await signTypedData(document, signer)
    isRunning = false
    if (answer.kind !== 'ok') throw new Error(answer.refusal.detail)
    // A turn has at most a thousand values; structs count as well.
    expect(turns).toBeGreaterThanOrEqual(15)
    const hash = hashTypedData(document as unknown as TypedDataDefinition)
    expect(await recoverAddress({ hash, signature: `0x${answer.value.sig}` })).toBe(privateKeyToAddress(KEY))
  })
})
