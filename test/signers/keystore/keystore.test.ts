import { decryptKeystoreJson, encryptKeystoreJson } from 'ethers'
import { describe, expect, test } from 'vitest'
import { decryptKeystore, encryptKeystore, KeystoreError } from '../../../src/signers/keystore.ts'

const PASSWORD = 'testpassword'
const KEY = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'

/** The two test vectors of the Web3 Secret Storage definition. */
const PBKDF2 = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}
const SCRYPT = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
    ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 262144,
      r: 1,
      p: 8,
      salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19',
    },
    mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
}

/** A vector with fields of its `crypto` section replaced. */
const pbkdf2With = (fields: object) => ({ ...PBKDF2, crypto: { ...PBKDF2.crypto, ...fields } })
const scryptWith = (params: object) => ({
  ...SCRYPT,
  crypto: { ...SCRYPT.crypto, kdfparams: { ...SCRYPT.crypto.kdfparams, ...params } },
})

const decrypt = (file: unknown, passphrase = PASSWORD) =>
  decryptKeystore(typeof file === 'string' ? file : JSON.stringify(file), passphrase)

describe('a key file is decrypted', () => {
  test.each([
    ['with pbkdf2', PBKDF2],
    ['with scrypt', SCRYPT],
    ['with the capital of early geth', { version: 3, Crypto: PBKDF2.crypto }],
    ['with 0x before the digits', pbkdf2With({ mac: `0x${PBKDF2.crypto.mac}` })],
  ])('%s', async (_what, file) => {
    expect(Buffer.from(await decrypt(file)).toString('hex')).toBe(KEY)
  })
})

describe('a passphrase with letters that can be written in several ways', () => {
  // A letter with a combining accent, and a ligature.
  const typed = 'e\u0301 \uFB01'

  test('opens a file of ethers, which normalizes it', async () => {
    const account = { address: '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b', privateKey: `0x${KEY}` }
    const file = await encryptKeystoreJson(account, typed, { scrypt: { N: 1024 } })
    expect(Buffer.from(await decrypt(file, typed)).toString('hex')).toBe(KEY)
  })

  test('of a file of ours opens it in ethers when it is in its normal form, as keyboards write it', async () => {
    const written = 'é fi'
    const key = Uint8Array.from(Buffer.from(KEY, 'hex'))
    const address = '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b'
    const file = await encryptKeystore(key, { passphrase: written, address, n: 1024 })
    expect((await decryptKeystoreJson(file, written)).privateKey).toBe(`0x${KEY}`)
    // The same words in the other spelling are the same passphrase for both.
    expect((await decryptKeystoreJson(file, typed)).privateKey).toBe(`0x${KEY}`)
    expect(await decrypt(file, typed)).toEqual(key)
  })

  test('opens a file of geth, which takes the bytes as they are', async () => {
    const key = Uint8Array.from(Buffer.from(KEY, 'hex'))
    const file = await encryptKeystore(key, { passphrase: typed, address: '0x00', n: 1024 })
    expect(await decrypt(file, typed)).toEqual(key)
  })
})

describe('a key file is refused', () => {
  const { mac } = PBKDF2.crypto

  test.each<[string, unknown, string]>([
    ['that is no JSON', `{"${PASSWORD}`, 'it is not JSON'],
    ['that is no object', 'null', 'the file is not an object'],
    ['of another version', { ...PBKDF2, version: 1 }, 'it is not a version 3 key file'],
    ['without its section', { version: 3 }, 'crypto is not an object'],
    ['of another cipher', pbkdf2With({ cipher: 'aes-256-gcm' }), 'its cipher is not aes-128-ctr'],
    ['of another kdf', pbkdf2With({ kdf: 'argon2' }), 'its kdf is neither scrypt nor pbkdf2'],
    ['with a mac of odd length', pbkdf2With({ mac: mac.slice(1) }), 'mac is not hex'],
    ['with a short mac', pbkdf2With({ mac: mac.slice(2) }), 'its iv or mac has a wrong length'],
    ['with text for hex', pbkdf2With({ ciphertext: 'zz' }), 'ciphertext is not hex'],
    ['with a changed ciphertext', pbkdf2With({ ciphertext: '00' }), 'the passphrase is wrong'],
    ['with a short key', scryptWith({ dklen: 16 }), 'its dklen is not 32'],
    ['with n that is no power of two', scryptWith({ n: 1000 }), 'its scrypt n is not a power of two'],
    ['with p that is no integer', scryptWith({ p: 0.5 }), 'its p is not a positive integer'],
    ['that wants too much scrypt', scryptWith({ n: 2 ** 21 }), 'its scrypt parameters require too much work'],
    [
      'that wants too much pbkdf2',
      pbkdf2With({ kdfparams: { ...PBKDF2.crypto.kdfparams, c: 10_000_001 } }),
      'its pbkdf2 parameters require too much work',
    ],
  ])('%s', async (_what, file, message) => {
    await expect(decrypt(file)).rejects.toThrow(new KeystoreError(message))
  })

  test('with another passphrase', async () => {
    await expect(decrypt(PBKDF2, 'another')).rejects.toThrow('the passphrase is wrong')
  })
})

describe('a key that is encrypted', () => {
  const key = Uint8Array.from(Buffer.from(KEY, 'hex'))
  const options = {
    passphrase: 'pässphrase 漢',
    address: '0x008AeEda4D805471dF9b2A5B0f38A0C3bCBA786b',
    n: 2 ** 10,
  }

  test('comes back with the passphrase and only with it', async () => {
    const text = await encryptKeystore(key, options)
    expect(await decrypt(text, options.passphrase)).toEqual(key)
    await expect(decrypt(text, 'pässphrase')).rejects.toThrow('the passphrase is wrong')
  })

  test('never gives the same file twice, and shows the address as other tools do', async () => {
    const [one, two] = await Promise.all([encryptKeystore(key, options), encryptKeystore(key, options)])
    const [first, second] = [JSON.parse(one), JSON.parse(two)]
    expect(first).toMatchObject({ version: 3, address: '008aeeda4d805471df9b2a5b0f38a0c3bcba786b' })
    expect(first.crypto.ciphertext).not.toBe(second.crypto.ciphertext)
    expect(first.crypto.kdfparams.salt).not.toBe(second.crypto.kdfparams.salt)
    expect(one).not.toContain(KEY)
  })
})
