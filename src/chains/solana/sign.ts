import { createPublicKey, verify } from 'node:crypto'
import { AppError } from '../../errors.ts'
import type { Signer } from '../../signers/signer.ts'
import type { MessageSignature, Signature, SignedDraft } from '../attempt.ts'
import type { SigningContext } from '../chain.ts'
import type { SolanaDraft } from './content.ts'
import { addressBytes, encodeBase58 } from './wire/addresses.ts'
import { openTransaction, resemblesMessage, writeTransaction } from './wire/message.ts'

/**
 * Signs a draft. The network identifies a transaction by its first signature, that of the fee payer, so the
 * hash is the relayer's own signature.
 * @throws Error for a draft with another fee payer, which is a fault of the service
 */
export async function signDraft(
  { transaction }: SolanaDraft,
  { account }: SigningContext,
): Promise<SignedDraft> {
  const signer = solanaSigner(account.signer)
  const { message, messageBytes, signatures } = openTransaction(transaction)
  const [payer = ''] = message.staticAccounts
  if (!Buffer.from(addressBytes(payer)).equals(signer.publicKey))
    throw new Error(`the transaction is paid by ${payer}, for which the signer has no key`)
  const own = await signer.sign(messageBytes)
  return {
    raw: writeTransaction([own, ...signatures.slice(1)], messageBytes),
    hash: encodeBase58(own),
    signature: presentSignature(own),
  }
}

/** Stellar signs nothing with the key of an account but SHA-256 hashes. */
const STELLAR_PAYLOAD_BYTES = 32

/**
 * Signs the UTF-8 bytes unchanged, like wallets do (`signMessage` of the wallet standard). There is no
 * prefix, so a text whose bytes are a transaction would sign that transaction. About one hash in 2^27 is
 * valid UTF-8, so a text of 32 bytes can be the transaction of a Stellar account that has the same key
 * (docs/signatures.md).
 * @throws AppError 400 for such texts
 */
export async function signMessage(message: string, signer: Signer): Promise<MessageSignature> {
  const key = solanaSigner(signer)
  const bytes = Buffer.from(message, 'utf8')
  const problem = problemOf(bytes)
  if (problem !== undefined) throw new AppError('invalid_request', `message: ${problem}`)
  const signature = await key.sign(bytes)
  return {
    ...presentSignature(signature),
    signature: encodeBase58(signature),
    publicKey: encodeBase58(key.publicKey),
  }
}

function problemOf(bytes: Uint8Array): string | undefined {
  if (bytes.length === STELLAR_PAYLOAD_BYTES)
    return 'a text with more or fewer than 32 bytes is expected; 32 bytes can be the hash of a transaction on Stellar.'
  if (resemblesMessage(bytes)) return 'a text is expected; these bytes are a transaction.'
  return undefined
}

/** A signer with an ed25519 key, the curve of Solana. */
type SolanaSigner = Extract<Signer, { curve: 'ed25519' }>

/**
 * Returns the signer with the right type.
 * @throws Error for another curve: the configuration is checked before anything is signed
 */
function solanaSigner(signer: Signer | undefined): SolanaSigner {
  if (signer?.curve !== 'ed25519') throw new Error('a Solana account needs a signer of curve ed25519')
  return signer
}

/** Returns true if the 64 bytes are the signature of this message by this key. */
export function isBy(signature: Uint8Array, publicKey: Uint8Array, message: Uint8Array): boolean {
  const key = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') },
    format: 'jwk',
  })
  return verify(null, message, key, signature)
}

/** Returns the 64 bytes in the contract's form: both halves, the whole, and no recovery number. */
function presentSignature(bytes: Uint8Array): Signature {
  const sig = Buffer.from(bytes).toString('hex')
  return { r: sig.slice(0, 64), s: sig.slice(64), v: 0, sig }
}
