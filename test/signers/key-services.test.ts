import { expect, test, vi } from 'vitest'
import { createWarmUpGate } from '../../src/signers/key-services/azure-key-vault.ts'
import { moduleEnvironment } from '../../src/signers/pkcs11/module-process.ts'
import { describePinState } from '../../src/signers/pkcs11/process/module.ts'
import { createSignatureCache } from '../../src/signers/remote/create-remote-key.ts'

/** Work that ends when it is told, and a list of what has begun. */
function setUp() {
  const inTurn = createWarmUpGate()
  const begun: string[] = []
  const start = (name: string) => {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const result = inTurn(() => {
      begun.push(name)
      return promise
    })
    result.catch(() => undefined)
    return { result, succeed: () => resolve(name), fail: () => reject(new Error(name)) }
  }
  return { begun, start }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

test('other calls wait until the first has succeeded, and then run together', async () => {
  const { begun, start } = setUp()
  const [first, second, third] = [start('first'), start('second'), start('third')]
  await settled()
  expect(begun).toEqual(['first'])
  first.succeed()
  await settled()
  expect(begun).toEqual(['first', 'second', 'third'])
  second.succeed()
  third.succeed()
  expect(await Promise.all([first.result, second.result, third.result])).toEqual(['first', 'second', 'third'])
})

test('when the first fails, one other is the first', async () => {
  const { begun, start } = setUp()
  const [first, second] = [start('first'), start('second'), start('third')]
  first.fail()
  await settled()
  expect(begun).toEqual(['first', 'second'])
  second.succeed()
  await settled()
  expect(begun).toEqual(['first', 'second', 'third'])
  await expect(first.result).rejects.toThrow('first')
})

test('the library of an HSM gets its own variables and those of the system, and none of the secrets of the service', () => {
  const own = {
    PATH: '/usr/bin',
    LC_ALL: 'C.UTF-8',
    SOFTHSM2_CONF: '/etc/softhsm2.conf',
    ChrystokiConfigurationPath: '/etc/luna',
    NFAST_HOME: '/opt/nfast',
    CS_PKCS11_R3_CFG: '/etc/utimaco.cfg',
  }
  const secret = {
    API_KEY: 'a',
    STORAGE_ENCRYPTION_KEY: 'b',
    DATABASE_URL: 'postgres://user:secret@host/db',
    KEYSTORE_PASSPHRASE: 'c',
    HSM_PIN: 'd',
    WEBHOOK_SIGNING_KEY: 'e',
    NODE_OPTIONS: '--require ./other.js',
    MY_PATH: 'f',
  }
  expect(moduleEnvironment({ ...own, ...secret })).toEqual(own)
})

/** The flags of a token that is ready: CKF_RNG, CKF_LOGIN_REQUIRED, CKF_USER_PIN_INITIALIZED, CKF_TOKEN_INITIALIZED. */
const READY = 0x40d

test.each<[string, number, RegExp | undefined]>([
  ['that is ready', READY, undefined],
  ['after one wrong PIN (CKF_USER_PIN_COUNT_LOW)', READY | 0x10000, undefined],
  [
    'before the last attempt (CKF_USER_PIN_FINAL_TRY)',
    READY | 0x10000 | 0x20000,
    /allows one more wrong PIN/,
  ],
  ['that is locked (CKF_USER_PIN_LOCKED)', READY | 0x40000, /is locked after too many wrong PINs/],
  ['whose officer made mistakes (CKF_SO_PIN_FINAL_TRY)', READY | 0x200000, undefined],
])('a token %s gets the PIN only where it cannot be locked by it', (_what, flags, expected) => {
  const problem = describePinState(flags)
  if (expected === undefined) expect(problem).toBeUndefined()
  else expect(problem).toMatch(expected)
})

test('calls for the same payload share one result, and failures are not kept', async () => {
  const make = vi
    .fn<(payload: Uint8Array) => Promise<number>>()
    .mockRejectedValueOnce(new Error('no'))
    .mockResolvedValue(1)
  const memo = createSignatureCache(make)
  await expect(memo(Uint8Array.of(1))).rejects.toThrow('no')
  expect(await Promise.all([memo(Uint8Array.of(1)), memo(Uint8Array.of(1))])).toEqual([1, 1])
  expect(make).toHaveBeenCalledTimes(2)
  await memo(Uint8Array.of(2))
  expect(make).toHaveBeenCalledTimes(3)
})

test('long payloads are not kept in memory', async () => {
  const MEBIBYTE = 1024 * 1024
  const memo = createSignatureCache(async () => undefined)
  const before = process.memoryUsage().heapUsed
  const payload = new Uint8Array(MEBIBYTE)
  for (let number = 0; number < 200; number += 1) {
    payload[0] = number
    await memo(payload)
  }
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * MEBIBYTE)
})
