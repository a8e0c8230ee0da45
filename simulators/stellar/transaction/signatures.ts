import { createHash, createPublicKey, verify } from 'node:crypto'
import { StrKey, type xdr } from '@stellar/stellar-sdk'
import type { AccountEntry, Signer } from '../state/entries.ts'

/** The signatures of one transaction, and which of them were good for something. */
export interface SignatureChecker {
  /** Returns true if the signatures of `signers` weigh at least `needed`. At least one of them must have signed. */
  check(signers: readonly Signer[], needed: number): boolean
  /** Returns true if some check needed each signature; one too many makes a transaction invalid. */
  allUsed(): boolean
}

/** A signer counts at most this much (protocol 10). */
const MAX_WEIGHT = 255
/** The order in which kinds of signers are asked; an earlier kind that suffices leaves the later ones unused. */
const KINDS = ['preAuthTx', 'sha256Hash', 'ed25519PublicKey', 'signedPayload'] as const
/** A raw ed25519 key becomes a SubjectPublicKeyInfo by this prefix (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const HINT_BYTES = 4

type Kind = (typeof KINDS)[number]

/** Checks the signatures of what hashes to `hash` (hex), as stellar-core `SignatureChecker` does. */
export function createSignatureChecker(
  hash: string,
  signatures: readonly xdr.DecoratedSignature[],
): SignatureChecker {
  const used = new Set<number>()
  const message = Buffer.from(hash, 'hex')
  return {
    check(signers, needed) {
      let weight = 0
      for (const kind of KINDS) {
        const left = signers.filter((signer) => kindOf(signer) === kind)
        for (const found of matches(kind, left, signatures, message, used)) {
          weight += Math.min(found.weight, MAX_WEIGHT)
          if (weight >= needed) return true
        }
      }
      return false
    },
    allUsed: () => used.size === signatures.length,
  }
}

/** Returns the signers of the account: its own key unless its weight is 0, and its other signers. */
export function signersOf(account: AccountEntry): Signer[] {
  const { master } = account.thresholds
  return [...(master > 0 ? [{ key: account.address, weight: master }] : []), ...account.signers]
}

/** Returns true if `signature` is by the account's own key over `message`. */
export function verifyEd25519(address: string, message: Uint8Array, signature: Uint8Array): boolean {
  const raw = StrKey.decodeEd25519PublicKey(address)
  const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' })
  return verify(null, message, key, signature)
}

/** The signers that have signed, one for each signature, marking those signatures as used. Lazy: what is not asked for stays unused. */
function* matches(
  kind: Kind,
  signers: Signer[],
  signatures: readonly xdr.DecoratedSignature[],
  message: Buffer,
  used: Set<number>,
): Generator<Signer> {
  if (kind === 'preAuthTx') {
    yield* signers.filter(({ key }) => message.equals(StrKey.decodePreAuthTx(key)))
    return
  }
  for (const [index, signature] of signatures.entries()) {
    const found = signers.findIndex(({ key }) => fits(kind, key, signature, message))
    if (found === -1) continue
    used.add(index)
    yield* signers.splice(found, 1)
  }
}

/** stellar-core SignatureUtils: `verifyHashX`, `verify`, `verifyEd25519SignedPayload`. */
function fits(kind: Kind, key: string, decorated: xdr.DecoratedSignature, message: Buffer): boolean {
  const hint = Buffer.from(decorated.hint.toBytes())
  const signature = decorated.signature.toBytes()
  if (kind === 'sha256Hash') {
    const wanted = StrKey.decodeSha256Hash(key)
    return hint.equals(hintOf(wanted)) && createHash('sha256').update(signature).digest().equals(wanted)
  }
  if (kind === 'signedPayload') {
    const { signer, payload } = readSignedPayload(key)
    if (!hint.equals(xor(hintOf(StrKey.decodeEd25519PublicKey(signer)), hintOf(payload)))) return false
    return verifyEd25519(signer, payload, signature)
  }
  if (!hint.equals(hintOf(StrKey.decodeEd25519PublicKey(key)))) return false
  return verifyEd25519(key, message, signature)
}

/** 32 bytes of key, 4 of length, the payload, and zeros up to a multiple of four (SEP-23). */
function readSignedPayload(key: string): { signer: string; payload: Buffer } {
  const bytes = Buffer.from(StrKey.decodeSignedPayload(key))
  const length = bytes.readUInt32BE(32)
  return {
    signer: StrKey.encodeEd25519PublicKey(bytes.subarray(0, 32)),
    payload: bytes.subarray(36, 36 + length),
  }
}

/** The last four bytes, filled up with zeros behind when there are fewer (CAP-40). */
function hintOf(bytes: Uint8Array): Buffer {
  const hint = Buffer.alloc(HINT_BYTES)
  hint.set(bytes.slice(-HINT_BYTES))
  return hint
}

function xor(a: Buffer, b: Buffer): Buffer {
  return Buffer.from(a.map((byte, index) => byte ^ (b[index] ?? 0)))
}

function kindOf(signer: Signer): Kind {
  const kind = StrKey.getVersionByteForPrefix(signer.key)
  const known = KINDS.find((name) => name === kind)
  if (!known) throw new Error(`${signer.key} is no signer.`)
  return known
}
