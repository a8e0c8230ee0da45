import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createKey, createSeparateKey, isSecret } from '../../signers/key.ts'
import { decryptKeystore, encryptKeystore, isSeparate, KeystoreError } from '../../signers/keystore.ts'
import { evmAddress } from '../../signers/secp256k1.ts'
import { type Terminal, UsageError } from '../command.ts'
import { exists, refuseExisting, writeNew } from '../files.ts'

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
interface Addresses {
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
  /**
   * Derives a separate key for each network type: for generated secrets, because an imported one already has
   * its addresses.
   */
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
  const { solanaAddress } = await import('../../signers/ed25519.ts')
  const { stellarAddress } = await import('../../signers/ed25519.ts')
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

interface OpenKeyFile {
  readonly path: string
  readonly passphraseFile: string
  readonly terminal: Terminal
}

/**
 * Decrypts a key file.
 * @throws UsageError for a file that cannot be read or decrypted; never with content of the file
 */
export async function openKeyFile({ path, passphraseFile, terminal }: OpenKeyFile): Promise<NewSecret> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(`${path} cannot be read (${error.code}).`)
  })
  const passphrase = await readPassphrase(passphraseFile, terminal)
  try {
    const secret = await decryptKeystore(text, passphrase)
    if (isSecret(secret)) return { secret, separate: isSeparate(text) }
  } catch (error) {
    if (error instanceof KeystoreError) throw new UsageError(`${path} cannot be opened: ${error.message}.`)
    throw error
  }
  throw new UsageError(`${path} has no private key of 32 bytes.`)
}

/** Other users of the machine have these permissions on a file. */
const OTHERS = 0o077

/** A shorter passphrase is guessed in spite of scrypt's cost. */
const SHORTEST = 12

/**
 * Reads the first line of a passphrase file, and warns about a file that others can read and about a short
 * passphrase.
 * @throws UsageError for a file that cannot be read or has no first line
 */
async function readPassphrase(path: string, terminal: Terminal): Promise<string> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new UsageError(
      `${path} cannot be read (${error.code}). Name the passphrase file: --passphrase-file <file>`,
    )
  })
  const passphrase = text.split(/\r?\n/, 1)[0]
  if (!passphrase) throw new UsageError(`The first line of ${path} is empty; it must be the passphrase.`)
  const { mode } = await stat(path)
  if ((mode & OTHERS) !== 0)
    terminal.err(
      `warning: other users can read ${path} (mode ${(mode & 0o777).toString(8)}): chmod 600 ${path}`,
    )
  if (passphrase.length < SHORTEST)
    terminal.err(
      `warning: the passphrase in ${path} has fewer than ${SHORTEST} characters, so it can be guessed`,
    )
  return passphrase
}
