import { AppError } from '../../errors.ts'
import { comparePublicKeys, type RemoteConnection } from '../remote/create-remote-key.ts'
import { type PublicKeys, RemoteFault } from '../remote/remote-key.ts'
import type { KeyMaterial } from '../remote/wrap-key.ts'
import { signerRefused, signerUnavailable } from '../signer.ts'
import { type ConnectionContext, connectSigner } from './connect.ts'
import type { RemoteProvider } from './provider.ts'
import { providerOf, type SignerConfig } from './registry.ts'

/** A type of signer whose service takes private keys. */
type ImportingProvider = RemoteProvider<SignerConfig> &
  Required<Pick<RemoteProvider<SignerConfig>, 'importKey'>>

/** Returns the provider of a signer whose service takes private keys; undefined for all others. */
export function importingProvider(config: SignerConfig): ImportingProvider | undefined {
  const provider = providerOf(config)
  if (provider.kind !== 'remote' || provider.importKey === undefined) return undefined
  return { ...provider, importKey: provider.importKey }
}

interface ImportTarget {
  readonly config: SignerConfig
  readonly provider: ImportingProvider
  readonly context: ConnectionContext
}

/**
 * Puts a private key into the service of a signer, and lets it prove there that it signs for the same
 * account. A service that already has the key only proves it, so an interrupted command can be run again.
 * @throws AppError `signer_refused` or `signer_unavailable`; MissingPackageError
 */
export async function importKey(
  { config, provider, context }: ImportTarget,
  material: KeyMaterial,
): Promise<'imported' | 'present'> {
  const connection = await connectSigner(config, context)
  const found = await presentKeys(connection)
  if (found === undefined) await put({ config, provider, context, connection }, material)
  const publicKeys = found ?? (await connection.publicKeys())
  comparePublicKeys(connection.name, {
    wanted: { [material.curve]: material.publicKey },
    found: { [material.curve]: publicKeys[material.curve] },
  })
  await connection.prove({ [material.curve]: material.publicKey })
  return found === undefined ? 'imported' : 'present'
}

/** A service refuses to show a key that it does not have yet. */
async function presentKeys(connection: RemoteConnection): Promise<PublicKeys | undefined> {
  try {
    return await connection.publicKeys()
  } catch (error) {
    if (error instanceof AppError && error.code === 'signer_refused') return undefined
    throw error
  }
}

interface Put extends ImportTarget {
  readonly connection: RemoteConnection
}

/** An import is not repeated: services answer the second one with another failure than the first. */
async function put({ config, provider, context, connection }: Put, material: KeyMaterial): Promise<void> {
  try {
    await provider.importKey(config, context, material)
  } catch (error) {
    if (!(error instanceof RemoteFault)) throw error
    const detail = `${connection.name} ${error.message}.`
    throw error.kind === 'refused' ? signerRefused(detail, error) : signerUnavailable(detail, error)
  }
}
