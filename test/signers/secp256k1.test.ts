import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { bytesToHex, recoverAddress } from 'viem'
import { privateKeyToAddress, sign as viemSign } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { createSecp256k1Signer, evmAddress, isPrivateKey } from '../../src/signers/secp256k1.ts'

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

const bytesOf = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const keyOf = (number: bigint) => bytesOf(number.toString(16).padStart(64, '0'))

/** Known answers of RFC 6979 on this curve with SHA-256: [key, message, r, s]. */
const VECTORS: [bigint, string, string, string][] = [
  [
    1n,
    'Satoshi Nakamoto',
    '934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d8',
    '2442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5',
  ],
  [
    ORDER - 1n,
    'Satoshi Nakamoto',
    'fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d0',
    '6b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5',
  ],
]

describe('a signature', () => {
  test.each(VECTORS)('with key %d over the digest of "%s" is the known one', async (key, message, r, s) => {
    const signature = await createSecp256k1Signer('a', keyOf(key)).sign(
      createHash('sha256').update(message).digest(),
    )
    expect([hexOf(signature.r), hexOf(signature.s)]).toEqual([r, s])
  })

  test('of any key over any digest is low-s, the same every time, what viem makes, and recovers to the address', async () => {
    const keys = fc.bigInt({ min: 1n, max: ORDER - 1n }).map(keyOf)
    const digests = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const property = fc.asyncProperty(keys, digests, async (key, digest) => {
      const signer = createSecp256k1Signer('a', key)
      const { r, s, recovery } = await signer.sign(digest)
      const reference = await viemSign({ hash: bytesToHex(digest), privateKey: bytesToHex(key) })
      expect({ r: bytesToHex(r), s: bytesToHex(s), yParity: recovery }).toMatchObject({
        r: reference.r,
        s: reference.s,
        yParity: reference.yParity,
      })
      expect(BigInt(bytesToHex(s)) <= ORDER / 2n).toBe(true)
      expect(await signer.sign(digest)).toEqual({ r, s, recovery })
      const recovered = await recoverAddress({
        hash: bytesToHex(digest),
        signature: { r: bytesToHex(r), s: bytesToHex(s), yParity: recovery },
      })
      expect(recovered).toBe(evmAddress(signer.publicKey))
    })
    await fc.assert(property, { numRuns: 50 })
  })

  test.each([0, 31, 33, 64])('over %d bytes is refused', async (length) => {
    const signer = createSecp256k1Signer('a', keyOf(1n))
    await expect(signer.sign(new Uint8Array(length))).rejects.toThrow('A digest has 32 bytes.')
  })
})

describe('a key', () => {
  test.each<[string, Uint8Array, boolean]>([
    ['zero', keyOf(0n), false],
    ['one', keyOf(1n), true],
    ['the order less one', keyOf(ORDER - 1n), true],
    ['the order', keyOf(ORDER), false],
    ['31 bytes', new Uint8Array(31).fill(1), false],
    ['33 bytes', new Uint8Array(33).fill(1), false],
  ])('of %s is judged', (_what, bytes, valid) => {
    expect(isPrivateKey(bytes)).toBe(valid)
  })

  test('that is none makes no signer and does not stand in the error', () => {
    expect(() => createSecp256k1Signer('a', keyOf(ORDER))).toThrow(/^The bytes of signer "a" are not/)
  })

  test('gives the EIP-55 address that viem gives', () => {
    const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
    const signer = createSecp256k1Signer('a', bytesOf(key.slice(2)))
    expect(signer.publicKey).toHaveLength(65)
    expect(evmAddress(signer.publicKey)).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
    expect(evmAddress(signer.publicKey)).toBe(privateKeyToAddress(key))
  })

  test('is copied: the caller may wipe what it gave', async () => {
    const key = keyOf(7n)
    const signer = createSecp256k1Signer('a', key)
    const before = await signer.sign(new Uint8Array(32).fill(1))
    key.fill(0)
    expect(await signer.sign(new Uint8Array(32).fill(1))).toEqual(before)
  })

  test('does not show, however the signer is printed', () => {
    const key = createHash('sha256').update('a key that must not show').digest()
    const signer = createSecp256k1Signer('a', key)
    const printed = [
      inspect(signer, { depth: Number.POSITIVE_INFINITY, showHidden: true, maxArrayLength: null }),
      JSON.stringify(signer),
      String(signer),
      ...Object.values(signer).map(String),
    ].join('\n')
    const spellings = [
      hexOf(key),
      key.toString('base64'),
      [...key].join(),
      [...key].join(', '),
      BigInt(`0x${hexOf(key)}`).toString(),
    ]
    for (const spelling of spellings) expect(printed.toLowerCase()).not.toContain(spelling.toLowerCase())
  })
})
