import { type FieldType, text } from '../../lib/fields/field-types.ts'
import type { AwsKmsConfig } from '../aws-kms/aws-kms-key.ts'
import type { RemoteProvider } from './provider.ts'

/** A region is part of a host name, so no other character may stand in it. */
const region: FieldType<string> = {
  expected: 'a region such as eu-west-1',
  read: (value) => (typeof value === 'string' && /^[a-z]{2,}(-[a-z0-9]+)+$/.test(value) ? value : undefined),
  blank: '',
}

/** A key of AWS KMS, of the specification ECC_SECG_P256K1 or ECC_NIST_EDWARDS25519. Credentials come from the default chain of AWS. */
export const awsKms: RemoteProvider<AwsKmsConfig> = {
  kind: 'remote',
  curves: ['secp256k1', 'ed25519'],
  read: (fields) => ({ region: fields.get('region', region), keyId: fields.get('key_id', text) }),
  show: ({ region, keyId }) => ({ region, key_id: keyId }),
  connect: async (config) => {
    const { connectAwsKms } = await import('../aws-kms/aws-kms-key.ts')
    return connectAwsKms(config)
  },
  importKey: async (config, _context, material) => {
    const { importIntoAwsKms } = await import('../aws-kms/import-into-aws-kms.ts')
    await importIntoAwsKms(config, material)
  },
}
