import { type FieldType, oneOf, text } from '../../../lib/fields/field-types.ts'
import { omitUndefined } from '../../../lib/omit-undefined.ts'
import type { AzureKeyConfig } from '../../azure-key-vault/azure-key.ts'
import type { AzureLogin } from '../../azure-key-vault/credentials.ts'
import type { RemoteProvider, SignerFields } from '../provider.ts'

/**
 * The hosts of Azure's clouds. Tokens of the service's own identity go there, so no other host may be named. A name has no two hyphens in a row,
 * so it is never in Punycode.
 */
const VAULT =
  /^https:\/\/[a-z0-9]+(-[a-z0-9]+)*\.(vault|managedhsm)\.(azure\.net|azure\.cn|usgovcloudapi\.net)\/?$/

const vaultUrl: FieldType<string> = {
  expected: 'the url of a vault, such as https://payments.vault.azure.net',
  read: (value) => (typeof value === 'string' && VAULT.test(value) ? value : undefined),
  blank: '',
}

const authType = oneOf('client_secret', 'managed_identity', 'workload_identity')

/** Names of Azure are parts of paths, so no other character may stand in them. */
const name: FieldType<string> = {
  expected: '1 to 127 letters, digits or "-"',
  read: (value) => (typeof value === 'string' && /^[A-Za-z0-9-]{1,127}$/.test(value) ? value : undefined),
  blank: '',
}

/** A key of Azure Key Vault or Managed HSM, of the type EC and the curve P-256K. Azure has no Ed25519. */
export const azureKeyVault: RemoteProvider<AzureKeyConfig> = {
  kind: 'remote',
  curves: ['secp256k1'],
  read: (fields) => {
    const keyVersion = fields.find('key_version', name)
    return {
      vaultUrl: fields.get('vault_url', vaultUrl),
      keyName: fields.get('key_name', name),
      ...(keyVersion && { keyVersion }),
      login: readLogin(fields),
    }
  },
  show: ({ vaultUrl: url, keyName, keyVersion, login }) => ({
    auth_type: login.authType,
    vault_url: new URL(url).origin,
    key_name: keyName,
    ...(keyVersion && { key_version: keyVersion }),
  }),
  connect: async (config, context) => {
    const { connectAzureKey } = await import('../../azure-key-vault/azure-key.ts')
    return connectAzureKey(config, context)
  },
  importKey: async (config, context, material) => {
    const { importIntoAzure } = await import('../../azure-key-vault/import-into-azure.ts')
    await importIntoAzure(config, context, material)
  },
}

function readLogin(fields: SignerFields): AzureLogin {
  switch (fields.find('auth_type', authType) ?? 'client_secret') {
    case 'client_secret':
      return {
        authType: 'client_secret',
        tenantId: fields.get('tenant_id', name),
        clientId: fields.get('client_id', name),
        clientSecret: fields.secret('client_secret'),
      }
    case 'managed_identity':
      return { authType: 'managed_identity', ...omitUndefined({ clientId: fields.find('client_id', name) }) }
    case 'workload_identity':
      return {
        authType: 'workload_identity',
        ...omitUndefined({
          tenantId: fields.find('tenant_id', name),
          clientId: fields.find('client_id', name),
          tokenFilePath: fields.find('federated_token_file', text),
        }),
      }
  }
}
