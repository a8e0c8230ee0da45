import { type FieldType, openReader, type Reader } from '../../lib/fields.ts'
import type { HttpClient } from '../../lib/http/http-client.ts'
import { isMissingPackage } from '../../lib/package-files.ts'
import type { Secret } from '../../security/secrets.ts'
import type { Key } from '../key.ts'
import type { RemoteKey } from '../remote/remote-key.ts'
import type { KeyMaterial } from '../remote/wrap-key.ts'
import type { Curve } from '../signer.ts'

/** The fields of a signer's `config`, in the file or in a request. It reports problems and reads on. */
export interface SignerFields {
  /** Reads a required field. */
  get<T>(key: string, type: FieldType<T>): T
  /** Reads a field that may be absent. */
  find<T>(key: string, type: FieldType<T>): T | undefined
  /** Reads a required secret: in the file a reference to its source, in a request the text itself. */
  secret(key: string): Secret
  findSecret(key: string): Secret | undefined
  /** Reads the path of a file, from the folder of the configuration file. */
  path(key: string): string
  /** Reads a required object. */
  object<T>(key: string, read: (fields: SignerFields) => T): T
  /** Reads an object that may be absent. */
  findObject<T>(key: string, read: (fields: SignerFields) => T): T | undefined
  findPath(key: string): string | undefined
}

interface AnyProvider<C> {
  /** The curves that its keys can have. */
  readonly curves: readonly Curve[]
  /** The network types for which it does not sign although the curve fits. If absent, none. */
  readonly notFor?: readonly 'stellar'[]
  /** Reads the configuration of one signer. */
  readonly read: (fields: SignerFields) => C
  /** Returns the public part of a configuration, by wire names. */
  readonly show: (config: C) => object
}

/** A type of signer whose key is in this process. */
export interface LocalProvider<C> extends AnyProvider<C> {
  readonly kind: 'local'
  /** Opens the key, or returns a sentence about the problem. */
  readonly open: (id: string, config: C) => Promise<Key | string>
}

/** A type of signer whose key is in another service. */
export interface RemoteProvider<C> extends AnyProvider<C> {
  readonly kind: 'remote'
  /**
   * Prepares the connection, without any call. @throws MissingPackageError if the library of the service is
   * not installed
   */
  readonly connect: (config: C, context: ConnectContext) => Promise<RemoteKey>
  /**
   * Puts a private key where the configuration says. Absent if the service accepts none from programs, or
   * only by its own protocol.
   * @throws RemoteFault, MissingPackageError
   */
  readonly importKey?: (config: C, context: ConnectContext, material: KeyMaterial) => Promise<void>
}

/** The parts of the service that providers work with. */
export interface ConnectContext {
  /**
   * Calls URLs of the configuration file without restriction, and those of callers under the rules for
   * untrusted URLs.
   */
  readonly http: HttpClient
  /** The limit of one call, in ms. */
  readonly timeoutMs: number
}

/** A type of signer. */
export type Provider<C> = LocalProvider<C> | RemoteProvider<C>

/**
 * Creates the readers of nested objects. `fieldsOf` reads secrets as the place of the configuration demands.
 */
export function createObjectReaders(
  outer: Reader,
  fieldsOf: (inner: Reader) => SignerFields,
): Pick<SignerFields, 'object' | 'findObject'> {
  function findObject<T>(key: string, read: (fields: SignerFields) => T): T | undefined {
    const inner = outer.object(key)
    if (inner === undefined) return undefined
    const result = read(fieldsOf(inner))
    inner.finish()
    return result
  }
  return {
    findObject,
    object: (key, read) => {
      if (outer.raw(key) === undefined) outer.problem(`has no "${key}"`)
      return findObject(key, read) ?? read(fieldsOf(blankReader()))
    },
  }
}

/**
 * Opens an object without fields. Its problems are dropped, because the absence of the object has been
 * reported.
 */
function blankReader(): Reader {
  const reader = openReader({}, 'blank', [])
  if (reader === undefined) throw new Error('an empty object is an object')
  return reader
}

/** The library of a key service is not installed. The message is a whole sentence with the remedy. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError'
}

/**
 * The versions that the tests ran with. npm does not install optional peers, so deployments without such keys
 * stay small.
 */
const VERSIONS = {
  '@aws-sdk/client-kms': '3.1164.0',
  '@azure/identity': '4.14.1',
  '@azure/keyvault-keys': '4.10.2',
  'google-auth-library': '11.3.4',
  pkcs11js: '2.1.7',
} as const

/**
 * Loads the library of a key service, with a sentence in place of the import's own failure.
 * @throws MissingPackageError
 */
export async function loadPackage<T>(name: keyof typeof VERSIONS, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissingPackage(cause, name)) throw cause
    throw new MissingPackageError(
      `it needs the package ${name}, which is not installed: npm install ${name}@${VERSIONS[name]}`,
      { cause },
    )
  }
}
