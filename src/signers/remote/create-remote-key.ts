import { createPublicKey, hash, verify } from 'node:crypto'
import { BoundedMap } from '../../lib/bounded-map.ts'
import { keccak256 } from '../../lib/hash.ts'
import type { Clock } from '../../lib/time.ts'
import { type Key, keyOf } from '../key.ts'
import { libsecp256k1 } from '../secp256k1.ts'
import {
  type Curve,
  type EcdsaSignature,
  type Ed25519Signer,
  isSignerFault,
  type Secp256k1Signer,
  type Signer,
  type SignerHealth,
  signerRefused,
} from '../signer.ts'
import { type Caller, type CallLimits, createCaller } from './call.ts'
import {
  describePublicKeys,
  type PublicKeys,
  RemoteFault,
  type RemoteKey,
  samePublicKeys,
} from './remote-key.ts'

const DIGEST_BYTES = 32
const SIGNATURE_BYTES = 64

/**
 * The text that proves that a key signs. It is neither a hash nor the encoding of a transaction on any
 * network.
 */
const CHALLENGE = Buffer.from('multichain-relayer: proof that this key signs, and nothing else.')

/** The way to a key that another service holds. */
interface RemoteKeyOptions extends CallLimits {
  /** The id of the signer. */
  readonly id: string
  readonly remote: RemoteKey
  readonly clock: Clock
}

/** A connection to a key. Its public keys come from the service, or from the memory of an earlier start. */
export interface RemoteConnection {
  readonly name: string
  /** @throws AppError `signer_unavailable` or `signer_refused` */
  publicKeys(): Promise<PublicKeys>
  /** Creates the key with known public keys, without any call. */
  keyOf(publicKeys: PublicKeys): Key
  /**
   * Signs a text that is no transaction.
   * @throws AppError `signer_unavailable` or `signer_refused`
   */
  prove(publicKeys: PublicKeys): Promise<void>
}

/**
 * Connects to a key outside this process. Signatures leave here only after a check against the public key.
 * Calls are limited, timed and repeated; those of one key share the limits.
 */
export function connectRemoteKey(options: RemoteKeyOptions): RemoteConnection {
  const { remote } = options
  const name = `signer "${options.id}": ${remote.name}`
  const call = createCaller({ ...options, name })
  const ask = () => call(remote.publicKeys)
  const prove = async (publicKeys: PublicKeys) => {
    const signing = { call, remote, name, publicKeys }
    for (const curve of curvesOf(publicKeys)) await signChallenge(signing, curve)
  }
  return {
    name,
    publicKeys: ask,
    prove,
    keyOf: (publicKeys) => {
      const health = createRemoteHealth({
        clock: options.clock,
        compare: async () => comparePublicKeys(name, { wanted: publicKeys, found: await ask() }),
        prove: () => prove(publicKeys),
      })
      return createKeyWith({ call, remote, name, publicKeys }, { id: options.id, health })
    },
  }
}

/** @throws AppError `signer_refused` if the service has another key now: it would sign for another account */
export function comparePublicKeys(
  name: string,
  { wanted, found }: { readonly wanted: PublicKeys; readonly found: PublicKeys },
): void {
  if (samePublicKeys(wanted, found)) return
  throw signerRefused(
    `${name} has another public key (${describePublicKeys(found)}) than the known one (${describePublicKeys(wanted)}). Restore the key, or create a separate signer for the new one.`,
  )
}

interface RemoteSigning {
  readonly call: Caller
  readonly remote: RemoteKey
  readonly name: string
  readonly publicKeys: PublicKeys
}

interface Owner {
  readonly id: string
  readonly health: RemoteHealth
}

function createKeyWith(signing: RemoteSigning, owner: Owner): Key {
  const { secp256k1, ed25519 } = signing.publicKeys
  const remoteEd25519 = ed25519 && createRemoteEd25519(signing, { ...owner, publicKey: ed25519 })
  return keyOf({
    id: owner.id,
    isShared: true,
    evm: secp256k1 && createRemoteSecp256k1(signing, { ...owner, publicKey: secp256k1 }),
    stellar: signing.remote.ed25519For === undefined ? remoteEd25519 : undefined,
    solana: remoteEd25519,
  })
}

interface OneKey extends Owner {
  readonly publicKey: Uint8Array
}

