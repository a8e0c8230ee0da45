import { randomBytes } from 'node:crypto'
import { evmAddress } from '../../signers/evm-address.ts'
import { createKey, createSeparateKey, isSecret } from '../../signers/key.ts'
import { encryptKeystore } from '../../signers/keystore.ts'
import type { Terminal } from '../command.ts'
import { exists, refuseExisting, writeNew } from '../files.ts'
import { readPassphrase } from './passphrase.ts'

/** The bytes of a generated passphrase: 256 bits, 43 characters in base64. */
const GENERATED_BYTES = 32

interface KeyFile {
  /** The path of the encrypted key, which must not exist. */
  readonly path: string
  /** The file whose first line is the passphrase. It is created with a generated passphrase when missing. */
  readonly passphraseFile: string
  readonly terminal: Terminal
}

/** Generates a private key from the random source of the system. */
export function generateKey(): NewSecret {
  for (;;) {
    const secret = new Uint8Array(randomBytes(32))
    // About one in 2^128 numbers of 32 bytes is not a valid key.
    if (isSecret(secret)) return { secret, separate: true }
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

/** A private key for a new file. */
export interface NewSecret {
  readonly secret: Uint8Array
  /** Gives each network type a key of its own: for generated secrets, because an imported one has its addresses already. */
  readonly separate: boolean
}

/** Encrypts a private key into a new file, and returns its addresses. */
export async function writeKeyFile(
  { secret, separate }: NewSecret,
  { path, passphraseFile, terminal }: KeyFile,
): Promise<Addresses> {
  await refuseExisting([path])
  const passphrase = await usePassphrase(passphraseFile, terminal)
  const addresses = await addressesOf({ secret, separate })
  await writeNew(path, await encryptKeystore(secret, { passphrase, address: addresses.evm, separate }))
  return addresses
}

/** Computes the addresses of a private key. */
export async function addressesOf({ secret, separate }: NewSecret): Promise<Addresses> {
  const key = separate ? createSeparateKey('new', secret) : createKey('new', secret)
  const { solanaAddress } = await import('../../signers/solana-key.ts')
  const { stellarAddress } = await import('../../signers/stellar-key.ts')
  return {
    evm: evmAddress(key.evm.publicKey),
    solana: solanaAddress(key.solana.publicKey),
    stellar: stellarAddress(key.stellar.publicKey),
  }
}

/** Prints a line for each address. */
export function printAddresses({ evm, stellar, solana }: Addresses, terminal: Terminal): void {
  terminal.out(`address     ${evm}`)
  terminal.out(`stellar     ${stellar}`)
  terminal.out(`solana      ${solana}`)
}

interface NamedKeyFile {
  readonly path: string
  /** Default: a file beside the key file. */
  readonly passphraseFile: string | undefined
  readonly terminal: Terminal
}

/** Writes a key file like `writeKeyFile`, and prints the addresses and file names. */
export async function makeKeyFile(
  secret: NewSecret,
  { path, passphraseFile = passphraseFileOf(path), terminal }: NamedKeyFile,
): Promise<void> {
  printAddresses(await writeKeyFile(secret, { path, passphraseFile, terminal }), terminal)
  terminal.out(`key file    ${path}`)
  terminal.out(`passphrase  ${passphraseFile}`)
}

/** `keys/a.json` → `keys/a.passphrase` */
export function passphraseFileOf(path: string): string {
  return `${path.replace(/\.json$/, '')}.passphrase`
}

/** Reads the passphrase; a missing file is created with a generated one. */
export async function usePassphrase(path: string, terminal: Terminal): Promise<string> {
  if (await exists(path)) return readPassphrase(path, terminal)
  const passphrase = randomBytes(GENERATED_BYTES).toString('base64url')
  await writeNew(path, `${passphrase}\n`)
  return passphrase
}
