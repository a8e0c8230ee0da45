import { openReader, type Reader, text } from '../../lib/fields.ts'
import { createSecret } from '../../security/secrets.ts'
import { createObjectReaders, type SignerFields } from './provider.ts'
import { readSignerConfig, type SignerConfig, type SignerType } from './registry.ts'

/**
 * The types that callers can create. Key files and libraries are paths of this machine, which callers must
 * not name.
 */
export type StorableType = Exclude<SignerType, 'local' | 'pkcs11'>

/** A signer as a caller describes it. */
export interface SignerRequest {
  readonly type: StorableType
  readonly config: object
}

/**
 * Reads a caller's configuration, with secrets as plain texts.
 * @param path names the configuration in problems
 */
export function readRequestedConfig(
  id: string,
  { type, config }: SignerRequest,
  { path, problems }: { readonly path: string; readonly problems: string[] },
): SignerConfig | undefined {
  return readRequestedFields(config, { path, problems }, (fields) => readSignerConfig({ id, type }, fields))
}

/** Reads the fields of a caller's configuration, with secrets as plain texts; undefined if there are problems. */
export function readRequestedFields<T>(
  config: object,
  { path, problems }: { readonly path: string; readonly problems: string[] },
  read: (fields: SignerFields) => T,
): T | undefined {
  const reader = openReader(config, path, problems)
  if (!reader) return undefined
  const result = read(fieldsOf(reader))
  reader.finish()
  return problems.length === 0 ? result : undefined
}

/** Secrets of a request are plain texts. */
function fieldsOf(reader: Reader): SignerFields {
  const noFile = () => {
    throw new Error('a request names no files')
  }
  return {
    get: reader.get,
    find: reader.find,
    ...createObjectReaders(reader, fieldsOf),
    secret: (key) => createSecret(reader.get(key, text)),
    findSecret: (key) => {
      const found = reader.find(key, text)
      return found === undefined ? undefined : createSecret(found)
    },
    path: noFile,
    findPath: noFile,
  }
}

/** Writes a configuration to be sealed: everything in it may be a secret. */
export function toSealedText({ type, config }: SignerRequest): string {
  return JSON.stringify({ type, config })
}

/** @throws Error for a configuration that this release cannot read */
export function openSealed(id: string, sealed: string): SignerConfig {
  const problems: string[] = []
  const config = readRequestedConfig(id, JSON.parse(sealed) as SignerRequest, { path: 'config', problems })
  if (config === undefined)
    throw new Error(`the stored signer "${id}" cannot be read: ${problems.join('; ')}`)
  return config
}