function createRemoteSecp256k1(signing: RemoteSigning, key: OneKey): Secp256k1Signer {
  const { id, health, publicKey } = key
  const sign = createSignatureCache((digest) => noted(health, () => signDigest(signing, digest, publicKey)))
  return Object.freeze({
    curve: 'secp256k1',
    id,
    publicKey,
    check: health.check,
    ...(signing.remote.hashesMessages && { signMessage: createMessageSigner(signing, key) }),
    sign: async (digest: Uint8Array) => {
      if (signing.remote.hashesMessages) throw new Error(`Signer "${id}" signs messages, not digests.`)
      if (digest.length !== DIGEST_BYTES) throw new Error(`A digest has ${DIGEST_BYTES} bytes.`)
      return sign(digest)
    },
  } satisfies Secp256k1Signer)
}

function createMessageSigner(signing: RemoteSigning, { health, publicKey }: OneKey) {
  return createSignatureCache((message) => noted(health, () => signHashed(signing, message, publicKey)))
}

function createRemoteEd25519(signing: RemoteSigning, { id, health, publicKey }: OneKey): Ed25519Signer {
  const sign = createSignatureCache((message) =>
    noted(health, () => signMessage(signing, message, publicKey)),
  )
  return Object.freeze({
    curve: 'ed25519',
    id,
    publicKey,
    check: health.check,
    sign: async (message: Uint8Array) => Uint8Array.from(await sign(message)),
  } satisfies Ed25519Signer)
}

/**
 * Reports the result of each signature to the health of the key, so that a refusal disables its relayers at
 * the next check.
 */
async function noted<T>(health: RemoteHealth, sign: () => Promise<T>): Promise<T> {
  try {
    const signature = await sign()
    health.note(undefined)
    return signature
  } catch (error) {
    health.note(error)
    throw error
  }
}

async function signDigest(signing: RemoteSigning, digest: Uint8Array, publicKey: Uint8Array) {
  const payload = Uint8Array.from(digest)
  const bytes = await callToSign(signing, 'secp256k1', payload)
  return verifiedEcdsa(bytes, payload, publicKey) ?? refuseWrongSignature(signing)
}

async function signHashed(signing: RemoteSigning, message: Uint8Array, publicKey: Uint8Array) {
  const payload = Uint8Array.from(message)
  const bytes = await callToSign(signing, 'secp256k1', payload)
  return verifiedEcdsa(bytes, keccak256(payload), publicKey) ?? refuseWrongSignature(signing)
}

async function signMessage(signing: RemoteSigning, message: Uint8Array, publicKey: Uint8Array) {
  const payload = Uint8Array.from(message)
  const bytes = await callToSign(signing, 'ed25519', payload)
  return verifiedEd25519(bytes, payload, publicKey) ?? refuseWrongSignature(signing)
}

/** Bytes that are no signature at all say nothing about the key, so the call is repeated. */
function callToSign({ call, remote }: RemoteSigning, curve: Curve, payload: Uint8Array): Promise<Uint8Array> {
  return call(async (signal) => {
    const bytes = await remote.sign({ curve, payload, signal })
    if (bytes.length === SIGNATURE_BYTES) return bytes
    throw new RemoteFault('unavailable', 'returned an unreadable signature')
  })
}

function refuseWrongSignature({ name }: RemoteSigning): never {
  throw signerRefused(
    `${name} returned a signature that does not verify against its public key. The signature was discarded; check the key service and anything between it and this relayer.`,
  )
}

async function signChallenge(signing: RemoteSigning, curve: Signer['curve']): Promise<void> {
  const publicKey = signing.publicKeys[curve]
  if (publicKey === undefined) return
  if (curve === 'ed25519') await signMessage(signing, CHALLENGE, publicKey)
  else if (signing.remote.hashesMessages) await signHashed(signing, CHALLENGE, publicKey)
  else await signDigest(signing, CHALLENGE.subarray(0, DIGEST_BYTES), publicKey)
}

function curvesOf({ secp256k1, ed25519 }: PublicKeys): Curve[] {
  return [...(secp256k1 ? (['secp256k1'] as const) : []), ...(ed25519 ? (['ed25519'] as const) : [])]
}

/**
 * A good reply counts for this long, in ms: relayers that share a key check at about the same time, and
 * services charge for calls.
 */
const GOOD_FOR_MS = 20_000

