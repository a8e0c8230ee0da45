import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@stellar/stellar-sdk'
import { mnemonicToAccount } from 'viem/accounts'
import { afterAll, describe, expect, test } from 'vitest'
import { createSecret } from '../../../src/security/secrets.ts'
import { encryptKeystore } from '../../../src/signers/keystore.ts'
import { deriveEd25519Seed, isMnemonic } from '../../../src/signers/providers/mnemonic-key.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, ed25519Accounts, openSigner, SECRET } from './keys.ts'

const folder = await mkdtemp(join(tmpdir(), 'relayer-conformance-'))
afterAll(() => rm(folder, { recursive: true }))

const path = join(folder, 'key.json')
await writeFile(
  path,
  await encryptKeystore(Buffer.from(SECRET, 'hex'), {
    passphrase: 'passphrase',
    address: ACCOUNTS.evm,
    n: 1024,
  }),
)

describeConformance({
  name: 'plain',
  open: () => openSigner({ id: 'tested', type: 'plain', key: createSecret(SECRET) }),
  accounts: ACCOUNTS,
})

describeConformance({
  name: 'local',
  open: () => openSigner({ id: 'tested', type: 'local', path, passphrase: createSecret('passphrase') }),
  accounts: ACCOUNTS,
})

/** The phrase of the first test of SEP-5. */
const SEP5 = 'illness spike retreat truth genius clock brain pass fit cave bargain toe'

const mnemonic = (phrase: string, index = 0, passphrase?: string) =>
  openSigner({
    id: 'tested',
    type: 'mnemonic',
    mnemonic: createSecret(phrase),
    index,
    ...(passphrase && { passphrase: createSecret(passphrase) }),
  })

const SEED = Buffer.from(
  'e4a5a632e70943ae7f07659df1332160937fad82587216a4c64315a0fb39497ee4a01f76ddab4cba68147977f3a147b6ad584c41808e8238a07f6cc4b582f186',
  'hex',
)

describeConformance({
  name: 'mnemonic',
  open: () => mnemonic(SEP5, 1),
  accounts: {
    evm: mnemonicToAccount(SEP5, { addressIndex: 1 }).address,
    stellar: 'GBAW5XGWORWVFE2XTJYDTLDHXTY2Q2MO73HYCGB3XMFMQ562Q2W2GJQX',
    solana: ed25519Accounts(Buffer.from(deriveEd25519Seed(SEED, [44, 501, 1, 0])).toString('hex')).solana,
  },
})

describe('a seed phrase', () => {
  test('gives the accounts of SEP-5', async () => {
    const { stellarAddress } = await import('../../../src/signers/ed25519.ts')
    const addresses = await Promise.all(
      [0, 1, 2].map(async (index) => {
        const { stellar } = await mnemonic(SEP5, index)
        return stellar && stellarAddress(stellar.publicKey)
      }),
    )
    expect(addresses).toEqual([
      'GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6',
      'GBAW5XGWORWVFE2XTJYDTLDHXTY2Q2MO73HYCGB3XMFMQ562Q2W2GJQX',
      'GAY5PRAHJ2HIYBYCLZXTHID6SPVELOOYH2LBPH3LD4RUMXUW3DOYTLXW',
    ])
  })

  test('with a passphrase gives other accounts', async () => {
    const plain = await mnemonic(SEP5)
    const other = await mnemonic(SEP5, 0, 'p4ssphr4se')
    expect(other.evm?.publicKey).not.toEqual(plain.evm?.publicKey)
  })

  test('may have other spaces and capitals', async () => {
    const one = await mnemonic(SEP5)
    const other = await mnemonic(`  ${SEP5.toUpperCase().replaceAll(' ', '\n ')} `)
    expect(other.solana?.publicKey).toEqual(one.solana?.publicKey)
  })

  test.each([
    ['a wrong checksum', 'illness spike retreat truth genius clock brain pass fit cave bargain bargain'],
    ['a word that is not in the list', SEP5.replace('toe', 'toes')],
    ['too few words', 'illness spike retreat'],
  ])('with %s is refused without being quoted', async (_what, phrase) => {
    expect(isMnemonic(phrase)).toBe(false)
    await expect(mnemonic(phrase)).rejects.toThrow(/^its mnemonic must be 12, 15/)
    await expect(mnemonic(phrase)).rejects.not.toThrow(/illness/)
  })

  test('follows SLIP-10: its test vectors for ed25519', () => {
    const seed = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex')
    const hex = (path: readonly number[]) => Buffer.from(deriveEd25519Seed(seed, path)).toString('hex')
    expect(hex([])).toBe('2b4be7f19ee27bbf30c667b642d5f4aa69fd169872f8fc3059c08ebae2eb19e7')
    expect(hex([0])).toBe('68e0fe46dfb67e368c75379acec591dad19df3cde26e63b93a8e704f1dade7a3')
    expect(hex([0, 1, 2, 2, 1_000_000_000])).toBe(
      '8f94d394a8e8fd6b1bc2f3f49f5c47e385281d5c17e65324b0f62483e37e8793',
    )
    expect(Keypair.fromRawEd25519Seed(Buffer.from(deriveEd25519Seed(SEED, [44, 148, 0]))).publicKey()).toBe(
      'GDRXE2BQUC3AZNPVFSCEZ76NJ3WWL25FYFK6RGZGIEKWE4SOOHSUJUJ6',
    )
  })
})
