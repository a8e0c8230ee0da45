import type { Hex, TransactionSerializable } from 'viem'
import { bytesToHex, hexToBytes, serializeTransaction, toHex } from 'viem/utils'
import { keccak256, keccak256Hex } from '../../lib/keccak256.ts'
import type { EcdsaSignature, Secp256k1Signer, Signer } from '../../signers/signer.ts'
import type { Signature, SignedDraft } from '../attempt.ts'
import type { EvmDraft } from './content.ts'

/** Signs a draft as transaction type 2 (EIP-1559) or type 0 with replay protection (EIP-155), depending on its fees. */
export async function signDraft(
  { draft, nonce, chainId }: { draft: EvmDraft; nonce: bigint; chainId: number },
  signer: Signer,
): Promise<SignedDraft> {
  const unsigned = toUnsigned(draft, nonce, chainId)
  const signature = await signHashOf(hexToBytes(serializeTransaction(unsigned)), signer)
  const parts = { r: bytesToHex(signature.r), s: bytesToHex(signature.s), yParity: signature.recovery }
  const serialized = serializeTransaction(unsigned, {
    ...parts,
    v:
      unsigned.type === 'legacy' ? BigInt(chainId * 2 + 35 + signature.recovery) : BigInt(signature.recovery),
  })
  const v = unsigned.type === 'legacy' ? 27 + signature.recovery : signature.recovery
  const raw = hexToBytes(serialized)
  return { raw, hash: keccak256Hex(raw), signature: presentSignature(signature, v) }
}

/** Returns the bytes whose hash is signed. */
export function unsignedBytes(transaction: TransactionSerializable): Hex {
  return serializeTransaction(transaction)
}

/** The beginning of a personal message; its length in decimal digits follows. */
const PERSONAL = '\x19Ethereum Signed Message:\n'

/** Signs the UTF-8 bytes of a message with EIP-191, version 0x45 ("personal message"). Text that looks like hex is text. */
export async function signPersonalMessage(message: string, signer: Signer): Promise<Signature> {
  const bytes = Buffer.from(message, 'utf8')
  return signEncoded(Buffer.concat([Buffer.from(`${PERSONAL}${bytes.length}`), bytes]), signer)
}

/** Signs the keccak-256 hash of encoded bytes; `v` is 27 or 28. */
export async function signEncoded(encoded: Uint8Array, signer: Signer): Promise<Signature> {
  const signature = await signHashOf(encoded, signer)
  return presentSignature(signature, 27 + signature.recovery)
}

/** Some services outside hash by themselves, so signers get the bytes where they want them. */
function signHashOf(encoded: Uint8Array, signer: Signer): Promise<EcdsaSignature> {
  const own = secp256k1(signer)
  return own.signMessage?.(encoded) ?? own.sign(keccak256(encoded))
}

/** The configuration lets no other key near an EVM account. */
function secp256k1(signer: Signer): Secp256k1Signer {
  if (signer.curve !== 'secp256k1') throw new Error(`signer ${signer.id} has no key for an EVM account`)
  return signer
}

function toUnsigned(draft: EvmDraft, nonce: bigint, chainId: number) {
  const content = {
    chainId,
    // Nonces are below 2^53 for as long as anybody pays gas (EIP-2681 allows up to 2^64 − 2).
    nonce: Number(nonce),
    gas: draft.gasLimit,
    value: draft.value,
    data: draft.data as Hex,
    ...(draft.to === undefined ? {} : { to: draft.to as Hex }),
  }
  const { fees } = draft
  return fees.kind === 'legacy'
    ? ({ ...content, type: 'legacy', gasPrice: fees.gasPrice } as const)
    : ({
        ...content,
        type: 'eip1559',
        maxFeePerGas: fees.maxFeePerGas,
        maxPriorityFeePerGas: fees.maxPriorityFeePerGas,
      } as const)
}

function presentSignature({ r, s }: EcdsaSignature, v: number): Signature {
  const [rHex, sHex] = [bytesToHex(r).slice(2), bytesToHex(s).slice(2)]
  return { r: rHex, s: sHex, v, sig: `${rHex}${sHex}${toHex(v, { size: 1 }).slice(2)}` }
}
