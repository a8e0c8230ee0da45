import type { KeyMetadata } from '@aws-sdk/client-kms'
import type { KeyMaterial } from '../import/key-material.ts'
import { wrapWithRsa } from '../import/wrap.ts'
import { readWrappingKey } from '../import/wrapping-key.ts'
import { loadPackage } from '../providers/load-package.ts'
import { RemoteFault } from '../remote/remote-key.ts'
import type { AwsKmsConfig } from './aws-kms-key.ts'
import { toRemoteFault } from './failures.ts'

/** The specifications of keys, by curve. */
const SPECS = { secp256k1: 'ECC_SECG_P256K1', ed25519: 'ECC_NIST_EDWARDS25519' } as const

/** RSA-OAEP takes the private key directly, and every region has it; a longer wrapping key costs nothing. */
const WRAPPING = { WrappingAlgorithm: 'RSAES_OAEP_SHA_256', WrappingKeySpec: 'RSA_4096' } as const

/**
 * Imports a private key into a key of AWS KMS that was created without one (origin EXTERNAL).
 * @throws RemoteFault, MissingPackageError
 */
export async function importIntoAwsKms(
  { region, keyId }: AwsKmsConfig,
  material: KeyMaterial,
): Promise<void> {
  const { KMSClient, DescribeKeyCommand, GetParametersForImportCommand, ImportKeyMaterialCommand } =
    await loadPackage('@aws-sdk/client-kms', () => import('@aws-sdk/client-kms'))
  const client = new KMSClient({ region, maxAttempts: 1 })
  try {
    const { KeyMetadata } = await client.send(new DescribeKeyCommand({ KeyId: keyId }))
    // Only signatures and descriptions can be asked for by an alias.
    const KeyId = checkedKey(KeyMetadata, SPECS[material.curve])
    const { PublicKey, ImportToken } = await client.send(
      new GetParametersForImportCommand({ KeyId, ...WRAPPING }),
    )
    const EncryptedKeyMaterial = wrapWithRsa(material, readWrappingKey(PublicKey ?? new Uint8Array()))
    const ExpirationModel = 'KEY_MATERIAL_DOES_NOT_EXPIRE'
    await client.send(
      new ImportKeyMaterialCommand({ KeyId, ImportToken, EncryptedKeyMaterial, ExpirationModel }),
    )
  } catch (error) {
    throw faultOf(error)
  } finally {
    client.destroy()
  }
}

function checkedKey(metadata: KeyMetadata | undefined, spec: string): string {
  const { Arn = '', Origin, KeySpec } = metadata ?? {}
  if (Origin !== 'EXTERNAL')
    throw new RemoteFault(
      'refused',
      `has a key of its own (origin ${Origin}): create one with aws kms create-key --origin EXTERNAL --key-usage SIGN_VERIFY --key-spec ${spec}`,
    )
  if (KeySpec !== spec) throw new RemoteFault('refused', `is of the specification ${KeySpec}, not ${spec}`)
  return Arn
}

function faultOf(error: unknown): RemoteFault {
  if (error instanceof Error && error.name === 'AccessDeniedException')
    return new RemoteFault(
      'refused',
      'is denied: allow kms:DescribeKey, kms:GetParametersForImport and kms:ImportKeyMaterial on it for the import (AccessDeniedException)',
      { cause: error },
    )
  return toRemoteFault(error)
}
