import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { evmAddress } from '../signers/evm-address.ts'
import { createKey, isSecret } from '../signers/key.ts'
import { encryptKeystore } from '../signers/keystore/keystore.ts'
import { type Terminal, UsageError } from './command.ts'
import { exists, refuseExisting, writeNew } from './files.ts'

/** 256 bits in 43 characters. */
const GENERATED_BYTES = 32

interface KeyFile {
  /** Where the encrypted key goes; must not exist. */
  readonly path: string
  /** Its first line is the passphrase; made with a generated one when missing. */
  readonly passphraseFile: string
}

/** A fresh private key from the system's random source. */
export function generateKey(): Uint8Array {
  for (;;) {
    const key = new Uint8Array(randomBytes(32))
    // Not every number of 32 bytes is a key; one in 2^128 is not.
    if (isSecret(key)) return key
  }
}

/** What an account of this key is called on each kind of network. */
export interface Addresses {
  /** EIP-55. */
  readonly evm: string
  /** `G…`. */
  readonly stellar: string
  /** Base58. */
  readonly solana: string
}

/** Encrypts a private key into a new file and gives its addresses. */
export async function writeKeyFile(
  secret: Uint8Array,
  { path, passphraseFile }: KeyFile,
): Promise<Addresses> {
  await refuseExisting([path])
  const passphrase = await usePassphrase(passphraseFile)
  const key = createKey('new', secret)
  const { solanaAddress } = await import('../signers/solana-key.ts')
  const { stellarAddress } = await import('../signers/stellar-key.ts')
  const evm = evmAddress(key.secp256k1.publicKey)
  await writeNew(path, await encryptKeystore(secret, { passphrase, address: evm }))
  const { publicKey } = key.ed25519
  return { evm, solana: solanaAddress(publicKey), stellar: stellarAddress(publicKey) }
}

interface NamedKeyFile {
  readonly path: string
  /** Default: beside the key file. */
  readonly passphraseFile: string | undefined
  readonly terminal: Terminal
}

/** The same, and prints what there is now. */
export async function makeKeyFile(
  secret: Uint8Array,
  { path, passphraseFile = passphraseFileOf(path), terminal }: NamedKeyFile,
): Promise<void> {
  const addresses = await writeKeyFile(secret, { path, passphraseFile })
  terminal.out(`address     ${addresses.evm}`)
  terminal.out(`stellar     ${addresses.stellar}`)
  terminal.out(`solana      ${addresses.solana}`)
  terminal.out(`key file    ${path}`)
  terminal.out(`passphrase  ${passphraseFile}`)
}

/** `keys/a.json` → `keys/a.passphrase` */
function passphraseFileOf(path: string): string {
  return `${path.replace(/\.json$/, '')}.passphrase`
}

async function usePassphrase(path: string): Promise<string> {
  if (await exists(path)) {
    const passphrase = (await readFile(path, 'utf8')).split(/\r?\n/, 1)[0]
    if (!passphrase) throw new UsageError(`The first line of ${path} is empty; it must be the passphrase.`)
    return passphrase
  }
  const passphrase = randomBytes(GENERATED_BYTES).toString('base64url')
  await writeNew(path, `${passphrase}\n`)
  return passphrase
}
