import { resolve } from 'node:path'
import { FAMILIES } from '../../chains/families.ts'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/types.ts'
import { createKey, separateSecret } from '../../signers/key.ts'
import { createKeyServices } from '../../signers/providers/connect.ts'
import { importingProvider, importKey } from '../../signers/providers/import-key.ts'
import type { SignerConfig } from '../../signers/providers/registry.ts'
import type { KeyMaterial } from '../../signers/remote/wrap-key.ts'
import { type Command, EXIT, type Terminal, UsageError } from '../command.ts'
import { addressesOf, type NewSecret, openKeyFile, passphraseFileOf } from './key-file.ts'

const NETWORK_TYPES = ['evm', 'stellar', 'solana'] as const
type NetworkType = (typeof NETWORK_TYPES)[number]

/** The first column of the result, as wide as that of other commands. */
const DONE = { imported: 'imported   ', present: 'was there  ' } as const

/** `relayer keys import-to`. */
export const keysImportTo: Command = {
  name: 'keys import-to',
  summary: 'Import the key of a key file into AWS KMS, Google Cloud KMS, Azure Key Vault or Vault.',
  usage: '<signer> <file> [--network-type evm|stellar|solana] [--passphrase-file <file>]',
  help: [
    'The signer is one of the configuration file (CONFIG_DIR, CONFIG_FILE_NAME), of the type aws_kms, google_cloud_kms, azure_key_vault,',
    'vault_transit or vault. The key is encrypted with the public key of that service, if it has one, and imported; then it signs',
    'a text, which is not a transaction, to prove that it is the same account. Prints the request that switches a relayer over. It never prints',
    'the key. An interrupted command can be run again. docs/signers.md says what to create first, and which rights it needs.',
    '',
    '  --network-type     The network of the relayer, evm by default. Key files from keys create have a separate key for each.',
    '  --passphrase-file  As in keys create.',
    '',
    'Example: relayer keys import-to treasury config/keys/hot.json',
  ],
  options: ['network-type', 'passphrase-file'],
  maxPositionals: 2,
  async run({ positionals: [signerId, path], options }, terminal) {
    if (!signerId || !path)
      throw new UsageError('Name the signer and the key file: relayer keys import-to <signer> <file>')
    const networkType = networkTypeOf(options['network-type'] ?? 'evm')
    const passphraseFile = options['passphrase-file'] ?? passphraseFileOf(path)
    const config = loadConfig()
    const signer = signerOf(config, signerId)
    const target = targetOf(signer, networkType)
    const secret = await openKeyFile({ path, passphraseFile, terminal })
    const material = materialOf(secret, networkType)
    const services = createKeyServices(config)
    try {
      const done = await importKey({ ...target, context: services.configured }, material)
      const address = (await addressesOf(secret))[networkType]
      terminal.out(`${DONE[done]} ${address} in signer ${signerId}; it signed a text as proof`)
      printHandOver({ config, path, signerId, networkType }, terminal)
      return EXIT.ok
    } finally {
      material.secret.fill(0)
      secret.secret.fill(0)
      services.close()
    }
  },
}

function networkTypeOf(text: string): NetworkType {
  const found = NETWORK_TYPES.find((type) => type === text)
  if (found === undefined) throw new UsageError('--network-type is one of evm, stellar, solana.')
  return found
}

function signerOf({ signers, file }: Config, id: string): SignerConfig {
  const found = signers.find((signer) => signer.id === id)
  if (found !== undefined) return found
  const known = signers.map((signer) => signer.id).join(', ')
  throw new UsageError(`${file} has no signer "${id}"; it has ${known || 'none'}.`)
}

function targetOf(config: SignerConfig, networkType: NetworkType) {
  const provider = importingProvider(config)
  if (provider === undefined)
    throw new UsageError(
      `Signers of the type ${config.type} cannot be imported with this command; docs/signers.md ("Import an existing key") says which tool to use.`,
    )
  const curve = FAMILIES[networkType].curve
  if (!provider.curves.includes(curve))
    throw new UsageError(
      `Signers of the type ${config.type} have no ${curve} key, which accounts of type ${networkType} need; choose another --network-type or signer.`,
    )
  return { config, provider }
}

function materialOf({ secret, separate }: NewSecret, networkType: NetworkType): KeyMaterial {
  const own = separate ? separateSecret(secret, networkType) : Uint8Array.from(secret)
  const { publicKey } = createKey('imported', own)[networkType]
  return { curve: FAMILIES[networkType].curve, secret: own, publicKey }
}

interface HandOver {
  readonly config: Config
  readonly path: string
  readonly signerId: string
  readonly networkType: NetworkType
}

/**
 * The relayers that sign with the key file now are named; where there are none, they may be relayers of the
 * API.
 */
function printHandOver({ config, path, signerId, networkType }: HandOver, terminal: Terminal): void {
  const files = config.signers.filter((signer) => signer.type === 'local' && signer.path === resolve(path))
  const relayers = config.relayers.filter(
    (relayer) =>
      relayer.networkType === networkType && files.some((signer) => signer.id === relayer.signerId),
  )
  const ids = relayers.length === 0 ? ['{id}'] : relayers.map(({ id }) => id)
  terminal.out('Restart the service, so that it knows the signer, and switch the account over:')
  for (const id of ids)
    terminal.out(
      `  curl -X PATCH "$RELAYER_URL/api/v1/relayers/${id}" -H "Authorization: Bearer $API_KEY" -H 'Content-Type: application/json' -d '{"signer_id":"${signerId}"}'`,
    )
  terminal.out(
    `Also set "signer_id": "${signerId}" in ${config.file} if the relayer is in that file. Keep the key file until the relayer has sent with the new signer; then store it offline as the backup, or destroy it.`,
  )
}
