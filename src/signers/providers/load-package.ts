import { isMissingPackage } from '../../lib/missing-package.ts'

/** The library of a key service is not installed. The message is a whole sentence with the remedy. */
export class MissingPackageError extends Error {
  override readonly name = 'MissingPackageError'
}

/** The versions that the tests ran with. npm installs no optional peer by itself, so deployments without such keys stay small. */
const VERSIONS = {
  '@aws-sdk/client-kms': '3.1164.0',
  '@azure/identity': '4.14.1',
  '@azure/keyvault-keys': '4.10.2',
  'google-auth-library': '11.3.4',
  pkcs11js: '2.1.7',
} as const

/**
 * Loads the library of a key service, with a sentence in place of the import's own failure.
 * @throws MissingPackageError
 */
export async function loadPackage<T>(name: keyof typeof VERSIONS, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    if (!isMissingPackage(cause, name)) throw cause
    throw new MissingPackageError(
      `it needs the package ${name}, which is not installed: npm install ${name}@${VERSIONS[name]}`,
      { cause },
    )
  }
}
