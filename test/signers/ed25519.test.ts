import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createEd25519Signer } from '../../src/signers/ed25519.ts'

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

/** The known answers of RFC 8032 §7.1: [seed, public key, message, signature]. */
const VECTORS: [string, string, string, string][] = [
  [
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
    '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
    '72',
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  ],
  [
    'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    'fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
]

const [[SEED]] = VECTORS as [[string, string, string, string]]

describe('a signature', () => {
  test.each(VECTORS)('of seed %s is the known one', async (seed, publicKey, message, signature) => {
    const signer = createEd25519Signer('a', bytesOf(seed))
    expect(hexOf(signer.publicKey)).toBe(publicKey)
    expect(hexOf(await signer.sign(bytesOf(message)))).toBe(signature)
  })

  test('of any seed over any message has 64 bytes, is the same every time, and verifies', async () => {
    const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const messages = fc.uint8Array({ maxLength: 300 })
    const property = fc.asyncProperty(seeds, messages, async (seed, message) => {
      const signer = createEd25519Signer('a', seed)
      const signature = await signer.sign(message)
      expect(signature).toHaveLength(64)
      expect(await signer.sign(message)).toEqual(signature)
      const x = Buffer.from(signer.publicKey).toString('base64url')
      const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
      expect(verify(null, message, key, signature)).toBe(true)
    })
    await fc.assert(property, { numRuns: 50 })
  })
})

/** HKDF-SHA256 (RFC 5869 §2) of one block, written down a second time. */
function hkdf(seed: Uint8Array, salt: string, info: string): Buffer {
  const extracted = createHmac('sha256', salt).update(seed).digest()
  return createHmac('sha256', extracted)
    .update(info)
    .update(new Uint8Array([1]))
    .digest()
}

describe('a derived key', () => {
  const owner = createEd25519Signer('owner', bytesOf(SEED))

  test('is that of HKDF-SHA256: another one would leave the accounts of the old one behind', () => {
    const want = createEd25519Signer('a', hkdf(bytesOf(SEED), 'relayer/ed25519/1', 'channel/1'))
    expect(owner.derive('channel/1').publicKey).toEqual(want.publicKey)
    expect(hexOf(owner.derive('channel/1').publicKey)).toBe(
      '9a55b61572d042bc5d040cdd65cb09a6690743c6e4a459e9b4d45d0eb5127e68',
    )
  })

  test('is the same for the same name, also of another signer with the same seed', async () => {
    const [one, two] = [
      owner.derive('channel/1'),
      createEd25519Signer('x', bytesOf(SEED)).derive('channel/1'),
    ]
    expect(one.publicKey).toEqual(two.publicKey)
    expect(await one.sign(bytesOf('01'))).toEqual(await two.sign(bytesOf('01')))
  })

  test('differs by name and by owner, and tells where it comes from', () => {
    const other = createEd25519Signer('other', randomBytes(32))
    const keys = [owner, other].flatMap((signer) => [
      signer,
      ...['channel/1', 'channel/2', 'channel/11', ''].map((name) => signer.derive(name)),
      signer.derive('channel/1').derive('channel/1'),
    ])
    expect(new Set(keys.map(({ publicKey }) => hexOf(publicKey))).size).toBe(keys.length)
    expect(owner.derive('channel/1').id).toBe('owner/channel/1')
  })
})

describe('a seed', () => {
  test.each([0, 31, 33, 64])('of %d bytes is refused, and does not stand in the error', (length) => {
    expect(() => createEd25519Signer('a', new Uint8Array(length).fill(7))).toThrow(
      'The bytes of signer "a" are not an ed25519 seed.',
    )
  })

  test('is copied: the caller may wipe what it gave', async () => {
    const seed = bytesOf(SEED)
    const signer = createEd25519Signer('a', seed)
    const before = [await signer.sign(new Uint8Array(3)), signer.derive('x').publicKey]
    seed.fill(0)
    expect([await signer.sign(new Uint8Array(3)), signer.derive('x').publicKey]).toEqual(before)
  })

  test('does not show, however the signer is printed', () => {
    const signer = createEd25519Signer('a', bytesOf(SEED))
    const printed = [
      inspect(signer, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null }),
      JSON.stringify(signer),
      String(signer),
      ...Object.values(signer).map(String),
    ].join('\n')
    const seed = Buffer.from(bytesOf(SEED))
    const spellings = [SEED, seed.toString('base64'), seed.toString('base64url'), [...seed].join(', ')]
    for (const spelling of spellings) expect(printed.toLowerCase()).not.toContain(spelling.toLowerCase())
  })
})
