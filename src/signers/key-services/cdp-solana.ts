import { getBase58Encoder, getCompiledTransactionMessageDecoder } from '@solana/kit'
import type { JsonObject } from '../remote/answers.ts'
import { textIn } from '../remote/answers.ts'
import { RemoteFault, type RemoteKey } from '../remote/remote-key.ts'

interface CdpSolanaKeyOptions {
  readonly cdp: CdpClient
  /** The address of a Solana account, which is its public key in base58. */
  readonly accountAddress: string
}

const PUBLIC_KEY_BYTES = 32

/**
 * Connects to a Solana account of the Coinbase Developer Platform. The platform signs whole transactions and
 * texts, no other bytes: what can be read as a transaction of the account goes there as one, with empty
 * places for the other signatures, and valid UTF-8 as a text.
 */
export function connectCdpSolana({ cdp, accountAddress }: CdpSolanaKeyOptions): RemoteKey {
  const path = `solana/accounts/${accountAddress}`

  async function signTransaction(message: Uint8Array, offset: { signers: number; own: number }) {
    const transaction = unsignedTransaction(message, offset.signers).toString('base64')
    const answer = await cdp(`${path}/sign/transaction`, { transaction })
    const signed = Buffer.from(textIn(answer, 'signedTransaction'), 'base64')
    return signatureIn(signed, { message, ...offset })
  }

  async function signText(message: string): Promise<Uint8Array> {
    return fromBase58(textIn(await cdp(`${path}/sign/message`, { message }), 'signature'))
  }

  return {
    name: `Coinbase account ${accountAddress}`,
    ed25519For: 'solana',
    publicKeys: async () => {
      const publicKey = fromBase58(accountAddress)
      if (publicKey.length !== PUBLIC_KEY_BYTES)
        throw new RemoteFault('refused', 'is not an address of Solana, which has 32 bytes in base58')
      if (textIn(await cdp(path), 'address') !== accountAddress)
        throw new RemoteFault('unavailable', 'returned a response about another account')
      return { ed25519: publicKey }
    },
    sign: async ({ payload }) => {
      const offset = readSolanaTransaction(payload, accountAddress)
      if (offset !== undefined) return signTransaction(payload, offset)
      const text = textOf(payload)
      if (text !== undefined) return signText(text)
      throw new RemoteFault('refused', 'signs only transactions and texts of Solana')
    },
  }
}

/** Returns undefined for bytes that are not UTF-8, or that would come back as others. */
function textOf(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes).toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}

/** Returns no bytes for a text that is not base58. */
function fromBase58(text: string): Uint8Array {
  try {
    return Uint8Array.from(getBase58Encoder().encode(text))
  } catch {
    return new Uint8Array()
  }
}

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

/**
 * Reads the signed part of a transaction. Returns undefined for other bytes, and for one that the account has
 * no place in.
 */
function readSolanaTransaction(bytes: Uint8Array, account: string): Places | undefined {
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
function unsignedTransaction(message: Uint8Array, signers: number): Buffer {
  return Buffer.concat([Buffer.from([signers]), Buffer.alloc(signers * SIGNATURE_BYTES), message])
}

/**
 * Takes the signature of the account out of a signed transaction.
 * @throws RemoteFault if it is another transaction, or none
 */
function signatureIn(
  signed: Buffer,
  { message, signers, own }: Places & { readonly message: Uint8Array },
): Uint8Array {
  const start = 1 + signers * SIGNATURE_BYTES
  if (signed.length === 0 || signed[0] !== signers)
    throw new RemoteFault('unavailable', 'returned an unreadable transaction')
  if (!signed.subarray(start).equals(message))
    throw new RemoteFault('refused', 'changed the transaction before signing it; it was discarded')
  const offset = 1 + own * SIGNATURE_BYTES
  return Uint8Array.from(signed.subarray(offset, offset + SIGNATURE_BYTES))
}

/** Calls the platform; a request with a body is a POST. Paths are below `/platform/v2/`. */
export type CdpClient = (path: string, body?: object) => Promise<JsonObject>
