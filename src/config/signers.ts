import { id, text } from '../lib/fields/field-types.ts'
import { openReader, type Reader } from '../lib/fields/reader.ts'
import { suggest } from '../lib/suggest.ts'
import { createSecret } from '../security/secret.ts'
import type { SignerConfig } from '../signers/load.ts'
import { readSecret, resolveFile, type Sources } from './sources.ts'

/** Types of existing files that a later release will support. */
const LATER = ['aws_kms', 'google_cloud_kms', 'azure_key_vault', 'turnkey', 'cdp', 'vault', 'vault_transit']

const BLANK = createSecret('')

/** Reads the list `signers`: `{ id, type, config }`. */
export function readSigners(file: Reader, sources: Sources, problems: string[]): SignerConfig[] {
  return file.items('signers').flatMap(({ value, path }) => {
    const reader = openReader(value, path, problems)
    if (!reader) return []
    const signer = readSigner(reader, sources)
    reader.finish()
    return [signer]
  })
}

function readSigner(reader: Reader, sources: Sources): SignerConfig {
  const signerId = reader.get('id', id)
  const type = reader.get('type', text)
  const config = reader.object('config')
  // The signer has a name, so relayers that refer to it must not add the problem that it does not exist.
  const unusable: SignerConfig = { id: signerId, type: 'plain', key: BLANK }
  if (type === '') return unusable
  if (type !== 'local' && type !== 'plain') {
    const reason = LATER.includes(type)
      ? 'is not supported yet'
      : `is not known${suggest(type, ['local', 'plain'])}`
    reader.problem(`has the type "${type}", which ${reason}; use "local" or "plain"`)
    return unusable
  }
  if (!config) {
    if (reader.raw('config') === undefined) reader.problem('has no "config"')
    return unusable
  }
  const signer =
    type === 'local' ? readLocal(signerId, config, sources) : readPlain(signerId, config, sources)
  config.finish()
  return signer
}

function readLocal(signerId: string, config: Reader, sources: Sources): SignerConfig {
  const path = config.get('path', text)
  return {
    id: signerId,
    type: 'local',
    path: path && resolveFile(path, sources),
    passphrase: secret(config, 'passphrase', sources),
  }
}

function readPlain(signerId: string, config: Reader, sources: Sources): SignerConfig {
  return { id: signerId, type: 'plain', key: secret(config, 'key', sources) }
}

function secret(config: Reader, key: string, sources: Sources) {
  if (config.raw(key) === undefined)
    config.problem(`has no "${key}": { "type": "env" | "file" | "plain", "value": … }`)
  return readSecret(config.object(key), sources) ?? BLANK
}
