import { getCompiledTransactionMessageDecoder } from '@solana/kit'
import { RemoteFault } from '../remote/remote-key.ts'

const SIGNATURE_BYTES = 64

/** A higher number of signatures takes two bytes, and has no room in a packet. */
const MAX_SIGNERS = 127

/** The places for signatures in a transaction. */
interface Places {
  readonly signers: number
  /** The index of that of the account. */
  readonly own: number
}

const decoder = getCompiledTransactionMessageDecoder()

/** Reads the signed part of a transaction. Returns undefined for other bytes, and for one that the account has no place in. */
export function readSolanaTransaction(bytes: Uint8Array, account: string): Places | undefined {
  try {
    const [{ header, staticAccounts }, end] = decoder.read(bytes, 0)
    const signers = header.numSignerAccounts
    const signing: readonly string[] = staticAccounts.slice(0, signers)
    const own = signing.indexOf(account)
    return end === bytes.length && own >= 0 && signers <= MAX_SIGNERS ? { signers, own } : undefined
  } catch {
    return undefined // The library throws for everything that it cannot read.
  }
}

/** Puts empty signatures before the signed part of a transaction. */
export function unsignedTransaction(message: Uint8Array, signers: number): Buffer {
  return Buffer.concat([Buffer.from([signers]), Buffer.alloc(signers * SIGNATURE_BYTES), message])
}

/**
 * Takes the signature of the account out of a signed transaction.
 * @throws RemoteFault when it is another transaction, or none
 */
export function signatureIn(
  signed: Buffer,
  { message, signers, own }: Places & { readonly message: Uint8Array },
): Uint8Array {
  const start = 1 + signers * SIGNATURE_BYTES
  if (signed.length === 0 || signed[0] !== signers)
    throw new RemoteFault('unavailable', 'gave a transaction that cannot be read')
  if (!signed.subarray(start).equals(message))
    throw new RemoteFault('refused', 'changed the transaction that it was to sign; it was dropped')
  const place = 1 + own * SIGNATURE_BYTES
  return Uint8Array.from(signed.subarray(place, place + SIGNATURE_BYTES))
}
