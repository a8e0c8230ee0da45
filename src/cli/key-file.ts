import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { evmAddress } from '../signers/evm-address.ts'
import { createKey, isSecret } from '../signers/key.ts'
import { encryptKeystore } from '../signers/keystore/keystore.ts'
import { type Terminal, UsageError } from './command.ts'
import { exists, refuseExisting, writeNew } from './files.ts'

/** The bytes of a generated passphrase: 256 bits, 43 characters in base64. */
const GENERATED_BYTES = 32

interface KeyFile {
  /** The path of the encrypted key, which must not exist. */
  readonly path: string
  /** The file whose first line is the passphrase. It is created with a generated passphrase when missing. */
  readonly passphraseFile: string
}

/** Generates a private key from the random source of the system. */
export function generateKey(): Uint8Array {
  for (;;) {
    const key = new Uint8Array(randomBytes(32))
    // About one in 2^128 numbers of 32 bytes is not a valid key.
    if (isSecret(key)) return key
  }
}

/** The addresses of a key on each type of network. */
export interface Addresses {
  /** EIP-55. */
  readonly evm: string
  /** `G…`. */
  readonly stellar: string
  /** Base58. */
  readonly solana: string
}

/** Encrypts a private key into a new file, and returns its addresses. */
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
  /** Default: a file beside the key file. */
  readonly passphraseFile: string | undefined
  readonly terminal: Terminal
}

/** Writes a key file like `writeKeyFile`, and prints the addresses and file names. */
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