interface RemoteHealthDeps {
  readonly clock: Clock
  /** Compares the public key of the service with the known one. Rejects with a signer fault. */
  readonly compare: () => Promise<void>
  /** Signs something that is no transaction. Rejects with a signer fault. */
  readonly prove: () => Promise<void>
}

/** The state of one key, as its calls and checks find it. */
interface RemoteHealth {
  /** Reports the result of a signature: undefined for a good one. */
  note(error: unknown): void
  check(): Promise<SignerHealth>
}

/**
 * Creates the state. After a refusal only a signature proves that the key signs again: reading the public key
 * is another permission.
 */
function createRemoteHealth({ clock, compare, prove }: RemoteHealthDeps): RemoteHealth {
  let isRefused = false
  let goodUntil = Number.NEGATIVE_INFINITY
  let running: Promise<SignerHealth> | undefined

  function note(error: unknown): void {
    if (error === undefined) {
      isRefused = false
      return
    }
    goodUntil = Number.NEGATIVE_INFINITY
    if (isSignerFault(error) && error.code === 'signer_refused') isRefused = true
  }

  async function ask(): Promise<SignerHealth> {
    try {
      await compare()
      if (isRefused) await prove()
      isRefused = false
      goodUntil = clock.monotonic() + GOOD_FOR_MS
      return { kind: 'ok' }
    } catch (error) {
      note(error)
      if (!isSignerFault(error)) return { kind: 'unknown', detail: 'The check of the key failed.' }
      return { kind: error.code === 'signer_refused' ? 'refused' : 'unknown', detail: error.detail }
    }
  }

  return {
    note,
    check: () => {
      if (clock.monotonic() < goodUntil) return Promise.resolve({ kind: 'ok' })
      running ??= ask().finally(() => {
        running = undefined
      })
      return running
    },
  }
}

/**
 * The signatures that are kept per key: those of the transactions that one account has under way, a few times
 * over.
 */
const MAX_KEPT = 1_000

/**
 * Remembers the newest results by payload, and lets calls for the same payload share one. A service that
 * signs differently each time thereby returns the same bytes for the same content, and content whose
 * signature was discarded costs no further call. Failures are not kept. A payload is kept as its hash,
 * because a message can be as long as the body of a request.
 */
export function createSignatureCache<T>(
  make: (payload: Uint8Array) => Promise<T>,
): (payload: Uint8Array) => Promise<T> {
  const kept = new BoundedMap<string, Promise<T>>(MAX_KEPT)
  return (payload) => {
    const name = hash('sha256', payload, 'base64')
    const known = kept.get(name)
    if (known !== undefined) return known
    const made = make(payload)
    kept.set(name, made)
    made.catch(() => kept.delete(name))
    return made
  }
}

/**
 * Completes an ECDSA signature of 64 bytes from elsewhere: lowers s (EIP-2) and finds the recovery number by
 * trial. Returns undefined unless this public key made it for this digest.
 */
function verifiedEcdsa(
  bytes: Uint8Array,
  digest: Uint8Array,
  publicKey: Uint8Array,
): EcdsaSignature | undefined {
  try {
    const signature = libsecp256k1().signatureNormalize(Uint8Array.from(bytes))
    const recovery = ([0, 1] as const).find((candidate) =>
      isMadeBy(publicKey, { signature, candidate, digest }),
    )
    if (recovery === undefined) return undefined
    return { r: signature.slice(0, 32), s: signature.slice(32), recovery }
  } catch {
    // The library throws for numbers that no signature has.
    return undefined
  }
}

interface Candidate {
  readonly signature: Uint8Array
  readonly candidate: 0 | 1
  readonly digest: Uint8Array
}

function isMadeBy(publicKey: Uint8Array, { signature, candidate, digest }: Candidate): boolean {
  try {
    return Buffer.from(libsecp256k1().ecdsaRecover(signature, candidate, digest, false)).equals(publicKey)
  } catch {
    return false // Not every r is the coordinate of a point.
  }
}

/**
 * Returns a copy of an Ed25519 signature from elsewhere; undefined unless this public key made it for this
 * message.
 */
function verifiedEd25519(
  bytes: Uint8Array,
  message: Uint8Array,
  publicKey: Uint8Array,
): Uint8Array | undefined {
  const x = Buffer.from(publicKey).toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  return verify(null, message, key, bytes) ? Uint8Array.from(bytes) : undefined
}
