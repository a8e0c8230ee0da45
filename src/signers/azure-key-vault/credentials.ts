import type { Secret } from '../../security/secret.ts'
import { loadPackage } from '../providers/load-package.ts'
import { bareCause } from '../remote/bare-cause.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { AzureTransport } from './transport.ts'

/** The ways to log in to Microsoft Entra ID, with the fields of existing configuration files. */
export type AzureLogin =
  | {
      readonly authType: 'client_secret'
      readonly tenantId: string
      readonly clientId: string
      readonly clientSecret: Secret
    }
  /** `clientId` selects one of several identities of the machine. */
  | { readonly authType: 'managed_identity'; readonly clientId?: string }
  /** The library takes absent fields from the variables of the cluster. */
  | {
      readonly authType: 'workload_identity'
      readonly tenantId?: string
      readonly clientId?: string
      readonly tokenFilePath?: string
    }

/** The sentence completes "Azure Key Vault key … ". */
const NO_WORKLOAD_IDENTITY =
  'cannot be asked: workload_identity needs tenant_id, client_id and federated_token_file, or the variables AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_FEDERATED_TOKEN_FILE that the cluster gives to the service'

/** Repetitions are the work of the room around this, so that limits and time-outs cover them. */
export const NO_RETRIES = { retryOptions: { maxRetries: 0 } } as const

/** Loads the library of credentials. @throws MissingPackageError */
export function loadIdentity() {
  return loadPackage('@azure/identity', () => import('@azure/identity'))
}

/**
 * Creates the credential.
 * @throws MissingPackageError
 * @throws RemoteFault for a workload identity that neither the configuration nor the cluster describes
 */
export async function createCredential(login: AzureLogin, httpClient: AzureTransport) {
  const { ClientSecretCredential, ManagedIdentityCredential, WorkloadIdentityCredential } =
    await loadIdentity()
  switch (login.authType) {
    case 'client_secret': {
      const options = { ...NO_RETRIES, httpClient, disableInstanceDiscovery: true }
      return new ClientSecretCredential(login.tenantId, login.clientId, login.clientSecret.reveal(), options)
    }
    case 'workload_identity': {
      const { authType: _authType, ...fields } = login
      const options = { ...fields, ...NO_RETRIES, httpClient, disableInstanceDiscovery: true }
      try {
        return new WorkloadIdentityCredential(options)
      } catch (error) {
        throw new RemoteFault('refused', NO_WORKLOAD_IDENTITY, { cause: bareCause(error) })
      }
    }
    case 'managed_identity': {
      // The address of a managed identity is in the machine itself, where a client for untrusted urls must not go.
      const { authType: _authType, ...fields } = login
      return new ManagedIdentityCredential({ ...fields, ...NO_RETRIES })
    }
  }
}
