import type { RelayerClient } from './client.ts'

/** A relayer of a service, for the adapters of other libraries. */
export interface RelayerReference {
  /** Its API key decides what the adapter may do. */
  readonly client: RelayerClient
  /** The id of a relayer on a network of the adapter's type. */
  readonly relayerId: string
}
