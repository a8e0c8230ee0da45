import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSecret } from '../../../src/security/secrets.ts'
import type { Key } from '../../../src/signers/key.ts'
import type { SignerConfig } from '../../../src/signers/providers/registry.ts'
import { moduleProcesses } from '../../support/key-services/module-processes.ts'
import { createSoftHsm, type SoftHsm, TOKEN } from '../../support/key-services/softhsm.ts'
import { until } from '../../support/until.ts'
import { describeConformance } from './conformance.ts'
import { ACCOUNTS, openSigner, SECRET } from './keys.ts'

let hsm: SoftHsm

beforeAll(async () => {
  hsm = await createSoftHsm([
    { label: 'evm', id: '01', curve: 'secp256k1', secret: SECRET },
    { label: 'ed', id: '02', curve: 'ed25519', secret: SECRET },
    { label: 'twice', id: '03', curve: 'ed25519', secret: SECRET },
    { label: 'twice', id: '04', curve: 'ed25519', secret: '22'.repeat(32) },
  ])
  for (const [name, value] of Object.entries(hsm.env)) vi.stubEnv(name, value)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  for (const pid of processes()) process.kill(pid, 'SIGKILL')
  await hsm.remove()
})

type Pkcs11Config = SignerConfig<'pkcs11'>

const configOf = (config: Partial<Pkcs11Config>): Pkcs11Config => ({
  id: 'tested',
  type: 'pkcs11',
  modulePath: hsm.modulePath,
  token: { label: TOKEN.label },
  key: { label: 'evm' },
  pin: createSecret(TOKEN.pin),
  ...config,
})
const open = (config: Partial<Pkcs11Config> = {}, limits = { timeoutMs: 10_000, concurrency: 50 }) =>
  openSigner(configOf(config), limits)

/** The processes of the library that this one has started. */
const processes = () => moduleProcesses(process.pid)

const { evm, ...ed25519 } = ACCOUNTS
describeConformance({ name: 'pkcs11 of secp256k1', open, accounts: { evm } })
describeConformance({
  name: 'pkcs11 of ed25519, by its id and slot',
  open: () => open({ key: { id: '02' }, token: { slot: hsm.slot } }),
  accounts: ed25519,
})

let payloads = 0
/** Another payload each time, because equal ones share a signature. */
const sign = (key: Key) => {
  payloads += 1
  const payload = new Uint8Array(32).fill(payloads)
  return key.evm?.sign(payload) ?? key.solana?.sign(payload)
}
const check = ({ evm: signer, solana }: Key) => (signer ?? solana)?.check?.()

describe.each([
  ['secp256k1', 'evm'],
  ['ed25519', 'ed'],
])('a PKCS#11 library with a key of %s', (_curve, label) => {
  afterEach(() => {
    for (const pid of processes()) process.kill(pid, 'SIGCONT')
  })

  test('has one process, whatever the number of signers', async () => {
    await Promise.all([1, 2, 3].map(() => open({ key: { label } })))
    expect(processes()).toHaveLength(1)
  })

  test('crashes: the call is repeated with a new process', async () => {
    const key = await open({ key: { label } })
    const [crashed = 0] = processes()
    process.kill(crashed, 'SIGKILL')
    expect(await sign(key)).toBeDefined()
    expect(processes()).not.toContain(crashed)
  })

  test('hangs: nothing is signed, the service goes on, its process is replaced, and it signs again', async () => {
    const key = await open({ key: { label } }, { timeoutMs: 1_500, concurrency: 8 })
    const [stopped = 0] = processes()
    process.kill(stopped, 'SIGSTOP')
    const signing = sign(key)
    // A timer that fires shows that the event loop is free.
    expect(await Promise.race([signing, new Promise((resolve) => setTimeout(resolve, 50, 'free'))])).toBe(
      'free',
    )
    expect(await signing).toBeDefined()
    await until(
      async () => processes(),
      (pids) => !pids.includes(stopped),
    )
  })

  test('loses its token: what is to be signed waits, and after a new login it signs', async () => {
    const key = await open({ key: { label } })
    await hsm.unplug()
    // SoftHSM keeps what it has read until it starts again.
    for (const pid of processes()) process.kill(pid, 'SIGKILL')
    let isAway = true
    const plugIn = async () => {
      if (isAway) await hsm.plugIn()
      isAway = false
    }
    onTestFinished(plugIn)
    await expect(sign(key)).rejects.toMatchObject({
      code: 'signer_unavailable',
      detail: `signer "tested": PKCS#11 key ${label} in token ${TOKEN.label} cannot be used: there is no token ${TOKEN.label} now.`,
    })
    expect(await check(key)).toMatchObject({ kind: 'unknown' })
    await plugIn()
    expect(await sign(key)).toBeDefined()
    expect(await check(key)).toEqual({ kind: 'ok' })
  })

  test('signs 400 payloads for two signers at the same time', async () => {
    const keys = await Promise.all([open({ key: { label } }), open({ key: { label } })])
    const made = await Promise.all(
      Array.from({ length: 200 }, (_, index) => new Uint8Array(32).fill(index, 0, 20)).flatMap((payload) =>
        keys.map((key) => key.evm?.sign(payload) ?? key.solana?.sign(payload)),
      ),
    )
    expect(made.filter((signature) => signature !== undefined)).toHaveLength(400)
  })
})

describe('a signer of the type pkcs11', () => {
  test.each<[string, () => Partial<Pkcs11Config>, RegExp]>([
    [
      'without its key',
      () => ({ key: { label: 'none' } }),
      /key none in token relayer-test does not exist: its token has no such private key\.$/,
    ],
    [
      'with two keys of its label',
      () => ({ key: { label: 'twice' } }),
      /is not the only one: .*; name its key_id\.$/,
    ],
    [
      'without its library',
      () => ({ modulePath: '/nowhere/lib.so' }),
      /the library \/nowhere\/lib\.so cannot be loaded\.$/,
    ],
  ])('%s is refused', async (_what, config, expected) => {
    await expect(open(config())).rejects.toMatchObject({
      code: 'signer_refused',
      detail: expect.stringMatching(expected),
    })
  })

  test('with a wrong PIN asks the token once, also after its process ended, and tells no PIN', async () => {
    const config = { pin: createSecret('wrong-9876'), key: { label: 'evm' } }
    for (const pid of processes()) process.kill(pid, 'SIGKILL')
    const results = await Promise.allSettled([1, 2, 3].map(() => open(config)))
    for (const result of results) {
      const { code, detail, message } = (result as PromiseRejectedResult).reason
      expect(code).toBe('signer_refused')
      expect(detail).toMatch(/cannot be used: the PIN is wrong \(CKR_PIN_INCORRECT\)\.$/)
      expect(`${detail} ${message}`).not.toContain('9876')
    }
    const running = processes()
    for (const pid of running) process.kill(pid, 'SIGKILL')
    await until(
      async () => processes(),
      (pids) => pids.length === 0,
    )
    await expect(open(config)).rejects.toMatchObject({ code: 'signer_refused' })
    // No process was started, so no one can have asked the token.
    expect(processes()).toEqual([])
    expect(await sign(await open())).toBeDefined()
  })
})
