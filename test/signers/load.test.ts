import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair, StrKey } from '@stellar/stellar-sdk/base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ConfigError } from '../../src/lib/fields.ts'
import { createSecret } from '../../src/security/secrets.ts'
import { stellarAddress } from '../../src/signers/ed25519.ts'
import { PRIVATE_KEY_FORMS } from '../../src/signers/key.ts'
import { encryptKeystore } from '../../src/signers/keystore.ts'
import { loadKeys } from '../../src/signers/load.ts'
import type { SignerConfig } from '../../src/signers/providers/registry.ts'
import { evmAddress } from '../../src/signers/secp256k1.ts'
import { KEY_SERVICES } from '../support/key-services/connections.ts'

const KEY = 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const ADDRESS = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const PASSPHRASE = 'correct horse battery staple'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'relayer-signers-'))
  const options = { passphrase: PASSPHRASE, address: ADDRESS, n: 2 ** 10 }
  await writeFile(join(folder, 'good.json'), await encryptKeystore(Buffer.from(KEY, 'hex'), options))
  const separate = await encryptKeystore(Buffer.from(KEY, 'hex'), { ...options, separate: true })
  await writeFile(join(folder, 'separate.json'), separate)
  await writeFile(join(folder, 'unknown.json'), separate.replace('"network_type"', '"wallet"'))
  await writeFile(join(folder, 'zero.json'), await encryptKeystore(new Uint8Array(32), options))
  await writeFile(join(folder, 'short.json'), await encryptKeystore(new Uint8Array(16).fill(1), options))
  await writeFile(join(folder, 'text.json'), KEY)
  await writeFile(join(folder, 'large.json'), 'x'.repeat(65 * 1024))
})

afterAll(() => rm(folder, { recursive: true }))

const local = (id: string, file: string, passphrase = PASSPHRASE): SignerConfig => ({
  id,
  type: 'local',
  path: join(folder, file),
  passphrase: createSecret(passphrase),
})
const plain = (id: string, key: string): SignerConfig => ({ id, type: 'plain', key: createSecret(key) })

const load = async (configs: readonly SignerConfig[]) =>
  (await loadKeys(configs, KEY_SERVICES.configured)).keys

describe('configured signers', () => {
  test('of both kinds are loaded by id', async () => {
    const keys = await load([local('file', 'good.json'), plain('text', `0x${KEY}`)])
    expect([...keys].map(([id, { evm }]) => [id, evm && evmAddress(evm.publicKey)])).toEqual([
      ['file', ADDRESS],
      ['text', ADDRESS],
    ])
  })

  test('of both kinds are keys of Stellar as well, whatever their spelling', async () => {
    const seed = StrKey.encodeEd25519SecretSeed(Buffer.from(KEY, 'hex'))
    const keys = await load([local('file', 'good.json'), plain('text', KEY), plain('seed', seed)])
    const account = Keypair.fromSecret(seed).publicKey()
    expect([...keys.values()].map(({ stellar }) => stellar && stellarAddress(stellar.publicKey))).toEqual([
      account,
      account,
      account,
    ])
  })

  test('of a marked key file have a key for each network type', async () => {
    const keys = await load([local('marked', 'separate.json'), local('plain', 'good.json')])
    const [marked, plainKey] = [...keys.values()]
    expect(evmAddress(marked?.evm?.publicKey ?? new Uint8Array())).toBe(ADDRESS)
    expect([marked?.isShared, plainKey?.isShared]).toEqual([false, true])
    const accounts = [marked?.stellar, marked?.solana, plainKey?.stellar].map((key) => key?.publicKey)
    expect(new Set(accounts.map((account) => Buffer.from(account ?? []).toString('hex'))).size).toBe(3)
  })

  test('that are wrong are all reported together, without any secret', async () => {
    const loading = load([
      local('a', 'good.json', 'wrong passphrase'),
      local('b', 'missing.json'),
      local('c', 'text.json'),
      local('d', 'zero.json'),
      local('e', 'short.json'),
      local('f', 'large.json'),
      local('g', '.'),
      local('k', 'unknown.json'),
      plain('h', KEY.slice(1)),
      plain('i', '0'.repeat(64)),
      plain('j', 'SNOT-A-SEED'),
      plain('fine', KEY),
    ])
    const error: unknown = await loading.catch((thrown) => thrown)
    const at = (file: string) => join(folder, file)
    const noKey = `its key must be a private key: ${PRIVATE_KEY_FORMS}`
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as ConfigError).problems).toEqual([
      `signer "a": the key file ${at('good.json')} cannot be read: the passphrase is wrong`,
      `signer "b": there is no key file ${at('missing.json')}`,
      `signer "c": the key file ${at('text.json')} cannot be read: it is not JSON`,
      `signer "d": the key file ${at('zero.json')} cannot be read: it does not contain a private key`,
      `signer "e": the key file ${at('short.json')} cannot be read: it does not contain a private key`,
      `signer "f": the key file ${at('large.json')} cannot be read: it has 66560 bytes, more than any key file`,
      `signer "g": the key file ${join(folder, '.')} cannot be read (EISDIR)`,
      `signer "k": the key file ${at('unknown.json')} cannot be read: the derivation in its x-relayer is not known`,
      `signer "h": ${noKey}`,
      `signer "i": ${noKey}`,
      `signer "j": ${noKey}`,
    ])
  })
})
