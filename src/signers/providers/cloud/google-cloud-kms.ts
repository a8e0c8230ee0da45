import { type FieldType, httpUrl, text, whole } from '../../../lib/fields/field-types.ts'
import {
  connectGoogleCloudKms,
  type KeyVersion,
  resourceName,
} from '../../google-cloud-kms/google-cloud-kms-key.ts'
import { createKmsClient } from '../../google-cloud-kms/kms-client.ts'
import { logInAsServiceAccount, type ServiceAccount } from '../../google-cloud-kms/service-account.ts'
import { type AccessTokens, createAccessTokens } from '../../remote/access-token.ts'
import type { ConnectContext, RemoteProvider, SignerFields } from '../provider.ts'

interface GoogleCloudKmsConfig {
  /** Absent: the application default credentials. */
  readonly serviceAccount?: ServiceAccount
  readonly key: KeyVersion
  /** The domain of the services, googleapis.com outside of Google's sovereign clouds. */
  readonly universeDomain: string
}

const DEFAULT_UNIVERSE = 'googleapis.com'
const DEFAULT_TOKEN_URI = 'https://oauth2.googleapis.com/token'
const DEFAULT_LOCATION = 'global'

/** The highest version: Google counts from 1, and numbers in names have 32 bits at most. */
const MAX_VERSION = 2 ** 31 - 1

/** The domain becomes part of a host name, so no other character may stand in it. */
const domain: FieldType<string> = {
  expected: 'a domain such as googleapis.com',
  read: (value) =>
    typeof value === 'string' && /^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(value) ? value : undefined,
  blank: '',
}

/** A version of a key of Google Cloud KMS, of the algorithm EC_SIGN_SECP256K1_SHA256 or EC_SIGN_ED25519. */
export const googleCloudKms: RemoteProvider<GoogleCloudKmsConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => {
    const account = fields.findObject('service_account', readAccount)
    return {
      ...(account && { serviceAccount: account }),
      key: fields.object('key', (key) => readKey(key, account?.projectId)),
      universeDomain: account?.universeDomain ?? DEFAULT_UNIVERSE,
    }
  },
  show: ({ key }) => ({
    key: {
      project_id: key.projectId,
      location: key.location,
      key_ring_id: key.keyRingId,
      key_id: key.keyId,
      key_version: key.keyVersion,
    },
  }),
  connect: async (config, context) => {
    const url = `${baseUrl(config)}${resourceName(config.key)}`
    const tokens = await connectTokens(config, context)
    return connectGoogleCloudKms(config.key, createKmsClient({ ...context, tokens, url }))
  },
  importKey: async (config, context, material) => {
    const { importIntoGoogleCloud } = await import('../../google-cloud-kms/import-into-google-cloud.ts')
    const tokens = await connectTokens(config, context)
    const kms = createKmsClient({ ...context, tokens, url: baseUrl(config) })
    await importIntoGoogleCloud({ key: config.key, kms }, material)
  },
}

const baseUrl = ({ universeDomain }: GoogleCloudKmsConfig) => `https://cloudkms.${universeDomain}/v1/`

async function connectTokens(
  { serviceAccount, key }: GoogleCloudKmsConfig,
  context: ConnectContext,
): Promise<AccessTokens> {
  if (serviceAccount !== undefined)
    return createAccessTokens(() => logInAsServiceAccount(serviceAccount, context))
  const { connectDefaultCredentials } = await import('../../google-cloud-kms/default-credentials.ts')
  return { present: await connectDefaultCredentials(key.projectId), drop: async () => undefined }
}

interface AccountFields extends ServiceAccount {
  readonly projectId: string
  readonly universeDomain: string
}

/** Reads a key file of Google. Its other fields have no use here. */
function readAccount(fields: SignerFields): AccountFields {
  for (const unused of [
    'client_id',
    'auth_uri',
    'auth_provider_x509_cert_url',
    'client_x509_cert_url',
    'type',
  ])
    fields.find(unused, text)
  return {
    projectId: fields.get('project_id', text),
    privateKeyId: fields.secret('private_key_id'),
    privateKey: fields.secret('private_key'),
    clientEmail: fields.secret('client_email'),
    tokenUri: fields.find('token_uri', httpUrl) ?? DEFAULT_TOKEN_URI,
    universeDomain: fields.find('universe_domain', domain) ?? DEFAULT_UNIVERSE,
  }
}

function readKey(fields: SignerFields, projectOfAccount: string | undefined): KeyVersion {
  return {
    projectId: fields.find('project_id', text) ?? projectOfAccount ?? fields.get('project_id', text),
    location: fields.find('location', text) ?? DEFAULT_LOCATION,
    keyRingId: fields.get('key_ring_id', text),
    keyId: fields.get('key_id', text),
    keyVersion: fields.find('key_version', whole(1, MAX_VERSION)) ?? 1,
  }
}
