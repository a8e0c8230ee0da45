import { createHttpClient, type HttpClient } from '../../lib/http/http-client.ts'
import { type Clock, systemClock } from '../../lib/time.ts'
import { createGuardedHttpClient } from '../../security/guarded-http-client.ts'
import type { CallLimits } from '../remote/call.ts'
import { connectRemoteKey, type RemoteConnection } from '../remote/create-remote-key.ts'
import type { ConnectContext } from './provider.ts'
import { providerOf, type SignerConfig } from './registry.ts'

/** The parts of the service that connections to key services need. */
export interface ConnectionContext extends CallLimits, ConnectContext {
  readonly clock: Clock
}

/**
 * Prepares the key of a signer outside this process, without any call. @throws MissingPackageError if the
 * library of its service is not installed
 */
export async function connectSigner(
  config: SignerConfig,
  context: ConnectionContext,
): Promise<RemoteConnection> {
  const provider = providerOf(config)
  if (provider.kind !== 'remote') throw new Error(`signer ${config.id} is in this process`)
  return connectRemoteKey({ ...context, id: config.id, remote: await provider.connect(config, context) })
}

/** The longest answer of a key service, in bytes: a signature or a key with all of its versions. */
const MAX_ANSWER_BYTES = 256 * 1024

/** The ways to the services that hold keys. */
export interface KeyServices {
  /** The services of the configuration file, which may be anywhere. */
  readonly configured: ConnectionContext
  /** The services that callers named, under the rules for untrusted urls. */
  readonly requested: ConnectionContext
  close(): void
}

interface KeyServicesConfig {
  readonly keyServices: CallLimits
  /** Lets callers' URLs lead to private networks. */
  readonly allowPrivateUrls: boolean
}

/** Creates the ways. The timeouts follow the clock of the machine, not the clock of the records. */
export function createKeyServices(
  { keyServices, allowPrivateUrls }: KeyServicesConfig,
  nameServers?: readonly string[],
): KeyServices {
  const options = { wholeBodyBytes: MAX_ANSWER_BYTES, idleSockets: keyServices.concurrency }
  const trusted = createHttpClient(options)
  const guarded = createGuardedHttpClient(
    { allowPrivate: allowPrivateUrls },
    { ...options, names: { servers: nameServers } },
  )
  const contextOf = (http: HttpClient) => ({ ...keyServices, http, clock: systemClock })
  return {
    configured: contextOf(trusted),
    requested: contextOf(guarded),
    close: () => {
      trusted.close()
      guarded.close()
    },
  }
}
