import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { Schemas } from '../../contract/operations.ts'
import { type Command, EXIT, UsageError } from '../command.ts'
import { apiCommand, formatRecord, formatTable, queryOf, toJson } from './api-command.ts'

type Signer = Schemas['Signer']

/** `relayer signers list`. */
export const signersList: Command = apiCommand({
  name: 'signers list',
  summary: 'List the signers of a service.',
  positionals: [],
  usage: '[--page <number>]',
  help: ['Shows up to 100 signers. No key is ever shown.', '', 'Example: relayer signers list --json'],
  options: ['page'],
  run: async ({ client, options: { page }, json, terminal }) => {
    const { data } = await client.call<Signer[]>('GET', `/signers${queryOf({ per_page: '100', page })}`)
    if (json) terminal.out(toJson(data))
    else
      for (const line of formatTable(
        ['ID', 'TYPE'],
        data.map(({ id, type }) => [id, type]),
      ))
        terminal.out(line)
    return undefined
  },
})

/** `relayer signers create`. */
export const signersCreate: Command = apiCommand({
  name: 'signers create',
  summary: 'Let a service create a key that no one has seen.',
  positionals: ['signer id'],
  help: [
    'Prints the addresses of the key on each network type. Nothing exports the key: its only copy is in the database of the service,',
    'sealed with STORAGE_ENCRYPTION_KEY.',
    '',
    'Example: relayer signers create payouts',
  ],
  run: async ({ client, positionals: [id = ''], json, terminal }) => {
    const body = JSON.stringify({ id, type: 'generated' })
    const { data } = await client.call<Extract<Signer, { type: 'generated' }>>('POST', '/signers', { body })
    if (json) terminal.out(toJson(data))
    else for (const line of formatRecord({ signer: data.id, ...data.config.addresses })) terminal.out(line)
    return undefined
  },
})

type KeyCreation = Schemas['KeyCreation']

/** `relayer signers create-key`. */
export const signersCreateKey: Command = apiCommand({
  name: 'signers create-key',
  summary: 'Let a key service create the key of a new signer.',
  positionals: ['signer id'],
  usage: '--type <type> --curve <curve> --config <file>',
  help: [
    'Prints the addresses of the key; its secret never leaves the key service. Run the same command again after any failure: it continues',
    'where the last one stopped, and never creates a second key. The exit code is 1 until the signer is usable.',
    '',
    '--type    aws_kms, google_cloud_kms, azure_key_vault, vault_transit or turnkey',
    '--curve   secp256k1 for EVM, ed25519 for Stellar and Solana. azure_key_vault has no ed25519, and vault_transit no secp256k1',
    '--config  a JSON file with the place of the key and the login, or - for the standard input:',
    '          the config of such a signer without the fields that name a key (docs/signers.md)',
    '',
    `Example: echo '{"region":"eu-west-1"}' | relayer signers create-key treasury --type aws_kms --curve secp256k1 --config -`,
  ],
  options: ['type', 'curve', 'config'],
  run: async ({ client, positionals: [signerId = ''], options, json, terminal }) => {
    const { type, curve, config: file } = options
    for (const [name, value] of Object.entries({ type, curve, config: file }))
      if (value === undefined) throw new UsageError(`--${name} is missing: relayer signers create-key --help`)
    const body = JSON.stringify({ signer_id: signerId, type, curve, config: await readJson(file ?? '-') })
    const { data, logs } = await client.call<KeyCreation>('POST', '/key-creations', { body })
    const code = data.state === 'usable' ? EXIT.ok : EXIT.failed
    if (json) {
      terminal.out(toJson(data))
      return code
    }
    const { signer_id: signer, state, key_name: keyName, addresses, detail } = data
    for (const line of formatRecord({ signer, state, key: keyName, ...addresses })) terminal.out(line)
    for (const line of [...(detail === undefined ? [] : [detail]), ...logs]) terminal.err(line)
    return code
  },
})

/** Reads a JSON file, or the standard input for `-`. Its content can be secret, so no message quotes it. */
async function readJson(file: string): Promise<unknown> {
  const content = await (file === '-' ? text(process.stdin) : readFile(file, 'utf8')).catch(() => undefined)
  if (content === undefined) throw new UsageError(`The file ${file} of --config cannot be read.`)
  try {
    return JSON.parse(content)
  } catch {
    throw new UsageError('--config: expected a JSON object, such as {"region":"eu-west-1"}.')
  }
}

/** `relayer signers keys`. */
export const signersKeys: Command = apiCommand({
  name: 'signers keys',
  summary: 'List the keys that key services created for signers.',
  positionals: [],
  usage: '[--page <number>]',
  help: [
    'Shows up to 100 keys, newest first, and what to do about those that are not usable yet. --json has their addresses.',
    '',
    'Example: relayer signers keys',
  ],
  options: ['page'],
  run: async ({ client, options: { page }, json, terminal }) => {
    const path = `/key-creations${queryOf({ per_page: '100', page })}`
    const { data } = await client.call<KeyCreation[]>('GET', path)
    if (json) {
      terminal.out(toJson(data))
      return undefined
    }
    const rows = data.map(({ signer_id: id, type, curve, state, key_name: name }) => [
      id,
      type,
      curve,
      state,
      name,
    ])
    for (const line of formatTable(['SIGNER', 'TYPE', 'CURVE', 'STATE', 'KEY'], rows)) terminal.out(line)
    for (const { signer_id: id, detail } of data) if (detail !== undefined) terminal.err(`${id}: ${detail}`)
    return undefined
  },
})
