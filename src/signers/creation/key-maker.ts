import type { ConnectContext, SignerFields } from '../providers/provider.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { Curve } from '../signer.ts'

/** A key that a key service is to create. */
export interface WantedKey {
  readonly signerId: string
  readonly curve: Curve
  /**
   * The name that this service chose and stored before the first call. Its end is random, so a key with this
   * name, or this tag, was created for this signer.
   */
  readonly name: string
  /** The time at which the name was chosen. */
  readonly chosenAt: Date
}

/** The fields that the configuration of the signer gets with the key, by wire names. */
export type KeyFields = Readonly<Record<string, unknown>>

/**
 * The answer to a call that creates a key. `made`: with the fields of the key · `called`: it is there, and
 * `find` has its fields · `waiting`: the service waits for something, which the sentence names.
 */
export type CreationAnswer =
  | { readonly kind: 'made'; readonly fields: KeyFields }
  | { readonly kind: 'called' }
  | { readonly kind: 'waiting'; readonly detail: string }

/**
 * Creates keys in one kind of key service. Every failure is a `RemoteFault`. One of `create` that is `refused`
 * or `throttled` says that the call created nothing; `unavailable` says nothing.
 */
export interface KeyMaker<T> {
  /** The curves of the keys that the service can create. */
  readonly curves: readonly Curve[]
  /** Reads the place of new keys: the configuration of a signer without its key. */
  readonly read: (fields: SignerFields) => T
  /** Returns the public part of a place, by wire names. */
  readonly show: (target: T) => object
  /** Names the place in sentences for people, e.g. `AWS KMS in eu-west-1`. It contains no secret. */
  readonly nameOf: (target: T) => string
  /** Finds the key by its name or tag; undefined if the service says that it has none. */
  readonly find: (target: T, key: WantedKey, context: MakerContext) => Promise<KeyFields | undefined>
  /** Makes one call that creates the key, and none after it. */
  readonly create: (target: T, key: WantedKey, context: MakerContext) => Promise<CreationAnswer>
  /** The fields of a place that the configuration of a signer does not have. */
  readonly ownFields?: readonly string[]
  /** Says how people forbid the deletion of the key, and how they delete it. This service never does. */
  readonly advice: string
}

/** The parts of the service that makers work with. */
export interface MakerContext extends ConnectContext {
  /** Aborts when the request of the caller has ended. A search then stops; a call that creates never does. */
  readonly signal: AbortSignal
}

/** Makes the fault of a key with the wanted name that the wanted call cannot have created. */
export function otherKey({ name }: WantedKey, difference: string): RemoteFault {
  return new RemoteFault(
    'refused',
    `has a key ${name} that is not the one that was to be created: it ${difference}`,
  )
}

/** The beginning of all names, by which people and policies recognise the keys. */
const PREFIX = 'relayer'

/** The longest part of a signer id in a name: Google allows 63 characters for all of it. */
const MAX_ID = 36

/**
 * Builds the name of a key: letters, digits and hyphens, which every key service accepts.
 * @param suffix hex digits that no one can guess, so that no one can take the name before
 */
export function keyNameOf(signerId: string, suffix: string): string {
  const readable = signerId
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
    .slice(0, MAX_ID)
    .replace(/-$/, '')
  return [PREFIX, readable, suffix].filter((part) => part !== '').join('-')
}
