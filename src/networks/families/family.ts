import { type FieldType, type Reader, whole } from '../../lib/fields.ts'
import type { CatalogueEntry } from '../catalogue/entry.ts'
import type { NamedAsset, Network, NetworkOf, NetworkType } from '../network.ts'

/** The properties of a type of networks, as configuration files describe them and people name them. */
export interface NetworkFamily<T extends NetworkType = NetworkType> {
  /** The well-known networks. */
  readonly catalogue: readonly CatalogueEntry[]
  /** Other names by which people and other tools know networks of the catalogue. */
  readonly otherNames: Readonly<Record<string, string>>
  /** Stands before the names of networks in readiness and logs, as networks of other types can have the same. */
  readonly prefix: string
  /** The names of tokens. */
  readonly token: FieldType<string>
  /** Returns the native currency of a network. */
  native(network: NetworkOf<T>): NamedAsset
  /** Reads the fields that only this type has, and collects every problem instead of failing at the first. */
  read(reader: Reader, shared: SharedFields, problems: string[]): NetworkOf<T>
}

/** The fields that networks of every type have. */
export type SharedFields = Pick<
  Network,
  'name' | 'isTestnet' | 'rpcUrls' | 'explorerUrls' | 'tags' | 'extraRpcMethods' | 'tokens'
>

/** The field `average_blocktime_ms`. */
export const BLOCKTIME = whole(1, 3_600_000)
