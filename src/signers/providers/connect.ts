import type { Clock } from '../../lib/time/clock.ts'
import type { CallLimits } from '../remote/call.ts'
import { connectRemoteKey, type RemoteConnection } from '../remote/create-remote-key.ts'
import type { ConnectContext } from './provider.ts'
import { providerOf, type SignerConfig } from './registry.ts'

/** The parts of the service that connections to key services need. */
export interface ConnectionContext extends CallLimits, ConnectContext {
  readonly clock: Clock
}

/**
 * Connects to the key of a signer outside this process; it asks nobody.
 * @throws MissingPackageError when the library of its service is not installed
 */
export async function connectSigner(
  config: SignerConfig,
  context: ConnectionContext,
): Promise<RemoteConnection> {
  const provider = providerOf(config)
  if (provider.kind !== 'remote') throw new Error(`signer ${config.id} is in this process`)
  return connectRemoteKey({ ...context, id: config.id, remote: await provider.connect(config, context) })
}
