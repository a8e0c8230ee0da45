import {
  address,
  getAddressEncoder,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getProgramDerivedAddress,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  type SignatureBytes,
  verifySignature,
} from '@solana/kit'

export const SYSTEM_PROGRAM = '11111111111111111111111111111111'

/** SPL Token. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb'

/** Both. */
export const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([TOKEN_PROGRAM, TOKEN_2022_PROGRAM])
export const ASSOCIATED_TOKEN_PROGRAM = address('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL')
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111'

/** The mint of wrapped SOL: an account of it holds lamports, which it hands over when it is closed. */
export const WRAPPED_SOL = 'So11111111111111111111111111111111111111112'

/** One instruction; `accounts` are indexes of the accounts of its message, those from tables included. */
export interface Instruction {
  readonly program: string
  readonly accounts: readonly number[]
  readonly data: Uint8Array
}

/** A table from which the message loads accounts. */
export interface Lookup {
  readonly table: string
  readonly writable: readonly number[]
  readonly readonly: readonly number[]
}

/** Transactions are at most this long on the wire, which base64 makes a third longer. */
const MAX_BASE64_LENGTH = 1644

/** Decodes a transaction in base64, legacy or version 0; undefined for anything else. */
export function decodeTransaction(transaction: unknown) {
  if (typeof transaction !== 'string' || transaction.length > MAX_BASE64_LENGTH) return undefined
  try {
    const { messageBytes, signatures } = getTransactionDecoder().decode(
      getBase64Encoder().encode(transaction),
    )
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes)
    if (message.version !== 0 && message.version !== 'legacy') return undefined
    const tables = message.version === 0 ? (message.addressTableLookups ?? []) : []
    const lookups = tables.map(({ lookupTableAddress, writableIndexes, readonlyIndexes }) => ({
      table: String(lookupTableAddress),
      writable: [...writableIndexes],
      readonly: [...readonlyIndexes],
    }))
    const accounts = message.staticAccounts.map(String)
    const instructions = message.instructions.map((each) => ({
      program: accounts[each.programAddressIndex] ?? '',
      accounts: each.accountIndices ?? [],
      data: Uint8Array.from(each.data ?? []),
    }))
    return { message, bytes: Uint8Array.from(messageBytes), signatures, accounts, instructions, lookups }
  } catch {
    return undefined
  }
}

/** Returns true if a signature of these bytes is that of the signer. */
export async function isSignatureOf(
  signer: string,
  signature: Uint8Array | null | undefined,
  bytes: Uint8Array,
): Promise<boolean> {
  const key = await getPublicKeyFromAddress(address(signer)).catch(() => undefined)
  return !!signature && !!key && verifySignature(key, signature as SignatureBytes, bytes)
}

/**
 * Returns the address of the associated account in which the owner holds tokens of a mint, whose program this
 * is.
 */
export async function associatedAddress(owner: string, mint: string, program: string): Promise<string> {
  const encoder = getAddressEncoder()
  const seeds = [owner, program, mint].map((each) => encoder.encode(address(each)))
  const [found] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM, seeds })
  return String(found)
}
