import type { FieldType } from '../../lib/fields/field-types.ts'
import type { HttpClient } from '../../lib/http/http-client.ts'
import type { Secret } from '../../security/secret.ts'
import type { KeyMaterial } from '../import/key-material.ts'
import type { Key } from '../key.ts'
import type { RemoteKey } from '../remote/remote-key.ts'
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
  /** The network types for which it does not sign although the curve fits. Absent for none. */
  readonly notFor?: readonly 'stellar'[]
  /** Reads the configuration of one signer. */
  readonly read: (fields: SignerFields) => C
  /** Returns the part of a configuration that everybody may see, by wire names. */
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
   * Prepares the connection; it asks nobody.
   * @throws MissingPackageError when the library of the service is not installed
   */
  readonly connect: (config: C, context: ConnectContext) => Promise<RemoteKey>
  /**
   * Puts a private key where the configuration says. Absent where the service takes none from programs, or only by a protocol of its own.
   * @throws RemoteFault, MissingPackageError
   */
  readonly importKey?: (config: C, context: ConnectContext, material: KeyMaterial) => Promise<void>
}

/** The parts of the service that providers work with. */
export interface ConnectContext {
  /** Asks urls of the configuration file without restriction, and those of callers under the rules for untrusted urls. */
  readonly http: HttpClient
  /** The limit of one call, in ms. */
  readonly timeoutMs: number
}

/** A type of signer. */
export type Provider<C> = LocalProvider<C> | RemoteProvider<C>
