import { inspect } from 'node:util'
import { getBase58Decoder } from '@solana/kit'
import { describe, expect, test } from 'vitest'
import { createEd25519Signer, solanaAddress, stellarAddress } from '../../src/signers/ed25519.ts'
import {
  createKey,
  createSeparateKey,
  isSecret,
  parsePrivateKey,
  separateSecret,
} from '../../src/signers/key.ts'
import { crc32c } from '../../src/signers/key-services/google-cloud-kms.ts'

/** Secret seeds and their accounts, from the test cases of SEP-5. */
const SEEDS: [string, string][] = [
  [
    'SBGWSG6BTNCKCOB3DIFBGCVMUPQFYPA2G4O34RMTB343OYPXU5DJDVMN',
    'GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6',
  ],
  [
    'SAKS7I2PNDBE5SJSUSU2XLJ7K5XJ3V3K4UDFAHMSBQYPOKE247VHAGDB',
    'GAVXVW5MCK7Q66RIBWZZKZEDQTRXWCZUP4DIIFXCCENGW2P6W4OA34RH',
  ],
  [
    'SAEWIVK3VLNEJ3WEJRZXQGDAS5NVG2BYSYDFRSH4GKVTS5RXNVED5AX7',
    'GC3MMSXBWHL6CPOAVERSJITX7BH76YU252WGLUOM5CJX3E7UCYZBTPJQ',
  ],
]
const [[SEED, ACCOUNT]] = SEEDS as [[string, string]]

const hexOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex')

/** A key that is none must not get as far as this. */
function demand(secret: Uint8Array | undefined): Uint8Array {
  if (secret === undefined) throw new Error('this is no private key')
  return secret
}

describe('64 hex digits', () => {
  test.each([
    ['01'.repeat(32), '01'.repeat(32)],
    [`0x${'01'.repeat(32)}`, '01'.repeat(32)],
    [`  0x${'Ab'.repeat(32)}\n`, 'ab'.repeat(32)],
    ['01'.repeat(31), undefined],
    ['01'.repeat(33), undefined],
    [`0X${'01'.repeat(32)}`, undefined],
    ['zz'.repeat(32), undefined],
    ['00'.repeat(32), undefined],
    ['ff'.repeat(32), undefined],
    ['', undefined],
  ])('%j are read as %s', async (text, want) => {
    expect(hexOf(await parsePrivateKey(text))).toBe(want)
  })
})

describe('a Stellar secret seed', () => {
  test.each(SEEDS)('%s is that of its account', async (seed, account) => {
    const key = createKey('a', demand(await parsePrivateKey(seed)))
    expect(stellarAddress(key.stellar.publicKey)).toBe(account)
  })

  test('may have space around it', async () => {
    expect(await parsePrivateKey(`\n ${SEED} `)).toEqual(await parsePrivateKey(SEED))
  })

  test('is the same key as its 32 bytes in hex', async () => {
    const secret = demand(await parsePrivateKey(SEED))
    expect(await parsePrivateKey(`0x${hexOf(secret)}`)).toEqual(secret)
  })

  /** The kinds of bad strkeys of SEP-23. */
  test.each([
    ['a bad checksum', `${SEED.slice(0, -1)}O`],
    ['two digits changed places', SEED.replace('SBGW', 'SBWG')],
    ['one digit too many', `${SEED}A`],
    ['one digit too few', SEED.slice(0, -1)],
    ['padding', `${SEED}=`],
    ['a digit that base32 does not have', SEED.replace('6', '1')],
    ['small letters', SEED.toLowerCase()],
    ['another kind of key', ACCOUNT],
  ])('with %s is none', async (_what, text) => {
    expect(text).not.toBe(SEED)
    expect(await parsePrivateKey(text)).toBeUndefined()
  })
})

describe('a Solana key pair', () => {
  // Section 7.1 of RFC 8032, test 1: the seed and its public key.
  const PAIR = Buffer.from(
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
    'hex',
  )
  const changed = (at: number) => PAIR.map((byte, index) => (index === at ? byte ^ 1 : byte))
  const base58 = (bytes: Uint8Array) => getBase58Decoder().decode(bytes)

  test.each([
    ['base58', base58(PAIR)],
    ['a list of solana-keygen', JSON.stringify([...PAIR])],
    ['a list over several lines', JSON.stringify([...PAIR], undefined, 2)],
  ])('as %s is its seed', async (_what, text) => {
    const key = createKey('a', demand(await parsePrivateKey(`${text}\n`)))
    expect(Buffer.from(key.solana.publicKey)).toEqual(PAIR.subarray(32))
    expect(solanaAddress(key.solana.publicKey)).toBe(base58(PAIR.subarray(32)))
  })

  test.each([
    ['another public key', base58(changed(63))],
    ['another seed', JSON.stringify([...changed(0)])],
    ['63 bytes', base58(PAIR.subarray(0, 63))],
    ['a number that is no byte', JSON.stringify([...PAIR.subarray(0, 63), 256])],
    ['a list without its end', JSON.stringify([...PAIR]).slice(0, -1)],
    ['a list of nothing', `[${','.repeat(130)}]`],
  ])('with %s is none', async (_what, text) => {
    expect(await parsePrivateKey(text)).toBeUndefined()
  })
})

