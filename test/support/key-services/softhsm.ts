import { execFileSync } from 'node:child_process'
import { createPrivateKey, type JsonWebKeyInput } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { publicKeyCreate } from 'secp256k1'

/** A private key of a token. */
export interface HsmKey {
  readonly label: string
  /** Hex digits. */
  readonly id: string
  readonly curve: 'secp256k1' | 'ed25519'
  /** 64 hex digits. */
  readonly secret: string
}

/** A token of SoftHSM2, in a temporary folder. */
export interface SoftHsm {
  readonly modulePath: string
  /** The environment that leads the library to the token. */
  readonly env: Readonly<Record<string, string>>
  readonly slot: number
  importKey(key: HsmKey): Promise<void>
  /** Takes the token away, and brings it back. */
  unplug(): Promise<void>
  plugIn(): Promise<void>
  remove(): Promise<void>
}

export const TOKEN = { label: 'relayer-test', pin: '1234-relayer' }

const MODULES = [
  '/usr/lib/softhsm',
  '/usr/lib64/pkcs11',
  '/usr/local/lib/softhsm',
  '/opt/homebrew/lib/softhsm',
]

/** True when `createSoftHsm` and the service can work: SoftHSM2 (package `softhsm2` of Debian) and pkcs11js are installed here. */
export function hasSoftHsm(): boolean {
  return findModule() !== undefined && hasPackage()
}

function hasPackage(): boolean {
  try {
    createRequire(import.meta.url)('pkcs11js')
    return true
  } catch {
    return false
  }
}

function findModule(): string | undefined {
  const folders = [...MODULES, ...(existsSync('/usr/lib') ? multiarchFolders() : [])]
  return folders.map((folder) => join(folder, 'libsofthsm2.so')).find((path) => existsSync(path))
}

function multiarchFolders(): string[] {
  return readdirSync('/usr/lib').map((name) => join('/usr/lib', name, 'softhsm'))
}

/** Makes a token with these keys. */
export async function createSoftHsm(keys: readonly HsmKey[]): Promise<SoftHsm> {
  const modulePath = findModule()
  if (modulePath === undefined) throw new Error('There is no SoftHSM2 here.')
  const folder = await mkdtemp(join(tmpdir(), 'relayer-softhsm-'))
  const [tokens, away, conf] = [join(folder, 'tokens'), join(folder, 'away'), join(folder, 'softhsm2.conf')]
  await mkdir(tokens)
  await writeFile(conf, `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`)
  const env = { SOFTHSM2_CONF: conf }
  const util = (...args: string[]) =>
    execFileSync('softhsm2-util', args, { env: { ...process.env, ...env }, encoding: 'utf8', stdio: 'pipe' })
  const printed = util(
    '--init-token',
    '--free',
    '--label',
    TOKEN.label,
    '--so-pin',
    '5678',
    '--pin',
    TOKEN.pin,
  )

  async function importKey(key: HsmKey): Promise<void> {
    const file = join(folder, `${key.id}.pem`)
    await writeFile(file, toPkcs8(key))
    const own = ['--label', key.label, '--id', key.id, '--force']
    util('--import', file, '--token', TOKEN.label, '--pin', TOKEN.pin, ...own)
  }

  for (const key of keys) await importKey(key)
  return {
    modulePath,
    env,
    slot: Number(/reassigned to slot (\d+)/.exec(printed)?.[1]),
    importKey,
    unplug: async () => {
      await rename(tokens, away)
      await mkdir(tokens)
    },
    plugIn: async () => {
      await rm(tokens, { recursive: true })
      await rename(away, tokens)
    },
    remove: () => rm(folder, { recursive: true }),
  }
}

function toPkcs8({ curve, secret }: HsmKey): string {
  const bytes = Buffer.from(secret, 'hex')
  const key = curve === 'ed25519' ? ed25519(bytes) : createPrivateKey(jwkOf(bytes))
  return key.export({ format: 'pem', type: 'pkcs8' }).toString()
}

function ed25519(seed: Buffer) {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  return createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' })
}

function jwkOf(secret: Buffer): JsonWebKeyInput {
  const point = Buffer.from(publicKeyCreate(secret, false))
  const [x, y, d] = [point.subarray(1, 33), point.subarray(33), secret].map((part) =>
    part.toString('base64url'),
  )
  return { key: { kty: 'EC', crv: 'secp256k1', x, y, d }, format: 'jwk' } as JsonWebKeyInput
}
