import type { Secret } from '../../security/secret.ts'
import { loadPackage } from '../providers/load-package.ts'
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

/** Repetitions are the work of the room around this, so that limits and time-outs cover them. */
export const NO_RETRIES = { retryOptions: { maxRetries: 0 } } as const

/**
 * Creates the credential.
 * @throws MissingPackageError
 */
export async function createCredential(login: AzureLogin, httpClient: AzureTransport) {
  const { ClientSecretCredential, ManagedIdentityCredential, WorkloadIdentityCredential } = await loadPackage(
    '@azure/identity',
    () => import('@azure/identity'),
  )
  switch (login.authType) {
    case 'client_secret': {
      const options = { ...NO_RETRIES, httpClient, disableInstanceDiscovery: true }
      return new ClientSecretCredential(login.tenantId, login.clientId, login.clientSecret.reveal(), options)
    }
    case 'workload_identity': {
      const { authType: _authType, ...fields } = login
      return new WorkloadIdentityCredential({
        ...fields,
        ...NO_RETRIES,
        httpClient,
        disableInstanceDiscovery: true,
      })
    }
    case 'managed_identity': {
      // The address of a managed identity is in the machine itself, where a client for untrusted urls must not go.
      const { authType: _authType, ...fields } = login
      return new ManagedIdentityCredential({ ...fields, ...NO_RETRIES })
    }
  }
}
