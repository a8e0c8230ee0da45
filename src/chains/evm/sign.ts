import type { AccessList, Hex, TransactionSerializable, TransactionSerializableEIP7702 } from 'viem'
import { hexToBytes, serializeTransaction } from 'viem/utils'
import { keccak256, keccak256Hex } from '../../lib/hash.ts'
import type { EcdsaSignature, Secp256k1Signer, Signer } from '../../signers/signer.ts'
import type { Signature, SignedDraft } from '../attempt.ts'
import type { Authorization, EvmDraft } from './content.ts'

type AuthorizationList = TransactionSerializableEIP7702['authorizationList']

/**
 * Signs a draft as a transaction of the type that its fees and lists need; type 0 with replay protection
 * (EIP-155).
 */
export async function signDraft(
  { draft, nonce, chainId }: { draft: EvmDraft; nonce: bigint; chainId: number },
  signer: Signer,
): Promise<SignedDraft> {
  const unsigned: TransactionSerializable = toUnsigned(draft, nonce, chainId)
  const signature = await signHashOf(hexToBytes(serializeTransaction(unsigned)), signer)
  const { recovery } = signature
  const isLegacy = unsigned.type === 'legacy'
  const presented = presentSignature(signature, isLegacy ? 27 + recovery : recovery)
  const serialized = serializeTransaction(unsigned, {
    r: `0x${presented.r}`,
    s: `0x${presented.s}`,
    yParity: recovery,
    v: isLegacy ? BigInt(chainId) * 2n + 35n + BigInt(recovery) : BigInt(recovery),
  })
  const raw = hexToBytes(serialized)
  return { raw, hash: keccak256Hex(raw), signature: presented }
}

/** Returns the bytes of a draft whose hash is to be signed. */
export function serializeUnsigned(draft: EvmDraft, nonce: bigint, chainId: number): Hex {
  return serializeTransaction(toUnsigned(draft, nonce, chainId))
}

/** Returns the bytes whose hash is signed. */
export function unsignedBytes(transaction: TransactionSerializable): Hex {
  return serializeTransaction(transaction)
}

/** The beginning of a personal message; its length in decimal digits follows. */
const PERSONAL = '\x19Ethereum Signed Message:\n'

/**
 * Signs the UTF-8 bytes of a message with EIP-191, version 0x45 ("personal message"). Text that looks like
 * hex is text.
 */
export async function signPersonalMessage(message: string, signer: Signer): Promise<Signature> {
  const bytes = Buffer.from(message, 'utf8')
  return signEncoded(Buffer.concat([Buffer.from(`${PERSONAL}${bytes.length}`), bytes]), signer)
}

/** Signs the keccak-256 hash of encoded bytes; `v` is 27 or 28. */
export async function signEncoded(encoded: Uint8Array, signer: Signer): Promise<Signature> {
  const signature = await signHashOf(encoded, signer)
  return presentSignature(signature, 27 + signature.recovery)
}

/** Some key services compute the hash, so signers get the bytes if they need them. */
function signHashOf(encoded: Uint8Array, signer: Signer): Promise<EcdsaSignature> {
  const own = secp256k1(signer)
  return own.signMessage?.(encoded) ?? own.sign(keccak256(encoded))
}

/** The configuration lets no other key near an EVM account. */
function secp256k1(signer: Signer): Secp256k1Signer {
  if (signer.curve !== 'secp256k1') throw new Error(`signer ${signer.id} has no key for an EVM account`)
  return signer
}

/**
 * The fees and the lists decide the type: 4 with authorizations, 2 with EIP-1559 fees, 1 with an access list,
 * otherwise 0.
 */
function toUnsigned(draft: EvmDraft, nonce: bigint, chainId: number) {
  const { fees, accessList, authorizationList } = draft
  const content = {
    chainId,
    // Nonces stay below 2^53 while gas costs anything (EIP-2681 allows up to 2^64 − 2).
    nonce: Number(nonce),
    gas: draft.gasLimit,
    value: draft.value,
    data: draft.data as Hex,
    ...(draft.to === undefined ? {} : { to: draft.to as Hex }),
  }
  const listed = accessList && { accessList: accessList as AccessList }
  if (fees.kind === 'legacy') {
    const priced = { ...content, gasPrice: fees.gasPrice }
    return listed === undefined
      ? { ...priced, type: 'legacy' as const }
      : { ...priced, ...listed, type: 'eip2930' as const }
  }
  const { maxFeePerGas, maxPriorityFeePerGas } = fees
  const priced = { ...content, ...listed, maxFeePerGas, maxPriorityFeePerGas }
  return authorizationList === undefined
    ? { ...priced, type: 'eip1559' as const }
    : { ...priced, type: 'eip7702' as const, authorizationList: authorizationList.map(toSerializable) }
}

/** The request was refused if its nonce is no exact number. */
function toSerializable({ address, r, s, nonce, ...others }: Authorization): AuthorizationList[number] {
  return { ...others, address: address as Hex, r: r as Hex, s: s as Hex, nonce: Number(nonce) }
}

function presentSignature({ r, s }: EcdsaSignature, v: number): Signature {
  const [rHex, sHex] = [Buffer.from(r).toString('hex'), Buffer.from(s).toString('hex')]
  return { r: rHex, s: sHex, v, sig: `${rHex}${sHex}${v.toString(16).padStart(2, '0')}` }
}