describe('a key', () => {
  test('is one of both curves, as it is on every network type', () => {
    const { id, isShared, evm, stellar, solana } = createKey('hot', new Uint8Array(32).fill(1))
    expect([id, evm.id, stellar.id, solana.id]).toEqual(['hot', 'hot', 'hot', 'hot'])
    expect([evm.curve, evm.publicKey.length]).toEqual(['secp256k1', 65])
    expect([stellar.curve, stellar.publicKey.length]).toEqual(['ed25519', 32])
    expect(solana.publicKey).toEqual(stellar.publicKey)
    expect(isShared).toBe(true)
  })

  test('that is separate is another one on each network type, and the same one for ever', () => {
    const secret = new Uint8Array(32).fill(1)
    const [shared, { evm, stellar, solana, isShared }] = [
      createKey('a', secret),
      createSeparateKey('a', secret),
    ]
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
    expect(isShared).toBe(false)
    expect(evm.publicKey).toEqual(shared.evm.publicKey)
    // A change of the derivation would move the accounts of every operator.
    expect(hex(stellar.publicKey)).toBe('0110e6bc991b6c2a4fdebda151aaa1eb4964c1f4b28a3142a7a5c5bf19229d4b')
    expect(hex(solana.publicKey)).toBe('eba5b7fed0464e3fd8372d5945b9e0bee3b3e7b29b81d66c1366f3a7c009ddec')
    const channels = [shared.stellar, stellar, solana].map((key) => hex(key.derive('channel/1').publicKey))
    const all = [shared.stellar, stellar, solana].map(({ publicKey }) => hex(publicKey))
    expect(new Set([...all, ...channels]).size).toBe(6)
  })

  test.each([
    ['32 bytes', new Uint8Array(32).fill(1), true],
    ['zeros', new Uint8Array(32), false],
    ['31 bytes', new Uint8Array(31).fill(1), false],
    ['33 bytes', new Uint8Array(33).fill(1), false],
  ])('of %s is judged', (_what, bytes, valid) => {
    expect(isSecret(bytes)).toBe(valid)
  })
})

const SECRET = Uint8Array.from({ length: 32 }, (_, index) => index + 1)

test('a shared key has one ed25519 signer, and a separate key one for each network type', () => {
  const shared = createKey('a', SECRET)
  expect(shared.stellar).toBe(shared.stellar)
  expect(shared.solana).toBe(shared.stellar)
  expect(shared.stellar.publicKey).toEqual(createEd25519Signer('a', SECRET).publicKey)
  const separate = createSeparateKey('a', SECRET)
  for (const type of ['stellar', 'solana'] as const) {
    expect(separate[type]).toBe(separate[type])
    const { publicKey } = createEd25519Signer('a', separateSecret(SECRET, type))
    expect(separate[type].publicKey).toEqual(publicKey)
  }
})

test('a key has a copy of the secret, and an inspection shows nothing of it', () => {
  const secret = Uint8Array.from(SECRET)
  const key = createKey('a', secret)
  secret.fill(0)
  expect(key.stellar.publicKey).toEqual(createEd25519Signer('a', SECRET).publicKey)
  const shown = inspect(key, { depth: null, showHidden: true, getters: true })
  for (const text of ['1, 2, 3, 4', Buffer.from(SECRET).toString('hex')]) expect(shown).not.toContain(text)
  expect(JSON.stringify(key)).not.toMatch(/1,2,3,4|"0":1,"1":2/)
  expect(Object.isFrozen(key)).toBe(true)
})

test.each([
  // RFC 3720, appendix B.4.
  ['32 zeros', new Uint8Array(32), 0x8a9136aa],
  ['32 bytes of ones', new Uint8Array(32).fill(255), 0x62a8ab43],
  ['32 rising bytes', Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd794e],
  ['the check value of the algorithm', new TextEncoder().encode('123456789'), 0xe3069283],
])('CRC-32C of %s', (_what, bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected)
})
